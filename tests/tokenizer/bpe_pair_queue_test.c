#include "support/support.h"

#include "tokenizer/models/bpe_trainer.h"

#include <stdlib.h>

static void change(struct yk_bpe_pair_queue *queue, int32_t left, int32_t right, int64_t times,
                   int32_t word)
{
    assert_ok(yk_bpe_pair_queue_add_count(queue, (struct yk_token_pair){left, right}, times, word));
}

static void assert_top(struct yk_bpe_pair_queue *queue, int32_t left, int32_t right, int64_t times,
                       int32_t word_count)
{
    struct yk_bpe_pair_queue_top top = {0};
    assert_true(yk_bpe_pair_queue_pop(queue, &top));
    assert_int_equal(top.pair.left, left);
    assert_int_equal(top.pair.right, right);
    assert_int_equal(top.times, times);
    assert_int_equal(top.word_count, word_count);
    free(top.words);
}

static void the_most_frequent_comes_first_and_of_equal_ones_the_smallest(void **state)
{
    (void)state;
    struct yk_bpe_pair_queue *queue = NULL;
    struct yk_bpe_pair_queue_top top = {0};
    assert_ok(yk_bpe_pair_queue_create(&queue));
    change(queue, 2, 1, 5, 0);
    change(queue, 1, 9, 5, 0);
    change(queue, 1, 2, 5, 1);
    change(queue, 7, 7, 6, 1);
    change(queue, 0, 0, 4, 1);
    assert_ok(yk_bpe_pair_queue_flush(queue));
    assert_top(queue, 7, 7, 6, 1);
    assert_top(queue, 1, 2, 5, 1);
    assert_top(queue, 1, 9, 5, 1);
    assert_top(queue, 2, 1, 5, 1);
    assert_top(queue, 0, 0, 4, 1);
    assert_false(yk_bpe_pair_queue_pop(queue, &top));
    yk_bpe_pair_queue_destroy(queue);
}

static void a_count_that_fell_moves_its_pair_back(void **state)
{
    (void)state;
    struct yk_bpe_pair_queue *queue = NULL;
    assert_ok(yk_bpe_pair_queue_create(&queue));
    change(queue, 1, 1, 10, 0);
    change(queue, 2, 2, 8, 0);
    assert_ok(yk_bpe_pair_queue_flush(queue));
    change(queue, 1, 1, -3, 0);
    assert_ok(yk_bpe_pair_queue_flush(queue));
    assert_top(queue, 2, 2, 8, 1);
    assert_top(queue, 1, 1, 7, 1);
    yk_bpe_pair_queue_destroy(queue);
}

static void a_word_is_noted_once_and_only_where_there_is_more(void **state)
{
    (void)state;
    struct yk_bpe_pair_queue *queue = NULL;
    struct yk_bpe_pair_queue_top top = {0};
    assert_ok(yk_bpe_pair_queue_create(&queue));
    change(queue, 1, 2, 3, 4);
    change(queue, 1, 2, 3, 4);
    change(queue, 1, 2, -1, 5);
    change(queue, 1, 2, 1, 6);
    change(queue, 3, 3, 1, 6);
    change(queue, 3, 3, -1, 6); /* none are left of it */
    assert_ok(yk_bpe_pair_queue_flush(queue));
    assert_true(yk_bpe_pair_queue_pop(queue, &top));
    assert_int_equal(top.times, 6);
    assert_int_equal(top.word_count, 2);
    assert_int_equal(top.words[0], 4);
    assert_int_equal(top.words[1], 6);
    free(top.words);
    assert_false(yk_bpe_pair_queue_pop(queue, &top));
    yk_bpe_pair_queue_destroy(queue);
}

static void many_pairs_come_out_in_their_order(void **state)
{
    (void)state;
    enum {
        MANY = 10000
    };
    struct yk_bpe_pair_queue *queue = NULL;
    assert_ok(yk_bpe_pair_queue_create(&queue));
    for (int32_t i = 0; i < MANY; i++) {
        change(queue, i, MANY - i, (int64_t)i * 7919 % MANY + 1, i);
    }
    assert_ok(yk_bpe_pair_queue_flush(queue));
    /* 7919 is a prime that does not divide 10000: each count stands once. */
    for (int64_t times = MANY; times > 0; times--) {
        struct yk_bpe_pair_queue_top top = {0};
        assert_true(yk_bpe_pair_queue_pop(queue, &top));
        assert_int_equal(top.times, times);
        assert_int_equal((int64_t)top.pair.left * 7919 % MANY + 1, times);
        free(top.words);
    }
    yk_bpe_pair_queue_destroy(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_frequent_comes_first_and_of_equal_ones_the_smallest),
        cmocka_unit_test(a_count_that_fell_moves_its_pair_back),
        cmocka_unit_test(a_word_is_noted_once_and_only_where_there_is_more),
        cmocka_unit_test(many_pairs_come_out_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
