/*
 * Fuzz target of one reader of graphs, FUZZ_READER. The bytes go through yk_graph_read_text() as a
 * user's file would, and straight into the reader, so that none are lost on being recognised. A
 * graph that is accepted must keep every promise of graph.h.
 */
#include "fuzz/fuzz.h"

#include "base/json.h"
#include "graph/reader.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

static void check(const struct yk_graph *graph)
{
    const char *broken = support_broken_promise(graph);
    if (broken) {
        fprintf(stderr, "broken promise: %s\n", broken);
        abort();
    }
}

static void read_as_file(const char *text, size_t length,
                         const struct yk_graph_read_options *options)
{
    struct yk_graph *graph = NULL;
    if (yk_graph_read_text(text, length, "fuzz", options, &graph) == YK_OK) {
        check(graph);
        yk_graph_destroy(graph);
    }
}

static void read_directly(const struct yk_graph_reader_input *document,
                          const struct yk_graph_read_options *options)
{
    struct yk_graph_builder *builder = NULL;
    struct yk_graph *graph = NULL;
    if (yk_graph_builder_create(&builder) != YK_OK) {
        return;
    }
    if (FUZZ_READER.read(document, options, builder) == YK_OK &&
        yk_graph_builder_finish(builder, &graph) == YK_OK) {
        fuzz_accept();
        check(graph);
        yk_graph_destroy(graph);
    }
    yk_graph_builder_destroy(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double speeds[] = {1, 0.5, 3};
    const struct yk_graph_read_options devices = {
        .device_count = 3, .speeds = speeds, .speed_count = 3};
    const struct yk_graph_read_options none = {0};
    const struct yk_graph_read_options *options = FUZZ_READER.needs_devices ? &devices : &none;
    const char *text = (const char *)data;
    read_as_file(text, size, options);
    struct yk_json *json = NULL;
    (void)!yk_json_parse(text, size, &json);
    const struct yk_graph_reader_input document = {.text = text, .length = size, .json = json};
    read_directly(&document, options);
    yk_json_destroy(json);
    return 0;
}
