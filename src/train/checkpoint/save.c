/*
 * Saves a checkpoint: writes it under another name, syncs it and renames it. At every moment the
 * folder contains the previous checkpoint, the new one, or both, complete.
 *
 * With several ranks, rank 0 creates the folder, each rank writes its shard, and rank 0 writes the
 * other files and renames the folder. After each phase all ranks agree on the status.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/units.h"
#include "comm/host_collective.h"
#include "model/config.h"
#include "nn/weights/weights.h"
#include "nn/weights/weights_tensor.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/manifest.h"
#include "train/checkpoint/shard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* The paths of a checkpoint that is being written. */
struct places {
    struct yk_arena *arena;
    const char *final;
    const char *partial;
    const char *old;
};

static yk_status fail_at(const char *path)
{
    return yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
}

static yk_status name_folder(struct yk_arena *arena, const char *folder, int64_t step,
                             const char *suffix, const char **out)
{
    struct yk_text text = {0};
    yk_text_addf(&text, "%s/step-%08" PRId64 "%s", folder, step, suffix);
    return yk_text_move_to_arena(&text, arena, out);
}

static yk_status name_places(const char *folder, int64_t step, struct places *out)
{
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(name_folder(out->arena, folder, step, "", &out->final));
    YK_TRY(name_folder(out->arena, folder, step, ".partial", &out->partial));
    return name_folder(out->arena, folder, step, ".old", &out->old);
}

/* Writes a text, unless `status` is a failure, and frees it. */
static yk_status write_text(const struct places *places, const char *name, yk_status status,
                            struct yk_text *text)
{
    const char *path = NULL;
    YK_IF_OK(yk_folder_join_path(places->partial, name, places->arena, &path));
    YK_IF_OK(yk_file_write_nofollow(path, text));
    yk_text_free(text);
    return status;
}

static yk_status write_config(const struct yk_net *net, const struct places *places)
{
    struct yk_text text = {0};
    const yk_status status = yk_model_config_to_json(net->config, net->workload.precision, &text);
    return write_text(places, YK_CHECKPOINT_CONFIG_FILE, status, &text);
}

static yk_status save_tensors(const struct yk_checkpoint_content *content,
                              const struct places *places, const char *name,
                              yk_status (*save)(const struct yk_parameter_store *store,
                                                const char *path))
{
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(places->partial, name, places->arena, &path));
    return save(content->store, path);
}

/* Writes all weights, or only the adapters if the base model is available elsewhere. */
static yk_status write_weights(const struct yk_checkpoint_content *content,
                               const struct places *places)
{
    const struct yk_workload *workload = &content->store->net->workload;
    const bool adapted = workload->lora_rank > 0;
    if (adapted) {
        YK_TRY(yk_adapter_save(content->store, places->partial, content->base_model));
    }
    if (adapted && content->base_model) {
        return write_config(content->store->net, places);
    }
    YK_TRY(yk_weights_save(content->store, places->partial, 0, false));
    return workload->nf4 ? save_tensors(content, places, YK_CHECKPOINT_FROZEN_FILE,
                                        yk_checkpoint_save_frozen_nf4_tensors)
                         : YK_OK;
}

/* ---- what each rank writes ---- */

static bool is_alone(const struct yk_checkpoint_content *content)
{
    return yk_communicator_size(content->ranks) <= 1;
}

static bool is_first(const struct yk_checkpoint_content *content)
{
    return yk_communicator_rank(content->ranks) == 0;
}

/* The frozen weights of an adapted model are not saved if its base model is available elsewhere. */
static bool saves_frozen(const struct yk_checkpoint_content *content)
{
    return content->store->net->workload.lora_rank == 0 || !content->base_model;
}

static yk_status write_shard(const struct yk_checkpoint_content *content,
                             const struct places *places, struct yk_safetensors_size_and_hash *out)
{
    char name[YK_SHARD_FILE_NAME_SIZE];
    const char *path = NULL;
    yk_shard_format_file_name(content->ranks->rank, content->ranks->size, name);
    YK_TRY(yk_folder_join_path(places->partial, name, places->arena, &path));
    return yk_shard_write_file(content->store, content->saves, saves_frozen(content), path, out);
}

static yk_status write_numbers(const struct yk_checkpoint_content *content,
                               const struct places *places,
                               struct yk_safetensors_size_and_hash *out)
{
    if (!is_alone(content)) {
        return write_shard(content, places, out);
    }
    YK_TRY(write_weights(content, places));
    return content->store->optimizer == YK_OPTIMIZER_NONE
               ? YK_OK
               : save_tensors(content, places, YK_CHECKPOINT_OPTIMIZER_FILE,
                              yk_checkpoint_save_optimizer_tensors);
}

/* ---- what rank 0 writes ---- */

/* Writes the tokenizer and the chat files that it came with. */
static yk_status write_tokenizer(const struct yk_tokenizer *tokenizer, const struct places *places)
{
    const struct yk_chat_files *files = yk_tokenizer_get_chat_files(tokenizer);
    struct yk_text text = {0};
    yk_tokenizer_append_file_contents(tokenizer, &text);
    YK_TRY(write_text(places, yk_tokenizer_file_name(tokenizer), yk_text_status(&text), &text));
    for (int i = 0; i < YK_CHAT_FILE_COUNT; i++) {
        if (files->exists[i]) {
            yk_text_add_bytes(&text, yk_text_chars(&files->texts[i]), files->texts[i].length);
            YK_TRY(write_text(places, yk_chat_files_name((enum yk_chat_file)i),
                              yk_text_status(&text), &text));
        }
    }
    return YK_OK;
}

static yk_status write_small_files(const struct yk_checkpoint_content *content,
                                   const struct places *places)
{
    struct yk_text text = {0};
    if (!is_alone(content)) {
        YK_TRY(write_config(content->store->net, places));
    }
    if (content->tokenizer) {
        YK_TRY(write_tokenizer(content->tokenizer, places));
    }
    if (content->images) {
        const yk_status written = yk_image_processor_to_json(content->images, &text);
        YK_TRY(write_text(places, YK_CHECKPOINT_IMAGES_FILE, written, &text));
    }
    const yk_status status = yk_checkpoint_state_write_json(content, &text);
    return write_text(places, YK_CHECKPOINT_STATE_FILE, status, &text);
}

/* Reads what a rank reported about its shard. */
static yk_status read_shard_report(const struct yk_host_collective_gathered_bytes *said,
                                   int32_t rank, int32_t ranks, struct yk_arena *arena,
                                   struct yk_manifest_listed_file *out)
{
    struct yk_safetensors_size_and_hash written;
    char name[YK_SHARD_FILE_NAME_SIZE];
    if (said->size != sizeof written) {
        return yk_fail(YK_ERROR_LOST, "rank %" PRId32 " does not say what it has written", rank);
    }
    memcpy(&written, said->bytes, sizeof written);
    *out = (struct yk_manifest_listed_file){.bytes = written.bytes, .hash = written.hash};
    yk_shard_format_file_name(rank, ranks, name);
    return yk_arena_strdup(arena, name, &out->name);
}

/* Writes the manifest. `said` is what the ranks reported about their shards. */
static yk_status write_manifest(const struct yk_checkpoint_content *content,
                                const struct places *places,
                                const struct yk_host_collective_gathered_bytes *said)
{
    struct yk_manifest known = {.step = content->state.step};
    if (!is_alone(content)) {
        known.ranks = content->ranks->size;
        YK_TRY_NEW(places->arena, known.files, known.ranks);
        for (; known.count < known.ranks; known.count++) {
            YK_TRY(read_shard_report(&said[known.count], known.count, known.ranks, places->arena,
                                     &known.files[known.count]));
        }
    }
    return yk_manifest_save_and_sync_folder(places->partial, &known);
}

/* A folder cannot be renamed onto another one. An existing checkpoint of the same step is renamed
 * first, to a name that is still read. */
static yk_status move_into_place(const char *folder, const struct places *places)
{
    struct stat info;
    if (lstat(places->final, &info) == 0) {
        yk_checkpoint_folder_remove(places->old);
        if (rename(places->final, places->old) != 0) {
            return fail_at(places->old);
        }
    }
    if (rename(places->partial, places->final) != 0) {
        const yk_status status = fail_at(places->final);
        (void)rename(places->old, places->final);
        return status;
    }
    return yk_checkpoint_folder_sync_path(folder);
}

/* Renames the checkpoint first, so that a partly removed one is not read as a checkpoint. */
static void remove_whole(const char *folder, const char *name)
{
    struct yk_text path = {0};
    struct yk_text partial = {0};
    yk_text_addf(&path, "%s/%s", folder, name);
    yk_text_addf(&partial, "%s/%.*s.partial", folder, (int)strcspn(name, "."), name);
    if (yk_text_status(&path) == YK_OK && yk_text_status(&partial) == YK_OK) {
        if (rename(path.bytes, partial.bytes) == 0) {
            yk_checkpoint_folder_remove(partial.bytes);
        } else {
            yk_log(YK_LOG_WARNING, "cannot remove %s: %s", path.bytes, strerror(errno));
        }
    }
    yk_text_free(&partial);
    yk_text_free(&path);
}

/* Keeps the checkpoint just saved and the newest before it. Checkpoints of later steps, from before
 * the run was resumed at an earlier step, are removed first. */
static void prune(const char *folder, const struct yk_checkpoint_folder_list *list, int64_t saved,
                  int32_t keep)
{
    int32_t kept = 0;
    for (int32_t i = list->count; i-- > 0;) {
        const struct yk_checkpoint_folder_entry *entry = &list->entries[i];
        const bool replaced =
            entry->old && i + 1 < list->count && list->entries[i + 1].step == entry->step;
        if (entry->step <= saved && !replaced && kept < keep) {
            kept++;
        } else if (replaced || entry->step <= saved) {
            remove_whole(folder, entry->name);
        }
    }
    for (int32_t i = 0; i < list->count; i++) {
        const struct yk_checkpoint_folder_entry *entry = &list->entries[i];
        if (entry->step > saved && kept < keep) {
            kept++;
        } else if (entry->step > saved) {
            remove_whole(folder, entry->name);
        }
    }
}

/* A failure is only a warning, because the new checkpoint is complete. */
static void remove_older(const char *folder, int64_t saved, int32_t keep)
{
    struct yk_arena *arena = NULL;
    struct yk_checkpoint_folder_list list = {0};
    if (yk_arena_create(&arena) != YK_OK ||
        yk_checkpoint_folder_list_checkpoints(folder, arena, &list) != YK_OK) {
        yk_log(YK_LOG_WARNING, "older checkpoints stay: %s", yk_status_message());
    } else {
        prune(folder, &list, saved, keep > 0 ? keep : INT32_MAX);
    }
    yk_arena_destroy(arena);
}

static yk_status begin(const char *folder, const struct places *places)
{
    YK_TRY(yk_file_check_not_symlink(folder));
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return fail_at(folder);
    }
    yk_checkpoint_folder_remove_partial_saves(folder);
    return mkdir(places->partial, 0777) == 0 ? YK_OK : fail_at(places->partial);
}

/* All ranks report what they have written; rank 0 does the rest. */
static yk_status finish(const char *folder, const struct yk_checkpoint_content *content,
                        const struct places *places, const struct yk_safetensors_size_and_hash *own)
{
    struct yk_host_collective_gathered_bytes *said = NULL;
    if (!is_alone(content)) {
        YK_TRY(yk_host_collective_gather_on_rank0(content->ranks, own, sizeof *own, places->arena,
                                                  &said));
    }
    if (!is_first(content)) {
        return YK_OK;
    }
    YK_TRY(write_small_files(content, places));
    YK_TRY(write_manifest(content, places, said));
    YK_TRY(yk_checkpoint_folder_sync_path(places->partial));
    return move_into_place(folder, places);
}

static yk_status save(const char *folder, const struct yk_checkpoint_content *content,
                      struct places *places)
{
    const struct yk_communicator *ranks = content->ranks;
    struct yk_safetensors_size_and_hash own = {0};
    yk_status status = name_places(folder, content->state.step, places);
    if (status == YK_OK && is_first(content)) {
        status = begin(folder, places);
    }
    status = yk_host_collective_agree_on_status(ranks, status);
    YK_IF_OK(yk_host_collective_agree_on_status(ranks, write_numbers(content, places, &own)));
    YK_IF_OK(yk_host_collective_agree_on_status(ranks, finish(folder, content, places, &own)));
    if (status != YK_OK && is_first(content) && places->partial) {
        yk_checkpoint_folder_remove(places->partial);
    }
    return status;
}

yk_status yk_checkpoint_save(const char *folder, const struct yk_checkpoint_content *content,
                             int32_t keep, struct yk_text *out)
{
    struct places places = {0};
    yk_status status = save(folder, content, &places);
    if (status == YK_OK) {
        if (is_first(content)) {
            remove_older(folder, content->state.step, keep);
        }
        yk_text_add(out, places.final);
        status = yk_text_status(out);
    }
    yk_arena_destroy(places.arena);
    return status;
}

/* ---- space on the disk ---- */

enum {
    FP32_BYTES = 4 /* optimizer state, and trained weights in shards */
};

/* The number of moments of the optimizer. A rank may store the moments of some layers only. */
static uint64_t moments_of(const struct yk_parameter_store *store)
{
    bool first = false;
    bool second = false;
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        first = first || yk_parameter_store_has_state_tensor(store, l, YK_STATE_MOMENT1);
        second = second || yk_parameter_store_has_state_tensor(store, l, YK_STATE_MOMENT2);
    }
    return (uint64_t)first + (uint64_t)second;
}

static uint64_t bytes_of(const struct yk_checkpoint_content *content,
                         const struct yk_parameter *parameter, uint64_t moments)
{
    const struct yk_net *net = content->store->net;
    const bool sharded = !is_alone(content);
    const uint64_t count = (uint64_t)parameter->count;
    const int64_t width = yk_precision_bytes(yk_weights_saved_tensor_precision(net, parameter));
    uint64_t bytes = parameter->trained ? count * FP32_BYTES * moments : 0;
    if (sharded && parameter->trained) {
        return bytes + count * FP32_BYTES;
    }
    if (!yk_parameter_is_in_adapter(parameter) && !saves_frozen(content)) {
        return bytes;
    }
    if (sharded) {
        return bytes + yk_net_parameter_bytes(net, parameter);
    }
    /* 16-bit weights have a master copy; NF4 weights are saved both dequantised and as bytes. */
    bytes += parameter->trained && moments > 0 && width < FP32_BYTES ? count * FP32_BYTES : 0;
    bytes += parameter->format == YK_PARAMETER_NF4 ? yk_net_parameter_bytes(net, parameter) : 0;
    return bytes + count * (uint64_t)width;
}

uint64_t yk_checkpoint_save_size_bytes(const struct yk_checkpoint_content *content)
{
    const struct yk_net *net = content->store->net;
    const uint64_t moments = moments_of(content->store);
    uint64_t bytes = 0;
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        bytes += bytes_of(content, at.parameter, moments);
    }
    return bytes;
}

static yk_status count_saved(const char *folder, struct yk_arena *arena, int32_t *out)
{
    struct yk_checkpoint_folder_list list = {0};
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(folder, "checkpoints", arena, &path));
    YK_TRY(yk_checkpoint_folder_list_checkpoints(path, arena, &list));
    *out = list.count;
    return YK_OK;
}

static yk_status fail_no_space(const char *folder, int64_t more, double each, double free)
{
    char one[YK_UNITS_BUFFER_SIZE];
    char all[YK_UNITS_BUFFER_SIZE];
    char left[YK_UNITS_BUFFER_SIZE];
    yk_units_format(each, YK_UNIT_BYTES, one);
    yk_units_format(each * (double)more, YK_UNIT_BYTES, all);
    yk_units_format(free, YK_UNIT_BYTES, left);
    return yk_fail(
        YK_ERROR_SYSTEM,
        "%s: %" PRId64 " checkpoint%s of %s, of which one is being written, need%s %s, "
        "and %s are free there; make room, keep fewer (--keep) or save elsewhere (--out)",
        folder, more, more == 1 ? "" : "s", one, more == 1 ? "s" : "", all, left);
}

yk_status yk_checkpoint_check_save_disk_space(const char *folder,
                                              const struct yk_checkpoint_content *content,
                                              int64_t saves, int32_t keep)
{
    struct statvfs system;
    int32_t saved = 0;
    YK_TRY_WITH_TEMPORARY_ARENA(arena, count_saved(folder, arena, &saved));
    /* A checkpoint is written before an older one is removed. */
    const int64_t more = keep > 0 ? (keep > saved ? keep - saved : 0) + 1 : saves;
    const int64_t max = more < saves ? more : saves;
    if (statvfs(folder, &system) != 0 || system.f_blocks == 0) {
        return YK_OK;
    }
    const double free = (double)system.f_bavail * (double)system.f_frsize;
    const double each = (double)yk_checkpoint_save_size_bytes(content);
    return (double)max * each <= free ? YK_OK : fail_no_space(folder, max, each, free);
}
