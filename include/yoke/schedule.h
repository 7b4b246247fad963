/* Schedule: the device and the time of each task of a graph. Times are in the graph's unit of
 * time. */
#ifndef YOKE_SCHEDULE_H
#define YOKE_SCHEDULE_H

#include <stdint.h>
#include <yoke/graph.h>
#include <yoke/search.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_schedule yoke_schedule;

struct yoke_schedule_info {
    const char *algorithm;
    double makespan; /* end of the last task */
    double bound;    /* lower bound of the makespan of any schedule */
};

struct yoke_task {
    const char *name;
    int32_t device;
    double start;
    double end;
};

/* Schedules the graph. `algorithm` is the name of a scheduler ("heft", "best" …). `search` may be
 * NULL. Fails with YOKE_ERROR_NO_FIT if the schedule needs more memory than a device has. */
YOKE_API yoke_status yoke_schedule_find(yoke_graph *graph, const char *algorithm,
                                        const struct yoke_search *search,
                                        yoke_schedule **out) YOKE_MUST_USE;

/* Schedules each task on the device that `map` chooses for the task. `map` is the text of a JSON
 * object that maps names of tasks or groups to names of devices. `source` is the name of this text
 * in messages. */
YOKE_API yoke_status yoke_schedule_follow(yoke_graph *graph, const char *map, const char *source,
                                          yoke_schedule **out) YOKE_MUST_USE;

YOKE_API void yoke_schedule_destroy(yoke_schedule *schedule);

YOKE_API const struct yoke_schedule_info *yoke_schedule_info(const yoke_schedule *schedule);
YOKE_API const struct yoke_task *yoke_schedule_task(const yoke_schedule *schedule, int32_t task);

enum yoke_schedule_form {
    YOKE_SCHEDULE_SUMMARY, /* plain text: the makespan, its lower bound, and a table of devices */
    YOKE_SCHEDULE_JSON,
    YOKE_SCHEDULE_SVG,   /* a Gantt chart */
    YOKE_SCHEDULE_HTML,  /* one page that needs no network */
    YOKE_SCHEDULE_TRACE, /* Chrome trace events, for Perfetto and chrome://tracing */
};

YOKE_API yoke_status yoke_schedule_write(yoke_schedule *schedule, enum yoke_schedule_form form,
                                         char **out) YOKE_MUST_USE;

/* Returns the name of scheduler `number`, or NULL after the last one. Sets `*summary` to a
 * description of the scheduler. `summary` may be NULL. */
YOKE_API const char *yoke_scheduler(int32_t number, const char **summary);

#ifdef __cplusplus
}
#endif

#endif
