#include "nn/loss_scaler.h"

#include <math.h>

enum {
    STEPS_UNTIL_GROWTH = 2000
};

static const double FIRST_SCALE = 65536;
static const double MAX_SCALE = 0x1p24;

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
        scaler->scale = fmin(scaler->scale * 2, MAX_SCALE);
        scaler->clean = 0;
    }
}
