#include "train/executor.h"

#include "base/clock.h"
#include "nn/carve.h"
#include "nn/layer.h"
#include "train/intake.h"
#include "train/places.h"

#include <math.h>
#include <stdlib.h>

struct op_events {
    struct yk_backend_event *started;
    struct yk_backend_event *ended;
};

struct yk_executor {
    struct yk_arena *arena;
    const struct yk_program *program;
    const struct yk_program_rank *list;
    struct yk_store *store;
    const struct yk_optimizer *optimizer;
    const struct yk_backend *backend;
    struct yk_backend_lane *lanes[YK_LANE_COUNT];
    struct op_events *events; /* (ops) */
    struct yk_backend_event *done;
    struct yk_places places;
    int32_t *last_backward; /* (L) the op after which a layer's gradient is complete; −1 */
    bool *memory_added;     /* (ops) a backward that is not the first to send to what it looks at */
    bool barrier;           /* updates wait for the verdict */

    void *memory;
    size_t bytes;
    char *passing; /* what places are in */
    struct yk_intake intake;
    double *loss;
    double *sums; /* (L) squares of each layer's gradients */
    struct yk_verdict *verdict;

    struct {
        double loss;
        struct yk_verdict verdict;
    } * read;            /* on the host */
    struct yk_step step; /* under way */
    double began_s;
};

static const struct yk_place *place_of(const struct yk_executor *executor, int32_t layer,
                                       int32_t micro_batch)
{
    return &executor->places
                .of[(int64_t)layer * executor->program->plan->micro_batches + micro_batch];
}

static void carve(struct yk_executor *executor, struct yk_carver *carver)
{
    executor->passing = yk_carve(carver, (int64_t)executor->places.bytes, 1);
    yk_intake_carve(&executor->intake, carver);
    executor->loss = yk_carve(carver, 1, sizeof(double));
    executor->sums = yk_carve(carver, executor->store->net->layer_count, sizeof(double));
    executor->verdict = yk_carve(carver, 1, sizeof(struct yk_verdict));
}

static yk_status take_memory(struct yk_executor *executor)
{
    const struct yk_engine *engine = &executor->store->engine;
    struct yk_carver carver = {0};
    void *read = NULL;
    carve(executor, &carver);
    executor->bytes = carver.used;
    YK_TRY(engine->backend->take(engine->device, executor->bytes, &executor->memory));
    carver = (struct yk_carver){.base = executor->memory};
    carve(executor, &carver);
    YK_TRY(engine->backend->take_host(engine->device, sizeof *executor->read, &read));
    executor->read = read;
    return YK_OK;
}

static yk_status create_lanes(struct yk_executor *executor)
{
    static const char *const names[YK_LANE_COUNT] = {"compute", "comm", "copy"};
    const struct yk_engine *engine = &executor->store->engine;
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        YK_TRY(engine->backend->lane_create(engine->device, names[i], &executor->lanes[i]));
    }
    YK_TRY_NEW(executor->arena, executor->events, executor->list->op_count);
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        YK_TRY(engine->backend->event_create(engine->device, &executor->events[i].started));
        YK_TRY(engine->backend->event_create(engine->device, &executor->events[i].ended));
    }
    return engine->backend->event_create(engine->device, &executor->done);
}

/* What an op's layer looks at is sent a gradient by every layer that does so, in the order of the
 * list: all but the first of each micro-batch add theirs. */
static bool adds_to_memory(const struct yk_executor *executor, int32_t number)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_net_layer *layers = executor->store->net->layers;
    const int32_t memory = layers[op->layer].memory;
    for (int32_t i = 0; memory >= 0 && i < number; i++) {
        const struct yk_op *before = &executor->list->ops[i];
        if (before->kind == YK_OP_BACKWARD && before->micro_batch == op->micro_batch &&
            layers[before->layer].memory == memory) {
            return true;
        }
    }
    return false;
}

static yk_status note_program(struct yk_executor *executor)
{
    const struct yk_plan *plan = executor->program->plan;
    YK_TRY_NEW(executor->arena, executor->last_backward, plan->layer_count);
    YK_TRY_NEW(executor->arena, executor->memory_added, executor->list->op_count);
    for (int32_t l = 0; l < plan->layer_count; l++) {
        executor->last_backward[l] = -1;
    }
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        const struct yk_op *op = &executor->list->ops[i];
        if (op->kind == YK_OP_BACKWARD) {
            executor->last_backward[op->layer] = i;
            executor->memory_added[i] = adds_to_memory(executor, i);
        }
        executor->barrier = executor->barrier || op->kind == YK_OP_AGREE;
    }
    return YK_OK;
}

static yk_status set_up(struct yk_executor *executor, int32_t rank)
{
    YK_TRY(note_program(executor));
    YK_TRY(yk_intake_plan(executor->program->plan, rank, executor->store->net, executor->arena,
                          &executor->intake));
    YK_TRY(yk_places_find(executor->program, rank, executor->store->net, executor->arena,
                          &executor->places));
    YK_TRY(take_memory(executor));
    YK_TRY(create_lanes(executor));
    return yk_constants_fill(executor->store, executor->intake.longest,
                             &executor->intake.constants);
}

yk_status yk_executor_create(const struct yk_program *program, int32_t rank, struct yk_store *store,
                             const struct yk_optimizer *optimizer, struct yk_executor **out)
{
    struct yk_arena *arena = NULL;
    if (program->rank_count != 1) {
        return yk_fail(YK_ERROR_INPUT, "the plan has %d ranks; training runs on one so far",
                       (int)program->rank_count);
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
        .list = &program->ranks[rank],
        .store = store,
        .optimizer = optimizer,
        .backend = store->engine.backend,
    };
    const yk_status status = set_up(executor, rank);
    if (status != YK_OK) {
        yk_executor_destroy(executor);
        return status;
    }
    *out = executor;
    return YK_OK;
}

void yk_executor_destroy(struct yk_executor *executor)
{
    if (!executor) {
        return;
    }
    const struct yk_engine *engine = &executor->store->engine;
    for (int i = 0; i < YK_LANE_COUNT; i++) {
        engine->backend->lane_destroy(executor->lanes[i]);
    }
    for (int32_t i = 0; executor->events && i < executor->list->op_count; i++) {
        engine->backend->event_destroy(executor->events[i].started);
        engine->backend->event_destroy(executor->events[i].ended);
    }
    engine->backend->event_destroy(executor->done);
    engine->backend->give_back_host(engine->device, executor->read);
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

/* What the layers before it put out, and the gradients that they wait for. */
static void connect(const struct yk_executor *executor, int32_t number, struct yk_pass *pass)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_net_layer *layer = &executor->store->net->layers[op->layer];
    char *base = executor->passing;
    if (layer->input >= 0) {
        const struct yk_place *place = place_of(executor, layer->input, op->micro_batch);
        pass->input = base + place->output;
        pass->input_gradient = base + place->gradient;
    }
    if (layer->memory >= 0) {
        const struct yk_place *place = place_of(executor, layer->memory, op->micro_batch);
        pass->memory = base + place->output;
        pass->memory_gradient = base + place->gradient;
        pass->memory_added = executor->memory_added[number];
    }
}

static void pass(const struct yk_executor *executor, int32_t number)
{
    const struct yk_op *op = &executor->list->ops[number];
    const struct yk_net *net = executor->store->net;
    const struct yk_net_layer *layer = &net->layers[op->layer];
    const struct yk_piece *piece = &executor->step.batch->pieces[op->micro_batch];
    const struct yk_place *place = place_of(executor, op->layer, op->micro_batch);
    const bool forward = op->kind == YK_OP_FORWARD;
    const bool backward = op->kind == YK_OP_BACKWARD;
    char *base = executor->passing;
    struct yk_pass made = {
        .net = net,
        .store = executor->store,
        .lane = executor->lanes[op->lane],
        .layer = op->layer,
        .training = true,
        .loss_factor = (float)(executor->step.loss_scale / (double)executor->step.batch->counted),
        .loss = executor->loss,
        .output = forward ? base + place->output : NULL,
        .saved = base + (forward ? place->forward_saved : place->saved),
        .workspace = base + (forward ? place->forward_work : place->recompute_work),
        .output_gradient = base + place->gradient,
    };
    yk_intake_fill(&executor->intake, op->micro_batch, piece, &made);
    connect(executor, number, &made);
    if (backward) {
        made.workspace = base + place->backward_work;
        layer->kind->backward(&made);
    } else {
        layer->kind->forward(&made);
    }
}

static void sum_gradients(const struct yk_executor *executor, int32_t layer)
{
    const struct yk_net *net = executor->store->net;
    executor->backend->sum_squares(executor->lanes[YK_LANE_COMPUTE],
                                   &(struct yk_sum_squares){
                                       .count = net->layers[layer].trained,
                                       .from = executor->store->layers[layer].gradients,
                                       .to = &executor->sums[layer],
                                       .type = net->workload.precision,
                                   });
}

static void judge(const struct yk_executor *executor, struct yk_backend_lane *lane)
{
    executor->backend->judge(lane, &(struct yk_judge){
                                       .sums = executor->sums,
                                       .count = executor->store->net->layer_count,
                                       .unscale = (float)(1 / executor->step.loss_scale),
                                       .clip = (float)executor->step.clip,
                                       .verdict = executor->verdict,
                                   });
}

static void put(const struct yk_executor *executor, int32_t number)
{
    const struct yk_op *op = &executor->list->ops[number];
    switch (op->kind) {
    case YK_OP_LOAD:
        yk_intake_load(&executor->intake, executor->backend, executor->lanes[op->lane],
                       op->micro_batch, &executor->step.batch->pieces[op->micro_batch]);
        break;
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        if (op->samples > 0) {
            pass(executor, number);
        }
        if (number == executor->last_backward[op->layer] &&
            executor->store->net->layers[op->layer].trained > 0) {
            sum_gradients(executor, op->layer);
        }
        break;
    case YK_OP_AGREE:
        judge(executor, executor->lanes[op->lane]);
        break;
    case YK_OP_UPDATE:
        yk_optimizer_update(executor->optimizer, executor->store, executor->lanes[op->lane],
                            op->layer, executor->step.rate, executor->step.updates,
                            executor->barrier ? executor->verdict : NULL);
        break;
    default: /* one rank neither sends nor gathers */
        break;
    }
}

/* Gradients are summed up from nothing. */
static void clear(const struct yk_executor *executor)
{
    const struct yk_net *net = executor->store->net;
    const int64_t width = yk_precision_bytes(net->workload.precision);
    struct yk_backend_lane *lane = executor->lanes[YK_LANE_COMPUTE];
    for (int32_t l = 0; l < net->layer_count; l++) {
        if (net->layers[l].trained > 0) {
            executor->backend->clear(lane, executor->store->layers[l].gradients,
                                     (size_t)(net->layers[l].trained * width));
        }
    }
    executor->backend->clear(lane, executor->loss, sizeof *executor->loss);
}

static void put_all(const struct yk_executor *executor)
{
    const struct yk_backend *backend = executor->backend;
    clear(executor);
    for (int32_t i = 0; i < executor->list->op_count; i++) {
        const struct yk_op *op = &executor->list->ops[i];
        struct yk_backend_lane *lane = executor->lanes[op->lane];
        for (int32_t w = 0; w < op->wait_count; w++) {
            const int32_t waited = executor->list->waits[op->first_wait + w].op;
            if (executor->list->ops[waited].lane != op->lane) {
                backend->wait(lane, executor->events[waited].ended);
            }
        }
        backend->record(lane, executor->events[i].started);
        put(executor, i);
        backend->record(lane, executor->events[i].ended);
    }
}

/* The result, after everything; without a barrier the norm is known only now. */
static void put_result(const struct yk_executor *executor)
{
    struct yk_backend_lane *lane = executor->lanes[YK_LANE_COMPUTE];
    if (!executor->barrier) {
        judge(executor, lane);
    }
    executor->backend->copy(lane, &executor->read->loss, executor->loss, sizeof *executor->loss);
    executor->backend->copy(lane, &executor->read->verdict, executor->verdict,
                            sizeof *executor->verdict);
    executor->backend->record(lane, executor->done);
}

yk_status yk_executor_begin(struct yk_executor *executor, const struct yk_step *step)
{
    if (step->clip > 0 && !executor->barrier) {
        return yk_fail(YK_ERROR_INPUT, "the plan was made without clipping; plan with --clip");
    }
    YK_TRY(yk_intake_check(&executor->intake, step->batch->pieces, step->batch->piece_count));
    executor->step = *step;
    executor->began_s = yk_clock_now_s();
    put_all(executor);
    put_result(executor);
    return YK_OK;
}

yk_status yk_executor_end(struct yk_executor *executor, struct yk_step_result *out)
{
    YK_TRY(executor->backend->reach(executor->done));
    const struct yk_verdict *verdict = &executor->read->verdict;
    *out = (struct yk_step_result){
        .loss = executor->read->loss / (double)executor->step.batch->counted,
        .norm = verdict->norm,
        .skipped = executor->barrier && verdict->skip != 0,
        .seconds = executor->backend->event_s(executor->done) - executor->began_s,
    };
    return YK_OK;
}

static yk_status add_events(const struct yk_executor *executor, struct yk_trace *trace)
{
    struct yk_text name = {0};
    yk_status status = YK_OK;
    for (int32_t i = 0; i < executor->list->op_count && status == YK_OK; i++) {
        const struct yk_op *op = &executor->list->ops[i];
        name.length = 0;
        yk_op_describe(executor->program, op, &name);
        status = yk_text_status(&name);
        if (status == YK_OK) {
            const struct yk_trace_event event = {
                .lane = op->lane,
                .op = yk_text_chars(&name),
                .start_s =
                    executor->backend->event_s(executor->events[i].started) - executor->began_s,
                .end_s = executor->backend->event_s(executor->events[i].ended) - executor->began_s,
                .bytes = op->bytes,
            };
            status = yk_trace_add_event(trace, &event, NULL);
        }
    }
    yk_text_free(&name);
    return status;
}

yk_status yk_executor_trace(const struct yk_executor *executor, const char *device,
                            struct yk_trace **out)
{
    struct yk_trace *trace = NULL;
    YK_TRY(yk_trace_create(&trace));
    yk_status status = yk_trace_add_rank(trace, device);
    if (status == YK_OK) {
        status = add_events(executor, trace);
    }
    if (status != YK_OK) {
        yk_trace_destroy(trace);
        return status;
    }
    *out = trace;
    return YK_OK;
}
