/*
 * Subprocess: runs a function in a forked process, so that a library that aborts, hangs or prints
 * cannot harm this process.
 *
 * Only memory from yk_subprocess_allocate_shared() is shared with the child. The child has a single
 * thread, and locks held by other threads of the parent stay locked in it. So the function may use
 * malloc, stdio and the dynamic loader, whose locks fork() resets, but no other locks. A child that
 * blocks is killed when its time is over. The child has none of the parent's file descriptors and
 * signal handlers.
 */
#ifndef YK_MILP_SUBPROCESS_H
#define YK_MILP_SUBPROCESS_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Allocates zeroed shared memory; returns NULL if there is none. */
void *yk_subprocess_allocate_shared(size_t bytes);
void yk_subprocess_free_shared(void *memory, size_t bytes);

struct yk_subprocess_limits {
    double end_s;                /* deadline in the time of yk_clock_now_s() */
    double grace_s;              /* from the request to stop until the child is killed */
    const atomic_bool *stop;     /* set by the caller to stop the child; may be NULL */
    atomic_bool *stop_requested; /* in shared memory; asks the function to return */
};

/* Runs `function(data)` in a child. `*out_returned` is false if the child crashed or was killed. */
yk_status yk_subprocess_run(void (*function)(void *data), void *data,
                            const struct yk_subprocess_limits *limits,
                            bool *out_returned) YK_MUST_USE;

#endif
