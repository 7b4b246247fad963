#include "measure/benchmark/batch_sweep.h"

#include "base/clock.h"
#include "measure/timings.h"

#include <math.h>
#include <string.h>

enum {
    WARM_UP_ROUNDS = 2,
    MIN_ROUNDS = 3,  /* of a run */
    MAX_ROUNDS = 60, /* of a size in all; beyond, the oldest go */
};

/* The rounds of one size. */
struct size {
    struct yk_benchmark *benchmark;
    int32_t op_count;
    int32_t made;                 /* rounds that counted, of which the last MOST_ROUNDS are kept */
    double *op_s;                 /* (MOST_ROUNDS, ops) */
    struct yk_op_interval *times; /* (ops) of the round at hand, for who watches */
    struct yk_timings_cpu_usage core_use[MAX_ROUNDS];
};

struct yk_batch_sweep {
    struct yk_arena *arena;
    const struct yk_measuring_ranks *team;
    struct yk_benchmark_model *model;
    const int64_t *batches;
    int32_t batch_count;
    const struct yk_profiler_callbacks *callbacks;
    struct size *sizes; /* (batch_count) */
};

static yk_status open_sizes(struct yk_batch_sweep *sweep)
{
    YK_TRY_NEW(sweep->arena, sweep->sizes, sweep->batch_count);
    for (int32_t i = 0; i < sweep->batch_count; i++) {
        struct size *size = &sweep->sizes[i];
        YK_TRY(yk_benchmark_create(sweep->model, sweep->batches[i], &size->benchmark));
        size->op_count = yk_benchmark_get_program(size->benchmark)->ranks[0].op_count;
        YK_TRY_NEW(sweep->arena, size->op_s, (int64_t)size->op_count * MAX_ROUNDS);
        YK_TRY_NEW(sweep->arena, size->times, size->op_count);
    }
    return YK_OK;
}

yk_status yk_batch_sweep_create(const struct yk_measuring_ranks *team,
                                struct yk_benchmark_model *model, const int64_t *batches,
                                int32_t batch_count, const struct yk_profiler_callbacks *callbacks,
                                struct yk_batch_sweep **out)
{
    struct yk_batch_sweep *sweep = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(sweep);
    sweep->team = team;
    sweep->model = model;
    sweep->batches = batches;
    sweep->batch_count = batch_count;
    sweep->callbacks = callbacks;
    YK_TRY_OR_CLEAN_UP(open_sizes(sweep), yk_batch_sweep_destroy(sweep));
    *out = sweep;
    return YK_OK;
}

void yk_batch_sweep_destroy(struct yk_batch_sweep *sweep)
{
    if (sweep) {
        for (int32_t i = 0; sweep->sizes && i < sweep->batch_count; i++) {
            yk_benchmark_destroy(sweep->sizes[i].benchmark);
        }
        yk_arena_destroy(sweep->arena);
    }
}

static void note_round(struct size *size, const struct yk_benchmark_step_times *round,
                       struct yk_timings_cpu_usage core_use)
{
    const int64_t place = size->made % MAX_ROUNDS;
    memcpy(size->op_s + place * size->op_count, round->op_s,
           (size_t)size->op_count * sizeof *round->op_s);
    size->core_use[place] = core_use;
    size->made++;
}

static void report_step(const struct yk_batch_sweep *sweep, const struct size *size,
                        const struct yk_benchmark_step_times *round)
{
    struct yk_op_timeline timeline = {
        .program = yk_benchmark_get_program(size->benchmark),
        .ops = size->times,
        .count = size->op_count,
        .began_s = INFINITY,
    };
    for (int32_t i = 0; i < size->op_count; i++) {
        size->times[i] = (struct yk_op_interval){i, round->begin_s[i], round->end_s[i]};
        timeline.began_s = fmin(timeline.began_s, round->begin_s[i]);
        timeline.done_s = fmax(timeline.done_s, round->end_s[i]);
    }
    sweep->callbacks->ran(sweep->callbacks->user, &timeline);
}

/* Ends the oldest round; what a round got of its cores is counted from the end of the last one. */
static yk_status end_round(const struct yk_batch_sweep *sweep, struct size *size, bool counts,
                           struct yk_timings_cpu_usage *since)
{
    const struct yk_benchmark_step_times *round = NULL;
    YK_TRY(yk_benchmark_wait_for_oldest_step(size->benchmark, &round));
    const struct yk_timings_cpu_usage now = {yk_clock_now_s(), yk_timings_process_cpu_s()};
    if (round->whole && sweep->callbacks->ran) {
        report_step(sweep, size, round);
    }
    if (counts && round->whole) {
        note_round(size, round,
                   (struct yk_timings_cpu_usage){now.passed_s - since->passed_s,
                                                 now.computed_s - since->computed_s});
    }
    *since = now;
    return YK_OK;
}

/* How long all ranks run: as requested, but long enough for the slowest to make its rounds, and no
 * longer than it takes to make all that are kept. */
static yk_status agree_on_time(const struct yk_batch_sweep *sweep, double round_s, double seconds,
                               double *out)
{
    double slowest_s = 0;
    YK_TRY(yk_measuring_ranks_all_reduce_max(sweep->team, round_s, &slowest_s));
    *out = fmin(fmax(seconds, MIN_ROUNDS * slowest_s), MAX_ROUNDS * slowest_s);
    return YK_OK;
}

/* Ranks run for the same time, and not for as many rounds: the fast ones would wait for the slow,
 * which then would not share anything. Rounds follow each other without a gap where the device can
 * run ahead of the host. */
static yk_status run_rounds(const struct yk_batch_sweep *sweep, struct size *size, double seconds)
{
    const int32_t depth = yk_benchmark_max_steps_in_flight(size->benchmark);
    struct yk_timings_cpu_usage since = {yk_clock_now_s(), yk_timings_process_cpu_s()};
    double began_s = since.passed_s;
    double time_s = INFINITY;
    int32_t begun = 0;
    int32_t ended = 0;
    bool over = false;
    while (!over || ended < begun) {
        while (!over && begun - ended < depth) {
            YK_TRY(yk_benchmark_enqueue_step(size->benchmark));
            begun++;
        }
        const double before_s = since.passed_s;
        YK_TRY(end_round(sweep, size, ended >= WARM_UP_ROUNDS, &since));
        ended++;
        if (ended == WARM_UP_ROUNDS) {
            YK_TRY(agree_on_time(sweep, since.passed_s - before_s, seconds, &time_s));
            began_s = yk_clock_now_s();
        }
        over = over || (begun >= WARM_UP_ROUNDS + MIN_ROUNDS && since.passed_s - began_s > time_s);
    }
    return YK_OK;
}

yk_status yk_batch_sweep_measure_batch(struct yk_batch_sweep *sweep, struct yk_batch_sweep_run *run)
{
    struct size *size = &sweep->sizes[run->batch];
    YK_TRY(yk_benchmark_allocate_memory(size->benchmark));
    yk_status status = run_rounds(sweep, size, run->seconds);
    run->bytes = yk_benchmark_allocated_bytes(size->benchmark);
    run->held = run->held_bytes ? run->held_bytes(&sweep->team->context) : 0;
    yk_benchmark_free_memory(size->benchmark);
    return status;
}

/* What a process got of its cores says nothing about a device of its own. */
static yk_status add_size(const struct size *size, bool uses_cores, int32_t batch,
                          struct yk_layer_times *times)
{
    const struct yk_program *program = yk_benchmark_get_program(size->benchmark);
    const int32_t kept = size->made < MAX_ROUNDS ? size->made : MAX_ROUNDS;
    bool chosen[MAX_ROUNDS];
    yk_timings_mark_undisturbed_runs(size->core_use, kept, uses_cores ? MIN_ROUNDS : kept, chosen);
    for (int32_t i = 0; i < kept; i++) {
        if (chosen[i]) {
            YK_TRY(yk_layer_times_add_step(times, program, batch,
                                           size->op_s + (int64_t)i * size->op_count));
        }
    }
    return YK_OK;
}

yk_status yk_batch_sweep_make_layer_times(const struct yk_batch_sweep *sweep,
                                          struct yk_layer_times **out)
{
    struct yk_layer_times *times = NULL;
    yk_status status = yk_layer_times_create(sweep->model->description, sweep->batches,
                                             sweep->batch_count, &times);
    for (int32_t i = 0; i < sweep->batch_count && status == YK_OK; i++) {
        status =
            add_size(&sweep->sizes[i], yk_measuring_ranks_compute_on_cpu(sweep->team), i, times);
    }
    YK_TRY_OR_CLEAN_UP(status, yk_layer_times_destroy(times));
    *out = times;
    return YK_OK;
}

struct yk_benchmark *yk_batch_sweep_get_benchmark(const struct yk_batch_sweep *sweep, int32_t batch)
{
    return sweep->sizes[batch].benchmark;
}
