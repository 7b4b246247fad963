#include "report/plan/equal_ranks.h"

#include "program/program_facts.h"

#include <math.h>
#include <string.h>

/* Times that differ by less than this part of the step are the same: the sums of a simulation
 * round. */
static const double ROUNDING = 1e-9;

/* What the search for equal ranks compares. */
struct search {
    const struct yk_plan_result *result;
    struct yk_arena *arena;
    const struct yk_time_chart_row *lanes; /* (ranks, lanes) */
    double span_s;
};

static bool same_number(double a, double b, double max)
{
    return fabs(a - b) <= ROUNDING * max || a == b || (isnan(a) && isnan(b));
}

static bool same_events(const struct search *search, int32_t a, int32_t b)
{
    for (int32_t l = 0; l < YK_LANE_COUNT; l++) {
        const struct yk_time_chart_row *left = &search->lanes[a * YK_LANE_COUNT + l];
        const struct yk_time_chart_row *right = &search->lanes[b * YK_LANE_COUNT + l];
        if (left->count != right->count) {
            return false;
        }
        for (int32_t i = 0; i < left->count; i++) {
            const struct yk_time_chart_bar *one = &left->bars[i];
            const struct yk_time_chart_bar *other = &right->bars[i];
            if (!same_number(one->start, other->start, search->span_s) ||
                !same_number(one->end, other->end, search->span_s) || one->bytes != other->bytes ||
                strcmp(one->label, other->label) != 0) {
                return false;
            }
        }
    }
    return true;
}

static bool same_bytes(const double *a, const double *b)
{
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        if (!same_number(a[k], b[k], fmax(a[k], b[k]))) {
            return false;
        }
    }
    return true;
}

static bool same_figures(const struct search *search, int32_t a, int32_t b)
{
    const struct yk_plan_result_rank *one = &search->result->ranks[a];
    const struct yk_plan_result_rank *other = &search->result->ranks[b];
    const double span_s = search->span_s;
    if (!same_number(one->compute_s, other->compute_s, span_s) ||
        !same_number(one->exposed_s, other->exposed_s, span_s) ||
        !same_number(one->idle_s, other->idle_s, span_s) ||
        !same_number(one->peak_bytes, other->peak_bytes, one->peak_bytes) ||
        !same_bytes(one->peak_by_kind, other->peak_by_kind) ||
        one->moment_count != other->moment_count) {
        return false;
    }
    for (int32_t i = 0; i < one->moment_count; i++) {
        if (!same_number(one->memory_timeline[i].at_s, other->memory_timeline[i].at_s, span_s) ||
            !same_bytes(one->memory_timeline[i].bytes, other->memory_timeline[i].bytes)) {
            return false;
        }
    }
    return true;
}

const struct yk_plan_group_member *yk_equal_ranks_find_group_member(const struct yk_plan *plan,
                                                                    int32_t group, int32_t rank)
{
    const int32_t index = yk_program_facts_group_member_index(plan, group, rank);
    return index >= 0 ? &plan->groups[group].members[index] : NULL;
}

static bool same_membership(const struct yk_plan *plan, int32_t a, int32_t b)
{
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group_member *one = yk_equal_ranks_find_group_member(plan, g, a);
        const struct yk_plan_group_member *other = yk_equal_ranks_find_group_member(plan, g, b);
        if (!one != !other ||
            (one && (one->share != other->share ||
                     !same_number(one->shard_fraction, other->shard_fraction, 1)))) {
            return false;
        }
    }
    return true;
}

static bool same_device(const struct yk_plan_result *result, int32_t a, int32_t b)
{
    const struct yk_device *one = yk_equal_ranks_device_of_rank(result, a);
    const struct yk_device *other = yk_equal_ranks_device_of_rank(result, b);
    return strcmp(one->type ? one->type : "", other->type ? other->type : "") == 0 &&
           one->memory_bytes == other->memory_bytes && one->fraction == other->fraction &&
           result->plan->ranks[a].limit_bytes == result->plan->ranks[b].limit_bytes;
}

static bool same_rank(const struct search *search, int32_t a, int32_t b)
{
    return same_device(search->result, a, b) && same_figures(search, a, b) &&
           same_events(search, a, b) && same_membership(search->result->plan, a, b);
}

yk_status yk_equal_ranks_make_device_label(const struct yk_device *device, int32_t count,
                                           struct yk_arena *arena, const char **out)
{
    struct yk_text text = {0};
    if (count > 1) {
        yk_text_addf(&text, "%s \xc3\x97%d", device->type ? device->type : device->name, count);
    } else {
        const bool shows_type = device->type && !strstr(device->name, device->type);
        yk_text_addf(&text, shows_type ? "%s %s" : "%s", device->name, device->type);
    }
    return yk_text_move_to_arena(&text, arena, out);
}

void yk_equal_ranks_write_rank_ranges(const int32_t *set_of, int32_t ranks, int32_t set,
                                      struct yk_text *out)
{
    for (int32_t r = 0; r < ranks; r++) {
        if (set_of[r] != set) {
            continue;
        }
        const int32_t first = r;
        while (r + 1 < ranks && set_of[r + 1] == set) {
            r++;
        }
        yk_text_add(out, out->length > 0 ? ", " : "");
        yk_text_addf(out, first == r ? "%d" : "%d to %d", first, r);
    }
}

static yk_status name_set(const struct search *search, const int32_t *set_of, int32_t number,
                          struct yk_equal_ranks_set *set)
{
    const struct yk_device *device = yk_equal_ranks_device_of_rank(search->result, set->rank);
    struct yk_text numbers = {0};
    yk_equal_ranks_write_rank_ranges(set_of, search->result->plan->rank_count, number, &numbers);
    YK_TRY(yk_text_move_to_arena(&numbers, search->arena, &set->numbers));
    return yk_equal_ranks_make_device_label(device, set->count, search->arena, &set->name);
}

static yk_status add_numbers_to_name(struct yk_equal_ranks_set *set, const char *name,
                                     struct yk_arena *arena)
{
    struct yk_text text = {0};
    yk_text_addf(&text, "%s (%s)", name, set->numbers);
    return yk_text_move_to_arena(&text, arena, &set->name);
}

/* Adds the numbers of their ranks to the names of sets that share a name. */
static yk_status distinguish(struct yk_equal_ranks_set *sets, int32_t count, struct yk_arena *arena)
{
    for (int32_t f = 0; f < count; f++) {
        const char *name = sets[f].name;
        bool twice = false;
        for (int32_t other = f + 1; other < count; other++) {
            if (strcmp(sets[other].name, name) == 0) {
                YK_TRY(add_numbers_to_name(&sets[other], name, arena));
                twice = true;
            }
        }
        if (twice) {
            YK_TRY(add_numbers_to_name(&sets[f], name, arena));
        }
    }
    return YK_OK;
}

yk_status yk_equal_ranks_find_sets(const struct yk_plan_result *result, struct yk_arena *arena,
                                   struct yk_equal_ranks_sets *out)
{
    const int32_t ranks = result->plan->rank_count;
    struct search search = {.result = result, .arena = arena};
    struct yk_equal_ranks_set *sets = NULL;
    struct yk_time_chart_group *groups = NULL;
    struct yk_text text = {0};
    const char *title = NULL;
    int32_t *set_of = NULL;
    int32_t count = 0;
    yk_text_addf(&text, "Ops over time: %s", result->title);
    YK_TRY(yk_text_move_to_arena(&text, arena, &title));
    YK_TRY(yk_time_chart_make_rows_from_trace(result->trace, ranks, 0, arena, &search.lanes,
                                              &search.span_s));
    search.span_s = isfinite(result->step_s) ? fmax(result->step_s, search.span_s) : search.span_s;
    YK_TRY_NEW(arena, sets, ranks);
    YK_TRY_NEW(arena, set_of, ranks);
    for (int32_t r = 0; r < ranks; r++) {
        int32_t f = 0;
        while (f < count && !same_rank(&search, sets[f].rank, r)) {
            f++;
        }
        if (f == count) {
            sets[count++].rank = r;
            memcpy(sets[f].lanes, &search.lanes[(ptrdiff_t)r * YK_LANE_COUNT],
                   sizeof sets[f].lanes);
        }
        sets[f].count++;
        set_of[r] = f;
    }
    for (int32_t f = 0; f < count; f++) {
        YK_TRY(name_set(&search, set_of, f, &sets[f]));
    }
    YK_TRY(distinguish(sets, count, arena));
    YK_TRY_NEW(arena, groups, ranks);
    for (int32_t f = 0; f < count; f++) {
        groups[f] = (struct yk_time_chart_group){sets[f].name, sets[f].lanes, YK_LANE_COUNT};
    }
    *out = (struct yk_equal_ranks_sets){
        .result = result,
        .arena = arena,
        .all = sets,
        .count = count,
        .span_s = search.span_s,
        .chart =
            {
                .title = title,
                .end_name = "step",
                .span = search.span_s,
                .end = result->step_s,
                .bound = result->bound_s,
                .groups = groups,
                .group_count = count,
            },
    };
    return YK_OK;
}
