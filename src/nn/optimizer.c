#include "nn/optimizer.h"

#include <math.h>
#include <string.h>

static const char *const optimizer_names[] = {"none", "adamw", "sgd"};

bool yk_optimizer_find(const char *name, enum yk_optimizer_kind *out)
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

/* One update of parameters with equal weight decay. */
struct update {
    double lr;
    int64_t updates;
    double decay;
    const struct yk_gradient_norm *gradient_norm;
};

static void update_adamw(const struct yk_optimizer *optimizer,
                         const struct yk_parameter_store *store, struct yk_backend_lane *lane,
                         const struct arrays *arrays, int64_t count, const struct update *update)
{
    const double t = (double)update->updates + 1;
    store->engine.backend->adamw(lane, &(struct yk_adamw_op){
                                           .count = count,
                                           .weights = arrays->weights,
                                           .master = arrays->master,
                                           .gradients = arrays->gradients,
                                           .moment1 = arrays->moment1,
                                           .moment2 = arrays->moment2,
                                           .type = store->net->workload.precision,
                                           .lr = (float)update->lr,
                                           .beta1 = (float)optimizer->beta1,
                                           .beta2 = (float)optimizer->beta2,
                                           .epsilon = (float)optimizer->epsilon,
                                           .weight_decay = (float)update->decay,
                                           .correction1 = bias_correction(optimizer->beta1, t),
                                           .correction2 = bias_correction(optimizer->beta2, t),
                                           .gradient_norm = update->gradient_norm,
                                       });
}

static void update_sgd(const struct yk_optimizer *optimizer, const struct yk_parameter_store *store,
                       struct yk_backend_lane *lane, const struct arrays *arrays, int64_t count,
                       const struct update *update)
{
    store->engine.backend->sgd(lane, &(struct yk_sgd_op){
                                         .count = count,
                                         .weights = arrays->weights,
                                         .master = arrays->master,
                                         .gradients = arrays->gradients,
                                         .velocity = arrays->moment1,
                                         .type = store->net->workload.precision,
                                         .lr = (float)update->lr,
                                         .weight_decay = (float)update->decay,
                                         .momentum = (float)optimizer->momentum,
                                         .first = update->updates == 0,
                                         .gradient_norm = update->gradient_norm,
                                     });
}

/* Updates the parameters `first` to `end` of the layer that the span contains. */
static void update_range(const struct yk_optimizer *optimizer,
                         const struct yk_parameter_store *store, struct yk_backend_lane *lane,
                         int32_t layer, const struct yk_partition_span *span, int64_t first,
                         int64_t end, const struct update *update)
{
    struct yk_partition_span part;
    if (!yk_partition_span_intersect(span, first, end - first, &part)) {
        return;
    }
    const int64_t width = yk_precision_bytes(store->net->workload.precision);
    const struct arrays arrays = find_arrays(&store->layers[layer], width, part.first, part.at);
    if (optimizer->kind == YK_OPTIMIZER_SGD) {
        update_sgd(optimizer, store, lane, &arrays, part.count, update);
    } else {
        update_adamw(optimizer, store, lane, &arrays, part.count, update);
    }
}

void yk_optimizer_update(const struct yk_optimizer *optimizer,
                         const struct yk_parameter_store *store, struct yk_backend_lane *lane,
                         int32_t layer, double lr, int64_t updates,
                         const struct yk_gradient_norm *gradient_norm)
{
    const struct yk_net_layer *of = &store->net->layers[layer];
    const struct yk_parameter_store_layer *kept = &store->layers[layer];
    const struct update decayed = {lr, updates, optimizer->decay, gradient_norm};
    const struct update plain = {lr, updates, 0, gradient_norm};
    for (int32_t i = 0; i < kept->span_count; i++) {
        const struct yk_partition_span *span = &kept->spans[i];
        update_range(optimizer, store, lane, layer, span, 0, of->decayed, &decayed);
        update_range(optimizer, store, lane, layer, span, of->decayed, of->trained, &plain);
    }
}
