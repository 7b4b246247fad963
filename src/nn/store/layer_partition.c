#include "nn/store/layer_partition.h"

struct yk_parameter_range yk_layer_partition_parameter_range(const struct yk_net *net,
                                                             int32_t layer,
                                                             const struct yk_parameter *parameter)
{
    if (parameter->trained) {
        return (struct yk_parameter_range){parameter->first, parameter->count};
    }
    return (struct yk_parameter_range){
        (int64_t)(parameter->offset - yk_net_layer_trained_bytes(net, layer)),
        (int64_t)yk_net_parameter_bytes(net, parameter)};
}

static bool find_range(const struct yk_layer_partition *partition, int32_t block,
                       const struct yk_net *net, int32_t layer,
                       const struct yk_parameter *parameter, struct yk_parameter_range *out)
{
    const struct yk_parameter_range own = yk_layer_partition_parameter_range(net, layer, parameter);
    const int64_t all =
        parameter->trained
            ? net->layers[layer].trained
            : (int64_t)(net->layers[layer].weight_bytes - yk_net_layer_trained_bytes(net, layer));
    struct yk_layer_partition_span span = {.count = all};
    if (partition->kind != YK_LAYER_PARTITION_WHOLE) {
        span.first =
            yk_layer_partition_fraction_to_element(all, partition->blocks, block, partition->from);
        span.count =
            yk_layer_partition_fraction_to_element(all, partition->blocks, block, partition->to) -
            span.first;
    }
    const bool any = yk_layer_partition_span_intersect(&span, own.first, own.count, &span);
    *out = (struct yk_parameter_range){span.first - own.first, span.count};
    return any;
}

bool yk_layer_partition_next_kept_range(const struct yk_layer_partition *partition,
                                        const struct yk_net *net, int32_t layer,
                                        const struct yk_parameter *parameter, int32_t *block,
                                        struct yk_parameter_range *out)
{
    const int32_t count = partition->kind == YK_LAYER_PARTITION_ABSENT  ? 0
                          : partition->kind == YK_LAYER_PARTITION_WHOLE ? 1
                                                                        : partition->blocks;
    while (*block < count) {
        if (find_range(partition, (*block)++, net, layer, parameter, out)) {
            return true;
        }
    }
    return false;
}
