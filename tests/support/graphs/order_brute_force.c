#include "support/graphs/order_brute_force.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAYERS = ORDER_BRUTE_LAYERS,
    BLOCKS = ORDER_BRUTE_BLOCKS,
    SLOTS = ORDER_BRUTE_SLOTS,
    MOST_OPTIONS = 4096,
};

/* Where the blocks of one kind are, each as the number of slots after the slot that opens their
 * window; blocks are alike, so that they stand in order. */
struct spots {
    int at[BLOCKS];
};

/* All that can be done with one layer. */
struct option {
    double load_s[SLOTS];
    double used_bytes[SLOTS];
};

struct options {
    int count;
    struct option of[MOST_OPTIONS];
};

struct layer {
    const struct yk_transfer_order_problem *problem;
    const struct yk_transfer_order_layer *described;
    int number;
    int slots;
    int forward;  /* slot */
    int backward; /* slot */
    int gap;      /* slots between backward and the next forward */
    int inside;   /* slots between forward and backward */
    struct options *options;
};

static struct layer describe(const struct yk_transfer_order_problem *problem, int number)
{
    const int n = problem->layer_count;
    return (struct layer){
        .problem = problem,
        .described = &problem->layers[number],
        .number = number,
        .slots = 2 * n + 3,
        .forward = number,
        .backward = 2 * n - number,
        .gap = 2 * number + 2,
        .inside = 2 * (n - number) - 1,
    };
}

static bool gathers_weights(const struct layer *layer)
{
    const enum yk_transfer_order_sharding choice = layer->described->choice;
    return choice == YK_TRANSFER_ORDER_UNDECIDED || choice == YK_TRANSFER_ORDER_KEPT ||
           choice == YK_TRANSFER_ORDER_FULLY_SHARDED;
}

/* The next ways to place the blocks in `length` slots; false after the last one. */
static bool next_spots(struct spots *spots, int blocks, int length)
{
    for (int k = blocks - 1; k >= 0; k--) {
        if (spots->at[k] + 1 < length) {
            const int from = spots->at[k] + 1;
            for (int j = k; j < blocks; j++) {
                spots->at[j] = from;
            }
            return true;
        }
    }
    return false;
}

static int gap_slot(const struct layer *layer, int at)
{
    return (layer->backward + 1 + at) % layer->slots;
}

/* With a barrier, gradients go before the forward, parameters after the backward. */
static bool respects_barrier(const struct layer *layer, const struct spots *spots, bool gather)
{
    const int n = layer->problem->layer_count;
    for (int k = 0; layer->problem->barrier && k < layer->described->blocks; k++) {
        const int slot = gap_slot(layer, spots->at[k]);
        if (gather ? slot != 2 * n + 2 && slot >= n : slot < n) {
            return false;
        }
    }
    return true;
}

static bool is_after(const struct spots *gathers, const struct spots *scatters, int blocks)
{
    for (int k = 0; k < blocks; k++) {
        if (gathers->at[k] <= scatters->at[k]) {
            return false;
        }
    }
    return true;
}

static void add_gap(const struct layer *layer, const struct spots *scatters,
                    const struct spots *gathers, struct option *option)
{
    const int blocks = layer->described->blocks;
    option->used_bytes[layer->backward] += layer->described->gradient_bytes;
    for (int k = 0; k < blocks; k++) {
        option->load_s[gap_slot(layer, scatters->at[k])] += layer->described->scatter_s / blocks;
        for (int at = 0; at <= scatters->at[k]; at++) {
            option->used_bytes[gap_slot(layer, at)] += layer->described->gradient_bytes / blocks;
        }
        if (!gathers) {
            continue;
        }
        option->load_s[gap_slot(layer, gathers->at[k])] += layer->described->gather_s / blocks;
        for (int at = gathers->at[k]; gathers_weights(layer) && at < layer->gap; at++) {
            option->used_bytes[gap_slot(layer, at)] += layer->described->weight_bytes / blocks;
        }
    }
}

/* `gathers` NULL: the layer is kept. */
static void add_inside(const struct layer *layer, const struct spots *gathers,
                       struct option *option)
{
    const int blocks = layer->described->blocks;
    option->used_bytes[layer->forward] += layer->described->weight_bytes;
    option->used_bytes[layer->backward] += layer->described->weight_bytes;
    for (int k = 0; k < blocks; k++) {
        const int from = gathers ? gathers->at[k] : 0;
        if (gathers) {
            option->load_s[layer->forward + 1 + from] += layer->described->gather_s / blocks;
        }
        for (int at = from; at < layer->inside; at++) {
            option->used_bytes[layer->forward + 1 + at] += layer->described->weight_bytes / blocks;
        }
    }
}

static void keep_option(const struct layer *layer, const struct option *option)
{
    if (layer->options->count == MOST_OPTIONS) {
        (void)fputs("order_brute: too many options\n", stderr);
        abort();
    }
    layer->options->of[layer->options->count++] = *option;
}

/* Completes what is done in the gap by every way from forward to backward. */
static void list_inside(const struct layer *layer, const struct option *gap)
{
    const enum yk_transfer_order_sharding choice = layer->described->choice;
    struct spots gathers = {{0}};
    if (!gathers_weights(layer)) {
        keep_option(layer, gap);
        return;
    }
    if (choice != YK_TRANSFER_ORDER_FULLY_SHARDED) {
        struct option option = *gap;
        add_inside(layer, NULL, &option);
        keep_option(layer, &option);
    }
    do {
        struct option option = *gap;
        if (choice != YK_TRANSFER_ORDER_KEPT) {
            add_inside(layer, &gathers, &option);
            keep_option(layer, &option);
        }
    } while (next_spots(&gathers, layer->described->blocks, layer->inside));
}

static void list_gathers(const struct layer *layer, const struct spots *scatters)
{
    const int blocks = layer->described->blocks;
    struct spots gathers = {{0}};
    do {
        struct option option = {.load_s = {0}};
        if (is_after(&gathers, scatters, blocks) && respects_barrier(layer, &gathers, true)) {
            add_gap(layer, scatters, &gathers, &option);
            list_inside(layer, &option);
        }
    } while (next_spots(&gathers, blocks, layer->gap));
}

static void list_options(const struct layer *layer)
{
    struct spots scatters = {{0}};
    struct option nothing = {.load_s = {0}};
    layer->options->count = 0;
    if (layer->described->choice == YK_TRANSFER_ORDER_NO_COMMUNICATION) {
        keep_option(layer, &nothing);
        return;
    }
    do {
        if (!respects_barrier(layer, &scatters, false)) {
            continue;
        }
        if (layer->described->choice == YK_TRANSFER_ORDER_REPLICATED) {
            struct option option = {.load_s = {0}};
            add_gap(layer, &scatters, NULL, &option);
            keep_option(layer, &option);
        } else {
            list_gathers(layer, &scatters);
        }
    } while (next_spots(&scatters, layer->described->blocks, layer->gap));
}

/* Adds each option of the layers from `layer` on to what is there; the least step of them all. */
static double min_step(const struct layer *layers, int layer, const struct option *sum,
                       double best_s)
{
    const struct yk_transfer_order_problem *problem = layers[0].problem;
    double step_s = 0;
    for (int t = 0; t < layers[0].slots; t++) {
        if (sum->used_bytes[t] > problem->room_bytes[t] + 1e-9) {
            return best_s;
        }
        step_s += fmax(problem->compute_s[t], sum->load_s[t]);
    }
    if (step_s >= best_s || layer == problem->layer_count) {
        return fmin(step_s, best_s);
    }
    for (int k = 0; k < layers[layer].options->count; k++) {
        struct option more = *sum;
        for (int t = 0; t < layers[0].slots; t++) {
            more.load_s[t] += layers[layer].options->of[k].load_s[t];
            more.used_bytes[t] += layers[layer].options->of[k].used_bytes[t];
        }
        best_s = min_step(layers, layer + 1, &more, best_s);
    }
    return best_s;
}

double order_brute_optimum(const struct yk_transfer_order_problem *problem)
{
    const struct option nothing = {.load_s = {0}};
    struct layer layers[LAYERS] = {{0}};
    struct options *options = calloc(LAYERS, sizeof *options);
    if (!options || problem->layer_count < 1 || problem->layer_count > LAYERS) {
        abort();
    }
    for (int i = 0; i < problem->layer_count; i++) {
        layers[i] = describe(problem, i);
        layers[i].options = &options[i];
        list_options(&layers[i]);
    }
    const double best_s = min_step(layers, 0, &nothing, INFINITY);
    free(options);
    return best_s;
}

/* The spots of the order's blocks in `length` slots after `slot`. */
static struct spots find_spots(const struct layer *layer, const int32_t *blocks, int slot,
                               int length)
{
    struct spots spots = {{0}};
    int found = 0;
    for (int at = 0; at < length; at++) {
        const int32_t here = blocks[layer->number * layer->slots + (slot + 1 + at) % layer->slots];
        for (int32_t k = 0; k < here && found < BLOCKS; k++) {
            spots.at[found++] = at;
        }
    }
    return spots;
}

bool order_brute_exceeds(const struct yk_transfer_order_problem *problem,
                         const struct yk_transfer_order *order)
{
    struct option sum = {.load_s = {0}};
    bool exceeds = false;
    for (int i = 0; i < problem->layer_count; i++) {
        const struct layer layer = describe(problem, i);
        const enum yk_transfer_order_sharding choice = layer.described->choice;
        const struct spots scatters =
            find_spots(&layer, order->scatters, layer.backward, layer.gap);
        const struct spots forward = find_spots(&layer, order->gathers, layer.backward, layer.gap);
        const struct spots inside = find_spots(&layer, order->gathers, layer.forward, layer.inside);
        if (choice != YK_TRANSFER_ORDER_NO_COMMUNICATION) {
            add_gap(&layer, &scatters, choice == YK_TRANSFER_ORDER_REPLICATED ? NULL : &forward,
                    &sum);
        }
        if (gathers_weights(&layer)) {
            add_inside(&layer, order->kept[i] ? NULL : &inside, &sum);
        }
    }
    for (int t = 0; t < 2 * problem->layer_count + 3; t++) {
        exceeds = exceeds || sum.used_bytes[t] > problem->room_bytes[t] + 1e-6;
    }
    return exceeds;
}
