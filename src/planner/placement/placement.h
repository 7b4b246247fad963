/*
 * Placement: which device has which layer. Several methods are compared, each by the time and
 * memory of the step it leads to.
 *
 *   auto         Accelerate's rule: fill the devices in order, by bytes of weights
 *   map          what the user says
 *   heft         the HEFT schedule of the step's graph, which does not look at memory
 *   heft-memory  HEFT in which a device without room is out
 *   pipeline     consecutive stages of layers, each on a device of its own, cut where it is best
 *   best         pipelines, micro-batches shared by whole copies of the model, and schedules of
 *                every layer and micro-batch by itself, improved by annealing
 *
 * The last two choose the number of micro-batches where the request leaves it open.
 *
 *   step_graph, evaluate   a step as a task graph; the step time and memory of a map of layers
 *   stages, candidates     cuts into stages; the best of the maps tried
 *   auto, remedy, plan     Accelerate's rule; what makes a model fit; a placement as a plan
 */
#ifndef YK_PLANNER_PLACEMENT_PLACEMENT_H
#define YK_PLANNER_PLACEMENT_PLACEMENT_H

#include "base/text.h"
#include "plan/module_map.h"
#include "planner/placement/evaluate.h"
#include "planner/placement/step_graph.h"
#include "sched/scheduler.h"

struct yk_placement_request {
    const struct yk_cost_book *book;
    const struct yk_model_config *config;
    struct yk_workload workload;
    int32_t micro_batches;           /* 0: left open; the others take one */
    const struct yk_module_map *map; /* NULL: none given */
    const char *algorithm;           /* NULL: all of them */
    /* Its budget is for all ways together; those that do not search take the time they need. */
    struct yk_scheduler_options search;
    const struct yk_deadline *deadline; /* of a search that is part of another; NULL: none */
};

struct yk_placement {
    const char *name;
    const struct yk_step_graph *step;
    struct yk_schedule *schedule;    /* NULL when there is none: `refusal` says why */
    const char *refusal;             /* NULL with a schedule */
    const char *remark;              /* what its times leave out, or NULL */
    const struct yk_module_map *map; /* NULL when nothing was decided */
    int32_t *devices;                /* (M, L) of the layers; NULL without a schedule */
    struct yk_placement_fit fit;
    int64_t *peak_bytes; /* (P) with the context; NULL without a schedule */
    double step_s;       /* NAN without a schedule */
    double bound_s;      /* no placement takes less, with these micro-batches */
    bool divided;        /* some layer serves its micro-batches on several devices */
};

struct yk_placements {
    struct yk_arena *arena; /* owns everything below; steps and schedules are destroyed with it */
    struct yk_step_graph **steps; /* (step_count) one for each number of micro-batches looked at */
    int32_t step_count;
    struct yk_placement *placements;
    int32_t count;
    int32_t winner; /* the shortest that fits, or -1 */
    int64_t trials; /* schedules that pipeline and best considered, before annealing */
    bool cut_short; /* the budget ended the search before all candidates were looked at */
    struct yk_deadline deadline; /* when the budget ends, for what is looked for besides */
    const char *note;            /* why the winner leaves devices out, or NULL */
};

/* Names of the ways, for lists and checks; NULL past the last one. */
const char *yk_placement_algorithm(size_t number);

/* Fails only when something is wrong; that nothing fits is a result without a winner. */
yk_status yk_placement_compare(const struct yk_placement_request *request,
                               struct yk_placements **out) YK_MUST_USE;
void yk_placements_destroy(struct yk_placements *placements);

/* The fastest that fits and has one device a layer, or NULL. */
const struct yk_placement *yk_placements_best_undivided(const struct yk_placements *placements);

/* What makes a model fit that does not: adds "--recompute makes it fit, at 1.2s a step", that none
 * of them does, or that none was found before the deadline. */
yk_status yk_placement_remedy_search(const struct yk_placement_request *request,
                                     const struct yk_deadline *deadline,
                                     struct yk_text *out) YK_MUST_USE;

#endif
