/* Optimizer: updates weights from their gradients, with AdamW or with SGD and momentum. */
#ifndef YK_NN_OPTIMIZER_H
#define YK_NN_OPTIMIZER_H

#include "base/status.h"
#include "nn/store/parameter_store.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_optimizer_options {
    enum yk_optimizer_kind kind;
    double beta1;
    double beta2;
    double epsilon;
    double decay; /* weight decay of parameters with two dimensions; vectors have no weight decay */
    double momentum;
};

/* Finds a kind by its name: "adamw" or "sgd". Returns false if the name is unknown. */
bool yk_optimizer_find_kind(const char *name, enum yk_optimizer_kind *out);

/* Enqueues the update of the parameters that a layer owns. `updates` is the number of updates
 * before this one. `gradient_norm` is in device memory; NULL means: do not clip the gradients and
 * do not skip the update. */
void yk_optimizer_update_layer(const struct yk_optimizer_options *optimizer,
                               const struct yk_parameter_store *store, struct yk_backend_lane *lane,
                               int32_t layer, double lr, int64_t updates,
                               const struct yk_gradient_norm_and_factor *gradient_norm);

#endif
