#include "base/deadline.h"

#include "base/clock.h"

#include <math.h>

double yk_deadline_now_s(const struct yk_deadline_clock *clock)
{
    return clock->now_s ? clock->now_s(clock->user) : yk_clock_now_s();
}

bool yk_deadline_has_passed(const struct yk_deadline *deadline)
{
    return deadline && isfinite(deadline->at_s) &&
           yk_deadline_now_s(&deadline->clock) >= deadline->at_s;
}

yk_status yk_deadline_check(const struct yk_deadline *deadline)
{
    return yk_deadline_has_passed(deadline) ? yk_fail(YK_ERROR_STOPPED, "the time is up") : YK_OK;
}
