/*
 * Loss scaler: what the loss is multiplied by in half precision, so that gradients do not vanish:
 * halved by an overflow, doubled after 2000 steps without one. 1 in other precisions.
 */
#ifndef YK_NN_LOSS_SCALER_H
#define YK_NN_LOSS_SCALER_H

#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_loss_scaler {
    double scale;
    int64_t clean; /* steps since the last overflow */
};

struct yk_loss_scaler yk_loss_scaler_init(enum yk_precision precision);
void yk_loss_scaler_update(struct yk_loss_scaler *scaler, enum yk_precision precision,
                           bool overflow);

#endif
