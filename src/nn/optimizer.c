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

/* Addresses of consecutive parameters of a layer and of their state. */
struct arrays {
    char *weights;
    char *gradients;
    float *master;
    float *moment1;
    float *moment2;
};

/* `first` is the number of the first parameter in the layer, `at` its number in the kept part. */
static struct arrays find_arrays(const struct yk_parameter_store_layer *kept, int64_t width,
                                 int64_t first, int64_t at)
{
    return (struct arrays){
        .weights = kept->part ? kept->part + at * width : kept->weights + first * width,
        .gradients = kept->gradient_part ? kept->gradient_part + at * width
                                         : kept->gradients + first * width,
        .master = kept->master ? kept->master + at : NULL,
        .moment1 = kept->moment1 + at,
        .moment2 = kept->moment2 ? kept->moment2 + at : NULL,
    };
}

/* 1 − beta^t with beta rounded to fp32, as the kernels use it. With the exact 0.999 the correction
 * of the second moment would be off by 1.3e-5. */
static float bias_correction(double beta, double t)
{
    return (float)(1 - pow((double)(float)beta, t));
}

/* One update of a layer. */
struct update {
    const struct yk_optimizer *optimizer;
    const struct yk_parameter_store *store;
    struct yk_backend_lane *lane;
    int32_t layer;
    double lr;
    int64_t updates;
    const struct yk_gradient_norm *gradient_norm;
};

static void update_adamw(const struct update *update, const struct arrays *arrays, int64_t count,
                         double decay)
{
    const struct yk_optimizer *optimizer = update->optimizer;
    const double t = (double)update->updates + 1;
    update->store->context.backend->adamw(update->lane,
                                          &(struct yk_adamw_op){
                                              .count = count,
                                              .weights = arrays->weights,
                                              .master = arrays->master,
                                              .gradients = arrays->gradients,
                                              .moment1 = arrays->moment1,
                                              .moment2 = arrays->moment2,
                                              .type = update->store->net->workload.precision,
                                              .lr = (float)update->lr,
                                              .beta1 = (float)optimizer->beta1,
                                              .beta2 = (float)optimizer->beta2,
                                              .epsilon = (float)optimizer->epsilon,
                                              .weight_decay = (float)decay,
                                              .correction1 = bias_correction(optimizer->beta1, t),
                                              .correction2 = bias_correction(optimizer->beta2, t),
                                              .gradient_norm = update->gradient_norm,
                                          });
}

static void update_sgd(const struct update *update, const struct arrays *arrays, int64_t count,
                       double decay)
{
    update->store->context.backend->sgd(update->lane,
                                        &(struct yk_sgd_op){
                                            .count = count,
                                            .weights = arrays->weights,
                                            .master = arrays->master,
                                            .gradients = arrays->gradients,
                                            .velocity = arrays->moment1,
                                            .type = update->store->net->workload.precision,
                                            .lr = (float)update->lr,
                                            .weight_decay = (float)decay,
                                            .momentum = (float)update->optimizer->momentum,
                                            .first = update->updates == 0,
                                            .gradient_norm = update->gradient_norm,
                                        });
}

/* Updates the parameters `first` to `end` of the layer that the span contains. */
static void update_range(const struct update *update, const struct yk_layer_partition_span *span,
                         int64_t first, int64_t end, double decay)
{
    const struct yk_parameter_store *store = update->store;
    struct yk_layer_partition_span part;
    if (!yk_layer_partition_span_intersect(span, first, end - first, &part)) {
        return;
    }
    const int64_t width = yk_precision_bytes(store->net->workload.precision);
    const struct arrays arrays =
        find_arrays(&store->layers[update->layer], width, part.first, part.at);
    if (update->optimizer->kind == YK_OPTIMIZER_SGD) {
        update_sgd(update, &arrays, part.count, decay);
    } else {
        update_adamw(update, &arrays, part.count, decay);
    }
}

void yk_optimizer_update_layer(const struct yk_optimizer *optimizer,
                               const struct yk_parameter_store *store, struct yk_backend_lane *lane,
                               int32_t layer, double lr, int64_t updates,
                               const struct yk_gradient_norm *gradient_norm)
{
    const struct update update = {optimizer, store, lane, layer, lr, updates, gradient_norm};
    const struct yk_net_layer *of = &store->net->layers[layer];
    const struct yk_parameter_store_layer *kept = &store->layers[layer];
    for (int32_t i = 0; i < kept->span_count; i++) {
        update_range(&update, &kept->spans[i], 0, of->decayed, optimizer->decay);
        update_range(&update, &kept->spans[i], of->decayed, of->trained, 0);
    }
}
