/* Read: reads a graph from text. The format is detected from the text. graph/reader.h explains how
 * to add a format. */
#ifndef YK_GRAPH_READ_H
#define YK_GRAPH_READ_H

#include "base/status.h"
#include "graph/graph.h"

#include <stddef.h>

/* Devices and links for formats that do not contain them. 0 or NULL means: not given. */
struct yk_graph_read_options {
    int32_t device_count;
    const double *speeds; /* (speed_count) one per device; speed 1 gives the costs of the file */
    int32_t speed_count;
    double latency_s;
    double bandwidth_bytes_per_s;
};

/* The default bandwidth for files that have bytes but no links. */
#define YK_GRAPH_READ_DEFAULT_BANDWIDTH_BYTES_PER_S 1.25e9 /* ten-gigabit Ethernet */

/* Reads `text`. Error messages begin with `source`, for example the file name. `options` may be
 * NULL. */
yk_status yk_graph_read(const char *text, size_t length, const char *source,
                        const struct yk_graph_read_options *options,
                        struct yk_graph **out) YK_MUST_USE;

/* The graph of the HEFT paper, ten tasks on three processors, as JSON text. */
extern const char yk_graph_example_json[];

#endif
