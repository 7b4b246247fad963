#include "gpu/qkv/forms.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LITTLE = 256, /* bytes */
};

void must(cudaError_t error, const char *doing)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "qkv: %s: %s\n", doing, cudaGetErrorString(error));
        exit(1);
    }
}

void must_status(yk_status status)
{
    if (status != YK_OK) {
        fprintf(stderr, "qkv: %s\n", yk_status_message());
        exit(1);
    }
}

void *must_malloc(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "qkv: out of memory\n");
        exit(1);
    }
    return memory;
}

/* ---- streams and events ---- */

static void streams_make(cudaStream_t streams[SIDES])
{
    for (int i = 0; i < SIDES; i++) {
        must(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), "making a stream");
    }
}

/* What is still on them runs first; nobody waits for it. */
static void streams_destroy(const cudaStream_t streams[SIDES])
{
    for (int i = 0; i < SIDES; i++) {
        must(cudaStreamDestroy(streams[i]), "destroying a stream");
    }
}

static void events_make(struct sides *sides)
{
    must(cudaEventCreateWithFlags(&sides->fork, cudaEventDisableTiming), "making an event");
    for (int i = 0; i < SIDES; i++) {
        must(cudaEventCreateWithFlags(&sides->joins[i], cudaEventDisableTiming), "making an event");
    }
}

static void events_destroy(const struct sides *sides)
{
    must(cudaEventDestroy(sides->fork), "destroying an event");
    for (int i = 0; i < SIDES; i++) {
        must(cudaEventDestroy(sides->joins[i]), "destroying an event");
    }
}

void sides_make(struct sides *sides)
{
    streams_make(sides->streams);
    events_make(sides);
}

void sides_destroy(const struct sides *sides)
{
    streams_destroy(sides->streams);
    events_destroy(sides);
}

static cudaStream_t main_stream(const struct bench *bench)
{
    return bench->lanes[0]->stream;
}

void bench_open(struct bench *bench)
{
    static const char *const names[PARTS] = {"compute", "keys", "values"};
    const struct yk_backend *backend = bench->backend;
    for (int i = 0; i < PARTS; i++) {
        must_status(backend->lane_create(bench->device, names[i], &bench->lanes[i]));
        must_status(backend->reserve_scratch(bench->lanes[i], YK_CUDA_MIN_SCRATCH_BYTES));
    }
    for (int i = 0; i < SIDES; i++) {
        bench->sides.streams[i] = bench->lanes[i + 1]->stream;
    }
    events_make(&bench->sides);
    must_status(backend->allocate(bench->device, (size_t)LITTLE * PARTS, &bench->little));
    must(cudaEventCreate(&bench->begin), "making an event");
    must(cudaEventCreate(&bench->end), "making an event");
}

void bench_close(struct bench *bench)
{
    events_destroy(&bench->sides);
    must(cudaEventDestroy(bench->begin), "destroying an event");
    must(cudaEventDestroy(bench->end), "destroying an event");
    bench->backend->free(bench->device, bench->little);
    for (int i = 0; i < PARTS; i++) {
        bench->backend->lane_destroy(bench->lanes[i]);
    }
}

void bench_finish(struct bench *bench)
{
    for (int i = 0; i < PARTS; i++) {
        must_status(bench->backend->lane_synchronize(bench->lanes[i]));
    }
}

/* ---- side by side, whatever the work is ---- */

typedef void part_work(struct bench *bench, const struct product *product, int part);

static void multiply_part(struct bench *bench, const struct product *product, int part)
{
    bench->backend->matmul(bench->lanes[part], &product->parts[part]);
}

static void clear_part(struct bench *bench, const struct product *product, int part)
{
    (void)product;
    bench->backend->clear(bench->lanes[part], (char *)bench->little + (size_t)part * LITTLE,
                          LITTLE);
}

static void no_part(struct bench *bench, const struct product *product, int part)
{
    (void)bench;
    (void)product;
    (void)part;
}

/* The sides begin when the first stream has come here, and it goes on when they are done. */
static void enqueue_on_streams(struct bench *bench, const struct product *product,
                               const struct sides *sides, part_work *work)
{
    must(cudaEventRecord(sides->fork, main_stream(bench)), "forking");
    for (int i = 0; i < SIDES; i++) {
        must(cudaStreamWaitEvent(sides->streams[i], sides->fork, 0), "forking");
        work(bench, product, i + 1);
        must(cudaEventRecord(sides->joins[i], sides->streams[i]), "joining");
    }
    work(bench, product, 0);
    for (int i = 0; i < SIDES; i++) {
        must(cudaStreamWaitEvent(main_stream(bench), sides->joins[i], 0), "joining");
    }
}

/* The host sees to it that x is there before the sides begin, and that they are done. */
static void enqueue_waiting(struct bench *bench, const struct product *product, part_work *work)
{
    must(cudaStreamSynchronize(main_stream(bench)), "waiting for x");
    for (int i = 0; i < PARTS; i++) {
        work(bench, product, i);
    }
    for (int i = 0; i < PARTS; i++) {
        must(cudaStreamSynchronize(bench->lanes[i]->stream), "waiting for a stream");
    }
}

/* ---- products ---- */

static void enqueue_whole(struct bench *bench, const struct product *product)
{
    bench->backend->matmul(bench->lanes[0], &product->whole);
}

static void enqueue_in_order(struct bench *bench, const struct product *product)
{
    for (int i = 0; i < PARTS; i++) {
        bench->backend->matmul(bench->lanes[0], &product->parts[i]);
    }
}

/* As yoke does it: the device was opened with side_streams. */
static void enqueue_cut(struct bench *bench, const struct product *product)
{
    bench->backend->matmul(bench->lanes[0], &product->cut);
}

static void enqueue_on_new_streams(struct bench *bench, const struct product *product)
{
    struct sides made;
    sides_make(&made);
    for (int i = 0; i < SIDES; i++) {
        bench->lanes[i + 1]->stream = made.streams[i];
    }
    enqueue_on_streams(bench, product, &made, multiply_part);
    for (int i = 0; i < SIDES; i++) {
        bench->lanes[i + 1]->stream = bench->sides.streams[i];
    }
    sides_destroy(&made);
}

static void enqueue_with_new_events(struct bench *bench, const struct product *product)
{
    struct sides made = bench->sides;
    events_make(&made);
    enqueue_on_streams(bench, product, &made, multiply_part);
    events_destroy(&made);
}

static void enqueue_products_waiting(struct bench *bench, const struct product *product)
{
    enqueue_waiting(bench, product, multiply_part);
}

const struct form product_forms[] = {
    {.name = "one product", .enqueue = enqueue_whole},
    {.name = "three, one after the other", .enqueue = enqueue_in_order},
    {.name = "three streams (--qkv streams)", .enqueue = enqueue_cut},
    {.name = "three streams, events made anew", .enqueue = enqueue_with_new_events},
    {.name = "three streams, all made anew", .enqueue = enqueue_on_new_streams},
    {.name = "three streams, the host waits", .enqueue = enqueue_products_waiting, .waits = true},
    {.name = "one product, as a graph", .enqueue = enqueue_whole, .captured = true},
    {.name = "one after the other, as a graph", .enqueue = enqueue_in_order, .captured = true},
    {.name = "three branches of a graph", .enqueue = enqueue_cut, .captured = true},
};
const int product_form_count = sizeof product_forms / sizeof product_forms[0];

/* ---- costs ---- */

static void enqueue_streams(struct bench *bench, const struct product *product)
{
    cudaStream_t streams[SIDES];
    (void)bench;
    (void)product;
    streams_make(streams);
    streams_destroy(streams);
}

static void enqueue_events(struct bench *bench, const struct product *product)
{
    struct sides made;
    (void)bench;
    (void)product;
    events_make(&made);
    events_destroy(&made);
}

static void enqueue_sides(struct bench *bench, const struct product *product)
{
    struct sides made;
    (void)bench;
    (void)product;
    sides_make(&made);
    sides_destroy(&made);
}

static void enqueue_empty(struct bench *bench, const struct product *product)
{
    enqueue_on_streams(bench, product, &bench->sides, no_part);
}

static void enqueue_wait(struct bench *bench, const struct product *product)
{
    enqueue_waiting(bench, product, no_part);
}

static void enqueue_small_in_order(struct bench *bench, const struct product *product)
{
    (void)product;
    for (int i = 0; i < PARTS; i++) {
        bench->backend->clear(bench->lanes[0], (char *)bench->little + (size_t)i * LITTLE, LITTLE);
    }
}

static void enqueue_small_on_streams(struct bench *bench, const struct product *product)
{
    enqueue_on_streams(bench, product, &bench->sides, clear_part);
}

static void enqueue_small_waiting(struct bench *bench, const struct product *product)
{
    enqueue_waiting(bench, product, clear_part);
}

const struct form cost_forms[] = {
    {.name = "2 streams made and destroyed", .enqueue = enqueue_streams},
    {.name = "3 events made and destroyed", .enqueue = enqueue_events},
    {.name = "both", .enqueue = enqueue_sides},
    {.name = "fork and join, nothing between", .enqueue = enqueue_empty},
    {.name = "the host waits, nothing under way", .enqueue = enqueue_wait, .waits = true},
    {.name = "3 clears, one after the other", .enqueue = enqueue_small_in_order},
    {.name = "3 clears on three streams", .enqueue = enqueue_small_on_streams},
    {.name = "3 clears, the host waits", .enqueue = enqueue_small_waiting, .waits = true},
    {.name = "one after the other, as a graph",
     .enqueue = enqueue_small_in_order,
     .captured = true},
    {.name = "three branches of a graph", .enqueue = enqueue_small_on_streams, .captured = true},
};
const int cost_form_count = sizeof cost_forms / sizeof cost_forms[0];

/* ---- any form ---- */

void form_open(struct bench *bench, const struct product *product, struct form *form)
{
    cudaGraph_t graph = NULL;
    form->enqueue(bench, product);
    bench_finish(bench);
    if (!form->captured) {
        return;
    }
    must(cudaStreamBeginCapture(main_stream(bench), cudaStreamCaptureModeThreadLocal),
         "beginning a graph");
    form->enqueue(bench, product);
    must(cudaStreamEndCapture(main_stream(bench), &graph), "ending a graph");
    must(cudaGraphInstantiateWithFlags(&form->graph, graph, 0), "making a graph");
    must(cudaGraphDestroy(graph), "destroying a graph");
    must(cudaGraphUpload(form->graph, main_stream(bench)), "bringing a graph to the GPU");
    bench_finish(bench);
}

void form_close(struct form *form)
{
    if (form->graph) {
        must(cudaGraphExecDestroy(form->graph), "destroying a graph");
        form->graph = NULL;
    }
}

void form_enqueue(struct bench *bench, const struct product *product, const struct form *form)
{
    if (form->graph) {
        must(cudaGraphLaunch(form->graph, main_stream(bench)), "starting a graph");
    } else {
        form->enqueue(bench, product);
    }
}
