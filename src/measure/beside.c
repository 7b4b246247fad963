#include "measure/beside.h"

#include "comm/exchange.h"
#include "cost/subject.h"
#include "measure/exchange_times.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROUNDS = 7,
    MESSAGE_BYTES = 1 << 20, /* about what plans cut messages to */
};

/* Of the time that computation takes alone, how much the two must share to tell anything. */
static const double least_shared = 0.1;

double yk_beside_compute(struct yk_beside_span compute, double alone_s,
                         struct yk_beside_span messages)
{
    const double shared_s =
        fmin(compute.end_s, messages.end_s) - fmax(compute.begin_s, messages.begin_s);
    const double apart_s = compute.end_s - compute.begin_s - shared_s;
    if (!(shared_s > least_shared * alone_s)) {
        return NAN;
    }
    /* What was left to do while both were under way, and what it took. */
    const double done_s = fmax(alone_s - apart_s, least_shared * shared_s);
    return fmax(shared_s / done_s, 1);
}

double yk_beside_message(struct yk_beside_span compute, const double *begin_s, const double *end_s,
                         int32_t count)
{
    double sum_s = 0;
    int32_t inside = 0;
    for (int32_t i = 0; i < count; i++) {
        if (begin_s[i] >= compute.begin_s && end_s[i] <= compute.end_s) {
            sum_s += end_s[i] - begin_s[i];
            inside++;
        }
    }
    return inside > 0 ? sum_s / inside : NAN;
}

/* Both at once. */
struct meeting {
    struct yk_beside_span compute;
    struct yk_beside_span messages;
    double message_s; /* of one; NAN: none began and ended beside computation */
};

struct besiding {
    const struct yk_measure_ranks *team;
    struct yk_rehearsal *rehearsal;
    struct yk_exchange_times *exchanges;
    int32_t row; /* messages */
    double begin_s[YK_EXCHANGE_ROW];
    double end_s[YK_EXCHANGE_ROW];
    struct yk_timings compute_alone;
    struct yk_timings message_alone;
    struct yk_timings compute;
    struct yk_timings message;
};

static yk_status step(struct besiding *besiding, struct yk_beside_span *out)
{
    const struct yk_rehearsal_round *round = NULL;
    YK_TRY(yk_rehearsal_end(besiding->rehearsal, &round));
    const struct yk_program_rank *list = &yk_rehearsal_program(besiding->rehearsal)->ranks[0];
    struct yk_beside_span span = {INFINITY, 0};
    for (int32_t i = 0; i < list->op_count; i++) {
        if (list->ops[i].lane == YK_LANE_COMPUTE) {
            span.begin_s = fmin(span.begin_s, round->begin_s[i]);
            span.end_s = fmax(span.end_s, round->end_s[i]);
        }
    }
    *out = span;
    return YK_OK;
}

/* As many messages as take about as long as the step. */
static yk_status find_row(struct besiding *besiding)
{
    double alone_s = 0;
    YK_TRY(
        yk_exchange_times_take(besiding->exchanges, YK_EXCHANGE_REDUCE, MESSAGE_BYTES, &alone_s));
    struct yk_beside_span span;
    YK_TRY(yk_rehearsal_begin(besiding->rehearsal));
    YK_TRY(step(besiding, &span));
    double row = (span.end_s - span.begin_s) / alone_s;
    YK_TRY(yk_measure_most(besiding->team, row, &row));
    besiding->row = row < 2 ? 2 : row < YK_EXCHANGE_ROW ? (int32_t)row : YK_EXCHANGE_ROW;
    return YK_OK;
}

static yk_status put_row(struct besiding *besiding)
{
    return yk_exchange_times_put_row(besiding->exchanges, YK_EXCHANGE_REDUCE, MESSAGE_BYTES,
                                     besiding->row);
}

static yk_status run_alone(struct besiding *besiding)
{
    struct yk_beside_span span;
    YK_TRY(yk_exchange_barrier(besiding->team->ranks));
    YK_TRY(yk_rehearsal_begin(besiding->rehearsal));
    YK_TRY(step(besiding, &span));
    YK_TRY(yk_timings_add(&besiding->compute_alone, span.end_s - span.begin_s));
    YK_TRY(yk_exchange_barrier(besiding->team->ranks));
    YK_TRY(put_row(besiding));
    YK_TRY(yk_exchange_times_read_row(besiding->exchanges, besiding->begin_s, besiding->end_s));
    return yk_timings_add(&besiding->message_alone,
                          (besiding->end_s[besiding->row - 1] - besiding->begin_s[0]) /
                              besiding->row);
}

static yk_status run_both(struct besiding *besiding, struct meeting *out)
{
    YK_TRY(yk_exchange_barrier(besiding->team->ranks));
    YK_TRY(yk_rehearsal_begin(besiding->rehearsal));
    YK_TRY(put_row(besiding));
    YK_TRY(step(besiding, &out->compute));
    YK_TRY(yk_exchange_times_read_row(besiding->exchanges, besiding->begin_s, besiding->end_s));
    out->messages =
        (struct yk_beside_span){besiding->begin_s[0], besiding->end_s[besiding->row - 1]};
    out->message_s =
        yk_beside_message(out->compute, besiding->begin_s, besiding->end_s, besiding->row);
    return YK_OK;
}

/* Alone and both in turn, so that whatever else the machine does disturbs both alike. */
static yk_status run_rounds(struct besiding *besiding, const struct yk_survey_wish *wish,
                            struct yk_survey *survey)
{
    struct meeting meetings[ROUNDS];
    int32_t count = 0;
    bool stops = false;
    YK_TRY(find_row(besiding));
    while (count < ROUNDS && !stops) {
        YK_TRY(yk_survey_stops(survey, besiding->team, wish, &stops));
        if (!stops) {
            YK_TRY(run_alone(besiding));
            YK_TRY(run_both(besiding, &meetings[count++]));
        }
    }
    const double compute_s = yk_timings_summarise(&besiding->compute_alone, "").value;
    const double message_s = yk_timings_summarise(&besiding->message_alone, "").value;
    for (int32_t i = 0; i < count; i++) {
        const struct meeting *met = &meetings[i];
        const double compute = yk_beside_compute(met->compute, compute_s, met->messages);
        if (!isnan(compute)) {
            YK_TRY(yk_timings_add(&besiding->compute, compute));
        }
        if (!isnan(met->message_s)) {
            YK_TRY(yk_timings_add(&besiding->message, fmax(met->message_s / message_s, 1)));
        }
    }
    return YK_OK;
}

/* The worst of the ranks. */
static yk_status add_fact(const struct besiding *besiding, const struct yk_survey_wish *wish,
                          struct yk_survey *survey, struct yk_timings *timings, const char *name)
{
    char link[YK_SUBJECT_SIZE];
    struct yk_profile_measurement made = yk_timings_summarise(timings, wish->versions);
    YK_TRY(yk_measure_most(besiding->team, made.samples > 0 ? made.value : 0, &made.value));
    const struct yk_survey_fact fact = {.fact = {link, name}, .measurement = made};
    return made.value >= 1 && yk_subject_link(wish->cluster, 0, 1, link)
               ? yk_survey_add_fact(survey, &fact)
               : YK_OK;
}

static yk_status measure(struct besiding *besiding, const struct yk_survey_wish *wish,
                         struct yk_survey *survey)
{
    YK_TRY(yk_exchange_times_create(besiding->team, MESSAGE_BYTES, &besiding->exchanges));
    YK_TRY(run_rounds(besiding, wish, survey));
    YK_TRY(add_fact(besiding, wish, survey, &besiding->compute, YK_PROFILE_COMPUTE_BESIDE));
    return add_fact(besiding, wish, survey, &besiding->message, YK_PROFILE_MESSAGE_BESIDE);
}

yk_status yk_survey_beside(struct yk_survey *survey, const struct yk_measure_ranks *team,
                           const struct yk_survey_wish *wish, struct yk_rehearsal *rehearsal)
{
    struct besiding *besiding = calloc(1, sizeof *besiding);
    if (!besiding) {
        return yk_fail_out_of_memory();
    }
    besiding->team = team;
    besiding->rehearsal = rehearsal;
    const yk_status status = measure(besiding, wish, survey);
    yk_timings_free(&besiding->compute_alone);
    yk_timings_free(&besiding->message_alone);
    yk_timings_free(&besiding->compute);
    yk_timings_free(&besiding->message);
    yk_exchange_times_destroy(besiding->exchanges);
    free(besiding);
    return status;
}
