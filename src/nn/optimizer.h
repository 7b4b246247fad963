/*
 * Optimizer: how gradients become new weights: the rule, the learning rate at each step, and the
 * scale of the loss in half precision.
 *
 * Plain values; the functions that compute are pure.
 */
#ifndef YK_NN_OPTIMIZER_H
#define YK_NN_OPTIMIZER_H

#include "base/status.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_optimizer {
    enum yk_optimizer_kind kind;
    double beta1;
    double beta2;
    double epsilon;
    double decay; /* of parameters with two dimensions */
    double momentum;
};

enum yk_lr_schedule_kind {
    YK_LR_SCHEDULE_CONSTANT, /* after the warm-up */
    YK_LR_SCHEDULE_COSINE,   /* down to `least` at the last step */
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

/* "constant", "cosine", "inverse-root"; "adamw", "sgd". */
const char *yk_lr_schedule_name(enum yk_lr_schedule_kind rule);
bool yk_lr_schedule_find(const char *name, enum yk_lr_schedule_kind *out);
const char *yk_optimizer_name(enum yk_optimizer_kind kind);
bool yk_optimizer_find(const char *name, enum yk_optimizer_kind *out);

/*
 * Puts the update of a layer's own parameters on a lane. `updates` is how many were made before;
 * `verdict` is on the device, or NULL.
 */
void yk_optimizer_update(const struct yk_optimizer *optimizer, const struct yk_store *store,
                         struct yk_backend_lane *lane, int32_t layer, double rate, int64_t updates,
                         const struct yk_gradient_norm *verdict);

/* The loss scale of half precision: halved by an overflow, doubled after 2000 steps without. */
struct yk_loss_scaler {
    double scale;
    int64_t clean; /* steps since the last overflow */
};

struct yk_loss_scaler yk_loss_scaler_init(enum yk_precision precision);
void yk_loss_scaler_update(struct yk_loss_scaler *scaler, enum yk_precision precision,
                           bool overflow);

#endif
