/*
 * Order: schedules the all-gathers and reduce-scatters of a sharded training step, so that as much
 * communication as possible overlaps with computation, and memory suffices in every slot. A slot is
 * the forward or the backward pass of one layer, or a gap between passes. No model is needed:
 * a problem contains the computation time of each slot and the data to transfer.
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
    int32_t slot_count;  /* 2L + 3; struct yoke_transfer defines the slots */
    bool barrier; /* between two steps, all ranks wait for each other: after the reduce-scatters,
                     before the all-gathers */
};

struct yoke_order_info {
    const char *method; /* the method that found the order: "greedy" or "milp" */
    double step_s;
    double bound_s; /* lower bound of the step time of any order */
    int32_t transfer_count;
};

/* Opens a problem file: a JSON object with layers, blocks, compute_s, activation_bytes, comm_s,
 * full_bytes, static_bytes, memory_bytes and barrier. docs/library.md describes these members. */
YOKE_API yoke_status yoke_order_problem_open(const char *path,
                                             yoke_order_problem **out) YOKE_MUST_USE;

/* Reads a problem from the text of such a file. `source` is the name of the text in messages. */
YOKE_API yoke_status yoke_order_problem_read(const char *text, const char *source,
                                             yoke_order_problem **out) YOKE_MUST_USE;
YOKE_API void yoke_order_problem_destroy(yoke_order_problem *problem);
YOKE_API const struct yoke_order_problem_info *
yoke_order_problem_info(const yoke_order_problem *problem);

/* Finds an order. `method` is "greedy" (a heuristic that balances the slots) or "milp" (an integer
 * program, whose result is never slower than the greedy order). `search` limits the time of "milp"
 * and may be NULL. Fails with YOKE_ERROR_NO_FIT if no order fits into memory. */
YOKE_API yoke_status yoke_order_find(yoke_order_problem *problem, const char *method,
                                     const struct yoke_search *search,
                                     yoke_order **out) YOKE_MUST_USE;
YOKE_API void yoke_order_destroy(yoke_order *order);

YOKE_API const struct yoke_order_info *yoke_order_info(const yoke_order *order);

/* Returns whether the parameters of a layer stay in memory from the forward to the backward pass.
 * Returns false if `layer` is out of range. */
YOKE_API bool yoke_order_keeps(const yoke_order *order, int32_t layer);

/* Transfers are sorted by slot, and within a slot by the order in which they start. */
YOKE_API const struct yoke_transfer *yoke_order_transfer(const yoke_order *order, int32_t number);

#ifdef __cplusplus
}
#endif

#endif
