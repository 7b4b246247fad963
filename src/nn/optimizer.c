#include "nn/optimizer.h"

#include <math.h>
#include <string.h>

static const char *const optimizer_names[] = {"none", "adamw", "sgd"};

bool yk_optimizer_find_kind(const char *name, enum yk_optimizer_kind *out)
{
    for (int i = YK_OPTIMIZER_ADAMW; i <= YK_OPTIMIZER_SGD; i++) {
        if (strcmp(name, optimizer_names[i]) == 0) {
            *out = (enum yk_optimizer_kind)i;
            return true;
        }
    }
    return false;
}

/* 1 − beta^t with beta rounded to fp32, as the kernels use it. With the exact 0.999 the correction
 * of the second moment would be off by 1.3e-5. */
static float bias_correction(double beta, double t)
{
    return (float)(1 - pow((double)(float)beta, t));
}

/* One update of a layer. */
struct update {
    const struct yk_optimizer_options *optimizer;
    const struct yk_parameter_store *store;
    struct yk_backend_lane *lane;
    int32_t layer;
    double lr;
    int64_t updates;
    const struct yk_gradient_norm_and_factor *gradient_norm;
};

/* Updates the parameters `first` to `end` of the layer that the span contains. */
static void update_range(const struct update *update, const struct yk_layer_partition_span *span,
                         int64_t first, int64_t end, double decay)
{
    const struct yk_optimizer_options *optimizer = update->optimizer;
    const struct yk_parameter_store_layer *kept = &update->store->layers[update->layer];
    const struct yk_backend *backend = update->store->context.backend;
    const enum yk_precision type = update->store->net->workload.precision;
    const int64_t width = yk_precision_bytes(type);
    struct yk_layer_partition_span part;
    if (!yk_layer_partition_span_intersect(span, first, end - first, &part)) {
        return;
    }
    const struct yk_weight_update weights = {
        .count = part.count,
        .weights = kept->part ? kept->part + part.at * width : kept->weights + part.first * width,
        .master = kept->master ? kept->master + part.at : NULL,
        .gradients = kept->gradient_part ? kept->gradient_part + part.at * width
                                         : kept->gradients + part.first * width,
        .type = type,
        .lr = (float)update->lr,
        .weight_decay = (float)decay,
        .gradient_norm = update->gradient_norm,
    };
    if (optimizer->kind == YK_OPTIMIZER_SGD) {
        backend->sgd(update->lane, &(struct yk_sgd_op){
                                       .update = weights,
                                       .velocity = kept->moment1 + part.at,
                                       .momentum = (float)optimizer->momentum,
                                       .first = update->updates == 0,
                                   });
    } else {
        const double t = (double)update->updates + 1;
        backend->adamw(update->lane, &(struct yk_adamw_op){
                                         .update = weights,
                                         .moment1 = kept->moment1 + part.at,
                                         .moment2 = kept->moment2 + part.at,
                                         .beta1 = (float)optimizer->beta1,
                                         .beta2 = (float)optimizer->beta2,
                                         .epsilon = (float)optimizer->epsilon,
                                         .correction1 = bias_correction(optimizer->beta1, t),
                                         .correction2 = bias_correction(optimizer->beta2, t),
                                     });
    }
}

void yk_optimizer_update_layer(const struct yk_optimizer_options *optimizer,
                               const struct yk_parameter_store *store, struct yk_backend_lane *lane,
                               int32_t layer, double lr, int64_t updates,
                               const struct yk_gradient_norm_and_factor *gradient_norm)
{
    const struct update update = {optimizer, store, lane, layer, lr, updates, gradient_norm};
    const struct yk_net_layer *of = &store->net->layers[layer];
    const struct yk_parameter_store_layer *kept = &store->layers[layer];
    for (int32_t i = 0; i < kept->span_count; i++) {
        update_range(&update, &kept->spans[i], 0, of->decayed, optimizer->decay);
        update_range(&update, &kept->spans[i], of->decayed, of->trained, 0);
    }
}
