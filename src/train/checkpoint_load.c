/* What a checkpoint holds into a store: weights, adapters, the optimizer's state. */
#include "nn/weights.h"
#include "train/checkpoint.h"
#include "train/checkpoint_folder.h"
#include "train/checkpoint_tensors.h"

#include <unistd.h>

static bool has_weights(const char *folder)
{
    return yk_checkpoint_has(folder, YK_CHECKPOINT_MODEL) ||
           yk_checkpoint_has(folder, YK_CHECKPOINT_MODEL_INDEX);
}

/* Of the model itself: here, or where the one that is adapted is. */
static yk_status load_weights(const struct yk_checkpoint *checkpoint, const char *base,
                              struct yk_store *store)
{
    const char *elsewhere = base ? base : checkpoint->base_model;
    if (has_weights(checkpoint->path)) {
        return yk_weights_load(store, checkpoint->path);
    }
    if (!elsewhere) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s holds an adapter alone and does not say of which model; name its folder",
                       checkpoint->path);
    }
    if (access(elsewhere, F_OK) != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "the adapter in %s is for the model \"%s\", which is no folder here; name "
                       "the folder with its weights",
                       checkpoint->path, elsewhere);
    }
    return yk_weights_load(store, elsewhere);
}

static yk_status load_file(const struct yk_checkpoint *checkpoint, const char *name,
                           yk_status (*load)(struct yk_store *store, const char *path),
                           struct yk_store *store)
{
    struct yk_text path = {0};
    yk_status status = yk_checkpoint_join(checkpoint->path, name, &path);
    if (status == YK_OK) {
        status = load(store, path.bytes);
    }
    yk_text_free(&path);
    return status;
}

yk_status yk_checkpoint_load(const struct yk_checkpoint *checkpoint, const char *base,
                             struct yk_store *store)
{
    const struct yk_workload *workload = &store->net->workload;
    const bool adapted = checkpoint->workload.lora_rank > 0;
    if (adapted && workload->lora_rank == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s has an adapter, but the model was made without one",
                       checkpoint->path);
    }
    YK_TRY(load_weights(checkpoint, base, store));
    if (workload->nf4 && yk_checkpoint_has(checkpoint->path, YK_CHECKPOINT_FROZEN)) {
        YK_TRY(load_file(checkpoint, YK_CHECKPOINT_FROZEN, yk_checkpoint_load_frozen, store));
    }
    if (adapted) {
        YK_TRY(yk_adapter_load(store, checkpoint->path));
    }
    /* Of a model that is adapted from here on, nothing of the state belongs to what is trained. */
    if (store->optimizer != YK_OPTIMIZER_NONE && adapted == (workload->lora_rank > 0) &&
        yk_checkpoint_has(checkpoint->path, YK_CHECKPOINT_OPTIMIZER)) {
        YK_TRY(load_file(checkpoint, YK_CHECKPOINT_OPTIMIZER, yk_checkpoint_load_optimizer, store));
    }
    return YK_OK;
}
