/*
 * Library: what the opaque types of include/yoke/ are, and what their functions share; for this
 * room alone. Handles that others are made from are counted: whoever keeps one retains it, and
 * destroying it releases it. A file for each public header; basis is what results rest on.
 */
#ifndef YK_LIBRARY_LIBRARY_H
#define YK_LIBRARY_LIBRARY_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "cost/cost.h"
#include "graph/graph.h"
#include "model/model.h"
#include "plan/module_map.h"
#include "planner/planner.h"
#include "planner/search/study.h"
#include "planner/tradeoff.h"
#include "profile/profile.h"
#include "report/schedule/report.h"
#include "sched/scheduler.h"

#include <stdatomic.h>
#include <yoke/yoke.h>

struct yoke_stop {
    atomic_bool raised;
};

struct yoke_cluster {
    atomic_int holders;
    struct yk_cluster *cluster;
    struct yoke_cluster_info info;
    struct yoke_device *devices;
    struct yoke_link *links; /* (P, P) */
};

struct yoke_model {
    atomic_int holders;
    struct yoke_model *origin; /* owns the config when it was made from another model, or NULL */
    struct yk_arena *arena;
    const char *word; /* that plans name the model by */
    const struct yk_model_config *config;
    const struct yk_model *model; /* under the workload */
    struct yk_workload workload;
    struct yoke_model_info info;
    struct yoke_layer *layers;
    struct yoke_layer_edge *edges;
};

struct yoke_graph {
    atomic_int holders;
    struct yk_graph *graph;
    char *source;
    struct yoke_graph_info info;
};

/* Texts and maps that were set stay in the arena until the end: results may point to them. */
struct yoke_request {
    atomic_int holders;
    struct yk_arena *arena;
    struct yoke_model *model;
    struct yoke_cluster *cluster;
    const char *profile; /* or NULL */
    int32_t micro_batches;
    double memory_bytes;
    double slowdown;
    bool clip;
    uint32_t decisions;
    enum yk_strategy strategy;
    bool random_strategies;
    const char *algorithm;           /* or NULL */
    const struct yk_module_map *map; /* or NULL */
    struct yoke_search search;
};

/* What a result rests on: the request, held, and where its costs are looked up. */
struct yk_library_basis {
    struct yoke_request *request;
    struct yk_profile *profile;
    struct yk_arena *arena; /* owns what the book says about devices */
    struct yk_cost_book book;
};

/* Fails the calling function, whose name begins the message, when the pointer is NULL. */
#define YK_LIBRARY_REQUIRE(pointer)                                                                \
    do {                                                                                           \
        if (!(pointer)) {                                                                          \
            return yk_library_status(                                                              \
                yk_fail(YK_ERROR_USAGE, "%s: %s must not be NULL", __func__, #pointer));           \
        }                                                                                          \
    } while (0)

static inline yoke_status yk_library_status(yk_status status)
{
    return (yoke_status)status;
}

/* Hands the text over if all went well so far, and frees it if not. */
yoke_status yk_library_return_text(yk_status status, struct yk_text *text, char **out) YK_MUST_USE;

/* Names of a kind, by number; NULL past the last one. */
typedef const char *(*yk_library_name)(int32_t number);

/* The number of the name that is `word`; one that is none fails, offering the nearest. */
yk_status yk_library_choose(const char *what, const char *word, yk_library_name name_of,
                            int32_t *out) YK_MUST_USE;

/* The record `number` of `count`, or NULL. */
#define YK_LIBRARY_AT(records, count, number)                                                      \
    ((number) >= 0 && (number) < (count) ? &(records)[number] : NULL)

/* What a search that may be NULL means where `usual_s` is the usual budget. */
yk_status yk_library_search_options(const struct yoke_search *search, double usual_s,
                                    struct yk_scheduler_options *out) YK_MUST_USE;

yk_status yk_library_check_request_slowdown(double slowdown) YK_MUST_USE;

struct yoke_cluster *yk_library_retain_cluster(struct yoke_cluster *cluster);
struct yoke_model *yk_library_retain_model(struct yoke_model *model);
struct yoke_graph *yk_library_retain_graph(struct yoke_graph *graph);
struct yoke_request *yk_library_retain_request(struct yoke_request *request);

/* True when nobody holds it any more. */
static inline bool yk_library_release(atomic_int *holders)
{
    return atomic_fetch_sub(holders, 1) == 1;
}

/* Takes the cluster over, whether it succeeds or not. */
yk_status yk_library_wrap_cluster(struct yk_cluster *cluster,
                                  struct yoke_cluster **out) YK_MUST_USE;

/* A model without its description, and what describes it. */
yk_status yk_library_open_model(const char *word, struct yoke_model **out) YK_MUST_USE;
yk_status yk_library_derive_model(struct yoke_model *origin, struct yoke_model **out) YK_MUST_USE;
yk_status yk_library_describe_model(struct yoke_model *handle,
                                    const struct yk_workload *workload) YK_MUST_USE;

/* A schedule in one of the forms. */
yk_status yk_library_write_schedule(const struct yk_schedule_report *report,
                                    enum yoke_schedule_form form, struct yk_text *out) YK_MUST_USE;

yk_status yk_library_basis_open(const struct yoke_request *request,
                                struct yk_library_basis *out) YK_MUST_USE;
void yk_library_basis_close(struct yk_library_basis *basis);

/* What the basis asks of the planner, with `usual_s` as the usual budget. */
yk_status yk_library_basis_plan_request(const struct yk_library_basis *basis, double usual_s,
                                        struct yk_plan_request *out) YK_MUST_USE;

struct yoke_plan {
    struct yk_library_basis basis;
    struct yk_planner_outcome *planned;
    struct yk_arena *arena; /* owns the records */
    struct yoke_plan_info info;
    struct yoke_rank *ranks;
    struct yoke_plan_layer *layers;
    struct yoke_transfer *transfers;
    struct yoke_alternative *alternatives;
    struct yoke_leave_one_out *leave_one_out;
};

/* Copies of transfers, in the arena. */
yk_status yk_library_copy_plan_transfers(const struct yk_plan_transfer *transfers, int32_t count,
                                         struct yk_arena *arena,
                                         struct yoke_transfer **out) YK_MUST_USE;

enum {
    YK_LIBRARY_CHARTS = 2,
    YK_LIBRARY_CURVES = 3,
};

struct yoke_tradeoff {
    struct yk_library_basis basis;
    struct yk_tradeoff *found;
    struct yk_plan_curve curves[YK_LIBRARY_CURVES];
    struct yk_plan_tradeoff charts[YK_LIBRARY_CHARTS]; /* in the order of yoke_tradeoff_chart */
    int32_t chart_count;                               /* of these, that have points */
    struct yoke_tradeoff_info info;
};

#endif
