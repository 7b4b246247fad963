/* The schedulers themselves: private to this room, for scheduler.c and for schedulers that are made
 * of others. */
#ifndef YK_SCHED_SCHEDULERS_SCHEDULERS_H
#define YK_SCHED_SCHEDULERS_SCHEDULERS_H

#include "sched/scheduler.h"

extern const struct yk_scheduler yk_scheduler_heft;
extern const struct yk_scheduler yk_scheduler_cpop;
extern const struct yk_scheduler yk_scheduler_peft;
extern const struct yk_scheduler yk_scheduler_lookahead;
extern const struct yk_scheduler yk_scheduler_heft_memory;
extern const struct yk_scheduler yk_scheduler_single;
extern const struct yk_scheduler yk_scheduler_best;
extern const struct yk_scheduler yk_scheduler_exact;

static inline bool yk_scheduler_is_stopped(const struct yk_scheduler_options *options)
{
    return options->stop && atomic_load_explicit(options->stop, memory_order_relaxed);
}

/* Tells the caller how far it got, every few thousand tasks. */
static inline void yk_scheduler_report(const struct yk_scheduler_options *options, const char *what,
                                       int32_t done, int32_t all)
{
    enum {
        EVERY = 1024
    };
    if (options->progress && done % EVERY == 0) {
        options->progress(options->progress_user, what, (double)done / (double)all);
    }
}

#endif
