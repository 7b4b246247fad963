/*
 * Failure: the first that a world has, with its sentence. It starts as {0}; any thread may set and
 * check it, and only the first to set it is kept.
 */
#ifndef YK_COMM_FAILURE_H
#define YK_COMM_FAILURE_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    YK_FAILURE_SIZE = 1024
};

struct yk_failure {
    atomic_int state;
    yk_status status; /* this and the sentence: once the state says that they are written */
    char sentence[YK_FAILURE_SIZE];
};

/* Does nothing where one is set already. */
void yk_failure_set(struct yk_failure *failure, yk_status status, const char *sentence);

bool yk_failure_is_set(const struct yk_failure *failure);

/* YK_OK, or the failure as the calling thread's own. */
yk_status yk_failure_check(const struct yk_failure *failure) YK_MUST_USE;

#endif
