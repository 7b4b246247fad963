#include "train/executor/executor.h"

#include "train/executor/executor_state.h"

#include <stdlib.h>

/* ---- memory ---- */

static void carve_device(struct yk_executor *executor, struct yk_bump_allocator *allocator)
{
    executor->buffer_memory = yk_bump_allocate(allocator, (int64_t)executor->buffers.bytes, 1);
    yk_device_batches_allocate(&executor->batches, allocator);
    executor->discarded_loss = yk_bump_allocate(allocator, 1, sizeof(double));
    for (int i = 0; i < YK_EXECUTOR_STEP_SLOTS; i++) {
        executor->slots[i].report =
            yk_bump_allocate(allocator, executor->report_count, sizeof(double));
        executor->slots[i].gradient_norm =
            yk_bump_allocate(allocator, 1, sizeof(struct yk_gradient_norm_and_factor));
    }
}

static void carve_host(struct yk_executor *executor, struct yk_bump_allocator *allocator)
{
    for (int i = 0; i < YK_EXECUTOR_STEP_SLOTS; i++) {
        executor->slots[i].read =
            yk_bump_allocate(allocator, executor->report_count, sizeof(double));
        executor->slots[i].gradient_norm_read =
            yk_bump_allocate(allocator, 1, sizeof(struct yk_gradient_norm_and_factor));
        executor->slots[i].host_report =
            yk_bump_allocate(allocator, YK_STEP_HOST_REPORT_COUNT, sizeof(double));
    }
}

static yk_status allocate(struct yk_executor *executor)
{
    const struct yk_device_context *context = &executor->store->context;
    struct yk_bump_allocator allocator = {0};
    carve_device(executor, &allocator);
    executor->bytes = allocator.used;
    YK_TRY(context->backend->allocate(context->device, executor->bytes, &executor->memory));
    allocator = (struct yk_bump_allocator){.base = executor->memory};
    carve_device(executor, &allocator);
    allocator = (struct yk_bump_allocator){0};
    carve_host(executor, &allocator);
    YK_TRY(context->backend->allocate_host(context->device, allocator.used, &executor->host));
    allocator = (struct yk_bump_allocator){.base = executor->host};
    carve_host(executor, &allocator);
    return YK_OK;
}

/* ---- lanes and events ---- */

static yk_status create_lanes(struct yk_executor *executor)
{
    const struct yk_device_context *context = &executor->store->context;
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        if (i == YK_LANE_COMM && executor->options.ranks) {
            executor->lanes[i] = executor->options.ranks->lane;
        } else {
            YK_TRY(context->backend->lane_create(
                context->device, yk_trace_lane_name((enum yk_lane)i), &executor->lanes[i]));
        }
    }
    executor->owns_comm_lane = !executor->options.ranks;
    return YK_OK;
}

static yk_status create_op_events(struct yk_executor *executor, int32_t set)
{
    const struct yk_device_context *context = &executor->store->context;
    const int32_t ops = executor->list->op_count;
    YK_TRY_NEW(executor->arena, executor->events[set], ops + 1);
    YK_TRY_NEW(executor->arena, executor->slowdowns[set], ops + 1);
    YK_TRY_NEW(executor->arena, executor->transfers[set], ops + 1);
    for (int32_t i = 0; i < ops; i++) {
        struct yk_op_events *events = &executor->events[set][i];
        events->round = -1;
        YK_TRY(context->backend->event_create(context->device, &events->started));
        YK_TRY(context->backend->event_create(context->device, &events->ended));
        executor->slowdowns[set][i] = (struct yk_op_slowdown){.executor = executor};
    }
    return YK_OK;
}

static yk_status create_events(struct yk_executor *executor)
{
    const struct yk_device_context *context = &executor->store->context;
    for (int32_t set = 0; set < YK_EXECUTOR_ROUND_SLOTS; set++) {
        YK_TRY(create_op_events(executor, set));
    }
    YK_TRY_NEW(executor->arena, executor->callbacks, executor->list->op_count + 1);
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        executor->callbacks[i] =
            (struct yk_op_callback_argument){executor, executor->list->ops[i].lane, i};
    }
    for (int i = 0; i < YK_EXECUTOR_STEP_SLOTS; i++) {
        struct yk_step_slot *slot = &executor->slots[i];
        slot->executor = executor;
        YK_TRY(context->backend->event_create(context->device, &slot->reported));
        YK_TRY(context->backend->event_create(context->device, &slot->done));
        slot->exchange = (struct yk_comm_all_reduce){
            .group = executor->options.ranks ? executor->options.ranks->world_group : NULL,
            .numbers = slot->report,
            .count = executor->report_count,
            .type = YK_COMM_FP64,
        };
    }
    YK_TRY(context->backend->event_create(context->device, &executor->reduced));
    return context->backend->event_create(context->device, &executor->summed);
}

/* ---- creation ---- */

static yk_status name_ops(struct yk_executor *executor)
{
    if (!executor->backend->begin_range) {
        return YK_OK;
    }
    YK_TRY_NEW(executor->arena, executor->names, executor->list->op_count + 1);
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        YK_TRY(yk_op_describe_in_arena(executor->program, &executor->list->ops[i], executor->arena,
                                       &executor->names[i]));
    }
    return YK_OK;
}

static yk_status index_waits(struct yk_executor *executor)
{
    const struct yk_executor_buffers *buffers = &executor->buffers;
    const int32_t ops = executor->list->op_count;
    int32_t next = 0;
    YK_TRY_NEW(executor->arena, executor->first_wait, ops + 2);
    for (int32_t i = 0; i <= ops; i++) {
        executor->first_wait[i] = next;
        while (next < buffers->wait_count && buffers->waits[next].op == i) {
            next++;
        }
    }
    return YK_OK;
}

static void find_update_rules(struct yk_executor *executor)
{
    executor->barrier = executor->index->agree != YK_OP_NONE;
    for (int32_t r = 0; r < executor->program->rank_count && !executor->barrier; r++) {
        const struct yk_op_list *list = &executor->program->ranks[r];
        for (int32_t i = 0; i < list->op_count; i++) {
            executor->late_updates = executor->late_updates ||
                                     (list->ops[i].kind == YK_OP_UPDATE && list->ops[i].step < 0);
        }
    }
}

static yk_status find_facts(struct yk_executor *executor)
{
    struct yk_program_facts *facts = NULL;
    YK_TRY(yk_program_facts_make(executor->program, executor->arena, &facts));
    executor->facts = facts;
    YK_TRY(yk_op_index_make_with_order(facts, executor->rank, executor->arena, &executor->index));
    executor->report_count = YK_STEP_REPORT_GRADIENT_SQUARES + facts->L + executor->ranks;
    find_update_rules(executor);
    return yk_executor_find_routes(executor);
}

static yk_status set_up(struct yk_executor *executor)
{
    const struct yk_net *net = executor->store->net;
    YK_TRY(find_facts(executor));
    YK_TRY(yk_device_batches_compute_sizes(executor->program->plan, executor->rank,
                                           executor->options.spare_samples, net, executor->arena,
                                           &executor->batches));
    YK_TRY(yk_executor_buffers_assign_offsets(executor->index, net, executor->options.spare_samples,
                                              executor->arena, &executor->buffers));
    YK_TRY(index_waits(executor));
    YK_TRY(allocate(executor));
    YK_TRY(create_lanes(executor));
    YK_TRY(create_events(executor));
    YK_TRY(name_ops(executor));
    if (executor->backend->reserve_scratch) {
        YK_TRY(executor->backend->reserve_scratch(executor->lanes[YK_LANE_COMPUTE], 0));
    }
    if (executor->ranks > 1) {
        YK_TRY(yk_collectives_create(
            &(struct yk_collectives_request){.program = executor->program,
                                             .ranks = executor->options.ranks,
                                             .store = executor->store,
                                             .buffers = &executor->buffers,
                                             .memory = executor->buffer_memory,
                                             .reduce_in_fp32 = executor->options.reduce_in_fp32},
            executor->arena, &executor->collectives));
    }
    return yk_position_tables_fill(executor->store, executor->batches.longest,
                                   &executor->batches.position_tables);
}

yk_status yk_executor_create(const struct yk_program *program, struct yk_parameter_store *store,
                             const struct yk_optimizer_options *optimizer,
                             const struct yk_executor_options *options, struct yk_executor **out)
{
    struct yk_executor *executor = NULL;
    const int32_t ranks = yk_communicator_size(options->ranks);
    if (program->rank_count != ranks) {
        return yk_fail(YK_ERROR_INPUT, "the plan has %d ranks, but %d %s here",
                       (int)program->rank_count, (int)ranks, ranks == 1 ? "is" : "are");
    }
    YK_TRY_NEW_WITH_OWN_ARENA(executor);
    *executor = (struct yk_executor){
        .arena = executor->arena,
        .program = program,
        .rank = yk_communicator_rank(options->ranks),
        .ranks = ranks,
        .store = store,
        .optimizer = optimizer,
        .backend = store->context.backend,
        .is_accelerator = store->context.backend->used_bytes != NULL,
        .options = *options,
        .sequence_step = -1,
    };
    executor->list = &program->ranks[executor->rank];
    YK_TRY_OR_CLEAN_UP(set_up(executor), yk_executor_destroy(executor));
    if (options->watch) {
        options->watch(options->user, executor);
    }
    *out = executor;
    return YK_OK;
}

static void destroy_events(struct yk_executor *executor)
{
    const struct yk_backend *backend = executor->backend;
    for (int32_t set = 0; set < YK_EXECUTOR_ROUND_SLOTS; set++) {
        for (int32_t i = 0; executor->events[set] && i < executor->list->op_count; i++) {
            backend->event_destroy(executor->events[set][i].started);
            backend->event_destroy(executor->events[set][i].ended);
        }
    }
    for (int i = 0; i < YK_EXECUTOR_STEP_SLOTS; i++) {
        backend->event_destroy(executor->slots[i].reported);
        backend->event_destroy(executor->slots[i].done);
    }
    backend->event_destroy(executor->reduced);
    backend->event_destroy(executor->summed);
}

void yk_executor_destroy(struct yk_executor *executor)
{
    if (!executor) {
        return;
    }
    const struct yk_device_context *context = &executor->store->context;
    if (executor->options.watch) {
        executor->options.watch(executor->options.user, NULL);
    }
    if (executor->options.ranks && executor->lanes[YK_LANE_COMM]) {
        (void)context->backend->lane_synchronize(executor->lanes[YK_LANE_COMM]);
    }
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        if (i != YK_LANE_COMM || executor->owns_comm_lane) {
            context->backend->lane_destroy(executor->lanes[i]);
        }
    }
    yk_collectives_destroy(&executor->collectives);
    destroy_events(executor);
    context->backend->free_host(context->device, executor->host);
    context->backend->free(context->device, executor->memory);
    yk_arena_destroy(executor->arena);
}

size_t yk_executor_device_memory_bytes(const struct yk_executor *executor)
{
    return executor->bytes;
}

void *yk_executor_get_buffer_memory(const struct yk_executor *executor, size_t *bytes)
{
    *bytes = executor->buffers.bytes;
    return executor->buffer_memory;
}

int32_t yk_executor_max_steps_in_flight(const struct yk_executor *executor)
{
    /* An accelerator need not wait for the host between two steps. */
    return executor->late_updates ? 3 : executor->ranks > 1 || executor->is_accelerator ? 2 : 1;
}

void yk_executor_request_stop(struct yk_executor *executor)
{
    atomic_store(&executor->stop, true);
}
