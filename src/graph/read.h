/* Read: reads a graph from text and detects the format of the text. graph/reader.h explains how to
 * add a format. */
#ifndef YK_GRAPH_READ_H
#define YK_GRAPH_READ_H

#include "base/status.h"
#include "graph/graph.h"

#include <stddef.h>

/* Devices and links, for formats that do not contain them. 0 and NULL mean: not given. */
struct yk_graph_read_options {
    int32_t device_count;
    /* (speed_count) speed of each device. On a device of speed 1, a task costs what the file says.
     */
    const double *speeds;
    int32_t speed_count;
    double latency_s;
    double bandwidth_bytes_per_s;
};

/* The default bandwidth for files that have bytes but no links. */
#define YK_GRAPH_READ_DEFAULT_BANDWIDTH_BYTES_PER_S 1.25e9 /* ten-gigabit Ethernet */

/* Reads a graph from `text`. Error messages begin with `source`, for example the file name.
 * `options` may be NULL. */
yk_status yk_graph_read_text(const char *text, size_t length, const char *source,
                             const struct yk_graph_read_options *options,
                             struct yk_graph **out) YK_MUST_USE;

/* The graph of the HEFT paper (ten tasks, three processors) as JSON text. */
extern const char yk_graph_heft_example_json[];

#endif
