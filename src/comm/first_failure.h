/*
 * First failure: keeps the first failure of a world, with its message. Initialise the struct to
 * {0}. Later failures are ignored. Thread-safe: any thread may set or check the failure.
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
    yk_status status; /* status and sentence are valid if yk_first_failure_is_set() */
    char sentence[YK_FIRST_FAILURE_MESSAGE_SIZE];
};

/* Sets the failure, unless one is set already. */
void yk_first_failure_set(struct yk_first_failure *failure, yk_status status, const char *format,
                          ...) YK_PRINTF_LIKE(3, 4);

bool yk_first_failure_is_set(const struct yk_first_failure *failure);

/* Fails with the status and the message that were set, or returns YK_OK if there is no failure. */
yk_status yk_first_failure_check(const struct yk_first_failure *failure) YK_MUST_USE;

#endif
