#include "cli/train_folder.h"

#include "base/log.h"
#include "cli/folder.h"
#include "cli/train.h"
#include "train/checkpoint_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

yk_status yk_train_folder_check(const char *folder)
{
    if (access(folder, F_OK) == 0 && !yk_folder_is(folder)) {
        return yk_fail(YK_ERROR_USAGE, "%s is a file; --out names the folder of a run", folder);
    }
    return YK_OK;
}

yk_status yk_train_folder_has_checkpoint(const char *folder, struct yk_arena *arena, bool *out)
{
    struct yk_checkpoint_list list = {0};
    const char *path = NULL;
    YK_TRY(yk_train_path(folder, "checkpoints", arena, &path));
    YK_TRY(yk_checkpoint_list(path, arena, &list));
    *out = list.count > 0;
    return YK_OK;
}

yk_status yk_train_lock_take(struct yk_train_lock *lock, const char *folder, struct yk_arena *arena)
{
    const char *path = NULL;
    if (lock->held) {
        return YK_OK;
    }
    YK_TRY(yk_train_path(folder, "lock", arena, &path));
    const int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return yk_fail(YK_ERROR_SYSTEM, "cannot open %s: %s", path, strerror(errno));
    }
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

void yk_train_lock_release(struct yk_train_lock *lock)
{
    if (lock->held) {
        (void)close(lock->descriptor);
    }
    *lock = (struct yk_train_lock){0};
}
