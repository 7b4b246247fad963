#include "measure/calibration/rows.h"

#include "cost/communication.h"
#include "cost/profile_key.h"
#include "measure/timings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sorts that take less of all time than this say little, and that with noise. */
static const double least_part = 0.01;

/* Of its speed, what an op can lose at most beside others: ten times as long is no slowdown but
 * something else. */
static const double most_lost = 0.9;

/* What the ops of one sort add up to. */
struct sum {
    double seconds;
    int32_t count;
};

/* Ops on one side: with almost nothing beside them, or with something almost throughout. */
struct side {
    double rate; /* 1 over seconds */
    double beside;
    int32_t count;
};

struct sums {
    struct side alone;
    struct side beside;
    struct sum first; /* without what slowed them: backward of the first micro-batch */
    struct sum rest;  /* all others */
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

static bool is_message(const struct yk_calibration_class *sort)
{
    return sort->ranks > 0;
}

/* What of the whole layer's update is this rank's. */
static double part_of(const struct yk_program *program, int32_t rank, const struct yk_op *op)
{
    const struct yk_plan *plan = program->plan;
    const int32_t leader = program->layers[op->layer].leader;
    const struct yk_plan_group *group = &plan->groups[plan->layers[leader].group];
    double part = yk_plan_strategy(plan, leader) == YK_REPLICATED ? 1 : 0;
    for (int32_t i = 0; i < group->member_count && part == 0; i++) {
        part = group->members[i].rank == rank ? group->members[i].part : 0;
    }
    return part;
}

/* ---- slowdowns ---- */

static void add_to_side(struct side *side, const struct yk_op_times_op *op)
{
    side->rate += 1 / op->seconds;
    side->beside += op->overlap;
    side->count++;
}

/* An op that takes `a` alone takes 1 / d = (1 − k·f) / a with the part f beside, and k is 1 less
 * the slowdown's inverse: two sides give both. NAN where a side has no op. */
static double slowdown_of(const struct sums *sums)
{
    const struct side *alone = &sums->alone;
    const struct side *beside = &sums->beside;
    if (alone->count == 0 || beside->count == 0) {
        return NAN;
    }
    const double more = alone->rate / alone->count - beside->rate / beside->count;
    const double k = more * alone->count * beside->count /
                     (alone->rate * beside->beside - beside->rate * alone->beside);
    return k > 0 ? 1 / (1 - fmin(k, most_lost)) : 1;
}

static void compare_sides(const struct yk_calibration_state *calibrating, struct sums *sums)
{
    const struct yk_calibration_request *wish = calibrating->wish;
    for (int32_t r = 0; r < wish->program->rank_count; r++) {
        for (int32_t i = 0; i < wish->spent->ranks[r].op_count; i++) {
            const struct yk_op_times_op *op = &wish->spent->ranks[r].ops[i];
            const int32_t sort = calibrating->sort_of[r][i];
            if (sort >= 0 && op->seconds > 0 && op->overlap <= YK_CALIBRATION_APART) {
                add_to_side(&sums[sort].alone, op);
            } else if (sort >= 0 && op->seconds > 0 && op->overlap >= 1 - YK_CALIBRATION_APART) {
                add_to_side(&sums[sort].beside, op);
            }
        }
    }
}

/* How many times as long messages, or computation, take beside the other: the median over sorts
 * that have both; of none where the run does not tell. */
static yk_status estimate(const struct yk_calibration_state *calibrating, const struct sums *sums,
                          bool messages, struct yk_profile_measurement *out)
{
    const struct yk_calibration *made = calibrating->out;
    struct yk_timings slowdowns = {0};
    yk_status status = YK_OK;
    double all_s = 0;
    for (int32_t i = 0; i < made->sort_count; i++) {
        all_s += is_message(&made->sorts[i]) == messages
                     ? made->sorts[i].times * made->sorts[i].measured_s
                     : 0;
    }
    for (int32_t i = 0; i < made->sort_count && status == YK_OK; i++) {
        const struct yk_calibration_class *sort = &made->sorts[i];
        const double slowdown = slowdown_of(&sums[i]);
        if (is_message(sort) == messages && isfinite(slowdown) &&
            sort->times * sort->measured_s >= least_part * all_s) {
            status = yk_timings_add(&slowdowns, slowdown);
        }
    }
    *out = yk_timings_summarise(&slowdowns, calibrating->wish->spent->ranks[0].versions);
    out->samples *= calibrating->wish->spent->steps;
    yk_timings_free(&slowdowns);
    return status;
}

static bool has_messages(const struct yk_calibration *made)
{
    for (int32_t i = 0; i < made->sort_count; i++) {
        if (is_message(&made->sorts[i])) {
            return true;
        }
    }
    return false;
}

/* The link that all messages take; NULL where there are several, or none that has a name. */
static const char *find_link(const struct yk_calibration *made)
{
    const char *link = NULL;
    for (int32_t i = 0; i < made->sort_count; i++) {
        const struct yk_calibration_class *sort = &made->sorts[i];
        if (is_message(sort) && (!sort->is_known || (link && strcmp(link, sort->on) != 0))) {
            return NULL;
        }
        link = is_message(sort) ? sort->on : link;
    }
    return link;
}

/* What the profile says of messages beside computation, the worst of all links of the run. */
static yk_status find_known(const struct yk_calibration_state *calibrating, double *out)
{
    const struct yk_calibration *made = calibrating->out;
    struct yk_profile *profile = calibrating->wish->book->profile;
    for (int32_t i = 0; profile && i < made->sort_count; i++) {
        const struct yk_profile_fact fact = {made->sorts[i].on, YK_PROFILE_MESSAGE_SLOWDOWN};
        double value = NAN;
        if (is_message(&made->sorts[i]) && made->sorts[i].is_known) {
            YK_TRY(yk_profile_find_fact(profile, &fact, &value));
        }
        if (value >= 1 && isfinite(value)) {
            *out = fmax(*out, value); /* of NAN and a number, the number */
        }
    }
    return YK_OK;
}

static yk_status add_fact(struct yk_calibration_state *calibrating, const char *link,
                          const char *name, const struct yk_profile_measurement *made)
{
    const struct yk_survey_fact row = {.fact = {link, name}, .measurement = *made};
    return yk_survey_add_fact(&calibrating->out->rows, &row);
}

static yk_status find_slowdowns(struct yk_calibration_state *calibrating, struct sums *sums)
{
    struct yk_calibration *made = calibrating->out;
    const char *link = find_link(made);
    struct yk_profile_measurement compute = {0};
    struct yk_profile_measurement message = {0};
    made->compute_beside = has_messages(made) ? calibrating->wish->sim->slowdown : NAN;
    made->message_beside = NAN;
    YK_TRY(find_known(calibrating, &made->message_beside));
    if (!link) {
        return YK_OK;
    }
    compare_sides(calibrating, sums);
    YK_TRY(estimate(calibrating, sums, false, &compute));
    YK_TRY(estimate(calibrating, sums, true, &message));
    if (compute.samples > 0) {
        made->estimated_compute = true;
        made->compute_beside = compute.value;
        YK_TRY(add_fact(calibrating, link, YK_PROFILE_COMPUTE_SLOWDOWN, &compute));
    }
    if (message.samples > 0 && isnan(made->message_beside)) {
        made->estimated_message = true;
        made->message_beside = message.value;
        YK_TRY(add_fact(calibrating, link, YK_PROFILE_MESSAGE_SLOWDOWN, &message));
    }
    return YK_OK;
}

/* ---- what sorts take alone ---- */

static void add_alone(const struct yk_calibration_state *calibrating, int32_t rank, int32_t number,
                      struct sums *sums)
{
    const struct yk_calibration_request *wish = calibrating->wish;
    const struct yk_op *op = &wish->program->ranks[rank].ops[number];
    const struct yk_op_times_op *spent = &wish->spent->ranks[rank].ops[number];
    const bool message = op->match != YK_NO_MATCH;
    const double slowdown =
        message ? calibrating->out->message_beside : calibrating->out->compute_beside;
    const bool first = op->kind == YK_OP_BACKWARD && op->micro_batch == 0;
    if (message && isnan(slowdown) && spent->overlap > YK_CALIBRATION_APART) {
        return;
    }
    const double kept = isnan(slowdown) ? 1 : 1 - spent->overlap + spent->overlap / slowdown;
    const double part = op->kind == YK_OP_UPDATE ? part_of(wish->program, rank, op) : 1;
    const double scale = message ? 1 : wish->sim->ranks[rank].scale; /* with all others at work */
    if (!(part > 0) || !(spent->seconds > 0)) {
        return;
    }
    add(first ? &sums->first : &sums->rest, spent->seconds * kept / part / scale);
    sums->part += part;
    sums->spread += (spent->high_s - spent->low_s) / 2 / spent->seconds;
}

/* What the first backward of a step takes longer than others of its sort: clearing gradients. */
static double extra_s(const struct sums *sums)
{
    const double more_s = mean(&sums->first) - mean(&sums->rest);
    return more_s > 0 ? more_s : 0; /* of NAN 0, too */
}

static void settle_sorts(struct yk_calibration *made, const struct sums *sums)
{
    for (int32_t i = 0; i < made->sort_count; i++) {
        struct yk_calibration_class *sort = &made->sorts[i];
        const int32_t count = sums[i].first.count + sums[i].rest.count;
        const struct sum all = {sums[i].first.seconds + sums[i].rest.seconds, count};
        sort->alone_s = mean(extra_s(&sums[i]) > 0 ? &sums[i].rest : &all);
        sort->part = count > 0 ? sums[i].part / count : NAN;
        sort->spread = count > 0 ? sums[i].spread / count : NAN;
        made->left += is_message(sort) && isnan(sort->alone_s) ? 1 : 0;
    }
    for (int32_t i = 0; i < made->sort_count; i++) {
        const struct yk_calibration_class *backward = &made->sorts[i];
        for (int32_t k = 0; k < made->sort_count; k++) {
            struct yk_calibration_class *update = &made->sorts[k];
            if (backward->kind == YK_OP_BACKWARD && update->kind == YK_OP_UPDATE &&
                strcmp(backward->shape, update->shape) == 0 &&
                strcmp(backward->on, update->on) == 0) {
                update->alone_s += extra_s(&sums[i]);
            }
        }
    }
}

/* ---- rows ---- */

/* As costs look it up. */
static const char *collective_of(const struct yk_calibration_class *sort)
{
    return sort->kind == YK_OP_SEND             ? "send"
           : sort->kind == YK_OP_ALL_GATHER     ? "all_gather"
           : sort->kind == YK_OP_REDUCE_SCATTER ? "reduce_scatter"
                                                : "all_reduce";
}

static yk_status add_row(struct yk_calibration_state *calibrating,
                         const struct yk_calibration_class *sort)
{
    const struct yk_calibration_request *wish = calibrating->wish;
    const struct yk_profile_measurement measurement = {
        .value = sort->alone_s,
        .spread = sort->spread,
        .samples = sort->count * wish->spent->steps,
        .versions = sort->versions,
    };
    if (!sort->is_known || !(sort->alone_s > 0) || !isfinite(sort->alone_s)) {
        return YK_OK;
    }
    if (is_message(sort)) {
        const struct yk_survey_link row = {
            .link = {.link = sort->on, .collective = collective_of(sort), .ranks = sort->ranks},
            .bytes = sort->size,
            .measurement = measurement,
        };
        return sort->ranks > 1 && sort->size > 0 ? yk_survey_add_link(&calibrating->out->rows, &row)
                                                 : YK_OK;
    }
    const struct yk_program *program = wish->program;
    const struct yk_survey_layer row = {
        .layer = {.device = sort->on,
                  .part =
                      yk_profile_key_part(&program->cluster->devices[sort->device],
                                          program->facts ? &program->facts[sort->device] : NULL),
                  .shape = sort->shape,
                  .sequence = program->plan->workload.sequence,
                  .pass = yk_op_kind_name(sort->kind)},
        .batch = sort->kind == YK_OP_UPDATE ? 1 : sort->size,
        .measurement = measurement,
    };
    return yk_survey_add_layer(&calibrating->out->rows, &row);
}

yk_status yk_calibration_rows_compute(struct yk_calibration_state *calibrating)
{
    const struct yk_program *program = calibrating->wish->program;
    struct yk_calibration *made = calibrating->out;
    struct sums *sums = NULL;
    YK_TRY_NEW(calibrating->arena, sums, (int64_t)made->sort_count + 1);
    YK_TRY(find_slowdowns(calibrating, sums));
    for (int32_t r = 0; r < program->rank_count; r++) {
        for (int32_t i = 0; i < program->ranks[r].op_count; i++) {
            if (calibrating->sort_of[r][i] >= 0) {
                add_alone(calibrating, r, i, &sums[calibrating->sort_of[r][i]]);
            }
        }
    }
    settle_sorts(made, sums);
    for (int32_t i = 0; i < made->sort_count; i++) {
        YK_TRY(add_row(calibrating, &made->sorts[i]));
    }
    return YK_OK;
}
