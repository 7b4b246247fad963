/* Learning rate schedule: computes the learning rate of each step. The functions are pure. */
#ifndef YK_NN_LR_SCHEDULE_H
#define YK_NN_LR_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum yk_lr_schedule_kind {
    YK_LR_SCHEDULE_CONSTANT, /* always max_lr after the warm-up */
    YK_LR_SCHEDULE_COSINE, /* falls from max_lr after the warm-up to min_lr at the end of the run */
    YK_LR_SCHEDULE_INVERSE_ROOT, /* falls as 1 / √step after the warm-up */
};

/* docs/training.md has the formulas. */
struct yk_lr_schedule {
    enum yk_lr_schedule_kind kind;
    double max_lr;
    double min_lr;
    int64_t warmup; /* number of warm-up steps */
    int64_t steps;
};

/* Returns the learning rate of step `step`, counted from 0. */
double yk_lr_schedule_lr_at_step(const struct yk_lr_schedule *schedule, int64_t step);

/* Finds a kind by its name: "constant", "cosine" or "inverse-root". Returns false if the name is
 * unknown. */
bool yk_lr_schedule_find_kind(const char *name, enum yk_lr_schedule_kind *out);

#endif
