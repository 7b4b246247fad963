#include "report/plan/report.h"
#include "export/export.h"
#include "library/library.h"
#include "trace/trace.h"

/* The predicted step of a plan, from which pages and charts are made. */
struct reporting {
    struct yk_arena *arena;
    struct yk_trace *trace;
    struct yk_plan_result result;
};

static yk_status begin(const yoke_plan *plan, struct reporting *out)
{
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(yk_sim_make_trace(plan->planned->evaluation.sim, &out->trace));
    return yk_planner_outcome_to_plan_result(plan->planned, out->trace, out->arena, &out->result);
}

static void end(struct reporting *reporting)
{
    yk_trace_destroy(reporting->trace);
    yk_arena_destroy(reporting->arena);
}

yoke_status yoke_plan_page(const yoke_plan *plan, const yoke_tradeoff *tradeoff, char **out)
{
    struct reporting reporting = {0};
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(plan, out);
    yk_status status = begin(plan, &reporting);
    if (status == YK_OK) {
        reporting.result.tradeoffs = tradeoff ? tradeoff->charts : NULL;
        reporting.result.tradeoff_count = tradeoff ? tradeoff->chart_count : 0;
        status = yk_plan_page_write(&reporting.result, &text);
    }
    end(&reporting);
    return yk_library_return_text_or_free(status, &text, out);
}

static yk_status draw(const struct yk_plan_result *result, enum yoke_figure figure, int32_t rank,
                      struct yk_text *out)
{
    static const char *const charts[] = {[YOKE_FIGURE_LANES] = "lanes",
                                         [YOKE_FIGURE_MEMORY] = "memory",
                                         [YOKE_FIGURE_BARS] = "bars",
                                         [YOKE_FIGURE_CLUSTER] = "cluster"};
    if ((int)figure < 0 || (size_t)figure >= sizeof charts / sizeof charts[0]) {
        return yk_fail(YK_ERROR_USAGE, "a plan has no figure %d", (int)figure);
    }
    if (figure != YOKE_FIGURE_MEMORY) {
        return yk_plan_page_write_pictures(result, charts[figure],
                                           yk_chart_use_argument_as_picture_text, out);
    }
    if (rank < 0 || rank >= result->plan->rank_count) {
        return yk_fail(YK_ERROR_USAGE, "there is no rank %d; the plan has %d, from 0 on", rank,
                       result->plan->rank_count);
    }
    return yk_plan_memory_write_rank_picture(result, rank, out);
}

yoke_status yoke_plan_draw(const yoke_plan *plan, enum yoke_figure figure, int32_t rank, char **out)
{
    struct reporting reporting = {0};
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(plan, out);
    yk_status status = begin(plan, &reporting);
    YK_IF_OK(draw(&reporting.result, figure, rank, &text));
    end(&reporting);
    return yk_library_return_text_or_free(status, &text, out);
}

yoke_status yoke_plan_trace(const yoke_plan *plan, char **out)
{
    struct yk_trace *trace = NULL;
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(plan, out);
    yk_status status = yk_sim_make_trace(plan->planned->evaluation.sim, &trace);
    YK_IF_OK(yk_chrome_trace_write_json(trace, &text));
    yk_trace_destroy(trace);
    return yk_library_return_text_or_free(status, &text, out);
}

static yk_status export_plan(const yoke_plan *plan, const char *name, struct yk_text *out,
                             struct yk_text *notes)
{
    const struct yk_exporter *exporter = NULL;
    const struct yk_planner_outcome *planned = plan->planned;
    YK_TRY(yk_export_find_exporter(name, &exporter));
    return yk_export_write_plan(exporter, planned->plan, planned->context->model,
                                planned->context->cluster, out, notes);
}

yoke_status yoke_plan_export(const yoke_plan *plan, const char *exporter, char **out, char **notes)
{
    struct yk_text text = {0};
    struct yk_text remarks = {0};
    char *file = NULL;
    YK_LIBRARY_REQUIRE_NOT_NULL(plan, exporter, out);
    const yk_status written = export_plan(plan, exporter, &text, &remarks);
    yoke_status status = yk_library_return_text_or_free(written, &text, &file);
    if (status == YOKE_OK && notes) {
        status = yk_library_return_text_or_free(YK_OK, &remarks, notes);
    } else {
        yk_text_free(&remarks);
    }
    if (status != YOKE_OK) {
        yoke_free(file);
        return status;
    }
    *out = file;
    return YOKE_OK;
}

const char *yoke_exporter(int32_t number, const char **summary, const char **file)
{
    if (number < 0 || (size_t)number >= yk_exporter_count) {
        return NULL;
    }
    if (summary) {
        *summary = yk_exporters[number]->summary;
    }
    if (file) {
        *file = yk_exporters[number]->file;
    }
    return yk_exporters[number]->name;
}
