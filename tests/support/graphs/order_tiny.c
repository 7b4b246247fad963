#include "support/graphs/order_tiny.h"

void order_tiny_begin(struct order_tiny *tiny, int32_t layers)
{
    *tiny = (struct order_tiny){.problem = {.layer_count = layers}};
    tiny->problem.layers = tiny->layers;
    tiny->problem.compute_s = tiny->compute_s;
    tiny->problem.room_bytes = tiny->room_bytes;
    tiny->order = (struct yk_transfer_order){
        .kept = tiny->kept, .scatters = tiny->scatters, .gathers = tiny->gathers};
}

int32_t *order_tiny_scatter(struct order_tiny *tiny, int32_t layer, int32_t slot)
{
    return &tiny->scatters[layer * ORDER_BRUTE_SLOTS + slot];
}

int32_t *order_tiny_gather(struct order_tiny *tiny, int32_t layer, int32_t slot)
{
    return &tiny->gathers[layer * ORDER_BRUTE_SLOTS + slot];
}

void order_tiny_three(struct order_tiny *tiny)
{
    order_tiny_begin(tiny, 3);
    for (int i = 0; i < 3; i++) {
        tiny->layers[i] =
            (struct yk_transfer_order_layer){YK_TRANSFER_ORDER_UNDECIDED, 2, 1, 1, 10, 10};
    }
    for (int t = 0; t < ORDER_BRUTE_SLOTS; t++) {
        tiny->compute_s[t] = t == TURN || t >= END ? 0 : 1;
        tiny->room_bytes[t] = 100;
    }
    tiny->kept[2] = true;
    *order_tiny_scatter(tiny, 2, B1) = 2;
    *order_tiny_scatter(tiny, 1, B0) = 2;
    *order_tiny_scatter(tiny, 0, END) = 2;
    *order_tiny_gather(tiny, 0, BEGIN) = 2;
    *order_tiny_gather(tiny, 1, F0) = 2;
    *order_tiny_gather(tiny, 2, F1) = 2;
    *order_tiny_gather(tiny, 1, B2) = 2;
    *order_tiny_gather(tiny, 0, B1) = 2;
}

static double tenths(struct yk_random *random, int64_t below)
{
    return (double)yk_random_below(random, below) / 10;
}

void order_tiny_random(struct order_tiny *tiny, struct yk_random *random)
{
    order_tiny_begin(tiny, (int32_t)(1 + yk_random_below(random, ORDER_BRUTE_LAYERS)));
    const bool mixed = yk_random_below(random, 2) == 0;
    const double most_bytes = (double)(20 + yk_random_below(random, 40));
    tiny->problem.barrier = yk_random_below(random, 3) == 0;
    for (int32_t i = 0; i < tiny->problem.layer_count; i++) {
        const double gather_s = 0.1 + tenths(random, 20);
        const double weight_bytes = (double)(4 + yk_random_below(random, 16));
        const double part = yk_random_below(random, 4) == 0 ? 0.125 : 1;
        tiny->layers[i] = (struct yk_transfer_order_layer){
            .choice = mixed ? (enum yk_transfer_order_sharding)yk_random_below(
                                  random, YK_TRANSFER_ORDER_NO_COMMUNICATION + 1)
                            : YK_TRANSFER_ORDER_UNDECIDED,
            .blocks = (int32_t)(1 + yk_random_below(random, ORDER_BRUTE_BLOCKS)),
            .gather_s = gather_s,
            .scatter_s = gather_s * part,
            .weight_bytes = weight_bytes,
            .gradient_bytes = weight_bytes * part,
        };
    }
    for (int32_t t = 0; t < 2 * tiny->problem.layer_count + 3; t++) {
        tiny->compute_s[t] = yk_random_below(random, 4) == 0 ? 3 : tenths(random, 15);
        tiny->room_bytes[t] = most_bytes + (double)yk_random_below(random, 3) * 10;
    }
}
