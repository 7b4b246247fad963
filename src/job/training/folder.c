#include "job/training/folder.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "train/checkpoint/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* "llama" of "models/llama/config.json", "models/llama.json" and "models/llama/". */
static void find_stem(const char *model, const char **stem, size_t *length)
{
    static const char *const endings[] = {"/config.json", ".json", "/"};
    size_t end = strlen(model);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t wanted = strlen(endings[i]);
        if (end > wanted && strncmp(model + end - wanted, endings[i], wanted) == 0) {
            end -= wanted;
        }
    }
    size_t start = end;
    while (start > 0 && model[start - 1] != '/') {
        start--;
    }
    *stem = model + start;
    *length = end - start;
}

yk_status yk_train_folder_resolve_path(const struct yk_train_request *request,
                                       struct yk_arena *arena, const char **out)
{
    if (request->out) {
        *out = request->out;
        return YK_OK;
    }
    const char *stem = request->model     ? request->model
                       : request->weights ? request->weights
                                          : "gpt-mini";
    size_t length = 0;
    find_stem(stem, &stem, &length);
    const bool plain =
        length > 0 && strncmp(stem, ".", length) != 0 && strncmp(stem, "..", length) != 0;
    const char *name = plain ? yk_arena_copy_text(arena, stem, length) : "model";
    return name ? yk_folder_join_path("runs", name, arena, out) : yk_fail_out_of_memory();
}

yk_status yk_train_folder_check_is_folder(const char *folder)
{
    if (access(folder, F_OK) == 0 && !yk_folder_exists(folder)) {
        return yk_fail(YK_ERROR_USAGE, "%s is a file; --out names the folder of a run", folder);
    }
    return YK_OK;
}

yk_status yk_train_folder_has_checkpoint(const char *folder, struct yk_arena *arena, bool *out)
{
    struct yk_checkpoint_folder_list list = {0};
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(folder, "checkpoints", arena, &path));
    YK_TRY(yk_checkpoint_folder_list_checkpoints(path, arena, &list));
    *out = list.count > 0;
    return YK_OK;
}

yk_status yk_train_folder_check_no_symlinks(const char *folder, struct yk_arena *arena)
{
    static const char *const names[] = {
        "checkpoints",   "config.json", "counters.json",        "metrics.jsonl",
        "op-times.json", "plan.json",   "report.html",          "run.json",
        "summary.json",  "trace.json",  "trace-predicted.json",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = NULL;
        YK_TRY(yk_folder_join_path(folder, names[i], arena, &path));
        YK_TRY(yk_file_check_not_symlink(path));
    }
    return YK_OK;
}

yk_status yk_train_folder_lock_acquire(struct yk_train_folder_lock *lock, const char *folder,
                                       struct yk_arena *arena)
{
    const char *path = NULL;
    if (lock->held) {
        return YK_OK;
    }
    YK_TRY(yk_folder_join_path(folder, "lock", arena, &path));
    int descriptor = -1;
    YK_TRY(yk_file_open_nofollow_for_writing(path, O_RDWR, &descriptor));
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            (void)close(descriptor);
            return yk_fail(YK_ERROR_SYSTEM,
                           "another process is training in %s; wait for its end, or keep this run "
                           "elsewhere by --out",
                           folder);
        }
        /* Some file systems of clusters have no locks; one can train there nonetheless. */
        yk_log(YK_LOG_WARNING, "cannot lock %s: %s; see to it that nothing else trains there", path,
               strerror(errno));
    }
    lock->held = true;
    lock->descriptor = descriptor;
    return YK_OK;
}

void yk_train_folder_lock_release(struct yk_train_folder_lock *lock)
{
    if (lock->held) {
        (void)close(lock->descriptor);
    }
    *lock = (struct yk_train_folder_lock){0};
}
