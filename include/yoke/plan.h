/*
 * Plan: what was decided about one training step (who holds which layer, takes how many samples,
 * how each layer is sharded, when it travels), with the step that is predicted for it.
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
    double bound_s; /* no plan is faster */
    double tokens_per_s;
    double mfu;             /* model FLOPS utilisation, 0 to 1 (docs/costs.md, "MFU") */
    double exact_mfu;       /* the same with causal attention by the pairs it looks at */
    const char *summary;    /* the plan in a sentence */
    const char *bottleneck; /* what takes the time, in words */
    const char *source;     /* where times come from, in words */
    bool fits;              /* always, unless it was read */
    int32_t missing_rank;   /* when it does not fit: the one that lacks most, else -1 */
    double missing_bytes;
    int32_t rank_count;
    int32_t layer_count;
    int32_t transfer_count;
    int32_t alternative_count;
    int32_t leave_one_out_count;
    int32_t micro_batches;
    const char *pipeline; /* "gpipe" or "1f1b" */
    bool no_sync;         /* gradients are reduced once, after the last micro-batch */
    bool clip;
    int32_t prefetch;    /* without transfers: how many gathers go ahead of their use */
    double block_bytes;  /* gathers and scatters are cut to this size */
    double bucket_bytes; /* reductions are fused up to this size */
    double search_s;     /* that finding it took */
    int64_t trials;      /* plans that were looked at */
    double error;        /* nine tenths of such steps are no further off than this part of them */
    bool cut_short;      /* the budget ended the search before it was complete */
};

enum yoke_memory_kind {
    YOKE_MEMORY_PARAMETERS,
    YOKE_MEMORY_GATHERED, /* parameters of others, for the time of their use */
    YOKE_MEMORY_GRADIENTS,
    YOKE_MEMORY_OPTIMIZER,
    YOKE_MEMORY_ACTIVATIONS,
    YOKE_MEMORY_BUFFERS,
    YOKE_MEMORY_CONTEXT, /* driver and libraries */
    YOKE_MEMORY_KIND_COUNT,
};

/* The process that drives one device. */
struct yoke_rank {
    int32_t device; /* number in the cluster */
    const char *device_name;
    int64_t share;     /* samples of the batch, in the first group of layers it is in */
    double part;       /* of sharded state, likewise */
    double peak_bytes; /* that no way of running the plan exceeds */
    double limit_bytes;
    double compute_s;           /* of the step */
    double exposed_s;           /* waiting for data to or from this rank */
    double idle_s;              /* waiting for anything else */
    const double *memory_bytes; /* (YOKE_MEMORY_KIND_COUNT) of the peak */
};

struct yoke_plan_layer {
    const char *name;
    const char *strategy; /* "replicated", "sharded-state", "kept", "fully-sharded" */
    bool recompute;
    int32_t rank_count;    /* that hold it */
    const int32_t *ranks;  /* (rank_count) */
    const int64_t *shares; /* (rank_count) samples of the batch */
    const double *parts;   /* (rank_count) of its state, if it is sharded */
};

/* Blocks of a layer that travel, not before a slot begins. Of L layers, forward of layer i is slot
 * i, a gap slot L, backward of layer i slot 2L - i, and two gaps end the step. */
struct yoke_transfer {
    const char *kind; /* "all_gather", "reduce_scatter", "all_reduce" */
    int32_t layer;
    int32_t first_block;
    int32_t block_count;
    int32_t slot;
};

/* What people do today, for comparison. */
struct yoke_alternative {
    const char *name;   /* "even data-parallel" … */
    const char *remark; /* or NULL */
    double step_s;      /* NAN when there is no such step */
    bool fits;
};

/* What the best plan takes without one of the devices. */
struct yoke_leave_one_out {
    int32_t device;
    double step_s; /* NAN: nothing fits without it */
};

/* How a plan file is taken. Filled by the caller. */
struct yoke_plan_reading {
    yoke_model *model;     /* the one it is for, whatever its workload; NULL: as the file says */
    yoke_cluster *cluster; /* likewise */
    const char *profile;   /* likewise */
    double slowdown;       /* as yoke_request_set_slowdown() */
    bool compare;          /* find alternatives as well */
    const struct yoke_search *search; /* for these; NULL: as usual */
};

/* Searches for the best plan. YOKE_ERROR_NO_FIT when nothing fits: the message names the device,
 * what it lacks and a remedy. */
YOKE_API yoke_status yoke_plan_find(const yoke_request *request, yoke_plan **out) YOKE_MUST_USE;

/* Opens a plan file and predicts its step; `reading` may be NULL. A plan that does not fit is
 * opened all the same. */
YOKE_API yoke_status yoke_plan_open(const char *path, const struct yoke_plan_reading *reading,
                                    yoke_plan **out) YOKE_MUST_USE;

/* The same from text; `source` is what messages call it. */
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

/* "parameters", "gathered" …; NULL when there is no such kind. */
YOKE_API const char *yoke_memory_kind_name(enum yoke_memory_kind kind);

/* The plan file: JSON that a person can read and edit, and that reads back as the same plan. */
YOKE_API yoke_status yoke_plan_write(const yoke_plan *plan, char **out) YOKE_MUST_USE;

/* The same into a file, which is replaced as a whole or not at all. */
YOKE_API yoke_status yoke_plan_save(const yoke_plan *plan, const char *path) YOKE_MUST_USE;

/* The program that the plan is compiled into, as a person reads it: every rank's ops in order, with
 * what each one waits for. */
YOKE_API yoke_status yoke_plan_program(const yoke_plan *plan, char **out) YOKE_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
