#include "measure/benchmark/rounds.h"

#include "base/clock.h"
#include "measure/timings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP_ROUNDS = 2,
    LEAST_ROUNDS = 3, /* of a visit */
    MOST_ROUNDS = 60, /* of a size in all; beyond, the oldest go */
};

/* The rounds of one size. */
struct stay {
    struct yk_benchmark *rehearsal;
    int32_t op_count;
    int32_t made;             /* rounds that counted, of which the last MOST_ROUNDS are kept */
    double *op_s;             /* (MOST_ROUNDS, ops) */
    struct yk_op_time *times; /* (ops) of the round at hand, for who watches */
    struct yk_timings_round quiet[MOST_ROUNDS];
};

struct yk_benchmark_rounds {
    const struct yk_measure_ranks *team;
    struct yk_benchmark_model *practice;
    const int64_t *batches;
    int32_t batch_count;
    const struct yk_survey_callbacks *watch;
    struct stay *stays; /* (batch_count) */
};

static yk_status open_stay(struct yk_benchmark_rounds *visits, int32_t batch)
{
    struct stay *stay = &visits->stays[batch];
    YK_TRY(yk_benchmark_create(visits->practice, visits->batches[batch], &stay->rehearsal));
    stay->op_count = yk_benchmark_program(stay->rehearsal)->ranks[0].op_count;
    stay->op_s = calloc((size_t)stay->op_count * MOST_ROUNDS, sizeof *stay->op_s);
    stay->times = calloc((size_t)stay->op_count, sizeof *stay->times);
    return stay->op_s && stay->times ? YK_OK : yk_fail_out_of_memory();
}

yk_status yk_benchmark_rounds_create(const struct yk_measure_ranks *team,
                                     struct yk_benchmark_model *practice, const int64_t *batches,
                                     int32_t batch_count, const struct yk_survey_callbacks *watch,
                                     struct yk_benchmark_rounds **out)
{
    struct yk_benchmark_rounds *visits = calloc(1, sizeof *visits);
    if (!visits) {
        return yk_fail_out_of_memory();
    }
    *visits = (struct yk_benchmark_rounds){team, practice, batches, batch_count, watch, NULL};
    visits->stays = calloc((size_t)batch_count, sizeof *visits->stays);
    yk_status status = visits->stays ? YK_OK : yk_fail_out_of_memory();
    for (int32_t i = 0; i < batch_count && status == YK_OK; i++) {
        status = open_stay(visits, i);
    }
    if (status != YK_OK) {
        yk_benchmark_rounds_destroy(visits);
        return status;
    }
    *out = visits;
    return YK_OK;
}

void yk_benchmark_rounds_destroy(struct yk_benchmark_rounds *visits)
{
    if (visits) {
        for (int32_t i = 0; visits->stays && i < visits->batch_count; i++) {
            yk_benchmark_destroy(visits->stays[i].rehearsal);
            free(visits->stays[i].op_s);
            free(visits->stays[i].times);
        }
        free(visits->stays);
        free(visits);
    }
}

static void note_round(struct stay *stay, const struct yk_benchmark_step *round,
                       struct yk_timings_round quiet)
{
    const int64_t place = stay->made % MOST_ROUNDS;
    memcpy(stay->op_s + place * stay->op_count, round->op_s,
           (size_t)stay->op_count * sizeof *round->op_s);
    stay->quiet[place] = quiet;
    stay->made++;
}

static void tell(const struct yk_benchmark_rounds *visits, const struct stay *stay,
                 const struct yk_benchmark_step *round)
{
    struct yk_round_times times = {
        .program = yk_benchmark_program(stay->rehearsal),
        .ops = stay->times,
        .count = stay->op_count,
        .began_s = INFINITY,
    };
    for (int32_t i = 0; i < stay->op_count; i++) {
        stay->times[i] = (struct yk_op_time){i, round->begin_s[i], round->end_s[i]};
        times.began_s = fmin(times.began_s, round->begin_s[i]);
        times.done_s = fmax(times.done_s, round->end_s[i]);
    }
    visits->watch->ran(visits->watch->user, &times);
}

/* Ends the oldest round; what a round got of its cores is counted from the end of the last one. */
static yk_status end_round(const struct yk_benchmark_rounds *visits, struct stay *stay, bool counts,
                           struct yk_timings_round *since)
{
    const struct yk_benchmark_step *round = NULL;
    YK_TRY(yk_benchmark_end(stay->rehearsal, &round));
    const struct yk_timings_round now = {yk_clock_now_s(), yk_timings_computed_s()};
    if (round->whole && visits->watch->ran) {
        tell(visits, stay, round);
    }
    if (counts && round->whole) {
        note_round(stay, round,
                   (struct yk_timings_round){now.passed_s - since->passed_s,
                                             now.computed_s - since->computed_s});
    }
    *since = now;
    return YK_OK;
}

/* How long all ranks are at it: as long as was asked for, but long enough for the slowest to make
 * its rounds, and no longer than it takes to make all that are kept. */
static yk_status agree_on_time(const struct yk_benchmark_rounds *visits, double round_s,
                               double seconds, double *out)
{
    double slowest_s = 0;
    YK_TRY(yk_measure_ranks_max(visits->team, round_s, &slowest_s));
    *out = fmin(fmax(seconds, LEAST_ROUNDS * slowest_s), MOST_ROUNDS * slowest_s);
    return YK_OK;
}

/* Ranks are at it for the same time, and not for as many rounds: the fast ones would wait for the
 * slow, which then had to themselves what all share. Rounds follow each other without a gap where
 * the device can be ahead of the host. */
static yk_status run_rounds(const struct yk_benchmark_rounds *visits, struct stay *stay,
                            double seconds)
{
    const int32_t depth = yk_benchmark_depth(stay->rehearsal);
    struct yk_timings_round since = {yk_clock_now_s(), yk_timings_computed_s()};
    double began_s = since.passed_s;
    double time_s = INFINITY;
    int32_t begun = 0;
    int32_t ended = 0;
    bool over = false;
    while (!over || ended < begun) {
        while (!over && begun - ended < depth) {
            YK_TRY(yk_benchmark_begin(stay->rehearsal));
            begun++;
        }
        const double before_s = since.passed_s;
        YK_TRY(end_round(visits, stay, ended >= WARM_UP_ROUNDS, &since));
        ended++;
        if (ended == WARM_UP_ROUNDS) {
            YK_TRY(agree_on_time(visits, since.passed_s - before_s, seconds, &time_s));
            began_s = yk_clock_now_s();
        }
        over =
            over || (begun >= WARM_UP_ROUNDS + LEAST_ROUNDS && since.passed_s - began_s > time_s);
    }
    return YK_OK;
}

yk_status yk_benchmark_rounds_run(struct yk_benchmark_rounds *visits, struct yk_visit *visit)
{
    struct stay *stay = &visits->stays[visit->batch];
    YK_TRY(yk_benchmark_allocate(stay->rehearsal));
    yk_status status = run_rounds(visits, stay, visit->seconds);
    visit->bytes = yk_benchmark_bytes(stay->rehearsal);
    visit->held = visit->held_bytes ? visit->held_bytes(&visits->team->engine) : 0;
    yk_benchmark_free(stay->rehearsal);
    return status;
}

/* What a process got of its cores says nothing about a device of its own. */
static yk_status add_stay(const struct stay *stay, bool takes_cores, int32_t batch,
                          struct yk_layer_times *times)
{
    const struct yk_program *program = yk_benchmark_program(stay->rehearsal);
    const int32_t kept = stay->made < MOST_ROUNDS ? stay->made : MOST_ROUNDS;
    bool chosen[MOST_ROUNDS];
    yk_timings_choose_undisturbed(stay->quiet, kept, takes_cores ? LEAST_ROUNDS : kept, chosen);
    for (int32_t i = 0; i < kept; i++) {
        if (chosen[i]) {
            YK_TRY(yk_layer_times_add(times, program, batch,
                                      stay->op_s + (int64_t)i * stay->op_count));
        }
    }
    return YK_OK;
}

yk_status yk_benchmark_rounds_times(const struct yk_benchmark_rounds *visits,
                                    struct yk_layer_times **out)
{
    struct yk_layer_times *times = NULL;
    yk_status status = yk_layer_times_create(visits->practice->model, visits->batches,
                                             visits->batch_count, &times);
    for (int32_t i = 0; i < visits->batch_count && status == YK_OK; i++) {
        status = add_stay(&visits->stays[i], yk_measure_ranks_use_cores(visits->team), i, times);
    }
    if (status != YK_OK) {
        yk_layer_times_destroy(times);
        return status;
    }
    *out = times;
    return YK_OK;
}

struct yk_benchmark *yk_benchmark_rounds_get(const struct yk_benchmark_rounds *visits,
                                             int32_t batch)
{
    return visits->stays[batch].rehearsal;
}
