/*
 * Trouble: the first thing that went wrong in a world, and its sentence. It starts as {0}; any
 * thread may set and check it, and only the first to set it is kept.
 */
#ifndef YK_COMM_TROUBLE_H
#define YK_COMM_TROUBLE_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
    YK_TROUBLE_SIZE = 1024
};

struct yk_trouble {
    atomic_int state;
    yk_status status; /* this and the sentence: once the state says that they are written */
    char sentence[YK_TROUBLE_SIZE];
};

/* Nothing when there is some already. */
void yk_trouble_set(struct yk_trouble *trouble, yk_status status, const char *sentence);

bool yk_trouble_is(const struct yk_trouble *trouble);

/* YK_OK, or the failure as the calling thread's own. */
yk_status yk_trouble_check(const struct yk_trouble *trouble) YK_MUST_USE;

#endif
