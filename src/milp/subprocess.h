/*
 * Subprocess: runs a function in a forked process, so that a library that aborts, hangs or prints
 * costs no more than its result.
 *
 * Memory from yk_subprocess_allocate_shared() is shared; all else the function sees is a copy. Of
 * many threads a fork copies one, and locks that others hold stay locked in the copy: the function
 * may rely on the C library's memory, streams and loader alone, whose locks fork() frees. Where it
 * waits for another lock it is killed once its time is over. The copy has no descriptors, signals
 * or handlers of its parent.
 */
#ifndef YK_MILP_SUBPROCESS_H
#define YK_MILP_SUBPROCESS_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeroed; NULL when there is none. */
void *yk_subprocess_allocate_shared(size_t bytes);
void yk_subprocess_free_shared(void *memory, size_t bytes);

struct yk_subprocess_limits {
    double end_s;                /* by the clock: the function is asked to end */
    double grace_s;              /* after that, or after a stop: it is killed */
    const atomic_bool *stop;     /* of this process; may be NULL */
    atomic_bool *stop_requested; /* in shared memory: set when the function is to end soon */
};

/* `*out_returned`: the function has returned, and was not killed. */
yk_status yk_subprocess_run(void (*function)(void *data), void *data,
                            const struct yk_subprocess_limits *limits,
                            bool *out_returned) YK_MUST_USE;

#endif
