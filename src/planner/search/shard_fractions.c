#include "planner/search/plan_evaluation.h"

#include "base/units.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

struct room {
    double part; /* largest fraction of the state that fits */
    int32_t rank;
};

static double bytes_of(double room_bytes)
{
    return room_bytes > 0 ? room_bytes : 0; /* negative or NAN counts as 0 */
}

static int compare_rooms(const void *left, const void *right)
{
    const struct room *a = left;
    const struct room *b = right;
    if (a->part != b->part) {
        return a->part < b->part ? -1 : 1;
    }
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Water-filling: the ranks with the smallest rooms are filled first. */
static yk_status fill(int32_t count, double state_bytes, const double *room_bytes,
                      struct yk_arena *arena, double *parts)
{
    struct room *rooms = NULL;
    double rest = 1;
    YK_TRY_NEW(arena, rooms, count);
    for (int32_t i = 0; i < count; i++) {
        const double part = state_bytes > 0 ? bytes_of(room_bytes[i]) / state_bytes : 1;
        rooms[i] = (struct room){part, i};
    }
    qsort(rooms, (size_t)count, sizeof *rooms, compare_rooms);
    for (int32_t k = 0; k < count; k++) {
        const double level = rest / (count - k);
        const double part = rooms[k].part < level ? rooms[k].part : level;
        parts[rooms[k].rank] = part;
        rest -= part;
    }
    return YK_OK;
}

static yk_status refuse(int32_t count, double state_bytes, const double *room_bytes, double sum,
                        double *parts)
{
    for (int32_t i = 0; i < count; i++) {
        parts[i] = sum > 0 ? bytes_of(room_bytes[i]) / sum : 1.0 / count;
    }
    return yk_fail(YK_ERROR_NO_FIT,
                   "%s of sharded state do not fit into the %s that are left for it; recompute, "
                   "take fewer samples or more devices",
                   YK_UNITS_FORMAT_TEMPORARY(state_bytes, YK_UNIT_BYTES),
                   YK_UNITS_FORMAT_TEMPORARY(sum, YK_UNIT_BYTES));
}

yk_status yk_shard_fractions_find(int32_t count, double state_bytes, const double *room_bytes,
                                  double *out_parts)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += bytes_of(room_bytes[i]);
    }
    if (sum < state_bytes) {
        return refuse(count, state_bytes, room_bytes, sum, out_parts);
    }
    YK_TRY_WITH_TEMPORARY_ARENA(arena, fill(count, state_bytes, room_bytes, arena, out_parts));
    return YK_OK;
}

enum {
    ROUNDS = 3
};

/* Bytes of a group's state that are sharded. */
static double divided_bytes(const struct yk_search_context *context, const struct yk_plan *plan,
                            int32_t group)
{
    double bytes = 0;
    for (int32_t l = 0; l < plan->layer_count; l++) {
        const struct yk_model_layer_state_bytes state =
            yk_model_layer_state_bytes(context->model, &context->model->layers[l]);
        const enum yk_sharding_strategy strategy = yk_plan_effective_strategy(plan, l);
        if (plan->layers[l].group != group || strategy == YK_SHARDING_REPLICATED) {
            continue;
        }
        bytes += state.gradient_bytes + state.optimizer_bytes;
        bytes += strategy == YK_SHARDING_SHARDED_STATE ? 0 : state.weight_bytes;
    }
    return bytes;
}

/* Fractions that leave all ranks with equal free memory, if possible, by bisection. */
static void level_parts(int32_t count, double state_bytes, const double *room, double *parts)
{
    double low = -state_bytes;
    double high = 0;
    for (int32_t i = 0; i < count; i++) {
        low = fmin(low, room[i] - state_bytes);
        high = fmax(high, room[i]);
    }
    for (int32_t step = 0; step < 60; step++) {
        const double level = low + (high - low) / 2;
        double used = 0;
        for (int32_t i = 0; i < count; i++) {
            used += fmax(0, room[i] - level);
        }
        if (used > state_bytes) {
            low = level;
        } else {
            high = level;
        }
    }
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        parts[i] = fmax(0, room[i] - low);
        sum += parts[i];
    }
    for (int32_t i = 0; i < count; i++) {
        parts[i] /= sum;
    }
}

/* Sets the fractions of a group from an evaluation; `*out_room` becomes false if none can fit. */
static yk_status set_parts(const struct yk_plan_evaluation *evaluation, double state_bytes,
                           double room_balance, struct yk_arena *arena, struct yk_plan *plan,
                           struct yk_plan_group *group, bool *out_room)
{
    const int32_t n = group->member_count;
    double *room = NULL;
    double *parts = NULL;
    double *level = NULL;
    YK_TRY_NEW(arena, room, n);
    YK_TRY_NEW(arena, parts, n);
    YK_TRY_NEW(arena, level, n);
    for (int32_t i = 0; i < n; i++) {
        const int32_t rank = group->members[i].rank;
        room[i] = plan->ranks[rank].limit_bytes -
                  (evaluation->peaks[rank].bytes - state_bytes * group->members[i].shard_fraction);
    }
    const yk_status status = yk_shard_fractions_find(n, state_bytes, room, parts);
    if (status != YK_OK && status != YK_ERROR_NO_FIT) {
        return status;
    }
    *out_room = *out_room && status == YK_OK;
    level_parts(n, state_bytes, room, level);
    for (int32_t i = 0; i < n; i++) {
        group->members[i].shard_fraction = (1 - room_balance) * parts[i] + room_balance * level[i];
    }
    return YK_OK;
}

/* `*out_any`: some group has sharded state. `*out_room`: there is enough memory for all of it. */
static yk_status set_all(const struct yk_search_context *context,
                         const struct yk_plan_evaluation *evaluation, double room_balance,
                         struct yk_plan *plan, bool *out_any, bool *out_room)
{
    *out_any = false;
    *out_room = true;
    for (int32_t g = 0; g < plan->group_count; g++) {
        const double bytes = divided_bytes(context, plan, g);
        if (bytes > 0) {
            *out_any = true;
            YK_TRY_WITH_TEMPORARY_ARENA(arena, set_parts(evaluation, bytes, room_balance, arena,
                                                         plan, &plan->groups[g], out_room));
        }
    }
    return YK_OK;
}

yk_status yk_shard_fractions_fit_plan(struct yk_search_context *context, struct yk_plan *plan,
                                      double room_balance, enum yk_plan_evaluation_level effort,
                                      struct yk_plan_evaluation *out)
{
    struct yk_plan_evaluation evaluation;
    YK_TRY(yk_plan_evaluation_run(context, plan, effort, &evaluation));
    yk_status status = YK_OK;
    bool open = yk_search_context_decides(context, YK_DECIDE_SHARD_FRACTIONS);
    bool room = !evaluation.refused;
    for (int32_t round = 0; round < ROUNDS && open && room && status == YK_OK; round++) {
        if (evaluation.fits && (room_balance <= 0 || round > 0)) {
            break;
        }
        status = set_all(context, &evaluation, room_balance, plan, &open, &room);
        if (status == YK_OK && open) {
            yk_plan_evaluation_free(&evaluation);
            status = yk_plan_evaluation_run(context, plan, effort, &evaluation);
        }
    }
    YK_TRY_OR_CLEAN_UP(status, yk_plan_evaluation_free(&evaluation));
    *out = evaluation;
    return YK_OK;
}
