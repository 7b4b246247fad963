/* Graph: tasks with a cost on each device, and the data that tasks send to each other. */
#ifndef YOKE_GRAPH_H
#define YOKE_GRAPH_H

#include <stdint.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_graph yoke_graph;

/* Devices and links, for file formats that do not contain them. Filled by the caller. */
struct yoke_graph_options {
    int32_t device_count;
    const double *speeds; /* (speed_count) relative speed of each device; 1 is the speed at which
                             costs were measured. NULL means: 1 for all */
    int32_t speed_count;
    double latency_s;
    double bytes_per_s;
};

struct yoke_graph_info {
    int32_t task_count;
    int32_t device_count;
    int32_t edge_count;
};

/* Opens a file in any of the formats of docs/graphs.md. `options` may be NULL. */
YOKE_API yoke_status yoke_graph_open(const char *path, const struct yoke_graph_options *options,
                                     yoke_graph **out) YOKE_MUST_USE;

/* Reads a graph from the text of such a file. `source` is the name of the text in messages. */
YOKE_API yoke_status yoke_graph_read(const char *text, const char *source,
                                     const struct yoke_graph_options *options,
                                     yoke_graph **out) YOKE_MUST_USE;

YOKE_API void yoke_graph_destroy(yoke_graph *graph);

YOKE_API const struct yoke_graph_info *yoke_graph_info(const yoke_graph *graph);

/* Return the name of a task or of a device, or NULL if the task or the device is out of range. */
YOKE_API const char *yoke_graph_task(const yoke_graph *graph, int32_t task);
YOKE_API const char *yoke_graph_device(const yoke_graph *graph, int32_t device);

/* Returns the cost of a task on a device, in the graph's unit of time (docs/graphs.md). Returns
 * INFINITY if the task cannot run on the device, and NAN if the task or the device is out of
 * range. */
YOKE_API double yoke_graph_cost(const yoke_graph *graph, int32_t task, int32_t device);

#ifdef __cplusplus
}
#endif

#endif
