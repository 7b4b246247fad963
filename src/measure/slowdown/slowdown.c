#include "measure/slowdown/slowdown.h"

#include "base/clock.h"
#include "comm/host_collective.h"
#include "measure/timings.h"

#include <math.h>
#include <string.h>

enum {
    MIN_ROUNDS = 5,
    MAX_ROUNDS = 15,
    MIN_UNDISTURBED = 3, /* rounds to believe */
    WARM_UP_STEPS = 2,
    MESSAGE_BYTES = 1 << 20, /* about what plans cut messages to, */
    /* and where the device sends them itself: each waits for the running kernels first, which for
     * small ones would count as bandwidth */
    DEVICE_MESSAGE_BYTES = 16 << 20,
};

/* About as long as it may take for all links; no longer than layers. */
static const double usual_s = 10;

/* Of the time that computation takes alone, how much the two must share to tell anything. */
static const double min_shared = 0.1;

/* Of a step, how much messages must have met. */
static const double min_overlap = 0.25;

double yk_slowdown_of_overlapped_compute(struct yk_slowdown_interval compute, double alone_s,
                                         struct yk_slowdown_interval messages)
{
    const double shared_s =
        fmin(compute.end_s, messages.end_s) - fmax(compute.begin_s, messages.begin_s);
    const double apart_s = compute.end_s - compute.begin_s - shared_s;
    if (!(shared_s > min_shared * alone_s)) {
        return NAN;
    }
    /* What was left to do while both were under way, and what it took. */
    const double done_s = fmax(alone_s - apart_s, min_shared * shared_s);
    return fmax(shared_s / done_s, 1);
}

bool yk_slowdown_is_overlap_long_enough(double overlap_s, double step_s)
{
    return overlap_s >= min_overlap * step_s;
}

double yk_slowdown_mean_overlapped_message_s(struct yk_slowdown_interval compute,
                                             const double *begin_s, const double *end_s,
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

bool yk_slowdown_find_overlapped_ops(const struct yk_op_list *list, const double *begin_s,
                                     const double *end_s, struct yk_slowdown_interval messages,
                                     int32_t *first, int32_t *last)
{
    bool overlap = false;
    for (int32_t i = 0; i < list->op_count; i++) {
        if (list->ops[i].lane == YK_LANE_COMPUTE && end_s[i] > messages.begin_s &&
            begin_s[i] < messages.end_s) {
            *first = overlap ? *first : i;
            *last = i;
            overlap = true;
        }
    }
    return overlap;
}

/* ---- pairs of ranks ---- */

enum {
    PAIR = 2,
    NUMBERS = 3, /* of a measurement, as they are gathered */
};

static yk_status is_known(const struct yk_profiler *profiler, const char *link, bool *out)
{
    const struct yk_profiler_request *request = profiler->request;
    const struct yk_profile_fact_key facts[] = {{link, YK_PROFILE_FACT_COMPUTE_SLOWDOWN},
                                                {link, YK_PROFILE_FACT_MESSAGE_SLOWDOWN}};
    bool found = true;
    for (int f = 0; f < 2 && found; f++) {
        const struct yk_profiler_fact_row *row = yk_profiler_find_fact_row(profiler, &facts[f]);
        /* With these versions, for an earlier precision or model. */
        found = row && strcmp(row->measurement.versions, request->versions) == 0;
        if (!found && !request->remeasure) {
            YK_TRY(yk_profile_has_fact(profiler->profile, &facts[f], request->versions, &found));
        }
    }
    *out = found;
    return YK_OK;
}

yk_status yk_slowdown_rank_pairs_choose(const struct yk_profiler *profiler, struct yk_arena *arena,
                                        struct yk_slowdown_rank_pairs *out)
{
    int32_t count = 0;
    *out = (struct yk_slowdown_rank_pairs){.all_known = true};
    YK_TRY(yk_measured_rank_groups_list(profiler->request->cluster, arena, &out->groups, &count));
    while (out->count < count && out->count < YK_SLOWDOWN_MAX_PAIRS &&
           out->groups[out->count].count == 2) {
        bool known = false;
        YK_TRY(is_known(profiler, out->groups[out->count].link, &known));
        out->known[out->count++] = known ? 1 : 0;
    }
    YK_TRY(yk_host_collective_all_reduce_max(profiler->team->host_communicator, out->known,
                                             out->count));
    for (int32_t i = 0; i < out->count; i++) {
        out->all_known = out->all_known && out->known[i] > 0;
    }
    return YK_OK;
}

/* ---- devices ---- */

static yk_status add(struct yk_profiler *profiler, const struct yk_device *device,
                     const double numbers[NUMBERS])
{
    char subject[YK_PROFILE_KEY_SIZE];
    struct yk_profiler_fact_row row = {
        .fact = {subject, YK_PROFILE_FACT_COMPUTE_SLOWDOWN},
        .measurement = {.value = numbers[0],
                        .spread = numbers[1],
                        .samples = (int64_t)numbers[2],
                        .versions = profiler->request->versions},
    };
    if (!yk_profile_key_format_device(device, NULL, subject) || !(numbers[0] >= 1)) {
        return YK_OK;
    }
    const struct yk_profiler_fact_row *earlier = yk_profiler_find_fact_row(profiler, &row.fact);
    if (earlier) { /* of another pair: the worse counts */
        row.measurement.value = fmax(earlier->measurement.value, numbers[0]);
    }
    return yk_profiler_add_fact_row(profiler, &row);
}

yk_status yk_slowdown_rank_pairs_add_device_facts(struct yk_profiler *profiler,
                                                  const struct yk_measured_rank_group *pair,
                                                  const struct yk_profile_measurement *own)
{
    const struct yk_communicator *ranks = profiler->team->host_communicator;
    double numbers[PAIR][NUMBERS] = {{0}};
    for (int end = 0; end < PAIR && own->samples > 0; end++) {
        if (ranks->rank == pair->ranks[end]) {
            numbers[end][0] = own->value;
            numbers[end][1] = own->spread;
            numbers[end][2] = (double)own->samples;
        }
    }
    YK_TRY(yk_host_collective_all_reduce_sum(ranks, &numbers[0][0], (int64_t)PAIR * NUMBERS));
    for (int end = 0; end < PAIR; end++) {
        YK_TRY(add(profiler, &profiler->request->cluster->devices[pair->ranks[end]], numbers[end]));
    }
    return YK_OK;
}

/* ---- measuring ---- */

/* One of each: a step alone, a row of messages alone, and both at once. */
struct round {
    double *alone_begin_s; /* (ops) */
    double *alone_end_s;
    double message_alone_s; /* of one message */
    struct yk_slowdown_interval messages;
    struct yk_slowdown_interval overlap; /* the ops that met messages, */
    int32_t first;                       /* from the first */
    int32_t last;                        /* to the last, */
    bool has_overlap;                    /* where there are any */
    double message_s;                    /* of one within computation; NAN: there was none */
};

struct run {
    struct yk_arena *arena;
    struct yk_profiler *profiler;
    const struct yk_measuring_ranks *team;
    const struct yk_profiler_request *request;
    struct yk_benchmark *benchmark;
    const struct yk_op_list *list;
    const struct yk_measured_rank_group *group;
    struct yk_comm_benchmark *exchanges;
    int64_t message_bytes;
    int32_t row; /* messages */
    double begin_s[YK_COMM_BENCHMARK_MAX_SERIES];
    double end_s[YK_COMM_BENCHMARK_MAX_SERIES];
    int32_t round_count;
    struct round sweep[MAX_ROUNDS];
    struct yk_timings_cpu_usage alone[MAX_ROUNDS]; /* what the process got of its cores */
    struct yk_timings_cpu_usage both[MAX_ROUNDS];
    struct yk_timings compute; /* how many times as long */
    struct yk_timings message;
};

static struct yk_slowdown_interval span_of(const struct run *run,
                                           const struct yk_benchmark_step_times *round)
{
    struct yk_slowdown_interval span = {INFINITY, 0};
    for (int32_t i = 0; i < run->list->op_count; i++) {
        if (run->list->ops[i].lane == YK_LANE_COMPUTE) {
            span.begin_s = fmin(span.begin_s, round->begin_s[i]);
            span.end_s = fmax(span.end_s, round->end_s[i]);
        }
    }
    return span;
}

static yk_status enqueue_row(struct run *run)
{
    return yk_comm_benchmark_enqueue_messages(run->exchanges, YK_COMM_BENCHMARK_ALL_REDUCE,
                                              run->message_bytes, run->row);
}

/* As many messages as take about as long as the step. */
static yk_status find_row(struct run *run)
{
    const struct yk_benchmark_step_times *round = NULL;
    double alone_s = 0;
    for (int i = 0; i < WARM_UP_STEPS; i++) {
        YK_TRY(yk_comm_benchmark_measure_message(run->exchanges, YK_COMM_BENCHMARK_ALL_REDUCE,
                                                 run->message_bytes, &alone_s));
        YK_TRY(yk_benchmark_enqueue_step(run->benchmark));
        YK_TRY(yk_benchmark_wait_for_oldest_step(run->benchmark, &round));
    }
    const struct yk_slowdown_interval span = span_of(run, round);
    double row = (span.end_s - span.begin_s) / alone_s;
    YK_TRY(yk_measuring_ranks_all_reduce_max(run->team, row, &row));
    run->row = row < 2                              ? 2
               : row < YK_COMM_BENCHMARK_MAX_SERIES ? (int32_t)row
                                                    : YK_COMM_BENCHMARK_MAX_SERIES;
    return YK_OK;
}

/* A step from its beginning to its end, and what the process got of its cores meanwhile. */
static yk_status step(struct run *run, bool with_messages,
                      const struct yk_benchmark_step_times **out,
                      struct yk_timings_cpu_usage *out_round)
{
    YK_TRY(yk_host_collective_barrier(run->team->host_communicator));
    const struct yk_timings_cpu_usage since = {yk_clock_now_s(), yk_timings_process_cpu_s()};
    YK_TRY(yk_benchmark_enqueue_step(run->benchmark));
    if (with_messages) {
        YK_TRY(enqueue_row(run));
    }
    YK_TRY(yk_benchmark_wait_for_oldest_step(run->benchmark, out));
    *out_round = (struct yk_timings_cpu_usage){yk_clock_now_s() - since.passed_s,
                                               yk_timings_process_cpu_s() - since.computed_s};
    return YK_OK;
}

static yk_status read_row(struct run *run, struct yk_slowdown_interval *out)
{
    YK_TRY(yk_comm_benchmark_read_message_times(run->exchanges, run->begin_s, run->end_s));
    *out = (struct yk_slowdown_interval){run->begin_s[0], run->end_s[run->row - 1]};
    return YK_OK;
}

/* Alone and both in turn, so that whatever else the machine does disturbs both alike. */
static yk_status run_round(struct run *run)
{
    const int32_t number = run->round_count;
    struct round *round = &run->sweep[number];
    const struct yk_benchmark_step_times *step_made = NULL;
    const size_t bytes = (size_t)run->list->op_count * sizeof *step_made->begin_s;
    struct yk_slowdown_interval alone = {0};
    YK_TRY(step(run, false, &step_made, &run->alone[number]));
    memcpy(round->alone_begin_s, step_made->begin_s, bytes);
    memcpy(round->alone_end_s, step_made->end_s, bytes);
    YK_TRY(yk_host_collective_barrier(run->team->host_communicator));
    YK_TRY(enqueue_row(run));
    YK_TRY(read_row(run, &alone));
    round->message_alone_s = (alone.end_s - alone.begin_s) / run->row;
    YK_TRY(step(run, true, &step_made, &run->both[number]));
    YK_TRY(read_row(run, &round->messages));
    round->has_overlap =
        yk_slowdown_find_overlapped_ops(run->list, step_made->begin_s, step_made->end_s,
                                        round->messages, &round->first, &round->last);
    if (round->has_overlap) {
        round->overlap = (struct yk_slowdown_interval){step_made->begin_s[round->first],
                                                       step_made->end_s[round->last]};
    }
    round->message_s = yk_slowdown_mean_overlapped_message_s(span_of(run, step_made), run->begin_s,
                                                             run->end_s, run->row);
    run->round_count++;
    return YK_OK;
}

static yk_status run_rounds(struct run *run, double seconds)
{
    const double began_s = yk_clock_now_s();
    YK_TRY(find_row(run));
    while (run->round_count < MAX_ROUNDS) {
        bool stops = false;
        double passed_s = 0;
        YK_TRY(yk_measuring_ranks_all_reduce_max(run->team, yk_clock_now_s() - began_s, &passed_s));
        YK_TRY(yk_profiler_should_stop(run->profiler, &stops));
        if (stops || (run->round_count >= MIN_ROUNDS && passed_s > seconds)) {
            break;
        }
        YK_TRY(run_round(run));
    }
    return YK_OK;
}

/* What the ops from `first` to `last` take alone, in rounds that others did not disturb. */
static double alone_s(const struct run *run, const bool *undisturbed, int32_t first, int32_t last)
{
    double seconds[MAX_ROUNDS];
    int32_t count = 0;
    for (int32_t i = 0; i < run->round_count; i++) {
        const struct round *round = &run->sweep[i];
        if (undisturbed[i]) {
            seconds[count++] = round->alone_end_s[last] - round->alone_begin_s[first];
        }
    }
    return yk_timings_median_of_numbers(seconds, count);
}

/* All of a step alone. */
static double step_alone_s(const struct run *run, const bool *undisturbed)
{
    int32_t first = -1;
    int32_t last = -1;
    for (int32_t i = 0; i < run->list->op_count; i++) {
        if (run->list->ops[i].lane == YK_LANE_COMPUTE) {
            first = first < 0 ? i : first;
            last = i;
        }
    }
    return first < 0 ? 0 : alone_s(run, undisturbed, first, last);
}

static double message_alone_s(const struct run *run)
{
    double seconds[MAX_ROUNDS];
    for (int32_t i = 0; i < run->round_count; i++) {
        seconds[i] = run->sweep[i].message_alone_s;
    }
    return yk_timings_median_of_numbers(seconds, run->round_count);
}

/* A device of its own is disturbed by nobody, whatever its rank got of the host's cores: there all
 * rounds count. */
static void choose_undisturbed(const struct run *run, const struct yk_timings_cpu_usage *rounds,
                               bool *out)
{
    const bool shares = yk_measuring_ranks_compute_on_cpu(run->team);
    yk_timings_mark_undisturbed_runs(rounds, run->round_count,
                                     shares ? MIN_UNDISTURBED : run->round_count, out);
}

static yk_status compare(struct run *run)
{
    bool alone[MAX_ROUNDS] = {false};
    bool both[MAX_ROUNDS] = {false};
    choose_undisturbed(run, run->alone, alone);
    choose_undisturbed(run, run->both, both);
    const double message_s = message_alone_s(run);
    const double step_s = step_alone_s(run, alone);
    for (int32_t i = 0; i < run->round_count; i++) {
        const struct round *round = &run->sweep[i];
        if (!both[i] || !round->has_overlap) {
            continue;
        }
        const double met_s = alone_s(run, alone, round->first, round->last);
        const double compute =
            yk_slowdown_of_overlapped_compute(round->overlap, met_s, round->messages);
        if (!isnan(compute) && yk_slowdown_is_overlap_long_enough(met_s, step_s)) {
            YK_TRY(yk_timings_add(&run->compute, compute));
        }
        if (!isnan(round->message_s)) {
            YK_TRY(yk_timings_add(&run->message, fmax(round->message_s / message_s, 1)));
        }
    }
    return YK_OK;
}

/* The worst of the ranks. What was broken off is no fact. */
static yk_status add_fact(const struct run *run, struct yk_timings *timings, const char *name)
{
    const struct yk_profile_measurement own = yk_timings_summarize(timings, run->request->versions);
    double numbers[] = {own.samples > 0 ? own.value : 0, own.spread, (double)own.samples};
    YK_TRY(yk_host_collective_all_reduce_max(run->team->host_communicator, numbers, 3));
    const struct yk_profile_measurement step_made = {.value = numbers[0],
                                                     .spread = numbers[1],
                                                     .samples = (int64_t)numbers[2],
                                                     .versions = run->request->versions};
    const struct yk_profiler_fact_row fact = {.fact = {run->group->link, name},
                                              .measurement = step_made};
    return step_made.value >= 1 && run->round_count >= MIN_ROUNDS
               ? yk_profiler_add_fact_row(run->profiler, &fact)
               : YK_OK;
}

static yk_status measure_group(struct run *run, double seconds)
{
    const struct yk_comm_benchmark_group group = {
        run->group->ranks, run->group->count,
        yk_comm_data_type_from_precision(run->request->workload.precision)};
    const int32_t me = run->team->host_communicator->rank;
    run->round_count = 0;
    yk_status status =
        yk_comm_benchmark_create(run->team, &group, run->message_bytes, &run->exchanges);
    YK_IF_OK(run_rounds(run, seconds));
    if (status == YK_OK && (me == group.ranks[0] || me == group.ranks[1])) {
        status = compare(run);
    }
    YK_IF_OK(add_fact(run, &run->compute, YK_PROFILE_FACT_COMPUTE_SLOWDOWN));
    YK_IF_OK(add_fact(run, &run->message, YK_PROFILE_FACT_MESSAGE_SLOWDOWN));
    if (status == YK_OK && !yk_measuring_ranks_compute_on_cpu(run->team)) {
        const struct yk_profile_measurement own =
            yk_timings_summarize(&run->compute, run->request->versions);
        status = run->round_count >= MIN_ROUNDS
                     ? yk_slowdown_rank_pairs_add_device_facts(run->profiler, run->group, &own)
                     : YK_OK;
    }
    yk_timings_free(&run->compute);
    yk_timings_free(&run->message);
    yk_comm_benchmark_destroy(run->exchanges);
    run->exchanges = NULL;
    YK_TRY(status);
    return yk_profiler_save_rows(run->profiler);
}

static yk_status measure(struct run *run)
{
    struct yk_slowdown_rank_pairs pairs;
    YK_TRY(yk_slowdown_rank_pairs_choose(run->profiler, run->arena, &pairs));
    for (int32_t i = 0; i < MAX_ROUNDS; i++) {
        YK_TRY_NEW(run->arena, run->sweep[i].alone_begin_s, run->list->op_count);
        YK_TRY_NEW(run->arena, run->sweep[i].alone_end_s, run->list->op_count);
    }
    for (int32_t i = 0; i < pairs.count && !run->profiler->stopped; i++) {
        run->group = &pairs.groups[i];
        if (!(pairs.known[i] > 0)) {
            YK_TRY(measure_group(run, fmin(usual_s, run->request->seconds) / pairs.count));
        }
    }
    return YK_OK;
}

yk_status yk_slowdown_measure(struct yk_profiler *profiler, struct yk_benchmark *benchmark)
{
    struct run *run = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(run);
    run->profiler = profiler;
    run->team = profiler->team;
    run->request = profiler->request;
    run->benchmark = benchmark;
    run->list = &yk_benchmark_get_program(benchmark)->ranks[0];
    run->message_bytes =
        yk_measuring_ranks_compute_on_cpu(run->team) ? MESSAGE_BYTES : DEVICE_MESSAGE_BYTES;
    const yk_status status = measure(run);
    yk_arena_destroy(run->arena);
    return status;
}

/* ---- by which step ---- */

enum {
    STEPS = 2, /* the first may have more to do */
};

/* Longer ones cost more time than they tell. */
static const double longest_s = 0.15;

/* With all ranks at work, that of the slowest. */
static yk_status time_step(const struct yk_measuring_ranks *team, struct yk_benchmark *benchmark,
                           double *out_s)
{
    double own_s = 0;
    for (int i = 0; i < STEPS; i++) {
        const struct yk_benchmark_step_times *round = NULL;
        YK_TRY(yk_host_collective_barrier(team->host_communicator));
        const double began_s = yk_clock_now_s();
        YK_TRY(yk_benchmark_enqueue_step(benchmark));
        YK_TRY(yk_benchmark_wait_for_oldest_step(benchmark, &round));
        own_s = yk_clock_now_s() - began_s;
    }
    return yk_measuring_ranks_all_reduce_max(team, own_s, out_s);
}

yk_status yk_slowdown_choose_batch(const struct yk_measuring_ranks *team,
                                   struct yk_batch_sweep *sweep, int32_t batch_count, int32_t *out)
{
    const int32_t max = batch_count - 1;
    const int32_t min = yk_measuring_ranks_compute_on_cpu(team) ? max : max / 2;
    double step_s = INFINITY;
    *out = max;
    while (*out > min) {
        struct yk_benchmark *benchmark = yk_batch_sweep_get_benchmark(sweep, *out);
        YK_TRY(yk_benchmark_allocate_memory(benchmark));
        const yk_status status = time_step(team, benchmark, &step_s);
        yk_benchmark_free_memory(benchmark);
        YK_TRY(status);
        if (step_s <= longest_s) {
            break;
        }
        (*out)--;
    }
    return YK_OK;
}
