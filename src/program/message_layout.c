#include "program/message_layout.h"

#include "base/number.h"
#include "model/model.h"

/*
 * Joins blocks of the plan that are always transferred together into one block of the program.
 * Every message costs a latency, so a layer that is always transferred as a whole is one block.
 */
static yk_status find_joined(const struct yk_program *program, const struct yk_model *model,
                             int32_t **out)
{
    const struct yk_plan *plan = program->plan;
    int32_t *joined = NULL;
    YK_TRY_NEW(program->arena, joined, plan->layer_count);
    for (int32_t l = 0; l < plan->layer_count; l++) {
        joined[l] = yk_plan_layer_block_count(plan, model, l);
    }
    for (int32_t i = 0; i < plan->transfer_count; i++) {
        const struct yk_plan_transfer *transfer = &plan->transfers[i];
        int32_t *all = &joined[transfer->layer];
        if (transfer->kind != YK_TRANSFER_ALL_REDUCE) {
            const int32_t end = transfer->first_block + transfer->block_count;
            *all = (int32_t)yk_number_gcd(*all, transfer->first_block);
            *all = (int32_t)yk_number_gcd(*all, end);
        }
    }
    *out = joined;
    return YK_OK;
}

static yk_status lay_out_layers(struct yk_program *program)
{
    const struct yk_model *model = yk_model_cache_get_whole_batch(program->cache);
    const int32_t L = program->plan->layer_count;
    int32_t *joined = NULL;
    YK_TRY(find_joined(program, model, &joined));
    YK_TRY_NEW(program->arena, program->layers, L);
    for (int32_t l = 0; l < L; l++) {
        const struct yk_model_layer_state_bytes state =
            yk_model_layer_state_bytes(model, &model->layers[l]);
        struct yk_program_layer_messages *layer = &program->layers[l];
        *layer = (struct yk_program_layer_messages){
            .weights_owner = yk_model_weight_owner(model, l),
            .last_user = l,
            .block_count =
                joined[l] > 0 ? yk_plan_layer_block_count(program->plan, model, l) / joined[l] : 0,
            .plan_blocks = joined[l],
            .weight_bytes = state.weight_bytes,
            .gradient_bytes = state.gradient_bytes,
            .optimizer_bytes = state.optimizer_bytes,
        };
        program->layers[layer->weights_owner].last_user = l;
    }
    return YK_OK;
}

static bool is_reduced(const struct yk_program *program, int32_t layer)
{
    const struct yk_plan *plan = program->plan;
    return plan->groups[plan->layers[layer].group].member_count > 1 &&
           yk_plan_effective_strategy(plan, layer) == YK_SHARDING_REPLICATED &&
           program->layers[layer].gradient_bytes > 0;
}

/*
 * Gradients become ready in the order of the backward pass. A bucket is closed when it has reached
 * its size, as in PyTorch's DDP. Layers of another group or strategy in between do not close it.
 */
static yk_status fill_buckets(struct yk_program *program, int32_t group)
{
    const struct yk_plan *plan = program->plan;
    struct yk_gradient_bucket *open = NULL;
    for (int32_t l = plan->layer_count - 1; l >= 0; l--) {
        if (plan->layers[l].group != group || !is_reduced(program, l)) {
            continue;
        }
        if (!open) {
            open = &program->buckets[program->bucket_count++];
            open->group = group;
            YK_TRY_NEW(program->arena, open->layers, l + 1);
        }
        open->layers[open->layer_count++] = l;
        open->bytes += program->layers[l].gradient_bytes;
        if (open->bytes >= plan->bucket_bytes) {
            open = NULL;
        }
    }
    return YK_OK;
}

yk_status yk_message_layout_compute_for_program(struct yk_program *program)
{
    YK_TRY(lay_out_layers(program));
    YK_TRY_NEW(program->arena, program->buckets, program->plan->layer_count);
    for (int32_t g = 0; g < program->plan->group_count; g++) {
        YK_TRY(fill_buckets(program, g));
    }
    return YK_OK;
}
