#include "planner/order/plan_transfer_order.h"

#include "cost/communication.h"
#include "planner/search/plan_evaluation.h"
#include "program/message_layout.h"

#include <math.h>
#include <string.h>

enum {
    TRIES = 3, /* orders that are compiled */
};

struct conversion {
    struct yk_search_context *context;
    const struct yk_plan *plan;
    const struct yk_program *program;
    struct yk_arena *arena;
    struct yk_transfer_order_problem *problem;
    struct yk_ring_devices ring;
    double largest_part;
};

static yk_status collective_s(const struct conversion *conversion, enum yk_collective collective,
                              double bytes, double *out_s)
{
    struct yk_cost_time_estimate time;
    const double largest =
        collective == YK_COLLECTIVE_ALL_REDUCE ? 0 : conversion->largest_part * bytes;
    YK_TRY(yk_communication_collective_time(conversion->context->request->cost_sources, collective,
                                            &conversion->ring, bytes, largest, &time));
    *out_s = time.seconds;
    return YK_OK;
}

/* Computation of each slot on the slowest rank; updates run in the first slot after backward. */
static yk_status set_times(const struct conversion *conversion)
{
    const struct yk_plan *plan = conversion->plan;
    const int32_t L = plan->layer_count;
    const struct yk_plan_group *group = &plan->groups[0];
    double *compute_s = conversion->problem->compute_s;
    for (int32_t i = 0; i < group->member_count; i++) {
        const int32_t device = plan->ranks[group->members[i].rank].device;
        const int64_t samples = group->members[i].share;
        double updates_s = 0;
        for (int32_t l = 0; l < L; l++) {
            double forward_s = 0;
            double backward_s = 0;
            double update_s = 0;
            struct yk_layer_costs *costs = conversion->context->costs;
            YK_TRY(yk_layer_costs_seconds(costs, device, l, samples, YK_COST_PASS_FORWARD,
                                          &forward_s));
            YK_TRY(yk_layer_costs_seconds(costs, device, l, samples, YK_COST_PASS_BACKWARD,
                                          &backward_s));
            YK_TRY(
                yk_layer_costs_seconds(costs, device, l, samples, YK_COST_PASS_UPDATE, &update_s));
            backward_s += plan->layers[l].recompute ? forward_s : 0;
            updates_s += update_s * (yk_plan_effective_strategy(plan, l) == YK_SHARDING_REPLICATED
                                         ? 1
                                         : group->members[i].shard_fraction);
            compute_s[l] = fmax(compute_s[l], forward_s);
            compute_s[2 * L - l] = fmax(compute_s[2 * L - l], backward_s);
        }
        compute_s[2 * L + 1] = fmax(compute_s[2 * L + 1], updates_s);
    }
    return YK_OK;
}

/* The first and the last op in the life of a buffer, in program order. */
static int32_t first_of(const struct yk_buffer_lifetime *lifetime)
{
    const int32_t compute = lifetime->begin[YK_LANE_COMPUTE];
    const int32_t comm = lifetime->begin[YK_LANE_COMM];
    return compute == YK_OP_NONE || (comm != YK_OP_NONE && comm < compute) ? comm : compute;
}

static int32_t last_of(const struct yk_buffer_lifetime *lifetime)
{
    const int32_t compute = lifetime->end[YK_LANE_COMPUTE];
    const int32_t comm = lifetime->end[YK_LANE_COMM];
    return comm > compute ? comm : compute;
}

/* Subtracts from each slot's room all memory of a rank that does not depend on the order. */
static yk_status set_room(const struct conversion *conversion, int32_t rank)
{
    const struct yk_op_list *list = &conversion->program->ranks[rank];
    const int32_t L = conversion->plan->layer_count;
    struct yk_program_memory *memory = NULL;
    double *deltas = NULL;
    double left = conversion->plan->ranks[rank].limit_bytes;
    YK_TRY(yk_program_memory_count_for_rank(conversion->program, rank, conversion->arena, &memory));
    YK_TRY_NEW(conversion->arena, deltas, list->op_count + 1);
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        left -= memory->permanent_bytes[kind];
    }
    for (int32_t i = 0; i < memory->lifetime_count; i++) {
        const struct yk_buffer_lifetime *lifetime = &memory->lifetimes[i];
        if (lifetime->memory != YK_MEMORY_GATHERED && lifetime->memory != YK_MEMORY_GRADIENTS) {
            deltas[first_of(lifetime)] += lifetime->bytes;
            deltas[last_of(lifetime) + 1] -= lifetime->bytes;
        }
    }
    double *room = conversion->problem->room_bytes;
    double resident_bytes = 0;
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        resident_bytes += deltas[i];
        if (op->kind == YK_OP_FORWARD || op->kind == YK_OP_RECOMPUTE ||
            op->kind == YK_OP_BACKWARD) {
            const int32_t slot = op->kind == YK_OP_FORWARD ? op->layer : 2 * L - op->layer;
            room[slot] = fmin(room[slot], left - resident_bytes);
        }
    }
    /* Between forward and backward, memory is at most that of the last layer's forward. */
    room[L] = fmin(room[L], room[L - 1]);
    room[2 * L + 1] = fmin(room[2 * L + 1], left);
    room[2 * L + 2] = fmin(room[2 * L + 2], left);
    return YK_OK;
}

static enum yk_transfer_order_sharding choice_of(const struct conversion *conversion, int32_t layer,
                                                 bool open)
{
    const struct yk_program_layer_messages *message = &conversion->program->layers[layer];
    const bool has_weights = message->weight_bytes > 0;
    /* A layer that has no backward pass is not gathered for it. */
    const bool has_backward = conversion->context->model->layers[layer].backward.count > 0;
    /* A layer that shares weights cannot have its own strategy. */
    const bool decides =
        open && has_backward && message->weights_owner == layer && message->last_user == layer;
    const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(conversion->plan, layer);
    switch (strategy) {
    case YK_SHARDING_KEPT_AFTER_FORWARD:
    case YK_SHARDING_FULLY_SHARDED:
        if (!has_weights) {
            return YK_TRANSFER_ORDER_NO_COMMUNICATION;
        }
        if (strategy == YK_SHARDING_FULLY_SHARDED &&
            (!has_backward ||
             yk_message_layout_keeps_gathered_weights(conversion->program, layer))) {
            return YK_TRANSFER_ORDER_KEPT;
        }
        return decides                                      ? YK_TRANSFER_ORDER_UNDECIDED
               : strategy == YK_SHARDING_KEPT_AFTER_FORWARD ? YK_TRANSFER_ORDER_KEPT
                                                            : YK_TRANSFER_ORDER_FULLY_SHARDED;
    case YK_SHARDING_SHARDED_STATE:
        return message->gradient_bytes > 0 ? YK_TRANSFER_ORDER_SHARDED_STATE
                                           : YK_TRANSFER_ORDER_NO_COMMUNICATION;
    case YK_SHARDING_REPLICATED:
    case YK_SHARDING_STRATEGY_COUNT:
    default:
        return YK_TRANSFER_ORDER_NO_COMMUNICATION; /* add_buckets() changes the last of each bucket
                                                    */
    }
}

static yk_status set_layer(const struct conversion *conversion, int32_t layer, bool open)
{
    const struct yk_program_layer_messages *message = &conversion->program->layers[layer];
    struct yk_transfer_order_layer *layer_problem = &conversion->problem->layers[layer];
    *layer_problem =
        (struct yk_transfer_order_layer){.choice = choice_of(conversion, layer, open), .blocks = 1};
    if (layer_problem->choice == YK_TRANSFER_ORDER_NO_COMMUNICATION) {
        return YK_OK;
    }
    const bool gathered = layer_problem->choice != YK_TRANSFER_ORDER_SHARDED_STATE;
    layer_problem->blocks =
        yk_plan_layer_block_count(conversion->plan, conversion->context->model, layer);
    layer_problem->weight_bytes = gathered ? message->weight_bytes : 0;
    layer_problem->gradient_bytes = message->gradient_bytes;
    YK_TRY(collective_s(conversion, YK_COLLECTIVE_ALL_GATHER,
                        gathered ? message->weight_bytes : message->gradient_bytes,
                        &layer_problem->gather_s));
    /* Frozen layers have nothing to scatter. */
    return message->gradient_bytes > 0
               ? collective_s(conversion, YK_COLLECTIVE_REDUCE_SCATTER, message->gradient_bytes,
                              &layer_problem->scatter_s)
               : YK_OK;
}

/* A bucket is all-reduced after the backward of its last layer. Its memory is part of the state. */
static yk_status add_buckets(const struct conversion *conversion)
{
    for (int32_t b = 0; b < conversion->program->bucket_count; b++) {
        const struct yk_gradient_bucket *bucket = &conversion->program->buckets[b];
        struct yk_transfer_order_layer *layer_problem =
            &conversion->problem->layers[bucket->layers[bucket->layer_count - 1]];
        *layer_problem =
            (struct yk_transfer_order_layer){.choice = YK_TRANSFER_ORDER_REPLICATED, .blocks = 1};
        YK_TRY(collective_s(conversion, YK_COLLECTIVE_ALL_REDUCE, bucket->bytes,
                            &layer_problem->scatter_s));
    }
    return YK_OK;
}

static yk_status build_problem(struct conversion *conversion, bool open)
{
    const struct yk_plan *plan = conversion->plan;
    const struct yk_plan_group *group = &plan->groups[0];
    const int32_t slots = yk_plan_slot_count(plan);
    int32_t *devices = NULL;
    YK_TRY_NEW(conversion->arena, conversion->problem, 1);
    YK_TRY_NEW(conversion->arena, conversion->problem->layers, plan->layer_count);
    YK_TRY_NEW(conversion->arena, conversion->problem->compute_s, slots);
    YK_TRY_NEW(conversion->arena, conversion->problem->room_bytes, slots);
    YK_TRY_NEW(conversion->arena, devices, group->member_count);
    for (int32_t i = 0; i < group->member_count; i++) {
        devices[i] = plan->ranks[group->members[i].rank].device;
        conversion->largest_part = fmax(conversion->largest_part, group->members[i].shard_fraction);
    }
    conversion->ring = (struct yk_ring_devices){.devices = devices, .count = group->member_count};
    conversion->problem->layer_count = plan->layer_count;
    conversion->problem->barrier = yk_plan_has_update_barrier(plan);
    for (int32_t t = 0; t < slots; t++) {
        conversion->problem->room_bytes[t] = INFINITY;
    }
    YK_TRY(set_times(conversion));
    for (int32_t r = 0; r < plan->rank_count; r++) {
        if (r == 0 || conversion->program->ranks[r].ops != conversion->program->ranks[r - 1].ops) {
            YK_TRY(set_room(conversion, r));
        }
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        YK_TRY(set_layer(conversion, l, open));
    }
    return add_buckets(conversion);
}

yk_status yk_plan_transfer_order_create_problem(struct yk_search_context *context,
                                                const struct yk_plan *plan, bool open,
                                                struct yk_arena *arena,
                                                struct yk_transfer_order_problem **out)
{
    struct conversion conversion = {.context = context, .plan = plan, .arena = arena};
    struct yk_plan plain = *plan;
    struct yk_program *program = NULL;
    plain.transfer_count = 0;
    plain.prefetch = 1;
    YK_TRY(yk_program_compile_with_deadline(&plain, context->cluster, context->measurements,
                                            context->cache, NULL, &program));
    conversion.program = program;
    const yk_status status = build_problem(&conversion, open);
    yk_program_destroy(program);
    *out = conversion.problem;
    return status;
}

static yk_status apply_order(const struct yk_transfer_order_problem *problem,
                             const struct yk_transfer_order *order, struct yk_arena *arena,
                             struct yk_plan *plan)
{
    YK_TRY(yk_transfer_order_to_plan_transfers(problem, order, arena, &plan->transfers,
                                               &plan->transfer_count));
    for (int32_t l = 0; l < plan->layer_count; l++) {
        if (problem->layers[l].choice == YK_TRANSFER_ORDER_UNDECIDED) {
            plan->layers[l].strategy =
                order->kept[l] ? YK_SHARDING_KEPT_AFTER_FORWARD : YK_SHARDING_FULLY_SHARDED;
        }
    }
    return YK_OK;
}

static yk_status solve(const struct yk_search_context *context,
                       const struct yk_plan_transfer_order_options *options,
                       const struct yk_transfer_order_problem *problem, struct yk_arena *arena,
                       struct yk_transfer_order **out)
{
    const struct yk_transfer_order_milp_options limits = {
        .budget_s = options->budget_s,
        .stop = context->request->search.stop,
    };
    return options->method == YK_TRANSFER_ORDER_METHOD_MILP
               ? yk_transfer_order_solve_milp(problem, &limits, arena, out)
               : yk_transfer_order_solve_greedy(problem, arena, out);
}

/*
 * Slots do not model streams that run ahead of each other. If the program of an order needs more
 * memory than there is, the order is computed again with that much less room.
 */
yk_status yk_plan_transfer_order_optimize(struct yk_search_context *context,
                                          const struct yk_plan_transfer_order_options *options,
                                          struct yk_arena *arena, struct yk_plan *plan,
                                          bool *out_ordered)
{
    struct yk_transfer_order_problem *problem = NULL;
    *out_ordered = false;
    YK_TRY(yk_plan_transfer_order_create_problem(context, plan, options->open, arena, &problem));
    for (int32_t t = 0; options->max_bytes && t < yk_plan_slot_count(plan); t++) {
        problem->room_bytes[t] = fmin(problem->room_bytes[t], options->max_bytes[t]);
    }
    for (int32_t try = 0; try < TRIES && !*out_ordered; try++) {
        struct yk_transfer_order *order = NULL;
        struct yk_plan_evaluation evaluation;
        struct yk_plan ordered = *plan;
        YK_TRY_NEW(arena, ordered.layers, plan->layer_count);
        memcpy(ordered.layers, plan->layers, (size_t)plan->layer_count * sizeof *plan->layers);
        const yk_status status = solve(context, options, problem, arena, &order);
        if (status != YK_OK) {
            return status == YK_ERROR_NO_FIT ? YK_OK : status;
        }
        YK_TRY(apply_order(problem, order, arena, &ordered));
        YK_TRY(
            yk_plan_evaluation_run(context, &ordered, YK_PLAN_EVALUATION_MEMORY_ONLY, &evaluation));
        *out_ordered = evaluation.fits;
        if (evaluation.refused) {
            yk_plan_evaluation_free(&evaluation);
            return YK_OK;
        }
        for (int32_t t = 0; t < yk_plan_slot_count(plan); t++) {
            problem->room_bytes[t] -= evaluation.missing_bytes;
        }
        yk_plan_evaluation_free(&evaluation);
        if (*out_ordered) {
            *plan = ordered;
        }
    }
    return YK_OK;
}
