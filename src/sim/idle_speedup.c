#include "sim/idle_speedup.h"

#include <math.h>

/* Factors with a smaller relative difference are equal. */
static const double same_scale = 0.005;

double yk_sim_idle_speedup_time_factor(const struct yk_cluster *cluster,
                                       const struct yk_device_measurements *measurements,
                                       int32_t device, double busy)
{
    const double idle_scale =
        yk_device_measurements_of_device(measurements, device).others_idle_scale;
    double others = 0;
    for (int32_t i = 0; i < cluster->device_count; i++) {
        others += i == device ? 0 : cluster->devices[i].fraction;
    }
    if (!(idle_scale > 0 && others > 0)) {
        return 1;
    }
    return idle_scale + (1 - idle_scale) * fmin(fmax(busy / others, 0), 1);
}

static bool has_idle_speedup(const struct yk_program *program)
{
    for (int32_t rank = 0; rank < program->rank_count; rank++) {
        const int32_t device = program->plan->ranks[rank].device;
        const double scale =
            yk_device_measurements_of_device(program->measurements, device).others_idle_scale;
        if (scale > 0 && scale < 1) {
            return true;
        }
    }
    return false;
}

/* ---- overlap of computation ---- */

struct simulated {
    const struct yk_program *program;
    const struct yk_rank_classes *classes;
    const struct yk_sim_iterations *iterations;
};

/* Iterates over the compute ops of a class, beginning with a given iteration. */
struct walk {
    const struct yk_op_list *list;
    const struct yk_sim_iterations *iterations;
    int32_t first_op;
    int32_t round;
    int32_t op;
    double start_s;
    double end_s;
};

/* Moves to the next compute op. Returns false after the last one. */
static bool next_compute_op(struct walk *walk, int32_t last_round)
{
    while (walk->round <= last_round) {
        const struct yk_sim_iteration *iteration = &walk->iterations->iterations[walk->round];
        while (++walk->op < walk->list->op_count) {
            walk->start_s = iteration->start_s[walk->first_op + walk->op];
            walk->end_s = iteration->end_s[walk->first_op + walk->op];
            if (walk->list->ops[walk->op].lane == YK_LANE_COMPUTE && !isinf(walk->start_s)) {
                return true;
            }
        }
        walk->round++;
        walk->op = -1;
    }
    return false;
}

static struct walk walk_of(const struct simulated *simulated, int32_t rank, int32_t round)
{
    const int32_t rank_class = simulated->classes->of_rank[rank];
    return (struct walk){
        .list = &simulated->program->ranks[simulated->classes->ranks[rank_class]],
        .iterations = simulated->iterations,
        .first_op = simulated->iterations->first_op[rank_class],
        .round = round,
        .op = -1,
    };
}

/* The fraction of the compute time of `own` in the reported iteration in which `other` computes,
 * too.
 */
static double overlap(struct walk own, struct walk other)
{
    const int32_t reported = own.iterations->reported;
    const int32_t last = own.iterations->count - 1;
    double all_s = 0;
    double both_s = 0;
    bool more = next_compute_op(&other, last);
    while (next_compute_op(&own, reported)) {
        all_s += own.end_s - own.start_s;
        while (more && other.end_s <= own.start_s) {
            more = next_compute_op(&other, last);
        }
        while (more && other.start_s < own.end_s) {
            both_s += fmin(own.end_s, other.end_s) - fmax(own.start_s, other.start_s);
            if (other.end_s > own.end_s) {
                break;
            }
            more = next_compute_op(&other, last);
        }
    }
    return all_s > 0 ? both_s / all_s : 0;
}

/* The fraction of the reported iteration in which a rank computes. */
static double busy_of(const struct simulated *simulated, int32_t rank)
{
    const struct yk_sim_iterations *iterations = simulated->iterations;
    const struct yk_sim_iteration *iteration = &iterations->iterations[iterations->reported];
    const struct yk_sim_iteration *before = &iterations->iterations[iterations->reported - 1];
    const int32_t rank_class = simulated->classes->of_rank[rank];
    const double step_s = iteration->end_s_of_iteration - before->end_s_of_iteration;
    return step_s > 0
               ? (iteration->computed_s[rank_class] - before->computed_s[rank_class]) / step_s
               : 0;
}

static double busy_during(const struct simulated *simulated, int32_t rank, int32_t other)
{
    const int32_t reported = simulated->iterations->reported;
    if (simulated->classes->of_rank[rank] == simulated->classes->of_rank[other]) {
        return 1;
    }
    return fmax(
        overlap(walk_of(simulated, rank, reported), walk_of(simulated, other, reported - 1)),
        busy_of(simulated, other));
}

static double scale_of(const struct simulated *simulated, int32_t rank)
{
    const struct yk_program *program = simulated->program;
    const int32_t own = program->plan->ranks[rank].device;
    double busy = 0;
    for (int32_t i = 0; i < program->rank_count; i++) {
        const int32_t device = program->plan->ranks[i].device;
        if (device != own) {
            busy += program->cluster->devices[device].fraction * busy_during(simulated, rank, i);
        }
    }
    return yk_sim_idle_speedup_time_factor(program->cluster, program->measurements, own, busy);
}

yk_status yk_sim_idle_speedup_scale_op_times(const struct yk_program *program,
                                             const struct yk_rank_classes *classes,
                                             const struct yk_sim_iterations *iterations,
                                             struct yk_arena *arena, struct yk_sim_op_times *times,
                                             bool *changed)
{
    const struct simulated simulated = {program, classes, iterations};
    *changed = false;
    if (!has_idle_speedup(program)) {
        return YK_OK;
    }
    for (int32_t rank_class = 0; rank_class < classes->count; rank_class++) {
        const int32_t rank = classes->ranks[rank_class];
        const struct yk_op_list *list = &program->ranks[rank];
        const double scale = scale_of(&simulated, rank);
        const double delta = scale / times->scales[rank_class];
        double *scaled_s = NULL;
        *changed = *changed || fabs(delta - 1) > same_scale;
        YK_TRY_NEW(arena, scaled_s, list->op_count);
        for (int32_t i = 0; i < list->op_count; i++) {
            const bool computes = list->ops[i].lane == YK_LANE_COMPUTE;
            scaled_s[i] = (computes ? delta : 1) * times->isolated_s[rank_class][i];
        }
        times->isolated_s[rank_class] = scaled_s;
        times->scales[rank_class] = scale;
    }
    return YK_OK;
}
