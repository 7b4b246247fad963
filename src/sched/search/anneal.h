/*
 * Anneal: makes a schedule shorter by simulated annealing over the order and the assignment of
 * tasks.
 *
 * Two chains of moves run side by side, each on its own thread with its own seed; the better result
 * is taken. How many there are does not depend on the machine, so a given number of moves gives the
 * same schedule everywhere. The schedule never gets longer, and stays within every device's memory.
 */
#ifndef YK_SCHED_SEARCH_ANNEAL_H
#define YK_SCHED_SEARCH_ANNEAL_H

#include "sched/scheduler.h"

/* Stops after options->moves moves or, when that is 0, after `seconds`, or at `lower_bound`. */
yk_status yk_anneal_run(const struct yk_scheduler_options *options, double seconds,
                        int64_t lower_bound, struct yk_schedule *schedule) YK_MUST_USE;

#endif
