/* Which numbers are dropped follows from backend/ops.h and Philox, which has a test of its own. */
#include "support/support.h"

#include "backend/cpu/kernels/kernels.h"
#include "backend/cpu/math/philox.h"
#include "backend/ops.h"

#include <string.h>

enum {
    SEQUENCE = 7,
    WIDTH = 701, /* a sample is more than one chunk, and no multiple of four */
    SAMPLES = 5,
    ROWS = SEQUENCE * SAMPLES - 2, /* the last sample is not whole */
    SIZE = ROWS * WIDTH,
    TWO_SAMPLES = 2 * SEQUENCE * WIDTH,
};

static float numbers[SIZE];
static float added[SIZE];
static float dropped[SIZE];
static float again[SIZE];

static void fill(void)
{
    for (int i = 0; i < SIZE; i++) {
        numbers[i] = (float)(1 + i % 97);
        added[i] = (float)(i % 13) - 6.0F;
    }
}

static struct yk_dropout_op drop_of(float rate)
{
    return (struct yk_dropout_op){
        .rows = ROWS,
        .width = WIDTH,
        .sequence = SEQUENCE,
        .from = numbers,
        .to = dropped,
        .dropout = {.rate = rate,
                    .seed = 0x0123456789abcdefU,
                    .site = 0xfedcba9876543210U,
                    .first_sample = ((int64_t)1 << 32) + 40},
        .type = YK_PRECISION_FP32,
    };
}

static bool drops(const struct yk_dropout_options *dropout, int64_t row, int64_t column)
{
    const int64_t e = row % SEQUENCE * WIDTH + column;
    const uint32_t counter[4] = {
        (uint32_t)(e / 4),
        (uint32_t)(dropout->first_sample + row / SEQUENCE),
        (uint32_t)dropout->site,
        (uint32_t)(dropout->site >> 32),
    };
    uint32_t words[4];
    yk_cpu_philox_random_words(dropout->seed, counter, words);
    return (double)words[e % 4] < (double)dropout->rate * 0x1p32;
}

static void each_number_is_decided_by_its_own_word(void **state)
{
    (void)state;
    fill();
    struct yk_dropout_op op = drop_of(0.25F);
    op.add = added;
    yk_cpu_dropout(1, &op);
    int count = 0;
    for (int i = 0; i < SIZE; i++) {
        const bool gone = drops(&op.dropout, i / WIDTH, i % WIDTH);
        const float expected = (gone ? 0.0F : numbers[i] / 0.75F) + added[i];
        assert_float_equal(dropped[i], expected, 1e-4);
        count += gone ? 1 : 0;
    }
    /* A quarter, give or take five standard deviations: √(n · ¼ · ¾). */
    assert_in_range(count, SIZE / 4 - 330, SIZE / 4 + 330);
}

static void a_rate_of_0_drops_nothing_and_1_everything(void **state)
{
    (void)state;
    fill();
    struct yk_dropout_op op = drop_of(0.0F);
    op.add = added;
    yk_cpu_dropout(1, &op);
    for (int i = 0; i < SIZE; i++) {
        assert_true(dropped[i] == numbers[i] + added[i]);
    }
    op.dropout.rate = 1.0F;
    yk_cpu_dropout(1, &op);
    for (int i = 0; i < SIZE; i++) {
        assert_true(dropped[i] == added[i]);
    }
}

static void a_sample_loses_the_same_numbers_wherever_it_is(void **state)
{
    (void)state;
    fill();
    struct yk_dropout_op all = drop_of(0.5F);
    yk_cpu_dropout(1, &all);
    /* Samples 2 and 3 alone, as another rank might have them. */
    struct yk_dropout_op some = drop_of(0.5F);
    some.rows = TWO_SAMPLES / WIDTH;
    some.from = numbers + TWO_SAMPLES;
    some.to = again;
    some.dropout.first_sample += 2;
    yk_cpu_dropout(1, &some);
    assert_memory_equal(again, dropped + TWO_SAMPLES, TWO_SAMPLES * sizeof(float));
}

static void seed_and_both_halves_of_the_site_matter(void **state)
{
    (void)state;
    fill();
    struct yk_dropout_op op = drop_of(0.5F);
    yk_cpu_dropout(1, &op);
    for (int change = 0; change < 4; change++) {
        struct yk_dropout_op other = drop_of(0.5F);
        other.to = again;
        other.dropout.seed ^= change == 0 ? (uint64_t)1 << 63 : change == 1 ? 1U : 0U;
        other.dropout.site ^= change == 2 ? (uint64_t)1 << 63 : change == 3 ? 1U : 0U;
        yk_cpu_dropout(1, &other);
        int differ = 0;
        for (int i = 0; i < SIZE; i++) {
            differ += (again[i] == 0.0F) != (dropped[i] == 0.0F) ? 1 : 0;
        }
        /* Two fair coins differ half of the time, give or take five deviations: √n / 2. */
        assert_in_range(differ, SIZE / 2 - 381, SIZE / 2 + 381);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_is_decided_by_its_own_word),
        cmocka_unit_test(a_rate_of_0_drops_nothing_and_1_everything),
        cmocka_unit_test(a_sample_loses_the_same_numbers_wherever_it_is),
        cmocka_unit_test(seed_and_both_halves_of_the_site_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
