#include "model/state.h"

struct yk_model_layer_state yk_model_layer_state(const struct yk_model *model,
                                                 const struct yk_layer *layer)
{
    /* 2 + 2 + 12 bytes a trained parameter in 16 bit, 4 + 4 + 8 in fp32. */
    const double state_bytes = 16;
    const double full_bytes = 4;
    const double width = (double)yk_precision_bytes(model->workload.precision);
    const int64_t plain = layer->parameters - layer->quantised - layer->full_width;
    return (struct yk_model_layer_state){
        .weight_bytes = width * (double)plain + YK_MODEL_NF4_BYTES * (double)layer->quantised +
                        full_bytes * (double)layer->full_width,
        .gradient_bytes = width * (double)layer->trainable,
        .optimizer_bytes = (state_bytes - 2 * width) * (double)layer->trainable,
    };
}
