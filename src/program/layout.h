/* Layout: what the layers of a plan are as messages (leaders, blocks, bytes) and which reductions
 * are fused. The first step of compiling. */
#ifndef YK_PROGRAM_LAYOUT_H
#define YK_PROGRAM_LAYOUT_H

#include "program/program.h"

/* Fills the program's layers and buckets from its plan. */
yk_status yk_layout_make(struct yk_program *program) YK_MUST_USE;

/* True when the layer's weights are gathered before use and released after. */
static inline bool yk_layout_is_gathered(const struct yk_program *program, int32_t layer)
{
    const enum yk_strategy strategy = yk_plan_strategy(program->plan, layer);
    return (strategy == YK_KEPT || strategy == YK_FULLY_SHARDED) &&
           program->layers[layer].weight_bytes > 0;
}

/*
 * True when gathered weights stay from forward to backward. Weights that several layers share do
 * so under either strategy: they would be wanted again at once, at the other end of the model.
 */
static inline bool yk_layout_is_kept(const struct yk_program *program, int32_t layer)
{
    return yk_plan_strategy(program->plan, layer) == YK_KEPT ||
           program->layers[layer].last_user != layer;
}

/* True when the layer's gradient is scattered, each rank keeping its part of the sum. */
static inline bool yk_layout_is_reduce_scattered(const struct yk_program *program, int32_t layer)
{
    return yk_plan_strategy(program->plan, layer) != YK_REPLICATED &&
           program->layers[layer].gradient_bytes > 0;
}

/* True when new weights are sent to all ranks after the update, to stay there. */
static inline bool yk_layout_is_refreshed(const struct yk_program *program, int32_t layer)
{
    return yk_plan_strategy(program->plan, layer) == YK_SHARDED_STATE &&
           program->layers[layer].gradient_bytes > 0;
}

#endif
