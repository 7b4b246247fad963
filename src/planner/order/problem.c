/*
 * Problem: reads a transfer-order problem from JSON. Unknown members are ignored.
 *
 *   layers            n
 *   blocks            blocks of every layer
 *   compute_s         (2n + 3) computation of each slot
 *   activation_bytes  (2n + 3) activations in each slot
 *   comm_s            (n) time to gather or to scatter a layer
 *   full_bytes        (n) size of a gathered layer, and of its gradient
 *   static_bytes      memory that is always in use
 *   memory_bytes      memory in total
 *   barrier           true or false; the default is false
 */
#include "planner/order/transfer_order.h"

#include "base/json.h"
#include "planner/order/slot_window.h"

#include <math.h>

/* Larger values are mistakes. */
static const double max_seconds = 1e6;
static const double max_bytes = 1e15;

static yk_status read_number(const struct yk_json *node, const char *key, double max, double *out)
{
    double number = 0;
    if (!node) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
    }
    if (!yk_json_number_value(node, &number)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a number, not %s", key,
                       yk_json_type_name(node));
    }
    if (!(number >= 0 && number <= max)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be from 0 to %g, not %g", key, max, number);
    }
    *out = number;
    return YK_OK;
}

static yk_status read_whole(const struct yk_json *root, const char *key, int32_t max, int32_t *out)
{
    double number = 0;
    YK_TRY(read_number(yk_json_get_member(root, key), key, INFINITY, &number));
    if (number < 1 || number > max || floor(number) != number) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a whole number from 1 to %d, not %g", key,
                       max, number);
    }
    *out = (int32_t)number;
    return YK_OK;
}

static yk_status read_list(const struct yk_json *root, const char *key, int32_t count,
                           const char *of, double max, struct yk_arena *arena, double **out)
{
    const struct yk_json *list = yk_json_get_member(root, key);
    double *numbers = NULL;
    if (!list) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is missing", key);
    }
    if (!yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must be a list of numbers, not %s", key,
                       yk_json_type_name(list));
    }
    if (yk_json_array_count(list) != (size_t)count) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must have one number for each of %d %s%s, not %zu",
                       key, count, of, yk_text_plural_suffix(count), yk_json_array_count(list));
    }
    YK_TRY_NEW(arena, numbers, count);
    for (size_t i = 0; i < (size_t)count; i++) {
        const yk_status status = read_number(yk_json_array_at(list, i), key, max, &numbers[i]);
        YK_TRY(yk_json_prefix_error_with_element(status, key, i, NULL));
    }
    *out = numbers;
    return YK_OK;
}

static yk_status read_layers(const struct yk_json *root, struct yk_arena *arena,
                             struct yk_transfer_order_problem *problem)
{
    const int32_t n = problem->layer_count;
    int32_t blocks = 0;
    double *comm_s = NULL;
    double *full_bytes = NULL;
    YK_TRY(read_whole(root, "blocks", YK_TRANSFER_ORDER_MAX_BLOCKS, &blocks));
    YK_TRY(read_list(root, "comm_s", n, "layer", max_seconds, arena, &comm_s));
    YK_TRY(read_list(root, "full_bytes", n, "layer", max_bytes, arena, &full_bytes));
    YK_TRY_NEW(arena, problem->layers, n);
    for (int32_t i = 0; i < n; i++) {
        problem->layers[i] = (struct yk_transfer_order_layer){
            .choice = YK_TRANSFER_ORDER_UNDECIDED,
            .blocks = blocks,
            .gather_s = comm_s[i],
            .scatter_s = comm_s[i],
            .weight_bytes = full_bytes[i],
            .gradient_bytes = full_bytes[i],
        };
    }
    return YK_OK;
}

static yk_status read_problem(const struct yk_json *root, struct yk_arena *arena,
                              struct yk_transfer_order_problem *problem)
{
    double static_bytes = 0;
    double memory_bytes = 0;
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT, "an order problem is an object, not %s",
                       yk_json_type_name(root));
    }
    YK_TRY(read_whole(root, "layers", YK_TRANSFER_ORDER_MAX_LAYERS, &problem->layer_count));
    const int32_t slots = yk_transfer_order_slot_count(problem);
    YK_TRY(read_layers(root, arena, problem));
    YK_TRY(read_list(root, "compute_s", slots, "slot", max_seconds, arena, &problem->compute_s));
    YK_TRY(
        read_list(root, "activation_bytes", slots, "slot", max_bytes, arena, &problem->room_bytes));
    YK_TRY(read_number(yk_json_get_member(root, "static_bytes"), "static_bytes", max_bytes,
                       &static_bytes));
    YK_TRY(read_number(yk_json_get_member(root, "memory_bytes"), "memory_bytes", max_bytes,
                       &memory_bytes));
    YK_TRY(yk_json_get_bool(root, "barrier", &problem->barrier));
    for (int32_t t = 0; t < slots; t++) {
        problem->room_bytes[t] = memory_bytes - static_bytes - problem->room_bytes[t];
    }
    return YK_OK;
}

yk_status yk_transfer_order_problem_parse(const char *text, size_t length, const char *source,
                                          struct yk_arena *arena,
                                          struct yk_transfer_order_problem **out)
{
    struct yk_transfer_order_problem *problem = NULL;
    YK_TRY_NEW(arena, problem, 1);
    YK_TRY_WITH_PARSED_JSON(root, text, length, source, read_problem(root, arena, problem));
    *out = problem;
    return YK_OK;
}
