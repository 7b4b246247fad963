#include "train/executor.h"

#include "base/clock.h"
#include "nn/carve.h"
#include "train/executor_rules.h"

#include <math.h>
#include <stdlib.h>

/* ---- memory ---- */

static void carve(struct yk_executor *executor, struct yk_carver *carver)
{
    executor->passing = yk_carve(carver, (int64_t)executor->places.bytes, 1);
    yk_intake_carve(&executor->intake, carver);
    executor->again = yk_carve(carver, 1, sizeof(double));
    for (int i = 0; i < YK_EXECUTOR_STEPS; i++) {
        executor->slots[i].report = yk_carve(carver, executor->report_count, sizeof(double));
        executor->slots[i].verdict = yk_carve(carver, 1, sizeof(struct yk_verdict));
    }
}

static void carve_host(struct yk_executor *executor, struct yk_carver *carver)
{
    for (int i = 0; i < YK_EXECUTOR_STEPS; i++) {
        executor->slots[i].read = yk_carve(carver, executor->report_count, sizeof(double));
        executor->slots[i].verdict_read = yk_carve(carver, 1, sizeof(struct yk_verdict));
        executor->slots[i].note = yk_carve(carver, YK_NOTE_COUNT, sizeof(double));
    }
}

static yk_status take_memory(struct yk_executor *executor)
{
    const struct yk_engine *engine = &executor->store->engine;
    struct yk_carver carver = {0};
    carve(executor, &carver);
    executor->bytes = carver.used;
    YK_TRY(engine->backend->take(engine->device, executor->bytes, &executor->memory));
    carver = (struct yk_carver){.base = executor->memory};
    carve(executor, &carver);
    carver = (struct yk_carver){0};
    carve_host(executor, &carver);
    YK_TRY(engine->backend->take_host(engine->device, carver.used, &executor->host));
    carver = (struct yk_carver){.base = executor->host};
    carve_host(executor, &carver);
    return YK_OK;
}

/* ---- lanes and events ---- */

static yk_status create_lanes(struct yk_executor *executor)
{
    static const char *const names[YK_LANE_COUNT] = {"compute", "comm", "copy"};
    const struct yk_engine *engine = &executor->store->engine;
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        if (i == YK_LANE_COMM && executor->options.ranks) {
            executor->lanes[i] = executor->options.ranks->lane;
        } else {
            YK_TRY(engine->backend->lane_create(engine->device, names[i], &executor->lanes[i]));
        }
    }
    executor->owns_comm_lane = !executor->options.ranks;
    return YK_OK;
}

static yk_status create_op_events(struct yk_executor *executor, int32_t set)
{
    const struct yk_engine *engine = &executor->store->engine;
    const int32_t ops = executor->list->op_count;
    YK_TRY_NEW(executor->arena, executor->events[set], ops + 1);
    YK_TRY_NEW(executor->arena, executor->slowed[set], ops + 1);
    YK_TRY_NEW(executor->arena, executor->mail[set], ops + 1);
    for (int32_t i = 0; i < ops; i++) {
        struct yk_op_events *events = &executor->events[set][i];
        events->round = -1;
        YK_TRY(engine->backend->event_create(engine->device, &events->started));
        YK_TRY(engine->backend->event_create(engine->device, &events->ended));
        executor->slowed[set][i] = (struct yk_slowed){.executor = executor};
    }
    return YK_OK;
}

static yk_status create_events(struct yk_executor *executor)
{
    const struct yk_engine *engine = &executor->store->engine;
    for (int32_t set = 0; set < YK_EXECUTOR_ROUNDS; set++) {
        YK_TRY(create_op_events(executor, set));
    }
    YK_TRY_NEW(executor->arena, executor->told, executor->list->op_count + 1);
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        executor->told[i] = (struct yk_told){executor, executor->list->ops[i].lane, i};
    }
    for (int i = 0; i < YK_EXECUTOR_STEPS; i++) {
        struct yk_step_slot *slot = &executor->slots[i];
        slot->executor = executor;
        YK_TRY(engine->backend->event_create(engine->device, &slot->reported));
        YK_TRY(engine->backend->event_create(engine->device, &slot->done));
        slot->exchange = (struct yk_comm_reduce){
            .group = executor->options.ranks ? executor->options.ranks->all : NULL,
            .numbers = slot->report,
            .count = executor->report_count,
            .type = YK_COMM_FP64,
        };
    }
    YK_TRY(engine->backend->event_create(engine->device, &executor->reduced));
    return engine->backend->event_create(engine->device, &executor->summed);
}

/* ---- making one ---- */

static yk_status name_ops(struct yk_executor *executor)
{
    struct yk_text text = {0};
    yk_status status = YK_OK;
    if (!executor->backend->begin_range) {
        return YK_OK;
    }
    YK_TRY_NEW(executor->arena, executor->names, executor->list->op_count + 1);
    for (int32_t i = 0; i < executor->list->op_count && status == YK_OK; i++) {
        text.length = 0;
        yk_op_describe(executor->program, &executor->list->ops[i], &text);
        status = yk_text_status(&text);
        if (status == YK_OK) {
            executor->names[i] =
                yk_arena_copy_text(executor->arena, yk_text_chars(&text), text.length);
            status = executor->names[i] ? YK_OK : yk_fail_out_of_memory();
        }
    }
    yk_text_free(&text);
    return status;
}

static int compare_waits(const void *a, const void *b)
{
    const struct yk_thing_wait *left = a;
    const struct yk_thing_wait *right = b;
    return left->op < right->op ? -1 : left->op > right->op;
}

static yk_status sort_waits(struct yk_executor *executor)
{
    const struct yk_places *places = &executor->places;
    const int32_t ops = executor->list->op_count;
    YK_TRY_NEW(executor->arena, executor->first_wait, ops + 2);
    if (places->wait_count > 0) {
        qsort(places->waits, (size_t)places->wait_count, sizeof *places->waits, compare_waits);
    }
    int32_t next = 0;
    for (int32_t i = 0; i <= ops; i++) {
        executor->first_wait[i] = next;
        while (next < places->wait_count && places->waits[next].op == i) {
            next++;
        }
    }
    return YK_OK;
}

static void note_program(struct yk_executor *executor)
{
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        const struct yk_op *op = &executor->list->ops[i];
        executor->barrier = executor->barrier || op->kind == YK_OP_AGREE;
    }
    for (int32_t r = 0; r < executor->program->rank_count; r++) {
        const struct yk_program_rank *list = &executor->program->ranks[r];
        for (int32_t i = 0; i < list->op_count; i++) {
            executor->late =
                executor->late || (list->ops[i].kind == YK_OP_UPDATE && list->ops[i].step < 0);
        }
    }
    executor->late = executor->late && !executor->barrier;
}

static yk_status look_up(struct yk_executor *executor)
{
    struct yk_facts *facts = NULL;
    YK_TRY(yk_facts_make(executor->program, executor->arena, &facts));
    executor->facts = facts;
    YK_TRY(yk_rank_view_make(facts, executor->rank, executor->arena, &executor->view));
    executor->report_count = YK_REPORT_SUMS + facts->L + executor->ranks;
    note_program(executor);
    return yk_executor_find_routes(executor);
}

static yk_status set_up(struct yk_executor *executor)
{
    const struct yk_net *net = executor->store->net;
    YK_TRY(look_up(executor));
    YK_TRY(yk_intake_plan(executor->program->plan, executor->rank, executor->options.spare_samples,
                          net, executor->arena, &executor->intake));
    YK_TRY(yk_places_find(
        &(struct yk_places_wish){executor->view, net, executor->options.spare_samples},
        executor->arena, &executor->places));
    YK_TRY(sort_waits(executor));
    YK_TRY(take_memory(executor));
    YK_TRY(create_lanes(executor));
    YK_TRY(create_events(executor));
    YK_TRY(name_ops(executor));
    YK_TRY(yk_executor_sort_lanes(executor));
    if (executor->backend->prepare) {
        YK_TRY(executor->backend->prepare(executor->lanes[YK_LANE_COMPUTE], 0));
    }
    if (executor->ranks > 1) {
        YK_TRY(yk_exchanges_make(&(struct yk_exchanges_wish){.program = executor->program,
                                                             .ranks = executor->options.ranks,
                                                             .store = executor->store,
                                                             .places = &executor->places,
                                                             .memory = executor->passing,
                                                             .wide = executor->options.wide},
                                 executor->arena, &executor->exchanges));
    }
    return yk_constants_fill(executor->store, executor->intake.longest,
                             &executor->intake.constants);
}

yk_status yk_executor_create(const struct yk_program *program, struct yk_store *store,
                             const struct yk_optimizer *optimizer,
                             const struct yk_executor_options *options, struct yk_executor **out)
{
    struct yk_arena *arena = NULL;
    const int32_t ranks = options->ranks ? options->ranks->size : 1;
    if (program->rank_count != ranks) {
        return yk_fail(YK_ERROR_INPUT, "the plan has %d ranks, but %d %s here",
                       (int)program->rank_count, (int)ranks, ranks == 1 ? "is" : "are");
    }
    YK_TRY(yk_arena_create(&arena));
    struct yk_executor *executor = yk_arena_take(arena, 1, sizeof *executor);
    if (!executor) {
        yk_arena_destroy(arena);
        return yk_fail_out_of_memory();
    }
    *executor = (struct yk_executor){
        .arena = arena,
        .program = program,
        .rank = options->ranks ? options->ranks->rank : 0,
        .ranks = ranks,
        .store = store,
        .optimizer = optimizer,
        .backend = store->engine.backend,
        .apart = store->engine.backend->used != NULL,
        .options = *options,
        .unsettled = -1,
    };
    executor->list = &program->ranks[executor->rank];
    const yk_status status = set_up(executor);
    if (status != YK_OK) {
        yk_executor_destroy(executor);
        return status;
    }
    if (options->watched) {
        options->watched(options->user, executor);
    }
    *out = executor;
    return YK_OK;
}

static void destroy_events(struct yk_executor *executor)
{
    const struct yk_backend *backend = executor->backend;
    for (int32_t set = 0; set < YK_EXECUTOR_ROUNDS; set++) {
        for (int32_t i = 0; executor->events[set] && i < executor->list->op_count; i++) {
            backend->event_destroy(executor->events[set][i].started);
            backend->event_destroy(executor->events[set][i].ended);
        }
    }
    for (int i = 0; i < YK_EXECUTOR_STEPS; i++) {
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
    const struct yk_engine *engine = &executor->store->engine;
    if (executor->options.watched) {
        executor->options.watched(executor->options.user, NULL);
    }
    if (executor->options.ranks && executor->lanes[YK_LANE_COMM]) {
        (void)engine->backend->finish(executor->lanes[YK_LANE_COMM]);
    }
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        if (i != YK_LANE_COMM || executor->owns_comm_lane) {
            engine->backend->lane_destroy(executor->lanes[i]);
        }
    }
    yk_exchanges_end(&executor->exchanges);
    destroy_events(executor);
    engine->backend->give_back_host(engine->device, executor->host);
    engine->backend->give_back(engine->device, executor->memory);
    yk_arena_destroy(executor->arena);
}

size_t yk_executor_bytes(const struct yk_executor *executor)
{
    return executor->bytes;
}

void *yk_executor_lend(const struct yk_executor *executor, size_t *bytes)
{
    *bytes = executor->places.bytes;
    return executor->passing;
}

int32_t yk_executor_depth(const struct yk_executor *executor)
{
    /* A device of its own need not wait for the host between two steps. */
    return executor->late ? 3 : executor->ranks > 1 || executor->apart ? 2 : 1;
}

void yk_executor_ask_to_stop(struct yk_executor *executor)
{
    atomic_store(&executor->stop, true);
}

/* ---- steps ---- */

static yk_status check(const struct yk_executor *executor)
{
    return executor->options.ranks
               ? executor->options.ranks->comm->check(executor->options.ranks->world)
               : YK_OK;
}

static void open_slot(struct yk_executor *executor, int64_t number, const struct yk_step *step,
                      bool evaluating)
{
    struct yk_step_slot *slot = yk_executor_slot(executor, number);
    slot->step = *step;
    slot->evaluating = evaluating;
}

/* The round of a step, and before the first of a row what is done ahead for it. */
static void put_step(struct yk_executor *executor, int64_t number)
{
    struct yk_step_slot *slot = yk_executor_slot(executor, number);
    struct yk_backend_lane *lane = executor->lanes[YK_LANE_COMPUTE];
    slot->began_s = NAN;
    if (executor->unsettled < 0) {
        slot->began_s = yk_clock_now_s();
        executor->unsettled = number;
        yk_executor_put_round(executor, number - 1, number, number);
    }
    executor->backend->clear(lane, slot->report,
                             (size_t)executor->report_count * sizeof *slot->report);
    slot->round = executor->rounds;
    yk_executor_put_round(executor, number, executor->unsettled,
                          slot->evaluating ? number : number + 1);
    executor->backend->record(lane, slot->done);
}

yk_status yk_executor_begin(struct yk_executor *executor, const struct yk_step *step,
                            const struct yk_batch *next)
{
    const int64_t number = executor->begun;
    if (step->clip > 0 && !executor->barrier) {
        return yk_fail(YK_ERROR_INPUT, "the plan was made without clipping; plan with --clip");
    }
    YK_TRY(yk_intake_check(&executor->intake, step->batch));
    YK_TRY(yk_intake_check(&executor->intake, next));
    YK_TRY(check(executor));
    open_slot(executor, number, step, false);
    open_slot(executor, number + 1, &(struct yk_step){.batch = next, .loss_scale = 1}, false);
    executor->begun++;
    put_step(executor, number);
    if (executor->late && number > executor->unsettled) {
        yk_executor_put_report(executor, number - 1);
    } else if (!executor->late && !executor->barrier) {
        yk_executor_put_report(executor, number);
    }
    return YK_OK;
}

yk_status yk_executor_verdict(struct yk_executor *executor, bool *skipped)
{
    struct yk_step_slot *slot = yk_executor_slot(executor, executor->begun - 1);
    *skipped = false;
    if (executor->barrier) {
        YK_TRY(executor->backend->reach(slot->reported));
        YK_TRY(check(executor));
        *skipped = slot->verdict_read->skip != 0;
    }
    return YK_OK;
}

/* How long the rank computed in a round whose computing is done. */
static double add_computed_s(const struct yk_executor *executor, int64_t round)
{
    const struct yk_op_events *events = executor->events[round % YK_EXECUTOR_ROUNDS];
    double sum = 0;
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        if (executor->list->ops[i].lane == YK_LANE_COMPUTE && events[i].works) {
            sum += executor->backend->event_s(events[i].ended) -
                   executor->backend->event_s(events[i].started);
        }
    }
    return sum;
}

yk_status yk_executor_end(struct yk_executor *executor, struct yk_step_result *out)
{
    struct yk_step_slot *slot = yk_executor_slot(executor, executor->ended);
    YK_TRY(executor->backend->reach(slot->reported));
    YK_TRY(executor->backend->reach(slot->done));
    YK_TRY(check(executor));
    const double done_s = executor->backend->event_s(slot->done);
    const double began_s = isnan(slot->began_s) ? executor->last_done_s : slot->began_s;
    *out = (struct yk_step_result){
        .loss = slot->read[YK_REPORT_LOSS] / (double)slot->step.batch->counted,
        .norm = slot->verdict_read->norm,
        .skipped = executor->barrier && slot->verdict_read->skip != 0,
        .stopped =
            executor->ranks > 1 ? slot->read[YK_REPORT_STOP] > 0 : atomic_load(&executor->stop),
        .seconds = done_s - began_s,
        .compute_s = slot->read + YK_REPORT_SUMS + executor->facts->L,
    };
    if (executor->ranks > 1) {
        atomic_store(&executor->computed_s, add_computed_s(executor, slot->round));
    }
    executor->last_done_s = done_s;
    executor->last_began_s = began_s;
    executor->traced = slot->round;
    executor->ended++;
    return YK_OK;
}

/* Waits for all lanes, which are in no op then. */
static yk_status finish_lanes(struct yk_executor *executor)
{
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        YK_TRY(executor->backend->finish(executor->lanes[i]));
    }
    for (int i = 0; i < YK_LANE_COUNT && executor->options.begins && !executor->apart; i++) {
        executor->options.begins(executor->options.user, (enum yk_lane)i, YK_OP_NONE);
    }
    return check(executor);
}

yk_status yk_executor_settle(struct yk_executor *executor)
{
    if (executor->unsettled < 0) {
        return YK_OK;
    }
    const int64_t last = executor->begun - 1;
    yk_executor_put_round(executor, last + 1, last, last);
    if (executor->late) {
        yk_executor_put_report(executor, last);
    }
    executor->unsettled = -1;
    return finish_lanes(executor);
}

yk_status yk_executor_evaluate(struct yk_executor *executor, const struct yk_batch *batch,
                               double *out_loss)
{
    const int64_t number = executor->begun;
    struct yk_step_slot *slot = yk_executor_slot(executor, number);
    YK_TRY(yk_intake_check(&executor->intake, batch));
    open_slot(executor, number, &(struct yk_step){.batch = batch, .loss_scale = 1}, true);
    executor->begun++;
    executor->ended++;
    put_step(executor, number);
    yk_executor_put_report(executor, number);
    executor->unsettled = -1;
    YK_TRY(finish_lanes(executor));
    *out_loss = slot->read[YK_REPORT_LOSS];
    return YK_OK;
}

/* ---- the trace ---- */

static yk_status add_event(const struct yk_executor *executor, int32_t number, double zero_s,
                           struct yk_text *name, struct yk_trace *trace)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_op_events *events =
        &executor->events[executor->traced % YK_EXECUTOR_ROUNDS][number];
    if (events->round != executor->traced || !events->works) {
        return YK_OK;
    }
    name->length = 0;
    yk_op_describe(executor->program, op, name);
    YK_TRY(yk_text_status(name));
    const struct yk_trace_event event = {
        .lane = op->lane,
        .op = yk_text_chars(name),
        .start_s = executor->backend->event_s(events->started) - zero_s,
        .end_s = executor->backend->event_s(events->ended) - zero_s,
        .bytes = op->bytes,
    };
    return yk_trace_add_event(trace, &event, NULL);
}

double yk_executor_round_s(const struct yk_executor *executor)
{
    return executor->last_began_s;
}

yk_status yk_executor_trace(const struct yk_executor *executor, const char *device,
                            struct yk_trace **out)
{
    struct yk_trace *trace = NULL;
    struct yk_text name = {0};
    YK_TRY(yk_trace_create(&trace));
    yk_status status = yk_trace_add_rank(trace, device);
    for (int32_t i = 0; i < executor->list->op_count && status == YK_OK; i++) {
        status = add_event(executor, i, executor->last_began_s, &name, trace);
    }
    yk_text_free(&name);
    if (status != YK_OK) {
        yk_trace_destroy(trace);
        return status;
    }
    *out = trace;
    return YK_OK;
}
