#include "program/memory/buffer_lifetimes.h"

#include "program/message_layout.h"

enum {
    BUFFERS_OF_PASS = 7,     /* at most, of one layer and micro-batch */
    BUFFERS_OF_CROSSING = 3, /* likewise */
};

struct finding {
    const struct yk_op_index *index;
    const struct yk_program_facts *facts;
    const struct yk_op_list *list;
    struct yk_arena *arena; /* scratch */
    struct yk_buffer_lifetimes *out;
    /* (M) messages of the current layer: [0] of its output, [1] of its gradient */
    int32_t *first_recv[2];
    int32_t *last_send[2];
};

struct yk_buffer_lifetime yk_buffer_lifetime_make_empty(void)
{
    return (struct yk_buffer_lifetime){
        .crossing = -1,
        .op = YK_OP_NONE,
        .begin = {YK_OP_NONE, YK_OP_NONE},
        .end = {YK_OP_NONE, YK_OP_NONE},
    };
}

void yk_buffer_lifetime_add_begin_op(struct yk_buffer_lifetime *lifetime,
                                     const struct yk_op_list *list, int32_t op)
{
    if (op != YK_OP_NONE) {
        int32_t *begin = &lifetime->begin[list->ops[op].lane];
        *begin = *begin == YK_OP_NONE || op < *begin ? op : *begin;
    }
}

void yk_buffer_lifetime_add_end_op(struct yk_buffer_lifetime *lifetime,
                                   const struct yk_op_list *list, int32_t op)
{
    if (op != YK_OP_NONE) {
        int32_t *end = &lifetime->end[list->ops[op].lane];
        *end = op > *end ? op : *end;
    }
}

static int64_t cell(const struct finding *finding, int32_t layer, int32_t micro_batch)
{
    return yk_op_index_layer_micro_batch_cell(finding->index, layer, micro_batch);
}

static void begin(const struct finding *finding, struct yk_buffer_lifetime *lifetime, int32_t op)
{
    yk_buffer_lifetime_add_begin_op(lifetime, finding->list, op);
}

static void end(const struct finding *finding, struct yk_buffer_lifetime *lifetime, int32_t op)
{
    yk_buffer_lifetime_add_end_op(lifetime, finding->list, op);
}

static bool is_any(const int32_t *ops)
{
    return ops[YK_LANE_COMPUTE] != YK_OP_NONE || ops[YK_LANE_COMM] != YK_OP_NONE;
}

/* Adds a part of a buffer, unless it never begins or ends. */
static void add_part(struct finding *finding, const struct yk_buffer_lifetime *lifetime)
{
    if (is_any(lifetime->begin) && is_any(lifetime->end)) {
        finding->out->items[finding->out->count++] = *lifetime;
    }
}

static void add(struct finding *finding, struct yk_buffer_lifetime lifetime)
{
    lifetime.buffer = finding->out->buffer_count;
    add_part(finding, &lifetime);
    finding->out->buffer_count += is_any(lifetime.begin) && is_any(lifetime.end) ? 1 : 0;
}

static struct yk_buffer_lifetime new_activation(enum yk_buffer_kind kind, int32_t layer,
                                                int32_t micro_batch, int64_t samples)
{
    struct yk_buffer_lifetime lifetime = yk_buffer_lifetime_make_empty();
    lifetime.kind = kind;
    lifetime.memory = YK_MEMORY_ACTIVATIONS;
    lifetime.layer = layer;
    lifetime.micro_batch = micro_batch;
    lifetime.samples = samples;
    return lifetime;
}

/* ---- messages between groups ---- */

static void find_messages(struct finding *finding, int32_t layer)
{
    const struct yk_op_index *index = finding->index;
    for (int32_t m = 0; m < finding->facts->M; m++) {
        for (int backward = 0; backward < 2; backward++) {
            finding->first_recv[backward][m] = YK_OP_NONE;
            finding->last_send[backward][m] = YK_OP_NONE;
        }
    }
    for (int32_t i = index->first[YK_OP_SEND][layer]; i != YK_OP_NONE; i = index->next[i]) {
        const struct yk_op *op = &finding->list->ops[i];
        finding->last_send[op->backward ? 1 : 0][op->micro_batch] = i;
    }
    for (int32_t i = index->first[YK_OP_RECV][layer]; i != YK_OP_NONE; i = index->next[i]) {
        const struct yk_op *op = &finding->list->ops[i];
        int32_t *first = &finding->first_recv[op->backward ? 1 : 0][op->micro_batch];
        *first = *first == YK_OP_NONE ? i : *first;
    }
}

/* The samples of a micro-batch that the rank processes in a group. */
static int64_t samples_in(const struct yk_op_index *index, int32_t group, int32_t micro_batch)
{
    int64_t first = 0;
    const int32_t member = index->members[group];
    return member >= 0
               ? yk_plan_member_sample_range(index->facts->plan, group, member, micro_batch, &first)
               : 0;
}

bool yk_buffer_lifetimes_receives_gradient_in_place(const struct yk_op_index *index,
                                                    int32_t producer, int32_t micro_batch)
{
    const struct yk_program_facts *facts = index->facts;
    int32_t groups = 0;
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        if (facts->crossings[c].producer == producer) {
            groups++;
            if (samples_in(index, facts->crossings[c].group, micro_batch) > 0) {
                return false;
            }
        }
    }
    struct yk_consumer_cursor own = {.producer = producer,
                                     .group = facts->plan->layers[producer].group};
    return groups == 1 && !yk_program_facts_next_consumer(facts, &own);
}

/* ---- consumers of an output ---- */

/* Extends an output to the last pass of its consumers that reads it. */
static void end_with_consumers(const struct finding *finding, struct yk_consumer_cursor consumers,
                               int32_t micro_batch, struct yk_buffer_lifetime *output)
{
    const struct yk_op_index *index = finding->index;
    while (yk_program_facts_next_consumer(finding->facts, &consumers)) {
        const struct yk_layer *layer = &finding->facts->model->layers[consumers.layer];
        const int64_t at = cell(finding, consumers.layer, micro_batch);
        end(finding, output, index->forward[at]);
        if (layer->role == YK_LAYER_ROLE_BLOCK) {
            end(finding, output, index->recompute[at]);
        }
        if (layer->keeps_input) {
            end(finding, output, index->backward[at]);
        }
    }
}

/* Extends a gradient from the first to the last backward pass of the consumers. */
static void live_with_consumers(const struct finding *finding, struct yk_consumer_cursor consumers,
                                int32_t micro_batch, struct yk_buffer_lifetime *gradient)
{
    while (yk_program_facts_next_consumer(finding->facts, &consumers)) {
        const int32_t backward =
            finding->index->backward[cell(finding, consumers.layer, micro_batch)];
        begin(finding, gradient, backward);
        end(finding, gradient, backward);
    }
}

/* The first forward pass of the consumers. It copies the output if another group of this rank
 * produced it. */
static int32_t first_consumer(const struct finding *finding, struct yk_consumer_cursor consumers,
                              int32_t micro_batch)
{
    int32_t first = YK_OP_NONE;
    while (yk_program_facts_next_consumer(finding->facts, &consumers)) {
        const int32_t forward =
            finding->index->forward[cell(finding, consumers.layer, micro_batch)];
        if (forward != YK_OP_NONE) {
            first = first == YK_OP_NONE || forward < first ? forward : first;
        }
    }
    return first;
}

/* ---- passes ---- */

static void add_output(struct finding *finding, int32_t layer, int32_t micro_batch, int64_t samples)
{
    const struct yk_program_facts *facts = finding->facts;
    struct yk_buffer_lifetime output =
        new_activation(YK_BUFFER_OUTPUT, layer, micro_batch, samples);
    const struct yk_consumer_cursor own = {.producer = layer,
                                           .group = facts->plan->layers[layer].group};
    begin(finding, &output, finding->index->forward[cell(finding, layer, micro_batch)]);
    end_with_consumers(finding, own, micro_batch, &output);
    output.memory = is_any(output.end) ? YK_MEMORY_ACTIVATIONS : YK_MEMORY_BUFFERS;
    end(finding, &output, finding->last_send[0][micro_batch]);
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        if (facts->crossings[c].producer == layer) {
            const struct yk_consumer_cursor others = {.producer = layer,
                                                      .group = facts->crossings[c].group};
            end(finding, &output, first_consumer(finding, others, micro_batch));
        }
    }
    add(finding, output);
}

/* The gradient that the backward pass of a layer reads. The backward passes of consumers add to it;
 * other groups send theirs. A layer without a backward pass receives it, too. */
static void add_output_gradient(struct finding *finding, int32_t layer, int32_t micro_batch,
                                int64_t samples)
{
    const struct yk_program_facts *facts = finding->facts;
    const int32_t backward = finding->index->backward[cell(finding, layer, micro_batch)];
    struct yk_buffer_lifetime gradient =
        new_activation(YK_BUFFER_OUTPUT_GRADIENT, layer, micro_batch, samples);
    if (facts->first_edge_from[layer] == facts->first_edge_from[layer + 1]) {
        return; /* the output has no consumer */
    }
    live_with_consumers(
        finding,
        (struct yk_consumer_cursor){.producer = layer, .group = facts->plan->layers[layer].group},
        micro_batch, &gradient);
    if (yk_buffer_lifetimes_receives_gradient_in_place(finding->index, layer, micro_batch)) {
        gradient.memory = YK_MEMORY_BUFFERS;
        begin(finding, &gradient, finding->first_recv[1][micro_batch]);
    } else {
        begin(finding, &gradient, backward);
    }
    end(finding, &gradient, backward);
    add(finding, gradient);
}

/* Adds a buffer that lives from one pass to another, or during one pass. */
static void add_between(struct finding *finding, struct yk_buffer_lifetime lifetime,
                        enum yk_buffer_kind kind, int32_t from, int32_t until)
{
    lifetime.kind = kind;
    begin(finding, &lifetime, from);
    end(finding, &lifetime, until);
    add(finding, lifetime);
}

static void add_pass(struct finding *finding, int32_t layer, int32_t micro_batch)
{
    const struct yk_op_index *index = finding->index;
    const int64_t at = cell(finding, layer, micro_batch);
    const int32_t forward = index->forward[at];
    const int32_t backward = index->backward[at];
    const int32_t recompute = finding->facts->model->layers[layer].role == YK_LAYER_ROLE_BLOCK
                                  ? index->recompute[at]
                                  : YK_OP_NONE;
    const int64_t samples = forward >= 0 ? finding->list->ops[forward].samples : 0;
    if (samples == 0) {
        return;
    }
    const struct yk_buffer_lifetime saved =
        new_activation(YK_BUFFER_SAVED_ACTIVATIONS, layer, micro_batch, samples);
    struct yk_buffer_lifetime work = saved;
    work.memory = YK_MEMORY_BUFFERS;
    add_output(finding, layer, micro_batch, samples);
    add_output_gradient(finding, layer, micro_batch, samples);
    add_between(finding, saved, YK_BUFFER_SAVED_ACTIVATIONS, forward,
                recompute >= 0 || backward < 0 ? forward : backward);
    add_between(finding, saved, YK_BUFFER_RECOMPUTED_ACTIVATIONS, recompute, backward);
    add_between(finding, work, YK_BUFFER_FORWARD_WORKSPACE, forward, forward);
    add_between(finding, work, YK_BUFFER_RECOMPUTE_WORKSPACE, recompute, recompute);
    add_between(finding, work, YK_BUFFER_BACKWARD_WORKSPACE, backward, backward);
}

/* ---- crossings ---- */

/* On the consumer's side of a crossing: the rows of the output, from the message or the copy on;
 * and their gradient, until it is sent or added on this rank. */
static void add_input(struct finding *finding, int32_t crossing, int32_t micro_batch)
{
    const struct yk_rank_group_crossing *at = &finding->facts->crossings[crossing];
    const struct yk_consumer_cursor consumers = {.producer = at->producer, .group = at->group};
    const int64_t samples = samples_in(finding->index, at->group, micro_batch);
    if (samples == 0) {
        return;
    }
    struct yk_buffer_lifetime input =
        new_activation(YK_BUFFER_INPUT, at->producer, micro_batch, samples);
    input.crossing = crossing;
    struct yk_buffer_lifetime gradient = input;
    begin(finding, &input, finding->first_recv[0][micro_batch]);
    begin(finding, &input, first_consumer(finding, consumers, micro_batch));
    end_with_consumers(finding, consumers, micro_batch, &input);
    gradient.kind = YK_BUFFER_INPUT_GRADIENT;
    gradient.memory = YK_MEMORY_BUFFERS;
    live_with_consumers(finding, consumers, micro_batch, &gradient);
    end(finding, &gradient, finding->last_send[1][micro_batch]);
    end(finding, &gradient, finding->index->backward[cell(finding, at->producer, micro_batch)]);
    add(finding, input);
    add(finding, gradient);
}

/* On the producer's side of a crossing: the gradient from one of several consumers. */
static void add_returned(struct finding *finding, int32_t crossing, int32_t micro_batch)
{
    const int32_t producer = finding->facts->crossings[crossing].producer;
    const int64_t at = cell(finding, producer, micro_batch);
    const int32_t forward = finding->index->forward[at];
    const int64_t samples = forward >= 0 ? finding->list->ops[forward].samples : 0;
    if (samples == 0 ||
        yk_buffer_lifetimes_receives_gradient_in_place(finding->index, producer, micro_batch)) {
        return;
    }
    struct yk_buffer_lifetime returned =
        new_activation(YK_BUFFER_PARTIAL_OUTPUT_GRADIENT, producer, micro_batch, samples);
    returned.memory = YK_MEMORY_BUFFERS;
    returned.crossing = crossing;
    begin(finding, &returned, finding->first_recv[1][micro_batch]);
    end(finding, &returned, finding->index->backward[at]);
    add(finding, returned);
}

/* ---- weights and their gradients ---- */

static struct yk_buffer_lifetime new_message(const struct finding *finding,
                                             enum yk_buffer_kind kind, enum yk_memory_kind memory,
                                             int32_t number)
{
    const struct yk_op *op = &finding->list->ops[number];
    struct yk_buffer_lifetime lifetime = yk_buffer_lifetime_make_empty();
    lifetime.kind = kind;
    lifetime.memory = memory;
    lifetime.layer = op->layer;
    lifetime.micro_batch = op->micro_batch;
    lifetime.op = number;
    return lifetime;
}

/* Gathered weights live until the next release, or, after the last release, until the first one of
 * the next iteration. All parts that end with the same release are one buffer. */
static void add_weights(struct finding *finding, int32_t layer)
{
    const struct yk_op_index *index = finding->index;
    const int32_t first = index->first[YK_OP_RELEASE][layer];
    const int32_t first_buffer = finding->out->buffer_count;
    int32_t release = first;
    int32_t buffer = first_buffer;
    if (first == YK_OP_NONE) {
        return;
    }
    for (int32_t i = index->first[YK_OP_ALL_GATHER][layer]; i != YK_OP_NONE; i = index->next[i]) {
        struct yk_buffer_lifetime weights =
            new_message(finding, YK_BUFFER_GATHERED_WEIGHTS, YK_MEMORY_GATHERED, i);
        for (; release != YK_OP_NONE && release < i; release = index->next[release]) {
            buffer++;
        }
        const bool wraps = release == YK_OP_NONE;
        weights.micro_batch = 0;
        weights.buffer = wraps ? first_buffer : buffer;
        weights.lag_iterations = wraps ? 1 : 0;
        begin(finding, &weights, i);
        end(finding, &weights, wraps ? first : release);
        add_part(finding, &weights);
    }
    for (; release != YK_OP_NONE; release = index->next[release]) {
        buffer++;
    }
    finding->out->buffer_count = buffer;
}

/* Gradients until they are reduce-scattered: one sum of all micro-batches, or one per micro-batch.
 */
static void add_gradients(struct finding *finding, int32_t layer)
{
    const struct yk_op_index *index = finding->index;
    const int32_t M = finding->facts->M;
    const bool summed = yk_program_facts_accumulates_gradient(finding->facts, layer);
    const int32_t first_of_all =
        summed ? yk_op_index_find_first_backward_op(index, layer, 0, M - 1) : YK_OP_NONE;
    for (int32_t i = index->first[YK_OP_REDUCE_SCATTER][layer]; i != YK_OP_NONE;
         i = index->next[i]) {
        struct yk_buffer_lifetime gradient =
            new_message(finding, YK_BUFFER_WEIGHT_GRADIENT, YK_MEMORY_GRADIENTS, i);
        const int32_t m = gradient.micro_batch;
        gradient.micro_batch = summed ? M - 1 : m;
        gradient.buffer = finding->out->buffer_count + (summed ? 0 : m);
        gradient.lag_iterations = finding->list->ops[i].step < 0 ? 1 : 0;
        begin(finding, &gradient,
              summed ? first_of_all : yk_op_index_find_first_backward_op(index, layer, m, m));
        end(finding, &gradient, i);
        add_part(finding, &gradient);
    }
    finding->out->buffer_count += summed ? 1 : M;
}

/* The gradients of a bucket that is reduced in every micro-batch have a buffer of their own. */
static void add_buckets(struct finding *finding)
{
    const struct yk_op_index *index = finding->index;
    const struct yk_program *program = finding->facts->program;
    for (int32_t b = 0; b < program->bucket_count; b++) {
        const struct yk_gradient_bucket *bucket = &program->buckets[b];
        if (!yk_op_index_rank_has_layer(index, bucket->layers[0]) ||
            yk_program_facts_accumulates_gradient(finding->facts, bucket->layers[0])) {
            continue;
        }
        for (int32_t i = index->first[YK_OP_ALL_REDUCE][b]; i != YK_OP_NONE; i = index->next[i]) {
            struct yk_buffer_lifetime sums =
                new_message(finding, YK_BUFFER_GRADIENT_BUCKET, YK_MEMORY_GRADIENTS, i);
            sums.lag_iterations = finding->list->ops[i].step < 0 ? 1 : 0;
            for (int32_t j = 0; j < bucket->layer_count; j++) {
                begin(finding, &sums,
                      yk_op_index_find_first_backward_op(index, bucket->layers[j], sums.micro_batch,
                                                         sums.micro_batch));
            }
            end(finding, &sums, i);
            add(finding, sums);
        }
    }
}

/* ---- all of them ---- */

static void find_all(struct finding *finding)
{
    const struct yk_program_facts *facts = finding->facts;
    for (int32_t l = 0; l < facts->L; l++) {
        if (!yk_op_index_rank_has_layer(finding->index, l)) {
            continue;
        }
        find_messages(finding, l);
        for (int32_t m = 0; m < facts->M; m++) {
            add_pass(finding, l, m);
        }
        if (yk_message_layout_gathers_layer_weights(facts->program, l)) {
            add_weights(finding, l);
        }
        if (yk_message_layout_reduce_scatters_gradient(facts->program, l)) {
            add_gradients(finding, l);
        }
    }
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        find_messages(finding, facts->crossings[c].producer);
        for (int32_t m = 0; m < facts->M; m++) {
            add_input(finding, c, m);
            add_returned(finding, c, m);
        }
    }
    add_buckets(finding);
}

static yk_status allocate_arrays(struct finding *finding, struct yk_arena *arena)
{
    const struct yk_program_facts *facts = finding->facts;
    int64_t passes = 0;
    for (int32_t i = 0; i < finding->list->op_count; i++) {
        passes += finding->list->ops[i].kind == YK_OP_FORWARD ? 1 : 0;
    }
    for (int backward = 0; backward < 2; backward++) {
        YK_TRY_NEW(finding->arena, finding->first_recv[backward], facts->M);
        YK_TRY_NEW(finding->arena, finding->last_send[backward], facts->M);
    }
    YK_TRY_NEW(arena, finding->out->items,
               BUFFERS_OF_PASS * passes +
                   (int64_t)BUFFERS_OF_CROSSING * facts->crossing_count * facts->M +
                   finding->list->op_count + 1);
    return YK_OK;
}

yk_status yk_buffer_lifetimes_find(const struct yk_op_index *index, struct yk_arena *arena,
                                   struct yk_buffer_lifetimes *out)
{
    struct finding finding = {
        .index = index,
        .facts = index->facts,
        .list = index->list,
        .out = out,
    };
    *out = (struct yk_buffer_lifetimes){0};
    YK_TRY(yk_arena_create(&finding.arena));
    const yk_status status = allocate_arrays(&finding, arena);
    if (status == YK_OK) {
        find_all(&finding);
    }
    yk_arena_destroy(finding.arena);
    return status;
}
