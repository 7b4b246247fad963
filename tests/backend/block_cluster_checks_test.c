/* Which sizes of clusters are still tried on a part of a GPU. */
#include "support/support.h"

#include "backend/cuda/matmul/block_cluster_checks.h"

static void a_size_that_was_only_wrong_is_given_up(void **state)
{
    (void)state;
    struct yk_block_cluster_checks checks = {{0}, {0}};
    assert_true(yk_block_cluster_checks_allow_size(&checks, 4));
    for (int i = 0; i < YK_BLOCK_CLUSTER_CHECKS_MAX_WRONG; i++) {
        assert_true(yk_block_cluster_checks_allow_size(&checks, 4));
        yk_block_cluster_checks_add_result(&checks, 4, false);
    }
    assert_false(yk_block_cluster_checks_allow_size(&checks, 4));
    assert_true(yk_block_cluster_checks_allow_size(&checks, 1));
    assert_true(yk_block_cluster_checks_allow_size(&checks, 2));
    assert_true(yk_block_cluster_checks_allow_size(&checks, 8));
}

static void one_that_was_right_is_kept(void **state)
{
    (void)state;
    struct yk_block_cluster_checks checks = {{0}, {0}};
    yk_block_cluster_checks_add_result(&checks, 2, true);
    for (int i = 0; i < 2 * YK_BLOCK_CLUSTER_CHECKS_MAX_WRONG; i++) {
        yk_block_cluster_checks_add_result(&checks, 2, false);
    }
    assert_true(yk_block_cluster_checks_allow_size(&checks, 2));
}

static void sizes_have_places_of_their_own_and_the_largest_share_one(void **state)
{
    (void)state;
    const int32_t sizes[] = {1, 2, 4, 8, 16};
    for (int32_t i = 0; i < YK_BLOCK_CLUSTER_CHECKS_SIZE_COUNT; i++) {
        assert_int_equal(yk_block_cluster_checks_size_index(sizes[i]), i);
    }
    assert_int_equal(yk_block_cluster_checks_size_index(32),
                     YK_BLOCK_CLUSTER_CHECKS_SIZE_COUNT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_that_was_only_wrong_is_given_up),
        cmocka_unit_test(one_that_was_right_is_kept),
        cmocka_unit_test(sizes_have_places_of_their_own_and_the_largest_share_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
