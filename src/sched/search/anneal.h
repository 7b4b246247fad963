/*
 * Anneal: makes a schedule shorter by simulated annealing over the order and the assignment of
 * tasks, within every device's memory. Two chains of moves run on a thread each; the better result
 * counts. A given number of moves gives the same schedule on every machine.
 */
#ifndef YK_SCHED_SEARCH_ANNEAL_H
#define YK_SCHED_SEARCH_ANNEAL_H

#include "sched/scheduler.h"

/* Stops after options->moves moves or, when that is 0, after `seconds`, or at `lower_bound`. */
yk_status yk_anneal_run(const struct yk_scheduler_options *options, double seconds,
                        int64_t lower_bound, struct yk_schedule *schedule) YK_MUST_USE;

#endif
