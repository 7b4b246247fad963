/*
 * Placement: assigns layers to devices. Several algorithms are compared by the time and memory of
 * the resulting step:
 *
 *   auto         Accelerate's rule: fill the devices in order, by bytes of weights
 *   map          the user's device map
 *   heft         HEFT on the task graph of the step; ignores memory
 *   heft-memory  HEFT that skips devices without enough memory
 *   pipeline     consecutive stages, each on its own device, with optimised cuts
 *   best         pipelines, replicas that share the micro-batches, and schedules of every layer and
 *                micro-batch on its own; the best is improved by simulated annealing
 *
 * `pipeline` and `best` also choose the number of micro-batches, unless the request sets it.
 *
 *   step_graph, evaluate    the step as a task graph; step time and memory of a device map
 *   candidates, stages      the best of many device maps; cuts into pipeline stages
 *   accelerate_auto         Accelerate's rule
 *   memory_remedy, plan     what makes a model fit; a placement as a plan
 */
#ifndef YK_PLANNER_PLACEMENT_PLACEMENT_H
#define YK_PLANNER_PLACEMENT_PLACEMENT_H

#include "base/text.h"
#include "plan/device_map.h"
#include "planner/placement/evaluate.h"
#include "planner/placement/step_graph.h"
#include "planner/search/search_context.h"
#include "sched/scheduler.h"

struct yk_placement_request {
    const struct yk_cost_sources *cost_sources;
    const struct yk_model_config *config;
    struct yk_workload workload;
    int32_t micro_batches;              /* 0 means: chosen by pipeline and best, 1 for the others */
    const struct yk_device_map *map;    /* for the algorithm map; NULL means: none */
    const char *algorithm;              /* NULL means: all of them */
    struct yk_scheduler_options search; /* the budget is for pipeline and best together */
    const struct yk_deadline *deadline; /* additional deadline of an outer search, or NULL */
};

struct yk_placement {
    const char *name; /* of the algorithm */
    const struct yk_step_graph *step;
    struct yk_schedule *schedule;    /* NULL if the algorithm failed */
    const char *refusal;             /* why it failed; NULL with a schedule */
    const char *remark;              /* what its times ignore, or NULL */
    const struct yk_device_map *map; /* may be NULL if it failed */
    int32_t *devices;                /* (M, L) of the layers; NULL without a schedule */
    struct yk_placement_memory_fit fit;
    int64_t *peak_bytes; /* (P) with the driver context; NULL without a schedule */
    double step_s;       /* NAN without a schedule */
    double bound_s;      /* lower bound of any placement with as many micro-batches */
    bool divided;        /* some layer has different devices for different micro-batches */
};

struct yk_placements {
    struct yk_arena *arena;       /* owns everything but steps and schedules */
    struct yk_step_graph **steps; /* (step_count) one per number of micro-batches; owned */
    int32_t step_count;
    struct yk_placement *placements; /* (count) they own their schedules */
    int32_t count;
    int32_t winner;              /* index of the fastest that fits, or -1 */
    int64_t trials;              /* schedules evaluated by pipeline and best, before annealing */
    bool cut_short;              /* the budget ended the search early */
    struct yk_deadline deadline; /* the end of the budget */
    const char *note;            /* why the winner does not use all devices, or NULL */
};

/* The name of an algorithm; NULL past the last one. */
const char *yk_placement_algorithm_name(size_t number);

/* Runs the requested algorithms. If nothing fits, there is no winner; that is not an error. */
yk_status yk_placement_compare(const struct yk_placement_request *request,
                               struct yk_placements **out) YK_MUST_USE;
void yk_placements_destroy(struct yk_placements *placements);

/* The fastest placement that fits and has one device per layer, or NULL. */
const struct yk_placement *yk_placements_best_undivided(const struct yk_placements *placements);

/* Searches for a change that makes the model fit. Writes it with its step time, such as "cheapest
 * remedy: --recompute (1.2s a step)", or that none was found. */
yk_status yk_placement_memory_remedy_search(const struct yk_placement_request *request,
                                            const struct yk_deadline *deadline,
                                            struct yk_text *out) YK_MUST_USE;

/* Creates a plan, in `arena`, with one micro-batch. Every device that has a layer becomes a rank in
 * its own group, in device order. */
yk_status yk_placement_plan_create(const struct yk_search_context *context,
                                   const int32_t *layer_devices, struct yk_arena *arena,
                                   struct yk_plan **out) YK_MUST_USE;

/* Whether yk_placement_plan_search() supports an algorithm: only those with one device per layer.
 */
bool yk_placement_plan_supports(const char *algorithm);

struct yk_placement_plan {
    const struct yk_plan *plan;
    int64_t trials; /* schedules evaluated; 0 if the algorithm does not search */
    bool cut_short; /* the budget ended the search early */
};

/* Runs one algorithm and converts its placement to a plan, in `arena`. `map` is for the algorithm
 * "map". */
yk_status yk_placement_plan_search(const struct yk_plan_request *request, const char *algorithm,
                                   const struct yk_device_map *map, struct yk_arena *arena,
                                   struct yk_placement_plan *out) YK_MUST_USE;

/*
 * Accelerate auto: the placement of device_map="auto" in Hugging Face Accelerate 1.15, as a
 * baseline. It balances memory over the devices, then assigns modules in model order to one device
 * after another. It counts weights and buffers only.
 */
enum {
    YK_ACCELERATE_AUTO_NO_CPU = -1
};

struct yk_accelerate_auto_request {
    const struct yk_module_tree *modules;
    enum yk_precision precision; /* of the loaded weights */
    bool nf4;                    /* weights are 4-bit, except the head and tensors tied to it */
    const int64_t *memory_bytes; /* (device_count) */
    const int32_t *places;       /* (device_count) the devices' places in the map */
    int32_t device_count;        /* at least 1 */
    int64_t cpu_bytes;           /* host memory for offloading, or YK_ACCELERATE_AUTO_NO_CPU */
};

/* Creates the map, in `arena`. Modules that fit neither into the devices nor into the host are
 * placed on disk. Sibling modules with the same place are merged into one entry for their parent.
 */
yk_status yk_accelerate_auto_place(const struct yk_accelerate_auto_request *request,
                                   struct yk_arena *arena,
                                   const struct yk_device_map **out) YK_MUST_USE;

#endif
