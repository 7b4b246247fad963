#include "backend/cuda/graphs/replay.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "base/hash.h"

#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <string.h>

/* ---- one list of ops as a graph, which belongs to the lane that it was captured on ---- */

struct graph {
    cudaGraphExec_t made;
    /* Scratch memory of the lane and its side streams that its kernels were given. */
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
static bool is_current(const struct graph *graph, const struct yk_backend_lane *lane)
{
    const void *scratch[1 + YK_CUDA_SIDES];
    read_scratch(lane, scratch);
    return memcmp(scratch, graph->scratch, sizeof scratch) == 0;
}

static bool is_of(const struct graph *graph, const struct yk_replay_list *list)
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

/* Captures the list, of which nothing runs; NULL where that cannot be, and the lane does not fail.
 * All of it must have run before: nothing may be tuned, and no scratch memory grow. */
static struct graph *capture_graph(struct yk_backend_lane *lane, const struct yk_replay_list *list)
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
        (void)cudaGetLastError(); /* the first launch does it */
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

/* False where nothing was enqueued; the lane does not fail. */
static bool launch_graph(const struct graph *graph, struct yk_backend_lane *lane)
{
    if (cudaGraphLaunch(graph->made, lane->stream) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    yk_cuda_prefetch_forget(lane->prefetch);
    return true;
}

/* ---- ranges ---- */

enum {
    MAX_RANGES = 4096, /* others are not collected */
    PLACES = 2 * MAX_RANGES,
    VARIANTS = 16,     /* of one range: the samples of some steps, training or evaluating */
    MAX_GRAPHS = 4096, /* of a lane */
    MIN_OPS = 3,       /* a graph of fewer takes longer to launch than they do */
    /* A list is captured after it ran so often: by then algorithms are chosen and plans made, those
     * too that attention makes when it is asked for the third time. */
    RUNS_BEFORE = 3,
    MAX_MISSES = 12,   /* new lists one after the other, after which a range rests */
    REST_RANGES = 256, /* for so long */
};

struct variant {
    uint64_t hash; /* of its list; with its length, all that is kept of it before it is captured */
    size_t length; /* 0: a free place */
    int64_t used;
    int32_t runs;
    bool refused; /* it cannot be captured */
    struct graph *graph;
};

struct range {
    const char *name; /* the pointer alone: what it points to is never read */
    int32_t misses;
    int32_t resting;
    struct variant variants[VARIANTS];
};

struct yk_replay {
    struct yk_replay_list list;
    struct range *collecting;     /* NULL: ops run directly */
    int32_t depth;                /* of ranges within ranges; the outermost is collected */
    int64_t now;                  /* counts uses */
    struct range *ranges[PLACES]; /* by their names, open addressing */
    int32_t range_count;
    struct graph *retired[MAX_GRAPHS]; /* they may still be running */
    int32_t retired_count;
    int32_t graph_count; /* those included */
};

/* ---- made and destroyed ---- */

static struct yk_replay *create(void)
{
    struct yk_replay *replay = calloc(1, sizeof *replay);
    if (replay) {
        replay->list.bytes = malloc(YK_REPLAY_LIST_BYTES);
    }
    if (replay && !replay->list.bytes) {
        free(replay);
        replay = NULL;
    }
    return replay;
}

/* When nothing runs. */
static void destroy_retired(struct yk_replay *replay)
{
    for (int32_t i = 0; i < replay->retired_count; i++) {
        destroy_graph(replay->retired[i]);
    }
    replay->graph_count -= replay->retired_count;
    replay->retired_count = 0;
}

/* After all that is on the lane has run. */
static void destroy(struct yk_replay *replay)
{
    if (!replay) {
        return;
    }
    destroy_retired(replay);
    for (int32_t i = 0; i < PLACES; i++) {
        for (int32_t v = 0; replay->ranges[i] && v < VARIANTS; v++) {
            destroy_graph(replay->ranges[i]->variants[v].graph);
        }
        free(replay->ranges[i]);
    }
    free(replay->list.bytes);
    free(replay);
}

/* ---- graphs ---- */

static void retire(struct yk_replay *replay, struct variant *variant)
{
    if (variant->graph) {
        replay->retired[replay->retired_count++] = variant->graph;
        variant->graph = NULL;
    }
}

/* False where the list is to be run directly. */
static bool launch(struct yk_backend_lane *lane, struct variant *variant)
{
    struct yk_replay *replay = lane->replay;
    if (variant->graph && !is_current(variant->graph, lane)) {
        retire(replay, variant);
    }
    if (!variant->graph && !variant->refused && variant->runs >= RUNS_BEFORE &&
        replay->graph_count < MAX_GRAPHS) {
        variant->graph = capture_graph(lane, &replay->list);
        variant->refused = !variant->graph;
        replay->graph_count += variant->graph ? 1 : 0;
    }
    if (!variant->graph || !is_of(variant->graph, &replay->list)) {
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

/* NULL where there are too many. */
static struct range *find_range(struct yk_replay *replay, const char *name)
{
    size_t at = (size_t)yk_hash_bytes(&name, sizeof name) % PLACES;
    while (replay->ranges[at] && replay->ranges[at]->name != name) {
        at = (at + 1) % PLACES;
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

/* A list that was never there before, or that could not be collected. */
static void miss(struct range *range)
{
    range->misses++;
    if (range->misses >= MAX_MISSES) {
        range->misses = MAX_MISSES - 1; /* after its rest, it has one try */
        range->resting = REST_RANGES;
    }
}

/* The list's place in its range; the place of the one used longest ago where it is new. */
static struct variant *find_variant(struct yk_replay *replay, struct range *range)
{
    const struct yk_replay_list *list = &replay->list;
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

/* Runs what was collected, and ends the collecting. */
static void run_collected(struct yk_backend_lane *lane)
{
    struct yk_replay *replay = lane->replay;
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
    yk_replay_list_run(&replay->list, lane);
}

/* What comes now is run directly, after what was collected. */
static void interrupt(struct yk_backend_lane *lane)
{
    struct yk_replay *replay = lane->replay;
    if (replay && replay->collecting) {
        miss(replay->collecting);
        replay->collecting = NULL;
        yk_replay_list_run(&replay->list, lane);
    }
}

static void begin(struct yk_backend_lane *lane, const char *name)
{
    if (!lane->replay) {
        lane->replay = create();
    }
    struct yk_replay *replay = lane->replay;
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

static void end(struct yk_backend_lane *lane)
{
    struct yk_replay *replay = lane->replay;
    if (!replay || replay->depth == 0) {
        return;
    }
    replay->depth--;
    if (replay->depth == 0 && replay->collecting) {
        run_collected(lane);
    }
}

/* ---- entries of the backend's table ---- */

void yk_replay_lane_destroy(struct yk_backend_lane *lane)
{
    if (!lane) {
        return;
    }
    yk_cuda_device_set(lane->device);
    (void)cudaStreamSynchronize(lane->stream);
    destroy(lane->replay);
    yk_cuda_prefetch_destroy(lane->prefetch);
    yk_cuda_lane_destroy(lane);
}

void yk_replay_begin_range(struct yk_backend_lane *lane, const char *name)
{
    (void)nvtxRangePushA(name);
    if (lane->device->graphs) {
        begin(lane, name);
    }
}

void yk_replay_end_range(struct yk_backend_lane *lane)
{
    end(lane);
    (void)nvtxRangePop();
}

/* False where the op is to be run now. */
static bool collect(struct yk_backend_lane *lane, enum yk_replay_kind kind, const void *op,
                    size_t bytes)
{
    struct yk_replay *replay = lane->replay;
    if (!replay || !replay->collecting) {
        return false;
    }
    if (!yk_replay_list_add(&replay->list, kind, op, bytes)) {
        interrupt(lane);
        return false;
    }
    return true;
}

#define COLLECT(KIND, name, function)                                                              \
    void yk_replay_##name(struct yk_backend_lane *lane, const struct yk_##name##_op *op)           \
    {                                                                                              \
        if (!collect(lane, YK_REPLAY_##KIND, op, sizeof *op)) {                                    \
            function(lane, op);                                                                    \
        }                                                                                          \
    }
YK_REPLAY_OPS(COLLECT)

static bool is_of_device(const void *memory)
{
    struct cudaPointerAttributes facts;
    if (cudaPointerGetAttributes(&facts, memory) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return facts.type == cudaMemoryTypeDevice;
}

static bool is_collecting(const struct yk_backend_lane *lane)
{
    return lane->replay && lane->replay->collecting;
}

void yk_replay_copy(struct yk_backend_lane *lane, void *to, const void *from, size_t bytes)
{
    if (is_collecting(lane) && bytes > 0) {
        const struct yk_replay_bytes copied = {.to = to, .from = from, .count = bytes};
        if (is_of_device(to) && is_of_device(from) &&
            collect(lane, YK_REPLAY_BYTES, &copied, sizeof copied)) {
            return;
        }
        interrupt(lane);
    }
    yk_cuda_lane_copy(lane, to, from, bytes);
}

void yk_replay_clear(struct yk_backend_lane *lane, void *memory, size_t bytes)
{
    const struct yk_replay_bytes cleared = {.to = memory, .count = bytes};
    if (bytes > 0 && !collect(lane, YK_REPLAY_BYTES, &cleared, sizeof cleared)) {
        yk_cuda_lane_clear(lane, memory, bytes);
    }
}

void yk_replay_call_host(struct yk_backend_lane *lane, void (*function)(void *user), void *user)
{
    interrupt(lane);
    yk_cuda_lane_call_host(lane, function, user);
}

void yk_replay_event_record(struct yk_backend_lane *lane, struct yk_backend_event *event)
{
    interrupt(lane);
    yk_cuda_event_record(lane, event);
}

void yk_replay_event_wait(struct yk_backend_lane *lane, struct yk_backend_event *event)
{
    interrupt(lane);
    yk_cuda_event_wait(lane, event);
}

yk_status yk_replay_reserve_scratch(struct yk_backend_lane *lane, size_t bytes)
{
    interrupt(lane);
    return yk_cuda_lane_reserve_scratch(lane, bytes);
}

yk_status yk_replay_lane_synchronize(struct yk_backend_lane *lane)
{
    interrupt(lane);
    const yk_status status = yk_cuda_lane_synchronize(lane);
    if (lane->replay) {
        destroy_retired(lane->replay);
    }
    return status;
}
