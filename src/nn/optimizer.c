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

const char *yk_rate_rule_name(enum yk_rate_rule rule)
{
    return rule_names[rule];
}

bool yk_rate_rule_find(const char *name, enum yk_rate_rule *out)
{
    for (int i = YK_RATE_CONSTANT; i <= YK_RATE_INVERSE_ROOT; i++) {
        if (strcmp(name, rule_names[i]) == 0) {
            *out = (enum yk_rate_rule)i;
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
static double inverse_root(const struct yk_rate *rate, double step)
{
    const double warmup = rate->warmup > 0 ? (double)rate->warmup : 1;
    return rate->most * fmin(step / warmup, sqrt(warmup / step));
}

double yk_rate_at(const struct yk_rate *rate, int64_t step)
{
    if (rate->rule == YK_RATE_INVERSE_ROOT) {
        return inverse_root(rate, (double)step + 1);
    }
    if (step < rate->warmup) {
        return rate->most * (double)(step + 1) / (double)(rate->warmup + 1);
    }
    if (rate->rule == YK_RATE_CONSTANT || rate->steps <= rate->warmup) {
        return rate->most;
    }
    const double done = (double)(step - rate->warmup) / (double)(rate->steps - rate->warmup);
    return rate->least + 0.5 * (1 + cos(M_PI * fmin(1, done))) * (rate->most - rate->least);
}

/* Numbers `first` to `first + count` of the layer. */
static void update_adamw(const struct yk_optimizer *optimizer, const struct yk_store *store,
                         struct yk_backend_lane *lane, int32_t layer, int64_t first,
                         struct yk_adamw op)
{
    const struct yk_layer_store *kept = &store->layers[layer];
    const enum yk_precision type = store->net->workload.precision;
    const int64_t width = yk_precision_bytes(type);
    op.weights = kept->weights + first * width;
    op.gradients = kept->gradients + first * width;
    op.master = kept->master ? kept->master + first : NULL;
    op.moment1 = kept->moment1 + first;
    op.moment2 = kept->moment2 + first;
    op.type = type;
    op.beta1 = (float)optimizer->beta1;
    op.beta2 = (float)optimizer->beta2;
    op.epsilon = (float)optimizer->epsilon;
    store->engine.backend->adamw(lane, &op);
}

static void update_sgd(const struct yk_optimizer *optimizer, const struct yk_store *store,
                       struct yk_backend_lane *lane, int32_t layer, int64_t first, struct yk_sgd op)
{
    const struct yk_layer_store *kept = &store->layers[layer];
    const enum yk_precision type = store->net->workload.precision;
    const int64_t width = yk_precision_bytes(type);
    op.weights = kept->weights + first * width;
    op.gradients = kept->gradients + first * width;
    op.master = kept->master ? kept->master + first : NULL;
    op.velocity = kept->moment1 + first;
    op.type = type;
    op.momentum = (float)optimizer->momentum;
    store->engine.backend->sgd(lane, &op);
}

/* 1 − beta^t of the beta that moments are made with, rounded to fp32: of the exact one, 0.999 would
 * leave the second moment and its correction 1.3e-5 apart. */
static float correct(double beta, double t)
{
    return (float)(1 - pow((double)(float)beta, t));
}

void yk_optimizer_update(const struct yk_optimizer *optimizer, const struct yk_store *store,
                         struct yk_backend_lane *lane, int32_t layer, double rate, int64_t updates,
                         const struct yk_verdict *verdict)
{
    const struct yk_net_layer *of = &store->net->layers[layer];
    const struct {
        int64_t first;
        int64_t count;
        double decay;
    } groups[] = {{0, of->decayed, optimizer->decay}, {of->decayed, of->trained - of->decayed, 0}};
    for (int i = 0; i < 2; i++) {
        if (groups[i].count == 0) {
            continue;
        }
        if (optimizer->kind == YK_OPTIMIZER_SGD) {
            update_sgd(optimizer, store, lane, layer, groups[i].first,
                       (struct yk_sgd){.count = groups[i].count,
                                       .rate = (float)rate,
                                       .decay = (float)groups[i].decay,
                                       .first = updates == 0,
                                       .verdict = verdict});
        } else {
            const double t = (double)updates + 1;
            update_adamw(optimizer, store, lane, layer, groups[i].first,
                         (struct yk_adamw){.count = groups[i].count,
                                           .rate = (float)rate,
                                           .decay = (float)groups[i].decay,
                                           .correction1 = correct(optimizer->beta1, t),
                                           .correction2 = correct(optimizer->beta2, t),
                                           .verdict = verdict});
        }
    }
}

struct yk_scaler yk_scaler_start(enum yk_precision precision)
{
    return (struct yk_scaler){.scale = precision == YK_PRECISION_FP16 ? FIRST_SCALE : 1};
}

void yk_scaler_note(struct yk_scaler *scaler, enum yk_precision precision, bool overflow)
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
