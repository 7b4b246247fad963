#include "measure/quiet.h"

#include <math.h>
#include <time.h>

/* Of the most that any round got. */
static const double nearly = 0.97;

double yk_timings_computed_s(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static double part_of(const struct yk_timings_round *round)
{
    return round->passed_s > 0 ? round->computed_s / round->passed_s : 0;
}

/* The round that got most of those that are not marked yet; −1: all are. */
static int32_t best_of(const struct yk_timings_round *rounds, int32_t count, const bool *marked)
{
    int32_t best = -1;
    for (int32_t i = 0; i < count; i++) {
        if (!marked[i] && (best < 0 || part_of(&rounds[i]) > part_of(&rounds[best]))) {
            best = i;
        }
    }
    return best;
}

void yk_timings_choose_undisturbed(const struct yk_timings_round *rounds, int32_t count,
                                   int32_t least, bool *out)
{
    double most = 0;
    for (int32_t i = 0; i < count; i++) {
        most = fmax(most, part_of(&rounds[i]));
        out[i] = false;
    }
    for (int32_t chosen = 0; chosen < count; chosen++) {
        const int32_t best = best_of(rounds, count, out);
        if (chosen >= least && part_of(&rounds[best]) < nearly * most) {
            return;
        }
        out[best] = true;
    }
}
