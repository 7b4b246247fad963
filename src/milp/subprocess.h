/*
 * Apart: runs a function in a process of its own, where it cannot harm this one: a library that
 * gives up by aborting, hangs or prints is only as bad as no answer.
 *
 * Memory from yk_subprocess_allocate_shared() is shared between both; all else the function sees is
 * a copy.
 *
 * The process may be a host of libyoke with many threads, of which a fork copies one, and whatever
 * locks the others hold at that moment stay locked in the copy. That is why most programs run
 * another file instead, which a library has none of to run; and in this process an abort would be
 * the host's end. What the function may rely on: the C library's memory, streams and loader, whose
 * locks fork() sets free. A lock of anything else that a thread of the host happened to hold costs
 * the answer and never more: the copy waits for it until its time is over, and is killed. Neither
 * descriptors, signals nor handlers of the host are left in the copy.
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
    double end_s;            /* by the clock: the function is asked to end */
    double grace_s;          /* after that, or after a stop: it is ended */
    const atomic_bool *stop; /* of this process; may be NULL */
    atomic_bool *ask;        /* in shared memory: set when the function is to end soon */
};

/* `*out_returned`: the function has returned, and not been ended or come to grief. */
yk_status yk_subprocess_run(void (*function)(void *data), void *data,
                            const struct yk_subprocess_limits *limits,
                            bool *out_returned) YK_MUST_USE;

#endif
