/*
 * Saving a checkpoint: under another name, synced and renamed, so that at every moment the folder
 * holds the checkpoint before, the new one, or both, whole.
 *
 * Of several ranks, the first makes the folder, each writes its shard into it, and the first adds
 * everything else and renames it. Between these, all of them agree that nothing went wrong.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/units.h"
#include "comm/exchange.h"
#include "model/config.h"
#include "nn/weights/tensor.h"
#include "nn/weights/weights.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/folder.h"
#include "train/checkpoint/manifest.h"
#include "train/checkpoint/shard.h"
#include "train/checkpoint/state.h"
#include "train/checkpoint/tensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Folders of one checkpoint on its way. */
struct places {
    struct yk_text final;
    struct yk_text partial;
    struct yk_text old;
    struct yk_text file; /* one after the other */
};

static yk_status fail_at(const char *path)
{
    return yk_fail(YK_ERROR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
}

static yk_status name_places(const char *folder, int64_t step, struct places *out)
{
    yk_text_addf(&out->final, "%s/step-%08" PRId64, folder, step);
    yk_text_addf(&out->partial, "%s.partial", yk_text_chars(&out->final));
    yk_text_addf(&out->old, "%s.old", yk_text_chars(&out->final));
    YK_TRY(yk_text_status(&out->final));
    YK_TRY(yk_text_status(&out->partial));
    return yk_text_status(&out->old);
}

static void free_places(struct places *places)
{
    yk_text_free(&places->final);
    yk_text_free(&places->partial);
    yk_text_free(&places->old);
    yk_text_free(&places->file);
}

/* Writes a text whose making ended with `made`, and frees it. */
static yk_status write_text(yk_status made, struct yk_text *text, const char *path)
{
    const yk_status status = made == YK_OK ? yk_file_write_nofollow(path, text) : made;
    yk_text_free(text);
    return status;
}

static yk_status write_config(const struct yk_net *net, const char *path)
{
    struct yk_text text = {0};
    return write_text(yk_model_config_write(net->config, net->workload.precision, &text), &text,
                      path);
}

static yk_status write_tokenizer(const struct yk_tokenizer *tokenizer, const char *path)
{
    struct yk_text text = {0};
    yk_tokenizer_write(tokenizer, &text);
    return write_text(yk_text_status(&text), &text, path);
}

static yk_status write_state(const struct yk_checkpoint_content *content, const char *path)
{
    struct yk_text text = {0};
    return write_text(yk_checkpoint_state_write(content, &text), &text, path);
}

/* The weights that cannot be had elsewhere: all of them, unless a model that is kept somewhere is
 * adapted. */
static yk_status write_weights(const struct yk_checkpoint_content *content, struct places *places)
{
    const struct yk_workload *workload = &content->store->net->workload;
    const char *partial = places->partial.bytes;
    const bool adapted = workload->lora_rank > 0;
    if (adapted) {
        YK_TRY(yk_adapter_save(content->store, partial, content->base_model));
    }
    if (adapted && content->base_model) {
        YK_TRY(yk_checkpoint_folder_join(partial, YK_CHECKPOINT_CONFIG, &places->file));
        return write_config(content->store->net, places->file.bytes);
    }
    YK_TRY(yk_weights_save(content->store, partial, 0, false));
    if (workload->nf4) {
        YK_TRY(yk_checkpoint_folder_join(partial, YK_CHECKPOINT_FROZEN, &places->file));
        YK_TRY(yk_checkpoint_save_frozen_tensors(content->store, places->file.bytes));
    }
    return YK_OK;
}

/* ---- what each rank writes ---- */

static bool is_alone(const struct yk_checkpoint_content *content)
{
    return !content->ranks || content->ranks->size <= 1;
}

static bool is_first(const struct yk_checkpoint_content *content)
{
    return is_alone(content) || content->ranks->rank == 0;
}

/* What went wrong on one rank did so for all. */
static yk_status agree(const struct yk_checkpoint_content *content, yk_status status)
{
    return is_alone(content) ? status : yk_exchange_agree(content->ranks, status);
}

/* Frozen weights of a model that is kept elsewhere are not saved again. */
static bool saves_frozen(const struct yk_checkpoint_content *content)
{
    return content->store->net->workload.lora_rank == 0 || !content->base_model;
}

static yk_status write_shard(const struct yk_checkpoint_content *content, struct places *places,
                             struct yk_safetensors_written *out)
{
    struct yk_text name = {0};
    yk_shard_add_file_name(&name, content->ranks->rank, content->ranks->size);
    yk_status status = yk_text_status(&name);
    YK_THEN(yk_checkpoint_folder_join(places->partial.bytes, name.bytes, &places->file));
    YK_THEN(yk_shard_write(content->store, content->saves, saves_frozen(content),
                           places->file.bytes, out));
    yk_text_free(&name);
    return status;
}

static yk_status write_numbers(const struct yk_checkpoint_content *content, struct places *places,
                               struct yk_safetensors_written *out)
{
    if (!is_alone(content)) {
        return write_shard(content, places, out);
    }
    YK_TRY(write_weights(content, places));
    if (content->store->optimizer == YK_OPTIMIZER_NONE) {
        return YK_OK;
    }
    YK_TRY(
        yk_checkpoint_folder_join(places->partial.bytes, YK_CHECKPOINT_OPTIMIZER, &places->file));
    return yk_checkpoint_save_optimizer_tensors(content->store, places->file.bytes);
}

/* ---- what the first of them adds ---- */

static yk_status write_small_files(const struct yk_checkpoint_content *content,
                                   struct places *places)
{
    const char *partial = places->partial.bytes;
    if (!is_alone(content)) {
        YK_TRY(yk_checkpoint_folder_join(partial, YK_CHECKPOINT_CONFIG, &places->file));
        YK_TRY(write_config(content->store->net, places->file.bytes));
    }
    if (content->tokenizer) {
        YK_TRY(yk_checkpoint_folder_join(partial, yk_tokenizer_file_name(content->tokenizer),
                                         &places->file));
        YK_TRY(write_tokenizer(content->tokenizer, places->file.bytes));
    }
    YK_TRY(yk_checkpoint_folder_join(partial, YK_CHECKPOINT_STATE, &places->file));
    return write_state(content, places->file.bytes);
}

/* What a rank says about its shard. */
static yk_status know_shard(const struct yk_exchange_bytes *said, int32_t rank, int32_t ranks,
                            struct yk_arena *arena, struct yk_manifest_file *out)
{
    struct yk_safetensors_written written;
    struct yk_text name = {0};
    if (said->size != sizeof written) {
        return yk_fail(YK_ERROR_LOST, "rank %" PRId32 " does not say what it has written", rank);
    }
    memcpy(&written, said->bytes, sizeof written);
    *out = (struct yk_manifest_file){.bytes = written.bytes, .hash = written.hash};
    yk_shard_add_file_name(&name, rank, ranks);
    yk_status status = yk_text_status(&name);
    YK_THEN(yk_arena_strdup(arena, name.bytes, &out->name));
    yk_text_free(&name);
    return status;
}

/* The manifest; `said` is what the ranks have written. */
static yk_status seal(const struct yk_checkpoint_content *content, const char *partial,
                      const struct yk_exchange_bytes *said, struct yk_arena *arena)
{
    struct yk_manifest known = {.step = content->state.step};
    if (!is_alone(content)) {
        known.ranks = content->ranks->size;
        YK_TRY_NEW(arena, known.files, known.ranks);
        for (; known.count < known.ranks; known.count++) {
            YK_TRY(know_shard(&said[known.count], known.count, known.ranks, arena,
                              &known.files[known.count]));
        }
    }
    return yk_manifest_save(partial, &known);
}

/* A folder cannot be renamed onto another: the one of the same step, if there is one, steps aside
 * under a name that is still read. */
static yk_status move_into_place(const char *folder, const struct places *places)
{
    struct stat info;
    if (lstat(places->final.bytes, &info) == 0) {
        yk_checkpoint_folder_remove(places->old.bytes);
        if (rename(places->final.bytes, places->old.bytes) != 0) {
            return fail_at(places->old.bytes);
        }
    }
    if (rename(places->partial.bytes, places->final.bytes) != 0) {
        const yk_status status = fail_at(places->final.bytes);
        (void)rename(places->old.bytes, places->final.bytes);
        return status;
    }
    return yk_checkpoint_folder_sync(folder);
}

/* Renamed first, so that one which is removed only in part is not mistaken for a checkpoint. */
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

/* Keeps the one just saved and the newest before it. Later steps are of a run that was resumed from
 * an earlier step: they go first. */
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

/* What cannot be removed is a warning: the checkpoint stands. */
static void remove_older(const char *folder, int64_t saved, int32_t keep)
{
    struct yk_arena *arena = NULL;
    struct yk_checkpoint_folder_list list = {0};
    if (yk_arena_create(&arena) != YK_OK ||
        yk_checkpoint_folder_list(folder, arena, &list) != YK_OK) {
        yk_log(YK_LOG_WARNING, "older checkpoints stay: %s", yk_status_message());
    } else {
        prune(folder, &list, saved, keep > 0 ? keep : INT32_MAX);
    }
    yk_arena_destroy(arena);
}

static yk_status begin(const char *folder, const struct places *places)
{
    YK_TRY(yk_file_check_nofollow(folder));
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return fail_at(folder);
    }
    yk_checkpoint_folder_remove_partial(folder);
    return mkdir(places->partial.bytes, 0777) == 0 ? YK_OK : fail_at(places->partial.bytes);
}

/* All ranks say what they have written, and the first does the rest. */
static yk_status finish(const char *folder, const struct yk_checkpoint_content *content,
                        struct places *places, const struct yk_safetensors_written *own,
                        struct yk_arena *arena)
{
    struct yk_exchange_bytes *said = NULL;
    if (!is_alone(content)) {
        YK_TRY(yk_exchange_gather(content->ranks, own, sizeof *own, arena, &said));
    }
    if (!is_first(content)) {
        return YK_OK;
    }
    YK_TRY(write_small_files(content, places));
    YK_TRY(seal(content, places->partial.bytes, said, arena));
    YK_TRY(yk_checkpoint_folder_sync(places->partial.bytes));
    return move_into_place(folder, places);
}

static yk_status save(const char *folder, const struct yk_checkpoint_content *content,
                      struct places *places)
{
    struct yk_arena *arena = NULL;
    struct yk_safetensors_written own = {0};
    yk_status status = name_places(folder, content->state.step, places);
    YK_THEN(yk_arena_create(&arena));
    if (status == YK_OK && is_first(content)) {
        status = begin(folder, places);
    }
    status = agree(content, status);
    YK_THEN(agree(content, write_numbers(content, places, &own)));
    YK_THEN(agree(content, finish(folder, content, places, &own, arena)));
    if (status != YK_OK && is_first(content) && places->partial.bytes) {
        yk_checkpoint_folder_remove(places->partial.bytes);
    }
    yk_arena_destroy(arena);
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
        yk_text_add(out, places.final.bytes);
        status = yk_text_status(out);
    }
    free_places(&places);
    return status;
}

/* ---- space on the disk ---- */

enum {
    NUMBER_BYTES = 4 /* of optimizer state and of trained weights in shards */
};

/* Moments that the optimizer keeps of a trained number; a rank may keep those of some layers. */
static uint64_t moments_of(const struct yk_store *store)
{
    bool first = false;
    bool second = false;
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        first = first || yk_store_has_state(store, l, YK_STATE_MOMENT1);
        second = second || yk_store_has_state(store, l, YK_STATE_MOMENT2);
    }
    return (uint64_t)first + (uint64_t)second;
}

static uint64_t bytes_of(const struct yk_checkpoint_content *content,
                         const struct yk_parameter *parameter, uint64_t moments)
{
    const struct yk_net *net = content->store->net;
    const bool sharded = content->ranks && content->ranks->size > 1;
    const bool elsewhere = net->workload.lora_rank > 0 && content->base_model;
    const uint64_t count = (uint64_t)parameter->count;
    const int64_t width = yk_precision_bytes(yk_weights_tensor_precision(net, parameter));
    uint64_t bytes = parameter->trained ? count * NUMBER_BYTES * moments : 0;
    if (sharded && parameter->trained) {
        return bytes + count * NUMBER_BYTES;
    }
    if (!parameter->adapter && elsewhere) {
        return bytes;
    }
    if (sharded) {
        return bytes + yk_net_parameter_bytes(net, parameter);
    }
    /* A master copy next to weights of 16 bits; codes of NF4 next to what they stand for. */
    bytes += parameter->trained && moments > 0 && width < NUMBER_BYTES ? count * NUMBER_BYTES : 0;
    bytes += parameter->format == YK_PARAMETER_NF4 ? yk_net_parameter_bytes(net, parameter) : 0;
    return bytes + count * (uint64_t)width;
}

uint64_t yk_checkpoint_save_bytes(const struct yk_checkpoint_content *content)
{
    const struct yk_net *net = content->store->net;
    const uint64_t moments = moments_of(content->store);
    uint64_t bytes = 0;
    for (struct yk_net_cursor at = {0}; yk_net_next(net, &at);) {
        bytes += bytes_of(content, at.parameter, moments);
    }
    return bytes;
}

static yk_status count_saved(const char *folder, int32_t *out)
{
    struct yk_arena *arena = NULL;
    struct yk_text path = {0};
    struct yk_checkpoint_folder_list list = {0};
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_checkpoint_folder_join(folder, "checkpoints", &path);
    YK_THEN(yk_checkpoint_folder_list(path.bytes, arena, &list));
    *out = list.count;
    yk_text_free(&path);
    yk_arena_destroy(arena);
    return status;
}

static yk_status fail_no_space(const char *folder, int64_t more, double each, double free)
{
    char one[YK_UNITS_SIZE];
    char all[YK_UNITS_SIZE];
    char left[YK_UNITS_SIZE];
    yk_units_format(each, YK_UNIT_BYTES, one);
    yk_units_format(each * (double)more, YK_UNIT_BYTES, all);
    yk_units_format(free, YK_UNIT_BYTES, left);
    return yk_fail(
        YK_ERROR_SYSTEM,
        "%s: %" PRId64 " checkpoint%s of %s, of which one is being written, need%s %s, "
        "and %s are free there; make room, keep fewer (--keep) or save elsewhere (--out)",
        folder, more, more == 1 ? "" : "s", one, more == 1 ? "s" : "", all, left);
}

yk_status yk_checkpoint_check_save_space(const char *folder,
                                         const struct yk_checkpoint_content *content, int64_t saves,
                                         int32_t keep)
{
    struct statvfs system;
    int32_t saved = 0;
    YK_TRY(count_saved(folder, &saved));
    /* One is written before an older one goes. */
    const int64_t more = keep > 0 ? (keep > saved ? keep - saved : 0) + 1 : saves;
    const int64_t max = more < saves ? more : saves;
    if (statvfs(folder, &system) != 0 || system.f_blocks == 0) {
        return YK_OK;
    }
    const double free = (double)system.f_bavail * (double)system.f_frsize;
    const double each = (double)yk_checkpoint_save_bytes(content);
    return (double)max * each <= free ? YK_OK : fail_no_space(folder, max, each, free);
}
