/* Rotary tables against the frequencies that transformers 5 computes for the same parameters. */
#include "nn/layers/position_tables.h"

#include "support/support.h"

#include <math.h>

enum {
    POSITIONS = 48,
    MAX_HALF = 8,
};

struct rotary_case {
    const char *name;
    struct yk_rope rope;
    int64_t rotary_size;
    bool extended;
    double factor; /* of cosines and sines */
    double frequencies[MAX_HALF];
};

static const double short_factors[] = {1, 1.5, 2, 2.5};
static const double long_factors[] = {1, 3, 5, 7};

#define LONGROPE                                                                                   \
    {                                                                                              \
        .theta = 1e4, .scaling = YK_ROPE_LONGROPE, .factor = 4, .attention_factor = 1.18321596,    \
        .positions = 32, .short_factors = short_factors, .long_factors = long_factors              \
    }

static const struct rotary_case cases[] = {
    {"default", {.theta = 1e4}, 8, false, 1, {1, 0.1, 0.01, 0.001}},
    {"linear",
     {.theta = 1e4, .scaling = YK_ROPE_LINEAR, .factor = 4},
     8,
     false,
     1,
     {0.25, 0.0250000004, 0.00249999994, 0.000250000012}},
    {"dynamic, short",
     {.theta = 1e4, .scaling = YK_ROPE_DYNAMIC, .factor = 2, .positions = 32},
     8,
     false,
     1,
     {1, 0.1, 0.01, 0.001}},
    {"dynamic, 48 tokens",
     {.theta = 1e4, .scaling = YK_ROPE_DYNAMIC, .factor = 2, .positions = 32},
     8,
     true,
     1,
     {1, 0.0793700516, 0.00629960513, 0.000500000024}},
    {"llama3",
     {.theta = 5e5, .scaling = YK_ROPE_LLAMA3, .factor = 8, .low = 1, .high = 4, .positions = 256},
     8,
     false,
     1,
     {1, 0.0105382307, 0.000176776681, 6.64786967e-06}},
    {"yarn",
     {.theta = 1e4,
      .scaling = YK_ROPE_YARN,
      .factor = 4,
      .beta_fast = 32,
      .beta_slow = 1,
      .attention_factor = 1.13862944,
      .positions = 256},
     16,
     false,
     1.13862944,
     {1, 0.25693506, 0.0625, 0.0138349654, 0.00249999994, 0.000790569466, 0.000250000012,
      7.90569466e-05}},
    {"yarn, untruncated",
     {.theta = 1e4,
      .scaling = YK_ROPE_YARN,
      .factor = 4,
      .beta_fast = 8,
      .beta_slow = 2,
      .untruncated = true,
      .attention_factor = 1.13862944,
      .positions = 256},
     16,
     false,
     1.13862944,
     {1, 0.316227764, 0.0634965897, 0.00790569466, 0.00249999994, 0.000790569466, 0.000250000012,
      7.90569466e-05}},
    {"longrope, short",
     LONGROPE,
     8,
     false,
     1.18321596,
     {1, 0.0666666701, 0.00499999989, 0.00039999999}},
    {"longrope, long",
     LONGROPE,
     8,
     true,
     1.18321596,
     {1, 0.0333333351, 0.00200000009, 0.000142857141}},
};

static void rotary_tables_have_the_frequencies_of_transformers(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const struct rotary_case *at = &cases[c];
        const int64_t half = at->rotary_size / 2;
        float table[POSITIONS * MAX_HALF * 2];
        yk_position_tables_compute_rotary(&at->rope, at->rotary_size, POSITIONS, at->extended,
                                          table);
        for (int64_t t = 0; t < POSITIONS; t++) {
            for (int64_t i = 0; i < half; i++) {
                const double angle = (double)t * at->frequencies[i];
                const double cosine = (double)table[(t * half + i) * 2];
                const double sine = (double)table[(t * half + i) * 2 + 1];
                if (fabs(cosine - at->factor * cos(angle)) > 1e-5 ||
                    fabs(sine - at->factor * sin(angle)) > 1e-5) {
                    fail_msg("%s: position %d, frequency %d: %g and %g", at->name, (int)t, (int)i,
                             cosine, sine);
                }
            }
        }
    }
}

/* The table of a pass, by the address that each table has. */
static void a_block_has_the_table_of_its_window_and_length(void **state)
{
    (void)state;
    float tables[YK_ROTARY_TABLES];
    const struct yk_position_tables all = {
        .rotary = {&tables[0], &tables[1], &tables[2], &tables[3]}};
    struct yk_model_config config = {.rope = LONGROPE, .local_rope = {.theta = 1e4}};
    assert_ptr_equal(yk_position_tables_find_rotary(&all, &config, 0, 32), &tables[0]);
    assert_ptr_equal(yk_position_tables_find_rotary(&all, &config, 0, 33), &tables[1]);
    assert_ptr_equal(yk_position_tables_find_rotary(&all, &config, YK_BLOCK_WINDOW, 33),
                     &tables[2]);
    assert_null(yk_position_tables_find_rotary(&all, &config, YK_BLOCK_NO_ROPE, 32));
    config.local_rope.theta = 0;
    assert_ptr_equal(yk_position_tables_find_rotary(&all, &config, YK_BLOCK_WINDOW, 33),
                     &tables[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotary_tables_have_the_frequencies_of_transformers),
        cmocka_unit_test(a_block_has_the_table_of_its_window_and_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
