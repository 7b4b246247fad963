#include "backend/cuda/graphs/graph.h"

#include "backend/cuda/device.h"
#include "backend/cuda/prefetch.h"

#include <stdlib.h>
#include <string.h>

struct yk_replay_graph {
    cudaGraphExec_t made;
    /* Scratch memory of the lane and of those beside it that its kernels were given. */
    const void *scratch[1 + YK_CUDA_SIDES];
    size_t length;
    char bytes[]; /* of the list */
};

static void read_scratch(const struct yk_backend_lane *lane, const void *out[1 + YK_CUDA_SIDES])
{
    out[0] = lane->scratch;
    for (int i = 0; i < YK_CUDA_SIDES; i++) {
        out[1 + i] = lane->sides[i] ? lane->sides[i]->scratch : NULL;
    }
}

/* Scratch memory that grew is elsewhere. */
bool yk_replay_graph_is_current(const struct yk_replay_graph *graph,
                                const struct yk_backend_lane *lane)
{
    const void *scratch[1 + YK_CUDA_SIDES];
    read_scratch(lane, scratch);
    return memcmp(scratch, graph->scratch, sizeof scratch) == 0;
}

bool yk_replay_graph_is_of(const struct yk_replay_graph *graph, const struct yk_replay_list *list)
{
    return graph->length == list->length && memcmp(graph->bytes, list->bytes, list->length) == 0;
}

/* What went wrong while a lane was captured did not happen. True where nothing did. */
static bool pardon(struct yk_backend_lane *lane)
{
    const bool sound = !lane || lane->status == YK_OK;
    if (!sound) {
        lane->status = YK_OK;
        lane->message[0] = '\0';
    }
    return sound;
}

static bool pardon_all(struct yk_backend_lane *lane)
{
    bool sound = pardon(lane);
    sound = pardon(yk_cuda_prefetch_side(lane->prefetch)) && sound;
    for (int i = 0; i < YK_CUDA_SIDES; i++) {
        sound = pardon(lane->sides[i]) && sound;
    }
    return sound;
}

/* The list as a graph, none of it run; NULL where that cannot be. */
static cudaGraph_t capture(struct yk_backend_lane *lane, const struct yk_replay_list *list)
{
    cudaGraph_t graph = NULL;
    yk_cuda_device_set(lane->device);
    /* Relaxed: libraries may take memory or load kernels meanwhile. */
    if (cudaStreamBeginCapture(lane->stream, cudaStreamCaptureModeRelaxed) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    yk_cuda_prefetch_forget(lane->prefetch);
    yk_replay_list_run(list, lane);
    yk_cuda_prefetch_forget(lane->prefetch);
    const bool ended = cudaStreamEndCapture(lane->stream, &graph) == cudaSuccess;
    const bool sound = pardon_all(lane);
    if (!ended || !sound) {
        if (graph) {
            (void)cudaGraphDestroy(graph);
        }
        (void)cudaGetLastError();
        return NULL;
    }
    return graph;
}

struct yk_replay_graph *yk_replay_graph_make(struct yk_backend_lane *lane,
                                             const struct yk_replay_list *list)
{
    struct yk_replay_graph *graph = malloc(sizeof *graph + list->length);
    if (!graph) {
        return NULL;
    }
    cudaGraph_t captured = capture(lane, list);
    const bool made =
        captured && cudaGraphInstantiateWithFlags(&graph->made, captured, 0) == cudaSuccess;
    if (captured) {
        (void)cudaGraphDestroy(captured);
    }
    if (!made) {
        (void)cudaGetLastError();
        free(graph);
        return NULL;
    }
    read_scratch(lane, graph->scratch);
    graph->length = list->length;
    memcpy(graph->bytes, list->bytes, list->length);
    if (cudaGraphUpload(graph->made, lane->stream) != cudaSuccess) {
        (void)cudaGetLastError(); /* the first launch does it */
    }
    return graph;
}

void yk_replay_graph_destroy(struct yk_replay_graph *graph)
{
    if (graph) {
        (void)cudaGraphExecDestroy(graph->made);
        free(graph);
    }
}

bool yk_replay_graph_launch(const struct yk_replay_graph *graph, struct yk_backend_lane *lane)
{
    if (cudaGraphLaunch(graph->made, lane->stream) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    yk_cuda_prefetch_forget(lane->prefetch);
    return true;
}
