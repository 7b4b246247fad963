/*
 * Placement: assigns layers to devices. Several algorithms are compared by the time and memory of
 * the resulting step:
 *
 *   auto         the rule of Accelerate: fills one device after another with weights
 *   map          the user's device map
 *   heft         HEFT on the task graph of the step; ignores memory
 *   heft-memory  HEFT that skips devices without enough memory
 *   pipeline     consecutive stages, each on its own device, with optimised cuts
 *   best         pipelines, replicas that share the micro-batches, and schedules in which a layer
 *                may have another device for each micro-batch; simulated annealing improves the
 *                best of them
 *
 * `pipeline` and `best` also choose the number of micro-batches, unless the request sets it.
 *
 * Files of this folder:
 *   step_graph        the step as a task graph
 *   evaluate          step time and memory of a device map
 *   placement_search  the best of many device maps
 *   stages            cuts of the layers into pipeline stages
 *   accelerate_auto   the algorithm auto
 *   memory_remedy     searches for a change that makes a model fit
 *   plan              converts a placement to a plan
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
    int32_t micro_batches; /* 0 means: `pipeline` and `best` choose it, the others use 1 */
    const struct yk_device_map *map;    /* for the algorithm `map`; NULL means: do not run `map` */
    const char *algorithm;              /* NULL means: all algorithms */
    struct yk_scheduler_options search; /* its budget is for `pipeline` and `best` together */
    const struct yk_deadline *deadline; /* additional deadline of an outer search; may be NULL */
};

struct yk_placement {
    const char *name; /* name of the algorithm */
    const struct yk_step_graph *step;
    struct yk_schedule *schedule;    /* NULL means: the algorithm failed */
    const char *refusal;             /* why the algorithm failed; NULL if there is a schedule */
    const char *remark;              /* what the predicted times ignore; may be NULL */
    const struct yk_device_map *map; /* may be NULL if the algorithm failed */
    int32_t *devices;                /* (M, L) device of each layer for each micro-batch; NULL
                                        without a schedule */
    struct yk_placement_memory_fit fit;
    int64_t *peak_bytes; /* (devices) peak memory, with driver and libraries; NULL without a
                            schedule */
    double step_s;       /* NAN without a schedule */
    double bound_s;      /* lower bound of the step time of any placement with the same number of
                            micro-batches */
    bool divided;        /* whether some layer has different devices for different micro-batches */
};

struct yk_placements {
    struct yk_arena *arena;       /* owns everything except steps and schedules */
    struct yk_step_graph **steps; /* (step_count) one for each number of micro-batches; owned */
    int32_t step_count;
    struct yk_placement *placements; /* (count) each owns its schedule */
    int32_t count;
    int32_t winner; /* index of the fastest placement that fits; -1 means: none fits */
    int64_t trials; /* number of schedules that `pipeline` and `best` evaluated before annealing */
    bool cut_short; /* the budget ended the search early */
    struct yk_deadline deadline; /* the end of the budget */
    const char *note;            /* why the winner does not use all devices; may be NULL */
};

/* Returns the name of algorithm `number`, or NULL if there is no such algorithm. */
const char *yk_placement_algorithm_name(size_t number);

/* Runs the requested algorithms and compares their placements. If no placement fits, `winner` is
 * -1, and the function succeeds. */
yk_status yk_placement_compare_algorithms(const struct yk_placement_request *request,
                                          struct yk_placements **out) YK_MUST_USE;
void yk_placements_destroy(struct yk_placements *placements);

/* Returns the fastest placement that fits and has one device per layer. Returns NULL if there is
 * none. */
const struct yk_placement *
yk_placements_find_best_undivided(const struct yk_placements *placements);

/* Searches for a change of the request that makes the model fit. Appends the change with its step
 * time, such as "cheapest remedy: --recompute (1.2s a step)", or a text that says that none was
 * found. */
yk_status yk_placement_find_memory_remedy(const struct yk_placement_request *request,
                                          const struct yk_deadline *deadline,
                                          struct yk_text *out) YK_MUST_USE;

/* Creates a plan with one micro-batch, in `arena`. Every device that has a layer becomes a rank in
 * a group of its own. Ranks are in the order of the devices. */
yk_status yk_placement_plan_from_layer_devices(const struct yk_search_context *context,
                                               const int32_t *layer_devices, struct yk_arena *arena,
                                               struct yk_plan **out) YK_MUST_USE;

/* Returns true if yk_placement_plan_run_algorithm() supports the algorithm. It supports all
 * algorithms except `best`, which may place a layer on several devices. */
bool yk_placement_plan_supports_algorithm(const char *algorithm);

struct yk_placement_plan {
    const struct yk_plan *plan;
    int64_t trials; /* number of schedules evaluated; 0 if the algorithm does not search */
    bool cut_short; /* the budget ended the search early */
};

/* Runs one algorithm and converts its placement to a plan, in `arena`. `map` is the device map for
 * the algorithm "map"; other algorithms ignore it. */
yk_status yk_placement_plan_run_algorithm(const struct yk_plan_request *request,
                                          const char *algorithm, const struct yk_device_map *map,
                                          struct yk_arena *arena,
                                          struct yk_placement_plan *out) YK_MUST_USE;

/*
 * Accelerate auto: computes the placement that device_map="auto" gives in Hugging Face Accelerate
 * 1.15, as a baseline. Accelerate first balances the memory over the devices. Then it goes through
 * the modules in the order of the model and fills one device after another. It counts only the
 * memory of weights and buffers.
 */
enum {
    YK_ACCELERATE_AUTO_NO_CPU = -1
};

struct yk_accelerate_auto_request {
    const struct yk_module_tree *modules;
    enum yk_precision precision; /* precision of the loaded weights */
    bool nf4; /* weights have 4 bits, except in the last module with parameters (the head) and in
                 modules with tied tensors */
    const int64_t *memory_bytes; /* (device_count) */
    const int32_t *places;       /* (device_count) place of each device in the device map */
    int32_t device_count;        /* at least 1 */
    int64_t cpu_bytes; /* host memory for offloading; YK_ACCELERATE_AUTO_NO_CPU means: no offloading
                          to the host */
};

/* Creates the device map, in `arena`. Places modules on disk if they fit neither into the devices
 * nor into host memory. If all modules inside a parent module have the same place, they become one
 * entry for the parent. */
yk_status yk_accelerate_auto_create_device_map(const struct yk_accelerate_auto_request *request,
                                               struct yk_arena *arena,
                                               const struct yk_device_map **out) YK_MUST_USE;

#endif
