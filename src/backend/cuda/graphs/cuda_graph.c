#include "backend/cuda/graphs/cuda_graph.h"

#include "backend/cuda/device.h"
#include "base/hash.h"

#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <string.h>

/* ---- the graph of one list of ops; belongs to the lane on which it was captured ---- */

struct graph {
    cudaGraphExec_t made;
    /* Scratch memory of the lane and its side streams, which the captured kernels use. */
    const void *scratch[1 + YK_CUDA_SIDE_STREAM_COUNT];
    size_t length;
    char bytes[]; /* of the list */
};

static void read_scratch(const struct yk_backend_lane *lane,
                         const void *out[1 + YK_CUDA_SIDE_STREAM_COUNT])
{
    out[0] = lane->scratch;
    for (int i = 0; i < YK_CUDA_SIDE_STREAM_COUNT; i++) {
        out[1 + i] = lane->sides[i] ? lane->sides[i]->scratch : NULL;
    }
}

/* Scratch memory has another address after it has grown. */
static bool is_current(const struct graph *graph, const struct yk_backend_lane *lane)
{
    const void *scratch[1 + YK_CUDA_SIDE_STREAM_COUNT];
    read_scratch(lane, scratch);
    return memcmp(scratch, graph->scratch, sizeof scratch) == 0;
}

static bool has_list(const struct graph *graph, const struct yk_cuda_op_list *list)
{
    return graph->length == list->length && memcmp(graph->bytes, list->bytes, list->length) == 0;
}

/* Clears a failure of the capture. Returns true if there was none. */
static bool clear_failure(struct yk_backend_lane *lane)
{
    const bool sound = !lane || lane->status == YK_OK;
    if (!sound) {
        lane->status = YK_OK;
        lane->message[0] = '\0';
    }
    return sound;
}

static bool clear_failures(struct yk_backend_lane *lane)
{
    bool sound = clear_failure(lane);
    sound = clear_failure(yk_cuda_dequantise_prefetch_side_lane(lane->prefetch)) && sound;
    for (int i = 0; i < YK_CUDA_SIDE_STREAM_COUNT; i++) {
        sound = clear_failure(lane->sides[i]) && sound;
    }
    return sound;
}

/* Captures the list as a graph without running it. Returns NULL on failure. */
static cudaGraph_t capture(struct yk_backend_lane *lane, const struct yk_cuda_op_list *list)
{
    cudaGraph_t graph = NULL;
    yk_cuda_device_make_current(lane->device);
    /* Relaxed: libraries may allocate memory or load kernels during the capture. */
    if (cudaStreamBeginCapture(lane->stream, cudaStreamCaptureModeRelaxed) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    yk_cuda_dequantise_prefetch_reset(lane->prefetch);
    yk_cuda_op_list_enqueue(list, lane);
    yk_cuda_dequantise_prefetch_reset(lane->prefetch);
    const bool ended = cudaStreamEndCapture(lane->stream, &graph) == cudaSuccess;
    const bool sound = clear_failures(lane);
    if (!ended || !sound) {
        if (graph) {
            (void)cudaGraphDestroy(graph);
        }
        (void)cudaGetLastError();
        return NULL;
    }
    return graph;
}

/* Captures and instantiates the list. Returns NULL on failure; the lane does not fail. The list
 * must have run before, so that the capture neither autotunes nor grows scratch memory. */
static struct graph *capture_graph(struct yk_backend_lane *lane, const struct yk_cuda_op_list *list)
{
    struct graph *graph = malloc(sizeof *graph + list->length);
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
        (void)cudaGetLastError(); /* the first launch uploads it */
    }
    return graph;
}

static void destroy_graph(struct graph *graph)
{
    if (graph) {
        (void)cudaGraphExecDestroy(graph->made);
        free(graph);
    }
}

/* Returns false if the launch failed; the lane does not fail. */
static bool launch_graph(const struct graph *graph, struct yk_backend_lane *lane)
{
    if (cudaGraphLaunch(graph->made, lane->stream) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    yk_cuda_dequantise_prefetch_reset(lane->prefetch);
    return true;
}

/* ---- ranges ---- */

enum {
    MAX_RANGES = 4096, /* further ranges are not collected */
    RANGE_SLOTS = 2 * MAX_RANGES,
    VARIANTS = 16,     /* lists of one range: other samples, training or evaluating */
    MAX_GRAPHS = 4096, /* per lane */
    MIN_OPS = 3,       /* a graph of fewer ops takes longer to launch than the ops */
    /* Runs of a list before its capture. By then matmul algorithms are chosen and attention plans
     * exist, even those that are made at the third request. */
    RUNS_BEFORE = 3,
    MAX_MISSES = 12,   /* new lists in a row after which a range is not collected */
    REST_RANGES = 256, /* number of times that such a range is skipped */
};

struct variant {
    uint64_t hash; /* of the list; before the capture, only hash and length are stored */
    size_t length; /* 0 means: unused */
    int64_t used;  /* value of yk_cuda_lane_graphs.now at the last use */
    int32_t runs;
    bool refused; /* the capture or the launch failed */
    struct graph *graph;
};

struct range {
    const char *name; /* only the pointer is compared; the text is never read */
    int32_t misses;
    int32_t resting; /* number of times to skip this range */
    struct variant variants[VARIANTS];
};

struct yk_cuda_lane_graphs {
    struct yk_cuda_op_list list;
    struct range *collecting;          /* NULL means: ops run at once */
    int32_t depth;                     /* nesting of ranges; the outermost one is collected */
    int64_t now;                       /* counts uses */
    struct range *ranges[RANGE_SLOTS]; /* hash table by name, open addressing */
    int32_t range_count;
    struct graph *retired[MAX_GRAPHS]; /* to be destroyed; may still be running */
    int32_t retired_count;
    int32_t graph_count; /* includes retired graphs */
};

/* ---- destroy ---- */

/* Call it only when the lane is idle. */
static void destroy_retired(struct yk_cuda_lane_graphs *replay)
{
    for (int32_t i = 0; i < replay->retired_count; i++) {
        destroy_graph(replay->retired[i]);
    }
    replay->graph_count -= replay->retired_count;
    replay->retired_count = 0;
}

/* Call it only when the lane is idle. */
static void destroy(struct yk_cuda_lane_graphs *replay)
{
    if (!replay) {
        return;
    }
    destroy_retired(replay);
    for (int32_t i = 0; i < RANGE_SLOTS; i++) {
        for (int32_t v = 0; replay->ranges[i] && v < VARIANTS; v++) {
            destroy_graph(replay->ranges[i]->variants[v].graph);
        }
        free(replay->ranges[i]);
    }
    free(replay);
}

/* ---- graphs ---- */

static void retire(struct yk_cuda_lane_graphs *replay, struct variant *variant)
{
    if (variant->graph) {
        replay->retired[replay->retired_count++] = variant->graph;
        variant->graph = NULL;
    }
}

/* Returns false if the list must run op by op. */
static bool launch(struct yk_backend_lane *lane, struct variant *variant)
{
    struct yk_cuda_lane_graphs *replay = lane->replay;
    if (variant->graph && !is_current(variant->graph, lane)) {
        retire(replay, variant);
    }
    if (!variant->graph && !variant->refused && variant->runs >= RUNS_BEFORE &&
        replay->graph_count < MAX_GRAPHS) {
        variant->graph = capture_graph(lane, &replay->list);
        variant->refused = !variant->graph;
        replay->graph_count += variant->graph ? 1 : 0;
    }
    if (!variant->graph || !has_list(variant->graph, &replay->list)) {
        return false;
    }
    if (!launch_graph(variant->graph, lane)) {
        retire(replay, variant);
        variant->refused = true;
        return false;
    }
    return true;
}

/* ---- ranges ---- */

/* Returns NULL if there are too many ranges. */
static struct range *find_range(struct yk_cuda_lane_graphs *replay, const char *name)
{
    size_t at = (size_t)yk_hash_bytes(&name, sizeof name) % RANGE_SLOTS;
    while (replay->ranges[at] && replay->ranges[at]->name != name) {
        at = (at + 1) % RANGE_SLOTS;
    }
    if (!replay->ranges[at] && replay->range_count < MAX_RANGES) {
        replay->ranges[at] = calloc(1, sizeof *replay->ranges[at]);
        if (replay->ranges[at]) {
            replay->ranges[at]->name = name;
            replay->range_count++;
        }
    }
    return replay->ranges[at];
}

/* Counts a list that is new or could not be collected. */
static void miss(struct range *range)
{
    range->misses++;
    if (range->misses >= MAX_MISSES) {
        range->misses = MAX_MISSES - 1; /* afterwards, one new list is enough to skip it again */
        range->resting = REST_RANGES;
    }
}

/* Finds the variant of the collected list. A new list replaces the least recently used variant. */
static struct variant *find_variant(struct yk_cuda_lane_graphs *replay, struct range *range)
{
    const struct yk_cuda_op_list *list = &replay->list;
    const uint64_t hash = yk_hash_bytes(list->bytes, list->length);
    struct variant *oldest = &range->variants[0];
    for (int32_t i = 0; i < VARIANTS; i++) {
        struct variant *variant = &range->variants[i];
        if (variant->length == list->length && variant->hash == hash) {
            range->misses = 0;
            return variant;
        }
        oldest = variant->used < oldest->used ? variant : oldest;
    }
    retire(replay, oldest);
    *oldest = (struct variant){.hash = hash, .length = list->length};
    miss(range);
    return oldest;
}

/* Ends the collection and runs the collected ops. */
static void run_collected(struct yk_backend_lane *lane)
{
    struct yk_cuda_lane_graphs *replay = lane->replay;
    struct range *range = replay->collecting;
    replay->collecting = NULL;
    if (replay->list.count >= MIN_OPS && yk_cuda_lane_is_ok(lane)) {
        struct variant *variant = find_variant(replay, range);
        variant->used = ++replay->now;
        if (launch(lane, variant)) {
            return;
        }
        variant->runs += variant->runs < RUNS_BEFORE ? 1 : 0;
    }
    yk_cuda_op_list_enqueue(&replay->list, lane);
}

/* Ends the collection early: runs the collected ops one by one. */
static void interrupt(struct yk_backend_lane *lane)
{
    struct yk_cuda_lane_graphs *replay = lane->replay;
    if (replay && replay->collecting) {
        miss(replay->collecting);
        replay->collecting = NULL;
        yk_cuda_op_list_enqueue(&replay->list, lane);
    }
}

/* ---- entries of the backend's table ---- */

void yk_cuda_graph_destroy_lane(struct yk_backend_lane *lane)
{
    if (!lane) {
        return;
    }
    yk_cuda_device_make_current(lane->device);
    (void)cudaStreamSynchronize(lane->stream);
    destroy(lane->replay);
    yk_cuda_dequantise_prefetch_destroy(lane->prefetch);
    yk_cuda_lane_destroy(lane);
}

void yk_cuda_graph_begin_range(struct yk_backend_lane *lane, const char *name)
{
    (void)nvtxRangePushA(name);
    if (lane->device->graphs && !lane->replay) {
        lane->replay = calloc(1, sizeof *lane->replay);
    }
    struct yk_cuda_lane_graphs *replay = lane->replay;
    if (!replay || replay->depth++ > 0) {
        return;
    }
    struct range *range = find_range(replay, name);
    if (range && range->resting > 0) {
        range->resting--;
    } else {
        replay->collecting = range;
        replay->list.length = 0;
        replay->list.count = 0;
    }
}

void yk_cuda_graph_end_range(struct yk_backend_lane *lane)
{
    struct yk_cuda_lane_graphs *replay = lane->replay;
    if (replay && replay->depth > 0 && --replay->depth == 0 && replay->collecting) {
        run_collected(lane);
    }
    (void)nvtxRangePop();
}

/* Returns false if the caller must run the op at once. */
static bool collect(struct yk_backend_lane *lane, enum yk_cuda_op_kind kind, const void *op,
                    size_t bytes)
{
    struct yk_cuda_lane_graphs *replay = lane->replay;
    if (!replay || !replay->collecting) {
        return false;
    }
    if (!yk_cuda_op_list_add(&replay->list, kind, op, bytes)) {
        interrupt(lane);
        return false;
    }
    return true;
}

#define COLLECT(KIND, name, function)                                                              \
    void yk_cuda_graph_collect_##name(struct yk_backend_lane *lane,                                \
                                      const struct yk_##name##_op *op)                             \
    {                                                                                              \
        if (!collect(lane, YK_CUDA_OP_##KIND, op, sizeof *op)) {                                   \
            yk_cuda_##function(lane, op);                                                          \
        }                                                                                          \
    }
YK_OPS_FOR_EACH(COLLECT)

void yk_cuda_graph_collect_copy(struct yk_backend_lane *lane, void *to, const void *from,
                                size_t bytes)
{
    if (lane->replay && lane->replay->collecting && bytes > 0) {
        const struct yk_cuda_copy_or_clear_op copied = {.to = to, .from = from, .count = bytes};
        if (yk_cuda_memory_is_device_memory(lane->device, to) &&
            yk_cuda_memory_is_device_memory(lane->device, from) &&
            collect(lane, YK_CUDA_OP_COPY_OR_CLEAR, &copied, sizeof copied)) {
            return;
        }
        interrupt(lane);
    }
    yk_cuda_lane_enqueue_copy(lane, to, from, bytes);
}

void yk_cuda_graph_collect_clear(struct yk_backend_lane *lane, void *memory, size_t bytes)
{
    const struct yk_cuda_copy_or_clear_op cleared = {.to = memory, .count = bytes};
    if (bytes > 0 && !collect(lane, YK_CUDA_OP_COPY_OR_CLEAR, &cleared, sizeof cleared)) {
        yk_cuda_lane_enqueue_clear(lane, memory, bytes);
    }
}

void yk_cuda_graph_flush_and_call_host(struct yk_backend_lane *lane, void (*function)(void *user),
                                       void *user)
{
    interrupt(lane);
    yk_cuda_lane_enqueue_host_call(lane, function, user);
}

void yk_cuda_graph_flush_and_record_event(struct yk_backend_lane *lane,
                                          struct yk_backend_event *event)
{
    interrupt(lane);
    yk_cuda_event_record(lane, event);
}

void yk_cuda_graph_flush_and_wait_for_event(struct yk_backend_lane *lane,
                                            struct yk_backend_event *event)
{
    interrupt(lane);
    yk_cuda_event_wait(lane, event);
}

yk_status yk_cuda_graph_flush_and_reserve_scratch(struct yk_backend_lane *lane, size_t bytes)
{
    interrupt(lane);
    return yk_cuda_lane_reserve_scratch(lane, bytes);
}

yk_status yk_cuda_graph_flush_and_synchronize(struct yk_backend_lane *lane)
{
    interrupt(lane);
    const yk_status status = yk_cuda_lane_synchronize(lane);
    if (lane->replay) {
        destroy_retired(lane->replay);
    }
    return status;
}
