/*
 * Rest: how much faster a device computes while all others rest.
 *
 * Times of layers are taken with all ranks at work, as in training. Devices that share power,
 * caches or memory, such as parts of one GPU, are slower then than by themselves, and a plan may
 * use some of them only, or let them wait for each other. All at work and one of each kind alone
 * come by turns.
 */
#ifndef YK_MEASURE_SLOWDOWN_IDLE_SPEEDUP_H
#define YK_MEASURE_SLOWDOWN_IDLE_SPEEDUP_H

#include "base/status.h"
#include "measure/benchmark/benchmark.h"
#include "measure/survey/survey.h"

/* How many times as long a step takes alone, 1 at most; NAN where either is not known. */
double yk_idle_speedup_time_factor(double alone_s, double with_others_s);

/* Whether there is nothing to measure: the profile knows it of all kinds, or nobody else is here,
 * or computing takes the host's cores. All ranks ask, and are told the same. */
yk_status yk_idle_speedup_is_known(const struct yk_survey *survey,
                                   const struct yk_measure_ranks *team,
                                   const struct yk_survey_request *request, bool *out) YK_MUST_USE;

/* Measures it for every kind of device with memory of its own, unless it is known. The rehearsal is
 * entered. All ranks call it. */
yk_status yk_idle_speedup_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                                  const struct yk_survey_request *request,
                                  struct yk_benchmark *benchmark) YK_MUST_USE;

#endif
