/*
 * Routes: which samples a rank computes, and how outputs and their gradients move from one group of
 * ranks to another. Samples are numbered as in the plan's micro-batch.
 */
#include "base/number.h"
#include "train/executor/executor_state.h"

struct sample_range {
    int64_t first;
    int64_t end;
};

static struct sample_range samples_of(const struct yk_executor *executor, int32_t group,
                                      int32_t member, int32_t micro_batch)
{
    int64_t first = 0;
    const int64_t count =
        yk_plan_member_sample_range(executor->program->plan, group, member, micro_batch, &first);
    return (struct sample_range){first, first + count};
}

static struct sample_range own_samples(const struct yk_executor *executor, int32_t group,
                                       int32_t micro_batch)
{
    return samples_of(executor, group, executor->index->members[group], micro_batch);
}

static struct sample_range intersect(struct sample_range a, struct sample_range b)
{
    return (struct sample_range){a.first > b.first ? a.first : b.first,
                                 a.end < b.end ? a.end : b.end};
}

/* Finds the samples of a message: those that both this rank and the message's peer have. */
static void find_message(struct yk_executor *executor, int32_t number)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_program_facts *facts = executor->facts;
    const int32_t reader = facts->crossings[op->crossing].group;
    const int32_t producer = facts->plan->layers[op->layer].group;
    const bool produces = (op->kind == YK_OP_SEND) != op->backward; /* this rank has the layer */
    const int32_t there = produces ? reader : producer;
    const int32_t peer = yk_program_facts_group_member_index(facts->plan, there, op->peer);
    const struct sample_range own =
        own_samples(executor, produces ? producer : reader, op->micro_batch);
    const struct sample_range common =
        intersect(own, samples_of(executor, there, peer, op->micro_batch));
    executor->messages[number] =
        (struct yk_crossing_message){op->crossing, common.first, common.end, own.first};
}

static void find_readers(struct yk_executor *executor)
{
    const struct yk_program_facts *facts = executor->facts;
    yk_number_fill_int32_array(executor->first_reader, (int64_t)facts->crossing_count * facts->M,
                               -1);
    for (int32_t i = executor->list->op_count; i-- > 0;) {
        const struct yk_op *op = &executor->list->ops[i];
        for (int which = 0; op->kind == YK_OP_FORWARD && which < 2; which++) {
            const int32_t crossing = executor->input_crossings[2 * op->layer + which];
            if (crossing >= 0) {
                executor->first_reader[(int64_t)crossing * facts->M + op->micro_batch] = i;
            }
        }
    }
}

/* All layers of a group that attend to the same memory contribute to its gradient. In each
 * micro-batch the first of them writes the gradient, the others add to it. */
static bool adds_to_memory(const struct yk_executor *executor, int32_t number)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_net_layer *layers = executor->store->net->layers;
    const struct yk_plan_layer *planned = executor->program->plan->layers;
    const int32_t memory = layers[op->layer].memory;
    for (int32_t i = 0; memory >= 0 && i < number; i++) {
        const struct yk_op *before = &executor->list->ops[i];
        if (before->kind == YK_OP_BACKWARD && before->micro_batch == op->micro_batch &&
            layers[before->layer].memory == memory &&
            planned[before->layer].group == planned[op->layer].group) {
            return true;
        }
    }
    return false;
}

/* Marks the first forward pass and the first load of each micro-batch. A rank in several groups has
 * a load for each group, but loads its samples only once: with the load of the step that runs
 * first. A second load would overwrite tokens in use. */
static void find_first(struct yk_executor *executor)
{
    const struct yk_op *ops = executor->list->ops;
    for (int32_t m = 0; m < executor->facts->M; m++) {
        int32_t forward = YK_OP_NONE;
        int32_t load = YK_OP_NONE;
        for (int32_t i = 0; i < executor->list->op_count; i++) {
            if (ops[i].micro_batch != m) {
                continue;
            }
            if (ops[i].kind == YK_OP_FORWARD && forward == YK_OP_NONE) {
                forward = i;
            } else if (ops[i].kind == YK_OP_LOAD &&
                       (load == YK_OP_NONE || ops[i].step > ops[load].step)) {
                load = i;
            }
        }
        if (forward != YK_OP_NONE) {
            executor->is_first[forward] = true;
        }
        if (load != YK_OP_NONE) {
            executor->is_first[load] = true;
        }
    }
}

yk_status yk_executor_find_routes(struct yk_executor *executor)
{
    const struct yk_program_facts *facts = executor->facts;
    const int32_t ops = executor->list->op_count;
    YK_TRY_NEW(executor->arena, executor->memory_added, ops + 1);
    YK_TRY_NEW(executor->arena, executor->is_first, ops + 1);
    YK_TRY_NEW(executor->arena, executor->messages, ops + 1);
    YK_TRY_NEW(executor->arena, executor->input_crossings, 2 * facts->L);
    YK_TRY_NEW(executor->arena, executor->first_reader,
               (int64_t)facts->crossing_count * facts->M + 1);
    for (int32_t l = 0; l < facts->L; l++) {
        const struct yk_net_layer *layer = &executor->store->net->layers[l];
        const int32_t group = facts->plan->layers[l].group;
        const int32_t from[] = {layer->input, layer->memory};
        for (int which = 0; which < 2; which++) {
            executor->input_crossings[2 * l + which] =
                from[which] >= 0 ? yk_program_facts_find_crossing(facts, from[which], group) : -1;
        }
    }
    find_readers(executor);
    find_first(executor);
    for (int32_t i = 0; i < ops; i++) {
        const enum yk_op_kind kind = executor->list->ops[i].kind;
        if (kind == YK_OP_SEND || kind == YK_OP_RECV) {
            find_message(executor, i);
        } else if (kind == YK_OP_BACKWARD) {
            executor->memory_added[i] = adds_to_memory(executor, i);
        }
    }
    return YK_OK;
}

/* ---- during a step ---- */

static int64_t row_bytes(const struct yk_executor *executor, int32_t layer,
                         const struct yk_sample_slice *slice)
{
    const struct yk_net *net = executor->store->net;
    const int64_t sequence = net->layers[layer].decodes
                                 ? slice->target_sequence
                                 : yk_net_sample_tokens(net, slice->sequence);
    return yk_net_layer_output_rows(&net->layers[layer], sequence) * net->config->width *
           yk_precision_bytes(net->workload.precision);
}

static const struct yk_layer_buffer_offsets *pass_offsets(const struct yk_executor *executor,
                                                          int32_t layer, int32_t micro_batch)
{
    return &executor->buffers.passes[(int64_t)layer * executor->facts->M + micro_batch];
}

static const struct yk_crossing_buffer_offsets *
crossing_offsets(const struct yk_executor *executor, int32_t crossing, int32_t micro_batch)
{
    return &executor->buffers.crossings[(int64_t)crossing * executor->facts->M + micro_batch];
}

int64_t yk_executor_route_layer_sample_count(const struct yk_executor *executor,
                                             const struct yk_rank_micro_batch *slice, int32_t layer,
                                             int32_t micro_batch, int64_t *begin)
{
    const int32_t group = executor->program->plan->layers[layer].group;
    const struct sample_range own = own_samples(executor, group, micro_batch);
    const int64_t from = yk_rank_micro_batch_actual_sample_index(slice, own.first);
    *begin = from - slice->first;
    return yk_rank_micro_batch_actual_sample_index(slice, own.end) - from;
}

/* A byte range of a buffer. */
struct strip {
    size_t at;
    size_t bytes;
};

/* The rows of some samples in a buffer whose first sample is `from`. A sample has `bytes` bytes. */
static struct strip strip_of(const struct yk_rank_micro_batch *slice, int64_t from,
                             struct sample_range samples, int64_t bytes)
{
    const int64_t base = yk_rank_micro_batch_actual_sample_index(slice, from);
    const int64_t begin = yk_rank_micro_batch_actual_sample_index(slice, samples.first);
    return (struct strip){
        (size_t)((begin - base) * bytes),
        (size_t)((yk_rank_micro_batch_actual_sample_index(slice, samples.end) - begin) * bytes)};
}

/* Copies the output that this rank computed in one of its groups and reads in another. */
static void copy_local(struct yk_executor *executor, int32_t number, int32_t crossing,
                       const struct yk_rank_micro_batch *slice)
{
    const struct yk_op *op = &executor->list->ops[number];
    const int32_t m = op->micro_batch;
    const int32_t producer = executor->facts->crossings[crossing].producer;
    const int32_t reader_group = executor->facts->crossings[crossing].group;
    const int32_t group = executor->program->plan->layers[producer].group;
    const int64_t bytes = row_bytes(executor, producer, &slice->own);
    if (op->kind != YK_OP_FORWARD ||
        executor->first_reader[(int64_t)crossing * executor->facts->M + m] != number ||
        executor->index->members[group] < 0 || executor->index->members[reader_group] < 0) {
        return;
    }
    const struct sample_range produced = own_samples(executor, group, m);
    const struct sample_range read = own_samples(executor, reader_group, m);
    const struct sample_range common = intersect(produced, read);
    const struct strip from = strip_of(slice, produced.first, common, bytes);
    const struct strip to = strip_of(slice, read.first, common, bytes);
    if (common.end > common.first && from.bytes > 0) {
        executor->backend->copy(
            executor->lanes[YK_LANE_COMPUTE],
            executor->buffer_memory + crossing_offsets(executor, crossing, m)->input + to.at,
            executor->buffer_memory + pass_offsets(executor, producer, m)->output + from.at,
            from.bytes);
    }
}

/* Finds where an op reads the output of layer `from`, and where it writes the gradient. */
static void find_input(struct yk_executor *executor, int32_t number, int32_t from, int32_t which,
                       const struct yk_rank_micro_batch *slice, const void **output,
                       void **gradient)
{
    const struct yk_op *op = &executor->list->ops[number];
    const int32_t crossing = executor->input_crossings[2 * op->layer + which];
    char *base = executor->buffer_memory;
    if (crossing >= 0) {
        const struct yk_crossing_buffer_offsets *offsets =
            crossing_offsets(executor, crossing, op->micro_batch);
        copy_local(executor, number, crossing, slice);
        *output = base + offsets->input;
        *gradient = base + offsets->input_gradient;
    } else {
        const struct yk_layer_buffer_offsets *offsets =
            pass_offsets(executor, from, op->micro_batch);
        *output = base + offsets->output;
        *gradient = base + offsets->output_gradient;
    }
}

void yk_executor_route_set_pass_inputs(struct yk_executor *executor, int32_t number,
                                       const struct yk_rank_micro_batch *slice,
                                       struct yk_layer_pass *pass)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_net_layer *layer = &executor->store->net->layers[op->layer];
    if (layer->input >= 0) {
        find_input(executor, number, layer->input, 0, slice, &pass->input, &pass->input_gradient);
        pass->input_frozen = !executor->facts->goes_backward[layer->input];
    }
    if (layer->memory >= 0) {
        find_input(executor, number, layer->memory, 1, slice, &pass->memory,
                   &pass->memory_gradient);
        pass->memory_added = executor->memory_added[number];
    }
}

/* Whether a layer of `group` reads the output and returns a gradient. */
static bool returns_gradient(const struct yk_executor *executor, int32_t producer, int32_t group)
{
    struct yk_consumer_cursor at = {.producer = producer, .group = group};
    while (yk_program_facts_next_consumer(executor->facts, &at)) {
        if (executor->facts->goes_backward[at.layer]) {
            return true;
        }
    }
    return false;
}

/* Adds `from` to `to`, or copies it there. */
static void add_or_copy(struct yk_executor *executor, char *to, const char *from, size_t bytes,
                        bool add)
{
    struct yk_backend_lane *lane = executor->lanes[YK_LANE_COMPUTE];
    const enum yk_precision type = executor->store->net->workload.precision;
    if (bytes == 0) {
        return;
    }
    if (!add) {
        executor->backend->copy(lane, to, from, bytes);
        return;
    }
    executor->backend->add(lane, &(struct yk_add_op){
                                     .count = (int64_t)bytes / yk_precision_bytes(type),
                                     .from = from,
                                     .to = to,
                                     .type = type,
                                 });
}

/* Adds or copies the gradients from one group that read the output: those that its other members
 * sent, and this rank's own. */
static void collect_gradient(struct yk_executor *executor, int32_t crossing, int32_t micro_batch,
                             const struct yk_rank_micro_batch *slice, bool add)
{
    const struct yk_rank_group_crossing *at = &executor->facts->crossings[crossing];
    const struct yk_plan *plan = executor->program->plan;
    const int32_t group = plan->layers[at->producer].group;
    const struct yk_crossing_buffer_offsets *offsets =
        crossing_offsets(executor, crossing, micro_batch);
    const int64_t bytes = row_bytes(executor, at->producer, &slice->own);
    char *gradient = executor->buffer_memory +
                     pass_offsets(executor, at->producer, micro_batch)->output_gradient;
    const struct sample_range own = own_samples(executor, group, micro_batch);
    for (int32_t j = 0; j < plan->groups[at->group].member_count; j++) {
        const struct sample_range other = samples_of(executor, at->group, j, micro_batch);
        const struct sample_range common = intersect(own, other);
        if (common.end <= common.first) {
            continue;
        }
        const bool local = plan->groups[at->group].members[j].rank == executor->rank;
        const struct strip to = strip_of(slice, own.first, common, bytes);
        const struct strip from = strip_of(slice, local ? other.first : own.first, common, bytes);
        const char *source = executor->buffer_memory +
                             (local ? offsets->input_gradient : offsets->returned) + from.at;
        add_or_copy(executor, gradient + to.at, source, to.bytes, add);
    }
}

void yk_executor_route_sum_output_gradients(struct yk_executor *executor, int32_t number,
                                            const struct yk_rank_micro_batch *slice)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_program_facts *facts = executor->facts;
    bool filled = returns_gradient(executor, op->layer, facts->plan->layers[op->layer].group);
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        const struct yk_rank_group_crossing *crossing = &facts->crossings[c];
        if (crossing->producer != op->layer ||
            crossing_offsets(executor, c, op->micro_batch)->direct ||
            !returns_gradient(executor, op->layer, crossing->group)) {
            continue;
        }
        collect_gradient(executor, c, op->micro_batch, slice, filled);
        filled = true;
    }
}

void yk_executor_route_enqueue_message(struct yk_executor *executor, int32_t number,
                                       const struct yk_rank_micro_batch *slice)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_crossing_message *message = &executor->messages[number];
    const struct yk_crossing_buffer_offsets *offsets =
        crossing_offsets(executor, message->crossing, op->micro_batch);
    const struct strip strip =
        strip_of(slice, message->from, (struct sample_range){message->first, message->end},
                 row_bytes(executor, op->layer, &slice->own));
    struct yk_comm_send_recv *transfer =
        &executor->transfers[executor->rounds % YK_EXECUTOR_ROUND_SLOTS][number];
    const bool sends = op->kind == YK_OP_SEND;
    const size_t at =
        !op->backward
            ? (sends ? pass_offsets(executor, op->layer, op->micro_batch)->output : offsets->input)
            : (sends ? offsets->input_gradient : offsets->returned);
    if (strip.bytes == 0) {
        return;
    }
    *transfer = (struct yk_comm_send_recv){
        .world = executor->options.ranks->world,
        .bytes = executor->buffer_memory + at + strip.at,
        .size = strip.bytes,
        .peer = op->peer,
        .tag = op->match,
    };
    if (sends) {
        executor->options.ranks->comm->send(transfer);
    } else {
        executor->options.ranks->comm->recv(transfer);
    }
}
