/*
 * Order: when each gather, scatter and reduction of one step travels, so that as much as possible
 * hides behind computation and memory suffices in every slot.
 *
 * Slots, cyclic, of n layers: forward 0 … n−1, a gap, backward n−1 … 0, two gaps (plan/plan.h). All
 * that is put into a slot travels over one link while the slot computes; a slot takes the longer of
 * the two, and the step the sum of the slots. Layers are cut into equal blocks.
 *
 *   scatter, reduce   after the layer's backward, before its next forward
 *   forward gather    likewise, each block after its scatter, in a later slot
 *   backward gather   after the layer's forward, before its backward; only if it is not kept
 *
 * Memory in a slot: parameters gathered so far (all of them while the layer computes), gradients
 * not yet scattered (from the layer's backward on, through the slot they travel in). With a barrier
 * scatters and reductions go in backward slots and the two last gaps only, forward gathers in the
 * very last gap and forward slots only.
 */
#ifndef YK_PLANNER_ORDER_ORDER_H
#define YK_PLANNER_ORDER_ORDER_H

#include "base/text.h"
#include "plan/plan.h"

#include <stdatomic.h>

/* What may be done with a layer. */
enum yk_order_choice {
    YK_ORDER_OPEN, /* kept or fully-sharded, whichever is better */
    YK_ORDER_KEPT,
    YK_ORDER_FULLY_SHARDED,
    YK_ORDER_SHARDED_STATE, /* scatter and forward gather; its parameters are whole all the time,
                               and counted by whoever made the problem */
    YK_ORDER_REPLICATED,    /* a reduction instead of all others */
    YK_ORDER_LOCAL,         /* does not communicate */
};

struct yk_order_layer {
    enum yk_order_choice choice;
    int32_t blocks;        /* at least 1 */
    double gather_s;       /* of the whole layer */
    double scatter_s;      /* scatter, or reduction where it is replicated */
    double weight_bytes;   /* gathered whole */
    double gradient_bytes; /* not yet scattered or reduced, whole */
};

struct yk_order_problem {
    int32_t layer_count;           /* n */
    struct yk_order_layer *layers; /* (n) */
    double *compute_s;             /* (2n + 3) of each slot */
    double *room_bytes; /* (2n + 3) for gathered parameters and gradients: memory less all else */
    bool barrier;
};

struct yk_order {
    bool *kept;        /* (n) what was chosen for open layers; true for those that were kept */
    int32_t *scatters; /* (n, 2n + 3) blocks of the layer in the slot; reductions likewise */
    int32_t *gathers;  /* (n, 2n + 3) for forward and for backward: the slot tells which */
    double step_s;
    double bound_s;     /* no order takes less */
    const char *method; /* that found it */
};

struct yk_order_options {
    double budget_s;         /* wall clock, of the integer program */
    const atomic_bool *stop; /* may be NULL */
};

/* By least slack; YK_ERROR_NO_FIT when it finds no order that fits. Lives in the arena. */
yk_status yk_order_greedy(const struct yk_order_problem *problem, struct yk_arena *arena,
                          struct yk_order **out) YK_MUST_USE;

/* By the integer program, from the greedy order on; never worse than that. */
yk_status yk_order_milp(const struct yk_order_problem *problem,
                        const struct yk_order_options *options, struct yk_arena *arena,
                        struct yk_order **out) YK_MUST_USE;

/* The time of an order, or why it is none: every rule above is checked. */
yk_status yk_order_check(const struct yk_order_problem *problem, const struct yk_order *order,
                         double *out_s) YK_MUST_USE;

/* The order as transfers of a plan, scatters first in every slot. */
yk_status yk_order_transfers(const struct yk_order_problem *problem, const struct yk_order *order,
                             struct yk_arena *arena, struct yk_plan_transfer **out,
                             int32_t *out_count) YK_MUST_USE;

enum {
    YK_ORDER_SLOT_NAME_SIZE = 32
};

/* "forward 3", "middle", "backward 3", "end", "begin". */
void yk_order_slot_name(const struct yk_order_problem *problem, int32_t slot,
                        char out[YK_ORDER_SLOT_NAME_SIZE]);

/* An order with nothing in it yet. */
yk_status yk_order_create(const struct yk_order_problem *problem, struct yk_arena *arena,
                          struct yk_order **out) YK_MUST_USE;

/* Copies all but the pointers. */
void yk_order_copy(const struct yk_order_problem *problem, const struct yk_order *from,
                   struct yk_order *to);

/* Seconds that the link is busy in each slot: (2n + 3). */
void yk_order_loads_s(const struct yk_order_problem *problem, const struct yk_order *order,
                      double *out_s);

/* Bytes of gathered parameters and of gradients in each slot: (2n + 3). */
void yk_order_memory_bytes(const struct yk_order_problem *problem, const struct yk_order *order,
                           double *out_bytes);

/* The most bytes a slot can use: its room, and what rounding may add. */
double yk_order_limit_bytes(double room_bytes);

/* The step of slots with these loads. */
double yk_order_step_s(const struct yk_order_problem *problem, const double *load_s);

/* Fails naming the slot of these uses that lacks most, if any lacks memory. */
yk_status yk_order_check_memory(const struct yk_order_problem *problem,
                                const double *used_bytes) YK_MUST_USE;

/* Has the gathers travel in the order in which they are used, as far as blocks are of one size; the
 * loads and memory of all slots stay. */
yk_status yk_order_sort_gathers(const struct yk_order_problem *problem, struct yk_order *order,
                                struct yk_arena *arena) YK_MUST_USE;

/*
 * Seconds that no order beats: all communication, with as much kept as memory holds; or all
 * computation, and what the first layers expose between their backward and their forward.
 * `min_bytes` is what each slot uses with no open layer kept: yk_order_state_on_demand().
 */
yk_status yk_order_bound_quick(const struct yk_order_problem *problem, const double *min_bytes,
                               struct yk_arena *arena, double *out_s) YK_MUST_USE;

/*
 * The same from prices (Lagrange multipliers) of the link, in [0, 1], and of memory, in seconds for
 * a byte, of each slot: every layer by itself chooses what is cheapest for it. Any prices give a
 * bound; the prices of the relaxed program give as good a one as it does.
 */
yk_status yk_order_bound_from_prices(const struct yk_order_problem *problem,
                                     const double *link_prices, const double *memory_prices,
                                     struct yk_arena *arena, double *out_s) YK_MUST_USE;

enum {
    YK_ORDER_MAX_LAYERS = 1024,
    YK_ORDER_MAX_BLOCKS = 4096,
};

/* Reads a JSON file of the form that problem.c describes; `source` is what messages call it. The
 * problem lives in the arena; all layers are open. */
yk_status yk_order_problem_read(const char *text, size_t length, const char *source,
                                struct yk_arena *arena, struct yk_order_problem **out) YK_MUST_USE;

#endif
