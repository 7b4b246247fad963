#include "train/executor/buffers.h"

#include "base/number.h"
#include "nn/bump_allocator.h"
#include "nn/store/layer_partition.h"

#include <inttypes.h>

struct assignment {
    int64_t spare_samples;
    const struct yk_program *program;
    const struct yk_op_index *index;
    const struct yk_net *net;
    struct yk_buffer_lifetimes lifetimes;
    struct yk_buffer_part_list offsets;
    struct yk_executor_buffers *out;
};

/* ---- sizes ---- */

static int64_t sequence_of(const struct yk_net *net, int32_t layer)
{
    const struct yk_workload *workload = &net->workload;
    return net->layers[layer].decodes && workload->target_sequence > 0 ? workload->target_sequence
                                                                       : workload->sequence;
}

/* SIZE_MAX on integer overflow: yk_buffer_offsets_assign() then fails. */
static size_t output_bytes(const struct assignment *assignment,
                           const struct yk_buffer_lifetime *lifetime)
{
    const struct yk_net *net = assignment->net;
    const int64_t samples = lifetime->samples + assignment->spare_samples;
    int64_t bytes = yk_precision_bytes(net->workload.precision);
    const bool overflows =
        __builtin_mul_overflow(bytes, samples, &bytes) ||
        __builtin_mul_overflow(bytes,
                               yk_net_layer_output_rows(&net->layers[lifetime->layer],
                                                        sequence_of(net, lifetime->layer)),
                               &bytes) ||
        __builtin_mul_overflow(bytes, net->config->width, &bytes);
    return overflows ? SIZE_MAX : (size_t)bytes;
}

static struct yk_layer_memory_sizes pass_sizes(const struct assignment *assignment,
                                               const struct yk_buffer_lifetime *lifetime)
{
    const struct yk_net *net = assignment->net;
    const int32_t layer = lifetime->layer;
    const struct yk_batch_shape batch = {
        .samples = lifetime->samples + assignment->spare_samples,
        .sequence = yk_net_layer_input_rows(&net->layers[layer], sequence_of(net, layer)),
        .memory = net->layers[layer].memory >= 0 ? net->workload.sequence : 0,
    };
    struct yk_layer_memory_sizes sizes;
    net->layers[layer].kind->measure(net, layer, &batch, &sizes);
    return sizes;
}

static size_t bucket_bytes(const struct assignment *assignment,
                           const struct yk_buffer_lifetime *lifetime)
{
    const int32_t number = assignment->index->list->ops[lifetime->op].bucket;
    const struct yk_gradient_bucket *bucket = &assignment->program->buckets[number];
    struct yk_bump_allocator allocator = {0};
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        (void)yk_bump_allocate(
            &allocator, (int64_t)yk_net_layer_trained_bytes(assignment->net, bucket->layers[i]), 1);
    }
    return allocator.used;
}

/* Adds the op's blocks of an array of `count` elements of `width` bytes, which starts `at` bytes
 * into the buffer. */
static void add_blocks(struct assignment *assignment, const struct yk_buffer_lifetime *lifetime,
                       size_t at, int64_t count, size_t width)
{
    const struct yk_op *op = &assignment->index->list->ops[lifetime->op];
    const int32_t all = assignment->program->layers[op->layer].block_count;
    const int32_t blocks = all > 1 ? all : 1;
    const int64_t first = yk_layer_partition_block_start(count, blocks, op->first_block);
    const int64_t end =
        yk_layer_partition_block_start(count, blocks, op->first_block + op->block_count);
    yk_buffer_offsets_add_part(&assignment->offsets, lifetime, at + (size_t)first * width,
                               (size_t)(end - first) * width);
}

/* Trained parameters come first, frozen ones after them. Each block has a part of both. */
static void add_weights(struct assignment *assignment, const struct yk_buffer_lifetime *lifetime)
{
    const struct yk_op *op = &assignment->index->list->ops[lifetime->op];
    const struct yk_net_layer *layer = &assignment->net->layers[op->layer];
    const size_t trained = yk_net_layer_trained_bytes(assignment->net, op->layer);
    if (op->block_count >= assignment->program->layers[op->layer].block_count) {
        yk_buffer_offsets_add_part(&assignment->offsets, lifetime, 0, layer->weight_bytes);
        return;
    }
    add_blocks(assignment, lifetime, 0, layer->trained,
               (size_t)yk_precision_bytes(assignment->net->workload.precision));
    add_blocks(assignment, lifetime, trained, (int64_t)(layer->weight_bytes - trained), 1);
}

static size_t whole_bytes(const struct assignment *assignment,
                          const struct yk_buffer_lifetime *lifetime)
{
    switch (lifetime->kind) {
    case YK_BUFFER_OUTPUT:
    case YK_BUFFER_OUTPUT_GRADIENT:
    case YK_BUFFER_INPUT:
    case YK_BUFFER_INPUT_GRADIENT:
    case YK_BUFFER_PARTIAL_OUTPUT_GRADIENT:
        return output_bytes(assignment, lifetime);
    case YK_BUFFER_SAVED_ACTIVATIONS:
    case YK_BUFFER_RECOMPUTED_ACTIVATIONS:
        return pass_sizes(assignment, lifetime).saved_bytes;
    case YK_BUFFER_FORWARD_WORKSPACE:
    case YK_BUFFER_RECOMPUTE_WORKSPACE:
        return pass_sizes(assignment, lifetime).forward_bytes;
    case YK_BUFFER_BACKWARD_WORKSPACE:
        return pass_sizes(assignment, lifetime).backward_bytes;
    default:
        return bucket_bytes(assignment, lifetime);
    }
}

static void add_lifetime(struct assignment *assignment, const struct yk_buffer_lifetime *lifetime)
{
    if (lifetime->kind == YK_BUFFER_GATHERED_WEIGHTS) {
        add_weights(assignment, lifetime);
    } else if (lifetime->kind == YK_BUFFER_WEIGHT_GRADIENT) {
        add_blocks(assignment, lifetime, 0, assignment->net->layers[lifetime->layer].trained,
                   (size_t)yk_precision_bytes(assignment->net->workload.precision));
    } else {
        yk_buffer_offsets_add_part(&assignment->offsets, lifetime, 0,
                                   whole_bytes(assignment, lifetime));
    }
}

/* ---- offsets of passes and crossings ---- */

static void record_pass(const struct assignment *assignment,
                        const struct yk_buffer_lifetime *lifetime, size_t offset)
{
    struct yk_layer_buffer_offsets *pass =
        &assignment->out->passes[yk_op_index_layer_micro_batch_cell(
            assignment->index, lifetime->layer, lifetime->micro_batch)];
    size_t *const members[YK_BUFFER_KIND_COUNT] = {
        [YK_BUFFER_OUTPUT] = &pass->output,
        [YK_BUFFER_OUTPUT_GRADIENT] = &pass->output_gradient,
        [YK_BUFFER_SAVED_ACTIVATIONS] = &pass->forward_saved,
        [YK_BUFFER_RECOMPUTED_ACTIVATIONS] = &pass->saved,
        [YK_BUFFER_FORWARD_WORKSPACE] = &pass->forward_work,
        [YK_BUFFER_RECOMPUTE_WORKSPACE] = &pass->recompute_work,
        [YK_BUFFER_BACKWARD_WORKSPACE] = &pass->backward_work,
    };
    if (members[lifetime->kind]) {
        *members[lifetime->kind] = offset;
    }
    if (lifetime->kind ==
        YK_BUFFER_SAVED_ACTIVATIONS) { /* backward reads it there, unless it is recomputed */
        pass->saved = offset;
    }
}

static void record_crossing(const struct assignment *assignment,
                            const struct yk_buffer_lifetime *lifetime, size_t offset)
{
    struct yk_crossing_buffer_offsets *crossing =
        &assignment->out->crossings[(int64_t)lifetime->crossing * assignment->index->facts->M +
                                    lifetime->micro_batch];
    if (lifetime->kind == YK_BUFFER_INPUT) {
        crossing->input = offset;
    } else if (lifetime->kind == YK_BUFFER_INPUT_GRADIENT) {
        crossing->input_gradient = offset;
    } else {
        crossing->returned = offset;
    }
}

/* Finds crossings whose returned gradient is the output's gradient itself. */
static void find_direct(const struct assignment *assignment)
{
    const struct yk_program_facts *facts = assignment->index->facts;
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        const int32_t producer = facts->crossings[c].producer;
        for (int32_t m = 0; m < facts->M && yk_op_index_rank_has_layer(assignment->index, producer);
             m++) {
            struct yk_crossing_buffer_offsets *crossing =
                &assignment->out->crossings[(int64_t)c * facts->M + m];
            if (yk_buffer_lifetimes_receives_gradient_in_place(assignment->index, producer, m)) {
                crossing->direct = true;
                crossing->returned =
                    assignment->out
                        ->passes[yk_op_index_layer_micro_batch_cell(assignment->index, producer, m)]
                        .output_gradient;
            }
        }
    }
}

/* ---- weights and gradients of ops ---- */

/* A pass reads gathered weights from the buffer whose lifetime the next release ends. After the
 * last release of a round, this is the first release of the next round. */
static yk_status record_weights(const struct assignment *assignment, struct yk_arena *arena)
{
    const struct yk_op_list *list = assignment->index->list;
    struct yk_op_parameter_buffers *ops = assignment->out->ops;
    int32_t *released = NULL; /* (ops) the buffer that a release ends */
    int32_t *next = NULL;     /* (L) the buffer that the next release ends */
    YK_TRY_NEW(arena, released, list->op_count + 1);
    YK_TRY_NEW(arena, next, assignment->index->facts->L);
    yk_number_fill_int32_array(released, list->op_count, YK_BUFFER_NONE);
    yk_number_fill_int32_array(next, assignment->index->facts->L, YK_BUFFER_NONE);
    for (int32_t i = 0; i < assignment->lifetimes.count; i++) {
        const struct yk_buffer_lifetime *lifetime = &assignment->lifetimes.items[i];
        if (lifetime->kind == YK_BUFFER_GATHERED_WEIGHTS) {
            ops[lifetime->op].weights = lifetime->buffer;
            released[lifetime->end[YK_LANE_COMPUTE]] = lifetime->buffer;
        }
    }
    for (int round = 0; round < 2; round++) {
        for (int32_t i = list->op_count; i-- > 0;) {
            const struct yk_op *op = &list->ops[i];
            if (op->kind == YK_OP_RELEASE) {
                next[op->layer] = released[i];
            } else if (yk_op_kind_is_pass(op->kind)) {
                const int32_t leader = assignment->program->layers[op->layer].weights_owner;
                ops[i].weights = next[op->layer];
                ops[i].leader_weights = leader != op->layer ? next[leader] : YK_BUFFER_NONE;
            }
        }
    }
    return YK_OK;
}

/* Every backward pass that adds to the gradient of `layer` adds at byte `at` of the buffer. */
static void record_gradient(const struct assignment *assignment, int32_t layer, int32_t micro_batch,
                            int32_t buffer, size_t at)
{
    const struct yk_op_index *index = assignment->index;
    for (int32_t u = layer; u >= 0; u = yk_program_facts_next_weight_user(index->facts, layer, u)) {
        const int32_t back =
            index->backward[yk_op_index_layer_micro_batch_cell(index, u, micro_batch)];
        if (back >= 0) {
            struct yk_op_parameter_buffers *op = &assignment->out->ops[back];
            *(u == layer ? &op->gradient : &op->leader_gradient) = buffer;
            *(u == layer ? &op->gradient_at : &op->leader_gradient_at) = at;
        }
    }
}

static void record_scatter(const struct assignment *assignment,
                           const struct yk_buffer_lifetime *lifetime)
{
    const struct yk_program_facts *facts = assignment->index->facts;
    const bool all = yk_program_facts_accumulates_gradient(facts, lifetime->layer);
    assignment->out->ops[lifetime->op].gradient = lifetime->buffer;
    for (int32_t m = all ? 0 : lifetime->micro_batch; m <= lifetime->micro_batch; m++) {
        record_gradient(assignment, lifetime->layer, m, lifetime->buffer, 0);
    }
}

/* Whether an earlier all-reduce of the same step has already written sums: see is_added() of
 * collectives. */
static bool adds(const struct yk_op_index *index, int32_t bucket, int32_t number)
{
    const struct yk_op *op = &index->list->ops[number];
    for (int32_t i = index->first[YK_OP_ALL_REDUCE][bucket]; i != YK_OP_NONE; i = index->next[i]) {
        const struct yk_op *other = &index->list->ops[i];
        if (other->step > op->step || (other->step == op->step && i < number)) {
            return true;
        }
    }
    return false;
}

/* The gradients of a bucket's layers in one micro-batch are contiguous, as in the store. */
static void record_bucket(const struct assignment *assignment,
                          const struct yk_buffer_lifetime *lifetime)
{
    struct yk_op_parameter_buffers *op = &assignment->out->ops[lifetime->op];
    const int32_t number = assignment->index->list->ops[lifetime->op].bucket;
    const struct yk_gradient_bucket *bucket = &assignment->program->buckets[number];
    struct yk_bump_allocator allocator = {0};
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        const int32_t layer = bucket->layers[i];
        const size_t bytes = yk_net_layer_trained_bytes(assignment->net, layer);
        record_gradient(assignment, layer, lifetime->micro_batch, lifetime->buffer, allocator.used);
        op->reduced_bytes = allocator.used + bytes;
        (void)yk_bump_allocate(&allocator, (int64_t)bytes, 1);
    }
    op->gradient = lifetime->buffer;
    op->adds = adds(assignment->index, number, lifetime->op);
}

/* The first backward pass that uses a layer's weights clears the layer's gradient: once a step, or
 * once a micro-batch where each micro-batch is reduced separately. */
static void find_clear(const struct assignment *assignment, int32_t layer, int32_t first,
                       int32_t last)
{
    const struct yk_op_index *index = assignment->index;
    const int32_t op = yk_op_index_find_first_backward_op(index, layer, first, last);
    if (op != YK_OP_NONE) {
        struct yk_op_parameter_buffers *buffers = &assignment->out->ops[op];
        const bool leader = index->list->ops[op].layer != layer;
        *(leader ? &buffers->clears_leader : &buffers->clears_gradient) = true;
    }
}

static void find_clears(const struct assignment *assignment)
{
    const struct yk_program_facts *facts = assignment->index->facts;
    for (int32_t l = 0; l < facts->L; l++) {
        if (!yk_op_index_rank_has_layer(assignment->index, l) ||
            assignment->net->layers[l].trained == 0) {
            continue;
        }
        const bool all = yk_program_facts_accumulates_gradient(facts, l);
        for (int32_t m = 0; m < (all ? 1 : facts->M); m++) {
            find_clear(assignment, l, m, all ? facts->M - 1 : m);
        }
    }
}

/* ---- assignment ---- */

static yk_status set_up(struct assignment *assignment, struct yk_arena *arena)
{
    const struct yk_program_facts *facts = assignment->index->facts;
    struct yk_executor_buffers *out = assignment->out;
    const int32_t ops = assignment->index->list->op_count;
    YK_TRY_NEW(arena, out->passes, (int64_t)facts->L * facts->M);
    YK_TRY_NEW(arena, out->crossings, (int64_t)facts->crossing_count * facts->M + 1);
    YK_TRY_NEW(arena, out->ops, ops + 1);
    for (int32_t i = 0; i < ops; i++) {
        out->ops[i] = (struct yk_op_parameter_buffers){.weights = YK_BUFFER_NONE,
                                                       .leader_weights = YK_BUFFER_NONE,
                                                       .gradient = YK_BUFFER_NONE,
                                                       .leader_gradient = YK_BUFFER_NONE};
    }
    YK_TRY(yk_buffer_lifetimes_find(assignment->index, arena, &assignment->lifetimes));
    YK_TRY_NEW(arena, out->offsets, assignment->lifetimes.buffer_count + 1);
    return YK_OK;
}

static void record_all(const struct assignment *assignment)
{
    for (int32_t i = 0; i < assignment->lifetimes.count; i++) {
        const struct yk_buffer_lifetime *lifetime = &assignment->lifetimes.items[i];
        const size_t offset = assignment->out->offsets[lifetime->buffer];
        if (lifetime->kind == YK_BUFFER_WEIGHT_GRADIENT) {
            record_scatter(assignment, lifetime);
        } else if (lifetime->kind == YK_BUFFER_GRADIENT_BUCKET) {
            record_bucket(assignment, lifetime);
        } else if (lifetime->crossing >= 0) {
            record_crossing(assignment, lifetime, offset);
        } else {
            record_pass(assignment, lifetime, offset);
        }
    }
    find_direct(assignment);
    find_clears(assignment);
}

static yk_status assign(struct assignment *assignment, struct yk_arena *arena)
{
    struct yk_executor_buffers *out = assignment->out;
    YK_TRY(set_up(assignment, arena));
    for (int32_t i = 0; i < assignment->lifetimes.count; i++) {
        add_lifetime(assignment, &assignment->lifetimes.items[i]);
    }
    YK_TRY(yk_buffer_offsets_assign(&assignment->offsets, assignment->index, out->offsets,
                                    &out->bytes));
    YK_TRY(yk_buffer_offsets_find_reuse_waits(&assignment->offsets, assignment->index, arena,
                                              &out->waits, &out->wait_count));
    YK_TRY(record_weights(assignment, arena));
    record_all(assignment);
    return YK_OK;
}

yk_status yk_executor_buffers_assign_offsets(const struct yk_op_index *index,
                                             const struct yk_net *net, int64_t spare_samples,
                                             struct yk_arena *arena,
                                             struct yk_executor_buffers *out)
{
    struct assignment assignment = {
        .spare_samples = spare_samples,
        .program = index->facts->program,
        .index = index,
        .net = net,
        .out = out,
    };
    *out = (struct yk_executor_buffers){0};
    /* The model has checked that sizes of a pass over the whole batch do not overflow by a wide
     * margin, so twice as many samples need no further check. */
    if (spare_samples < 0 || spare_samples > net->workload.batch) {
        return yk_fail(YK_ERROR_INPUT,
                       "room for %" PRId64 " samples besides a batch of %" PRId64
                       " is more than can be counted",
                       spare_samples, net->workload.batch);
    }
    const yk_status status = assign(&assignment, arena);
    yk_buffer_offsets_free_parts(&assignment.offsets);
    return status;
}
