#include "measure/slowdown/slowdown.h"

#include "base/clock.h"
#include "comm/exchange.h"
#include "measure/slowdown/pairs.h"
#include "measure/timings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_ROUNDS = 5,
    MOST_ROUNDS = 15,
    LEAST_QUIET = 3, /* rounds to believe */
    WARM_UP_STEPS = 2,
    MESSAGE_BYTES = 1 << 20, /* about what plans cut messages to, */
    /* and where the device sends them itself: each waits for the kernels under way first, however
     * large it is, which of small ones would be taken for their bandwidth */
    DEVICE_MESSAGE_BYTES = 16 << 20,
};

/* About as long as it may take for all links; no longer than layers. */
static const double usual_s = 10;

/* Of the time that computation takes alone, how much the two must share to tell anything. */
static const double least_shared = 0.1;

/* Of a step, how much messages must have met. */
static const double least_met = 0.25;

double yk_slowdown_compute_factor(struct yk_slowdown_span compute, double alone_s,
                                  struct yk_slowdown_span messages)
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

bool yk_slowdown_is_significant(double met_s, double step_s)
{
    return met_s >= least_met * step_s;
}

double yk_slowdown_message_s(struct yk_slowdown_span compute, const double *begin_s,
                             const double *end_s, int32_t count)
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

bool yk_slowdown_overlapped_ops(const struct yk_program_rank *list, const double *begin_s,
                                const double *end_s, struct yk_slowdown_span messages,
                                int32_t *first, int32_t *last)
{
    bool met = false;
    for (int32_t i = 0; i < list->op_count; i++) {
        if (list->ops[i].lane == YK_LANE_COMPUTE && end_s[i] > messages.begin_s &&
            begin_s[i] < messages.end_s) {
            *first = met ? *first : i;
            *last = i;
            met = true;
        }
    }
    return met;
}

/* One of each: a step alone, a row of messages alone, and both at once. */
struct round {
    double *alone_begin_s; /* (ops) */
    double *alone_end_s;
    double message_alone_s; /* of one message */
    struct yk_slowdown_span messages;
    struct yk_slowdown_span met; /* the ops that met messages, */
    int32_t first;               /* from the first */
    int32_t last;                /* to the last, */
    bool has_met;                /* where there are any */
    double message_s;            /* of one beside computation; NAN: there was none */
};

struct besiding {
    struct yk_survey *survey;
    const struct yk_measure_ranks *team;
    const struct yk_survey_request *wish;
    struct yk_benchmark *rehearsal;
    const struct yk_program_rank *list;
    const struct yk_exchange_group *party;
    struct yk_exchange_times *exchanges;
    bool takes_part;
    int64_t message_bytes;
    int32_t row; /* messages */
    double begin_s[YK_EXCHANGE_TIMES_MAX_ROW];
    double end_s[YK_EXCHANGE_TIMES_MAX_ROW];
    int32_t round_count;
    struct round rounds[MOST_ROUNDS];
    struct yk_timings_round alone[MOST_ROUNDS]; /* what the process got of its cores */
    struct yk_timings_round both[MOST_ROUNDS];
    struct yk_timings compute; /* how many times as long */
    struct yk_timings message;
};

static struct yk_slowdown_span span_of(const struct besiding *besiding,
                                       const struct yk_benchmark_step *round)
{
    struct yk_slowdown_span span = {INFINITY, 0};
    for (int32_t i = 0; i < besiding->list->op_count; i++) {
        if (besiding->list->ops[i].lane == YK_LANE_COMPUTE) {
            span.begin_s = fmin(span.begin_s, round->begin_s[i]);
            span.end_s = fmax(span.end_s, round->end_s[i]);
        }
    }
    return span;
}

static yk_status put_row(struct besiding *besiding)
{
    return yk_exchange_times_enqueue_row(besiding->exchanges, YK_EXCHANGE_ALL_REDUCE,
                                         besiding->message_bytes, besiding->row);
}

/* As many messages as take about as long as the step. */
static yk_status find_row(struct besiding *besiding)
{
    const struct yk_benchmark_step *round = NULL;
    double alone_s = 0;
    for (int i = 0; i < WARM_UP_STEPS; i++) {
        YK_TRY(yk_exchange_times_measure(besiding->exchanges, YK_EXCHANGE_ALL_REDUCE,
                                         besiding->message_bytes, &alone_s));
        YK_TRY(yk_benchmark_begin(besiding->rehearsal));
        YK_TRY(yk_benchmark_end(besiding->rehearsal, &round));
    }
    const struct yk_slowdown_span span = span_of(besiding, round);
    double row = (span.end_s - span.begin_s) / alone_s;
    YK_TRY(yk_measure_ranks_max(besiding->team, row, &row));
    besiding->row = row < 2                           ? 2
                    : row < YK_EXCHANGE_TIMES_MAX_ROW ? (int32_t)row
                                                      : YK_EXCHANGE_TIMES_MAX_ROW;
    return YK_OK;
}

/* A step from its beginning to its end, and what the process got of its cores meanwhile. */
static yk_status step(struct besiding *besiding, bool with_messages,
                      const struct yk_benchmark_step **out, struct yk_timings_round *out_quiet)
{
    YK_TRY(yk_exchange_barrier(besiding->team->ranks));
    const struct yk_timings_round since = {yk_clock_now_s(), yk_timings_computed_s()};
    YK_TRY(yk_benchmark_begin(besiding->rehearsal));
    if (with_messages) {
        YK_TRY(put_row(besiding));
    }
    YK_TRY(yk_benchmark_end(besiding->rehearsal, out));
    *out_quiet = (struct yk_timings_round){yk_clock_now_s() - since.passed_s,
                                           yk_timings_computed_s() - since.computed_s};
    return YK_OK;
}

static yk_status read_row(struct besiding *besiding, struct yk_slowdown_span *out)
{
    YK_TRY(yk_exchange_times_read_row(besiding->exchanges, besiding->begin_s, besiding->end_s));
    *out = (struct yk_slowdown_span){besiding->begin_s[0], besiding->end_s[besiding->row - 1]};
    return YK_OK;
}

/* Alone and both in turn, so that whatever else the machine does disturbs both alike. */
static yk_status run_round(struct besiding *besiding)
{
    const int32_t number = besiding->round_count;
    struct round *round = &besiding->rounds[number];
    const struct yk_benchmark_step *made = NULL;
    const size_t bytes = (size_t)besiding->list->op_count * sizeof *made->begin_s;
    struct yk_slowdown_span alone = {0};
    YK_TRY(step(besiding, false, &made, &besiding->alone[number]));
    memcpy(round->alone_begin_s, made->begin_s, bytes);
    memcpy(round->alone_end_s, made->end_s, bytes);
    YK_TRY(yk_exchange_barrier(besiding->team->ranks));
    YK_TRY(put_row(besiding));
    YK_TRY(read_row(besiding, &alone));
    round->message_alone_s = (alone.end_s - alone.begin_s) / besiding->row;
    YK_TRY(step(besiding, true, &made, &besiding->both[number]));
    YK_TRY(read_row(besiding, &round->messages));
    round->has_met = yk_slowdown_overlapped_ops(besiding->list, made->begin_s, made->end_s,
                                                round->messages, &round->first, &round->last);
    if (round->has_met) {
        round->met =
            (struct yk_slowdown_span){made->begin_s[round->first], made->end_s[round->last]};
    }
    round->message_s = yk_slowdown_message_s(span_of(besiding, made), besiding->begin_s,
                                             besiding->end_s, besiding->row);
    besiding->round_count++;
    return YK_OK;
}

static yk_status run_rounds(struct besiding *besiding, double seconds)
{
    const double began_s = yk_clock_now_s();
    YK_TRY(find_row(besiding));
    while (besiding->round_count < MOST_ROUNDS) {
        bool stops = false;
        double passed_s = 0;
        YK_TRY(yk_measure_ranks_max(besiding->team, yk_clock_now_s() - began_s, &passed_s));
        YK_TRY(yk_survey_is_stopped(besiding->survey, besiding->team, besiding->wish, &stops));
        if (stops || (besiding->round_count >= LEAST_ROUNDS && passed_s > seconds)) {
            break;
        }
        YK_TRY(run_round(besiding));
    }
    return YK_OK;
}

/* What the ops from `first` to `last` take alone, in rounds that others did not disturb. */
static double alone_s(const struct besiding *besiding, const bool *quiet, int32_t first,
                      int32_t last)
{
    double seconds[MOST_ROUNDS];
    int32_t count = 0;
    for (int32_t i = 0; i < besiding->round_count; i++) {
        const struct round *round = &besiding->rounds[i];
        if (quiet[i]) {
            seconds[count++] = round->alone_end_s[last] - round->alone_begin_s[first];
        }
    }
    return yk_timings_median(seconds, count);
}

/* All of a step alone. */
static double step_alone_s(const struct besiding *besiding, const bool *quiet)
{
    int32_t first = -1;
    int32_t last = -1;
    for (int32_t i = 0; i < besiding->list->op_count; i++) {
        if (besiding->list->ops[i].lane == YK_LANE_COMPUTE) {
            first = first < 0 ? i : first;
            last = i;
        }
    }
    return first < 0 ? 0 : alone_s(besiding, quiet, first, last);
}

static double message_alone_s(const struct besiding *besiding)
{
    double seconds[MOST_ROUNDS];
    for (int32_t i = 0; i < besiding->round_count; i++) {
        seconds[i] = besiding->rounds[i].message_alone_s;
    }
    return yk_timings_median(seconds, besiding->round_count);
}

/* A device of its own is disturbed by nobody, whatever its rank got of the host's cores: there all
 * rounds are to be believed. */
static void choose_quiet(const struct besiding *besiding, const struct yk_timings_round *rounds,
                         bool *out)
{
    const bool shares = yk_measure_ranks_use_cores(besiding->team);
    yk_timings_choose_undisturbed(rounds, besiding->round_count,
                                  shares ? LEAST_QUIET : besiding->round_count, out);
}

static yk_status compare(struct besiding *besiding)
{
    bool alone[MOST_ROUNDS] = {false};
    bool both[MOST_ROUNDS] = {false};
    choose_quiet(besiding, besiding->alone, alone);
    choose_quiet(besiding, besiding->both, both);
    const double message_s = message_alone_s(besiding);
    const double step_s = step_alone_s(besiding, alone);
    for (int32_t i = 0; i < besiding->round_count; i++) {
        const struct round *round = &besiding->rounds[i];
        if (!both[i] || !round->has_met) {
            continue;
        }
        const double met_s = alone_s(besiding, alone, round->first, round->last);
        const double compute = yk_slowdown_compute_factor(round->met, met_s, round->messages);
        if (!isnan(compute) && yk_slowdown_is_significant(met_s, step_s)) {
            YK_TRY(yk_timings_add(&besiding->compute, compute));
        }
        if (!isnan(round->message_s)) {
            YK_TRY(yk_timings_add(&besiding->message, fmax(round->message_s / message_s, 1)));
        }
    }
    return YK_OK;
}

/* The worst of the ranks. What was broken off is no fact. */
static yk_status add_fact(const struct besiding *besiding, struct yk_timings *timings,
                          const char *name)
{
    const struct yk_profile_measurement own =
        yk_timings_summarise(timings, besiding->wish->versions);
    double numbers[] = {own.samples > 0 ? own.value : 0, own.spread, (double)own.samples};
    YK_TRY(yk_exchange_max(besiding->team->ranks, numbers, 3));
    const struct yk_profile_measurement made = {.value = numbers[0],
                                                .spread = numbers[1],
                                                .samples = (int64_t)numbers[2],
                                                .versions = besiding->wish->versions};
    const struct yk_survey_fact fact = {.fact = {besiding->party->link, name}, .measurement = made};
    return made.value >= 1 && besiding->round_count >= LEAST_ROUNDS
               ? yk_survey_add_fact(besiding->survey, &fact)
               : YK_OK;
}

static yk_status measure_party(struct besiding *besiding, double seconds)
{
    const struct yk_exchange_times_group party = {
        besiding->party->ranks, besiding->party->count,
        yk_comm_type_of(besiding->wish->workload.precision)};
    const int32_t me = besiding->team->ranks->rank;
    besiding->round_count = 0;
    besiding->takes_part = me == party.ranks[0] || me == party.ranks[1];
    yk_status status = yk_exchange_times_create(besiding->team, &party, besiding->message_bytes,
                                                &besiding->exchanges);
    if (status == YK_OK) {
        status = run_rounds(besiding, seconds);
    }
    if (status == YK_OK && besiding->takes_part) {
        status = compare(besiding);
    }
    if (status == YK_OK) {
        status = add_fact(besiding, &besiding->compute, YK_PROFILE_COMPUTE_SLOWDOWN);
    }
    if (status == YK_OK) {
        status = add_fact(besiding, &besiding->message, YK_PROFILE_MESSAGE_SLOWDOWN);
    }
    if (status == YK_OK && !yk_measure_ranks_use_cores(besiding->team)) {
        const struct yk_profile_measurement own =
            yk_timings_summarise(&besiding->compute, besiding->wish->versions);
        status = besiding->round_count >= LEAST_ROUNDS
                     ? yk_slowdown_pairs_add_devices(besiding->survey, besiding->team,
                                                     besiding->wish, besiding->party, &own)
                     : YK_OK;
    }
    yk_timings_free(&besiding->compute);
    yk_timings_free(&besiding->message);
    yk_exchange_times_destroy(besiding->exchanges);
    besiding->exchanges = NULL;
    YK_TRY(status);
    return yk_survey_save(besiding->survey);
}

static yk_status measure(struct besiding *besiding, struct yk_arena *arena)
{
    struct yk_slowdown_pairs pairs;
    YK_TRY(yk_slowdown_pairs_find(besiding->survey, besiding->team, besiding->wish, arena, &pairs));
    for (int32_t i = 0; i < MOST_ROUNDS; i++) {
        YK_TRY_NEW(arena, besiding->rounds[i].alone_begin_s, besiding->list->op_count);
        YK_TRY_NEW(arena, besiding->rounds[i].alone_end_s, besiding->list->op_count);
    }
    for (int32_t i = 0; i < pairs.count && !besiding->survey->stopped; i++) {
        besiding->party = &pairs.parties[i];
        if (!(pairs.known[i] > 0)) {
            YK_TRY(measure_party(besiding, fmin(usual_s, besiding->wish->seconds) / pairs.count));
        }
    }
    return YK_OK;
}

yk_status yk_slowdown_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                              const struct yk_survey_request *wish, struct yk_benchmark *rehearsal)
{
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    struct besiding *besiding = yk_arena_allocate(arena, 1, sizeof *besiding);
    yk_status status = besiding ? YK_OK : yk_fail_out_of_memory();
    if (besiding) {
        besiding->survey = survey;
        besiding->team = team;
        besiding->wish = wish;
        besiding->rehearsal = rehearsal;
        besiding->list = &yk_benchmark_program(rehearsal)->ranks[0];
        besiding->message_bytes =
            yk_measure_ranks_use_cores(team) ? MESSAGE_BYTES : DEVICE_MESSAGE_BYTES;
        status = measure(besiding, arena);
    }
    yk_arena_destroy(arena);
    return status;
}

/* ---- by which step ---- */

enum {
    STEPS = 2, /* the first may have more to do */
};

/* Longer ones cost more time than they tell. */
static const double longest_s = 0.15;

/* With all ranks at work, that of the slowest. */
static yk_status time_step(const struct yk_measure_ranks *team, struct yk_benchmark *rehearsal,
                           double *out_s)
{
    double own_s = 0;
    for (int i = 0; i < STEPS; i++) {
        const struct yk_benchmark_step *round = NULL;
        YK_TRY(yk_exchange_barrier(team->ranks));
        const double began_s = yk_clock_now_s();
        YK_TRY(yk_benchmark_begin(rehearsal));
        YK_TRY(yk_benchmark_end(rehearsal, &round));
        own_s = yk_clock_now_s() - began_s;
    }
    return yk_measure_ranks_max(team, own_s, out_s);
}

yk_status yk_slowdown_choose_batch(const struct yk_measure_ranks *team,
                                   struct yk_benchmark_rounds *visits, int32_t batch_count,
                                   int32_t *out)
{
    const int32_t most = batch_count - 1;
    const int32_t least = yk_measure_ranks_use_cores(team) ? most : most / 2;
    double step_s = INFINITY;
    *out = most;
    while (*out > least) {
        struct yk_benchmark *rehearsal = yk_benchmark_rounds_get(visits, *out);
        YK_TRY(yk_benchmark_allocate(rehearsal));
        const yk_status status = time_step(team, rehearsal, &step_s);
        yk_benchmark_free(rehearsal);
        YK_TRY(status);
        if (step_s <= longest_s) {
            break;
        }
        (*out)--;
    }
    return YK_OK;
}
