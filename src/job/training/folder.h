/*
 * Train folder: the folder of a run, which one process at a time writes. The lock is the system's,
 * on the file "lock" in it, and ends with the process that holds it. One thread at a time.
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

/* The folder of the run: --out, or runs/MODEL. In the arena. */
yk_status yk_train_folder_find(const struct yk_train_request *request, struct yk_arena *arena,
                               const char **out) YK_MUST_USE;

/* Refuses a path where something is that is no folder. */
yk_status yk_train_folder_check(const char *folder) YK_MUST_USE;

/* Whether the run in `folder` has a checkpoint; one whose writing was cut off is none. */
yk_status yk_train_folder_has_checkpoint(const char *folder, struct yk_arena *arena,
                                         bool *out) YK_MUST_USE;

/* Refuses a folder in which a link has the name of a file that training writes. */
yk_status yk_train_folder_check_links(const char *folder, struct yk_arena *arena) YK_MUST_USE;

/* Refuses a folder that another process trains in. A lock that is held already stays. */
yk_status yk_train_folder_lock_acquire(struct yk_train_folder_lock *lock, const char *folder,
                                       struct yk_arena *arena) YK_MUST_USE;
void yk_train_folder_lock_release(struct yk_train_folder_lock *lock);

#endif
