/*
 * Saving a checkpoint: beside its name, synced and renamed. At every moment the folder holds the
 * checkpoint before, the new one, or both, whole.
 */
#include "base/file.h"
#include "base/log.h"
#include "model/config_write.h"
#include "nn/weights.h"
#include "train/checkpoint.h"
#include "train/checkpoint_folder.h"
#include "train/checkpoint_state.h"
#include "train/checkpoint_tensors.h"
#include "train/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
    const yk_status status = made == YK_OK ? yk_file_write(path, text) : made;
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
        YK_TRY(yk_checkpoint_join(partial, YK_CHECKPOINT_CONFIG, &places->file));
        return write_config(content->store->net, places->file.bytes);
    }
    YK_TRY(yk_weights_save(content->store, partial, 0, false));
    if (workload->nf4) {
        YK_TRY(yk_checkpoint_join(partial, YK_CHECKPOINT_FROZEN, &places->file));
        YK_TRY(yk_checkpoint_save_frozen(content->store, places->file.bytes));
    }
    return YK_OK;
}

static yk_status write_files(const struct yk_checkpoint_content *content, struct places *places)
{
    const char *partial = places->partial.bytes;
    YK_TRY(write_weights(content, places));
    if (content->store->optimizer != YK_OPTIMIZER_NONE) {
        YK_TRY(yk_checkpoint_join(partial, YK_CHECKPOINT_OPTIMIZER, &places->file));
        YK_TRY(yk_checkpoint_save_optimizer(content->store, places->file.bytes));
    }
    if (content->tokenizer) {
        YK_TRY(
            yk_checkpoint_join(partial, yk_tokenizer_file_name(content->tokenizer), &places->file));
        YK_TRY(write_tokenizer(content->tokenizer, places->file.bytes));
    }
    YK_TRY(yk_checkpoint_join(partial, YK_CHECKPOINT_STATE, &places->file));
    YK_TRY(write_state(content, places->file.bytes));
    YK_TRY(yk_manifest_seal(partial, content->state.step));
    return yk_checkpoint_sync(partial);
}

/* A folder cannot be renamed onto another: the one of the same step, if there is one, steps aside
 * under a name that is still read. */
static yk_status put_in_place(const char *folder, const struct places *places)
{
    struct stat info;
    if (lstat(places->final.bytes, &info) == 0) {
        yk_checkpoint_remove(places->old.bytes);
        if (rename(places->final.bytes, places->old.bytes) != 0) {
            return fail_at(places->old.bytes);
        }
    }
    if (rename(places->partial.bytes, places->final.bytes) != 0) {
        const yk_status status = fail_at(places->final.bytes);
        (void)rename(places->old.bytes, places->final.bytes);
        return status;
    }
    return yk_checkpoint_sync(folder);
}

/* Renamed first, so that one which is removed only in part is not taken for a checkpoint. */
static void remove_whole(const char *folder, const char *name)
{
    struct yk_text path = {0};
    struct yk_text partial = {0};
    yk_text_addf(&path, "%s/%s", folder, name);
    yk_text_addf(&partial, "%s/%.*s.partial", folder, (int)strcspn(name, "."), name);
    if (yk_text_status(&path) == YK_OK && yk_text_status(&partial) == YK_OK) {
        if (rename(path.bytes, partial.bytes) == 0) {
            yk_checkpoint_remove(partial.bytes);
        } else {
            yk_log(YK_LOG_WARNING, "cannot remove %s: %s", path.bytes, strerror(errno));
        }
    }
    yk_text_free(&partial);
    yk_text_free(&path);
}

/* Keeps the one just saved and the newest before it. Steps after it are of a run that was taken
 * back: they are the first to go. */
static void prune(const char *folder, const struct yk_checkpoint_list *list, int64_t saved,
                  int32_t keep)
{
    int32_t kept = 0;
    for (int32_t i = list->count; i-- > 0;) {
        const struct yk_checkpoint_entry *entry = &list->entries[i];
        const bool replaced =
            entry->old && i + 1 < list->count && list->entries[i + 1].step == entry->step;
        if (entry->step <= saved && !replaced && kept < keep) {
            kept++;
        } else if (replaced || entry->step <= saved) {
            remove_whole(folder, entry->name);
        }
    }
    for (int32_t i = 0; i < list->count; i++) {
        const struct yk_checkpoint_entry *entry = &list->entries[i];
        if (entry->step > saved && kept < keep) {
            kept++;
        } else if (entry->step > saved) {
            remove_whole(folder, entry->name);
        }
    }
}

/* What cannot be removed is told, but the checkpoint stands. */
static void remove_older(const char *folder, int64_t saved, int32_t keep)
{
    struct yk_arena *arena = NULL;
    struct yk_checkpoint_list list = {0};
    if (yk_arena_create(&arena) != YK_OK || yk_checkpoint_list(folder, arena, &list) != YK_OK) {
        yk_log(YK_LOG_WARNING, "older checkpoints stay: %s", yk_status_message());
    } else {
        prune(folder, &list, saved, keep > 0 ? keep : INT32_MAX);
    }
    yk_arena_destroy(arena);
}

static yk_status save(const char *folder, const struct yk_checkpoint_content *content,
                      struct places *places)
{
    YK_TRY(name_places(folder, content->state.step, places));
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return fail_at(folder);
    }
    yk_checkpoint_remove_partial(folder);
    if (mkdir(places->partial.bytes, 0777) != 0) {
        return fail_at(places->partial.bytes);
    }
    yk_status status = write_files(content, places);
    if (status == YK_OK) {
        status = put_in_place(folder, places);
    }
    if (status != YK_OK) {
        yk_checkpoint_remove(places->partial.bytes);
    }
    return status;
}

yk_status yk_checkpoint_save(const char *folder, const struct yk_checkpoint_content *content,
                             int32_t keep, struct yk_text *out)
{
    struct places places = {0};
    yk_status status = save(folder, content, &places);
    if (status == YK_OK) {
        remove_older(folder, content->state.step, keep);
        yk_text_add(out, places.final.bytes);
        status = yk_text_status(out);
    }
    free_places(&places);
    return status;
}
