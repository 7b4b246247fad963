#include "job/planning/schedule_job.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/number.h"
#include "base/text_table.h"
#include "base/units.h"
#include "graph/read.h"
#include "report/label.h"
#include "sched/assignment.h"
#include "sched/bound/makespan_bound.h"
#include "sched/schedule.h"

#include <math.h>
#include <string.h>

/* Whether another scheduler may do better where this one failed. */
static bool is_about_one_scheduler(yk_status status)
{
    return status != YK_ERROR_SYSTEM && status != YK_ERROR_STOPPED;
}

/* Keeps the schedule if it is the shortest so far, else destroys it. */
static void keep_best(struct yk_schedule_job_result *result, const char *algorithm,
                      struct yk_schedule *schedule)
{
    struct yk_schedule_report *report = &result->report;
    report->lower_bound = yk_number_max(report->lower_bound, schedule->lower_bound);
    if (result->schedule && result->schedule->makespan <= schedule->makespan) {
        yk_schedule_destroy(schedule);
        return;
    }
    yk_schedule_destroy(result->schedule);
    result->schedule = schedule;
    report->schedule = schedule;
    report->algorithm = algorithm;
}

static yk_status run_row(struct yk_schedule_job_result *result,
                         const struct yk_scheduler_options *options,
                         struct yk_schedule_job_comparison_row *row)
{
    struct yk_schedule *schedule = NULL;
    const double begin_s = yk_clock_now_s();
    const yk_status status = yk_scheduler_run(row->scheduler, result->graph, options, &schedule);
    row->seconds = yk_clock_now_s() - begin_s;
    if (status != YK_OK) {
        YK_TRY(yk_arena_strdup(result->arena, yk_status_message(), &row->failure));
        return status;
    }
    row->makespan = schedule->makespan;
    keep_best(result, row->scheduler->name, schedule);
    return YK_OK;
}

/* Runs all schedulers. A scheduler that finds no schedule gets a row with the reason. Fails only if
 * no scheduler finds a schedule, or on a system error. */
static yk_status compare_schedulers(const struct yk_scheduler_options *options,
                                    struct yk_schedule_job_result *out)
{
    yk_status failure = YK_OK;
    YK_TRY_NEW(out->arena, out->rows, yk_scheduler_count);
    for (size_t i = 0; i < yk_scheduler_count; i++) {
        struct yk_schedule_job_comparison_row *row = &out->rows[out->row_count++];
        row->scheduler = yk_schedulers[i];
        const yk_status status = run_row(out, options, row);
        if (status != YK_OK && !is_about_one_scheduler(status)) {
            return status;
        }
        failure = status != YK_OK ? status : failure;
    }
    return out->schedule ? YK_OK
                         : yk_status_prefix_message(failure, "no algorithm finds a schedule");
}

static const char *verdict_of(const struct yk_schedule_job_result *result,
                              const struct yk_schedule_job_comparison_row *row)
{
    if (row->makespan > result->schedule->makespan) {
        return "";
    }
    return row->makespan <= result->report.lower_bound ? "shortest possible" : "shortest";
}

static void add_row(const struct yk_schedule_job_result *result,
                    const struct yk_schedule_job_comparison_row *row, struct yk_text_table *table)
{
    const bool found = !row->failure;
    const double bound = (double)result->report.lower_bound;
    yk_text_table_add_cell(table, "%s", row->scheduler->name);
    yk_text_table_add_cell(table, "%s",
                           found ? YK_LABEL_GRAPH_TIME(result->graph, row->makespan) : "-");
    yk_text_table_add_cell(
        table, "%s",
        found ? YK_LABEL_PERCENT((double)(row->makespan - result->report.lower_bound), bound)
              : "-");
    yk_text_table_add_cell(table, "%s", YK_UNITS_FORMAT_TEMPORARY(row->seconds, YK_UNIT_SECONDS));
    yk_text_table_add_cell(table, "%s", found ? verdict_of(result, row) : row->failure);
}

yk_status yk_schedule_job_write_comparison_text(const struct yk_schedule_job_result *result,
                                                struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"algorithm", YK_TEXT_TABLE_LEFT}, {"makespan", YK_TEXT_TABLE_RIGHT},
        {"gap", YK_TEXT_TABLE_RIGHT},      {"time", YK_TEXT_TABLE_RIGHT},
        {"note", YK_TEXT_TABLE_LEFT},
    };
    const struct yk_graph *graph = result->graph;
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < result->row_count; i++) {
        add_row(result, &result->rows[i], table);
    }
    yk_text_addf(out, "%s: ", result->report.source);
    yk_schedule_describe_graph_size(graph, out);
    yk_text_addf(out, "; no schedule is shorter than %s\n\n",
                 YK_LABEL_GRAPH_TIME(graph, result->report.lower_bound));
    return yk_text_table_write_and_destroy(table, out);
}

static void add_object(const struct yk_schedule_job_result *result,
                       const struct yk_schedule_job_comparison_row *row,
                       struct yk_json_writer *json)
{
    const double bound = (double)result->report.lower_bound;
    yk_json_write_begin_object_on_new_line(json, 1);
    yk_json_write_string(json, "algorithm", row->scheduler->name);
    if (row->failure) {
        yk_json_write_string(json, "error", row->failure);
    } else {
        yk_json_write_number(json, "makespan",
                             yk_graph_ticks_to_time(result->graph, row->makespan));
        yk_json_write_number(json, "gap", bound > 0 ? ((double)row->makespan - bound) / bound : 0);
        yk_json_write_number(json, "seconds", round(row->seconds * 1e9) / 1e9);
    }
    yk_json_write_end_object(json);
}

yk_status yk_schedule_job_write_comparison_json(const struct yk_schedule_job_result *result,
                                                struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_number(&json, "lower_bound",
                         yk_graph_ticks_to_time(result->graph, result->report.lower_bound));
    yk_json_write_begin_array(&json, "algorithms");
    for (size_t i = 0; i < result->row_count; i++) {
        add_object(result, &result->rows[i], &json);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_yoke_document(&json);
}

#define ALL "all"

bool yk_schedule_job_algorithm_choice_at(size_t number, struct yk_option_choice *out)
{
    if (number > yk_scheduler_count) {
        return false;
    }
    *out = number == yk_scheduler_count
               ? (struct yk_option_choice){ALL, "each of them, as a table that compares them"}
               : (struct yk_option_choice){yk_schedulers[number]->name,
                                           yk_schedulers[number]->summary};
    return true;
}

static const char *source_of(const struct yk_schedule_job_request *request)
{
    if (request->example) {
        return "example";
    }
    return strcmp(request->file, "-") == 0 ? "standard input" : request->file;
}

static yk_status read_graph(const struct yk_schedule_job_request *request, struct yk_arena *arena,
                            struct yk_graph **out)
{
    if (request->example && request->file) {
        return yk_fail(YK_ERROR_USAGE,
                       "--example takes the place of a FILE; leave out one of them");
    }
    if (!request->example && !request->file) {
        return yk_fail(YK_ERROR_USAGE, "yoke schedule needs a FILE; to see what it does, try yoke "
                                       "schedule --example");
    }
    const struct yk_graph_read_options options = {
        .device_count = (int32_t)request->devices,
        .speeds = request->speeds.values,
        .speed_count = request->speeds.count,
        .latency_s = request->latency_s,
        .bandwidth_bytes_per_s = request->bandwidth_bytes_per_s,
    };
    const char *text = yk_graph_heft_example_json;
    size_t length = strlen(text);
    if (!request->example) {
        YK_TRY(yk_file_read_document_to_arena(request->file, arena, &text, &length));
    }
    return yk_graph_read_text(text, length, source_of(request), &options, out);
}

/* The schedule in which each task runs where the file `path` says. */
static yk_status schedule_by_map(const char *path, const struct yk_graph *graph,
                                 struct yk_arena *arena, struct yk_schedule *schedule)
{
    const char *text = NULL;
    size_t length = 0;
    int32_t *devices = NULL;
    YK_TRY_NEW(arena, devices, graph->task_count);
    YK_TRY(yk_file_read_document_to_arena(path, arena, &text, &length));
    YK_TRY(yk_assignment_read_devices(text, length, path, graph, devices));
    YK_TRY(yk_assignment_make_schedule(&(struct yk_assignment){.devices = devices}, schedule));
    return yk_schedule_check_memory_limits(schedule);
}

static yk_status find_schedule(const struct yk_schedule_job_request *request,
                               const struct yk_scheduler_options *options,
                               struct yk_schedule_job_result *out)
{
    struct yk_schedule *schedule = NULL;
    out->report.source = source_of(request);
    YK_TRY(yk_makespan_bound_compute(out->graph, &out->report.lower_bound));
    if (request->map) {
        YK_TRY(yk_schedule_create(out->graph, &schedule));
        YK_TRY_OR_CLEAN_UP(schedule_by_map(request->map, out->graph, out->arena, schedule),
                           yk_schedule_destroy(schedule));
        keep_best(out, "map", schedule);
        return YK_OK;
    }
    if (strcmp(request->algorithm, ALL) == 0) {
        return compare_schedulers(options, out);
    }
    const struct yk_scheduler *scheduler = yk_scheduler_find(request->algorithm);
    const yk_status status = yk_scheduler_run(scheduler, out->graph, options, &schedule);
    if (status == YK_ERROR_NO_FIT && !scheduler->respects_memory) {
        return yk_fail(status, "%s; heft-memory, best and exact look at memory while they schedule",
                       yk_status_message());
    }
    YK_TRY(status);
    keep_best(out, request->algorithm, schedule);
    return YK_OK;
}

yk_status yk_schedule_job_run(const struct yk_schedule_job_request *request,
                              struct yk_schedule_job_result *out)
{
    const char *const paths[] = {request->file, request->map, request->drawings.svg,
                                 request->drawings.html, request->drawings.trace};
    const struct yk_scheduler_options options =
        yk_job_make_scheduler_options(&request->search, request->job);
    YK_TRY(yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 2));
    YK_TRY(yk_arena_create(&out->arena));
    YK_TRY(read_graph(request, out->arena, &out->graph));
    yk_job_report_begin(request->job);
    const yk_status status = find_schedule(request, &options, out);
    yk_job_report_end(request->job);
    yk_job_log_if_stopped(request->job);
    return status == YK_ERROR_NO_FIT ? yk_status_prefix_message(status, source_of(request))
                                     : status;
}

yk_status yk_schedule_job_write_files(const struct yk_schedule_job_request *request,
                                      const struct yk_schedule_job_result *result)
{
    struct yk_output_files outputs = {0};
    yk_output_files_add_schedule_drawings(&request->drawings, &result->report, &outputs);
    return yk_output_files_write_and_free(&outputs);
}

void yk_schedule_job_result_free(struct yk_schedule_job_result *result)
{
    yk_schedule_destroy(result->schedule);
    yk_graph_destroy(result->graph);
    yk_arena_destroy(result->arena);
    *result = (struct yk_schedule_job_result){0};
}
