#include "nn/feed_forward.h"

enum yk_ending yk_feed_ending(const struct yk_model_config *config, bool back)
{
    if (config->relu) {
        return back ? YK_ENDING_RELU_BACK : YK_ENDING_RELU;
    }
    if (config->silu) {
        return back ? YK_ENDING_SILU_BACK : YK_ENDING_SILU;
    }
    if (config->gelu_erf) {
        return back ? YK_ENDING_GELU_ERF_BACK : YK_ENDING_GELU_ERF;
    }
    return back ? YK_ENDING_GELU_BACK : YK_ENDING_GELU;
}

void yk_feed_carve(const struct yk_net *net, int32_t layer, int64_t rows, struct yk_carver *carver,
                   struct yk_feed_saved *out)
{
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    const int64_t F = net->layers[layer].sites[YK_FEED_UP].out;
    out->up = net->config->relu ? NULL : yk_carve(carver, rows * F, size);
    out->active = yk_carve(carver, rows * F, size);
    out->inner_up = yk_site_carve_inner(net, layer, YK_FEED_UP, rows, carver);
    out->inner_down = yk_site_carve_inner(net, layer, YK_FEED_DOWN, rows, carver);
}

void yk_feed_forward(const struct yk_pass *pass, const struct yk_feed_saved *saved, const void *x,
                     const void *stream, void *weights, void *to)
{
    yk_site_forward(pass, YK_FEED_UP,
                    &(struct yk_site_forward){
                        .x = x,
                        .y = saved->active,
                        .ending = yk_feed_ending(pass->net->config, false),
                        .aux = saved->up,
                        .inner = saved->inner_up,
                        .weights = weights,
                    });
    if (to) {
        yk_stream_add(pass, YK_FEED_DOWN, YK_DROP_DOWN, saved->active, stream, saved->inner_down,
                      weights, to);
    } else if (saved->inner_down) {
        /* Of the last product only the adapter's inside is wanted again. */
        yk_site_recall_inner(pass, YK_FEED_DOWN, saved->active, saved->inner_down);
    }
}

void yk_feed_backward(const struct yk_pass *pass, const struct yk_feed_saved *saved,
                      const struct yk_stream_room *room, const void *x, const void *gradient,
                      const void *add, void *dx)
{
    void *up_bias = yk_site_bias_gradient(pass, YK_FEED_UP);
    yk_site_backward(pass, YK_FEED_DOWN,
                     &(struct yk_site_backward){
                         .x = saved->active,
                         .dy = yk_stream_back(pass, YK_DROP_DOWN, gradient, room->dropped),
                         .dx = room->wide,
                         .ending = yk_feed_ending(pass->net->config, true),
                         .aux = saved->up ? saved->up : saved->active,
                         .inner = saved->inner_down,
                         .d_inner = room->d_inner,
                         .weights = room->weights,
                         .dx_sums = up_bias,
                     });
    yk_site_backward(pass, YK_FEED_UP,
                     &(struct yk_site_backward){
                         .x = x,
                         .dy = room->wide,
                         .dx = dx,
                         .add = add,
                         .inner = saved->inner_up,
                         .d_inner = room->d_inner,
                         .weights = room->weights,
                         .bias_summed = up_bias != NULL,
                     });
}
