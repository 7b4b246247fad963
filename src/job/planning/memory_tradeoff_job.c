#include "job/planning/memory_tradeoff_job.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/text_table.h"
#include "base/units.h"
#include "job/job.h"
#include "job/output_files.h"
#include "report/plan/report.h"

#include <math.h>
#include <stdio.h>

enum {
    COLUMNS = 4,
    PERCENT_SIZE = sizeof "100.0",
};

/* The part that is reserved for scheduling, in percent, with at least `digits` before the point:
 * whole where all points of the curve are, else with the one decimal that tells them apart. */
static void format_percent(const struct yk_memory_tradeoff *tradeoff, double part, int digits,
                           char out[PERCENT_SIZE])
{
    const bool whole = tradeoff->points < 2 || 100 % (tradeoff->points - 1) == 0;
    snprintf(out, PERCENT_SIZE, "%0*.*f", digits + (whole ? 0 : 2), whole ? 0 : 1, 100 * part);
}

static yk_status prepare(const struct yk_memory_tradeoff_job_request *request,
                         struct yk_planning_inputs *planning)
{
    const struct yk_job_search_options search = {.budget_s = request->budget_s};
    const char *const paths[] = {request->planning.model, request->planning.cluster,
                                 request->planning.profile, request->svg, request->memory_svg};
    YK_TRY(yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 3));
    YK_TRY(yk_planning_inputs_open(&request->planning, planning));
    YK_TRY(yk_workload_from_request(&request->workload, planning->request.config,
                                    &planning->request.workload));
    planning->request.clip = request->clip;
    planning->request.search = yk_job_make_scheduler_options(&search, request->job);
    return YK_OK;
}

yk_status yk_memory_tradeoff_job_run(const struct yk_memory_tradeoff_job_request *request,
                                     struct yk_memory_tradeoff_job_result *out)
{
    const struct yk_memory_tradeoff_options options = {.points = (int32_t)request->points,
                                                       .milp_s = request->budget_s};
    YK_TRY(prepare(request, &out->planning));
    yk_job_report_begin(request->job);
    const yk_status status =
        yk_memory_tradeoff_compute(&out->planning.request, &options, &out->tradeoff);
    yk_job_report_end(request->job);
    if (status == YK_ERROR_STOPPED) { /* by the budget that was given, not by a signal */
        return yk_fail(YK_ERROR_INPUT, "%s", yk_status_message());
    }
    YK_TRY(status);
    out->chart_count = yk_memory_tradeoff_fill_charts(out->tradeoff, out->curves, out->charts);
    return YK_OK;
}

static yk_status write_plan(const struct yk_planning_inputs *planning, const struct yk_plan *plan,
                            const char *folder, const char *name)
{
    struct yk_plan_file_context context = yk_planning_inputs_plan_file_context(planning);
    struct yk_text path = {0};
    struct yk_text text = {0};
    yk_text_addf(&path, "%s/%s.json", folder, name);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        context.path = yk_text_chars(&path);
        status = yk_plan_file_to_json(plan, &context, &text);
    }
    YK_IF_OK(yk_file_write_nofollow(yk_text_chars(&path), &text));
    yk_text_free(&path);
    yk_text_free(&text);
    return status;
}

static yk_status write_plans(const struct yk_planning_inputs *planning,
                             const struct yk_memory_tradeoff *tradeoff, const char *folder)
{
    YK_TRY(yk_folder_create(folder));
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        char percent[PERCENT_SIZE];
        char name[sizeof "split-" + PERCENT_SIZE];
        format_percent(tradeoff, tradeoff->scheduling_fraction[i], 3, percent);
        snprintf(name, sizeof name, "split-%s", percent);
        if (tradeoff->split[i]) {
            YK_TRY(write_plan(planning, tradeoff->split[i], folder, name));
        }
    }
    return tradeoff->joint ? write_plan(planning, tradeoff->joint, folder, "joint") : YK_OK;
}

yk_status yk_memory_tradeoff_job_write_files(const struct yk_memory_tradeoff_job_request *request,
                                             const struct yk_memory_tradeoff_job_result *result)
{
    const char *const paths[] = {request->svg, request->memory_svg};
    struct yk_output_files outputs = {0};
    for (int32_t i = 0; i < 2; i++) {
        if (paths[i] && i < result->chart_count) {
            yk_output_files_drop_added_on_failure(
                &outputs, yk_plan_tradeoff_write_picture(&result->charts[i],
                                                         yk_output_files_add(&outputs, paths[i])));
        } else if (paths[i]) {
            yk_log(YK_LOG_WARNING, "%s is not written: the budget ended before its first point",
                   paths[i]);
        }
    }
    if (request->plans) {
        yk_output_files_drop_added_on_failure(
            &outputs, write_plans(&result->planning, result->tradeoff, request->plans));
    }
    return yk_output_files_write_and_free(&outputs);
}

void yk_memory_tradeoff_job_result_free(struct yk_memory_tradeoff_job_result *result)
{
    yk_memory_tradeoff_destroy(result->tradeoff);
    yk_planning_inputs_close(&result->planning);
    *result = (struct yk_memory_tradeoff_job_result){0};
}

static const char *format_time(double seconds, char out[YK_UNITS_BUFFER_SIZE])
{
    return isnan(seconds) ? "does not fit" : yk_units_format(seconds, YK_UNIT_SECONDS, out);
}

/* The text lives as long as the enclosing block. */
#define TIME_TEXT(seconds) format_time((seconds), (char[YK_UNITS_BUFFER_SIZE]){0})

/* A bar as long as the time is over the shortest, for the eye. */
static void add_bar(double seconds, double min_s, double max_s, struct yk_text_table *table)
{
    enum {
        LONGEST = 40
    };
    struct yk_text bar = {0};
    if (!isnan(seconds) && max_s > min_s) {
        const double part = (seconds - min_s) / (max_s - min_s);
        yk_text_add_repeated(&bar, "▪", 1 + (size_t)(part * (LONGEST - 1)));
    }
    yk_text_table_add_cell(table, "%s", yk_text_chars(&bar));
    yk_text_free(&bar);
}

static void find_range(const double *values, int32_t count, double *min, double *max)
{
    *min = INFINITY;
    *max = 0;
    for (int32_t i = 0; i < count; i++) {
        *min = fmin(*min, values[i]);
        *max = fmax(*max, values[i]);
    }
}

typedef void (*add_point)(const struct yk_memory_tradeoff *tradeoff, int32_t point,
                          struct yk_text_table *table);

/* A table of the points of a curve, each with a bar for its seconds. */
static yk_status add_curve(const struct yk_memory_tradeoff *tradeoff, const double *seconds,
                           int32_t count, const struct yk_text_table_column columns[COLUMNS],
                           add_point add, struct yk_text *out)
{
    struct yk_text_table *table = NULL;
    double min_s = 0;
    double max_s = 0;
    YK_TRY(yk_text_table_create(columns, COLUMNS, &table));
    find_range(seconds, count, &min_s, &max_s);
    for (int32_t i = 0; i < count; i++) {
        add(tradeoff, i, table);
        add_bar(seconds[i], min_s, max_s, table);
    }
    return yk_text_table_write_and_destroy(table, out);
}

static void add_split_point(const struct yk_memory_tradeoff *tradeoff, int32_t point,
                            struct yk_text_table *table)
{
    char percent[PERCENT_SIZE];
    format_percent(tradeoff, tradeoff->scheduling_fraction[point], 1, percent);
    yk_text_table_add_cell(table, "%s %%", percent);
    yk_text_table_add_cell(table, "%d", tradeoff->kept[point]);
    yk_text_table_add_cell(table, "%s", TIME_TEXT(tradeoff->split_s[point]));
}

static const struct yk_text_table_column split_columns[COLUMNS] = {
    {"reserved for scheduling", YK_TEXT_TABLE_RIGHT},
    {"layers kept", YK_TEXT_TABLE_RIGHT},
    {"step", YK_TEXT_TABLE_RIGHT},
    {"", YK_TEXT_TABLE_LEFT},
};

static void add_memory_point(const struct yk_memory_tradeoff *tradeoff, int32_t point,
                             struct yk_text_table *table)
{
    yk_text_table_add_cell(table, "%s",
                           YK_UNITS_FORMAT_TEMPORARY(tradeoff->memory_bytes[point], YK_UNIT_BYTES));
    yk_text_table_add_cell(table, "%s", TIME_TEXT(tradeoff->joint_of_memory_s[point]));
    yk_text_table_add_cell(table, "%s", TIME_TEXT(tradeoff->ahead_of_memory_s[point]));
}

static const struct yk_text_table_column memory_columns[COLUMNS] = {
    {"memory of a device", YK_TEXT_TABLE_RIGHT},
    {"together", YK_TEXT_TABLE_RIGHT},
    {"one gather ahead", YK_TEXT_TABLE_RIGHT},
    {"", YK_TEXT_TABLE_LEFT},
};

yk_status yk_memory_tradeoff_job_write_text(const struct yk_memory_tradeoff_job_result *result,
                                            struct yk_text *out)
{
    const struct yk_planning_inputs *planning = &result->planning;
    const struct yk_memory_tradeoff *tradeoff = result->tradeoff;
    const struct yk_plan_tradeoff_chart *charts = result->charts;
    char percent[PERCENT_SIZE] = "-";
    if (isfinite(charts[0].chosen_x)) {
        format_percent(tradeoff, charts[0].chosen_x, 1, percent);
    }
    yk_workload_write_title(planning->request.config, planning->cluster,
                            &planning->request.workload, out);
    yk_text_add(out, "\n");
    if (planning->cluster->assumption) {
        yk_text_addf(out, "%s\n", planning->cluster->assumption);
    }
    yk_text_addf(out, "\n%s\n%s Here that is %s.\n\n", charts[0].title, charts[0].definition,
                 YK_UNITS_FORMAT_TEMPORARY(tradeoff->free_bytes, YK_UNIT_BYTES));
    YK_TRY(add_curve(tradeoff, tradeoff->split_s, tradeoff->split_points, split_columns,
                     add_split_point, out));
    yk_text_addf(out, "\n  best split   %s %% for scheduling: %s\n", percent,
                 TIME_TEXT(charts[0].chosen_s));
    if (tradeoff->joint) {
        yk_text_addf(out, "  together     %s ±%.0f %%, %d layers kept\n",
                     TIME_TEXT(tradeoff->joint_s),
                     100 * yk_error_band_relative_error(&tradeoff->band), tradeoff->joint_kept);
    }
    yk_text_addf(out, "  bound        %s\n  times        ", TIME_TEXT(tradeoff->bound_s));
    yk_error_band_describe_origins(&tradeoff->band, out);
    yk_text_add(out, "\n");
    if (yk_memory_tradeoff_is_cut_short(tradeoff)) {
        yk_text_addf(out,
                     "  search       cut short by the budget: %d of %d splits, %d of %d sizes of "
                     "memory\n",
                     tradeoff->split_points, tradeoff->points, tradeoff->memory_points,
                     tradeoff->points);
    }
    if (tradeoff->memory_points > 0) {
        yk_text_addf(out, "\n%s\n%s\n\n", charts[1].title, charts[1].definition);
        YK_TRY(add_curve(tradeoff, tradeoff->joint_of_memory_s, tradeoff->memory_points,
                         memory_columns, add_memory_point, out));
    }
    return yk_text_status(out);
}

static void add_split_json(const struct yk_memory_tradeoff *tradeoff, struct yk_json_writer *json)
{
    yk_json_write_numbers(json, "free_bytes", &tradeoff->free_bytes, 1);
    yk_json_write_integer(json, "points", tradeoff->points);
    yk_json_write_bool(json, "cut_short", yk_memory_tradeoff_is_cut_short(tradeoff));
    yk_json_write_numbers(json, "part", tradeoff->scheduling_fraction, tradeoff->split_points);
    yk_json_write_numbers(json, "split_s", tradeoff->split_s, tradeoff->split_points);
    yk_json_write_begin_array(json, "kept");
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        yk_json_write_integer(json, NULL, tradeoff->kept[i]);
    }
    yk_json_write_end_array(json);
}

yk_status yk_memory_tradeoff_job_write_json(const struct yk_memory_tradeoff_job_result *result,
                                            struct yk_text *out)
{
    const struct yk_memory_tradeoff *tradeoff = result->tradeoff;
    const struct yk_cluster *cluster = result->planning.cluster;
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "tradeoff");
    yk_json_write_string(&json, "model", result->planning.request.config->name);
    yk_json_write_string(&json, "cluster", cluster->source);
    yk_json_write_string(&json, "assumption", cluster->assumption);
    yk_json_write_string(&json, "definition", result->charts[0].definition);
    add_split_json(tradeoff, &json);
    yk_json_write_number(&json, "joint_s", tradeoff->joint_s);
    yk_json_write_integer(&json, "joint_kept", tradeoff->joint_kept);
    yk_json_write_number(&json, "bound_s", tradeoff->bound_s);
    yk_error_band_write_json_members(&tradeoff->band, out);
    yk_json_write_numbers(&json, "memory_bytes", tradeoff->memory_bytes, tradeoff->memory_points);
    yk_json_write_numbers(&json, "joint_of_memory_s", tradeoff->joint_of_memory_s,
                          tradeoff->memory_points);
    yk_json_write_numbers(&json, "ahead_of_memory_s", tradeoff->ahead_of_memory_s,
                          tradeoff->memory_points);
    return yk_json_write_end_yoke_document(&json);
}
