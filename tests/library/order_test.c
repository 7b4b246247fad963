#include "public_api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * One layer: forward 3 s, backward 5 s, 2 s to gather or scatter it. Nothing can hide: its scatter
 * and next gather fall between backward and forward, where nothing computes. With room for
 * parameters and a gradient (2 × 100 bytes) they are kept and the step takes 3 + 5 + 2 + 2 s.
 */
static const char one_layer[] =
    "{\"layers\": 1, \"blocks\": 1, \"compute_s\": [3, 0, 5, 0, 0], "
    "\"activation_bytes\": [0, 0, 0, 0, 0], \"comm_s\": [2], \"full_bytes\": [100], "
    "\"static_bytes\": 50, \"memory_bytes\": 250}";

static yoke_order_problem *read_problem(void)
{
    yoke_order_problem *problem = NULL;
    assert_done(yoke_order_problem_read(one_layer, "one", &problem));
    return problem;
}

static void a_problem_lists_its_slots(void **state)
{
    (void)state;
    yoke_order_problem *problem = read_problem();
    assert_int_equal(yoke_order_problem_info(problem)->layer_count, 1);
    assert_int_equal(yoke_order_problem_info(problem)->slot_count, 5);
    assert_false(yoke_order_problem_info(problem)->barrier);
    yoke_order_problem_destroy(problem);
}

static void both_methods_find_the_only_way(void **state)
{
    (void)state;
    static const char *const methods[] = {"greedy", "milp"};
    for (int i = 0; i < 2; i++) {
        yoke_order_problem *problem = read_problem();
        yoke_order *order = NULL;
        assert_done(yoke_order_find(problem, methods[i], NULL, &order));
        yoke_order_problem_destroy(problem); /* the order holds it */
        assert_near(yoke_order_info(order)->step_s, 12);
        assert_true(yoke_order_info(order)->bound_s <= 12 + 1e-6);
        assert_non_null(yoke_order_info(order)->method);
        assert_true(yoke_order_keeps(order, 0));
        assert_false(yoke_order_keeps(order, 1));
        assert_int_equal(yoke_order_info(order)->transfer_count, 2);
        const struct yoke_transfer *first = yoke_order_transfer(order, 0);
        const struct yoke_transfer *second = yoke_order_transfer(order, 1);
        assert_string_equal(first->kind, "reduce_scatter");
        assert_int_equal(first->slot, 3);
        assert_string_equal(second->kind, "all_gather");
        assert_int_equal(second->slot, 4);
        assert_int_equal(second->block_count, 1);
        assert_null(yoke_order_transfer(order, 2));
        yoke_order_destroy(order);
    }
}

static void *solve(void *problem)
{
    yoke_order *order = NULL;
    const bool solved = yoke_order_find(problem, "milp", NULL, &order) == YOKE_OK &&
                        fabs(yoke_order_info(order)->step_s - 12) < 1e-6;
    yoke_order_destroy(order);
    return solved ? problem : NULL;
}

static void threads_share_a_problem(void **state)
{
    (void)state;
    pthread_t threads[3];
    yoke_order_problem *problem = read_problem();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, solve, problem), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *solved = NULL;
        assert_int_equal(pthread_join(threads[i], &solved), 0);
        assert_ptr_equal(solved, problem);
    }
    yoke_order_problem_destroy(problem);
}

static void orders_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const char cramped[] =
        "{\"layers\": 1, \"blocks\": 1, \"compute_s\": [3, 0, 5, 0, 0], "
        "\"activation_bytes\": [0, 0, 0, 0, 0], \"comm_s\": [2], \"full_bytes\": [100], "
        "\"static_bytes\": 50, \"memory_bytes\": 200}";
    yoke_order_problem *problem = NULL;
    yoke_order *order = NULL;
    assert_done(yoke_order_problem_read(cramped, "cramped", &problem));
    assert_int_equal(yoke_order_find(problem, "greedy", NULL, &order), YOKE_ERROR_NO_FIT);
    assert_int_equal(yoke_order_find(problem, "milp", NULL, &order), YOKE_ERROR_NO_FIT);
    assert_says(yoke_order_find(problem, "best", NULL, &order), YOKE_ERROR_USAGE,
                "there is no method \"best\"; there are: greedy, milp");
    assert_null(order);
    yoke_order_problem_destroy(problem);
}

static void problems_are_opened_and_refused_by_name(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-order-XXXXXX";
    yoke_order_problem *problem = NULL;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, one_layer, strlen(one_layer)) == (ssize_t)strlen(one_layer));
    close(file);
    assert_done(yoke_order_problem_open(path, &problem));
    yoke_order_problem_destroy(problem);
    problem = NULL;
    remove(path);
    assert_mentions(yoke_order_problem_open(path, &problem), YOKE_ERROR_INPUT, path);
    assert_mentions(yoke_order_problem_read("{\"layers\": 0}", "empty", &problem), YOKE_ERROR_INPUT,
                    "empty: ");
    assert_null(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_lists_its_slots),
        cmocka_unit_test(both_methods_find_the_only_way),
        cmocka_unit_test(threads_share_a_problem),
        cmocka_unit_test(orders_that_cannot_be_are_refused),
        cmocka_unit_test(problems_are_opened_and_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
