#include "train/checkpoint/read.h"

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/precision.h"
#include "nn/weights/adapter_config.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/state.h"

#include <string.h>

static yk_status read_beside(const char *folder, const char *name, struct yk_text *path,
                             struct yk_text *out)
{
    YK_TRY(yk_checkpoint_folder_join(folder, name, path));
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
        status = status == YK_ERROR_INPUT ? yk_status_prefix(status, path.bytes) : status;
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
    if (yk_checkpoint_folder_has(folder, YK_CHECKPOINT_VOCABULARY)) {
        return read_tokenizer(checkpoint, folder, YK_CHECKPOINT_VOCABULARY);
    }
    if (yk_checkpoint_folder_has(folder, YK_CHECKPOINT_TOKENIZER) &&
        read_tokenizer(checkpoint, folder, YK_CHECKPOINT_TOKENIZER) != YK_OK) {
        yk_log(YK_LOG_NOTE, "%s; text cannot be used with this model", yk_status_message());
    }
    return YK_OK;
}

/* A folder that yoke wrote. */
static yk_status open_own(struct yk_checkpoint *checkpoint, const struct yk_checkpoint_source *look,
                          uint64_t *hash)
{
    struct yk_manifest manifest = {0};
    const char *model = NULL;
    YK_TRY(yk_manifest_verify(checkpoint->path, look->share, checkpoint->arena, &manifest, hash));
    YK_TRY(read_state(checkpoint, &model));
    YK_TRY(read_config(checkpoint, checkpoint->path, model));
    if (manifest.step != checkpoint->state.step) {
        return yk_fail(YK_ERROR_INPUT, "%s: the manifest and the state are of different steps",
                       checkpoint->path);
    }
    checkpoint->shards = manifest.ranks;
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

/* An adapter does not say what it adapts, except by name: the config is beside it, or in the folder
 * of that name, or that of a built-in model. */
static yk_status open_adapter(struct yk_checkpoint *checkpoint)
{
    struct yk_adapter_config adapter = {0};
    YK_TRY(yk_adapter_config_read(checkpoint->path, checkpoint->arena, &adapter));
    checkpoint->workload.lora_rank = adapter.rank;
    checkpoint->lora_alpha = adapter.alpha;
    checkpoint->base_model = adapter.base;
    if (yk_checkpoint_folder_has(checkpoint->path, YK_CHECKPOINT_CONFIG)) {
        return open_model(checkpoint, checkpoint->path);
    }
    if (!adapter.base) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s/%s does not say what it adapts: \"base_model_name_or_path\" is missing",
                       checkpoint->path, YK_CHECKPOINT_ADAPTER_CONFIG);
    }
    if (yk_checkpoint_folder_has(adapter.base, YK_CHECKPOINT_CONFIG)) {
        return open_model(checkpoint, adapter.base);
    }
    const yk_status status =
        yk_model_config_open(adapter.base, checkpoint->arena, &checkpoint->config);
    return status == YK_ERROR_INPUT ? yk_status_prefix(status, checkpoint->path) : status;
}

/* What Hugging Face's tools wrote: weights without a training. */
static yk_status open_other(struct yk_checkpoint *checkpoint)
{
    YK_TRY(yk_checkpoint_folder_is_adapter(checkpoint->path)
               ? open_adapter(checkpoint)
               : open_model(checkpoint, checkpoint->path));
    checkpoint->workload.batch = 1;
    checkpoint->workload.sequence = checkpoint->config->positions;
    checkpoint->state.scaler = yk_loss_scaler_init(checkpoint->workload.precision);
    YK_TRY(read_other_tokenizer(checkpoint, checkpoint->path));
    return !checkpoint->tokenizer && checkpoint->base_model
               ? read_other_tokenizer(checkpoint, checkpoint->base_model)
               : YK_OK;
}

yk_status yk_checkpoint_read(const struct yk_checkpoint_source *look, struct yk_checkpoint **out,
                             uint64_t *hash)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct yk_checkpoint *checkpoint = yk_arena_allocate(arena, 1, sizeof *checkpoint);
    if (!checkpoint) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    checkpoint->arena = arena;
    *hash = 0;
    yk_status status = yk_arena_strdup(arena, look->path, &checkpoint->path);
    if (status == YK_OK) {
        status = look->own ? open_own(checkpoint, look, hash) : open_other(checkpoint);
    }
    if (status != YK_OK) {
        yk_checkpoint_close(checkpoint);
        return status;
    }
    *out = checkpoint;
    return YK_OK;
}

void yk_checkpoint_close(struct yk_checkpoint *checkpoint)
{
    if (checkpoint) {
        yk_tokenizer_destroy(checkpoint->tokenizer);
        yk_arena_destroy(checkpoint->arena);
    }
}
