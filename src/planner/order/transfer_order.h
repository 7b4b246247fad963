/*
 * Transfer order: assigns every collective of a step to a slot, so that as much communication as
 * possible overlaps with computation, and memory suffices in every slot.
 *
 * A step of n layers is a cycle of 2n + 3 slots (plan/plan.h): forward 0 … n−1, one slot without
 * computation, backward n−1 … 0, two slots without computation. The collectives of a slot run one
 * after another on one link while the slot computes. A slot takes the longer of computation and
 * communication; the step takes the sum of its slots. Every layer is split into equal blocks.
 *
 *   reduce-scatter, all-reduce  after the layer's backward, before its next forward
 *   gather for forward          in the same range; each block in a later slot than its scatter
 *   gather for backward         between the layer's forward and backward, unless it is kept
 *
 * The memory of a slot consists of the parameters gathered so far (all of a layer's while it
 * computes) and of the gradients that are not yet scattered, including those scattered in the slot.
 * With a barrier, scatters and all-reduces run only in backward slots and the two slots after them,
 * and gathers for forward only in the last slot and in forward slots.
 *
 *   greedy, milp, formulation   the two solvers; the integer program
 *   state, balancer, sort       an order under construction, and how it is improved
 *   bound, problem, slot_window lower bounds; problem files; the slots of each collective
 *   plan                        a plan as a problem, and its solution as a plan
 */
#ifndef YK_PLANNER_ORDER_TRANSFER_ORDER_H
#define YK_PLANNER_ORDER_TRANSFER_ORDER_H

#include "base/text.h"
#include "plan/plan.h"

#include <stdatomic.h>

/* How a layer is sharded (enum yk_sharding_strategy), as far as it matters for communication. */
enum yk_transfer_order_strategy {
    YK_TRANSFER_ORDER_UNDECIDED, /* the solver decides between kept and fully-sharded */
    YK_TRANSFER_ORDER_KEPT,
    YK_TRANSFER_ORDER_FULLY_SHARDED,
    YK_TRANSFER_ORDER_SHARDED_STATE, /* its parameters are not counted as memory of a slot */
    YK_TRANSFER_ORDER_REPLICATED,    /* one all-reduce */
    YK_TRANSFER_ORDER_LOCAL,         /* no communication */
};

struct yk_transfer_order_layer {
    enum yk_transfer_order_strategy choice;
    int32_t blocks;        /* at least 1 */
    double gather_s;       /* of all blocks */
    double scatter_s;      /* reduce-scatter or all-reduce of all blocks */
    double weight_bytes;   /* of all blocks when gathered */
    double gradient_bytes; /* of all blocks before they are scattered */
};

struct yk_transfer_order_problem {
    int32_t layer_count;                    /* n */
    struct yk_transfer_order_layer *layers; /* (n) */
    double *compute_s;                      /* (2n + 3) */
    double *room_bytes; /* (2n + 3) memory that is free for gathered parameters and gradients */
    bool barrier;       /* all ranks wait for each other before the update */
};

struct yk_transfer_order {
    bool *kept;        /* (n) whether the layer is kept between forward and backward */
    int32_t *scatters; /* (n, 2n + 3) blocks scattered or all-reduced in the slot */
    int32_t *gathers;  /* (n, 2n + 3) blocks gathered in the slot */
    double step_s;
    double bound_s;     /* lower bound of any order */
    const char *method; /* "greedy" or "milp" */
};

struct yk_transfer_order_options {
    double budget_s;         /* wall-clock limit of the integer program */
    const atomic_bool *stop; /* set to true to stop; may be NULL */
};

/* Finds an order by a heuristic: it tries sets of kept layers and balances the slots of each.
 * YK_ERROR_NO_FIT if no order fits into memory. The order is in `arena`. */
yk_status yk_transfer_order_solve_greedy(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena,
                                         struct yk_transfer_order **out) YK_MUST_USE;

/* Improves the greedy order by the integer program; the result is never slower. */
yk_status yk_transfer_order_solve_milp(const struct yk_transfer_order_problem *problem,
                                       const struct yk_transfer_order_options *options,
                                       struct yk_arena *arena,
                                       struct yk_transfer_order **out) YK_MUST_USE;

/* Fails if the order breaks one of the rules above; `*out_s` is its step time. */
yk_status yk_transfer_order_check(const struct yk_transfer_order_problem *problem,
                                  const struct yk_transfer_order *order, double *out_s) YK_MUST_USE;

/* Converts the order to the transfers of a plan; in every slot, scatters come first. */
yk_status yk_transfer_order_list_transfers(const struct yk_transfer_order_problem *problem,
                                           const struct yk_transfer_order *order,
                                           struct yk_arena *arena, struct yk_plan_transfer **out,
                                           int32_t *out_count) YK_MUST_USE;

enum {
    YK_TRANSFER_ORDER_SLOT_NAME_SIZE = 32
};

/* "forward 3", "middle", "backward 3", "end", "begin". */
void yk_transfer_order_slot_name(const struct yk_transfer_order_problem *problem, int32_t slot,
                                 char out[YK_TRANSFER_ORDER_SLOT_NAME_SIZE]);

/* Creates an order with no blocks. */
yk_status yk_transfer_order_create(const struct yk_transfer_order_problem *problem,
                                   struct yk_arena *arena,
                                   struct yk_transfer_order **out) YK_MUST_USE;

/* Copies the contents of all arrays and the numbers. */
void yk_transfer_order_copy(const struct yk_transfer_order_problem *problem,
                            const struct yk_transfer_order *from, struct yk_transfer_order *to);

/* Link time of every slot, (2n + 3). */
void yk_transfer_order_link_times(const struct yk_transfer_order_problem *problem,
                                  const struct yk_transfer_order *order, double *out_s);

/* Bytes of gathered parameters and of gradients in every slot, (2n + 3). */
void yk_transfer_order_slot_memory(const struct yk_transfer_order_problem *problem,
                                   const struct yk_transfer_order *order, double *out_bytes);

/* The memory limit of a slot: its room plus a tolerance for rounding. */
double yk_transfer_order_memory_limit(double room_bytes);

/* The step time if slots have these link times, (2n + 3). */
double yk_transfer_order_step_s(const struct yk_transfer_order_problem *problem,
                                const double *load_s);

/* Fails if a slot lacks memory; the message names the slot that lacks most. */
yk_status yk_transfer_order_check_memory(const struct yk_transfer_order_problem *problem,
                                         const double *used_bytes) YK_MUST_USE;

/* Exchanges gathers of equal size between slots, so that they run in the order of their use. Link
 * times and memory of all slots stay the same. */
yk_status yk_transfer_order_sort_gathers(const struct yk_transfer_order_problem *problem,
                                         struct yk_transfer_order *order,
                                         struct yk_arena *arena) YK_MUST_USE;

/*
 * A lower bound of the step time, the larger of two: all communication, with as many layers kept as
 * fit into memory; and all computation plus the communication that the first layers must expose
 * between their backward and forward. `min_bytes` (2n + 3) is the memory of the order of
 * yk_transfer_order_state_set_on_demand() with no undecided layer kept.
 */
yk_status yk_transfer_order_bound_simple(const struct yk_transfer_order_problem *problem,
                                         const double *min_bytes, struct yk_arena *arena,
                                         double *out_s) YK_MUST_USE;

/*
 * A lower bound from Lagrange multipliers: a price of the link in [0, 1] and a price of memory in
 * seconds per byte for every slot. Each layer on its own takes its cheapest choice. Any prices give
 * a valid bound; the dual values of the relaxed program give the value of that program.
 */
yk_status yk_transfer_order_bound_from_prices(const struct yk_transfer_order_problem *problem,
                                              const double *link_prices,
                                              const double *memory_prices, struct yk_arena *arena,
                                              double *out_s) YK_MUST_USE;

enum {
    YK_TRANSFER_ORDER_MAX_LAYERS = 1024,
    YK_TRANSFER_ORDER_MAX_BLOCKS = 4096,
};

/* Reads a problem from JSON, see problem.c for the format. All its layers are undecided. `source`
 * is the file's name in messages. The problem is in `arena`. */
yk_status yk_transfer_order_problem_read(const char *text, size_t length, const char *source,
                                         struct yk_arena *arena,
                                         struct yk_transfer_order_problem **out) YK_MUST_USE;

#endif
