#include "library/library.h"
#include "report/plan/report.h"

#include <stdlib.h>

enum {
    USUAL_POINTS = 21
};

static const double usual_budget_s = 5;

static void fill_info(struct yoke_tradeoff *handle)
{
    const struct yk_memory_tradeoff *found = handle->found;
    handle->chart_count = yk_memory_tradeoff_fill_charts(found, handle->curves, handle->charts);
    handle->info = (struct yoke_tradeoff_info){
        .points = found->points,
        .definition = handle->charts[YOKE_TRADEOFF_SPLIT].definition,
        .min_bytes = found->min_bytes,
        .free_bytes = found->free_bytes,
        .part = found->scheduling_fraction,
        .split_s = found->split_s,
        .kept = found->kept,
        .joint_s = found->joint_s,
        .joint_kept = found->joint_kept,
        .memory_bytes = found->memory_bytes,
        .joint_of_memory_s = found->joint_of_memory_s,
        .ahead_of_memory_s = found->ahead_of_memory_s,
        .bound_s = found->bound_s,
        .split_points = found->split_points,
        .memory_points = found->memory_points,
    };
}

static yk_status find(struct yoke_tradeoff *handle, int32_t points)
{
    struct yk_plan_request request;
    YK_TRY(yk_library_result_inputs_make_plan_request(&handle->context, usual_budget_s, &request));
    const struct yk_memory_tradeoff_options options = {
        .points = points > 0 ? points : USUAL_POINTS,
        .milp_s = request.search.budget_s,
    };
    const yk_status status = yk_memory_tradeoff_compute(&request, &options, &handle->found);
    if (status == YK_ERROR_STOPPED) { /* the budget of the request ended */
        return yk_fail(YK_ERROR_INPUT, "%s", yk_status_message());
    }
    YK_TRY(status);
    fill_info(handle);
    return YK_OK;
}

yoke_status yoke_tradeoff_find(const yoke_request *request, int32_t points, yoke_tradeoff **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(request, out);
    if (points != 0 && (points < 2 || points > YOKE_TRADEOFF_MAX_POINTS)) {
        return YK_LIBRARY_FAIL_USAGE("a curve has 2 to %d points, not %d", YOKE_TRADEOFF_MAX_POINTS,
                                     points);
    }
    yoke_tradeoff *handle = calloc(1, sizeof *handle);
    yk_status status =
        handle ? yk_library_result_inputs_open(request, &handle->context) : yk_fail_out_of_memory();
    YK_IF_OK(find(handle, points));
    YK_LIBRARY_TRY_OR_CLEANUP(status, yoke_tradeoff_destroy(handle));
    *out = handle;
    return YOKE_OK;
}

void yoke_tradeoff_destroy(yoke_tradeoff *tradeoff)
{
    if (tradeoff) {
        yk_memory_tradeoff_destroy(tradeoff->found);
        yk_library_result_inputs_close(&tradeoff->context);
        free(tradeoff);
    }
}

const struct yoke_tradeoff_info *yoke_tradeoff_info(const yoke_tradeoff *tradeoff)
{
    return &tradeoff->info;
}

static yk_status draw(const yoke_tradeoff *tradeoff, enum yoke_tradeoff_chart chart,
                      struct yk_text *out)
{
    if ((int)chart < 0 || (int)chart >= YK_LIBRARY_TRADEOFF_CHART_COUNT) {
        return yk_fail(YK_ERROR_USAGE, "a trade-off has no chart %d", (int)chart);
    }
    if ((int32_t)chart >= tradeoff->chart_count) {
        return yk_fail(YK_ERROR_INPUT, "the budget ended before the first point of this chart");
    }
    return yk_plan_tradeoff_write_picture(&tradeoff->charts[chart], out);
}

yoke_status yoke_tradeoff_draw(const yoke_tradeoff *tradeoff, enum yoke_tradeoff_chart chart,
                               char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(tradeoff, out);
    return yk_library_return_text_or_free(draw(tradeoff, chart, &text), &text, out);
}
