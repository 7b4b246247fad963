/*
 * Subprocess: runs a function in a forked process, so that a library that aborts, hangs or prints
 * cannot harm this process.
 *
 * Only memory from yk_subprocess_allocate_shared() is shared with the child. The child has a single
 * thread. Locks that other threads of the parent held during the fork stay locked in the child
 * forever. Only the locks of malloc, stdio and the dynamic loader are reset by fork(), so the
 * function must not use other locks. If the function does not return in time, the child is killed.
 * The child closes the parent's file descriptors and does not run the parent's signal handlers.
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
    double end_s;   /* when the function is asked to return, on the clock of yk_clock_now_s() */
    double grace_s; /* the child is killed this long after the function was asked to return */
    const atomic_bool *stop;     /* the caller sets it to end the function earlier; may be NULL */
    atomic_bool *stop_requested; /* in shared memory; true asks the function to return */
};

/* Runs `function(data)` in a child process. `*out_returned` is false if the child crashed or was
 * killed. */
yk_status yk_subprocess_run_function(void (*function)(void *data), void *data,
                                     const struct yk_subprocess_limits *limits,
                                     bool *out_returned) YK_MUST_USE;

#endif
