/*
 * Fuzz target of order problems. One that is accepted has numbers in their limits, and, if it is
 * small, an order that passes the check, or none that fits.
 */
#include "fuzz/fuzz.h"

#include "planner/order/transfer_order.h"

#include <math.h>
#include <stdlib.h>

enum {
    SMALL_LAYERS = 6,
    SMALL_BLOCKS = 16,
};

static void check(const struct yk_transfer_order_problem *problem)
{
    for (int32_t t = 0; t < 2 * problem->layer_count + 3; t++) {
        if (!(problem->compute_s[t] >= 0) || !isfinite(problem->compute_s[t]) ||
            !isfinite(problem->room_bytes[t])) {
            abort();
        }
    }
    for (int32_t i = 0; i < problem->layer_count; i++) {
        const struct yk_transfer_order_layer *layer = &problem->layers[i];
        if (layer->blocks < 1 || !(layer->gather_s >= 0) || !(layer->weight_bytes >= 0)) {
            abort();
        }
    }
}

static void solve(const struct yk_transfer_order_problem *problem, struct yk_arena *arena)
{
    struct yk_transfer_order *order = NULL;
    double step_s = 0;
    const yk_status status = yk_transfer_order_solve_greedy(problem, arena, &order);
    if (status != YK_OK && status != YK_ERROR_NO_FIT) {
        abort();
    }
    if (status == YK_OK && (yk_transfer_order_check(problem, order, &step_s) != YK_OK ||
                            order->bound_s > step_s * (1 + 1e-9))) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_arena *arena = NULL;
    struct yk_transfer_order_problem *problem = NULL;
    if (yk_arena_create(&arena) != YK_OK) {
        abort();
    }
    if (yk_transfer_order_problem_parse((const char *)data, size, "fuzz", arena, &problem) ==
        YK_OK) {
        fuzz_accept();
        check(problem);
        if (problem->layer_count <= SMALL_LAYERS && problem->layers[0].blocks <= SMALL_BLOCKS) {
            solve(problem, arena);
        }
    }
    yk_arena_destroy(arena);
    return 0;
}
