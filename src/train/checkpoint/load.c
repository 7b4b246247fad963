/* Loads weights, adapters and optimizer state of a checkpoint into a store. */
#include "nn/weights/weights.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/shard_set.h"

#include <string.h>
#include <unistd.h>

/* The optimizer state is loaded only if the shards have one. */
static yk_status load_from_shards(const struct yk_checkpoint *checkpoint,
                                  struct yk_shard_set_load_options what,
                                  struct yk_parameter_store *store)
{
    struct yk_shard_set *set = NULL;
    YK_TRY(yk_shard_set_open(checkpoint->path, checkpoint->shards, &set));
    what.precision = checkpoint->workload.precision;
    what.state = what.state && yk_shard_set_has_slice(set, YK_SHARD_MOMENT1, NULL);
    const yk_status status = yk_shard_set_load_into_store(set, &what, store);
    yk_shard_set_close(set);
    return status;
}

yk_status yk_checkpoint_load_model_weights(const char *path, struct yk_parameter_store *store)
{
    struct yk_checkpoint *checkpoint = NULL;
    if (yk_checkpoint_folder_has_weights(path) ||
        !yk_folder_contains(path, YK_CHECKPOINT_MANIFEST_FILE)) {
        return yk_weights_load(store, path);
    }
    YK_TRY(yk_checkpoint_open(path, &checkpoint));
    const struct yk_shard_set_load_options model = {.model = true, .rounded = true};
    const yk_status status = checkpoint->shards > 0 ? load_from_shards(checkpoint, model, store)
                                                    : yk_weights_load(store, checkpoint->path);
    yk_checkpoint_close(checkpoint);
    return status;
}

/* Loads the model's weights from the checkpoint, or from the base model of its adapter. */
static yk_status load_weights(const struct yk_checkpoint *checkpoint, const char *base,
                              struct yk_parameter_store *store)
{
    const char *elsewhere = base ? base : checkpoint->base_model;
    if (yk_checkpoint_folder_has_weights(checkpoint->path)) {
        return yk_weights_load(store, checkpoint->path);
    }
    if (!elsewhere) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s holds an adapter alone and does not say of which model; name its folder",
                       checkpoint->path);
    }
    if (strcmp(elsewhere, YK_CHECKPOINT_RANDOM_BASE_MODEL_NAME) == 0) {
        return yk_parameter_store_init_parameters(store, checkpoint->state.seed,
                                                  YK_PARAMETER_STORE_INIT_REPEATED);
    }
    if (access(elsewhere, F_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the adapter in %s is for the model \"%s\", which is no folder here; name "
                       "the folder with its weights",
                       checkpoint->path, elsewhere);
    }
    return yk_checkpoint_load_model_weights(elsewhere, store);
}

static yk_status load_file(const struct yk_checkpoint *checkpoint, const char *name,
                           yk_status (*load)(struct yk_parameter_store *store, const char *path),
                           struct yk_parameter_store *store)
{
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(checkpoint->path, name, checkpoint->arena, &path));
    return load(store, path);
}

/* The optimizer state is of no use if only one of checkpoint and store has adapters. */
static bool wants_state(const struct yk_checkpoint *checkpoint,
                        const struct yk_parameter_store *store)
{
    const bool adapted = checkpoint->workload.lora_rank > 0;
    return store->optimizer != YK_OPTIMIZER_NONE && adapted == (store->net->workload.lora_rank > 0);
}

static yk_status load_files(const struct yk_checkpoint *checkpoint, const char *base,
                            struct yk_parameter_store *store)
{
    YK_TRY(load_weights(checkpoint, base, store));
    if (store->net->workload.nf4 &&
        yk_folder_contains(checkpoint->path, YK_CHECKPOINT_FROZEN_FILE)) {
        YK_TRY(load_file(checkpoint, YK_CHECKPOINT_FROZEN_FILE,
                         yk_checkpoint_load_frozen_nf4_tensors, store));
    }
    if (checkpoint->workload.lora_rank > 0) {
        YK_TRY(yk_adapter_load(store, checkpoint->path));
    }
    return wants_state(checkpoint, store) &&
                   yk_folder_contains(checkpoint->path, YK_CHECKPOINT_OPTIMIZER_FILE)
               ? load_file(checkpoint, YK_CHECKPOINT_OPTIMIZER_FILE,
                           yk_checkpoint_load_optimizer_tensors, store)
               : YK_OK;
}

static yk_status load_shards(const struct yk_checkpoint *checkpoint, const char *base,
                             struct yk_parameter_store *store)
{
    const bool adapted = checkpoint->workload.lora_rank > 0;
    const bool state = wants_state(checkpoint, store);
    const struct yk_shard_set_load_options what = {
        .model = !adapted || !checkpoint->base_model,
        .adapters = adapted,
        .state = state,
        .rounded = !state,
    };
    if (!what.model) {
        YK_TRY(load_weights(checkpoint, base, store));
    }
    return load_from_shards(checkpoint, what, store);
}

yk_status yk_checkpoint_load(const struct yk_checkpoint *checkpoint, const char *base,
                             struct yk_parameter_store *store)
{
    if (checkpoint->workload.lora_rank > 0 && store->net->workload.lora_rank == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s has an adapter, but the model was made without one",
                       checkpoint->path);
    }
    return checkpoint->shards > 0 ? load_shards(checkpoint, base, store)
                                  : load_files(checkpoint, base, store);
}
