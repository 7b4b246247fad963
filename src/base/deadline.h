/*
 * Deadline: the time at which work must end. Long loops call yk_deadline_check() regularly and
 * return YK_ERROR_STOPPED once the deadline has passed. The caller that set the deadline does not
 * treat YK_ERROR_STOPPED as an error. Any thread may call these functions.
 */
#ifndef YK_BASE_DEADLINE_H
#define YK_BASE_DEADLINE_H

#include "base/status.h"

#include <stdbool.h>

/* A replacement for yk_clock_now_s(), for tests that must not wait. */
struct yk_deadline_clock {
    double (*now_s)(void *user); /* NULL means: yk_clock_now_s() */
    void *user;
};

struct yk_deadline {
    double at_s; /* time on `clock`; INFINITY means: no deadline */
    struct yk_deadline_clock clock;
};

double yk_deadline_now_s(const struct yk_deadline_clock *clock);

/* Returns false if `deadline` is NULL. */
bool yk_deadline_has_passed(const struct yk_deadline *deadline);

/* Fails with YK_ERROR_STOPPED if the deadline has passed. `deadline` may be NULL. */
yk_status yk_deadline_check(const struct yk_deadline *deadline) YK_MUST_USE;

#endif
