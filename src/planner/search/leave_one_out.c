/* Leave one out: the best plan without each device of a plan. */
#include "planner/search/search.h"

#include <math.h>

/* Searches with 1 / `rows` of the remaining budget. */
static yk_status search_others(struct yk_search_context *context, const bool *left_out,
                               bool for_stages, int32_t rows, bool *out_known, double *out_s)
{
    struct yk_plan_request request = *context->request;
    request.excluded_devices = left_out;
    request.all_devices = true;
    const double part = (1 - yk_search_context_spent_budget_fraction(context)) / rows;
    request.search.budget_s *= part;
    request.search.moves = (int64_t)ceil(part * (double)request.search.moves);
    /* Plans of the same family first, since there may not be time for all. */
    return yk_plan_search_explore_phase_of_request(&request, for_stages, &context->trials,
                                                   out_known, out_s);
}

/* Selects the ranks to leave out; returns their number. */
static int32_t choose(const struct yk_search_context *context, const struct yk_plan *plan,
                      int32_t *ranks)
{
    int32_t count = 0;
    for (int32_t r = 0; r < plan->rank_count; r++) {
        bool known = false;
        /* Of two equal devices, one is enough. */
        for (int32_t i = 0; i < r && plan->group_count == 1; i++) {
            known = known || yk_search_context_devices_are_equal(context, plan->ranks[i].device,
                                                                 plan->ranks[r].device);
        }
        if (!known) {
            ranks[count++] = r;
        }
    }
    return count;
}

yk_status yk_leave_one_out_search(struct yk_search_context *context, const struct yk_plan *plan,
                                  double step_s, struct yk_arena *arena,
                                  struct yk_plan_leave_one_out **out, int32_t *out_count)
{
    int32_t *ranks = NULL;
    bool *left_out = NULL;
    YK_TRY_NEW(arena, ranks, plan->rank_count);
    YK_TRY_NEW(arena, left_out, context->cluster->device_count);
    YK_TRY_NEW(arena, *out, plan->rank_count);
    *out_count = 0;
    for (int32_t p = 0; p < context->cluster->device_count; p++) {
        left_out[p] = yk_search_context_excludes_device(context, p);
    }
    const int32_t rows = plan->rank_count > 1 ? choose(context, plan, ranks) : 0;
    for (int32_t i = 0; i < rows && yk_search_context_has_budget(context); i++) {
        const int32_t device = plan->ranks[ranks[i]].device;
        struct yk_plan_leave_one_out *row = &(*out)[*out_count];
        bool known = false;
        yk_search_context_report_progress(context, "leaving out devices");
        row->device = device;
        left_out[device] = true;
        YK_TRY(search_others(context, left_out, plan->group_count > 1, rows - i, &known,
                             &row->step_s));
        left_out[device] = false;
        /* Leaving out a device must not look faster only because the first search was cut short. */
        row->step_s = row->step_s < step_s ? step_s : row->step_s;
        *out_count += known ? 1 : 0;
    }
    return YK_OK;
}
