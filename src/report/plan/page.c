#include "report/page.h"
#include "report/label.h"
#include "report/plan/charts.h"
#include "report/plan/report.h"
#include "report/web_files.h"

#include <math.h>
#include <stdio.h>

#define ROW(name) &yk_plan_chart_##name,
static const struct yk_chart *const charts[] = {YK_FOR_EACH_PLAN_CHART(ROW) NULL};

static void add_figures(const struct yk_plan_result *result, struct yk_text *out)
{
    char text[YK_NUMBER_BUFFER_SIZE + 16];
    const char *step = YK_LABEL_WITH_UNIT(result->step_s, YK_UNIT_SECONDS);
    const bool bounded = isfinite(result->bound_s) && result->bound_s > 0;
    yk_page_begin_headline_numbers(out);
    snprintf(text, sizeof text, "%s ±%.0f %%", step, 100 * result->error);
    yk_page_add_headline_number("step", result->error > 0 ? text : step, out);
    yk_page_add_headline_number(
        yk_model_config_throughput_unit(result->model->config)->speed,
        isfinite(result->tokens_per_s) ? YK_LABEL_SPEED(result->tokens_per_s) : "unknown", out);
    snprintf(text, sizeof text, "%.1f%% (exact %.1f)", 100 * result->mfu, 100 * result->exact_mfu);
    yk_page_add_headline_number("MFU", isfinite(result->mfu) ? text : "unknown", out);
    yk_page_add_headline_number(
        "lower bound", bounded ? YK_LABEL_WITH_UNIT(result->bound_s, YK_UNIT_SECONDS) : "none",
        out);
    yk_page_add_headline_number(
        "gap to the bound",
        bounded && isfinite(result->step_s)
            ? YK_LABEL_PERCENT(result->step_s - result->bound_s, result->bound_s)
            : "unknown",
        out);
    snprintf(text, sizeof text, "%d of %d", result->plan->rank_count,
             result->cluster->device_count);
    yk_page_add_headline_number("devices used", text, out);
    yk_page_end_headline_numbers(out);
    yk_page_add_escaped_text_between("<div class=\"binds\"><strong>What limits it</strong>\n<p>",
                                     result->bottleneck, "</p>\n", out);
    yk_page_add_escaped_text_between("<p class=\"note\">", result->source, "</p>\n</div>\n", out);
}

static yk_status write_page(const struct yk_plan_result *result, struct yk_arena *arena,
                            struct yk_text *out)
{
    static const char *const styles[] = {yk_web_charts_css, NULL};
    static const char *const scripts[] = {yk_web_numbers_js,    yk_web_figures_js,
                                          yk_web_time_chart_js, yk_web_ops_js,
                                          yk_web_memory_js,     NULL};
    struct yk_equal_ranks_sets sets;
    YK_TRY(yk_equal_ranks_find_sets(result, arena, &sets));
    yk_page_begin(result->title, result->summary, styles, out);
    add_figures(result, out);
    YK_TRY(yk_chart_add_sections(charts, &sets, out));
    yk_page_end(scripts, out);
    return yk_text_status(out);
}

yk_status yk_plan_page_write(const struct yk_plan_result *result, struct yk_text *out)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_page(result, arena, out));
    return YK_OK;
}

static yk_status write_pictures(const struct yk_plan_result *result, const char *name,
                                yk_chart_picture_text_function open, void *argument,
                                struct yk_arena *arena)
{
    struct yk_equal_ranks_sets sets;
    YK_TRY(yk_equal_ranks_find_sets(result, arena, &sets));
    return yk_chart_write_pictures(charts, name, &sets, open, argument);
}

yk_status yk_plan_page_write_pictures(const struct yk_plan_result *result, const char *name,
                                      yk_chart_picture_text_function open, void *argument)
{
    YK_TRY_WITH_TEMPORARY_ARENA(arena, write_pictures(result, name, open, argument, arena));
    return YK_OK;
}
