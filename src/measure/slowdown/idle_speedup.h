/*
 * Idle speed-up: how much faster a device computes while all other devices are idle.
 *
 * Layer times are measured while all ranks compute, as in training. Devices that share power,
 * caches or memory, such as parts of one GPU, are faster alone. A plan may use only some devices,
 * or let some wait, so the planner needs both speeds. All ranks call the same functions in the same
 * order.
 */
#ifndef YK_MEASURE_SLOWDOWN_IDLE_SPEEDUP_H
#define YK_MEASURE_SLOWDOWN_IDLE_SPEEDUP_H

#include "base/status.h"
#include "measure/benchmark/benchmark.h"
#include "measure/survey/survey.h"

/* alone_s / with_others_s, at most 1; NAN if either is unknown. */
double yk_idle_speedup_time_factor(double alone_s, double with_others_s);

/* Whether nothing needs to be measured: the profile has the factor of all device types, or there is
 * only one rank, or the devices are CPUs. */
yk_status yk_idle_speedup_is_known(const struct yk_survey *survey,
                                   const struct yk_measure_ranks *team,
                                   const struct yk_survey_request *request, bool *out) YK_MUST_USE;

/* Measures the factor for every type of device with its own memory, unless it is known. The memory
 * of `benchmark` must be allocated. */
yk_status yk_idle_speedup_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                                  const struct yk_survey_request *request,
                                  struct yk_benchmark *benchmark) YK_MUST_USE;

#endif
