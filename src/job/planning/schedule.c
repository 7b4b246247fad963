#include "job/planning/schedule.h"

#include "base/file.h"
#include "graph/read.h"
#include "sched/bound/bound.h"
#include "sched/mapping.h"
#include "sched/memory.h"
#include "sched/task_map.h"

#include <stdlib.h>
#include <string.h>

#define ALL "all"

bool yk_schedule_algorithm_choices(size_t number, struct yk_choice *out)
{
    if (number > yk_scheduler_count) {
        return false;
    }
    *out = number == yk_scheduler_count
               ? (struct yk_choice){ALL, "each of them, as a table that compares them"}
               : (struct yk_choice){yk_schedulers[number]->name, yk_schedulers[number]->summary};
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
        yk_text_add(&text, yk_graph_example);
        status = yk_text_status(&text);
    } else {
        status = yk_file_read(request->file, &text);
    }
    if (status == YK_OK) {
        status =
            yk_graph_read(yk_text_chars(&text), text.length, source_of(request), &options, out);
    }
    yk_text_free(&text);
    return status;
}

/* The schedule in which each task runs where the file `path` says. */
static yk_status follow_map(const char *path, const struct yk_graph *graph,
                            struct yk_schedule **out)
{
    struct yk_text text = {0};
    struct yk_schedule *schedule = NULL;
    yk_status status = YK_OK;
    int32_t *devices = calloc((size_t)graph->task_count, sizeof *devices);
    if (!devices) {
        return yk_fail_out_of_memory();
    }
    YK_TRY_GOTO(yk_file_read(path, &text), done);
    YK_TRY_GOTO(yk_task_map_read(yk_text_chars(&text), text.length, path, graph, devices), done);
    YK_TRY_GOTO(yk_schedule_create(graph, &schedule), done);
    YK_TRY_GOTO(yk_mapping_run(&(struct yk_mapping){.devices = devices}, schedule), done);
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
        return follow_map(request->map, graph, out);
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
    YK_TRY(yk_bound_compute(out->graph, &bound));
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
    YK_TRY(yk_schedule_comparison_run(out->graph, options, comparison));
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
        yk_job_search_options(&request->search, request->job);
    YK_TRY(yk_outputs_check(paths, sizeof paths / sizeof paths[0], 2));
    YK_TRY(read_graph(request, &out->graph));
    yk_job_begin(request->job);
    const yk_status status = !request->map && strcmp(request->algorithm, ALL) == 0
                                 ? run_all(request, &options, out)
                                 : run_one(request, &options, out);
    yk_job_end(request->job);
    yk_job_note_interruption(request->job);
    return status == YK_ERROR_NO_FIT ? yk_fail_in(status, source_of(request)) : status;
}

yk_status yk_schedule_write_files(const struct yk_schedule_request *request,
                                  const struct yk_schedule_result *result)
{
    struct yk_outputs outputs = {0};
    yk_outputs_add_drawings(&request->drawings, &result->report, &outputs);
    return yk_outputs_write(&outputs);
}

void yk_schedule_result_free(struct yk_schedule_result *result)
{
    yk_schedule_comparison_free(&result->comparison);
    yk_schedule_destroy(result->schedule);
    yk_graph_destroy(result->graph);
    *result = (struct yk_schedule_result){0};
}
