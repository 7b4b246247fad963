#include "planner/search/search.h"

#include <math.h>

yk_status yk_plan_search_create(struct yk_search_context *context, struct yk_plan_search *out)
{
    *out = (struct yk_plan_search){
        .context = context, .best_s = INFINITY, .missing_bytes = INFINITY, .missing_device = -1};
    return yk_arena_create(&out->arena);
}

void yk_plan_search_free(struct yk_plan_search *search)
{
    yk_arena_destroy(search->arena);
    *search = (struct yk_plan_search){0};
}

static yk_status keep(const struct yk_plan_search *search, const struct yk_plan *plan,
                      const struct yk_plan **out)
{
    struct yk_plan *copy = NULL;
    YK_TRY(yk_plan_copy(plan, search->arena, &copy));
    *out = copy;
    return YK_OK;
}

bool yk_plan_search_has_budget(const struct yk_plan_search *search)
{
    return search->best ? yk_search_context_has_budget(search->context)
                        : !yk_search_context_no_fit_budget_is_spent(search->context);
}

static bool have_one_shape(const struct yk_plan *a, const struct yk_plan *b)
{
    if (a->rank_count != b->rank_count || a->group_count != b->group_count ||
        a->micro_batches != b->micro_batches) {
        return false;
    }
    for (int32_t r = 0; r < a->rank_count; r++) {
        if (a->ranks[r].device != b->ranks[r].device) {
            return false;
        }
    }
    for (int32_t g = 0; g < a->group_count; g++) {
        if (a->groups[g].member_count != b->groups[g].member_count) {
            return false;
        }
        for (int32_t i = 0; i < a->groups[g].member_count; i++) {
            if (a->groups[g].members[i].share != b->groups[g].members[i].share ||
                a->groups[g].members[i].micro_batch_number !=
                    b->groups[g].members[i].micro_batch_number) {
                return false;
            }
        }
    }
    return true;
}

static bool is_better(const struct yk_plan_search_starting_point *a,
                      const struct yk_plan_search_starting_point *b)
{
    if (a->fits != b->fits) {
        return a->fits;
    }
    return a->fits ? a->step_s < b->step_s : a->missing_bytes < b->missing_bytes;
}

/* Adds a plan to the starting points, in place of the one with its shape or of the last. */
static yk_status add_start(struct yk_plan_search *search, const struct yk_plan *plan,
                           const struct yk_plan_evaluation *evaluation)
{
    struct yk_plan_search_starting_point start = {.fits = evaluation->fits,
                                                  .step_s = evaluation->step_s};
    struct yk_plan_search_starting_point *starts = search->starts;
    int32_t place = 0;
    for (int32_t r = 0; r < plan->rank_count; r++) {
        start.missing_bytes += fmax(0, evaluation->peaks[r].bytes - plan->ranks[r].limit_bytes);
    }
    while (place < search->start_count && !have_one_shape(starts[place].plan, plan)) {
        place++;
    }
    if (place == search->start_count && place < YK_PLAN_SEARCH_MAX_STARTING_POINTS) {
        search->start_count++;
    } else {
        place = place == YK_PLAN_SEARCH_MAX_STARTING_POINTS ? place - 1 : place;
        if (!is_better(&start, &starts[place])) {
            return YK_OK;
        }
    }
    YK_TRY(keep(search, plan, &start.plan));
    for (; place > 0 && is_better(&start, &starts[place - 1]); place--) {
        starts[place] = starts[place - 1];
    }
    starts[place] = start;
    return YK_OK;
}

yk_status yk_plan_search_keep_if_best(struct yk_plan_search *search, const struct yk_plan *plan,
                                      double step_s)
{
    if (!(step_s < search->best_s)) {
        return YK_OK;
    }
    search->best_s = step_s;
    return keep(search, plan, &search->best);
}

yk_status yk_plan_search_try_plan(struct yk_plan_search *search, const struct yk_plan *plan,
                                  double *out_s)
{
    struct yk_plan_evaluation evaluation;
    YK_TRY(yk_plan_evaluation_run(search->context, plan, YK_PLAN_EVALUATION_SIMULATE_IF_FITS,
                                  &evaluation));
    yk_status status = evaluation.refused ? YK_OK : add_start(search, plan, &evaluation);
    if (status == YK_OK && evaluation.fits) {
        status = yk_plan_search_keep_if_best(search, plan, evaluation.step_s);
    } else if (status == YK_OK && !evaluation.refused && !search->best &&
               evaluation.missing_bytes < search->missing_bytes) {
        search->missing_bytes = evaluation.missing_bytes;
        search->missing_device = plan->ranks[evaluation.rank].device;
        status = keep(search, plan, &search->nearest);
    }
    if (out_s) {
        *out_s = evaluation.fits ? evaluation.step_s : NAN;
    }
    yk_plan_evaluation_free(&evaluation);
    return status;
}

yk_status yk_plan_search_for_each_device_set(struct yk_plan_search *search,
                                             enum yk_plan_search_device_choice devices,
                                             yk_status (*try)(struct yk_plan_search *search,
                                                              const struct yk_device_set *set,
                                                              struct yk_arena *arena))
{
    struct yk_arena *arena = NULL;
    struct yk_device_set *sets = NULL;
    int32_t count = 0;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_device_sets_list(search->context, arena, &sets, &count);
    const int32_t end = devices == YK_PLAN_SEARCH_ALL_DEVICES ? 1 : count;
    for (int32_t s = devices == YK_PLAN_SEARCH_ALL_DEVICES ? 0 : 1;
         status == YK_OK && s < end && yk_plan_search_has_budget(search); s++) {
        status = try(search, &sets[s], arena);
    }
    yk_arena_destroy(arena);
    return status;
}
