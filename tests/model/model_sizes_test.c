#include "model/model.h"

#include "model/config.h"
#include "support/support.h"

#include <string.h>

/* C = 8, two heads, F = 32. */
static const char tiny[] = "{\"model_type\": \"gpt2\", \"vocab_size\": 11, \"n_embd\": 8, "
                           "\"n_layer\": 2, \"n_head\": 2, \"n_positions\": 16}";

enum {
    BATCH = 6,
    T = 5,
    BLOCK = 1,
    /* Bytes a token that a block saves in bf16: input, norm, qkv, attention, residual, norm (8 each
     * but for qkv), before and after GELU; 4 bytes each of two norms' statistics, two heads' sums.
     */
    SAVED = 2 * (8 + 8 + 24 + 8 + 8 + 8 + 32 + 32) + 4 * (2 + 2 + 2),
    INPUT = 2 * 8,
};

static struct yk_arena *arena;
static const struct yk_model_config *config;
static struct yk_model_cache *cache;

static const struct yk_workload workload = {
    .batch = BATCH, .sequence = T, .precision = YK_PRECISION_BF16, .recompute = true};

static int set_up(void **state)
{
    (void)state;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_model_config_parse(tiny, strlen(tiny), "tiny", arena, &config));
    assert_ok(yk_model_cache_create(config, &workload, &cache));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    yk_model_cache_destroy(cache);
    yk_arena_destroy(arena);
    return 0;
}

static const struct yk_model *get(int64_t batch, bool recompute)
{
    const struct yk_model *model = NULL;
    assert_ok(yk_model_cache_get(cache, batch, recompute, &model));
    return model;
}

static void every_batch_from_one_to_the_whole_is_described(void **state)
{
    (void)state;
    for (int64_t batch = 1; batch <= BATCH; batch++) {
        const struct yk_model *model = get(batch, false);
        assert_int_equal(model->workload.batch, batch);
        assert_int_equal(model->layers[BLOCK].saved_bytes, batch * T * SAVED);
        assert_int_equal(model->edges[0].bytes, batch * T * INPUT);
    }
}

static void recomputing_blocks_save_their_inputs_alone(void **state)
{
    (void)state;
    for (int64_t batch = 1; batch <= BATCH; batch++) {
        const struct yk_model *model = get(batch, true);
        assert_int_equal(model->layers[BLOCK].saved_bytes, batch * T * INPUT);
        assert_true(model->workload.recompute);
    }
}

static void the_whole_batch_is_not_recomputed(void **state)
{
    (void)state;
    const struct yk_model *whole = yk_model_cache_get_whole_batch(cache);
    assert_int_equal(whole->workload.batch, BATCH);
    assert_false(whole->workload.recompute);
    assert_int_equal(whole->layers[BLOCK].saved_bytes, BATCH * T * SAVED);
    assert_ptr_equal(whole, get(BATCH, false));
}

static void what_was_described_once_is_not_described_again(void **state)
{
    (void)state;
    const struct yk_model *plain = get(2, false);
    const struct yk_model *again = get(2, true);
    assert_ptr_not_equal(plain, again);
    get(3, false);
    assert_ptr_equal(get(2, false), plain);
    assert_ptr_equal(get(2, true), again);
    assert_int_equal(plain->layers[BLOCK].saved_bytes, 2 * T * SAVED);
}

static void what_cannot_be_is_refused_before_memory_is_allocated(void **state)
{
    (void)state;
    struct yk_model_cache *none = NULL;
    struct yk_workload bad = workload;
    bad.batch = 0;
    assert_int_equal(yk_model_cache_create(config, &bad, &none), YK_ERROR_INPUT);
    bad.batch = INT64_MAX / 4;
    assert_int_not_equal(yk_model_cache_create(config, &bad, &none), YK_OK);
    bad = workload;
    bad.sequence = 17; /* of 16 positions */
    assert_int_equal(yk_model_cache_create(config, &bad, &none), YK_ERROR_INPUT);
    assert_null(none);
    yk_model_cache_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_batch_from_one_to_the_whole_is_described, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(recomputing_blocks_save_their_inputs_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_whole_batch_is_not_recomputed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_described_once_is_not_described_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused_before_memory_is_allocated,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
