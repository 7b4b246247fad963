/* Reader: one form a graph can be written in. The readers and their table are private to this room;
 * everybody else calls yk_graph_read(). */
#ifndef YK_GRAPH_READER_H
#define YK_GRAPH_READER_H

#include "base/status.h"
#include "graph/builder.h"
#include "graph/read.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_json;

/* The text in the two shapes a form can be in: parsed JSON, or plain characters. */
struct yk_graph_document {
    const char *text;
    size_t length;
    const struct yk_json *json; /* NULL when the text is not JSON */
};

struct yk_graph_reader {
    const char *name;
    bool needs_devices; /* the options say which; other forms have devices of their own */
    bool takes_links;   /* the options may say how fast data travels */
    bool (*recognises)(const struct yk_graph_document *document);
    /* Fills the builder; needs no source name in its messages. The options have been checked. */
    yk_status (*read)(const struct yk_graph_document *document,
                      const struct yk_graph_read_options *options,
                      struct yk_graph_builder *builder);
};

extern const struct yk_graph_reader yk_graph_reader_json;
extern const struct yk_graph_reader yk_graph_reader_wfcommons;
extern const struct yk_graph_reader yk_graph_reader_stg;
extern const struct yk_graph_reader yk_graph_reader_planted;

/* Checks what the user asked for, NULL for nothing, and fills in what follows from it: speeds tell
 * how many devices there are. */
yk_status yk_graph_reader_check_options(const struct yk_graph_read_options *given,
                                        struct yk_graph_read_options *out) YK_MUST_USE;

/* Adds devices P1 … PN; fails with a hint at --devices when the options do not say how many. */
yk_status yk_graph_reader_add_devices(const struct yk_graph_read_options *options,
                                      struct yk_graph_builder *builder) YK_MUST_USE;

/* The costs of a task that takes `work` at speed 1, one for each of the options' devices. */
void yk_graph_reader_task_costs(const struct yk_graph_read_options *options, double work,
                                double *out);

#endif
