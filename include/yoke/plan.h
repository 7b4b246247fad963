/*
 * Plan: the decisions about one training step (the devices of each layer, the samples of each
 * device, how each layer is sharded, when data is sent), and the prediction of the step. A group is
 * a set of ranks that hold the same layers.
 */
#ifndef YOKE_PLAN_H
#define YOKE_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/request.h>
#include <yoke/search.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_plan yoke_plan;

struct yoke_plan_info {
    double step_s;
    double bound_s;      /* lower bound of the step time of any plan */
    double tokens_per_s; /* of a model that reads images: images per second */
    double mfu;          /* model FLOPS utilisation, 0 to 1 (docs/costs.md, "MFU") */
    double exact_mfu;    /* like `mfu`, but counts only the pairs of tokens for which attention is
                            computed */
    const char *summary; /* one sentence about the plan */
    const char *bottleneck; /* a text that explains what limits the step time */
    const char *source;     /* a text that explains where the times come from */
    bool fits; /* fits into the memory of the devices; always true after yoke_plan_find() */
    int32_t missing_rank; /* the rank that lacks the most memory; -1 means: none */
    double missing_bytes;
    int32_t rank_count;
    int32_t layer_count;
    int32_t transfer_count;
    int32_t alternative_count;
    int32_t leave_one_out_count;
    int32_t micro_batches;
    const char *pipeline; /* "gpipe" or "1f1b" */
    bool no_sync;         /* gradients are reduced only once, after the last micro-batch */
    bool clip;
    int32_t prefetch;    /* if transfer_count is 0: all-gathers start this many layers early */
    double block_bytes;  /* all-gathers and reduce-scatters are split into blocks of this size */
    double bucket_bytes; /* all-reduces are combined up to this size */
    double search_s;     /* duration of the search */
    int64_t trials;      /* number of plans that the search evaluated */
    double error;   /* relative error of step_s; 90 % of such predictions have at most this error */
    bool cut_short; /* a limit or the stop flag ended the search early */
};

enum yoke_memory_kind {
    YOKE_MEMORY_PARAMETERS,
    YOKE_MEMORY_GATHERED, /* temporary copies of parameters that other ranks store */
    YOKE_MEMORY_GRADIENTS,
    YOKE_MEMORY_OPTIMIZER,
    YOKE_MEMORY_ACTIVATIONS,
    YOKE_MEMORY_BUFFERS,
    YOKE_MEMORY_CONTEXT, /* memory of the driver and its libraries */
    YOKE_MEMORY_KIND_COUNT,
};

/* A process that drives one device. */
struct yoke_rank {
    int32_t device; /* number of the device in the cluster */
    const char *device_name;
    /* A rank can belong to several groups. These two members are for its first group. */
    int64_t share;     /* samples of the batch that this rank computes */
    double part;       /* fraction of the sharded state that this rank stores */
    double peak_bytes; /* upper bound of the memory that any execution of the plan uses */
    double limit_bytes;
    double compute_s;           /* time that the rank computes */
    double exposed_s;           /* time that the rank waits while data moves to or from it */
    double idle_s;              /* time that the rank waits for anything else */
    const double *memory_bytes; /* (YOKE_MEMORY_KIND_COUNT) the parts of peak_bytes, by enum
                                   yoke_memory_kind */
};

struct yoke_plan_layer {
    const char *name;
    const char *strategy; /* "replicated", "sharded-state", "kept", "fully-sharded" */
    bool recompute;
    int32_t rank_count;    /* number of ranks that have this layer */
    const int32_t *ranks;  /* (rank_count) */
    const int64_t *shares; /* (rank_count) samples of the batch on each rank */
    const double *parts;   /* (rank_count) fraction of the sharded state on each rank */
};

/*
 * A transfer of blocks of a layer. It does not start before its slot. A step of L layers has 2L + 3
 * slots:
 *   slot i        forward pass of layer i
 *   slot L        gap between forward and backward
 *   slot 2L - i   backward pass of layer i
 *   slot 2L + 1   gap after backward; the updates run in it
 *   slot 2L + 2   gap before the forward of the next step
 */
struct yoke_transfer {
    const char *kind; /* "all_gather", "reduce_scatter", "all_reduce" */
    int32_t layer;
    int32_t first_block;
    int32_t block_count;
    int32_t slot;
};

/* A plan that is common today, for comparison. */
struct yoke_alternative {
    const char *name;   /* "even data-parallel" … */
    const char *remark; /* may be NULL */
    double step_s;      /* NAN if this kind of plan is not possible */
    bool fits;
};

/* The step time of the best plan that does not use one of the devices. */
struct yoke_leave_one_out {
    int32_t device; /* the device that is not used */
    double step_s;  /* NAN if no plan fits without the device */
};

/* How to read a plan file. Filled by the caller. */
struct yoke_plan_reading {
    /* These three members replace what the file names. NULL means: use what the file names. The
     * workload always comes from the file, also if `model` is set. */
    yoke_model *model;
    yoke_cluster *cluster;
    const char *profile;
    double slowdown; /* replaces the slowdown in the file (yoke_request_set_slowdown()); 0 means:
                        use the slowdown in the file */
    bool compare;    /* also evaluates alternatives */
    const struct yoke_search *search; /* search for the alternatives; NULL means: defaults */
};

/* Searches for the best plan. Fails with YOKE_ERROR_NO_FIT if no plan fits. The message then says
 * which device lacks how much memory, and what would help. */
YOKE_API yoke_status yoke_plan_find(const yoke_request *request, yoke_plan **out) YOKE_MUST_USE;

/* Opens a plan file and predicts the step. `reading` may be NULL. Succeeds even if the plan does
 * not fit into memory. */
YOKE_API yoke_status yoke_plan_open(const char *path, const struct yoke_plan_reading *reading,
                                    yoke_plan **out) YOKE_MUST_USE;

/* Reads a plan from the text of a plan file. `source` is the name of the text in messages. */
YOKE_API yoke_status yoke_plan_read(const char *text, const char *source,
                                    const struct yoke_plan_reading *reading,
                                    yoke_plan **out) YOKE_MUST_USE;

YOKE_API void yoke_plan_destroy(yoke_plan *plan);

YOKE_API const struct yoke_plan_info *yoke_plan_info(const yoke_plan *plan);
YOKE_API const struct yoke_rank *yoke_plan_rank(const yoke_plan *plan, int32_t rank);
YOKE_API const struct yoke_plan_layer *yoke_plan_layer(const yoke_plan *plan, int32_t layer);
YOKE_API const struct yoke_transfer *yoke_plan_transfer(const yoke_plan *plan, int32_t number);
YOKE_API const struct yoke_alternative *yoke_plan_alternative(const yoke_plan *plan,
                                                              int32_t number);
YOKE_API const struct yoke_leave_one_out *yoke_plan_leave_one_out(const yoke_plan *plan,
                                                                  int32_t number);

/* Returns "parameters", "gathered" …, or NULL if `kind` is out of range. */
YOKE_API const char *yoke_memory_kind_name(enum yoke_memory_kind kind);

/* Writes the text of a plan file: JSON that people can read and edit. yoke_plan_read() makes the
 * same plan from this text. */
YOKE_API yoke_status yoke_plan_write(const yoke_plan *plan, char **out) YOKE_MUST_USE;

/* Writes a plan file to `path`. An existing file is replaced completely or not at all. */
YOKE_API yoke_status yoke_plan_save(const yoke_plan *plan, const char *path) YOKE_MUST_USE;

/* Writes the compiled program of the plan as text: the ops of every rank in order, with their
 * dependencies. */
YOKE_API yoke_status yoke_plan_program(const yoke_plan *plan, char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
