#include "planner/order/transfer_order.h"

#include "base/file.h"
#include "library/library.h"

#include <stdlib.h>
#include <string.h>

static const double usual_budget_s = 5;

struct yoke_order_problem {
    atomic_int references;
    struct yk_arena *arena; /* owns this struct */
    struct yk_transfer_order_problem *problem;
    struct yoke_order_problem_info info;
};

struct yoke_order {
    struct yoke_order_problem *problem; /* retained */
    struct yk_arena *arena;
    struct yk_transfer_order *order;
    struct yoke_order_info info;
    struct yoke_transfer *transfers;
};

static yk_status read_text(const char *text, size_t length, const char *source,
                           struct yoke_order_problem **out)
{
    struct yoke_order_problem *handle = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(handle);
    atomic_init(&handle->references, 1);
    YK_TRY_OR_CLEAN_UP(
        yk_transfer_order_problem_parse(text, length, source, handle->arena, &handle->problem),
        yoke_order_problem_destroy(handle));
    handle->info = (struct yoke_order_problem_info){
        .layer_count = handle->problem->layer_count,
        .slot_count = 2 * handle->problem->layer_count + 3,
        .barrier = handle->problem->barrier,
    };
    *out = handle;
    return YK_OK;
}

yoke_status yoke_order_problem_open(const char *path, yoke_order_problem **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(path, out);
    yk_status status = yk_file_read_document(path, &text);
    YK_IF_OK(read_text(yk_text_chars(&text), text.length, path, out));
    yk_text_free(&text);
    return yk_library_to_public_status(status);
}

yoke_status yoke_order_problem_read(const char *text, const char *source, yoke_order_problem **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(text, source, out);
    return yk_library_to_public_status(read_text(text, strlen(text), source, out));
}

void yoke_order_problem_destroy(yoke_order_problem *problem)
{
    if (problem && yk_library_release_reference(&problem->references)) {
        yk_arena_destroy(problem->arena);
    }
}

const struct yoke_order_problem_info *yoke_order_problem_info(const yoke_order_problem *problem)
{
    return &problem->info;
}

enum method {
    GREEDY,
    MILP,
    METHOD_COUNT,
};

static const char *method_name(int32_t number)
{
    static const char *const names[METHOD_COUNT] = {[GREEDY] = "greedy", [MILP] = "milp"};
    return number < METHOD_COUNT ? names[number] : NULL;
}

static yk_status solve(struct yoke_order *handle, const char *method,
                       const struct yoke_search *search)
{
    const struct yk_transfer_order_problem *problem = handle->problem->problem;
    int32_t number = 0;
    struct yk_scheduler_options given;
    YK_TRY(yk_library_find_index_of_name("method", method, method_name, &number));
    YK_TRY(yk_library_convert_search_options(search, usual_budget_s, &given));
    if (number == GREEDY) {
        return yk_transfer_order_solve_greedy(problem, handle->arena, &handle->order);
    }
    const struct yk_transfer_order_milp_options options = {.budget_s = given.budget_s,
                                                           .stop = given.stop};
    return yk_transfer_order_solve_milp(problem, &options, handle->arena, &handle->order);
}

static yk_status find(struct yoke_order *handle, const char *method,
                      const struct yoke_search *search)
{
    struct yk_plan_transfer *transfers = NULL;
    int32_t count = 0;
    YK_TRY(yk_arena_create(&handle->arena));
    YK_TRY(solve(handle, method, search));
    YK_TRY(yk_transfer_order_to_plan_transfers(handle->problem->problem, handle->order,
                                               handle->arena, &transfers, &count));
    YK_TRY(yk_library_convert_plan_transfers(transfers, count, handle->arena, &handle->transfers));
    handle->info = (struct yoke_order_info){
        .method = handle->order->method,
        .step_s = handle->order->step_s,
        .bound_s = handle->order->bound_s,
        .transfer_count = count,
    };
    return YK_OK;
}

yoke_status yoke_order_find(yoke_order_problem *problem, const char *method,
                            const struct yoke_search *search, yoke_order **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(problem, method, out);
    yoke_order *handle = calloc(1, sizeof *handle);
    YK_LIBRARY_TRY(handle ? YK_OK : yk_fail_out_of_memory());
    handle->problem = YK_LIBRARY_RETAIN(problem);
    YK_LIBRARY_TRY_OR_CLEANUP(find(handle, method, search), yoke_order_destroy(handle));
    *out = handle;
    return YOKE_OK;
}

void yoke_order_destroy(yoke_order *order)
{
    if (order) {
        yk_arena_destroy(order->arena);
        yoke_order_problem_destroy(order->problem);
        free(order);
    }
}

const struct yoke_order_info *yoke_order_info(const yoke_order *order)
{
    return &order->info;
}

bool yoke_order_keeps(const yoke_order *order, int32_t layer)
{
    return layer >= 0 && layer < order->problem->info.layer_count && order->order->kept[layer];
}

const struct yoke_transfer *yoke_order_transfer(const yoke_order *order, int32_t number)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(order->transfers, order->info.transfer_count, number);
}
