/* Enqueues the ops of a round on their lanes. */
#include "base/clock.h"
#include "train/executor/executor_state.h"

#include <time.h>

/* ---- passes ---- */

/* Gradient pointers of the store that a pass replaces. */
struct replaced {
    char *own;
    char *leader;
};

/* Points the store at gathered weights and at gradient buffers for the duration of a pass. */
static struct replaced point_store(const struct yk_executor *executor, int32_t number)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_op_parameter_buffers *buffers = &executor->buffers.ops[number];
    struct yk_parameter_store_layer *own = &executor->store->layers[op->layer];
    struct yk_parameter_store_layer *leader =
        &executor->store->layers[executor->program->layers[op->layer].weights_owner];
    const size_t *offsets = executor->buffers.offsets;
    const struct replaced replaced = {own->gradients, leader->gradients};
    if (buffers->weights != YK_BUFFER_NONE) {
        own->weights = executor->buffer_memory + offsets[buffers->weights];
    }
    if (buffers->leader_weights != YK_BUFFER_NONE) {
        leader->weights = executor->buffer_memory + offsets[buffers->leader_weights];
    }
    if (buffers->gradient != YK_BUFFER_NONE) {
        own->gradients =
            executor->buffer_memory + offsets[buffers->gradient] + buffers->gradient_at;
    }
    if (buffers->leader_gradient != YK_BUFFER_NONE) {
        leader->gradients = executor->buffer_memory + offsets[buffers->leader_gradient] +
                            buffers->leader_gradient_at;
    }
    return replaced;
}

static void restore_gradients(const struct yk_executor *executor, int32_t number,
                              struct replaced replaced)
{
    const struct yk_op *op = &executor->list->ops[number];
    const int32_t leader = executor->program->layers[op->layer].weights_owner;
    executor->store->layers[leader].gradients = replaced.leader;
    executor->store->layers[op->layer].gradients = replaced.own;
}

static void clear_gradient(const struct yk_executor *executor, int32_t layer)
{
    executor->backend->clear(executor->lanes[YK_LANE_COMPUTE],
                             executor->store->layers[layer].gradients,
                             yk_net_layer_trained_bytes(executor->store->net, layer));
}

static void run_pass(struct yk_executor *executor, int32_t number, int64_t step)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_step_slot *slot = yk_executor_get_step_slot(executor, step);
    const struct yk_rank_batch *batch = slot->step.batch;
    const struct yk_rank_micro_batch *slice = &batch->slices[op->micro_batch];
    const struct yk_net_layer *layer = &executor->store->net->layers[op->layer];
    const struct yk_layer_buffer_offsets *offsets =
        &executor->buffers.passes[yk_op_index_layer_micro_batch_cell(executor->index, op->layer,
                                                                     op->micro_batch)];
    const bool forward = op->kind == YK_OP_FORWARD;
    char *base = executor->buffer_memory;
    int64_t begin = 0;
    const int64_t samples =
        yk_executor_route_layer_sample_count(executor, slice, op->layer, op->micro_batch, &begin);
    if (samples == 0) {
        return;
    }
    struct yk_layer_pass made = {
        .net = executor->store->net,
        .store = executor->store,
        .lane = executor->lanes[op->lane],
        .layer = op->layer,
        .training = !slot->evaluating,
        .loss_factor =
            slot->evaluating ? 0 : (float)(slot->step.loss_scale / (double)batch->loss_targets),
        .loss = forward ? &slot->report[YK_STEP_REPORT_LOSS] : executor->discarded_loss,
        .hits = slot->evaluating && executor->store->net->config->classifier
                    ? &slot->report[YK_STEP_REPORT_HITS]
                    : NULL,
        .output = forward ? base + offsets->output : NULL,
        .saved = base + (forward ? offsets->forward_saved : offsets->saved),
        .workspace = base + (forward ? offsets->forward_work : offsets->recompute_work),
        .output_gradient = base + offsets->output_gradient,
    };
    yk_device_batches_set_pass_inputs(&executor->batches, (int32_t)(step % YK_EXECUTOR_STEP_SLOTS),
                                      op->micro_batch, &slice->own, begin, samples, &made);
    yk_executor_route_set_pass_inputs(executor, number, slice, &made);
    if (op->kind == YK_OP_BACKWARD) {
        yk_executor_route_sum_output_gradients(executor, number, slice);
        made.workspace = base + offsets->backward_work;
        layer->kind->backward(&made);
    } else {
        layer->kind->forward(&made);
    }
}

static void enqueue_pass(struct yk_executor *executor, int32_t number, int64_t step)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_op_parameter_buffers *buffers = &executor->buffers.ops[number];
    const struct replaced replaced = point_store(executor, number);
    if (executor->is_first[number]) {
        yk_device_batches_enqueue_length_copy(
            &executor->batches, executor->backend, executor->lanes[YK_LANE_COMPUTE],
            (int32_t)(step % YK_EXECUTOR_STEP_SLOTS), op->micro_batch,
            &yk_executor_get_step_slot(executor, step)->step.batch->slices[op->micro_batch].own);
    }
    if (buffers->clears_gradient) {
        clear_gradient(executor, op->layer);
    }
    if (buffers->clears_leader) {
        clear_gradient(executor, executor->program->layers[op->layer].weights_owner);
    }
    /* Only blocks are recomputed; other layers keep what they saved. */
    const bool recompute = op->kind == YK_OP_RECOMPUTE;
    if (op->samples > 0 && (!recompute || executor->store->net->layers[op->layer].kind->block)) {
        run_pass(executor, number, step);
    }
    restore_gradients(executor, number, replaced);
}

/* ---- complete gradients ---- */

/* Adds the reduced gradients of one micro-batch to the step's gradients in the store. */
static void accumulate_reduced(struct yk_executor *executor, int32_t number)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_op_parameter_buffers *buffers = &executor->buffers.ops[number];
    const struct yk_gradient_bucket *bucket = &executor->program->buckets[op->bucket];
    const struct yk_net *net = executor->store->net;
    struct yk_backend_lane *lane = executor->lanes[op->lane];
    const size_t width = (size_t)yk_precision_bytes(net->workload.precision);
    if (buffers->gradient == YK_BUFFER_NONE) {
        return;
    }
    struct yk_bump_allocator allocator = {.base = executor->buffer_memory +
                                                  executor->buffers.offsets[buffers->gradient]};
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        const int64_t count = net->layers[bucket->layers[i]].trained;
        struct yk_add_op add = {
            .count = count,
            .from = yk_bump_allocate(&allocator, count, width),
            .to = executor->store->layers[bucket->layers[i]].gradients,
            .type = net->workload.precision,
        };
        if (buffers->adds) {
            executor->backend->add(lane, &add);
        } else {
            executor->backend->copy(lane, add.to, add.from, (size_t)count * width);
        }
    }
}

/* Sums the squares of a layer's gradient. Where every member of the group has the whole gradient,
 * each sums an equal slice of it. */
static void sum_squares(const struct yk_executor *executor, int32_t layer, double *to)
{
    const struct yk_net *net = executor->store->net;
    const struct yk_parameter_store_layer *kept = &executor->store->layers[layer];
    const int64_t width = yk_precision_bytes(net->workload.precision);
    const struct yk_plan *plan = executor->program->plan;
    const int32_t group = plan->layers[layer].group;
    const int32_t members = plan->groups[group].member_count;
    const int32_t member = executor->index->members[group];
    int64_t first = 0;
    int64_t count = kept->kept;
    const char *from = kept->gradient_part;
    if (!from) {
        first = yk_layer_partition_block_start(net->layers[layer].trained, members, member);
        count =
            yk_layer_partition_block_start(net->layers[layer].trained, members, member + 1) - first;
        from = kept->gradients + first * width;
    }
    executor->backend->sum_squares(executor->lanes[YK_LANE_COMPUTE],
                                   &(struct yk_sum_squares_op){
                                       .count = count,
                                       .from = from,
                                       .to = to,
                                       .type = net->workload.precision,
                                   });
}

static void enqueue_update(struct yk_executor *executor, int32_t number, int64_t step)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_step_slot *slot = yk_executor_get_step_slot(executor, step);
    if (!executor->barrier) {
        sum_squares(executor, op->layer,
                    &slot->report[YK_STEP_REPORT_GRADIENT_SQUARES + op->layer]);
    }
    yk_optimizer_update_layer(executor->optimizer, executor->store, executor->lanes[op->lane],
                              op->layer, slot->step.lr, slot->step.updates,
                              executor->barrier ? slot->gradient_norm : NULL);
}

/* ---- results of a step ---- */

/* Writes what this rank's host reports to the others. Runs as late as possible, so that the values
 * are recent. */
static void write_host_report(void *user)
{
    const struct yk_step_slot *slot = user;
    slot->host_report[YK_STEP_HOST_REPORT_STOP] = atomic_load(&slot->executor->stop) ? 1 : 0;
    slot->host_report[YK_STEP_HOST_REPORT_COMPUTE_S] = atomic_load(&slot->executor->computed_s);
}

static void add_host_report(struct yk_executor *executor, struct yk_step_slot *slot,
                            struct yk_backend_lane *lane)
{
    double *seconds =
        slot->report + YK_STEP_REPORT_GRADIENT_SQUARES + executor->facts->L + executor->rank;
    if (executor->is_accelerator) {
        write_host_report(slot); /* an accelerator does not wait for the host */
    } else {
        executor->backend->call_host(lane, write_host_report, slot);
    }
    executor->backend->copy(lane, slot->report + YK_STEP_REPORT_STOP,
                            slot->host_report + YK_STEP_HOST_REPORT_STOP,
                            sizeof *slot->host_report);
    executor->backend->copy(lane, seconds, slot->host_report + YK_STEP_HOST_REPORT_COMPUTE_S,
                            sizeof *slot->host_report);
}

static void finish_report(struct yk_executor *executor, struct yk_step_slot *slot,
                          struct yk_backend_lane *lane)
{
    if (executor->ranks > 1) {
        add_host_report(executor, slot, lane);
        executor->options.ranks->comm->all_reduce(&slot->exchange);
    }
    executor->backend->clip_norm(lane, &(struct yk_clip_norm_op){
                                           .sums = slot->report + YK_STEP_REPORT_GRADIENT_SQUARES,
                                           .count = executor->facts->L,
                                           .unscale = (float)(1 / slot->step.loss_scale),
                                           .clip = (float)slot->step.clip,
                                           .gradient_norm = slot->gradient_norm,
                                       });
    executor->backend->copy(lane, slot->read, slot->report,
                            (size_t)executor->report_count * sizeof *slot->read);
    executor->backend->copy(lane, slot->gradient_norm_read, slot->gradient_norm,
                            sizeof *slot->gradient_norm);
    executor->backend->event_record(lane, slot->reported);
}

void yk_executor_enqueue_step_report(struct yk_executor *executor, int64_t step)
{
    struct yk_step_slot *slot = yk_executor_get_step_slot(executor, step);
    struct yk_backend_lane *lane =
        executor->lanes[executor->ranks > 1 ? YK_LANE_COMM : YK_LANE_COMPUTE];
    if (executor->ranks > 1) {
        executor->backend->event_record(executor->lanes[YK_LANE_COMPUTE], executor->summed);
        executor->backend->event_wait(lane, executor->summed);
    }
    finish_report(executor, slot, lane);
}

/* Sums the squares on the compute lane, then over all ranks. */
static void enqueue_agreement(struct yk_executor *executor, int32_t number, int64_t step)
{
    struct yk_step_slot *slot = yk_executor_get_step_slot(executor, step);
    struct yk_backend_lane *lane = executor->lanes[executor->list->ops[number].lane];
    executor->backend->event_record(lane, executor->reduced);
    executor->backend->event_wait(executor->lanes[YK_LANE_COMPUTE], executor->reduced);
    for (int32_t l = 0; l < executor->facts->L; l++) {
        if (executor->index->update[l] != YK_OP_NONE) {
            sum_squares(executor, l, &slot->report[YK_STEP_REPORT_GRADIENT_SQUARES + l]);
        }
    }
    executor->backend->event_record(executor->lanes[YK_LANE_COMPUTE], executor->summed);
    executor->backend->event_wait(lane, executor->summed);
    finish_report(executor, slot, lane);
}

/* ---- ops ---- */

/* Whether an evaluation needs the op. */
static bool computes_loss(const struct yk_op *op)
{
    const bool moves =
        op->kind == YK_OP_ALL_GATHER || op->kind == YK_OP_SEND || op->kind == YK_OP_RECV;
    return op->kind == YK_OP_LOAD || op->kind == YK_OP_FORWARD || (moves && !op->backward);
}

static void enqueue_work(struct yk_executor *executor, int32_t number, int64_t step)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_rank_batch *batch = yk_executor_get_step_slot(executor, step)->step.batch;
    switch (op->kind) {
    case YK_OP_LOAD:
        if (executor->is_first[number]) {
            yk_device_batches_enqueue_token_copy(
                &executor->batches, executor->backend, executor->lanes[op->lane],
                (int32_t)(step % YK_EXECUTOR_STEP_SLOTS), op->micro_batch,
                &batch->slices[op->micro_batch].own);
        }
        break;
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        enqueue_pass(executor, number, step);
        break;
    case YK_OP_ALL_GATHER:
    case YK_OP_REDUCE_SCATTER:
        yk_collectives_enqueue_op(&executor->collectives, executor->list, number);
        break;
    case YK_OP_ALL_REDUCE:
        yk_collectives_enqueue_op(&executor->collectives, executor->list, number);
        accumulate_reduced(executor, number);
        break;
    case YK_OP_SEND:
    case YK_OP_RECV:
        yk_executor_route_enqueue_message(executor, number, &batch->slices[op->micro_batch]);
        break;
    case YK_OP_AGREE:
        enqueue_agreement(executor, number, step);
        break;
    case YK_OP_UPDATE:
        enqueue_update(executor, number, step);
        break;
    default: /* a release only marks the end of a lifetime */
        break;
    }
}

static void wait_for(struct yk_executor *executor, struct yk_backend_lane *lane, int32_t op,
                     int32_t lag)
{
    const int64_t round = executor->rounds - lag;
    const struct yk_op_events *events =
        executor->events[(round + YK_EXECUTOR_ROUND_SLOTS) % YK_EXECUTOR_ROUND_SLOTS];
    if (events[op].round == round) {
        executor->backend->event_wait(lane, events[op].ended);
    }
}

static void enqueue_waits(struct yk_executor *executor, int32_t number)
{
    const struct yk_op *op = &executor->list->ops[number];
    for (int32_t w = 0; w < op->wait_count; w++) {
        const struct yk_op_wait *wait = &executor->list->waits[op->first_wait + w];
        if (executor->list->ops[wait->op].lane != op->lane) {
            wait_for(executor, executor->lanes[op->lane], wait->op, wait->lag);
        }
    }
    for (int32_t w = executor->first_wait[number]; w < executor->first_wait[number + 1]; w++) {
        const struct yk_buffer_reuse_wait *wait = &executor->buffers.waits[w];
        if (executor->list->ops[wait->after].lane != op->lane) {
            wait_for(executor, executor->lanes[op->lane], wait->after, wait->lag);
        }
    }
}

static void note_start(void *user)
{
    struct yk_op_slowdown *slowdown = user;
    slowdown->started_s = yk_clock_now_s();
}

/* Sleeps so that the op takes `slowdown` times as long as its computation. */
static void slow_down(void *user)
{
    const struct yk_op_slowdown *slowdown = user;
    const double spent_s = yk_clock_now_s() - slowdown->started_s;
    const double more_s = spent_s * (slowdown->executor->options.slowdown - 1);
    if (more_s > 0) {
        const struct timespec pause = {
            .tv_sec = (time_t)more_s,
            .tv_nsec = (long)((more_s - (double)(time_t)more_s) * 1e9),
        };
        (void)nanosleep(&pause, NULL);
    }
}

static void report_begin(void *user)
{
    const struct yk_op_callback_argument *callback = user;
    callback->executor->options.op_began(callback->executor->options.user, callback->lane,
                                         callback->op);
}

/* A lane that waits for another lane is in no op. */
static void report_end(void *user)
{
    const struct yk_op_callback_argument *callback = user;
    callback->executor->options.op_began(callback->executor->options.user, callback->lane,
                                         YK_OP_NONE);
}

static bool is_computing(const struct yk_op *op)
{
    return op->lane == YK_LANE_COMPUTE && op->kind != YK_OP_RELEASE;
}

static void enqueue_op(struct yk_executor *executor, int32_t number, int64_t step, bool works)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_backend *backend = executor->backend;
    struct yk_backend_lane *lane = executor->lanes[op->lane];
    struct yk_op_events *events =
        &executor->events[executor->rounds % YK_EXECUTOR_ROUND_SLOTS][number];
    struct yk_op_slowdown *slowdown =
        &executor->slowdowns[executor->rounds % YK_EXECUTOR_ROUND_SLOTS][number];
    const bool slowed = works && executor->options.slowdown > 1 && is_computing(op);
    const bool reports = works && executor->options.op_began && !executor->is_accelerator;
    events->works = works;
    enqueue_waits(executor, number);
    if (reports) {
        backend->call_host(lane, report_begin, &executor->callbacks[number]);
    }
    backend->event_record(lane, events->started);
    if (slowed) {
        backend->call_host(lane, note_start, slowdown);
    }
    if (works && executor->names) {
        backend->begin_range(lane, executor->names[number]);
        enqueue_work(executor, number, step);
        backend->end_range(lane);
    } else if (works) {
        enqueue_work(executor, number, step);
    }
    if (slowed) {
        backend->call_host(lane, slow_down, slowdown);
    }
    backend->event_record(lane, events->ended);
    if (reports) {
        backend->call_host(lane, report_end, &executor->callbacks[number]);
    }
    events->round = executor->rounds;
}

void yk_executor_enqueue_round(struct yk_executor *executor, int64_t step, int64_t first,
                               int64_t last)
{
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        const struct yk_op *op = &executor->list->ops[i];
        const int64_t for_step = step + op->step;
        const bool works = for_step >= first && for_step <= last;
        /* An op without work is still enqueued, because other ops may be ordered through it. */
        const bool evaluating = works && yk_executor_get_step_slot(executor, for_step)->evaluating;
        enqueue_op(executor, i, for_step, works && (!evaluating || computes_loss(op)));
        atomic_fetch_add_explicit(&executor->enqueued, 1, memory_order_release);
    }
    executor->rounds++;
}
