/* Learning rate schedule: the learning rate of each step. Plain values; the functions are pure. */
#ifndef YK_NN_LR_SCHEDULE_H
#define YK_NN_LR_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum yk_lr_schedule_kind {
    YK_LR_SCHEDULE_CONSTANT, /* after the warm-up */
    YK_LR_SCHEDULE_COSINE,   /* down to `min_lr` at the last step */
    YK_LR_SCHEDULE_INVERSE_ROOT,
};

/* Steps are numbered from 0; docs/training.md has the formulas. */
struct yk_lr_schedule {
    enum yk_lr_schedule_kind kind;
    double max_lr;
    double min_lr;
    int64_t warmup;
    int64_t steps;
};

double yk_lr_schedule_at(const struct yk_lr_schedule *schedule, int64_t step);

/* By "constant", "cosine" or "inverse-root"; false: there is none of that name. */
bool yk_lr_schedule_find(const char *name, enum yk_lr_schedule_kind *out);

#endif
