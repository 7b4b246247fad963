/* Read: a graph from text in any of the known forms, recognised by the text itself. graph/reader.h
 * says how to add a form. */
#ifndef YK_GRAPH_READ_H
#define YK_GRAPH_READ_H

#include "base/status.h"
#include "graph/graph.h"

#include <stddef.h>

/* Devices and links for forms that have none of their own. Zero or NULL: not given. */
struct yk_graph_read_options {
    int32_t device_count;
    const double *speeds; /* one for each device, 1 being the speed the costs were measured at */
    int32_t speed_count;
    double latency_s;
    double bandwidth_bytes_per_s;
};

/* A bandwidth for files that give bytes but no links, where the options do not say either. */
#define YK_GRAPH_READ_BANDWIDTH_BYTES_PER_S 1.25e9 /* ten-gigabit Ethernet */

/* Reads `text`; a message begins with `source`, the name the user knows the text by. */
yk_status yk_graph_read(const char *text, size_t length, const char *source,
                        const struct yk_graph_read_options *options,
                        struct yk_graph **out) YK_MUST_USE;

/* The ten tasks on three processors of the HEFT paper, as a JSON graph. */
extern const char yk_graph_example[];

#endif
