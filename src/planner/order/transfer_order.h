/*
 * Transfer order: assigns every collective of a step to a slot, so that as much communication as
 * possible overlaps with computation, and memory suffices in every slot.
 *
 * A step of n layers is a cycle of 2n + 3 slots (plan/plan.h): forward 0 … n−1, one slot between
 * forward and backward, backward n−1 … 0, two slots after backward. The parameters are updated in
 * the first slot after backward. The collectives of a slot run one after another on one link while
 * the slot computes. A slot takes as long as its computation or its communication, whichever is
 * longer. The time of a step is the sum of the times of its slots. Every layer is split into equal
 * blocks. A layer is kept if its parameters stay in memory from its forward to its backward. Each
 * collective of a layer may run only in these slots:
 *
 *   reduce-scatter, all-reduce  after the layer's backward, before its next forward
 *   gather for forward          the same slots, but each block in a later slot than its scatter
 *   gather for backward         between the layer's forward and backward; a kept layer has none
 *
 * In this folder, scatter means the reduce-scatter or the all-reduce of a layer. The memory of a
 * slot consists of parameters and gradients. A block of parameters counts from the slot in which it
 * is gathered to the slot in which its layer computes; if the layer is kept, also from forward to
 * backward. A block of gradients counts from the backward of its layer to the slot in which it is
 * scattered. If the problem has a barrier, scatters run only in backward slots and the two slots
 * after them, and gathers for forward run only in the last slot and in forward slots.
 *
 * This folder:
 *   greedy, milp         the two solvers
 *   formulation          the integer program that milp solves
 *   draft                an order under construction
 *   balancer, sort       improve an order
 *   bound                lower bounds of the step time
 *   problem              reads problem files
 *   slot_window          the slots in which a collective may run
 *   plan_transfer_order  converts a plan to a problem, and the solution back to a plan
 */
#ifndef YK_PLANNER_ORDER_TRANSFER_ORDER_H
#define YK_PLANNER_ORDER_TRANSFER_ORDER_H

#include "base/text.h"
#include "plan/plan.h"

#include <stdatomic.h>

/* How a layer is sharded (enum yk_sharding_strategy), as far as this affects communication. */
enum yk_transfer_order_sharding {
    YK_TRANSFER_ORDER_UNDECIDED, /* the solver decides between kept and fully-sharded */
    YK_TRANSFER_ORDER_KEPT,
    YK_TRANSFER_ORDER_FULLY_SHARDED,
    YK_TRANSFER_ORDER_SHARDED_STATE, /* the parameters do not count as memory of a slot */
    YK_TRANSFER_ORDER_REPLICATED,    /* an all-reduce, no gathers */
    YK_TRANSFER_ORDER_NO_COMMUNICATION,
};

struct yk_transfer_order_layer {
    enum yk_transfer_order_sharding choice;
    int32_t blocks;        /* at least 1 */
    double gather_s;       /* time to gather all blocks */
    double scatter_s;      /* time to reduce-scatter or all-reduce all blocks */
    double weight_bytes;   /* memory of the parameters of all blocks when they are gathered */
    double gradient_bytes; /* memory of the gradients of all blocks before they are scattered */
};

struct yk_transfer_order_problem {
    int32_t layer_count;                    /* n */
    struct yk_transfer_order_layer *layers; /* (n) */
    double *compute_s;                      /* (2n + 3) */
    double *room_bytes; /* (2n + 3) memory that is free for gathered parameters and gradients */
    bool barrier; /* all ranks wait for each other after the scatters, before the parameters are
                     updated */
};

struct yk_transfer_order {
    bool *kept; /* (n) whether the parameters of the layer are kept from forward to backward */
    int32_t *scatters; /* (n, 2n + 3) blocks scattered or all-reduced in the slot */
    int32_t *gathers;  /* (n, 2n + 3) blocks gathered in the slot */
    double step_s;
    double bound_s;     /* lower bound of the step time of any order */
    const char *method; /* "greedy" or "milp" */
};

struct yk_transfer_order_milp_options {
    double budget_s;         /* limit of the wall-clock time of the integer program */
    const atomic_bool *stop; /* the solver stops when another thread sets it to true; may be NULL */
};

/* Finds an order with a heuristic: tries several sets of kept layers and, for each set, balances
 * the slots. Fails with YK_ERROR_NO_FIT if no order fits into memory. The order is in `arena`. */
yk_status yk_transfer_order_solve_greedy(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena,
                                         struct yk_transfer_order **out) YK_MUST_USE;

/* Improves the greedy order with the integer program. The result is never slower than the greedy
 * order. */
yk_status yk_transfer_order_solve_milp(const struct yk_transfer_order_problem *problem,
                                       const struct yk_transfer_order_milp_options *options,
                                       struct yk_arena *arena,
                                       struct yk_transfer_order **out) YK_MUST_USE;

/* Fails if the order breaks one of the rules above. Sets `*out_s` to the step time of the order. */
yk_status yk_transfer_order_check(const struct yk_transfer_order_problem *problem,
                                  const struct yk_transfer_order *order, double *out_s) YK_MUST_USE;

/* Converts the order to the transfers of a plan. In every slot, scatters come before gathers. */
yk_status yk_transfer_order_to_plan_transfers(const struct yk_transfer_order_problem *problem,
                                              const struct yk_transfer_order *order,
                                              struct yk_arena *arena, struct yk_plan_transfer **out,
                                              int32_t *out_count) YK_MUST_USE;

enum {
    YK_TRANSFER_ORDER_SLOT_NAME_SIZE = 32
};

/* Writes the name of a slot: "forward 3", "middle", "backward 3", "end" or "begin". */
void yk_transfer_order_format_slot_name(const struct yk_transfer_order_problem *problem,
                                        int32_t slot, char out[YK_TRANSFER_ORDER_SLOT_NAME_SIZE]);

/* Creates an order in which no slot has blocks. */
yk_status yk_transfer_order_create_empty(const struct yk_transfer_order_problem *problem,
                                         struct yk_arena *arena,
                                         struct yk_transfer_order **out) YK_MUST_USE;

/* Copies all members of `from` to `to`, including the contents of the arrays. */
void yk_transfer_order_copy(const struct yk_transfer_order_problem *problem,
                            const struct yk_transfer_order *from, struct yk_transfer_order *to);

/* Computes the communication times of the 2n + 3 slots. */
void yk_transfer_order_compute_slot_link_times(const struct yk_transfer_order_problem *problem,
                                               const struct yk_transfer_order *order,
                                               double *out_s);

/* Computes the memory of the 2n + 3 slots: gathered parameters and gradients. */
void yk_transfer_order_compute_slot_memory(const struct yk_transfer_order_problem *problem,
                                           const struct yk_transfer_order *order,
                                           double *out_bytes);

/* Returns the memory limit of a slot: `room_bytes` plus a tolerance for rounding errors. */
double yk_transfer_order_add_memory_tolerance(double room_bytes);

/* Returns the step time. `load_s` contains the communication times of the 2n + 3 slots. */
double yk_transfer_order_compute_step_s(const struct yk_transfer_order_problem *problem,
                                        const double *load_s);

/* Fails if a slot lacks memory. The message names the slot that lacks most memory. */
yk_status yk_transfer_order_check_slot_memory(const struct yk_transfer_order_problem *problem,
                                              const double *used_bytes) YK_MUST_USE;

/* Exchanges gathers of equal size between slots, so that the gathers run in the order in which
 * their layers are computed. Link times and memory of all slots stay the same. */
yk_status yk_transfer_order_sort_gathers(const struct yk_transfer_order_problem *problem,
                                         struct yk_transfer_order *order,
                                         struct yk_arena *arena) YK_MUST_USE;

/*
 * Computes a lower bound of the step time. It is the larger of two bounds:
 * - the time of all communication if as many layers are kept as fit into memory;
 * - the time of all computation, plus a part of the communication of the first layers: there is too
 *   little computation between their backward and their next forward to overlap with this part.
 * `min_bytes` is the memory of each of the 2n + 3 slots in the order of
 * yk_transfer_order_draft_set_on_demand_order() in which no undecided layer is kept.
 */
yk_status yk_transfer_order_bound_simple(const struct yk_transfer_order_problem *problem,
                                         const double *min_bytes, struct yk_arena *arena,
                                         double *out_s) YK_MUST_USE;

/*
 * Computes a lower bound of the step time by Lagrangian relaxation. Every slot has two multipliers
 * (prices): one for link time, in [0, 1], and one for memory, in seconds per byte, at least 0. For
 * each layer separately, the bound uses the choice with the lowest price. Any prices in these
 * ranges give a valid bound. If the prices are the dual values of the linear relaxation of the
 * integer program, the bound equals the optimum of that relaxation.
 */
yk_status yk_transfer_order_bound_from_prices(const struct yk_transfer_order_problem *problem,
                                              const double *link_prices,
                                              const double *memory_prices, struct yk_arena *arena,
                                              double *out_s) YK_MUST_USE;

enum {
    YK_TRANSFER_ORDER_MAX_LAYERS = 1024,
    YK_TRANSFER_ORDER_MAX_BLOCKS = 4096,
};

/* Reads a problem from JSON; problem.c describes the format. All layers of the problem are
 * undecided. `source` is the name of the file in error messages. The problem is in `arena`. */
yk_status yk_transfer_order_problem_parse(const char *text, size_t length, const char *source,
                                          struct yk_arena *arena,
                                          struct yk_transfer_order_problem **out) YK_MUST_USE;

#endif
