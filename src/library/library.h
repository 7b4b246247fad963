/*
 * Library: defines the opaque types of include/yoke/, and helper functions. Only files of this
 * folder include this header. A handle that other handles refer to has a reference count:
 * YK_LIBRARY_RETAIN() adds a reference, yoke_*_destroy() removes one.
 *
 * This folder has one .c file for each public header, with the same name. There are two exceptions:
 * library.c implements search.h and status.h, and yoke.h only includes the others. In addition,
 * result_inputs.c implements the functions yk_library_result_inputs_*().
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
#include "plan/device_map.h"
#include "planner/memory_tradeoff.h"
#include "planner/planner.h"
#include "planner/search/search_context.h"
#include "profile/profile.h"
#include "report/schedule/report.h"
#include "sched/scheduler.h"

#include <stdatomic.h>
#include <yoke/yoke.h>

struct yoke_stop {
    atomic_bool raised;
};

struct yoke_cluster {
    atomic_int references;
    struct yk_cluster *cluster;
    struct yoke_cluster_info info;
    struct yoke_device *devices;
    struct yoke_link *links; /* (devices, devices) link from each device to each other device */
};

struct yoke_model {
    atomic_int references;
    struct yoke_model *origin; /* the model that owns `config`; NULL means: this model owns it */
    struct yk_arena *arena;    /* owns this struct */
    const char *word;          /* name or path of the model; plan files store it */
    const struct yk_model_config *config;
    const struct yk_model *model; /* layers for `workload`; NULL means: not built yet */
    struct yk_workload workload;
    struct yoke_model_info info;
    struct yoke_layer *layers;
    struct yoke_layer_edge *edges;
};

struct yoke_graph {
    atomic_int references;
    struct yk_graph *graph;
    char *source;
    struct yoke_graph_info info;
};

/* The arena owns all strings and maps that were ever set. Replaced values are not freed, because
 * results may point to them. */
struct yoke_request {
    atomic_int references;
    struct yk_arena *arena;
    struct yoke_model *model;
    struct yoke_cluster *cluster;
    const char *profile; /* may be NULL */
    int32_t micro_batches;
    double memory_bytes;
    double slowdown;
    bool clip;
    uint32_t decisions;
    enum yk_sharding_strategy strategy;
    bool random_strategies;
    const char *algorithm;           /* may be NULL */
    const struct yk_device_map *map; /* may be NULL */
    struct yoke_search search;
};

/* The request and the costs that a result was computed from. */
struct yk_library_result_inputs {
    struct yoke_request *request; /* this struct owns a reference; NULL means: only costs */
    struct yk_profile *profile;   /* may be NULL */
    struct yk_arena *arena;       /* owns sources.measurements */
    struct yk_cost_sources sources;
};

static inline yoke_status yk_library_to_public_status(yk_status status)
{
    return (yoke_status)status;
}

/* Stores an error message and evaluates to YOKE_ERROR_USAGE. Takes the arguments of printf(). */
#define YK_LIBRARY_FAIL_USAGE(...) yk_library_to_public_status(yk_fail(YK_ERROR_USAGE, __VA_ARGS__))

/* If `expression` is a failure, executes `cleanup` and returns the failure from the calling
 * function. */
#define YK_LIBRARY_TRY_OR_CLEANUP(expression, cleanup)                                             \
    do {                                                                                           \
        const yk_status yk_library_status_ = (expression);                                         \
        if (yk_library_status_ != YK_OK) {                                                         \
            cleanup;                                                                               \
            return yk_library_to_public_status(yk_library_status_);                                \
        }                                                                                          \
    } while (0)
#define YK_LIBRARY_TRY(expression) YK_LIBRARY_TRY_OR_CLEANUP(expression, )

/* Returns a failure from the calling function if one of the pointers is NULL. */
#define YK_LIBRARY_REQUIRE_NOT_NULL(...)                                                           \
    do {                                                                                           \
        const void *const pointers_[] = {__VA_ARGS__};                                             \
        YK_LIBRARY_TRY(yk_library_check_not_null(__func__, #__VA_ARGS__, pointers_,                \
                                                 sizeof pointers_ / sizeof pointers_[0]));         \
    } while (0)
/* Fails if one of the pointers is NULL. `names` contains the names of all pointers, separated by
 * commas. `function` is the prefix of the error message. */
yk_status yk_library_check_not_null(const char *function, const char *names,
                                    const void *const *pointers, size_t count) YK_MUST_USE;

/* If `status` is YK_OK, moves the text to `*out`; otherwise frees the text. Returns the status, or
 * a failure if there was not enough memory for the text. */
yoke_status yk_library_return_text_or_free(yk_status status, struct yk_text *text,
                                           char **out) YK_MUST_USE;

/* Returns name `number` of a list, or NULL after the last name. */
typedef const char *(*yk_library_name_function)(int32_t number);

/* Finds the number of the name that equals `word`. Fails if no name equals `word`; the message
 * contains the most similar name, or all names. `what` is the kind of name for the message, such as
 * "method". */
yk_status yk_library_find_index_of_name(const char *what, const char *word,
                                        yk_library_name_function name_of, int32_t *out) YK_MUST_USE;

/* Evaluates to a pointer to records[number], or to NULL if `number` is out of range. */
#define YK_LIBRARY_ELEMENT_OR_NULL(records, count, number)                                         \
    ((number) >= 0 && (number) < (count) ? &(records)[number] : NULL)

/* Converts public search options to the options of a scheduler. `search` may be NULL. `usual_s` is
 * the default time budget in seconds. */
yk_status yk_library_convert_search_options(const struct yoke_search *search, double usual_s,
                                            struct yk_scheduler_options *out) YK_MUST_USE;

yk_status yk_library_check_request_slowdown(double slowdown) YK_MUST_USE;

/* Adds a reference to a handle and evaluates to the handle. */
#define YK_LIBRARY_RETAIN(handle) (atomic_fetch_add(&(handle)->references, 1), (handle))

/* Removes a reference. Returns true if it was the last one; the caller must then free the handle.
 */
static inline bool yk_library_release_reference(atomic_int *references)
{
    return atomic_fetch_sub(references, 1) == 1;
}

yk_status yk_library_open_cluster(const char *word, struct yoke_cluster **out) YK_MUST_USE;

/* Opens a model without building its layers. yk_library_build_model_layers() builds the layers for
 * a workload. */
yk_status yk_library_open_model(const char *word, struct yoke_model **out) YK_MUST_USE;
/* Creates a model, without layers, that shares the config of `origin`. */
yk_status yk_library_create_model_sharing_config(struct yoke_model *origin,
                                                 struct yoke_model **out) YK_MUST_USE;
yk_status yk_library_build_model_layers(struct yoke_model *handle,
                                        const struct yk_workload *workload) YK_MUST_USE;

/* Appends a schedule in the requested format to `out`. */
yk_status yk_library_write_schedule(const struct yk_schedule_report *report,
                                    enum yoke_schedule_form form, struct yk_text *out) YK_MUST_USE;

/* Opens the costs of a cluster. `profile` is the path of a profile file; NULL means: no profile.
 * For each measured model, the profile contains the memory that the GPU driver and libraries need
 * (context_bytes in cost/device_measurements.h). `model` is the name of the model whose value is
 * used. If `model` is NULL or was not measured, the value that was measured last is used. */
yk_status yk_library_result_inputs_open_costs(const struct yk_cluster *cluster, const char *profile,
                                              const char *model,
                                              struct yk_library_result_inputs *out) YK_MUST_USE;
/* Opens the costs of a request and adds a reference to the request. */
yk_status yk_library_result_inputs_open(const struct yoke_request *request,
                                        struct yk_library_result_inputs *out) YK_MUST_USE;
void yk_library_result_inputs_close(struct yk_library_result_inputs *context);

/* Converts the request to a request of the planner. `usual_s` is the default time budget of the
 * search in seconds. */
yk_status yk_library_result_inputs_make_plan_request(const struct yk_library_result_inputs *context,
                                                     double usual_s,
                                                     struct yk_plan_request *out) YK_MUST_USE;

struct yoke_plan {
    struct yk_library_result_inputs context;
    struct yk_planner_outcome *planned;
    struct yk_arena *arena; /* owns this struct and the arrays below */
    struct yoke_plan_info info;
    struct yoke_rank *ranks;
    struct yoke_plan_layer *layers;
    struct yoke_transfer *transfers;
    struct yoke_alternative *alternatives;
    struct yoke_leave_one_out *leave_one_out;
};

/* Converts transfers to public structs, which are allocated in the arena. */
yk_status yk_library_convert_plan_transfers(const struct yk_plan_transfer *transfers, int32_t count,
                                            struct yk_arena *arena,
                                            struct yoke_transfer **out) YK_MUST_USE;

enum {
    YK_LIBRARY_TRADEOFF_CHART_COUNT = 2,
    YK_LIBRARY_TRADEOFF_CURVE_COUNT = 3,
};

struct yoke_tradeoff {
    struct yk_library_result_inputs context;
    struct yk_memory_tradeoff *found;
    struct yk_plan_chart_curve curves[YK_LIBRARY_TRADEOFF_CURVE_COUNT];
    struct yk_plan_tradeoff_chart
        charts[YK_LIBRARY_TRADEOFF_CHART_COUNT]; /* indexed by enum yoke_tradeoff_chart */
    int32_t chart_count;                         /* number of charts that have points */
    struct yoke_tradeoff_info info;
};

#endif
