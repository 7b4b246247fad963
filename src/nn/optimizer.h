/* Optimizer: how gradients become new weights, by AdamW or SGD. */
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

/* By "adamw" or "sgd"; false: there is none of that name. */
bool yk_optimizer_find(const char *name, enum yk_optimizer_kind *out);

/* Enqueues the update of a layer's own parameters. `updates` is how many were made before; `norm`
 * is on the device, or NULL. */
void yk_optimizer_update(const struct yk_optimizer *optimizer, const struct yk_store *store,
                         struct yk_backend_lane *lane, int32_t layer, double rate, int64_t updates,
                         const struct yk_gradient_norm *norm);

#endif
