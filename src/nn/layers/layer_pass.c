#include "nn/layers/layer_pass.h"

enum {
    PLACES = 8 /* maximum places of dropout in a layer */
};

struct yk_layer_pass yk_layer_pass_of_weights_owner(const struct yk_layer_pass *pass)
{
    struct yk_layer_pass other = *pass;
    other.layer = yk_layer_pass_get_layer(pass)->weights_owner;
    return other;
}

void *yk_layer_pass_parameter_weights(const struct yk_layer_pass *pass, int32_t parameter)
{
    return pass->store->layers[pass->layer].weights +
           yk_layer_pass_get_layer(pass)->parameters[parameter].offset;
}

void *yk_layer_pass_parameter_gradient(const struct yk_layer_pass *pass, int32_t parameter)
{
    const struct yk_parameter *found = &yk_layer_pass_get_layer(pass)->parameters[parameter];
    const int64_t width = yk_precision_bytes(pass->net->workload.precision);
    return found->trained ? pass->store->layers[pass->layer].gradients + found->first * width
                          : NULL;
}

enum yk_precision yk_layer_pass_parameter_precision(const struct yk_layer_pass *pass,
                                                    int32_t parameter)
{
    return yk_layer_pass_get_layer(pass)->parameters[parameter].format == YK_PARAMETER_FP32
               ? YK_PRECISION_FP32
               : pass->net->workload.precision;
}

struct yk_dropout_options yk_layer_pass_dropout_options(const struct yk_layer_pass *pass,
                                                        uint64_t place)
{
    return (struct yk_dropout_options){
        .rate = pass->training ? (float)pass->net->options.dropout : 0,
        .seed = pass->net->options.seed,
        .site = (uint64_t)pass->layer * PLACES + place,
        .first_sample = pass->first_sample,
    };
}
