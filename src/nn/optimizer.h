/*
 * Optimizer: how gradients become new weights: the rule, the learning rate at each step, and the
 * scale of the loss in half precision.
 *
 * Plain values; the functions that compute are pure.
 */
#ifndef YK_NN_OPTIMIZER_H
#define YK_NN_OPTIMIZER_H

#include "base/status.h"
#include "nn/store.h"

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

enum yk_rate_rule {
    YK_RATE_CONSTANT, /* after the warm-up */
    YK_RATE_COSINE,   /* down to `least` at the last step */
    YK_RATE_INVERSE_ROOT,
};

/* Steps are numbered from 0; docs/training.md has the formulas. */
struct yk_rate {
    enum yk_rate_rule rule;
    double most;
    double least;
    int64_t warmup;
    int64_t steps;
};

double yk_rate_at(const struct yk_rate *rate, int64_t step);

/* "constant", "cosine", "inverse-root"; "adamw", "sgd". */
const char *yk_rate_rule_name(enum yk_rate_rule rule);
bool yk_rate_rule_find(const char *name, enum yk_rate_rule *out);
const char *yk_optimizer_name(enum yk_optimizer_kind kind);
bool yk_optimizer_find(const char *name, enum yk_optimizer_kind *out);

/*
 * Puts the update of a layer's own parameters on a lane. `updates` is how many were made before;
 * `verdict` is on the device, or NULL.
 */
void yk_optimizer_update(const struct yk_optimizer *optimizer, const struct yk_store *store,
                         struct yk_backend_lane *lane, int32_t layer, double rate, int64_t updates,
                         const struct yk_verdict *verdict);

/* The loss scale of half precision: halved by an overflow, doubled after 2000 steps without. */
struct yk_scaler {
    double scale;
    int64_t clean; /* steps since the last overflow */
};

struct yk_scaler yk_scaler_start(enum yk_precision precision);
void yk_scaler_note(struct yk_scaler *scaler, enum yk_precision precision, bool overflow);

#endif
