#include "planner/remedy.h"

#include "base/units.h"
#include "planner/candidates.h"

#include <math.h>
#include <string.h>

/* A change of the request, if it changes anything; false when it does not apply. */
struct change {
    const char *words;
    bool (*apply)(struct yk_place_request *request);
};

static bool recompute(struct yk_place_request *request)
{
    const bool applies = !request->workload.recompute;
    request->workload.recompute = true;
    return applies;
}

static bool split_batch(struct yk_place_request *request)
{
    const int64_t batch = request->workload.batch;
    const bool applies = request->micro_batches > 0 && request->micro_batches < batch;
    request->micro_batches = 0;
    return applies;
}

static bool quantise(struct yk_place_request *request)
{
    const bool applies = request->workload.lora_rank > 0 && !request->workload.nf4;
    request->workload.nf4 = true;
    return applies;
}

/* A change of what is trained: the last resort before more hardware. */
static bool train_adapters(struct yk_place_request *request)
{
    const bool applies = request->workload.lora_rank == 0;
    request->workload.lora_rank = 32;
    request->workload.nf4 = true;
    return applies;
}

static bool recompute_and_split(struct yk_place_request *request)
{
    const bool splits = split_batch(request);
    return recompute(request) && splits;
}

static bool recompute_and_quantise(struct yk_place_request *request)
{
    const bool quantises = quantise(request);
    return recompute(request) && quantises;
}

static const struct change changes[] = {
    {"--recompute", recompute},
    {"more micro-batches (leave out --micro-batches)", split_batch},
    {"--nf4", quantise},
    {"--recompute with more micro-batches", recompute_and_split},
    {"--recompute and --nf4", recompute_and_quantise},
};
enum {
    CHANGE_COUNT = sizeof changes / sizeof changes[0],
    MOST_MICRO_BATCHES = 64
};

/* The step of the best candidate that fits, with one micro-batch and with as many as possible;
 * INFINITY when none fits. */
static yk_status shortest_step(const struct yk_place_request *request, double *out)
{
    const int64_t batch = request->workload.batch;
    const int64_t most = batch < MOST_MICRO_BATCHES ? batch : MOST_MICRO_BATCHES;
    const int32_t counts[] = {request->micro_batches > 0 ? request->micro_batches : 1,
                              request->micro_batches > 0 ? 0 : (int32_t)most};
    *out = INFINITY;
    for (int i = 0; i < 2 && counts[i] > 0 && (i == 0 || counts[i] != counts[0]); i++) {
        const struct yk_step_spec spec = {request->book, request->config, request->workload,
                                          counts[i]};
        struct yk_step *step = NULL;
        struct yk_contest contest = {0};
        YK_TRY(yk_step_create(&spec, &step));
        yk_status status = yk_contest_create(step, &contest);
        if (status == YK_OK) {
            status = yk_contest_fill_undivided(&contest);
        }
        if (status == YK_OK && contest.fit.fits) {
            *out = fmin(*out, contest.step_s);
        }
        yk_contest_free(&contest);
        yk_step_destroy(step);
        YK_TRY(status);
    }
    return YK_OK;
}

/* The cluster with one more of its device with the most memory, linked as that one is. */
static yk_status add_device(const struct yk_cluster *cluster, struct yk_arena *arena,
                            struct yk_cluster *out)
{
    const int32_t P = cluster->device_count;
    struct yk_device *devices = NULL;
    struct yk_link *links = NULL;
    int32_t widest = 0;
    YK_TRY_NEW(arena, devices, P + 1);
    YK_TRY_NEW(arena, links, (int64_t)(P + 1) * (P + 1));
    memcpy(devices, cluster->devices, (size_t)P * sizeof *devices);
    for (int32_t p = 1; p < P; p++) {
        widest = devices[p].memory_bytes > devices[widest].memory_bytes ? p : widest;
    }
    devices[P] = devices[widest];
    devices[P].name = "one more";
    const struct yk_link modest = {.latency_s = 10e-6, .bytes_per_s = 16e9}; /* PCIe 3.0 x16 */
    for (int32_t p = 0; p <= P; p++) {
        for (int32_t q = 0; q <= P; q++) {
            const int32_t a = p == P ? widest : p;
            const int32_t b = q == P ? widest : q;
            const int32_t other = widest == 0 ? 1 : 0;
            links[p * (P + 1) + q] = a != b  ? *yk_cluster_link(cluster, a, b)
                                     : P > 1 ? *yk_cluster_link(cluster, widest, other)
                                             : modest;
        }
    }
    *out = *cluster;
    out->devices = devices;
    out->links = links;
    out->device_count = P + 1;
    return YK_OK;
}

static yk_status try_another_device(const struct yk_place_request *request, double *out)
{
    struct yk_arena *arena = NULL;
    struct yk_cluster cluster;
    *out = INFINITY;
    if (request->book->cluster->device_count >= YK_CLUSTER_MAX_DEVICES) {
        return YK_OK;
    }
    YK_TRY(yk_arena_create(&arena));
    yk_status status = add_device(request->book->cluster, arena, &cluster);
    if (status == YK_OK) {
        struct yk_cost_book book = *request->book;
        struct yk_place_request changed = *request;
        book.cluster = &cluster;
        changed.book = &book;
        status = shortest_step(&changed, out);
    }
    yk_arena_destroy(arena);
    return status;
}

yk_status yk_remedy_find(const struct yk_place_request *request, struct yk_text *out)
{
    const char *cheapest = NULL;
    double cheapest_s = INFINITY;
    if (request->algorithm) {
        YK_TRY(shortest_step(request, &cheapest_s));
        cheapest = isinf(cheapest_s) ? NULL : "another placement (leave out --algorithm)";
    }
    const bool placed = cheapest != NULL; /* nothing needs to be changed */
    for (int i = 0; !placed && i < CHANGE_COUNT; i++) {
        struct yk_place_request changed = *request;
        double step_s = INFINITY;
        if (changes[i].apply(&changed)) {
            YK_TRY(shortest_step(&changed, &step_s));
        }
        if (step_s < cheapest_s) {
            cheapest = changes[i].words;
            cheapest_s = step_s;
        }
    }
    if (!cheapest) {
        struct yk_place_request changed = *request;
        if (train_adapters(&changed)) {
            YK_TRY(shortest_step(&changed, &cheapest_s));
        }
        cheapest = isinf(cheapest_s) ? NULL : "--lora 32 --nf4, which trains adapters only";
    }
    if (!cheapest) {
        YK_TRY(try_another_device(request, &cheapest_s));
        cheapest = isinf(cheapest_s) ? NULL : "one more device like the largest";
    }
    if (!cheapest) {
        yk_text_add(out, "neither recomputation, more micro-batches, NF4 nor one more device is "
                         "enough: take a smaller batch or sequence, or more devices");
        return yk_text_status(out);
    }
    char time[YK_UNITS_SIZE];
    yk_units_format(cheapest_s, YK_UNIT_SECONDS, time);
    yk_text_addf(out, "cheapest remedy: %s (%s a step)", cheapest, time);
    return yk_text_status(out);
}
