#include "base/file.h"
#include "graph/read.h"
#include "library/library.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct yk_graph_read_options read_options(const struct yoke_graph_options *options)
{
    const struct yoke_graph_options given = options ? *options : (struct yoke_graph_options){0};
    return (struct yk_graph_read_options){
        .device_count = given.device_count,
        .speeds = given.speeds,
        .speed_count = given.speed_count,
        .latency_s = given.latency_s,
        .bandwidth_bytes_per_s = given.bytes_per_s,
    };
}

static yk_status read_text(const char *text, size_t length, const char *source,
                           const struct yoke_graph_options *given, struct yoke_graph **out)
{
    const struct yk_graph_read_options options = read_options(given);
    struct yoke_graph *handle = calloc(1, sizeof *handle);
    char *name = strdup(source);
    yk_status status = handle && name
                           ? yk_graph_read_text(text, length, source, &options, &handle->graph)
                           : yk_fail_out_of_memory();
    if (status != YK_OK) {
        free(handle);
        free(name);
        return status;
    }
    atomic_init(&handle->references, 1);
    handle->source = name;
    handle->info = (struct yoke_graph_info){
        .task_count = handle->graph->task_count,
        .device_count = handle->graph->device_count,
        .edge_count = handle->graph->edge_count,
    };
    *out = handle;
    return YK_OK;
}

yoke_status yoke_graph_open(const char *path, const struct yoke_graph_options *options,
                            yoke_graph **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(path, out);
    yk_status status = yk_file_read_document(path, &text);
    YK_IF_OK(read_text(yk_text_chars(&text), text.length, path, options, out));
    yk_text_free(&text);
    return yk_library_to_public_status(status);
}

yoke_status yoke_graph_read(const char *text, const char *source,
                            const struct yoke_graph_options *options, yoke_graph **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(text, source, out);
    return yk_library_to_public_status(read_text(text, strlen(text), source, options, out));
}

void yoke_graph_destroy(yoke_graph *graph)
{
    if (graph && yk_library_release_reference(&graph->references)) {
        yk_graph_destroy(graph->graph);
        free(graph->source);
        free(graph);
    }
}

const struct yoke_graph_info *yoke_graph_info(const yoke_graph *graph)
{
    return &graph->info;
}

const char *yoke_graph_task(const yoke_graph *graph, int32_t task)
{
    return task >= 0 && task < graph->info.task_count ? graph->graph->tasks[task].name : NULL;
}

const char *yoke_graph_device(const yoke_graph *graph, int32_t device)
{
    return device >= 0 && device < graph->info.device_count ? graph->graph->devices[device].name
                                                            : NULL;
}

double yoke_graph_cost(const yoke_graph *graph, int32_t task, int32_t device)
{
    if (!yoke_graph_task(graph, task) || !yoke_graph_device(graph, device)) {
        return NAN;
    }
    const int64_t cost = yk_graph_task_cost(graph->graph, task, device);
    return cost == YK_GRAPH_INFINITE_COST ? INFINITY : yk_graph_ticks_to_time(graph->graph, cost);
}
