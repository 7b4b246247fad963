/* Graph: tasks with a cost on each device, and the data that they send to each other. */
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
                             costs were measured. NULL means: all 1 */
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

/* Reads the text of such a file. `source` is its name in messages. */
YOKE_API yoke_status yoke_graph_read(const char *text, const char *source,
                                     const struct yoke_graph_options *options,
                                     yoke_graph **out) YOKE_MUST_USE;

YOKE_API void yoke_graph_destroy(yoke_graph *graph);

YOKE_API const struct yoke_graph_info *yoke_graph_info(const yoke_graph *graph);

/* The name of a task or of a device. Returns NULL if it is out of range. */
YOKE_API const char *yoke_graph_task(const yoke_graph *graph, int32_t task);
YOKE_API const char *yoke_graph_device(const yoke_graph *graph, int32_t device);

/* The cost of a task on a device, in the unit of the graph. INFINITY if the task cannot run there;
 * NAN if the task or the device is out of range. */
YOKE_API double yoke_graph_cost(const yoke_graph *graph, int32_t task, int32_t device);

#ifdef __cplusplus
}
#endif

#endif
