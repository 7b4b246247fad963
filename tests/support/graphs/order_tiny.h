/* Order tiny: order problems of at most three layers, small enough to look at every order. */
#ifndef SUPPORT_ORDER_TINY_H
#define SUPPORT_ORDER_TINY_H

#include "base/random.h"
#include "planner/order/transfer_order.h"
#include "support/graphs/order_brute_force.h"

/* A problem with its own room, and an order for it. */
struct order_tiny {
    struct yk_transfer_order_problem problem;
    struct yk_transfer_order_layer layers[ORDER_BRUTE_LAYERS];
    double compute_s[ORDER_BRUTE_SLOTS];
    double room_bytes[ORDER_BRUTE_SLOTS];
    struct yk_transfer_order order;
    bool kept[ORDER_BRUTE_LAYERS];
    int32_t scatters[ORDER_BRUTE_LAYERS * ORDER_BRUTE_SLOTS];
    int32_t gathers[ORDER_BRUTE_LAYERS * ORDER_BRUTE_SLOTS];
};

/* Slots of three layers. */
enum {
    F0,
    F1,
    F2,
    TURN,
    B2,
    B1,
    B0,
    END,
    BEGIN,
};

/* With everything zero. It holds pointers to itself. */
void order_tiny_begin(struct order_tiny *tiny, int32_t layers);

/*
 * Three layers of two blocks, a second and ten bytes to gather or scatter, a second in every slot
 * but the gaps, and more memory than they need. The order: layer 2 is kept; all others travel right
 * before they are used and right after they are there.
 */
void order_tiny_three(struct order_tiny *tiny);

/* One to three layers of any choice; some with a gradient far smaller than their parameters, as of
 * adapters; and memory that does not always suffice. */
void order_tiny_random(struct order_tiny *tiny, struct yk_random *random);

/* Blocks of a layer in a slot of the order, where there are three layers. */
int32_t *order_tiny_scatter(struct order_tiny *tiny, int32_t layer, int32_t slot);
int32_t *order_tiny_gather(struct order_tiny *tiny, int32_t layer, int32_t slot);

#endif
