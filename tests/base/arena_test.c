#include "support/support.h"

#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

static int make_arena(void **state)
{
    struct yk_arena *arena = NULL;
    const yk_status status = yk_arena_create(&arena);
    *state = arena;
    return (int)status;
}

static int drop_arena(void **state)
{
    yk_arena_destroy(*state);
    return 0;
}

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    enum {
        BLOCKS = 2000
    };
    unsigned char *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        const size_t size = 1 + i % 67;
        blocks[i] = yk_arena_allocate(*state, size, 1);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++) {
            assert_int_equal(blocks[i][k], 0);
        }
        memset(blocks[i], (int)(i % 251), size);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        for (size_t k = 0; k < 1 + i % 67; k++) {
            assert_int_equal(blocks[i][k], i % 251);
        }
    }
}

static void an_allocation_may_be_larger_than_any_block(void **state)
{
    const size_t size = (size_t)5 << 20;
    unsigned char *large = yk_arena_allocate(*state, size, 1);
    unsigned char *small = yk_arena_allocate(*state, 8, 1);
    assert_non_null(large);
    assert_non_null(small);
    large[size - 1] = 1;
    assert_int_equal(small[0], 0);
}

static void a_size_that_overflows_is_refused(void **state)
{
    assert_null(yk_arena_allocate(*state, SIZE_MAX, 2));
    assert_null(yk_arena_allocate(*state, SIZE_MAX, 1));
    assert_null(yk_arena_allocate(*state, SIZE_MAX / 4, 8));
}

static void no_elements_are_still_a_place(void **state)
{
    assert_non_null(yk_arena_allocate(*state, 0, 8));
}

static void a_copied_text_ends_with_a_zero(void **state)
{
    char *copy = yk_arena_copy_text(*state, "gather", 3);
    assert_string_equal(copy, "gat");
}

static void a_formatted_text_is_as_long_as_it_needs(void **state)
{
    assert_string_equal(yk_arena_format(*state, "%s.%d", "layer", 12), "layer.12");
    assert_int_equal(strlen(yk_arena_format(*state, "%5000s", "a")), 5000);
}

static void destroying_nothing_is_allowed(void **state)
{
    (void)state;
    yk_arena_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(allocations_are_zeroed_aligned_and_apart, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(an_allocation_may_be_larger_than_any_block, make_arena,
                                        drop_arena),
        cmocka_unit_test_setup_teardown(a_size_that_overflows_is_refused, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(no_elements_are_still_a_place, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(a_copied_text_ends_with_a_zero, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(a_formatted_text_is_as_long_as_it_needs, make_arena,
                                        drop_arena),
        cmocka_unit_test(destroying_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
