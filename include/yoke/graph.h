/* Graph: tasks with a cost on each of several devices, and data between them. */
#ifndef YOKE_GRAPH_H
#define YOKE_GRAPH_H

#include <stdint.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_graph yoke_graph;

/* For forms without devices or links of their own. Filled by the caller. */
struct yoke_graph_options {
    int32_t device_count;
    const double *speeds; /* (speed_count) 1 being what the costs were measured at; NULL: all 1 */
    int32_t speed_count;
    double latency_s;
    double bytes_per_s;
};

struct yoke_graph_info {
    int32_t task_count;
    int32_t device_count;
    int32_t edge_count;
};

/* A file, in any form that docs/graphs.md describes; `options` may be NULL. */
YOKE_API yoke_status yoke_graph_open(const char *path, const struct yoke_graph_options *options,
                                     yoke_graph **out) YOKE_MUST_USE;

/* The same as text; `source` is what messages call it. */
YOKE_API yoke_status yoke_graph_read(const char *text, const char *source,
                                     const struct yoke_graph_options *options,
                                     yoke_graph **out) YOKE_MUST_USE;

YOKE_API void yoke_graph_destroy(yoke_graph *graph);

YOKE_API const struct yoke_graph_info *yoke_graph_info(const yoke_graph *graph);

/* Names; NULL past the last one. */
YOKE_API const char *yoke_graph_task(const yoke_graph *graph, int32_t task);
YOKE_API const char *yoke_graph_device(const yoke_graph *graph, int32_t device);

/* What the task takes on the device, in the graph's own unit: INFINITY where it cannot run, NAN
 * when there is no such task or device. */
YOKE_API double yoke_graph_cost(const yoke_graph *graph, int32_t task, int32_t device);

#ifdef __cplusplus
}
#endif

#endif
