/*
 * Thrifty: HEFT that minds what a choice costs the others. Where devices are unequal in unequal
 * ways, ending a little earlier on a device that is slow at a task uses up time another task could
 * have used better; so each task goes where its end, plus `thrift` times what it takes longer than
 * on its fastest device, is least. HEFT is the case of no thrift.
 */
#ifndef YK_SCHED_SCHEDULERS_HEFT_PENALTY_H
#define YK_SCHED_SCHEDULERS_HEFT_PENALTY_H

#include "sched/scheduler.h"

yk_status yk_heft_penalty_run(double thrift, const struct yk_scheduler_options *options,
                              struct yk_schedule *schedule) YK_MUST_USE;

#endif
