#include "measure/calibration/calibration.h"

#include "base/array.h"
#include "cost/profile_key.h"
#include "measure/calibration/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times of another program say nothing about this one. */
static yk_status check_rank(const struct yk_calibration_request *request, int32_t rank)
{
    const struct yk_program_rank *list = &request->program->ranks[rank];
    const struct yk_op_times_rank *spent = &request->spent->ranks[rank];
    struct yk_text name = {0};
    yk_status status =
        spent->op_count == list->op_count
            ? YK_OK
            : yk_fail(YK_ERROR_INPUT,
                      "rank %d has %d ops in the plan, and %d were measured: these are times of "
                      "another plan",
                      (int)rank, (int)list->op_count, (int)spent->op_count);
    for (int32_t i = 0; i < list->op_count && status == YK_OK; i++) {
        name.length = 0;
        yk_op_describe(request->program, &list->ops[i], &name);
        status = yk_text_status(&name);
        if (status == YK_OK && strcmp(yk_text_chars(&name), spent->ops[i].op) != 0) {
            status = yk_fail(YK_ERROR_INPUT,
                             "op %d of rank %d is \"%s\" in the plan, and \"%s\" was measured: "
                             "these are times of another plan",
                             (int)i, (int)rank, yk_text_chars(&name), spent->ops[i].op);
        }
    }
    yk_text_free(&name);
    return status;
}

static yk_status check(const struct yk_calibration_request *request)
{
    if (request->spent->rank_count != request->program->rank_count) {
        return yk_fail(YK_ERROR_INPUT,
                       "the plan has %d ranks, and %d were measured: these are times of another "
                       "plan",
                       (int)request->program->rank_count, (int)request->spent->rank_count);
    }
    for (int32_t r = 0; r < request->program->rank_count; r++) {
        YK_TRY(check_rank(request, r));
    }
    return YK_OK;
}

/* ---- classes ---- */

/* What one number stands for, whatever the op's own name. */
static enum yk_op_kind kind_of(const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_RECOMPUTE:
        return YK_OP_FORWARD;
    case YK_OP_RECV:
        return YK_OP_SEND;
    case YK_OP_AGREE:
        return YK_OP_ALL_REDUCE;
    default:
        return op->kind;
    }
}

static yk_status keep_name(const struct yk_calibration_state *state, const char *name,
                           const char **out)
{
    *out = yk_arena_copy_text(state->arena, name, strlen(name));
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static void describe_pass(const struct yk_calibration_state *state, int32_t rank,
                          const struct yk_op *op, struct yk_calibration_class *out)
{
    const struct yk_program *program = state->request->program;
    const bool updates = op->kind == YK_OP_UPDATE;
    const int32_t number = updates ? program->layers[op->layer].leader : op->layer;
    const struct yk_layer *layer = &yk_model_sizes_whole_batch(program->sizes)->layers[number];
    out->layer = layer->kind;
    out->shape = layer->shape;
    out->size = updates ? 0 : op->samples;
    out->device = program->plan->ranks[rank].device;
}

/* A message is known by the link, the collective and its bytes, were all parts as large as the
 * largest: as cost looks it up. */
static void describe_message(const struct yk_calibration_state *state, int32_t rank,
                             const struct yk_op *op, char name[YK_PROFILE_KEY_SIZE],
                             struct yk_calibration_class *out)
{
    const struct yk_plan *plan = state->request->program->plan;
    const struct yk_cluster *cluster = state->request->program->cluster;
    int32_t from = plan->ranks[rank].device;
    int32_t to = op->peer >= 0 ? plan->ranks[op->peer].device : from;
    double bytes = op->bytes;
    out->ranks = 2;
    if (out->kind != YK_OP_SEND) {
        const struct yk_ring *ring =
            &state->rings[op->kind == YK_OP_AGREE ? plan->group_count : op->group];
        const int32_t n = ring->ranks.count;
        const double largest = out->kind == YK_OP_ALL_REDUCE ? 0 : bytes * ring->largest_part;
        const double part_bytes = n > 0 ? fmax(bytes / n, largest) : 0;
        double round_s = 0;
        const int32_t slowest =
            n > 0 ? yk_communication_slowest_rank(cluster, &ring->ranks, part_bytes, &round_s) : 0;
        from = n > 0 ? ring->ranks.devices[slowest] : from;
        to = n > 0 ? ring->ranks.devices[(slowest + 1) % n] : to;
        bytes = part_bytes * n;
        out->ranks = n;
    }
    out->device = from;
    out->size = (int64_t)llround(bytes);
    out->is_known = yk_profile_key_link(cluster, state->request->program->facts, from, to, name);
}

static bool are_same(const struct yk_calibration_class *a, const struct yk_calibration_class *b)
{
    const bool same_shape =
        a->shape && b->shape ? strcmp(a->shape, b->shape) == 0 : a->shape == b->shape;
    return a->kind == b->kind && a->size == b->size && a->ranks == b->ranks && same_shape &&
           strcmp(a->on, b->on) == 0;
}

/* Devices that are different parts of one kind have different times. */
static bool is_like(const struct yk_calibration_state *state, const struct yk_calibration_class *a,
                    const struct yk_calibration_class *b)
{
    const struct yk_device *devices = state->request->program->cluster->devices;
    return are_same(a, b) && (a->ranks > 0 || devices[a->device].part == devices[b->device].part);
}

static bool is_timed(const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        return op->samples > 0;
    case YK_OP_LOAD:
    case YK_OP_RELEASE:
        return false;
    case YK_OP_UPDATE:
        return true;
    default:
        return op->match != YK_NO_MATCH && op->bytes > 0;
    }
}

/* The class of an op, found or begun; −1 of an op that takes no time or that no profile has times
 * for. */
static yk_status find_class(struct yk_calibration_state *state, int32_t rank,
                            const struct yk_op *op, int32_t *out)
{
    struct yk_calibration *made = state->out;
    const struct yk_cluster *cluster = state->request->program->cluster;
    struct yk_calibration_class class = {.kind = kind_of(op),
                                         .versions = state->request->spent->ranks[rank].versions};
    char name[YK_PROFILE_KEY_SIZE];
    *out = -1;
    if (!is_timed(op)) {
        return YK_OK;
    }
    if (op->match != YK_NO_MATCH) {
        describe_message(state, rank, op, name, &class);
        if (class.ranks < 2) {
            return YK_OK;
        }
    } else {
        describe_pass(state, rank, op, &class);
        class.is_known = yk_profile_key_device_type(&cluster->devices[class.device], name);
    }
    class.on = class.is_known ? name : cluster->devices[class.device].name;
    for (int32_t i = 0; i < made->class_count; i++) {
        if (is_like(state, &made->classes[i], &class)) {
            *out = i;
            return YK_OK;
        }
    }
    YK_TRY(keep_name(state, class.on, &class.on));
    YK_TRY(yk_array_grow((void **)&made->classes, &made->class_capacity, made->class_count,
                         sizeof class));
    *out = made->class_count;
    made->classes[made->class_count++] = class;
    return YK_OK;
}

/* ---- the whole ---- */

static void add_op(struct yk_calibration_state *state, int32_t rank, int32_t op,
                   struct yk_calibration_class *class)
{
    const struct yk_sim_rank *simulated = &state->request->sim->ranks[rank];
    class->count++;
    class->predicted_s += simulated->end_s[op] - simulated->start_s[op];
    class->measured_s += state->request->spent->ranks[rank].ops[op].seconds;
}

/* The ops of a rank, and for each sort how often it has it. */
static yk_status add_rank(struct yk_calibration_state *state, int32_t rank)
{
    const struct yk_program_rank *list = &state->request->program->ranks[rank];
    int32_t *class_of = NULL;
    YK_TRY_NEW(state->arena, class_of, (int64_t)list->op_count + 1);
    for (int32_t i = 0; i < list->op_count; i++) {
        YK_TRY(find_class(state, rank, &list->ops[i], &class_of[i]));
        if (class_of[i] >= 0) {
            add_op(state, rank, i, &state->out->classes[class_of[i]]);
        }
    }
    state->class_of[rank] = class_of;
    int32_t *times = NULL;
    YK_TRY_NEW(state->arena, times, (int64_t)state->out->class_count + 1);
    for (int32_t i = 0; i < list->op_count; i++) {
        if (class_of[i] >= 0) {
            struct yk_calibration_class *class = &state->out->classes[class_of[i]];
            times[class_of[i]]++;
            class->times = times[class_of[i]] > class->times ? times[class_of[i]] : class->times;
        }
    }
    return YK_OK;
}

static void find_means(struct yk_calibration *made)
{
    for (int32_t i = 0; i < made->class_count; i++) {
        struct yk_calibration_class *class = &made->classes[i];
        class->predicted_s /= class->count;
        class->measured_s /= class->count;
        class->difference_s = class->times * (class->measured_s - class->predicted_s);
    }
}

/* The largest difference first; of equal ones, as they come in a step. */
static int compare_classes(const void *a, const void *b)
{
    const struct yk_calibration_class *left = a;
    const struct yk_calibration_class *right = b;
    const double difference_s = fabs(right->difference_s) - fabs(left->difference_s);
    return difference_s < 0 ? -1 : difference_s > 0 ? 1 : left->place - right->place;
}

static yk_status calibrate(struct yk_calibration_state *state)
{
    const struct yk_calibration_request *request = state->request;
    struct yk_calibration *made = state->out;
    YK_TRY(check(request));
    YK_TRY(yk_survey_begin(&made->rows));
    YK_TRY(yk_rings_create(request->program->plan, request->book, state->arena, &state->rings));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(state->arena, state->class_of, request->program->rank_count);
    for (int32_t r = 0; r < request->program->rank_count; r++) {
        YK_TRY(add_rank(state, r));
    }
    find_means(made);
    YK_TRY(yk_calibration_rows_compute(state));
    for (int32_t i = 0; i < made->class_count; i++) {
        made->classes[i].place = i;
    }
    if (made->class_count > 0) {
        qsort(made->classes, (size_t)made->class_count, sizeof *made->classes, compare_classes);
    }
    return YK_OK;
}

yk_status yk_calibration_compute(const struct yk_calibration_request *request,
                                 struct yk_arena *arena, struct yk_calibration *out)
{
    struct yk_calibration_state state = {.request = request, .arena = arena, .out = out};
    return calibrate(&state);
}

void yk_calibration_free(struct yk_calibration *calibration)
{
    free(calibration->classes);
    yk_survey_free(&calibration->rows);
    *calibration = (struct yk_calibration){0};
}

yk_status yk_calibration_save(const struct yk_calibration *calibration, struct yk_profile *profile)
{
    return yk_survey_write(&calibration->rows, profile);
}
