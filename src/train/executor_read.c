#include "train/executor_rules.h"

bool yk_executor_read(const struct yk_executor *executor, int32_t back, double *begin_s,
                      double *end_s)
{
    const int64_t round = executor->traced - back;
    if (round < 0) {
        return false;
    }
    const struct yk_op_events *events = executor->events[round % YK_EXECUTOR_ROUNDS];
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        if (events[i].round != round || !events[i].works) {
            return false;
        }
        begin_s[i] = executor->backend->event_s(events[i].started);
        end_s[i] = executor->backend->event_s(events[i].ended);
        if (end_s[i] < begin_s[i]) {
            return false;
        }
    }
    return true;
}
