#include "sched/schedule.h"
#include "library/library.h"
#include "sched/assignment.h"
#include "sched/bound/makespan_bound.h"

#include <stdlib.h>
#include <string.h>

static const double usual_budget_s = 1;

struct yoke_schedule {
    struct yoke_graph *graph; /* retained */
    struct yk_schedule *schedule;
    int64_t bound; /* ticks */
    struct yoke_schedule_info info;
    struct yoke_task *tasks;
};

/* Fills the tasks and the lower bound: the larger of the graph's bound and the scheduler's own. */
static yk_status fill(struct yoke_schedule *handle, const char *algorithm)
{
    const struct yk_schedule *schedule = handle->schedule;
    const struct yk_graph *graph = schedule->graph;
    YK_TRY(yk_makespan_bound_compute(graph, &handle->bound));
    if (schedule->lower_bound > handle->bound) {
        handle->bound = schedule->lower_bound;
    }
    YK_TRY_NEW(schedule->arena, handle->tasks, graph->task_count);
    for (int32_t i = 0; i < graph->task_count; i++) {
        handle->tasks[i] = (struct yoke_task){
            .name = graph->tasks[i].name,
            .device = schedule->devices[i],
            .start = yk_graph_ticks_to_time(graph, schedule->starts[i]),
            .end = yk_graph_ticks_to_time(graph, schedule->finishes[i]),
        };
    }
    handle->info = (struct yoke_schedule_info){
        .algorithm = algorithm,
        .makespan = yk_graph_ticks_to_time(graph, schedule->makespan),
        .bound = yk_graph_ticks_to_time(graph, handle->bound),
    };
    return YK_OK;
}

/* Creates a handle that owns `schedule`. Destroys the schedule if it fails. `algorithm` is a string
 * constant. */
static yk_status wrap(struct yoke_graph *graph, struct yk_schedule *schedule, const char *algorithm,
                      struct yoke_schedule **out)
{
    struct yoke_schedule *handle = calloc(1, sizeof *handle);
    if (!handle) {
        yk_schedule_destroy(schedule);
        return yk_fail_out_of_memory();
    }
    handle->graph = YK_LIBRARY_RETAIN(graph);
    handle->schedule = schedule;
    YK_TRY_OR_CLEAN_UP(fill(handle, algorithm), yoke_schedule_destroy(handle));
    *out = handle;
    return YK_OK;
}

static const char *scheduler_name(int32_t number)
{
    return yoke_scheduler(number, NULL);
}

static yk_status find(struct yoke_graph *graph, const char *algorithm,
                      const struct yoke_search *search, struct yoke_schedule **out)
{
    int32_t number = 0;
    struct yk_scheduler_options options;
    struct yk_schedule *schedule = NULL;
    YK_TRY(yk_library_find_index_of_name("scheduler", algorithm, scheduler_name, &number));
    YK_TRY(yk_library_convert_search_options(search, usual_budget_s, &options));
    YK_TRY(yk_scheduler_run(yk_schedulers[number], graph->graph, &options, &schedule));
    return wrap(graph, schedule, yk_schedulers[number]->name, out);
}

yoke_status yoke_schedule_find(yoke_graph *graph, const char *algorithm,
                               const struct yoke_search *search, yoke_schedule **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(graph, algorithm, out);
    return yk_library_to_public_status(find(graph, algorithm, search, out));
}

static yk_status run_map(const struct yk_graph *graph, const char *map, const char *source,
                         int32_t *devices, struct yk_schedule *schedule)
{
    YK_TRY(yk_assignment_read_devices(map, strlen(map), source, graph, devices));
    YK_TRY(yk_assignment_make_schedule(&(struct yk_assignment){.devices = devices}, schedule));
    return yk_schedule_check_memory_limits(schedule);
}

static yk_status follow(struct yoke_graph *graph, const char *map, const char *source,
                        struct yoke_schedule **out)
{
    struct yk_schedule *schedule = NULL;
    YK_TRY(yk_schedule_create(graph->graph, &schedule));
    int32_t *devices = calloc((size_t)graph->info.task_count + 1, sizeof *devices);
    const yk_status status =
        devices ? run_map(graph->graph, map, source, devices, schedule) : yk_fail_out_of_memory();
    free(devices);
    YK_TRY_OR_CLEAN_UP(status, yk_schedule_destroy(schedule));
    return wrap(graph, schedule, "map", out);
}

yoke_status yoke_schedule_follow(yoke_graph *graph, const char *map, const char *source,
                                 yoke_schedule **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(graph, map, source, out);
    return yk_library_to_public_status(follow(graph, map, source, out));
}

void yoke_schedule_destroy(yoke_schedule *schedule)
{
    if (schedule) {
        yk_schedule_destroy(schedule->schedule);
        yoke_graph_destroy(schedule->graph);
        free(schedule);
    }
}

const struct yoke_schedule_info *yoke_schedule_info(const yoke_schedule *schedule)
{
    return &schedule->info;
}

const struct yoke_task *yoke_schedule_task(const yoke_schedule *schedule, int32_t task)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(schedule->tasks, schedule->schedule->graph->task_count, task);
}

yk_status yk_library_write_schedule(const struct yk_schedule_report *report,
                                    enum yoke_schedule_form form, struct yk_text *out)
{
    switch (form) {
    case YOKE_SCHEDULE_SUMMARY:
        return yk_schedule_report_write_summary(report, out);
    case YOKE_SCHEDULE_JSON:
        return yk_schedule_report_write_json(report, out);
    case YOKE_SCHEDULE_SVG:
        return yk_schedule_report_write_svg(report, out);
    case YOKE_SCHEDULE_HTML:
        return yk_schedule_page_write(report, out);
    case YOKE_SCHEDULE_TRACE:
        return yk_schedule_report_write_chrome_trace(report, out);
    }
    return yk_fail(YK_ERROR_USAGE, "a schedule has no form %d", (int)form);
}

yoke_status yoke_schedule_write(yoke_schedule *schedule, enum yoke_schedule_form form, char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(schedule, out);
    const struct yk_schedule_report report = {
        .schedule = schedule->schedule,
        .algorithm = schedule->info.algorithm,
        .source = schedule->graph->source,
        .lower_bound = schedule->bound,
    };
    return yk_library_return_text_or_free(yk_library_write_schedule(&report, form, &text), &text,
                                          out);
}

const char *yoke_scheduler(int32_t number, const char **summary)
{
    if (number < 0 || (size_t)number >= yk_scheduler_count) {
        return NULL;
    }
    if (summary) {
        *summary = yk_schedulers[number]->summary;
    }
    return yk_schedulers[number]->name;
}
