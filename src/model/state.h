/* State: the bytes that a layer's parameters take while they are trained, by what they are. */
#ifndef YK_MODEL_STATE_H
#define YK_MODEL_STATE_H

#include "model/model.h"

struct yk_model_layer_state {
    double weight_bytes;    /* as they are kept and gathered, frozen ones included */
    double gradient_bytes;  /* of what is trained */
    double optimizer_bytes; /* Adam's moments; in 16 bit a master copy besides */
};

struct yk_model_layer_state yk_model_layer_state(const struct yk_model *model,
                                                 const struct yk_layer *layer);

#endif
