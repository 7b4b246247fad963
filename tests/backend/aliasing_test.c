/* Results may lie where some of the arguments do, as backend/ops.h allows: they must be those of a
 * run that keeps them apart. */
#include "support/support.h"

#include "backend/cpu/kernels/kernels.h"
#include "backend/cpu/math/convert.h"
#include "backend/ops.h"
#include "base/random.h"

#include <string.h>

enum {
    ROWS = 11,
    WIDTH = 4200, /* more than a chunk */
    NARROW = 77,  /* a whole row is summed at once */
    SIZE = ROWS * WIDTH,
    SPACES = 5,
};

static const enum yk_precision types[] = {YK_PRECISION_FP32, YK_PRECISION_FP16, YK_PRECISION_BF16};

enum {
    TYPES = sizeof types / sizeof types[0],
};

static float apart[SPACES][SIZE];
static float together[SPACES][SIZE];

/* The same numbers in both. */
static void fill(enum yk_precision type)
{
    struct yk_random random = yk_random_from_seed(2);
    for (int space = 0; space < SPACES; space++) {
        for (int i = 0; i < SIZE; i++) {
            const float number = (float)(4 * yk_random_uniform(&random) - 2);
            yk_cpu_convert_array_from_fp32(type, &number, 1, apart[space], i);
        }
    }
    memcpy(together, apart, sizeof apart);
}

static void check_back(enum yk_precision type, int64_t width, int lies_at)
{
    float mean[ROWS];
    float rstd[ROWS];
    float d_weight[2][WIDTH] = {{0}};
    float d_bias[2][WIDTH] = {{0}};
    for (int row = 0; row < ROWS; row++) {
        mean[row] = 0.125F * (float)row;
        rstd[row] = 1.0F / (float)(row + 1);
    }
    fill(type);
    for (int run = 0; run < 2; run++) {
        float(*spaces)[SIZE] = run == 0 ? apart : together;
        const struct yk_norm_backward_op op = {
            .rows = ROWS,
            .width = width,
            .x = spaces[0],
            .dy = spaces[1],
            .add = spaces[2],
            .dx = run == 0 ? spaces[4] : spaces[lies_at],
            .weight = spaces[3],
            .d_weight = d_weight[run],
            .d_bias = d_bias[run],
            .mean = mean,
            .rstd = rstd,
            .x_type = type,
            .y_type = type,
            .weight_type = type,
        };
        yk_cpu_norm_backward(1, &op);
    }
    const size_t bytes = (size_t)(ROWS * width * yk_precision_bytes(type));
    assert_memory_equal(together[lies_at], apart[4], bytes);
    assert_memory_equal(d_weight[1], d_weight[0], sizeof d_weight[0]);
    assert_memory_equal(d_bias[1], d_bias[0], sizeof d_bias[0]);
}

static void the_gradient_of_a_norm_may_replace_that_of_its_output_or_the_one_added(void **state)
{
    (void)state;
    for (int type = 0; type < TYPES; type++) {
        for (int lies_at = 1; lies_at <= 2; lies_at++) {
            check_back(types[type], NARROW, lies_at);
            check_back(types[type], WIDTH, lies_at);
        }
    }
}

static void what_is_dropped_may_replace_what_it_came_from_or_is_added_to(void **state)
{
    (void)state;
    for (int type = 0; type < TYPES; type++) {
        for (int lies_at = 0; lies_at <= 1; lies_at++) {
            fill(types[type]);
            for (int run = 0; run < 2; run++) {
                float(*spaces)[SIZE] = run == 0 ? apart : together;
                const struct yk_dropout_op op = {
                    .rows = ROWS,
                    .width = WIDTH,
                    .sequence = 3,
                    .from = spaces[0],
                    .add = spaces[1],
                    .to = run == 0 ? spaces[2] : spaces[lies_at],
                    .dropout = {.rate = 0.5F, .seed = 1},
                    .type = types[type],
                };
                yk_cpu_dropout(1, &op);
            }
            const size_t bytes = (size_t)(SIZE * yk_precision_bytes(types[type]));
            assert_memory_equal(together[lies_at], apart[2], bytes);
        }
    }
}

static void the_gradient_of_a_gate_may_replace_what_it_gated(void **state)
{
    (void)state;
    for (int type = 0; type < TYPES; type++) {
        fill(types[type]);
        for (int run = 0; run < 2; run++) {
            float(*spaces)[SIZE] = run == 0 ? apart : together;
            const struct yk_glu_backward_op op = {
                .activation = YK_ACTIVATION_SILU,
                .rows = ROWS / 2,
                .width = WIDTH, /* gate and up side by side fill twice as much */
                .gate_up = spaces[0],
                .d_out = spaces[1],
                .d_gate_up = run == 0 ? spaces[2] : spaces[0],
                .type = types[type],
            };
            yk_cpu_glu_backward(1, &op);
        }
        const int64_t count = (int64_t)2 * (ROWS / 2) * WIDTH;
        const size_t bytes = (size_t)(count * yk_precision_bytes(types[type]));
        assert_memory_equal(together[0], apart[2], bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_of_a_norm_may_replace_that_of_its_output_or_the_one_added),
        cmocka_unit_test(what_is_dropped_may_replace_what_it_came_from_or_is_added_to),
        cmocka_unit_test(the_gradient_of_a_gate_may_replace_what_it_gated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
