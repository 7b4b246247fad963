#include "measure/slowdown/step.h"

#include "base/clock.h"
#include "comm/exchange.h"

#include <math.h>

enum {
    STEPS = 2, /* the first may have more to do */
};

/* Longer ones cost more time than they tell. */
static const double longest_s = 0.15;

/* With all ranks at work, that of the slowest. */
static yk_status time_step(const struct yk_measure_ranks *team, struct yk_benchmark *rehearsal,
                           double *out_s)
{
    double own_s = 0;
    for (int i = 0; i < STEPS; i++) {
        const struct yk_benchmark_step *round = NULL;
        YK_TRY(yk_exchange_barrier(team->ranks));
        const double began_s = yk_clock_now_s();
        YK_TRY(yk_benchmark_begin(rehearsal));
        YK_TRY(yk_benchmark_end(rehearsal, &round));
        own_s = yk_clock_now_s() - began_s;
    }
    return yk_measure_ranks_max(team, own_s, out_s);
}

yk_status yk_slowdown_choose_batch(const struct yk_measure_ranks *team,
                                   struct yk_benchmark_rounds *visits, int32_t batch_count,
                                   int32_t *out)
{
    const int32_t most = batch_count - 1;
    const int32_t least = yk_measure_ranks_use_cores(team) ? most : most / 2;
    double step_s = INFINITY;
    *out = most;
    while (*out > least) {
        struct yk_benchmark *rehearsal = yk_benchmark_rounds_get(visits, *out);
        YK_TRY(yk_benchmark_allocate(rehearsal));
        const yk_status status = time_step(team, rehearsal, &step_s);
        yk_benchmark_free(rehearsal);
        YK_TRY(status);
        if (step_s <= longest_s) {
            break;
        }
        (*out)--;
    }
    return YK_OK;
}
