#include "measure/calibration.h"

#include "base/array.h"
#include "cost/communication.h"
#include "cost/profile_key.h"
#include "measure/timings.h"
#include "sim/collective_rings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sorts that take less of all time than this say little, and that with noise. */
static const double min_part = 0.01;

/* Of its speed, what overlap can cost an op at most: ten times as long is something else. */
static const double max_lost = 0.9;

struct state {
    const struct yk_calibration_request *request;
    struct yk_arena *arena;
    struct yk_collective_ring *rings; /* by group; the last is of all ranks */
    struct yk_calibration *out;
    int32_t **class_of; /* (ranks), each (ops); −1: of no class */
};

/* An op with less than this part of its time overlapped counts as alone, with more than 1 less this
 * as overlapped throughout. */
#define APART 0.1

/* Times of another program say nothing about this one. */
static yk_status check_rank(const struct yk_calibration_request *request, int32_t rank)
{
    const struct yk_op_list *list = &request->program->ranks[rank];
    const struct yk_op_times_rank *spent = &request->measured->ranks[rank];
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
    if (request->measured->rank_count != request->program->rank_count) {
        return yk_fail(YK_ERROR_INPUT,
                       "the plan has %d ranks, and %d were measured: these are times of another "
                       "plan",
                       (int)request->program->rank_count, (int)request->measured->rank_count);
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

static void describe_pass(const struct state *state, int32_t rank, const struct yk_op *op,
                          struct yk_calibration_op_class *out)
{
    const struct yk_program *program = state->request->program;
    const bool updates = op->kind == YK_OP_UPDATE;
    const int32_t number = updates ? program->layers[op->layer].weights_owner : op->layer;
    const struct yk_layer *layer = &yk_model_cache_get_whole_batch(program->cache)->layers[number];
    out->layer = layer->kind;
    out->shape = layer->shape;
    out->size = updates ? 0 : op->samples;
    out->device = program->plan->ranks[rank].device;
}

/* A message is known by the link, the collective and its bytes, were all parts as large as the
 * largest: as cost looks it up. */
static void describe_message(const struct state *state, int32_t rank, const struct yk_op *op,
                             char name[YK_PROFILE_KEY_SIZE], struct yk_calibration_op_class *out)
{
    const struct yk_plan *plan = state->request->program->plan;
    const struct yk_cluster *cluster = state->request->program->cluster;
    int32_t from = plan->ranks[rank].device;
    int32_t to = op->peer >= 0 ? plan->ranks[op->peer].device : from;
    double bytes = op->bytes;
    out->ranks = 2;
    if (out->kind != YK_OP_SEND) {
        const struct yk_collective_ring *ring =
            &state->rings[op->kind == YK_OP_AGREE ? plan->group_count : op->group];
        const int32_t n = ring->ranks.count;
        const double largest = out->kind == YK_OP_ALL_REDUCE ? 0 : bytes * ring->largest_part;
        const double part_bytes = n > 0 ? fmax(bytes / n, largest) : 0;
        double round_s = 0;
        const int32_t slowest =
            n > 0 ? yk_communication_slowest_ring_link(cluster, &ring->ranks, part_bytes, &round_s)
                  : 0;
        from = n > 0 ? ring->ranks.devices[slowest] : from;
        to = n > 0 ? ring->ranks.devices[(slowest + 1) % n] : to;
        bytes = part_bytes * n;
        out->ranks = n;
    }
    out->device = from;
    out->size = (int64_t)llround(bytes);
    out->is_known =
        yk_profile_key_format_link(cluster, state->request->program->measurements, from, to, name);
}

/* Devices that are different parts of one kind have different times. */
static bool is_like(const struct state *state, const struct yk_calibration_op_class *a,
                    const struct yk_calibration_op_class *b)
{
    const struct yk_device *devices = state->request->program->cluster->devices;
    const bool same_shape =
        a->shape && b->shape ? strcmp(a->shape, b->shape) == 0 : a->shape == b->shape;
    return a->kind == b->kind && a->size == b->size && a->ranks == b->ranks && same_shape &&
           strcmp(a->profile_key, b->profile_key) == 0 &&
           (a->ranks > 0 || devices[a->device].fraction == devices[b->device].fraction);
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
        return op->match != YK_OP_NO_MATCH && op->bytes > 0;
    }
}

/* The class of an op, found or begun; −1 of an op that takes no time, or of which no profile has
 * times. */
static yk_status find_class(struct state *state, int32_t rank, const struct yk_op *op, int32_t *out)
{
    struct yk_calibration *made = state->out;
    const struct yk_cluster *cluster = state->request->program->cluster;
    struct yk_calibration_op_class class = {
        .kind = kind_of(op), .versions = state->request->measured->ranks[rank].versions};
    char name[YK_PROFILE_KEY_SIZE];
    *out = -1;
    if (!is_timed(op)) {
        return YK_OK;
    }
    if (op->match != YK_OP_NO_MATCH) {
        describe_message(state, rank, op, name, &class);
        if (class.ranks < 2) {
            return YK_OK;
        }
    } else {
        describe_pass(state, rank, op, &class);
        class.is_known = yk_profile_key_format_device_type(&cluster->devices[class.device], name);
    }
    class.profile_key = class.is_known ? name : cluster->devices[class.device].name;
    for (int32_t i = 0; i < made->class_count; i++) {
        if (is_like(state, &made->classes[i], &class)) {
            *out = i;
            return YK_OK;
        }
    }
    YK_TRY(yk_arena_strdup(state->arena, class.profile_key, &class.profile_key));
    YK_TRY(yk_arena_strdup(state->arena, class.layer, &class.layer));
    YK_TRY(yk_arena_strdup(state->arena, class.shape, &class.shape));
    YK_TRY_GROW_ARRAY(made->classes, made->class_capacity, made->class_count);
    *out = made->class_count;
    made->classes[made->class_count++] = class;
    return YK_OK;
}

/* What the ops of one class add up to. */
struct sum {
    double seconds;
    int32_t count;
};

/* Ops on one side: almost not overlapped, or almost throughout. */
struct side {
    double rate; /* 1 over seconds */
    double overlap;
    int32_t count;
};

struct sums {
    struct side alone;
    struct side overlapped;
    struct sum first;  /* without what slowed them: backward of the first micro-batch */
    struct sum others; /* all others */
    double part;
    double spread;
};

static void add(struct sum *sum, double seconds)
{
    sum->seconds += seconds;
    sum->count++;
}

static double mean(const struct sum *sum)
{
    return sum->count > 0 ? sum->seconds / sum->count : NAN;
}

static bool is_message(const struct yk_calibration_op_class *class)
{
    return class->ranks > 0;
}

/* What of the whole layer's update is this rank's. */
static double part_of(const struct yk_program *program, int32_t rank, const struct yk_op *op)
{
    const struct yk_plan *plan = program->plan;
    const int32_t leader = program->layers[op->layer].weights_owner;
    const struct yk_plan_group *group = &plan->groups[plan->layers[leader].group];
    double part = yk_plan_effective_strategy(plan, leader) == YK_SHARDING_REPLICATED ? 1 : 0;
    for (int32_t i = 0; i < group->member_count && part == 0; i++) {
        part = group->members[i].rank == rank ? group->members[i].shard_fraction : 0;
    }
    return part;
}

/* ---- slowdowns ---- */

static void add_to_side(struct side *side, const struct yk_op_times_op *op)
{
    side->rate += 1 / op->seconds;
    side->overlap += op->overlap;
    side->count++;
}

/* An op that takes `a` alone takes 1 / d = (1 − k·f) / a with the part f overlapped, and k is 1
 * less the slowdown's inverse: two sides give both. NAN where a side has no op. */
static double slowdown_of(const struct sums *sums)
{
    const struct side *alone = &sums->alone;
    const struct side *both = &sums->overlapped;
    if (alone->count == 0 || both->count == 0) {
        return NAN;
    }
    const double more = alone->rate / alone->count - both->rate / both->count;
    const double k = more * alone->count * both->count /
                     (alone->rate * both->overlap - both->rate * alone->overlap);
    return k > 0 ? 1 / (1 - fmin(k, max_lost)) : 1;
}

static void compare_sides(const struct state *state, struct sums *sums)
{
    const struct yk_calibration_request *request = state->request;
    for (int32_t r = 0; r < request->program->rank_count; r++) {
        for (int32_t i = 0; i < request->measured->ranks[r].op_count; i++) {
            const struct yk_op_times_op *op = &request->measured->ranks[r].ops[i];
            const int32_t class = state->class_of[r][i];
            if (class >= 0 && op->seconds > 0 && op->overlap <= APART) {
                add_to_side(&sums[class].alone, op);
            } else if (class >= 0 && op->seconds > 0 && op->overlap >= 1 - APART) {
                add_to_side(&sums[class].overlapped, op);
            }
        }
    }
}

/* The slowdown of messages, or of computation: the median over classes that have both sides; no
 * samples where the run does not show it. */
static yk_status estimate(const struct state *state, const struct sums *sums, bool messages,
                          struct yk_profile_measurement *out)
{
    const struct yk_calibration *made = state->out;
    struct yk_timings slowdowns = {0};
    yk_status status = YK_OK;
    double all_s = 0;
    for (int32_t i = 0; i < made->class_count; i++) {
        all_s += is_message(&made->classes[i]) == messages
                     ? made->classes[i].times * made->classes[i].measured_s
                     : 0;
    }
    for (int32_t i = 0; i < made->class_count && status == YK_OK; i++) {
        const struct yk_calibration_op_class *class = &made->classes[i];
        const double slowdown = slowdown_of(&sums[i]);
        if (is_message(class) == messages && isfinite(slowdown) &&
            class->times * class->measured_s >= min_part * all_s) {
            status = yk_timings_add(&slowdowns, slowdown);
        }
    }
    *out = yk_timings_summarize(&slowdowns, state->request->measured->ranks[0].versions);
    out->samples *= state->request->measured->steps;
    yk_timings_free(&slowdowns);
    return status;
}

/* The link that all messages take; NULL where there are several, or none that has a name. */
static const char *find_link(const struct yk_calibration *made, bool *has_messages)
{
    const char *link = NULL;
    *has_messages = false;
    for (int32_t i = 0; i < made->class_count; i++) {
        const struct yk_calibration_op_class *class = &made->classes[i];
        if (!is_message(class)) {
            continue;
        }
        *has_messages = true;
        if (!class->is_known || (link && strcmp(link, class->profile_key) != 0)) {
            return NULL;
        }
        link = class->profile_key;
    }
    return link;
}

/* The slowdown of messages by the profile, the worst of all links of the run. */
static yk_status find_known(const struct state *state, double *out)
{
    const struct yk_calibration *made = state->out;
    struct yk_profile *profile = state->request->sources->profile;
    for (int32_t i = 0; profile && i < made->class_count; i++) {
        const struct yk_profile_fact_key fact = {made->classes[i].profile_key,
                                                 YK_PROFILE_FACT_MESSAGE_SLOWDOWN};
        double value = NAN;
        if (is_message(&made->classes[i]) && made->classes[i].is_known) {
            YK_TRY(yk_profile_find_fact_value(profile, &fact, &value));
        }
        if (value >= 1 && isfinite(value)) {
            *out = fmax(*out, value); /* of NAN and a number, the number */
        }
    }
    return YK_OK;
}

static yk_status add_fact(struct state *state, const char *link, const char *name,
                          const struct yk_profile_measurement *made)
{
    const struct yk_profiler_fact_row row = {.fact = {link, name}, .measurement = *made};
    return yk_profiler_add_fact_row(&state->out->rows, &row);
}

static yk_status find_slowdowns(struct state *state, struct sums *sums)
{
    struct yk_calibration *made = state->out;
    bool has_messages = false;
    const char *link = find_link(made, &has_messages);
    struct yk_profile_measurement compute = {0};
    struct yk_profile_measurement message = {0};
    made->compute_slowdown = has_messages ? state->request->sim->slowdown : NAN;
    made->message_slowdown = NAN;
    YK_TRY(find_known(state, &made->message_slowdown));
    if (!link) {
        return YK_OK;
    }
    compare_sides(state, sums);
    YK_TRY(estimate(state, sums, false, &compute));
    YK_TRY(estimate(state, sums, true, &message));
    if (compute.samples > 0) {
        made->estimated_compute = true;
        made->compute_slowdown = compute.value;
        YK_TRY(add_fact(state, link, YK_PROFILE_FACT_COMPUTE_SLOWDOWN, &compute));
    }
    if (message.samples > 0 && isnan(made->message_slowdown)) {
        made->estimated_message = true;
        made->message_slowdown = message.value;
        YK_TRY(add_fact(state, link, YK_PROFILE_FACT_MESSAGE_SLOWDOWN, &message));
    }
    return YK_OK;
}

/* ---- classes alone ---- */

static void add_alone(const struct state *state, int32_t rank, int32_t number, struct sums *sums)
{
    const struct yk_calibration_request *request = state->request;
    const struct yk_op *op = &request->program->ranks[rank].ops[number];
    const struct yk_op_times_op *spent = &request->measured->ranks[rank].ops[number];
    const bool message = op->match != YK_OP_NO_MATCH;
    const double slowdown = message ? state->out->message_slowdown : state->out->compute_slowdown;
    const bool first = op->kind == YK_OP_BACKWARD && op->micro_batch == 0;
    if (message && isnan(slowdown) && spent->overlap > APART) {
        return;
    }
    const double kept = isnan(slowdown) ? 1 : 1 - spent->overlap + spent->overlap / slowdown;
    const double part = op->kind == YK_OP_UPDATE ? part_of(request->program, rank, op) : 1;
    const double scale =
        message ? 1 : request->sim->ranks[rank].compute_time_factor; /* with all others at work */
    if (!(part > 0) || !(spent->seconds > 0)) {
        return;
    }
    add(first ? &sums->first : &sums->others, spent->seconds * kept / part / scale);
    sums->part += part;
    sums->spread += (spent->high_s - spent->low_s) / 2 / spent->seconds;
}

/* What the first backward of a step takes longer than others of its class: clearing gradients. */
static double extra_s(const struct sums *sums)
{
    const double more_s = mean(&sums->first) - mean(&sums->others);
    return more_s > 0 ? more_s : 0; /* of NAN 0, too */
}

static void compute_classes(struct yk_calibration *made, const struct sums *sums)
{
    for (int32_t i = 0; i < made->class_count; i++) {
        struct yk_calibration_op_class *class = &made->classes[i];
        const int32_t count = sums[i].first.count + sums[i].others.count;
        const struct sum all = {sums[i].first.seconds + sums[i].others.seconds, count};
        class->alone_s = mean(extra_s(&sums[i]) > 0 ? &sums[i].others : &all);
        class->layer_fraction = count > 0 ? sums[i].part / count : NAN;
        class->spread = count > 0 ? sums[i].spread / count : NAN;
        made->skipped_message_classes += is_message(class) && isnan(class->alone_s) ? 1 : 0;
    }
    for (int32_t i = 0; i < made->class_count; i++) {
        const struct yk_calibration_op_class *backward = &made->classes[i];
        for (int32_t k = 0; k < made->class_count; k++) {
            struct yk_calibration_op_class *update = &made->classes[k];
            if (backward->kind == YK_OP_BACKWARD && update->kind == YK_OP_UPDATE &&
                strcmp(backward->shape, update->shape) == 0 &&
                strcmp(backward->profile_key, update->profile_key) == 0) {
                update->alone_s += extra_s(&sums[i]);
            }
        }
    }
}

/* ---- rows ---- */

static yk_status add_row(struct state *state, const struct yk_calibration_op_class *class)
{
    const struct yk_calibration_request *request = state->request;
    const struct yk_profile_measurement measurement = {
        .value = class->alone_s,
        .spread = class->spread,
        .samples = class->count * request->measured->steps,
        .versions = class->versions,
    };
    if (!class->is_known || !(class->alone_s > 0) || !isfinite(class->alone_s)) {
        return YK_OK;
    }
    if (is_message(class)) {
        const struct yk_profiler_link_row row = {
            .link = {.link = class->profile_key,
                     .collective = yk_op_kind_name(class->kind),
                     .ranks = class->ranks},
            .bytes = class->size,
            .measurement = measurement,
        };
        return class->ranks > 1 && class->size > 0
                   ? yk_profiler_add_link_row(&state->out->rows, &row)
                   : YK_OK;
    }
    const struct yk_program *program = request->program;
    const struct yk_profiler_layer_row row = {
        .layer = {.device = class->profile_key,
                  .part = yk_profile_key_measured_fraction(
                      &program->cluster->devices[class->device],
                      program->measurements ? &program->measurements[class->device] : NULL),
                  .shape = class->shape,
                  .sequence = program->plan->workload.sequence,
                  .pass = yk_op_kind_name(class->kind)},
        .batch = class->kind == YK_OP_UPDATE ? 1 : class->size,
        .measurement = measurement,
    };
    return yk_profiler_add_layer_row(&state->out->rows, &row);
}

/* Both slowdowns, the times of classes alone, and the rows. */
static yk_status compute_rows(struct state *state)
{
    const struct yk_program *program = state->request->program;
    struct yk_calibration *made = state->out;
    struct sums *sums = NULL;
    YK_TRY_NEW(state->arena, sums, (int64_t)made->class_count + 1);
    YK_TRY(find_slowdowns(state, sums));
    for (int32_t r = 0; r < program->rank_count; r++) {
        for (int32_t i = 0; i < program->ranks[r].op_count; i++) {
            if (state->class_of[r][i] >= 0) {
                add_alone(state, r, i, &sums[state->class_of[r][i]]);
            }
        }
    }
    compute_classes(made, sums);
    for (int32_t i = 0; i < made->class_count; i++) {
        YK_TRY(add_row(state, &made->classes[i]));
    }
    return YK_OK;
}

/* ---- the whole ---- */

/* The ops of a rank, and for each class how often it has it. */
static yk_status add_rank(struct state *state, int32_t rank)
{
    const struct yk_op_list *list = &state->request->program->ranks[rank];
    const struct yk_sim_rank_result *simulated = &state->request->sim->ranks[rank];
    int32_t *class_of = NULL;
    int32_t *times = NULL;
    YK_TRY_NEW(state->arena, class_of, (int64_t)list->op_count + 1);
    for (int32_t i = 0; i < list->op_count; i++) {
        YK_TRY(find_class(state, rank, &list->ops[i], &class_of[i]));
    }
    YK_TRY_NEW(state->arena, times, (int64_t)state->out->class_count + 1);
    for (int32_t i = 0; i < list->op_count; i++) {
        if (class_of[i] >= 0) {
            struct yk_calibration_op_class *class = &state->out->classes[class_of[i]];
            class->count++;
            class->predicted_s += simulated->end_s[i] - simulated->start_s[i];
            class->measured_s += state->request->measured->ranks[rank].ops[i].seconds;
            times[class_of[i]]++;
            class->times = times[class_of[i]] > class->times ? times[class_of[i]] : class->times;
        }
    }
    state->class_of[rank] = class_of;
    return YK_OK;
}

static void finish_means(struct yk_calibration *made)
{
    for (int32_t i = 0; i < made->class_count; i++) {
        struct yk_calibration_op_class *class = &made->classes[i];
        class->place = i;
        class->predicted_s /= class->count;
        class->measured_s /= class->count;
        class->difference_s = class->times * (class->measured_s - class->predicted_s);
    }
}

/* The largest difference first; of equal ones, as they come in a step. */
static int compare_classes(const void *a, const void *b)
{
    const struct yk_calibration_op_class *left = a;
    const struct yk_calibration_op_class *right = b;
    const double difference_s = fabs(right->difference_s) - fabs(left->difference_s);
    return difference_s < 0 ? -1 : difference_s > 0 ? 1 : left->place - right->place;
}

yk_status yk_calibration_compute(const struct yk_calibration_request *request,
                                 struct yk_arena *arena, struct yk_calibration *out)
{
    struct state state = {.request = request, .arena = arena, .out = out};
    YK_TRY(check(request));
    YK_TRY(yk_profiler_init(&out->rows));
    YK_TRY(
        yk_collective_rings_create(request->program->plan, request->sources, arena, &state.rings));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, state.class_of, request->program->rank_count);
    for (int32_t r = 0; r < request->program->rank_count; r++) {
        YK_TRY(add_rank(&state, r));
    }
    finish_means(out);
    YK_TRY(compute_rows(&state));
    if (out->class_count > 0) {
        qsort(out->classes, (size_t)out->class_count, sizeof *out->classes, compare_classes);
    }
    return YK_OK;
}

void yk_calibration_free(struct yk_calibration *calibration)
{
    free(calibration->classes);
    yk_profiler_free(&calibration->rows);
    *calibration = (struct yk_calibration){0};
}
