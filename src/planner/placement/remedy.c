/*
 * Remedy: what to change when a model does not fit: another method, if the request names
 * one; recomputation, more micro-batches or NF4, whichever leads to the shortest step; two of them;
 * adapters instead of full training; one more device. Each is tried before it is offered.
 */
#include "planner/placement/placement.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_SIZE = 64,
    MANY_MICRO_BATCHES = 64,
};

/* A change of the request: false when it changes nothing. */
typedef bool (*change)(struct yk_placement_request *request);

static bool use_another_method(struct yk_placement_request *request)
{
    return request->algorithm != NULL; /* every trial is free to choose its way */
}

static bool recompute(struct yk_placement_request *request)
{
    const bool changed = !request->workload.recompute;
    request->workload.recompute = true;
    return changed;
}

static bool split_batch(struct yk_placement_request *request)
{
    const bool changed =
        request->micro_batches > 0 && request->micro_batches < request->workload.batch;
    request->micro_batches = 0;
    return changed;
}

static bool quantise(struct yk_placement_request *request)
{
    const bool changed = request->workload.lora_rank > 0 && !request->workload.nf4;
    request->workload.nf4 = request->workload.lora_rank > 0;
    return changed;
}

static bool recompute_and_split(struct yk_placement_request *request)
{
    const bool splits = split_batch(request);
    return recompute(request) && splits;
}

static bool recompute_and_quantise(struct yk_placement_request *request)
{
    const bool quantises = quantise(request);
    return recompute(request) && quantises;
}

static bool train_adapters(struct yk_placement_request *request)
{
    const bool changed = request->workload.lora_rank == 0;
    request->workload.lora_rank = 32;
    return changed;
}

static bool train_on_nf4(struct yk_placement_request *request)
{
    request->workload.nf4 = true;
    return train_adapters(request);
}

static bool save_most_memory(struct yk_placement_request *request)
{
    request->workload.recompute = true;
    request->micro_batches = 0;
    return train_on_nf4(request);
}

/* In rounds: what costs nothing, then what only takes time, then what changes the training. The
 * first round with something that helps decides. */
static const struct {
    const char *text;
    change apply;
    int round;
} remedies[] = {
    {"another placement (leave out --algorithm)", use_another_method, 0},
    {"--recompute", recompute, 1},
    {"more micro-batches (leave out --micro-batches)", split_batch, 1},
    {"--nf4", quantise, 1},
    {"--recompute with more micro-batches", recompute_and_split, 2},
    {"--recompute and --nf4", recompute_and_quantise, 2},
    {"--lora 32, which trains adapters only", train_adapters, 3},
    {"--lora 32 --nf4, which trains adapters only", train_on_nf4, 3},
    {"--lora 32 --nf4 --recompute without --micro-batches, which trains adapters only",
     save_most_memory, 4},
};
enum {
    REMEDY_COUNT = sizeof remedies / sizeof remedies[0]
};

/* The step of the method best, hardly annealed; INFINITY: no fit was found. */
static yk_status step_with(const struct yk_placement_request *request,
                           const struct yk_deadline *deadline, double *out)
{
    struct yk_placement_request trial = *request;
    struct yk_placements *placements = NULL;
    *out = INFINITY;
    if (yk_deadline_has_passed(deadline)) {
        return YK_OK;
    }
    trial.deadline = deadline;
    trial.algorithm = "best";
    trial.map = NULL;
    trial.search.moves = 1;
    /* What fits in so many fits in more, and takes much less time to find out. */
    trial.micro_batches =
        trial.micro_batches < MANY_MICRO_BATCHES ? trial.micro_batches : MANY_MICRO_BATCHES;
    trial.search.progress = NULL;
    YK_TRY(yk_placement_compare(&trial, &placements));
    *out = placements->winner < 0 ? INFINITY : placements->placements[0].step_s;
    yk_placements_destroy(placements);
    return YK_OK;
}

/* A name that no device has. */
static void name_device(const struct yk_cluster *cluster, char out[NAME_SIZE])
{
    bool used = true;
    for (int32_t number = cluster->device_count; used; number++) {
        used = false;
        snprintf(out, NAME_SIZE, "one more (%d)", number);
        for (int32_t p = 0; p < cluster->device_count; p++) {
            used = used || strcmp(cluster->devices[p].name, out) == 0;
        }
    }
}

/* The book's cluster with one more of its device with the most memory, linked as that one is. */
static yk_status add_device(struct yk_cost_book *book, struct yk_arena *arena,
                            struct yk_cluster *out)
{
    const struct yk_cluster *cluster = book->cluster;
    const struct yk_link modest = {.latency_s = 10e-6, .bytes_per_s = 16e9}; /* PCIe 3.0 x16 */
    const int32_t P = cluster->device_count;
    struct yk_device *devices = NULL;
    struct yk_device_facts *facts = NULL;
    struct yk_link *links = NULL;
    char *name = NULL;
    int32_t widest = 0;
    YK_TRY_NEW(arena, name, NAME_SIZE);
    YK_TRY_NEW(arena, devices, P + 1);
    YK_TRY_NEW(arena, facts, P + 1);
    YK_TRY_NEW(arena, links, (int64_t)(P + 1) * (P + 1));
    memcpy(devices, cluster->devices, (size_t)P * sizeof *devices);
    for (int32_t p = 1; p < P; p++) {
        widest = devices[p].memory_bytes > devices[widest].memory_bytes ? p : widest;
    }
    name_device(cluster, name);
    devices[P] = devices[widest];
    devices[P].name = name;
    for (int32_t p = 0; p <= P; p++) {
        const int32_t a = p == P ? widest : p;
        facts[p] = yk_device_facts_at(book->facts, a);
        for (int32_t q = 0; q <= P; q++) {
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
    book->cluster = out;
    book->facts = facts;
    return YK_OK;
}

static yk_status try_another_device(const struct yk_placement_request *request,
                                    const struct yk_deadline *deadline, struct yk_arena *arena,
                                    double *out)
{
    struct yk_cluster cluster;
    struct yk_cost_book book = *request->book;
    struct yk_placement_request changed = *request;
    *out = INFINITY;
    if (request->book->cluster->device_count >= YK_CLUSTER_MAX_DEVICES) {
        return YK_OK;
    }
    YK_TRY(add_device(&book, arena, &cluster));
    changed.book = &book;
    return step_with(&changed, deadline, out);
}

yk_status yk_placement_remedy_search(const struct yk_placement_request *request,
                                     const struct yk_deadline *deadline, struct yk_text *out)
{
    const char *cheapest = NULL;
    double cheapest_s = INFINITY;
    for (int i = 0; i < REMEDY_COUNT; i++) {
        struct yk_placement_request changed = *request;
        double step_s = INFINITY;
        if (cheapest && remedies[i].round != remedies[i - 1].round) {
            break;
        }
        if (remedies[i].apply(&changed)) {
            YK_TRY(step_with(&changed, deadline, &step_s));
        }
        if (step_s < cheapest_s) {
            cheapest = remedies[i].text;
            cheapest_s = step_s;
        }
    }
    if (!cheapest) {
        YK_TRY_IN_ARENA(arena, try_another_device(request, deadline, arena, &cheapest_s));
        cheapest = isinf(cheapest_s) ? NULL : "one more device like the largest";
    }
    if (!cheapest && yk_deadline_has_passed(deadline)) {
        yk_text_add(out, "nor was a remedy found in that time");
        return yk_text_status(out);
    }
    if (!cheapest) {
        yk_text_add(out, "neither recomputation, more micro-batches, NF4 nor one more device is "
                         "enough: take a smaller batch or sequence, or more devices");
        return yk_text_status(out);
    }
    char time[YK_UNITS_SIZE];
    yk_units_format(cheapest_s, YK_UNIT_SECONDS, time);
    yk_text_addf(out, "%s: %s (%s a step)",
                 yk_deadline_has_passed(deadline) ? "the cheapest remedy found in that time"
                                                  : "cheapest remedy",
                 cheapest, time);
    return yk_text_status(out);
}
