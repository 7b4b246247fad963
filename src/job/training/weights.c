#include "job/training/weights.h"

#include "base/folder.h"
#include "nn/adapter_config.h"
#include "nn/weights.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An adapter says what it adapts. */
static yk_status find_adapted(struct yk_training *training)
{
    struct yk_train_words *words = &training->words;
    struct yk_adapter_config adapter = {0};
    YK_TRY(yk_adapter_config_read(words->adapter, training->arena, &adapter));
    if (adapter.base && access(adapter.base, F_OK) == 0) {
        words->weights = adapter.base;
        return YK_OK;
    }
    if (words->dry_run && words->model) {
        return YK_OK;
    }
    return adapter.base
               ? yk_fail(YK_ERROR_INPUT,
                         "%s is for the weights of %s, which are not here; name them by --weights",
                         words->adapter, adapter.base)
               : yk_fail(YK_ERROR_INPUT,
                         "%s does not say which weights it is for; name them by --weights",
                         words->adapter);
}

/* Weights without a model's name have its config beside them. */
static yk_status check_weights(const struct yk_training *training)
{
    const struct yk_train_words *words = &training->words;
    const char *folder = NULL;
    if (words->model) {
        return YK_OK;
    }
    YK_TRY(yk_train_weights_folder(words, training->arena, &folder));
    if (yk_folder_has(folder, "config.json")) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: there is no config.json beside these weights; say by --model what they are "
                   "of",
                   words->weights);
}

yk_status yk_train_weights_settle(struct yk_training *training)
{
    struct yk_train_words *words = &training->words;
    struct yk_checkpoint *checkpoint = NULL;
    if (words->weights && strcmp(words->weights, YK_CHECKPOINT_RANDOM) == 0) {
        training->rough = !words->resumed;
        words->weights = NULL;
        return YK_OK;
    }
    if (!words->weights && words->adapter && !words->resumed) {
        YK_TRY(find_adapted(training));
    }
    if (!words->weights) {
        return YK_OK;
    }
    if (access(words->weights, F_OK) != 0) {
        if (!words->resumed) {
            return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", words->weights, strerror(errno));
        }
        /* Where the run began, they were; the checkpoint knows the whole path where it matters. */
        words->weights = NULL;
        return YK_OK;
    }
    if (!yk_folder_has(words->weights, "checkpoints")) {
        return words->resumed ? YK_OK : check_weights(training);
    }
    YK_TRY(yk_checkpoint_open(words->weights, &checkpoint));
    words->weights =
        yk_arena_copy_text(training->arena, checkpoint->path, strlen(checkpoint->path));
    yk_checkpoint_close(checkpoint);
    return words->weights ? YK_OK : yk_fail_out_of_memory();
}

yk_status yk_train_weights_adapt(struct yk_training *training)
{
    struct yk_train_words *words = &training->words;
    int64_t rank = 0;
    double alpha = 0;
    if (words->adapter && !training->checkpoint) {
        YK_TRY(yk_adapter_read_config(words->adapter, &rank, &alpha));
        if (words->lora_rank > 0 && words->lora_rank != rank) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: the adapter has rank %" PRId64 ", not %" PRId64
                           "; leave out --lora",
                           words->adapter, rank, words->lora_rank);
        }
        words->lora_rank = rank;
        words->lora_alpha = isnan(words->lora_alpha) ? alpha : words->lora_alpha;
    }
    if (words->lora_rank > 0 && isnan(words->lora_alpha)) {
        words->lora_alpha = 2 * (double)words->lora_rank;
    }
    return YK_OK;
}

yk_status yk_train_weights_fill(struct yk_training *training)
{
    const struct yk_train_words *words = &training->words;
    struct yk_store *store = training->store;
    if (training->checkpoint) {
        const char *base = words->lora_rank > 0 ? words->weights : NULL;
        return yk_checkpoint_load(training->checkpoint, base, store);
    }
    if (words->weights) {
        YK_TRY(yk_store_start_adapters(store, (uint64_t)words->seed));
        YK_TRY(yk_checkpoint_load_model(words->weights, store));
    } else {
        YK_TRY(training->rough ? yk_store_start_roughly(store, (uint64_t)words->seed)
                               : yk_store_start(store, (uint64_t)words->seed));
    }
    return words->adapter ? yk_adapter_load(store, words->adapter) : YK_OK;
}

yk_status yk_train_weights_base(struct yk_training *training, const char **out)
{
    const struct yk_train_words *words = &training->words;
    char *whole = words->lora_rank > 0 && words->weights ? realpath(words->weights, NULL) : NULL;
    *out = words->lora_rank == 0  ? NULL
           : training->rough      ? YK_CHECKPOINT_RANDOM
           : training->checkpoint ? training->checkpoint->base_model
                                  : NULL;
    if (whole) {
        *out = yk_arena_copy_text(training->arena, whole, strlen(whole));
        free(whole);
        return *out ? YK_OK : yk_fail_out_of_memory();
    }
    return YK_OK;
}
