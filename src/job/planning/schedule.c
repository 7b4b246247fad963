#include "job/planning/schedule.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/table.h"
#include "base/units.h"
#include "graph/read.h"
#include "report/label.h"
#include "sched/assignment.h"
#include "sched/bound/makespan_bound.h"
#include "sched/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether another scheduler may do better where this one failed. */
static bool is_about_one_scheduler(yk_status status)
{
    return status != YK_ERROR_SYSTEM && status != YK_ERROR_STOPPED;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Keeps the schedule if it is the shortest so far, else destroys it. */
static void keep_best(struct yk_schedule_comparison *comparison,
                      const struct yk_scheduler *scheduler, struct yk_schedule *schedule)
{
    comparison->lower_bound = larger(comparison->lower_bound, schedule->lower_bound);
    if (comparison->schedule && comparison->schedule->makespan <= schedule->makespan) {
        yk_schedule_destroy(schedule);
        return;
    }
    yk_schedule_destroy(comparison->schedule);
    comparison->schedule = schedule;
    comparison->best = scheduler;
}

static yk_status run_row(struct yk_schedule_comparison *comparison,
                         const struct yk_scheduler_options *options,
                         struct yk_schedule_comparison_row *row)
{
    struct yk_schedule *schedule = NULL;
    const double begin_s = yk_clock_now_s();
    const yk_status status =
        yk_scheduler_run(row->scheduler, comparison->graph, options, &schedule);
    row->seconds = yk_clock_now_s() - begin_s;
    YK_TRY_OR(status, yk_text_add(&row->failure, yk_status_message()));
    row->makespan = schedule->makespan;
    keep_best(comparison, row->scheduler, schedule);
    return YK_OK;
}

/* Runs all schedulers. A scheduler that finds no schedule gets a row with the reason. Fails only if
 * no scheduler finds a schedule, or on a system error. */
static yk_status compare_schedulers(const struct yk_graph *graph,
                                    const struct yk_scheduler_options *options,
                                    struct yk_schedule_comparison *out)
{
    out->graph = graph;
    YK_TRY(yk_makespan_bound_compute(graph, &out->lower_bound));
    out->rows = calloc(yk_scheduler_count, sizeof *out->rows);
    YK_TRY_MEMORY(out->rows);
    yk_status failure = YK_OK;
    for (size_t i = 0; i < yk_scheduler_count; i++) {
        struct yk_schedule_comparison_row *row = &out->rows[out->count++];
        row->scheduler = yk_schedulers[i];
        const yk_status status = run_row(out, options, row);
        if (status != YK_OK && !is_about_one_scheduler(status)) {
            return status;
        }
        failure = status != YK_OK ? status : failure;
    }
    return out->schedule ? YK_OK : yk_status_prefix(failure, "no algorithm finds a schedule");
}

static void free_comparison(struct yk_schedule_comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++) {
        yk_text_free(&comparison->rows[i].failure);
    }
    free(comparison->rows);
    yk_schedule_destroy(comparison->schedule);
    *comparison = (struct yk_schedule_comparison){0};
}

static const char *verdict_of(const struct yk_schedule_comparison *comparison,
                              const struct yk_schedule_comparison_row *row)
{
    if (row->makespan > comparison->schedule->makespan) {
        return "";
    }
    return row->makespan <= comparison->lower_bound ? "shortest possible" : "shortest";
}

static void add_row(const struct yk_schedule_comparison *comparison,
                    const struct yk_schedule_comparison_row *row, struct yk_table *table)
{
    const bool found = row->failure.length == 0;
    const double bound = (double)comparison->lower_bound;
    yk_table_add(table, "%s", row->scheduler->name);
    yk_table_add(table, "%s", found ? YK_LABEL_TIME(comparison->graph, row->makespan) : "-");
    yk_table_add(table, "%s",
                 found ? YK_LABEL_PERCENT((double)(row->makespan - comparison->lower_bound), bound)
                       : "-");
    yk_table_add(table, "%s", YK_UNITS_TEXT(row->seconds, YK_UNIT_SECONDS));
    yk_table_add(table, "%s", found ? verdict_of(comparison, row) : yk_text_chars(&row->failure));
}

yk_status yk_schedule_comparison_write_text(const struct yk_schedule_comparison *comparison,
                                            const char *source, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"algorithm", YK_TABLE_LEFT}, {"makespan", YK_TABLE_RIGHT}, {"gap", YK_TABLE_RIGHT},
        {"time", YK_TABLE_RIGHT},     {"note", YK_TABLE_LEFT},
    };
    const struct yk_graph *graph = comparison->graph;
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, sizeof columns / sizeof columns[0], &table));
    for (size_t i = 0; i < comparison->count; i++) {
        add_row(comparison, &comparison->rows[i], table);
    }
    yk_text_addf(out, "%s: ", source);
    yk_schedule_describe_size(graph, out);
    yk_text_addf(out, "; no schedule is shorter than %s\n\n",
                 YK_LABEL_TIME(graph, comparison->lower_bound));
    return yk_table_write_and_destroy(table, out);
}

static void add_object(const struct yk_schedule_comparison *comparison,
                       const struct yk_schedule_comparison_row *row, struct yk_json_writer *json)
{
    const double bound = (double)comparison->lower_bound;
    yk_json_write_begin_row(json, 1);
    yk_json_write_string(json, "algorithm", row->scheduler->name);
    if (row->failure.length > 0) {
        yk_json_write_string(json, "error", yk_text_chars(&row->failure));
    } else {
        yk_json_write_number(json, "makespan",
                             yk_graph_ticks_to_time(comparison->graph, row->makespan));
        yk_json_write_number(json, "gap", bound > 0 ? ((double)row->makespan - bound) / bound : 0);
        yk_json_write_number(json, "seconds", round(row->seconds * 1e9) / 1e9);
    }
    yk_json_write_end_object(json);
}

yk_status yk_schedule_comparison_write_json(const struct yk_schedule_comparison *comparison,
                                            struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_number(&json, "lower_bound",
                         yk_graph_ticks_to_time(comparison->graph, comparison->lower_bound));
    yk_json_write_begin_array(&json, "algorithms");
    for (size_t i = 0; i < comparison->count; i++) {
        add_object(comparison, &comparison->rows[i], &json);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_document(&json);
}

#define ALL "all"

bool yk_schedule_algorithm_choices(size_t number, struct yk_option_choice *out)
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

static const char *source_of(const struct yk_schedule_request *request)
{
    if (request->example) {
        return "example";
    }
    return strcmp(request->file, "-") == 0 ? "standard input" : request->file;
}

static yk_status read_graph(const struct yk_schedule_request *request, struct yk_graph **out)
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
    struct yk_text text = {0};
    yk_status status = YK_OK;
    if (request->example) {
        yk_text_add(&text, yk_graph_example_json);
        status = yk_text_status(&text);
    } else {
        status = yk_file_read_document(request->file, &text);
    }
    YK_THEN(yk_graph_read(yk_text_chars(&text), text.length, source_of(request), &options, out));
    yk_text_free(&text);
    return status;
}

/* The schedule in which each task runs where the file `path` says. */
static yk_status schedule_by_map(const char *path, const struct yk_graph *graph,
                                 struct yk_schedule **out)
{
    struct yk_text text = {0};
    struct yk_schedule *schedule = NULL;
    yk_status status = YK_OK;
    int32_t *devices = calloc((size_t)graph->task_count, sizeof *devices);
    YK_TRY_MEMORY(devices);
    YK_TRY_GOTO(yk_file_read_document(path, &text), done);
    YK_TRY_GOTO(yk_assignment_read(yk_text_chars(&text), text.length, path, graph, devices), done);
    YK_TRY_GOTO(yk_schedule_create(graph, &schedule), done);
    YK_TRY_GOTO(yk_assignment_schedule(&(struct yk_assignment){.devices = devices}, schedule),
                done);
    YK_TRY_GOTO(yk_schedule_memory_check(schedule), done);
    *out = schedule;
    schedule = NULL;
done:
    yk_schedule_destroy(schedule);
    yk_text_free(&text);
    free(devices);
    return status;
}

static yk_status find_schedule(const struct yk_schedule_request *request,
                               const struct yk_graph *graph,
                               const struct yk_scheduler_options *options, struct yk_schedule **out)
{
    if (request->map) {
        return schedule_by_map(request->map, graph, out);
    }
    const struct yk_scheduler *scheduler = yk_scheduler_find(request->algorithm);
    const yk_status status = yk_scheduler_run(scheduler, graph, options, out);
    if (status == YK_ERROR_NO_FIT && !scheduler->respects_memory) {
        return yk_fail(status, "%s; heft-memory, best and exact look at memory while they schedule",
                       yk_status_message());
    }
    return status;
}

static yk_status run_one(const struct yk_schedule_request *request,
                         const struct yk_scheduler_options *options, struct yk_schedule_result *out)
{
    int64_t bound = 0;
    YK_TRY(yk_makespan_bound_compute(out->graph, &bound));
    YK_TRY(find_schedule(request, out->graph, options, &out->schedule));
    out->report = (struct yk_schedule_report){
        .schedule = out->schedule,
        .algorithm = request->map ? "map" : request->algorithm,
        .source = source_of(request),
        .lower_bound = out->schedule->lower_bound > bound ? out->schedule->lower_bound : bound,
    };
    return YK_OK;
}

static yk_status run_all(const struct yk_schedule_request *request,
                         const struct yk_scheduler_options *options, struct yk_schedule_result *out)
{
    struct yk_schedule_comparison *comparison = &out->comparison;
    YK_TRY(compare_schedulers(out->graph, options, comparison));
    out->report = (struct yk_schedule_report){
        .schedule = comparison->schedule,
        .algorithm = comparison->best->name,
        .source = source_of(request),
        .lower_bound = comparison->lower_bound,
    };
    return YK_OK;
}

yk_status yk_schedule_run(const struct yk_schedule_request *request, struct yk_schedule_result *out)
{
    const char *const paths[] = {request->file, request->map, request->drawings.svg,
                                 request->drawings.html, request->drawings.trace};
    const struct yk_scheduler_options options =
        yk_job_make_scheduler_options(&request->search, request->job);
    YK_TRY(yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 2));
    YK_TRY(read_graph(request, &out->graph));
    yk_job_report_begin(request->job);
    const yk_status status = !request->map && strcmp(request->algorithm, ALL) == 0
                                 ? run_all(request, &options, out)
                                 : run_one(request, &options, out);
    yk_job_report_end(request->job);
    yk_job_log_interruption(request->job);
    return status == YK_ERROR_NO_FIT ? yk_status_prefix(status, source_of(request)) : status;
}

yk_status yk_schedule_write_files(const struct yk_schedule_request *request,
                                  const struct yk_schedule_result *result)
{
    struct yk_output_files outputs = {0};
    yk_output_files_add_drawings(&request->drawings, &result->report, &outputs);
    return yk_output_files_write(&outputs);
}

void yk_schedule_result_free(struct yk_schedule_result *result)
{
    free_comparison(&result->comparison);
    yk_schedule_destroy(result->schedule);
    yk_graph_destroy(result->graph);
    *result = (struct yk_schedule_result){0};
}
