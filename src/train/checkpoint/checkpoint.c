/*
 * Opens a checkpoint: the newest one that is complete, or a folder in Hugging Face format.
 *
 * Rank 0 lists the candidate folders. All ranks then try them one after the other, and agree on the
 * first that all of them find complete.
 */
#include "train/checkpoint/checkpoint.h"

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/precision.h"
#include "comm/host_collective.h"
#include "nn/weights/adapter_config.h"
#include "tokenizer/formats/tokenizer_files.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/manifest.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the small files of a folder ---- */

/* A folder to open, and how. */
struct source {
    const char *path;
    bool own; /* written by yoke; else in Hugging Face format */
    struct yk_manifest_hash_share share;
};

void yk_checkpoint_close(struct yk_checkpoint *checkpoint)
{
    if (checkpoint) {
        yk_tokenizer_destroy(checkpoint->tokenizer);
        yk_arena_destroy(checkpoint->arena);
    }
}

/* A small file of a folder. */
struct document {
    const char *path;
    const char *text;
    size_t length;
};

static yk_status read_file(const char *folder, const char *name, struct yk_arena *arena,
                           struct document *out)
{
    YK_TRY(yk_folder_join_path(folder, name, arena, &out->path));
    return yk_file_read_document_to_arena(out->path, arena, &out->text, &out->length);
}

/* Reads config.json. The config gets the name `model`. */
static yk_status read_config(struct yk_checkpoint *checkpoint, const char *folder,
                             const char *model)
{
    struct document file;
    const struct yk_model_config *read = NULL;
    struct yk_model_config *config = NULL;
    YK_TRY(read_file(folder, YK_CHECKPOINT_CONFIG_FILE, checkpoint->arena, &file));
    YK_TRY(yk_model_config_parse(file.text, file.length, file.path, checkpoint->arena, &read));
    YK_TRY_NEW(checkpoint->arena, config, 1);
    *config = *read;
    config->name = model;
    checkpoint->config = config;
    return YK_OK;
}

static yk_status read_state(struct yk_checkpoint *checkpoint, const char **model)
{
    struct document file;
    YK_TRY(read_file(checkpoint->path, YK_CHECKPOINT_STATE_FILE, checkpoint->arena, &file));
    const yk_status status = yk_checkpoint_state_parse_json(file.text, file.length,
                                                            checkpoint->arena, checkpoint, model);
    return status == YK_ERROR_INPUT ? yk_status_prefix_message(status, file.path) : status;
}

/* Frees the text, because it may be large. */
static yk_status read_tokenizer(struct yk_checkpoint *checkpoint, const char *folder,
                                const char *name)
{
    const char *path = NULL;
    struct yk_text text = {0};
    YK_TRY(yk_folder_join_path(folder, name, checkpoint->arena, &path));
    yk_status status = yk_file_read_document(path, &text);
    YK_IF_OK(yk_tokenizer_parse(yk_text_chars(&text), text.length, path, &checkpoint->tokenizer));
    YK_IF_OK(yk_tokenizer_read_chat_files(checkpoint->tokenizer, folder));
    yk_text_free(&text);
    return status;
}

/* Reads the tokenizer of a folder in Hugging Face format. One that is not supported is only noted,
 * because many commands need no tokenizer. */
static yk_status read_other_tokenizer(struct yk_checkpoint *checkpoint, const char *folder)
{
    if (yk_folder_contains(folder, YK_CHECKPOINT_VOCABULARY_FILE)) {
        return read_tokenizer(checkpoint, folder, YK_CHECKPOINT_VOCABULARY_FILE);
    }
    if (yk_tokenizer_files_find(folder) &&
        yk_tokenizer_open(folder, &checkpoint->tokenizer) != YK_OK) {
        yk_log(YK_LOG_NOTE, "%s; text cannot be used with this model", yk_status_message());
    }
    return YK_OK;
}

/* Reads how images are made ready, from the model's folder or from that of its base model. */
static yk_status read_images(struct yk_checkpoint *checkpoint)
{
    const struct yk_image_shape *image = &checkpoint->config->image;
    const char *folder = checkpoint->path;
    if (!yk_model_config_reads_images(checkpoint->config)) {
        return YK_OK;
    }
    if (!yk_folder_contains(folder, YK_CHECKPOINT_IMAGES_FILE) && checkpoint->base_model) {
        folder = checkpoint->base_model;
    }
    checkpoint->images = yk_image_processor_make(image->channels, image->height, image->width);
    return yk_image_processor_read_folder(folder, &checkpoint->images);
}

/* Opens a folder that yoke wrote. */
static yk_status open_own(struct yk_checkpoint *checkpoint, const struct source *source,
                          uint64_t *hash)
{
    struct yk_manifest manifest = {0};
    const char *model = NULL;
    YK_TRY(yk_manifest_verify_folder(checkpoint->path, source->share, checkpoint->arena, &manifest,
                                     hash));
    YK_TRY(read_state(checkpoint, &model));
    YK_TRY(read_config(checkpoint, checkpoint->path, model));
    if (manifest.step != checkpoint->state.step) {
        return yk_fail(YK_ERROR_INPUT, "%s: the manifest and the state are of different steps",
                       checkpoint->path);
    }
    checkpoint->shards = manifest.ranks;
    YK_TRY(read_images(checkpoint));
    if (yk_manifest_lists_file(&manifest, YK_CHECKPOINT_TOKENIZER_FILE)) {
        return read_tokenizer(checkpoint, checkpoint->path, YK_CHECKPOINT_TOKENIZER_FILE);
    }
    return yk_manifest_lists_file(&manifest, YK_CHECKPOINT_VOCABULARY_FILE)
               ? read_tokenizer(checkpoint, checkpoint->path, YK_CHECKPOINT_VOCABULARY_FILE)
               : YK_OK;
}

/* Sets the precision of the training to the dtype of the weights. */
static yk_status read_dtype(struct yk_checkpoint *checkpoint, const char *folder)
{
    struct document file;
    struct yk_json *root = NULL;
    YK_TRY(read_file(folder, YK_CHECKPOINT_CONFIG_FILE, checkpoint->arena, &file));
    YK_TRY(yk_json_parse(file.text, file.length, &root));
    const struct yk_json *newer = yk_json_get_member(root, "dtype");
    const char *name =
        yk_json_string_value(newer ? newer : yk_json_get_member(root, "torch_dtype"));
    if (name && strcmp(name, "bfloat16") == 0) {
        checkpoint->workload.precision = YK_PRECISION_BF16;
    } else if (name && strcmp(name, "float16") == 0) {
        checkpoint->workload.precision = YK_PRECISION_FP16;
    }
    yk_json_destroy(root);
    return YK_OK;
}

/* Opens a model in Hugging Face format. Its name is its folder. */
static yk_status open_model(struct yk_checkpoint *checkpoint, const char *folder)
{
    YK_TRY(read_config(checkpoint, folder, folder));
    return read_dtype(checkpoint, folder);
}

/* Opens an adapter. The config of its base model is in the adapter's folder, in the folder that the
 * adapter names, or built in. */
static yk_status open_adapter(struct yk_checkpoint *checkpoint)
{
    struct yk_adapter_config adapter = {0};
    YK_TRY(yk_adapter_config_read(checkpoint->path, checkpoint->arena, &adapter));
    checkpoint->workload.lora_rank = adapter.rank;
    checkpoint->lora_alpha = adapter.alpha;
    checkpoint->base_model = adapter.base;
    if (yk_folder_contains(checkpoint->path, YK_CHECKPOINT_CONFIG_FILE)) {
        return open_model(checkpoint, checkpoint->path);
    }
    if (!adapter.base) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s/%s does not say what it adapts: \"base_model_name_or_path\" is missing",
                       checkpoint->path, YK_CHECKPOINT_ADAPTER_CONFIG_FILE);
    }
    if (yk_folder_contains(adapter.base, YK_CHECKPOINT_CONFIG_FILE)) {
        return open_model(checkpoint, adapter.base);
    }
    const yk_status status =
        yk_model_config_open(adapter.base, checkpoint->arena, &checkpoint->config);
    return status == YK_ERROR_INPUT ? yk_status_prefix_message(status, checkpoint->path) : status;
}

/* Opens a folder in Hugging Face format, which has no training state. */
static yk_status open_other(struct yk_checkpoint *checkpoint)
{
    YK_TRY(yk_checkpoint_folder_has_adapter(checkpoint->path)
               ? open_adapter(checkpoint)
               : open_model(checkpoint, checkpoint->path));
    checkpoint->workload.batch = 1;
    checkpoint->workload.sequence = checkpoint->config->positions;
    checkpoint->state.scaler = yk_loss_scaler_init(checkpoint->workload.precision);
    YK_TRY(read_images(checkpoint));
    YK_TRY(read_other_tokenizer(checkpoint, checkpoint->path));
    return !checkpoint->tokenizer && checkpoint->base_model
               ? read_other_tokenizer(checkpoint, checkpoint->base_model)
               : YK_OK;
}

/* `hash` is the hash of the manifest; 0: there is no manifest. */
static yk_status read_checkpoint(const struct source *source, struct yk_checkpoint **out,
                                 uint64_t *hash)
{
    struct yk_checkpoint *checkpoint = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(checkpoint);
    *hash = 0;
    yk_status status = yk_arena_strdup(checkpoint->arena, source->path, &checkpoint->path);
    YK_IF_OK(source->own ? open_own(checkpoint, source, hash) : open_other(checkpoint));
    YK_TRY_OR_CLEAN_UP(status, yk_checkpoint_close(checkpoint));
    *out = checkpoint;
    return YK_OK;
}

static const char RUN_FOLDER[] = "checkpoints"; /* of a run's folder */

/* The folders that may be opened, as rank 0 sees them. */
struct candidates {
    struct yk_arena *arena;
    const char *folder; /* of a run's checkpoints */
    struct yk_checkpoint_folder_list list;
    bool run; /* open the newest of `list`; else the path itself */
    bool own;
};

/* ---- candidates ---- */

static yk_status find_run(const char *folder, struct candidates *out)
{
    YK_TRY(yk_checkpoint_folder_list_checkpoints(folder, out->arena, &out->list));
    out->run = out->list.count > 0;
    out->own = out->run;
    return yk_arena_strdup(out->arena, folder, &out->folder);
}

static yk_status find_run_below(const char *path, struct candidates *out)
{
    const char *below = NULL;
    YK_TRY(find_run(path, out));
    if (out->run) {
        return YK_OK;
    }
    YK_TRY(yk_folder_join_path(path, RUN_FOLDER, out->arena, &below));
    return find_run(below, out);
}

static yk_status find_candidates(const char *path, struct candidates *out)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) {
        return yk_fail(YK_ERROR_INPUT, "%s is no folder; a checkpoint is one", path);
    }
    /* A checkpoint without its manifest is incomplete; it is not a Hugging Face model. */
    if (yk_folder_contains(path, YK_CHECKPOINT_MANIFEST_FILE) ||
        yk_folder_contains(path, YK_CHECKPOINT_STATE_FILE)) {
        out->own = true;
        return YK_OK;
    }
    YK_TRY(find_run_below(path, out));
    if (out->run || yk_checkpoint_folder_has_adapter(path) ||
        (yk_folder_contains(path, YK_CHECKPOINT_CONFIG_FILE) &&
         yk_checkpoint_folder_has_weights(path))) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s holds neither checkpoints nor a model: no step-… and no config.json with "
                   "weights",
                   path);
}

/* ---- agreement of the ranks ---- */

/* What to try next: a folder in Hugging Face format, a checkpoint, or the next newest checkpoint of
 * a run; or no checkpoint of the run is left. */
enum how {
    TRY_OTHER = 'h',
    TRY_OWN = 'o',
    TRY_NEXT = 'n',
    NONE_LEFT = 'x',
};

/* Writes rank 0's proposal after `tried` checkpoints were incomplete: an `enum how`, then the path.
 */
static yk_status make_offer(const char *path, const struct candidates *candidates, int32_t tried,
                            struct yk_text *out)
{
    const struct yk_checkpoint_folder_list *list = &candidates->list;
    out->length = 0;
    if (!candidates->run) {
        yk_text_addf(out, "%c%s", candidates->own ? TRY_OWN : TRY_OTHER, path);
    } else if (tried == list->count) {
        yk_text_addf(out, "%c%s", NONE_LEFT, candidates->folder);
    } else {
        yk_text_addf(out, "%c%s/%s", TRY_NEXT, candidates->folder,
                     list->entries[list->count - 1 - tried].name);
    }
    return yk_text_status(out);
}

/* Fails if the same path is a different folder on another machine. */
static yk_status compare_hashes(const struct yk_communicator *ranks, const char *path,
                                uint64_t hash)
{
    uint64_t first = hash;
    yk_status status = yk_host_collective_broadcast_bytes(ranks, 0, &first, sizeof first);
    if (status == YK_OK && first != hash) {
        status = yk_fail(YK_ERROR_INPUT,
                         "%s holds another checkpoint here than for rank 0; it must be a folder "
                         "that all ranks share",
                         path);
    }
    return yk_host_collective_agree_on_status(ranks, status);
}

/* ---- opening ---- */

static yk_status open_offer(const struct yk_communicator *ranks, const char *offer,
                            struct yk_checkpoint **out)
{
    const struct source source = {
        .path = offer + 1,
        .own = offer[0] != TRY_OTHER,
        .share = {.rank = yk_communicator_rank(ranks), .ranks = yk_communicator_size(ranks)},
    };
    struct yk_checkpoint *checkpoint = NULL;
    uint64_t hash = 0;
    yk_status status =
        yk_host_collective_agree_on_status(ranks, read_checkpoint(&source, &checkpoint, &hash));
    if (status == YK_OK && yk_communicator_size(ranks) > 1) {
        status = compare_hashes(ranks, source.path, hash);
    }
    YK_TRY_OR_CLEAN_UP(status, yk_checkpoint_close(checkpoint));
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
        if (!faults->bytes[i]) {
            faults->bytes[i] = ';';
        }
    }
    return yk_fail(YK_ERROR_INPUT, "no checkpoint in %s is whole: %s", folder,
                   yk_text_chars(faults));
}

struct texts {
    struct yk_text offer;
    struct yk_text faults; /* messages about newer checkpoints, each ended by a zero byte */
};

/* Opens the newest candidate that is complete. */
static yk_status open_first_whole(const char *path, const struct yk_communicator *ranks,
                                  const struct candidates *candidates, struct texts *texts,
                                  struct yk_checkpoint **out)
{
    for (int32_t torn = 0;; torn++) {
        const yk_status made = yk_communicator_rank(ranks) == 0
                                   ? make_offer(path, candidates, torn, &texts->offer)
                                   : YK_OK;
        YK_TRY(yk_host_collective_agree_on_status(ranks, made));
        if (yk_communicator_size(ranks) > 1) {
            YK_TRY(yk_host_collective_broadcast_text(ranks, 0, &texts->offer));
        }
        const char *offer = yk_text_chars(&texts->offer);
        if (offer[0] == NONE_LEFT) {
            return fail_all_torn(offer + 1, &texts->faults);
        }
        const yk_status status = open_offer(ranks, offer, out);
        if (status == YK_OK && yk_communicator_rank(ranks) == 0) {
            warn_of_torn(&texts->faults, torn, offer + 1);
        }
        if (status != YK_ERROR_INPUT || offer[0] != TRY_NEXT) {
            return status;
        }
        yk_text_add_bytes(&texts->faults, yk_status_message(), strlen(yk_status_message()) + 1);
    }
}

yk_status yk_checkpoint_open_on_all_ranks(const char *path, const struct yk_communicator *ranks,
                                          struct yk_checkpoint **out)
{
    struct candidates candidates = {0};
    struct texts texts = {0};
    yk_status status = yk_arena_create(&candidates.arena);
    if (status == YK_OK && yk_communicator_rank(ranks) == 0) {
        status = find_candidates(path, &candidates);
    }
    status = yk_host_collective_agree_on_status(ranks, status);
    YK_IF_OK(open_first_whole(path, ranks, &candidates, &texts, out));
    yk_text_free(&texts.offer);
    yk_text_free(&texts.faults);
    yk_arena_destroy(candidates.arena);
    return status;
}

yk_status yk_checkpoint_open(const char *path, struct yk_checkpoint **out)
{
    return yk_checkpoint_open_on_all_ranks(path, NULL, out);
}
