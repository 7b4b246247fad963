/* Weights that only have to look like weights: drawn once, cut from different places. */
#include "nn/store/parameter_store.h"

#include "support/support.h"
#include "support/training/small_store.h"

#include <math.h>
#include <string.h>

/* The embedding has more numbers than are drawn for all. */
static const char json[] =
    "{\"model_type\": \"llama\", \"vocab_size\": 20000, \"hidden_size\": 64, "
    "\"intermediate_size\": 96, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
    "\"num_key_value_heads\": 2, \"max_position_embeddings\": 16, \"initializer_range\": 0.02}";

struct started {
    struct yk_arena *arena;
    struct small_store small;
};

static struct started open_started(bool roughly, uint64_t seed)
{
    struct started started = {0};
    struct small_store_request request = {
        .lora_rank = 4, .lora_alpha = 8, .optimizer = YK_OPTIMIZER_ADAMW};
    assert_ok(yk_arena_create(&started.arena));
    assert_ok(yk_model_config_parse(json, strlen(json), "test", started.arena, &request.config));
    started.small = small_store_open(&request);
    assert_ok(roughly ? yk_parameter_store_init_parameters(started.small.store, seed,
                                                           YK_PARAMETER_STORE_INIT_REPEATED)
                      : yk_parameter_store_init_parameters(started.small.store, seed,
                                                           YK_PARAMETER_STORE_INIT_ADAPTERS));
    return started;
}

static void close_started(struct started *started)
{
    small_store_close(&started->small);
    yk_arena_destroy(started->arena);
}

static void rough_numbers_have_the_spread_of_exact_ones(void **state)
{
    (void)state;
    const int64_t rows = 20000;
    const int64_t count = rows * 64;
    struct started started = open_started(true, 7);
    const float *numbers = small_store_numbers(&started.small, "model.embed_tokens.weight");
    double sum = 0;
    double squares = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += (double)numbers[i];
        squares += (double)numbers[i] * (double)numbers[i];
    }
    assert_true(fabs(sum / (double)count) < 1e-4);
    assert_true(fabs(sqrt(squares / (double)count) / 0.02 - 1) < 0.01);
    /* The last row, of numbers that come again, is no copy of another row. */
    for (int64_t row = 0; row < rows - 1; row++) {
        assert_memory_not_equal(numbers + row * 64, numbers + (rows - 1) * 64, 64 * sizeof(float));
    }
    close_started(&started);
}

static void rough_numbers_follow_seed_and_name(void **state)
{
    (void)state;
    const size_t bytes = (size_t)64 * 64 * sizeof(float);
    const char *name = "model.layers.0.self_attn.q_proj.weight";
    struct started first = open_started(true, 7);
    struct started again = open_started(true, 7);
    struct started other = open_started(true, 8);
    const float *numbers = small_store_numbers(&first.small, name);
    assert_memory_equal(numbers, small_store_numbers(&again.small, name), bytes);
    assert_memory_not_equal(numbers, small_store_numbers(&other.small, name), bytes);
    name = "model.layers.1.self_attn.q_proj.weight";
    assert_memory_not_equal(numbers, small_store_numbers(&first.small, name), bytes);
    close_started(&first);
    close_started(&again);
    close_started(&other);
}

static void adapters_start_as_next_to_weights_that_are_loaded(void **state)
{
    (void)state;
    const char *name = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight";
    struct started rough = open_started(true, 7);
    struct started exact = open_started(false, 7);
    const float *numbers = small_store_numbers(&rough.small, name);
    assert_true(numbers[0] != 0);
    assert_memory_equal(numbers, small_store_numbers(&exact.small, name),
                        (size_t)4 * 64 * sizeof(float));
    close_started(&rough);
    close_started(&exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rough_numbers_have_the_spread_of_exact_ones),
        cmocka_unit_test(rough_numbers_follow_seed_and_name),
        cmocka_unit_test(adapters_start_as_next_to_weights_that_are_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
