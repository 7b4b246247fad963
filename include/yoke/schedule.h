/* Schedule: which device runs each task of a graph, and when. Times are in the graph's own unit. */
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
    double makespan; /* when the last task ends */
    double bound;    /* no schedule of the graph is shorter */
};

struct yoke_task {
    const char *name;
    int32_t device;
    double start;
    double end;
};

/* Runs a scheduler: "heft", "best" … `search` may be NULL. YOKE_ERROR_NO_FIT when the schedule it
 * finds needs more memory than a device has. */
YOKE_API yoke_status yoke_schedule_find(yoke_graph *graph, const char *algorithm,
                                        const struct yoke_search *search,
                                        yoke_schedule **out) YOKE_MUST_USE;

/* The schedule when it is settled who runs what: `map` is a JSON object of task or group names,
 * each with the name of a device. `source` is what messages call it. */
YOKE_API yoke_status yoke_schedule_follow(yoke_graph *graph, const char *map, const char *source,
                                          yoke_schedule **out) YOKE_MUST_USE;

YOKE_API void yoke_schedule_destroy(yoke_schedule *schedule);

YOKE_API const struct yoke_schedule_info *yoke_schedule_info(const yoke_schedule *schedule);
YOKE_API const struct yoke_task *yoke_schedule_task(const yoke_schedule *schedule, int32_t task);

enum yoke_schedule_form {
    YOKE_SCHEDULE_SUMMARY, /* plain text: length, bound, a table of devices */
    YOKE_SCHEDULE_JSON,
    YOKE_SCHEDULE_SVG,   /* a Gantt chart */
    YOKE_SCHEDULE_HTML,  /* one page that needs no network */
    YOKE_SCHEDULE_TRACE, /* for Perfetto and chrome://tracing */
};

YOKE_API yoke_status yoke_schedule_write(yoke_schedule *schedule, enum yoke_schedule_form form,
                                         char **out) YOKE_MUST_USE;

/* The schedulers by name: `*summary` says what each is, and may be NULL. NULL past the last one. */
YOKE_API const char *yoke_scheduler(int32_t number, const char **summary);

#ifdef __cplusplus
}
#endif

#endif
