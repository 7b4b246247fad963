/*
 * Loss scaler: dynamic loss scaling for fp16, which prevents the underflow of small gradients
 * (Micikevicius et al. 2018). An overflow halves the scale. After each 2000 steps in a row without
 * overflow, the scale is doubled. The scale stays between 1 and YK_LOSS_SCALER_MAX. In other
 * precisions the scale is always 1.
 */
#ifndef YK_NN_LOSS_SCALER_H
#define YK_NN_LOSS_SCALER_H

#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_LOSS_SCALER_INITIAL = 1 << 16,
    YK_LOSS_SCALER_MAX = 1 << 24,
    YK_LOSS_SCALER_GROWTH_STEPS = 2000,
};

struct yk_loss_scaler {
    double scale;
    int64_t clean; /* number of steps since the last overflow or doubling */
};

static inline struct yk_loss_scaler yk_loss_scaler_init(enum yk_precision precision)
{
    return (struct yk_loss_scaler){.scale =
                                       precision == YK_PRECISION_FP16 ? YK_LOSS_SCALER_INITIAL : 1};
}

static inline void yk_loss_scaler_update(struct yk_loss_scaler *scaler, enum yk_precision precision,
                                         bool overflow)
{
    if (precision != YK_PRECISION_FP16) {
        return;
    }
    if (overflow) {
        scaler->scale = scaler->scale > 2 ? scaler->scale / 2 : 1;
        scaler->clean = 0;
    } else if (++scaler->clean == YK_LOSS_SCALER_GROWTH_STEPS) {
        const double doubled = scaler->scale * 2;
        scaler->scale = doubled < YK_LOSS_SCALER_MAX ? doubled : YK_LOSS_SCALER_MAX;
        scaler->clean = 0;
    }
}

#endif
