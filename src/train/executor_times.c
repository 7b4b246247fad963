/* When the ops of the step that ended last ran. */
#include "train/executor_rules.h"

yk_status yk_executor_times(const struct yk_executor *executor, struct yk_op_time *out,
                            int32_t *count)
{
    const struct yk_backend *backend = executor->backend;
    *count = 0;
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        const struct yk_op_events *events =
            &executor->events[executor->traced % YK_EXECUTOR_ROUNDS][i];
        if (events->round != executor->traced || !events->works) {
            continue;
        }
        /* The round's computing is done; what it sends ahead may still be on its way. */
        YK_TRY(backend->reach(events->ended));
        out[(*count)++] = (struct yk_op_time){
            .op = i,
            .start_s = backend->event_s(events->started),
            .end_s = backend->event_s(events->ended),
        };
    }
    return YK_OK;
}
