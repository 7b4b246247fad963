/* Message layout: determines the sizes and blocks of the messages of each layer, and the buckets of
 * layers whose gradients are reduced together. This is the first step of compilation. */
#ifndef YK_PROGRAM_MESSAGE_LAYOUT_H
#define YK_PROGRAM_MESSAGE_LAYOUT_H

#include "program/program.h"

/* Fills the members `layers` and `buckets` of the program, from its plan. */
yk_status yk_message_layout_compute_for_program(struct yk_program *program) YK_MUST_USE;

/* Returns true if the layer's weights are gathered before use and released afterwards. */
static inline bool yk_message_layout_gathers_layer_weights(const struct yk_program *program,
                                                           int32_t layer)
{
    const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(program->plan, layer);
    return (strategy == YK_SHARDING_KEPT_AFTER_FORWARD || strategy == YK_SHARDING_FULLY_SHARDED) &&
           program->layers[layer].weight_bytes > 0;
}

/* Returns true if gathered weights stay in memory from forward to backward. This is the case for
 * YK_SHARDING_KEPT_AFTER_FORWARD, and for weights that several layers share: the last of these
 * layers needs them again soon, because its backward pass is one of the first. */
static inline bool yk_message_layout_keeps_gathered_weights(const struct yk_program *program,
                                                            int32_t layer)
{
    return yk_plan_effective_strategy(program->plan, layer) == YK_SHARDING_KEPT_AFTER_FORWARD ||
           program->layers[layer].last_user != layer;
}

/* Returns true if the layer's gradient is reduce-scattered: each rank stores its part of the sum.
 */
static inline bool yk_message_layout_reduce_scatters_gradient(const struct yk_program *program,
                                                              int32_t layer)
{
    return yk_plan_effective_strategy(program->plan, layer) != YK_SHARDING_REPLICATED &&
           program->layers[layer].gradient_bytes > 0;
}

/* Returns true if all ranks gather the new weights after the update and keep them. */
static inline bool yk_message_layout_gathers_updated_weights(const struct yk_program *program,
                                                             int32_t layer)
{
    return yk_plan_effective_strategy(program->plan, layer) == YK_SHARDING_SHARDED_STATE &&
           program->layers[layer].gradient_bytes > 0;
}

#endif
