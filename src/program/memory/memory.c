#include "program/memory/memory.h"

#include "base/number.h"
#include "cost/device_measurements.h"
#include "program/memory/memory_sweep.h"

#include <math.h>

enum {
    TOKEN_BYTES = 8,
    SAVING_BYTES = 4 << 20, /* numbers go to a file in chunks of at most this size */
};

/* The state of a layer that the rank holds; see the table in docs/planning.md. */
static void count_state(const struct yk_program *program, int32_t layer, double part,
                        double *always)
{
    const struct yk_program_layer_messages *message = &program->layers[layer];
    const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(program->plan, layer);
    const double weights =
        strategy == YK_SHARDING_REPLICATED || strategy == YK_SHARDING_SHARDED_STATE ? 1 : part;
    const double state = strategy == YK_SHARDING_REPLICATED ? 1 : part;
    always[YK_MEMORY_PARAMETERS] += weights * message->weight_bytes;
    always[YK_MEMORY_GRADIENTS] += state * message->gradient_bytes;
    always[YK_MEMORY_OPTIMIZER] += state * message->optimizer_bytes;
}

int64_t yk_program_memory_image_bytes(const struct yk_plan *plan,
                                      const struct yk_model_config *config, int32_t rank)
{
    const struct yk_plan_group *group = &plan->groups[plan->layers[0].group];
    bool embeds = false;
    for (int32_t i = 0; i < group->member_count; i++) {
        embeds = embeds || group->members[i].rank == rank;
    }
    return embeds ? yk_model_config_image_bytes(config) : 0;
}

/* The images of all steps that are on the device at once. */
static double count_images(const struct yk_program *program, int32_t rank)
{
    const struct yk_plan *plan = program->plan;
    const struct yk_model_config *config = yk_model_cache_get_whole_batch(program->cache)->config;
    const struct yk_plan_group *group = &plan->groups[plan->layers[0].group];
    int64_t samples = 0;
    for (int32_t i = 0; i < group->member_count; i++) {
        samples += group->members[i].rank == rank ? group->members[i].share : 0;
    }
    return (double)samples * (double)yk_program_memory_image_bytes(plan, config, rank) *
           YK_PROGRAM_MEMORY_STEP_SLOTS;
}

/*
 * Communication buffers: two blocks, and two micro-batches of tokens and labels. A measured context
 * already includes the blocks. A context is measured only if the device uses host memory; then
 * checkpoints are saved through a buffer in it.
 */
static double count_buffer_space(const struct yk_program *program, int32_t device,
                                 double largest_message, double largest_layer, int64_t max_samples)
{
    const struct yk_plan *plan = program->plan;
    const struct yk_workload *workload = &plan->workload;
    const int64_t target =
        workload->target_sequence > 0 ? workload->target_sequence : workload->sequence;
    const double tokens = (double)max_samples * (double)(workload->sequence + target);
    const bool measured =
        yk_device_measurements_of_device(program->measurements, device).context_bytes > 0;
    const double space =
        measured ? fmin(SAVING_BYTES, largest_layer) : 2 * fmin(plan->block_bytes, largest_message);
    return space + 2 * TOKEN_BYTES * tokens;
}

static void count_always(const struct yk_program *program, int32_t rank, double *always)
{
    const struct yk_plan *plan = program->plan;
    double largest_message = 0;
    double largest_layer = 0;
    int64_t max_samples = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group *group = &plan->groups[g];
        for (int32_t i = 0; i < group->member_count; i++) {
            if (group->members[i].rank != rank) {
                continue;
            }
            for (int32_t m = 0; m < plan->micro_batches; m++) {
                int64_t first = 0;
                const int64_t samples = yk_plan_member_sample_range(plan, g, i, m, &first);
                max_samples = samples > max_samples ? samples : max_samples;
            }
            for (int32_t l = 0; l < plan->layer_count; l++) {
                if (plan->layers[l].group == g) {
                    count_state(program, l, group->members[i].shard_fraction, always);
                    largest_layer = fmax(largest_layer, program->layers[l].weight_bytes);
                    largest_message = group->member_count > 1
                                          ? fmax(largest_message, program->layers[l].weight_bytes)
                                          : largest_message;
                }
            }
        }
    }
    const int32_t device = plan->ranks[rank].device;
    always[YK_MEMORY_BUFFERS] +=
        count_buffer_space(program, device, largest_message, largest_layer, max_samples) +
        count_images(program, rank);
    always[YK_MEMORY_CONTEXT] =
        yk_device_measurements_context_bytes(program->measurements, program->cluster, device);
}

/* ---- buffers ---- */

/* The saved bytes of a layer without its inputs, which have buffers of their own. */
static double saved_bytes(const struct yk_program_facts *facts, const struct yk_model *model,
                          int32_t layer)
{
    double bytes = (double)model->layers[layer].saved_bytes;
    for (int32_t e = facts->first_edge_to[layer];
         e < facts->first_edge_to[layer + 1] && model->layers[layer].keeps_input; e++) {
        bytes -= (double)model->edges[e].bytes;
    }
    return fmax(bytes, 0);
}

static yk_status count_bytes(const struct yk_op_index *index, struct yk_buffer_lifetime *lifetime)
{
    const struct yk_program_facts *facts = index->facts;
    const struct yk_model *model = facts->model;
    if (lifetime->samples > 0) {
        YK_TRY(yk_model_cache_get(facts->program->cache, lifetime->samples, false, &model));
    }
    switch (lifetime->kind) {
    case YK_BUFFER_OUTPUT:
    case YK_BUFFER_OUTPUT_GRADIENT:
    case YK_BUFFER_INPUT:
    case YK_BUFFER_INPUT_GRADIENT:
    case YK_BUFFER_PARTIAL_OUTPUT_GRADIENT:
        lifetime->bytes = yk_program_facts_layer_output_bytes(facts, model, lifetime->layer);
        break;
    case YK_BUFFER_SAVED_ACTIVATIONS:
    case YK_BUFFER_RECOMPUTED_ACTIVATIONS:
        lifetime->bytes = saved_bytes(facts, model, lifetime->layer);
        break;
    case YK_BUFFER_FORWARD_WORKSPACE:
    case YK_BUFFER_RECOMPUTE_WORKSPACE:
    case YK_BUFFER_BACKWARD_WORKSPACE:
        lifetime->bytes = (double)model->layers[lifetime->layer].workspace_bytes;
        break;
    default:
        lifetime->bytes = index->list->ops[lifetime->op].bytes;
        break;
    }
    return YK_OK;
}

static yk_status count_buffers(const struct yk_program *program, int32_t rank,
                               struct yk_arena *scratch, struct yk_arena *arena,
                               struct yk_program_memory *memory)
{
    struct yk_program_facts *facts = NULL;
    struct yk_op_index *index = NULL;
    struct yk_buffer_lifetimes lifetimes;
    YK_TRY(yk_program_facts_make(program, scratch, &facts));
    YK_TRY(yk_op_index_make_lookup_only(facts, rank, scratch, &index));
    YK_TRY(yk_buffer_lifetimes_find(index, arena, &lifetimes));
    for (int32_t i = 0; i < lifetimes.count; i++) {
        YK_TRY(count_bytes(index, &lifetimes.items[i]));
    }
    memory->lifetimes = lifetimes.items;
    memory->lifetime_count = lifetimes.count;
    return YK_OK;
}

yk_status yk_program_memory_count_for_rank(const struct yk_program *program, int32_t rank,
                                           struct yk_arena *arena, struct yk_program_memory **out)
{
    struct yk_program_memory *memory = NULL;
    YK_TRY_NEW(arena, memory, 1);
    count_always(program, rank, memory->permanent_bytes);
    YK_TRY_WITH_TEMPORARY_ARENA(scratch, count_buffers(program, rank, scratch, arena, memory));
    *out = memory;
    return YK_OK;
}

yk_status yk_program_memory_find_peak(const struct yk_program *program, int32_t rank,
                                      const struct yk_program_memory *memory,
                                      struct yk_memory_peak *out)
{
    struct yk_memory_sweep *sweep = NULL;
    struct yk_memory_peak peak = {.bytes = -1, .compute_op = -1, .comm_op = -1};
    int32_t compute_point = 0;
    int32_t comm_point = 0;
    YK_TRY(yk_memory_sweep_create(&program->ranks[rank], memory, &sweep));
    /* Includes the end point: a rank without compute ops still holds its state. */
    for (int32_t point = yk_memory_sweep_middle_begin_compute_point(sweep);
         point <= yk_memory_sweep_middle_end_compute_point(sweep); point++) {
        int32_t first = 0;
        int32_t last = 0;
        yk_memory_sweep_advance_compute(sweep, point);
        yk_memory_sweep_possible_comm_range(sweep, &first, &last);
        const double bytes = yk_memory_sweep_max_bytes_in_comm_range(sweep, first, last);
        if (bytes > peak.bytes) {
            peak.bytes = bytes;
            compute_point = point;
            comm_point = yk_memory_sweep_comm_point_of_max_bytes(sweep, first, last);
        }
    }
    int32_t round = 0;
    peak.compute_op = yk_memory_sweep_op_at_point(sweep, YK_LANE_COMPUTE, compute_point, &round);
    peak.comm_op = yk_memory_sweep_op_at_point(sweep, YK_LANE_COMM, comm_point, &round);
    for (int32_t kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        peak.by_kind[kind] = yk_memory_sweep_bytes_of_kind(sweep, (enum yk_memory_kind)kind,
                                                           compute_point, comm_point);
    }
    yk_memory_sweep_destroy(sweep);
    *out = peak;
    return YK_OK;
}
