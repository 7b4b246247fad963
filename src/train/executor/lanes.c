/* Finds the op that a lane is running, by the events of its ops. */
#include "train/executor/executor_state.h"

/* The events of the lane's op number `at`, counted over all rounds. */
static const struct yk_op_events *events_at(const struct yk_executor *executor, enum yk_lane lane,
                                            int64_t at, int32_t *op)
{
    const int32_t count = executor->index->lanes.count[lane];
    *op = executor->index->lanes.ops[lane][at % count];
    return &executor->events[at / count % YK_EXECUTOR_ROUND_SLOTS][*op];
}

/* The ops of a lane end in order, so a binary search finds the first that has not ended. It covers
 * the rounds whose events cannot have been reused yet. If the host enqueues a whole round during
 * the search, the result may be an op of the new round. */
void yk_executor_get_lane_progress(const struct yk_executor *executor, enum yk_lane lane,
                                   struct yk_lane_progress *out)
{
    const struct yk_backend *backend = executor->backend;
    const int64_t enqueued = atomic_load_explicit(&executor->enqueued, memory_order_acquire);
    const int32_t ops = executor->list->op_count;
    const int64_t count = executor->index->lanes.count[lane];
    *out = (struct yk_lane_progress){.op = YK_OP_NONE};
    if (count == 0 || enqueued == 0) {
        return;
    }
    const int64_t round = (enqueued - 1) / ops; /* of the last op */
    int32_t op = YK_OP_NONE;
    int64_t low =
        round >= YK_EXECUTOR_ROUND_SLOTS ? (round - YK_EXECUTOR_ROUND_SLOTS + 1) * count : 0;
    const int64_t end =
        enqueued / ops * count +
        yk_op_lane_lists_count_before(&executor->index->lanes, lane, (int32_t)(enqueued % ops));
    int64_t high = end;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (backend->event_query(events_at(executor, lane, middle, &op)->ended)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    out->passed = low;
    if (low < end && backend->event_query(events_at(executor, lane, low, &op)->started)) {
        out->op = op;
    }
}
