/* Which rank hangs, decided by rank 0 from the states that all ranks report. */
#include "comm/watchdog/watchdog.h"

static void blame(const struct yk_watchdog_current_ops *states, int32_t rank, int32_t lane,
                  struct yk_watchdog_failure *out)
{
    *out = (struct yk_watchdog_failure){
        .rank = rank,
        .reason = YK_WATCHDOG_RANK_HUNG,
        .lane = lane,
        .since_s = lane >= 0 ? (double)states[rank].op_s[lane] : 0,
        .state = states[rank],
    };
}

static bool find_long_work(const struct yk_watchdog_current_ops *states, const bool *left,
                           int32_t size, double op_s, struct yk_watchdog_failure *out)
{
    static const int32_t lanes[] = {YK_WATCHDOG_LANE_COMPUTE, YK_WATCHDOG_LANE_COPY};
    bool found = false;
    for (int32_t i = 0; i < size; i++) {
        for (int j = 0; !left[i] && j < 2; j++) {
            const double since_s = (double)states[i].op_s[lanes[j]];
            if (states[i].ops[lanes[j]] != YK_WATCHDOG_NO_OP && since_s > op_s &&
                (!found || since_s > out->since_s)) {
                blame(states, i, lanes[j], out);
                found = true;
            }
        }
    }
    return found;
}

/* Whether an exchange lasts too long, and nobody has begun anything meanwhile. */
static bool is_stuck(const struct yk_watchdog_current_ops *states, const bool *left, int32_t size,
                     double op_s)
{
    bool waits = false;
    for (int32_t i = 0; i < size; i++) {
        for (int lane = 0; !left[i] && lane < YK_WATCHDOG_LANE_COUNT; lane++) {
            if ((double)states[i].op_s[lane] <= op_s) {
                return false;
            }
        }
        waits = waits || (!left[i] && states[i].ops[YK_WATCHDOG_LANE_COMM] != YK_WATCHDOG_NO_OP);
    }
    return waits;
}

bool yk_watchdog_find_hung_rank(const struct yk_watchdog_current_ops *states, const bool *left,
                                int32_t size, double op_s, struct yk_watchdog_failure *out)
{
    if (find_long_work(states, left, size, op_s, out)) {
        return true;
    }
    if (!is_stuck(states, left, size, op_s)) {
        return false;
    }
    int32_t last = -1;
    for (int32_t i = 0; i < size; i++) {
        if (left[i]) {
            continue;
        }
        if (states[i].ops[YK_WATCHDOG_LANE_COMM] == YK_WATCHDOG_NO_OP) {
            blame(states, i, -1, out);
            out->since_s = (double)states[i].op_s[YK_WATCHDOG_LANE_COMM];
            return true;
        }
        if (last < 0 ||
            states[i].op_s[YK_WATCHDOG_LANE_COMM] < states[last].op_s[YK_WATCHDOG_LANE_COMM]) {
            last = i;
        }
    }
    blame(states, last, YK_WATCHDOG_LANE_COMM, out);
    return true;
}
