/*
 * Deadline: until when work may go on. Long loops ask it now and then, and end with
 * YK_ERROR_STOPPED once it has passed; who set it knows that this is no failure. Any thread may
 * ask.
 */
#ifndef YK_BASE_DEADLINE_H
#define YK_BASE_DEADLINE_H

#include "base/status.h"

#include <stdbool.h>

/* A clock other than yk_clock_now_s(), for tests: one that does not wait. */
struct yk_deadline_clock {
    double (*now_s)(void *user); /* NULL: yk_clock_now_s() */
    void *user;
};

struct yk_deadline {
    double at_s; /* of the clock; INFINITY: never */
    struct yk_deadline_clock clock;
};

double yk_deadline_now_s(const struct yk_deadline_clock *clock);

/* NULL is never. */
bool yk_deadline_has_passed(const struct yk_deadline *deadline);

/* YK_ERROR_STOPPED once it has passed. */
yk_status yk_deadline_check(const struct yk_deadline *deadline) YK_MUST_USE;

#endif
