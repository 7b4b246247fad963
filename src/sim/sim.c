#include "sim/sim.h"

#include "sim/idle_speedup.h"
#include "sim/op_times.h"
#include "sim/sim_full_result.h"

#include <math.h>
#include <string.h>

/* Shifts all times so that time 0 is the start of the reported iteration. */
static void set_origin(struct yk_sim_iterations *iterations, int32_t op_count)
{
    const double origin_s = iterations->iterations[iterations->reported - 1].end_s_of_iteration;
    for (int32_t r = 0; r < iterations->count; r++) {
        for (int32_t i = 0; i < op_count; i++) {
            iterations->iterations[r].start_s[i] -= origin_s;
            iterations->iterations[r].end_s[i] -= origin_s;
        }
    }
}

/* The ranks of a class share the arrays of times, which no longer change. */
static void report_rank(const struct yk_sim_full_result *internal, int32_t rank, double scale,
                        struct yk_sim_rank_result *out)
{
    const struct yk_sim_iterations *iterations = internal->iterations;
    const struct yk_sim_iteration *iteration = &iterations->iterations[iterations->reported];
    const struct yk_sim_iteration *before = &iterations->iterations[iterations->reported - 1];
    const int32_t rank_class = internal->classes.of_rank[rank];
    const double compute_s = iteration->computed_s[rank_class] - before->computed_s[rank_class];
    const double exposed_s = iteration->waited_s[rank_class] - before->waited_s[rank_class];
    *out = (struct yk_sim_rank_result){
        .compute_s = compute_s,
        .exposed_s = exposed_s,
        .idle_s = fmax(internal->sim.step_s - compute_s - exposed_s, 0),
        .compute_time_factor = scale,
        .start_s = &iteration->start_s[iterations->first_op[rank_class]],
        .end_s = &iteration->end_s[iterations->first_op[rank_class]],
        .exposed_of_op_s = &iteration->exposed_s[iterations->first_op[rank_class]],
    };
}

static double sum_of(const struct yk_memory_timeline_point *point)
{
    double bytes = 0;
    for (int kind = 0; kind < YK_MEMORY_KIND_COUNT; kind++) {
        bytes += point->bytes[kind];
    }
    return bytes;
}

static yk_status find_peak(const struct yk_sim_result *sim, int32_t rank, struct yk_arena *scratch,
                           struct yk_sim_rank_result *reported)
{
    struct yk_memory_timeline_point *points = NULL;
    int32_t count = 0;
    int32_t highest = 0;
    YK_TRY(yk_sim_compute_memory_over_time(sim, rank, scratch, &points, &count));
    for (int32_t i = 1; i < count; i++) {
        highest = sum_of(&points[i]) > sum_of(&points[highest]) ? i : highest;
    }
    reported->peak_bytes = sum_of(&points[highest]);
    memcpy(reported->peak_by_kind, points[highest].bytes, sizeof reported->peak_by_kind);
    return YK_OK;
}

/* The memory of a rank class is counted once. */
static yk_status find_peaks(struct yk_sim_full_result *internal, struct yk_arena *scratch)
{
    struct yk_sim_result *sim = &internal->sim;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(sim->arena, internal->memories, internal->classes.count);
    for (int32_t rank = 0; rank < sim->program->rank_count; rank++) {
        const int32_t rank_class = internal->classes.of_rank[rank];
        const struct yk_sim_rank_result *first = &sim->ranks[internal->classes.ranks[rank_class]];
        struct yk_sim_rank_result *reported = &sim->ranks[rank];
        if (reported == first) {
            YK_TRY(yk_program_memory_count_for_rank(sim->program, rank, sim->arena,
                                                    &internal->memories[rank_class]));
            YK_TRY(find_peak(sim, rank, scratch, reported));
        }
        reported->peak_bytes = first->peak_bytes;
        memcpy(reported->peak_by_kind, first->peak_by_kind, sizeof reported->peak_by_kind);
    }
    return YK_OK;
}

static yk_status run(const struct yk_program *program, struct yk_layer_costs *costs,
                     double slowdown, struct yk_arena *scratch, struct yk_sim_full_result *internal)
{
    struct yk_sim_result *sim = &internal->sim;
    struct yk_sim_op_times times;
    YK_TRY(yk_rank_classes_find(program, costs, sim->arena, &internal->classes));
    YK_TRY(yk_sim_op_times_compute(program, costs, &internal->classes, scratch, &times));
    YK_TRY(yk_sim_iterations_run(program, &internal->classes, &times, slowdown, sim->arena,
                                 &internal->iterations));
    bool changed = true;
    for (int pass = 0; changed && pass < YK_SIM_IDLE_SPEEDUP_MAX_PASSES; pass++) {
        YK_TRY(yk_sim_idle_speedup_scale_op_times(program, &internal->classes, internal->iterations,
                                                  scratch, &times, &changed));
        if (changed) {
            YK_TRY(yk_sim_iterations_run(program, &internal->classes, &times, slowdown, sim->arena,
                                         &internal->iterations));
        }
    }
    const struct yk_sim_iteration *iteration =
        &internal->iterations->iterations[internal->iterations->reported];
    sim->slowdown = internal->iterations->slowdown;
    sim->step_s = iteration->end_s_of_iteration - (iteration - 1)->end_s_of_iteration;
    set_origin(internal->iterations, internal->iterations->first_op[internal->classes.count]);
    YK_TRY_NEW(sim->arena, sim->ranks, program->rank_count);
    for (int32_t rank = 0; rank < program->rank_count; rank++) {
        report_rank(internal, rank, times.scales[internal->classes.of_rank[rank]],
                    &sim->ranks[rank]);
    }
    return find_peaks(internal, scratch);
}

static yk_status run_in(struct yk_arena *arena, const struct yk_program *program,
                        struct yk_layer_costs *costs, double slowdown, struct yk_sim_result **out)
{
    struct yk_sim_full_result *internal = NULL;
    YK_TRY_NEW(arena, internal, 1);
    internal->sim = (struct yk_sim_result){.arena = arena, .program = program};
    YK_TRY_WITH_TEMPORARY_ARENA(scratch, run(program, costs, slowdown, scratch, internal));
    *out = &internal->sim;
    return YK_OK;
}

yk_status yk_sim_run(const struct yk_program *program, struct yk_layer_costs *costs,
                     const struct yk_sim_options *options, struct yk_sim_result **out)
{
    const double slowdown = options->slowdown;
    if (slowdown != 0 && (!(slowdown >= 1) || isinf(slowdown))) {
        return yk_fail(YK_ERROR_INPUT,
                       "computation beside communication takes %g times as long: at least 1, "
                       "please",
                       slowdown);
    }
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    YK_TRY_OR_CLEAN_UP(run_in(arena, program, costs, slowdown, out), yk_arena_destroy(arena));
    return YK_OK;
}

void yk_sim_result_destroy(struct yk_sim_result *sim)
{
    if (sim) {
        yk_arena_destroy(sim->arena);
    }
}

/* ---- the error band ---- */

static int32_t busiest_rank(const struct yk_sim_result *sim)
{
    int32_t busiest = 0;
    for (int32_t r = 1; r < sim->program->rank_count; r++) {
        const struct yk_sim_rank_result *rank = &sim->ranks[r];
        const struct yk_sim_rank_result *longest = &sim->ranks[busiest];
        busiest = rank->compute_s + rank->exposed_s > longest->compute_s + longest->exposed_s
                      ? r
                      : busiest;
    }
    return busiest;
}

/* A message counts with its exposed time, a compute op with its whole duration. */
static yk_status add_ops(const struct yk_sim_result *sim, struct yk_layer_costs *costs,
                         struct yk_arena *arena, int32_t rank, struct yk_error_band *band)
{
    const struct yk_rank_classes *classes = &yk_sim_full_result_of(sim)->classes;
    const struct yk_op_list *list = &sim->program->ranks[rank];
    const struct yk_sim_rank_result *reported = &sim->ranks[rank];
    struct yk_sim_op_times times;
    YK_TRY(yk_sim_op_times_compute(sim->program, costs, classes, arena, &times));
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        if (op->match != YK_OP_NO_MATCH) {
            yk_error_band_add_time(band, &times.messages[op->match].time,
                                   reported->exposed_of_op_s[i]);
        } else if (op->lane == YK_LANE_COMPUTE) {
            struct yk_cost_time_estimate time;
            YK_TRY(yk_sim_op_times_compute_one_op(sim->program, costs, classes, rank, op, &time));
            yk_error_band_add_time(band, &time, reported->end_s[i] - reported->start_s[i]);
        }
    }
    return YK_OK;
}

yk_status yk_sim_compute_error_band(const struct yk_sim_result *sim, struct yk_layer_costs *costs,
                                    struct yk_error_band *out)
{
    struct yk_error_band band = {0};
    YK_TRY_WITH_TEMPORARY_ARENA(arena, add_ops(sim, costs, arena, busiest_rank(sim), &band));
    *out = band;
    return YK_OK;
}
