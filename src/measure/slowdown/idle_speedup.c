#include "measure/slowdown/slowdown.h"

#include "base/clock.h"
#include "comm/host_collective.h"
#include "cost/profile_key.h"
#include "measure/timings.h"

#include <math.h>
#include <string.h>

enum {
    MAX_KINDS = 8,
    REPEATS = 2, /* so that what drifts does not count */
    MIN_STEPS = 3,
    NUMBERS = 3, /* of a measurement, as they are gathered */
};

/* About as long as all of it may take; no longer than layers. */
static const double usual_s = 6;

/* Of a turn, what has passed before steps count: clocks follow power. */
static const double warm_up = 0.4;

/* Nothing is believed to be faster than this: then something else went on. */
static const double min_factor = 0.1;

struct kinds {
    char subjects[MAX_KINDS][YK_PROFILE_KEY_SIZE];
    int32_t ranks[MAX_KINDS]; /* the first of each */
    int32_t count;
};

double yk_idle_speedup_time_ratio(double alone_s, double with_others_s)
{
    const double times = alone_s / with_others_s;
    return alone_s > 0 && with_others_s > 0 ? fmin(fmax(times, min_factor), 1) : NAN;
}

static void find_kinds(const struct yk_cluster *cluster, int32_t ranks, struct kinds *out)
{
    out->count = 0;
    for (int32_t rank = 0; rank < ranks && out->count < MAX_KINDS; rank++) {
        char *subject = out->subjects[out->count];
        bool is_new = yk_profile_key_format_device(&cluster->devices[rank], NULL, subject);
        for (int32_t i = 0; i < out->count; i++) {
            is_new = is_new && strcmp(out->subjects[i], subject) != 0;
        }
        if (is_new) {
            out->ranks[out->count++] = rank;
        }
    }
}

/* What rank 0, which has the profile, says. */
yk_status yk_idle_speedup_can_be_skipped(const struct yk_profiler *profiler, bool *out)
{
    const struct yk_measuring_ranks *team = profiler->team;
    const struct yk_profiler_request *request = profiler->request;
    struct kinds kinds;
    double known = 0;
    *out = yk_measuring_ranks_compute_on_cpu(team) || team->host_communicator->size < 2;
    if (*out) {
        return YK_OK;
    }
    find_kinds(request->cluster, team->host_communicator->size, &kinds);
    for (int32_t i = 0; i < kinds.count; i++) {
        const struct yk_profile_fact_key fact = {kinds.subjects[i], YK_PROFILE_FACT_IDLE_SPEEDUP};
        bool knows = false;
        YK_TRY(yk_profile_has_fact(profiler->profile, &fact, request->versions, &knows));
        known += knows ? 1 : 0;
    }
    YK_TRY(yk_measuring_ranks_all_reduce_max(team, known, &known));
    *out = !request->remeasure && (int32_t)known == kinds.count;
    return YK_OK;
}

static double computed_s(const struct yk_benchmark *benchmark,
                         const struct yk_benchmark_step_times *round)
{
    const struct yk_op_list *list = &yk_benchmark_get_program(benchmark)->ranks[0];
    double sum_s = 0;
    for (int32_t i = 0; i < list->op_count; i++) {
        sum_s += list->ops[i].lane == YK_LANE_COMPUTE ? round->op_s[i] : 0;
    }
    return sum_s;
}

/* Steps without a gap for so long. */
static yk_status run_steps(struct yk_benchmark *benchmark, double seconds, struct yk_timings *out)
{
    const int32_t depth = yk_benchmark_max_steps_in_flight(benchmark);
    const double began_s = yk_clock_now_s();
    int32_t begun = 0;
    int32_t ended = 0;
    bool over = false;
    while (!over || ended < begun) {
        const struct yk_benchmark_step_times *round = NULL;
        while (!over && begun - ended < depth) {
            YK_TRY(yk_benchmark_enqueue_step(benchmark));
            begun++;
        }
        YK_TRY(yk_benchmark_wait_for_oldest_step(benchmark, &round));
        ended++;
        const double passed_s = yk_clock_now_s() - began_s;
        over = over || (passed_s > seconds && ended >= MIN_STEPS);
        if (round->whole && ended > 1 && (passed_s > warm_up * seconds || over)) {
            YK_TRY(yk_timings_add(out, computed_s(benchmark, round)));
        }
    }
    return YK_OK;
}

/* The same facts for all ranks, of what the first of each kind has found. */
static yk_status add_facts(struct yk_profiler *profiler, const struct kinds *kinds,
                           struct yk_timings *alone, struct yk_timings *all)
{
    const struct yk_communicator *ranks = profiler->team->host_communicator;
    const char *versions = profiler->request->versions;
    const struct yk_profile_measurement by_itself = yk_timings_summarize(alone, versions);
    const struct yk_profile_measurement together = yk_timings_summarize(all, versions);
    double numbers[MAX_KINDS][NUMBERS] = {{0}};
    for (int32_t i = 0; i < kinds->count; i++) {
        const double times = yk_idle_speedup_time_ratio(by_itself.value, together.value);
        if (kinds->ranks[i] == ranks->rank && !isnan(times)) {
            numbers[i][0] = times;
            numbers[i][1] = fmax(by_itself.spread, together.spread);
            numbers[i][2] = (double)by_itself.samples;
        }
    }
    YK_TRY(yk_host_collective_all_reduce_sum(ranks, &numbers[0][0], (int64_t)MAX_KINDS * NUMBERS));
    for (int32_t i = 0; i < kinds->count; i++) {
        const struct yk_profiler_fact_row row = {
            .fact = {kinds->subjects[i], YK_PROFILE_FACT_IDLE_SPEEDUP},
            .measurement = {.value = numbers[i][0],
                            .spread = numbers[i][1],
                            .samples = (int64_t)numbers[i][2],
                            .versions = versions},
        };
        if (row.measurement.value > 0) {
            YK_TRY(yk_profiler_add_fact_row(profiler, &row));
        }
    }
    return YK_OK;
}

/* All ranks compute (`kind` -1), then one of each kind by itself. */
static yk_status measure(struct yk_profiler *profiler, const struct kinds *kinds,
                         struct yk_benchmark *benchmark, struct yk_timings timings[2])
{
    const struct yk_communicator *ranks = profiler->team->host_communicator;
    const double seconds = fmin(usual_s, profiler->request->seconds) / REPEATS / (kinds->count + 1);
    for (int32_t repeat = 0; repeat < REPEATS; repeat++) {
        for (int32_t kind = -1; kind < kinds->count; kind++) {
            bool stops = false;
            YK_TRY(yk_profiler_should_stop(profiler, &stops));
            if (stops) {
                return YK_OK;
            }
            YK_TRY(yk_host_collective_barrier(ranks));
            if (kind < 0 || kinds->ranks[kind] == ranks->rank) {
                YK_TRY(run_steps(benchmark, seconds, &timings[kind < 0 ? 1 : 0]));
            }
        }
    }
    return add_facts(profiler, kinds, &timings[0], &timings[1]);
}

yk_status yk_idle_speedup_measure(struct yk_profiler *profiler, struct yk_benchmark *benchmark)
{
    struct kinds kinds;
    bool known = false;
    struct yk_timings timings[2] = {{0}, {0}}; /* alone, all at work */
    YK_TRY(yk_idle_speedup_can_be_skipped(profiler, &known));
    if (known) {
        return YK_OK;
    }
    find_kinds(profiler->request->cluster, profiler->team->host_communicator->size, &kinds);
    const yk_status status = measure(profiler, &kinds, benchmark, timings);
    yk_timings_free(&timings[0]);
    yk_timings_free(&timings[1]);
    return status;
}
