/*
 * Quiet: which of several rounds other programs disturbed least.
 *
 * A round that does the same work as another but got less of its cores took longer only because
 * others had them. What the process got, of each second that passed, tells such rounds apart even
 * where they are most of them, which the median alone cannot.
 */
#ifndef YK_MEASURE_QUIET_H
#define YK_MEASURE_QUIET_H

#include <stdbool.h>
#include <stdint.h>

struct yk_timings_round {
    double passed_s;   /* by the clock */
    double computed_s; /* by all threads of this process */
};

/* Marks those to believe: all that got nearly as much as the one that got most, and never fewer
 * than `least`, or all where there are no more. */
void yk_timings_choose_undisturbed(const struct yk_timings_round *rounds, int32_t count,
                                   int32_t least, bool *out);

/* What all threads of this process have computed so far. */
double yk_timings_computed_s(void);

#endif
