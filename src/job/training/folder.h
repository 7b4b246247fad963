/*
 * Train folder: the folder of a training run. Only one process at a time may write to it, so the
 * process locks the file "lock" in the folder with flock(). The system releases the lock when the
 * process ends. Not thread-safe.
 */
#ifndef YK_JOB_TRAINING_FOLDER_H
#define YK_JOB_TRAINING_FOLDER_H

#include "base/arena.h"
#include "base/status.h"
#include "job/training/request.h"

#include <stdbool.h>

/* Starts as {0}. */
struct yk_train_folder_lock {
    bool held;
    int descriptor;
};

/* Sets `*out` to the path of the run folder: the value of --out, or runs/MODEL. The path is
 * allocated in the arena. */
yk_status yk_train_folder_resolve_path(const struct yk_train_request *request,
                                       struct yk_arena *arena, const char **out) YK_MUST_USE;

/* Fails if the path exists and is not a folder. */
yk_status yk_train_folder_check_is_folder(const char *folder) YK_MUST_USE;

/* Sets `*out` to true if the run in `folder` has a complete checkpoint. */
yk_status yk_train_folder_has_checkpoint(const char *folder, struct yk_arena *arena,
                                         bool *out) YK_MUST_USE;

/* Fails if one of the files that training writes to this folder is a symbolic link. */
yk_status yk_train_folder_check_no_symlinks(const char *folder, struct yk_arena *arena) YK_MUST_USE;

/* Locks the folder. Fails if another process holds the lock. Does nothing if `lock` is already
 * held. */
yk_status yk_train_folder_lock_acquire(struct yk_train_folder_lock *lock, const char *folder,
                                       struct yk_arena *arena) YK_MUST_USE;
void yk_train_folder_lock_release(struct yk_train_folder_lock *lock);

#endif
