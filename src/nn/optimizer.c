#include "nn/optimizer.h"

#include <math.h>
#include <string.h>

enum {
    STEPS_UNTIL_GROWTH = 2000
};

static const double FIRST_SCALE = 65536;
static const double MOST_SCALE = 0x1p24;

static const char *const rule_names[] = {"constant", "cosine", "inverse-root"};
static const char *const optimizer_names[] = {"none", "adamw", "sgd"};

const char *yk_lr_schedule_name(enum yk_lr_schedule_kind rule)
{
    return rule_names[rule];
}

bool yk_lr_schedule_find(const char *name, enum yk_lr_schedule_kind *out)
{
    for (int i = YK_LR_SCHEDULE_CONSTANT; i <= YK_LR_SCHEDULE_INVERSE_ROOT; i++) {
        if (strcmp(name, rule_names[i]) == 0) {
            *out = (enum yk_lr_schedule_kind)i;
            return true;
        }
    }
    return false;
}

const char *yk_optimizer_name(enum yk_optimizer_kind kind)
{
    return optimizer_names[kind];
}

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

/* Vaswani et al. 2017, with the peak at the end of the warm-up. */
static double inverse_root(const struct yk_lr_schedule *rate, double step)
{
    const double warmup = rate->warmup > 0 ? (double)rate->warmup : 1;
    return rate->most * fmin(step / warmup, sqrt(warmup / step));
}

double yk_lr_schedule_at(const struct yk_lr_schedule *rate, int64_t step)
{
    if (rate->rule == YK_LR_SCHEDULE_INVERSE_ROOT) {
        return inverse_root(rate, (double)step + 1);
    }
    if (step < rate->warmup) {
        return rate->most * (double)(step + 1) / (double)(rate->warmup + 1);
    }
    if (rate->rule == YK_LR_SCHEDULE_CONSTANT || rate->steps <= rate->warmup) {
        return rate->most;
    }
    const double done = (double)(step - rate->warmup) / (double)(rate->steps - rate->warmup);
    return rate->least + 0.5 * (1 + cos(M_PI * fmin(1, done))) * (rate->most - rate->least);
}

/* Where numbers of a layer and their state are: `first` is their number in the layer, `at` that in
 * what is kept of it. */
struct place {
    char *weights;
    char *gradients;
    float *master;
    float *moment1;
    float *moment2;
};

static struct place find_place(const struct yk_store_layer *kept, int64_t width, int64_t first,
                               int64_t at)
{
    return (struct place){
        .weights = kept->part ? kept->part + at * width : kept->weights + first * width,
        .gradients = kept->gradient_part ? kept->gradient_part + at * width
                                         : kept->gradients + first * width,
        .master = kept->master ? kept->master + at : NULL,
        .moment1 = kept->moment1 + at,
        .moment2 = kept->moment2 ? kept->moment2 + at : NULL,
    };
}

/* 1 − beta^t of the beta that moments are made with, rounded to fp32: of the exact one, 0.999 would
 * leave the second moment and its correction 1.3e-5 apart. */
static float correct(double beta, double t)
{
    return (float)(1 - pow((double)(float)beta, t));
}

/* One step of the optimizer on numbers that decay alike. */
struct stride {
    double rate;
    int64_t updates;
    double decay;
    const struct yk_gradient_norm *verdict;
};

static void update_adamw(const struct yk_optimizer *optimizer, const struct yk_store *store,
                         struct yk_backend_lane *lane, const struct place *place, int64_t count,
                         const struct stride *stride)
{
    const double t = (double)stride->updates + 1;
    store->engine.backend->adamw(lane, &(struct yk_adamw_op){
                                           .count = count,
                                           .weights = place->weights,
                                           .master = place->master,
                                           .gradients = place->gradients,
                                           .moment1 = place->moment1,
                                           .moment2 = place->moment2,
                                           .type = store->net->workload.precision,
                                           .lr = (float)stride->rate,
                                           .beta1 = (float)optimizer->beta1,
                                           .beta2 = (float)optimizer->beta2,
                                           .epsilon = (float)optimizer->epsilon,
                                           .weight_decay = (float)stride->decay,
                                           .correction1 = correct(optimizer->beta1, t),
                                           .correction2 = correct(optimizer->beta2, t),
                                           .gradient_norm = stride->verdict,
                                       });
}

static void update_sgd(const struct yk_optimizer *optimizer, const struct yk_store *store,
                       struct yk_backend_lane *lane, const struct place *place, int64_t count,
                       const struct stride *stride)
{
    store->engine.backend->sgd(lane, &(struct yk_sgd_op){
                                         .count = count,
                                         .weights = place->weights,
                                         .master = place->master,
                                         .gradients = place->gradients,
                                         .velocity = place->moment1,
                                         .type = store->net->workload.precision,
                                         .lr = (float)stride->rate,
                                         .weight_decay = (float)stride->decay,
                                         .momentum = (float)optimizer->momentum,
                                         .first = stride->updates == 0,
                                         .gradient_norm = stride->verdict,
                                     });
}

/* The numbers of a span from `first` up to `end` of the layer, as far as it has them. */
static void update_range(const struct yk_optimizer *optimizer, const struct yk_store *store,
                         struct yk_backend_lane *lane, int32_t layer,
                         const struct yk_partition_span *span, int64_t first, int64_t end,
                         const struct stride *stride)
{
    const int64_t span_end = span->first + span->count;
    const int64_t from = first > span->first ? first : span->first;
    const int64_t to = end < span_end ? end : span_end;
    if (to <= from) {
        return;
    }
    const int64_t width = yk_precision_bytes(store->net->workload.precision);
    const struct place place =
        find_place(&store->layers[layer], width, from, span->at + from - span->first);
    if (optimizer->kind == YK_OPTIMIZER_SGD) {
        update_sgd(optimizer, store, lane, &place, to - from, stride);
    } else {
        update_adamw(optimizer, store, lane, &place, to - from, stride);
    }
}

void yk_optimizer_update(const struct yk_optimizer *optimizer, const struct yk_store *store,
                         struct yk_backend_lane *lane, int32_t layer, double rate, int64_t updates,
                         const struct yk_gradient_norm *verdict)
{
    const struct yk_net_layer *of = &store->net->layers[layer];
    const struct yk_store_layer *kept = &store->layers[layer];
    const struct stride decayed = {rate, updates, optimizer->decay, verdict};
    const struct stride plain = {rate, updates, 0, verdict};
    for (int32_t i = 0; i < kept->span_count; i++) {
        const struct yk_partition_span *span = &kept->spans[i];
        update_range(optimizer, store, lane, layer, span, 0, of->decayed, &decayed);
        update_range(optimizer, store, lane, layer, span, of->decayed, of->trained, &plain);
    }
}

struct yk_loss_scaler yk_loss_scaler_init(enum yk_precision precision)
{
    return (struct yk_loss_scaler){.scale = precision == YK_PRECISION_FP16 ? FIRST_SCALE : 1};
}

void yk_loss_scaler_update(struct yk_loss_scaler *scaler, enum yk_precision precision,
                           bool overflow)
{
    if (precision != YK_PRECISION_FP16) {
        return;
    }
    if (overflow) {
        scaler->scale = fmax(scaler->scale / 2, 1);
        scaler->clean = 0;
    } else if (++scaler->clean == STEPS_UNTIL_GROWTH) {
        scaler->scale = fmin(scaler->scale * 2, MOST_SCALE);
        scaler->clean = 0;
    }
}
