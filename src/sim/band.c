#include "sim/record.h"
#include "sim/sim.h"
#include "sim/times.h"

static int32_t busiest_rank(const struct yk_sim *sim)
{
    int32_t busiest = 0;
    for (int32_t r = 1; r < sim->program->rank_count; r++) {
        const struct yk_sim_rank *rank = &sim->ranks[r];
        const struct yk_sim_rank *most = &sim->ranks[busiest];
        busiest =
            rank->compute_s + rank->exposed_s > most->compute_s + most->exposed_s ? r : busiest;
    }
    return busiest;
}

/* A message counts as long as the rank waits for it; computation as long as it takes, beside
 * whatever it runs. */
static yk_status add_ops(const struct yk_sim *sim, struct yk_layer_costs *prices,
                         const struct yk_times *times, int32_t rank, struct yk_error_band *band)
{
    const struct yk_rank_classes *folds = &yk_sim_record_of(sim)->folds;
    const struct yk_program_rank *list = &sim->program->ranks[rank];
    const struct yk_sim_rank *reported = &sim->ranks[rank];
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        if (op->match != YK_NO_MATCH) {
            yk_error_band_add(band, &times->messages[op->match].time, reported->exposed_of_op_s[i]);
        } else if (op->lane == YK_LANE_COMPUTE) {
            struct yk_cost_time time;
            YK_TRY(yk_times_alone(sim->program, prices, folds, rank, op, &time));
            yk_error_band_add(band, &time, reported->end_s[i] - reported->start_s[i]);
        }
    }
    return YK_OK;
}

yk_status yk_sim_band(const struct yk_sim *sim, struct yk_layer_costs *prices,
                      struct yk_error_band *out)
{
    struct yk_arena *arena = NULL;
    struct yk_times times;
    struct yk_error_band band = {0};
    YK_TRY(yk_arena_create(&arena));
    yk_status status =
        yk_times_find(sim->program, prices, &yk_sim_record_of(sim)->folds, arena, &times);
    if (status == YK_OK) {
        status = add_ops(sim, prices, &times, busiest_rank(sim), &band);
    }
    yk_arena_destroy(arena);
    if (status == YK_OK) {
        *out = band;
    }
    return status;
}
