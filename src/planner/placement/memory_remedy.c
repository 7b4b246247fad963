/*
 * Memory remedy: finds a change that makes a model fit. It tries, in this order: another algorithm,
 * if the request names one; recomputation, more micro-batches or NF4, whichever gives the shortest
 * step; two of them; adapters instead of full training; one more device.
 */
#include "planner/placement/placement.h"

#include "base/units.h"
#include "planner/placement/placement_search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_SIZE = 64,
    MANY_MICRO_BATCHES = 64,
};

enum {
    ANOTHER_METHOD = 1 << 0, /* step_with() uses the algorithm best */
    RECOMPUTE = 1 << 1,
    SPLIT_BATCH = 1 << 2,
    QUANTISE = 1 << 3, /* if adapters are trained */
    TRAIN_ADAPTERS = 1 << 4,
};

/* Applies changes to the request. Returns false if one of them changes nothing; if adapters are
 * trained, only that must be a change. */
static bool apply(unsigned changes, struct yk_placement_request *request)
{
    const struct yk_placement_request before = *request;
    struct yk_workload *workload = &request->workload;
    workload->recompute = workload->recompute || (changes & RECOMPUTE) != 0;
    request->micro_batches = changes & SPLIT_BATCH ? 0 : request->micro_batches;
    workload->lora_rank = changes & TRAIN_ADAPTERS ? 32 : workload->lora_rank;
    workload->nf4 = changes & QUANTISE ? workload->lora_rank > 0 : workload->nf4;
    if (changes & TRAIN_ADAPTERS) {
        return before.workload.lora_rank == 0;
    }
    return (!(changes & ANOTHER_METHOD) || before.algorithm) &&
           (!(changes & RECOMPUTE) || !before.workload.recompute) &&
           (!(changes & SPLIT_BATCH) ||
            (before.micro_batches > 0 && before.micro_batches < workload->batch)) &&
           (!(changes & QUANTISE) || (workload->lora_rank > 0 && !before.workload.nf4));
}

/* Rounds of increasing cost: no cost, longer steps, changed training. The first round with a remedy
 * that helps is the last. */
static const struct {
    const char *text;
    unsigned changes;
    int round;
} remedies[] = {
    {"another placement (leave out --algorithm)", ANOTHER_METHOD, 0},
    {"--recompute", RECOMPUTE, 1},
    {"more micro-batches (leave out --micro-batches)", SPLIT_BATCH, 1},
    {"--nf4", QUANTISE, 1},
    {"--recompute with more micro-batches", RECOMPUTE | SPLIT_BATCH, 2},
    {"--recompute and --nf4", RECOMPUTE | QUANTISE, 2},
    {"--lora 32, which trains adapters only", TRAIN_ADAPTERS, 3},
    {"--lora 32 --nf4, which trains adapters only", TRAIN_ADAPTERS | QUANTISE, 3},
    {"--lora 32 --nf4 --recompute without --micro-batches, which trains adapters only",
     TRAIN_ADAPTERS | QUANTISE | RECOMPUTE | SPLIT_BATCH, 4},
};
enum {
    REMEDY_COUNT = sizeof remedies / sizeof remedies[0]
};

/* The step time of the algorithm best, with little annealing; INFINITY if nothing fits. */
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
    /* A plan that fits with this many micro-batches also fits with more. */
    trial.micro_batches =
        trial.micro_batches < MANY_MICRO_BATCHES ? trial.micro_batches : MANY_MICRO_BATCHES;
    trial.search.progress = NULL;
    YK_TRY(yk_placement_compare_algorithms(&trial, &placements));
    *out = placements->winner < 0 ? INFINITY : placements->placements[0].step_s;
    yk_placements_destroy(placements);
    return YK_OK;
}

/* Finds an unused device name. */
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

/* Adds a copy of the device with the most memory. Its link to the original is a link that the
 * original has. */
static yk_status add_device(const struct yk_cost_sources *whole, struct yk_arena *arena,
                            struct yk_placement_search_subcluster *out)
{
    const struct yk_device *devices = whole->cluster->devices;
    const int32_t P = whole->cluster->device_count;
    struct yk_link link = {.latency_s = 10e-6, .bytes_per_s = 16e9}; /* PCIe 3.0 x16 */
    int32_t *numbers = NULL;
    char *name = NULL;
    int32_t widest = 0;
    YK_TRY_NEW(arena, numbers, P + 1);
    YK_TRY_NEW(arena, name, NAME_SIZE);
    for (int32_t p = 0; p < P; p++) {
        numbers[p] = p;
        widest = devices[p].memory_bytes > devices[widest].memory_bytes ? p : widest;
    }
    numbers[P] = widest;
    YK_TRY(yk_placement_search_make_subcluster(whole, numbers, P + 1, arena, out));
    name_device(whole->cluster, name);
    out->devices[P].name = name;
    if (P > 1) {
        link = *yk_cluster_link_between(whole->cluster, widest, widest == 0 ? 1 : 0);
    }
    out->links[(int64_t)P * (P + 1) + widest] = link;
    out->links[(int64_t)widest * (P + 1) + P] = link;
    return YK_OK;
}

static yk_status try_another_device(const struct yk_placement_request *request,
                                    const struct yk_deadline *deadline, struct yk_arena *arena,
                                    double *out)
{
    struct yk_placement_search_subcluster larger;
    struct yk_placement_request changed = *request;
    *out = INFINITY;
    if (request->cost_sources->cluster->device_count >= YK_CLUSTER_MAX_DEVICES) {
        return YK_OK;
    }
    YK_TRY(add_device(request->cost_sources, arena, &larger));
    changed.cost_sources = &larger.sources;
    return step_with(&changed, deadline, out);
}

yk_status yk_placement_find_memory_remedy(const struct yk_placement_request *request,
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
        if (apply(remedies[i].changes, &changed)) {
            YK_TRY(step_with(&changed, deadline, &step_s));
        }
        if (step_s < cheapest_s) {
            cheapest = remedies[i].text;
            cheapest_s = step_s;
        }
    }
    if (!cheapest) {
        YK_TRY_WITH_TEMPORARY_ARENA(arena,
                                    try_another_device(request, deadline, arena, &cheapest_s));
        cheapest = isinf(cheapest_s) ? NULL : "one more device like the largest";
    }
    const bool late = yk_deadline_has_passed(deadline);
    if (cheapest) {
        yk_text_addf(out, "%s: %s (%s a step)",
                     late ? "the cheapest remedy found in that time" : "cheapest remedy", cheapest,
                     YK_UNITS_FORMAT_TEMPORARY(cheapest_s, YK_UNIT_SECONDS));
    } else {
        yk_text_add(out,
                    late ? "nor was a remedy found in that time"
                         : "neither recomputation, more micro-batches, NF4 nor one more device is "
                           "enough: take a smaller batch or sequence, or more devices");
    }
    return yk_text_status(out);
}
