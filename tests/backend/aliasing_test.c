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

/* Groups with gaps between rows: what lies in the gaps must not change either. */
static void check_back_of_groups(enum yk_precision type)
{
    enum {
        GROUPS = 5,
        GROUP_WIDTH = NARROW,
        STRIDE = WIDTH,
    };
    float mean[ROWS * GROUPS];
    float rstd[ROWS * GROUPS];
    float d_weight[2][GROUP_WIDTH] = {{0}};
    for (int i = 0; i < ROWS * GROUPS; i++) {
        mean[i] = 0.125F * (float)i;
        rstd[i] = 1.0F / (float)(i + 1);
    }
    fill(type);
    const size_t row_bytes = (size_t)(STRIDE * yk_precision_bytes(type));
    const size_t bytes = (size_t)GROUPS * GROUP_WIDTH * (size_t)yk_precision_bytes(type);
    for (int run = 0; run < 2; run++) {
        float(*spaces)[SIZE] = run == 0 ? apart : together;
        const struct yk_norm_backward_op op = {
            .rows = ROWS,
            .groups = GROUPS,
            .width = GROUP_WIDTH,
            .x_stride = (int64_t)GROUPS * GROUP_WIDTH,
            .dy_stride = STRIDE,
            .dx_stride = STRIDE,
            .x = spaces[0],
            .dy = spaces[1],
            .dx = run == 0 ? spaces[4] : spaces[1],
            .weight = spaces[3],
            .d_weight = d_weight[run],
            .mean = mean,
            .rstd = rstd,
            .weight_offset = 1,
            .x_type = type,
            .y_type = type,
            .weight_type = type,
        };
        yk_cpu_norm_backward(1, &op);
    }
    for (int row = 0; row < ROWS; row++) {
        const char *got = (const char *)together[1] + (size_t)row * row_bytes;
        assert_memory_equal(got, (const char *)apart[4] + (size_t)row * row_bytes, bytes);
        assert_memory_equal(got + bytes, (const char *)apart[1] + (size_t)row * row_bytes + bytes,
                            row_bytes - bytes);
    }
    assert_memory_equal(d_weight[1], d_weight[0], (size_t)GROUP_WIDTH * sizeof(float));
}

static void the_gradient_of_groups_may_replace_that_of_their_output(void **state)
{
    (void)state;
    for (int type = 0; type < TYPES; type++) {
        check_back_of_groups(types[type]);
    }
}

static void a_norm_may_replace_what_it_is_added_to(void **state)
{
    (void)state;
    static const int64_t widths[] = {NARROW, WIDTH - 100};
    for (int i = 0; i < 4 * TYPES; i++) {
        const enum yk_precision type = types[i / 4];
        float mean[ROWS];
        float rstd[ROWS];
        fill(type);
        for (int run = 0; run < 2; run++) {
            float(*spaces)[SIZE] = run == 0 ? apart : together;
            const struct yk_norm_op op = {
                .rows = ROWS,
                .width = widths[i & 1],
                .y_stride = WIDTH,
                .x = spaces[0],
                .y = run == 0 ? spaces[2] : spaces[1],
                .add = spaces[1],
                .weight = spaces[3],
                .bias = i & 2 ? spaces[4] : NULL,
                .mean = mean,
                .rstd = rstd,
                .epsilon = 1e-5F,
                .x_type = type,
                .y_type = type,
                .weight_type = type,
            };
            yk_cpu_norm(1, &op);
        }
        for (int64_t row = 0; row < ROWS; row++) {
            assert_memory_equal(yk_precision_element_address(type, together[1], row * WIDTH),
                                yk_precision_element_address(type, apart[2], row * WIDTH),
                                (size_t)(widths[i & 1] * yk_precision_bytes(type)));
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
    for (int i = 0; i < 2 * TYPES; i++) {
        const int type = i / 2;
        fill(types[type]);
        for (int run = 0; run < 2; run++) {
            float(*spaces)[SIZE] = run == 0 ? apart : together;
            const struct yk_glu_backward_op op = {
                .activation = i % 2 ? YK_ACTIVATION_GELU_TANH : YK_ACTIVATION_SILU,
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
        cmocka_unit_test(the_gradient_of_groups_may_replace_that_of_their_output),
        cmocka_unit_test(a_norm_may_replace_what_it_is_added_to),
        cmocka_unit_test(what_is_dropped_may_replace_what_it_came_from_or_is_added_to),
        cmocka_unit_test(the_gradient_of_a_gate_may_replace_what_it_gated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
