/*
 * Idle speed-up: how much faster a device computes while all others idle.
 *
 * Times of layers are measured with all ranks at work, as in training. Devices that share power,
 * caches or memory, such as parts of one GPU, are slower then than alone, and a plan may use only
 * some of them, or let them wait for each other. All ranks call the functions, in one order.
 */
#ifndef YK_MEASURE_SLOWDOWN_IDLE_SPEEDUP_H
#define YK_MEASURE_SLOWDOWN_IDLE_SPEEDUP_H

#include "base/status.h"
#include "measure/benchmark/benchmark.h"
#include "measure/survey/survey.h"

/* The time alone over the time with others, at most 1; NAN where either is not known. */
double yk_idle_speedup_time_factor(double alone_s, double with_others_s);

/* Whether there is nothing to measure: the profile has it of all kinds, or there is one rank, or
 * computation uses the host's cores. */
yk_status yk_idle_speedup_is_known(const struct yk_survey *survey,
                                   const struct yk_measure_ranks *team,
                                   const struct yk_survey_request *request, bool *out) YK_MUST_USE;

/* Measures it for every kind of device with memory of its own, unless it is known. The benchmark
 * is allocated. */
yk_status yk_idle_speedup_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                                  const struct yk_survey_request *request,
                                  struct yk_benchmark *benchmark) YK_MUST_USE;

#endif
