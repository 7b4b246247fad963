/*
 * Order: when each gather and scatter of a sharded step travels, so that as much as possible hides
 * behind computation and memory suffices in every slot. By itself, without a model: a problem says
 * how long each slot computes and what has to travel.
 */
#ifndef YOKE_ORDER_H
#define YOKE_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/plan.h>
#include <yoke/search.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_order_problem yoke_order_problem;
typedef struct yoke_order yoke_order;

struct yoke_order_problem_info {
    int32_t layer_count; /* L */
    int32_t slot_count;  /* 2L + 3, as yoke_transfer counts them */
    bool barrier;        /* all ranks agree between scatters and the next gathers */
};

struct yoke_order_info {
    const char *method; /* that found it */
    double step_s;
    double bound_s; /* no order takes less */
    int32_t transfer_count;
};

/* A JSON object with layers, blocks, compute_s, activation_bytes, comm_s, full_bytes, static_bytes,
 * memory_bytes and barrier; docs/library.md says what they are. */
YOKE_API yoke_status yoke_order_problem_open(const char *path,
                                             yoke_order_problem **out) YOKE_MUST_USE;

/* The same from text; `source` is what messages call it. */
YOKE_API yoke_status yoke_order_problem_read(const char *text, const char *source,
                                             yoke_order_problem **out) YOKE_MUST_USE;
YOKE_API void yoke_order_problem_destroy(yoke_order_problem *problem);
YOKE_API const struct yoke_order_problem_info *
yoke_order_problem_info(const yoke_order_problem *problem);

/* By "greedy", least slack first, or by "milp", an integer program that is never worse. `search`
 * says how long the latter may take, and may be NULL. YOKE_ERROR_NO_FIT when no order is found. */
YOKE_API yoke_status yoke_order_find(yoke_order_problem *problem, const char *method,
                                     const struct yoke_search *search,
                                     yoke_order **out) YOKE_MUST_USE;
YOKE_API void yoke_order_destroy(yoke_order *order);

YOKE_API const struct yoke_order_info *yoke_order_info(const yoke_order *order);

/* Whether the layer's parameters are kept from forward to backward. False when there is no such
 * layer. */
YOKE_API bool yoke_order_keeps(const yoke_order *order, int32_t layer);

/* By slot, in the order they are issued. */
YOKE_API const struct yoke_transfer *yoke_order_transfer(const yoke_order *order, int32_t number);

#ifdef __cplusplus
}
#endif

#endif
