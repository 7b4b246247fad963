#include "job/training/training.h"

#include "base/folder.h"
#include "nn/weights/adapter_config.h"
#include "nn/weights/weights.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sets request->weights to the base weights that the adapter names. */
static yk_status find_adapted(struct yk_training *training)
{
    struct yk_train_request *request = &training->request;
    struct yk_adapter_config adapter = {0};
    YK_TRY(yk_adapter_config_read(request->adapter, training->arena, &adapter));
    if (adapter.base && access(adapter.base, F_OK) == 0) {
        request->weights = adapter.base;
        return YK_OK;
    }
    if (request->dry_run && request->model) {
        return YK_OK;
    }
    return adapter.base
               ? yk_fail(YK_ERROR_INPUT,
                         "%s is for the weights of %s, which are not here; name them by --weights",
                         request->adapter, adapter.base)
               : yk_fail(YK_ERROR_INPUT,
                         "%s does not say which weights it is for; name them by --weights",
                         request->adapter);
}

/* Fails if neither --model nor a config.json next to the weights describes the model. */
static yk_status check_weights(const struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    const char *folder = NULL;
    if (request->model) {
        return YK_OK;
    }
    YK_TRY(yk_train_inputs_find_weights_folder(request, training->arena, &folder));
    if (yk_folder_contains(folder, "config.json")) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: there is no config.json beside these weights; say by --model what they are "
                   "of",
                   request->weights);
}

yk_status yk_train_weights_resolve_path(struct yk_training *training)
{
    struct yk_train_request *request = &training->request;
    struct yk_checkpoint *checkpoint = NULL;
    if (request->weights && strcmp(request->weights, YK_CHECKPOINT_RANDOM_BASE_MODEL_NAME) == 0) {
        training->random_weights = !request->resumed;
        request->weights = NULL;
        return YK_OK;
    }
    if (!request->weights && request->adapter && !request->resumed) {
        YK_TRY(find_adapted(training));
    }
    if (!request->weights) {
        return YK_OK;
    }
    if (access(request->weights, F_OK) != 0) {
        if (!request->resumed) {
            return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", request->weights, strerror(errno));
        }
        /* Where the run began, they were; the checkpoint knows the whole path where it matters. */
        request->weights = NULL;
        return YK_OK;
    }
    if (!yk_folder_contains(request->weights, "checkpoints")) {
        return request->resumed ? YK_OK : check_weights(training);
    }
    YK_TRY(yk_checkpoint_open(request->weights, &checkpoint));
    const yk_status status = yk_arena_strdup(training->arena, checkpoint->path, &request->weights);
    yk_checkpoint_close(checkpoint);
    return status;
}

yk_status yk_train_weights_read_adapter_config(struct yk_training *training)
{
    struct yk_train_request *request = &training->request;
    struct yk_adapter_config config = {0};
    if (request->adapter && !training->checkpoint) {
        YK_TRY(yk_adapter_config_read(request->adapter, training->arena, &config));
        if (request->lora_rank > 0 && request->lora_rank != config.rank) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: the adapter has rank %" PRId64 ", not %" PRId64
                           "; leave out --lora",
                           request->adapter, config.rank, request->lora_rank);
        }
        request->lora_rank = config.rank;
        request->lora_alpha = isnan(request->lora_alpha) ? config.alpha : request->lora_alpha;
    }
    if (request->lora_rank > 0 && isnan(request->lora_alpha)) {
        request->lora_alpha = 2 * (double)request->lora_rank;
    }
    return YK_OK;
}

yk_status yk_train_weights_initialize(struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    struct yk_parameter_store *store = training->store;
    if (training->checkpoint) {
        const char *base = request->lora_rank > 0 ? request->weights : NULL;
        return yk_checkpoint_load(training->checkpoint, base, store);
    }
    if (request->weights) {
        YK_TRY(yk_parameter_store_init_parameters(store, (uint64_t)request->seed,
                                                  YK_PARAMETER_STORE_INIT_ADAPTERS));
        YK_TRY(yk_checkpoint_load_model_weights(request->weights, store));
    } else {
        YK_TRY(yk_parameter_store_init_parameters(store, (uint64_t)request->seed,
                                                  training->random_weights
                                                      ? YK_PARAMETER_STORE_INIT_REPEATED
                                                      : YK_PARAMETER_STORE_INIT_ALL));
    }
    return request->adapter ? yk_adapter_load(store, request->adapter) : YK_OK;
}

yk_status yk_train_weights_frozen_base_path(struct yk_training *training, const char **out)
{
    const struct yk_train_request *request = &training->request;
    char *whole =
        request->lora_rank > 0 && request->weights ? realpath(request->weights, NULL) : NULL;
    *out = request->lora_rank == 0    ? NULL
           : training->random_weights ? YK_CHECKPOINT_RANDOM_BASE_MODEL_NAME
           : training->checkpoint     ? training->checkpoint->base_model
                                      : NULL;
    if (whole) {
        const yk_status status = yk_arena_strdup(training->arena, whole, out);
        free(whole);
        return status;
    }
    return YK_OK;
}
