/*
 * Subprocess: runs a function in a forked process, so that a library that aborts, hangs or prints
 * cannot harm this process.
 *
 * Only memory from yk_subprocess_allocate_shared() is shared with the child. The child has a single
 * thread. Locks that other threads of the parent held stay locked in the child forever. So the
 * function may use malloc, stdio and the dynamic loader, because fork() resets their locks, but no
 * other locks. If the child does not return in time, it is killed. The child has none of the
 * parent's file descriptors and signal handlers.
 */
#ifndef YK_MILP_SUBPROCESS_H
#define YK_MILP_SUBPROCESS_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Allocates zeroed memory that parent and child share. Returns NULL if there is not enough memory.
 */
void *yk_subprocess_allocate_shared(size_t bytes);
void yk_subprocess_free_shared(void *memory, size_t bytes);

struct yk_subprocess_limits {
    double end_s;                /* deadline on the clock of yk_clock_now_s() */
    double grace_s;              /* time from the request to stop until the child is killed */
    const atomic_bool *stop;     /* set by the caller to stop the child; may be NULL */
    atomic_bool *stop_requested; /* flag in shared memory; true asks the function to return */
};

/* Runs `function(data)` in a child process. `*out_returned` is false if the child crashed or was
 * killed. */
yk_status yk_subprocess_run_function(void (*function)(void *data), void *data,
                                     const struct yk_subprocess_limits *limits,
                                     bool *out_returned) YK_MUST_USE;

#endif
