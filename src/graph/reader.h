/*
 * Reader: the interface of one graph file format. This header is private to this folder; other code
 * calls yk_graph_read_text().
 *
 * To add a format, write src/graph/read_NAME.c that defines `const struct yk_graph_reader
 * yk_graph_reader_NAME`, and add ROW(NAME) to YK_GRAPH_READERS below. For the fuzz tests, add
 * example files to tests/corpus/NAME, and add NAME to tests/fuzz/CMakeLists.txt.
 */
#ifndef YK_GRAPH_READER_H
#define YK_GRAPH_READER_H

#include "graph/builder.h"
#include "graph/read.h"

#include <math.h>
#include <stdio.h>

struct yk_json;

struct yk_graph_reader_input {
    const char *text;
    size_t length;
    const struct yk_json *json; /* parsed text; NULL means: the text is not JSON */
};

struct yk_graph_reader {
    const char *name;
    bool needs_devices; /* the format contains no devices; the options must give them */
    bool accepts_links; /* the options may give a latency and a bandwidth */
    bool (*recognises)(const struct yk_graph_reader_input *document);
    /* Fills the builder. The options are already checked. yk_graph_read_text() inserts the source
     * name before error messages. */
    yk_status (*read)(const struct yk_graph_reader_input *document,
                      const struct yk_graph_read_options *options,
                      struct yk_graph_builder *builder);
};

/* All readers, in the order in which they are tried: one row for each src/graph/read_NAME.c. */
#define YK_GRAPH_READERS(ROW) ROW(json) ROW(wfcommons) ROW(stg) ROW(planted)

#define YK_GRAPH_READER_DECLARE(name) extern const struct yk_graph_reader yk_graph_reader_##name;
YK_GRAPH_READERS(YK_GRAPH_READER_DECLARE)

/* Adds options->device_count devices with the names P1, P2, …. Fails if the count is 0. */
static inline yk_status
yk_graph_reader_add_numbered_devices(const struct yk_graph_read_options *options,
                                     struct yk_graph_builder *builder)
{
    if (options->device_count == 0) {
        return yk_fail(YK_ERROR_USAGE,
                       "this form has no devices of its own; say how many with --devices N or how "
                       "fast they are with --speeds");
    }
    for (int32_t i = 0; i < options->device_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "P%d", i + 1);
        YK_TRY(yk_graph_builder_add_device(builder, name, INFINITY));
    }
    return YK_OK;
}

/* Computes the cost of a task on each device. `work` is its cost on a device of speed 1. */
static inline void yk_graph_reader_compute_task_costs(const struct yk_graph_read_options *options,
                                                      double work, double *out)
{
    for (int32_t i = 0; i < options->device_count; i++) {
        out[i] = options->speed_count > 0 ? work / options->speeds[i] : work;
    }
}

#endif
