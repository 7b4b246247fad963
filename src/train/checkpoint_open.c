/* Opening a checkpoint: the newest that is whole, or what others have written. */
#include "base/file.h"
#include "base/json_value.h"
#include "base/log.h"
#include "base/precision.h"
#include "nn/adapter_config.h"
#include "train/checkpoint.h"
#include "train/checkpoint_folder.h"
#include "train/checkpoint_state.h"
#include "train/manifest.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char RUN_FOLDER[] = "checkpoints"; /* of a run's folder */

static yk_status read_beside(const char *folder, const char *name, struct yk_text *path,
                             struct yk_text *out)
{
    YK_TRY(yk_checkpoint_join(folder, name, path));
    return yk_file_read(path->bytes, out);
}

/* Under the name that the model had. */
static yk_status read_config(struct yk_checkpoint *checkpoint, const char *folder,
                             const char *model)
{
    struct yk_text path = {0};
    struct yk_text text = {0};
    const struct yk_model_config *read = NULL;
    struct yk_model_config *config = NULL;
    yk_status status = read_beside(folder, YK_CHECKPOINT_CONFIG, &path, &text);
    if (status == YK_OK) {
        status = yk_model_config_read(yk_text_chars(&text), text.length, path.bytes,
                                      checkpoint->arena, &read);
    }
    yk_text_free(&text);
    yk_text_free(&path);
    YK_TRY(status);
    YK_TRY_NEW(checkpoint->arena, config, 1);
    *config = *read;
    config->name = model;
    checkpoint->config = config;
    return YK_OK;
}

static yk_status read_state(struct yk_checkpoint *checkpoint, const char **model)
{
    struct yk_text path = {0};
    struct yk_text text = {0};
    yk_status status = read_beside(checkpoint->path, YK_CHECKPOINT_STATE, &path, &text);
    if (status == YK_OK) {
        status = yk_checkpoint_state_read(yk_text_chars(&text), text.length, checkpoint->arena,
                                          checkpoint, model);
        status = status == YK_ERROR_INPUT ? yk_fail_in(status, path.bytes) : status;
    }
    yk_text_free(&text);
    yk_text_free(&path);
    return status;
}

static yk_status read_tokenizer(struct yk_checkpoint *checkpoint, const char *folder,
                                const char *name)
{
    struct yk_text path = {0};
    struct yk_text text = {0};
    yk_status status = read_beside(folder, name, &path, &text);
    if (status == YK_OK) {
        status = yk_tokenizer_read(yk_text_chars(&text), text.length, path.bytes,
                                   &checkpoint->tokenizer);
    }
    yk_text_free(&text);
    yk_text_free(&path);
    return status;
}

/* Other tools' files are of more kinds than are known here; much can be done without them. */
static yk_status read_other_tokenizer(struct yk_checkpoint *checkpoint, const char *folder)
{
    if (yk_checkpoint_has(folder, YK_CHECKPOINT_VOCABULARY)) {
        return read_tokenizer(checkpoint, folder, YK_CHECKPOINT_VOCABULARY);
    }
    if (yk_checkpoint_has(folder, YK_CHECKPOINT_TOKENIZER) &&
        read_tokenizer(checkpoint, folder, YK_CHECKPOINT_TOKENIZER) != YK_OK) {
        yk_log(YK_LOG_NOTE, "%s; text cannot be used with this model", yk_status_message());
    }
    return YK_OK;
}

/* A folder that yoke wrote. */
static yk_status open_own(struct yk_checkpoint *checkpoint)
{
    struct yk_manifest manifest = {0};
    const char *model = NULL;
    YK_TRY(yk_manifest_verify(checkpoint->path, checkpoint->arena, &manifest));
    YK_TRY(read_state(checkpoint, &model));
    YK_TRY(read_config(checkpoint, checkpoint->path, model));
    if (manifest.step != checkpoint->state.step) {
        return yk_fail(YK_ERROR_INPUT, "%s: the manifest and the state are of different steps",
                       checkpoint->path);
    }
    if (yk_manifest_has(&manifest, YK_CHECKPOINT_TOKENIZER)) {
        return read_tokenizer(checkpoint, checkpoint->path, YK_CHECKPOINT_TOKENIZER);
    }
    return yk_manifest_has(&manifest, YK_CHECKPOINT_VOCABULARY)
               ? read_tokenizer(checkpoint, checkpoint->path, YK_CHECKPOINT_VOCABULARY)
               : YK_OK;
}

/* What the weights are kept in, for the precision to go on with. */
static yk_status read_dtype(const char *folder, enum yk_precision *out)
{
    struct yk_text path = {0};
    struct yk_text text = {0};
    struct yk_json *root = NULL;
    yk_status status = read_beside(folder, YK_CHECKPOINT_CONFIG, &path, &text);
    if (status == YK_OK) {
        status = yk_json_parse(yk_text_chars(&text), text.length, &root);
    }
    if (status == YK_OK) {
        const struct yk_json *newer = yk_json_get(root, "dtype");
        const char *name = yk_json_string(newer ? newer : yk_json_get(root, "torch_dtype"));
        if (name && strcmp(name, "bfloat16") == 0) {
            *out = YK_PRECISION_BF16;
        } else if (name && strcmp(name, "float16") == 0) {
            *out = YK_PRECISION_FP16;
        }
        yk_json_destroy(root);
    }
    yk_text_free(&text);
    yk_text_free(&path);
    return status;
}

/* A model of others is called by its folder, which is in the arena. */
static yk_status open_model(struct yk_checkpoint *checkpoint, const char *folder)
{
    YK_TRY(read_config(checkpoint, folder, folder));
    return read_dtype(folder, &checkpoint->workload.precision);
}

static bool has_weights(const char *folder)
{
    return yk_checkpoint_has(folder, YK_CHECKPOINT_MODEL) ||
           yk_checkpoint_has(folder, YK_CHECKPOINT_MODEL_INDEX);
}

/* An adapter does not say what it adapts, except by name: the config is beside it, or in the folder
 * of that name, or that of a built-in model. */
static yk_status open_adapter(struct yk_checkpoint *checkpoint)
{
    struct yk_adapter_config adapter = {0};
    YK_TRY(yk_adapter_config_read(checkpoint->path, checkpoint->arena, &adapter));
    checkpoint->workload.lora_rank = adapter.rank;
    checkpoint->lora_alpha = adapter.alpha;
    checkpoint->base_model = adapter.base;
    if (yk_checkpoint_has(checkpoint->path, YK_CHECKPOINT_CONFIG)) {
        return open_model(checkpoint, checkpoint->path);
    }
    if (!adapter.base) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s/%s does not say what it adapts: \"base_model_name_or_path\" is missing",
                       checkpoint->path, YK_CHECKPOINT_ADAPTER_CONFIG);
    }
    if (yk_checkpoint_has(adapter.base, YK_CHECKPOINT_CONFIG)) {
        return open_model(checkpoint, adapter.base);
    }
    const yk_status status =
        yk_model_config_open(adapter.base, checkpoint->arena, &checkpoint->config);
    return status == YK_ERROR_INPUT ? yk_fail_in(status, checkpoint->path) : status;
}

static bool is_adapter(const char *folder)
{
    return yk_checkpoint_has(folder, YK_CHECKPOINT_ADAPTER_CONFIG);
}

/* What Hugging Face's tools wrote: weights without a training. */
static yk_status open_other(struct yk_checkpoint *checkpoint)
{
    YK_TRY(is_adapter(checkpoint->path) ? open_adapter(checkpoint)
                                        : open_model(checkpoint, checkpoint->path));
    checkpoint->workload.batch = 1;
    checkpoint->workload.sequence = checkpoint->config->positions;
    checkpoint->state.scaler = yk_scaler_start(checkpoint->workload.precision);
    YK_TRY(read_other_tokenizer(checkpoint, checkpoint->path));
    return !checkpoint->tokenizer && checkpoint->base_model
               ? read_other_tokenizer(checkpoint, checkpoint->base_model)
               : YK_OK;
}

static yk_status open_one(const char *path, yk_status (*read)(struct yk_checkpoint *checkpoint),
                          struct yk_checkpoint **out)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct yk_checkpoint *checkpoint = yk_arena_take(arena, 1, sizeof *checkpoint);
    if (!checkpoint) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    checkpoint->arena = arena;
    yk_status status = yk_json_keep(arena, path, &checkpoint->path);
    if (status == YK_OK) {
        status = read(checkpoint);
    }
    if (status != YK_OK) {
        yk_checkpoint_close(checkpoint);
        return status;
    }
    *out = checkpoint;
    return YK_OK;
}

static void warn_of_torn(const struct yk_text *faults, int32_t count, const char *used)
{
    const char *fault = yk_text_chars(faults);
    for (int32_t i = 0; i < count; i++) {
        yk_log(YK_LOG_WARNING, "%s; going back to %s", fault, used);
        fault += strlen(fault) + 1;
    }
}

static yk_status fail_all_torn(const char *folder, struct yk_text *faults)
{
    YK_TRY(yk_text_status(faults));
    for (size_t i = 0; i + 1 < faults->length; i++) {
        faults->bytes[i] = faults->bytes[i] ? faults->bytes[i] : ';';
    }
    return yk_fail(YK_ERROR_INPUT, "no checkpoint in %s is whole: %s", folder,
                   yk_text_chars(faults));
}

/* The newest of the list that is whole. `faults` collects what is wrong with newer ones, each ended
 * by a zero. */
static yk_status open_newest(const char *folder, const struct yk_checkpoint_list *list,
                             struct yk_text *path, struct yk_text *faults,
                             struct yk_checkpoint **out)
{
    int32_t torn = 0;
    for (int32_t i = list->count; i-- > 0;) {
        YK_TRY(yk_checkpoint_join(folder, list->entries[i].name, path));
        const yk_status status = open_one(path->bytes, open_own, out);
        if (status == YK_OK) {
            warn_of_torn(faults, torn, path->bytes);
            return YK_OK;
        }
        if (status != YK_ERROR_INPUT) {
            return status;
        }
        yk_text_add_bytes(faults, yk_status_message(), strlen(yk_status_message()) + 1);
        torn++;
    }
    return fail_all_torn(folder, faults);
}

/* Opens the newest checkpoint of `folder`; `found` is false where it has none. */
static yk_status open_run(const char *folder, bool *found, struct yk_checkpoint **out)
{
    struct yk_arena *arena = NULL;
    struct yk_checkpoint_list list = {0};
    struct yk_text path = {0};
    struct yk_text faults = {0};
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_checkpoint_list(folder, arena, &list);
    *found = status != YK_OK || list.count > 0;
    if (status == YK_OK && list.count > 0) {
        status = open_newest(folder, &list, &path, &faults, out);
    }
    yk_text_free(&faults);
    yk_text_free(&path);
    yk_arena_destroy(arena);
    return status;
}

static yk_status open_run_below(const char *path, bool *found, struct yk_checkpoint **out)
{
    struct yk_text below = {0};
    yk_status status = open_run(path, found, out);
    if (status == YK_OK && !*found) {
        status = yk_checkpoint_join(path, RUN_FOLDER, &below);
    }
    if (status == YK_OK && !*found) {
        status = open_run(below.bytes, found, out);
    }
    yk_text_free(&below);
    return status;
}

yk_status yk_checkpoint_open(const char *path, struct yk_checkpoint **out)
{
    struct stat info;
    bool found = false;
    if (stat(path, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) {
        return yk_fail(YK_ERROR_INPUT, "%s is no folder; a checkpoint is one", path);
    }
    /* One of yoke's without its manifest is torn, not a model of somebody else's. */
    if (yk_checkpoint_has(path, YK_CHECKPOINT_MANIFEST) ||
        yk_checkpoint_has(path, YK_CHECKPOINT_STATE)) {
        return open_one(path, open_own, out);
    }
    YK_TRY(open_run_below(path, &found, out));
    if (found) {
        return YK_OK;
    }
    if (is_adapter(path) || (yk_checkpoint_has(path, YK_CHECKPOINT_CONFIG) && has_weights(path))) {
        return open_one(path, open_other, out);
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s holds neither checkpoints nor a model: no step-… and no config.json with "
                   "weights",
                   path);
}

void yk_checkpoint_close(struct yk_checkpoint *checkpoint)
{
    if (checkpoint) {
        yk_tokenizer_destroy(checkpoint->tokenizer);
        yk_arena_destroy(checkpoint->arena);
    }
}
