/*
 * First failure: keeps the first failure of a world, with its message. Initialise it to {0}.
 * Thread-safe: any thread may set or check it, and later failures are dropped.
 */
#ifndef YK_COMM_FIRST_FAILURE_H
#define YK_COMM_FIRST_FAILURE_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    YK_FIRST_FAILURE_MESSAGE_SIZE = 1024
};

struct yk_first_failure {
    atomic_int state;
    yk_status status; /* valid, like the sentence, once `state` is WRITTEN (in the .c file) */
    char sentence[YK_FIRST_FAILURE_MESSAGE_SIZE];
};

/* Does nothing if a failure is set already. */
void yk_first_failure_set(struct yk_first_failure *failure, yk_status status, const char *format,
                          ...) YK_PRINTF(3, 4);

bool yk_first_failure_is_set(const struct yk_first_failure *failure);

/* Returns YK_OK, or fails with the status and message that were set. */
yk_status yk_first_failure_check(const struct yk_first_failure *failure) YK_MUST_USE;

#endif
