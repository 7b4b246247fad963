/* What every kernel promises beside its values: bits that do not depend on the number of threads.
 * The values are held to references in op_test.c. */
#include "support/support.h"

#include "backend/cpu/kernels/kernels.h"
#include "backend/cpu/math/convert.h"
#include "backend/ops.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

/* Rows and columns that are cut into several pieces, groups and panels, none of them whole. */
enum {
    ROWS = 1030,
    WIDTH = 100,
    WIDE_ROWS = 20,
    WIDE = 5003,
    SEQUENCE = 103,
    VOCABULARY = 61,
    SIZE = ROWS * WIDTH, /* the most numbers of any argument */
    SPACES = 8,
    FLOATS = 3,
};

/* All that a kernel reads and writes: one memory, to be filled and compared as a whole. */
struct memory {
    float spaces[SPACES][SIZE];  /* of any type */
    float numbers[FLOATS][SIZE]; /* of fp32, positive */
    int32_t tokens[ROWS];
    double totals[4];
    struct yk_gradient_norm_and_factor verdict;
    enum yk_precision type;
};

static const enum yk_precision types[] = {YK_PRECISION_FP32, YK_PRECISION_FP16, YK_PRECISION_BF16};

enum {
    TYPES = sizeof types / sizeof types[0],
};

static struct memory *before[TYPES];
static struct memory *expected;
static struct memory *memory; /* what kernels run on */

static void fill(enum yk_precision type, struct memory *out)
{
    struct yk_random random = yk_random_from_seed(1);
    out->type = type;
    for (int i = 0; i < SIZE; i++) {
        for (int space = 0; space < SPACES; space++) {
            const float number = (float)(4 * yk_random_uniform(&random) - 2);
            yk_cpu_convert_array_from_fp32(type, &number, 1, out->spaces[space], i);
        }
        for (int space = 0; space < FLOATS; space++) {
            out->numbers[space][i] = (float)(0.5 + yk_random_uniform(&random));
        }
    }
    for (int row = 0; row < ROWS; row++) {
        /* Few tokens, the first of them often. */
        out->tokens[row] =
            (int32_t)(yk_random_below(&random, VOCABULARY) * yk_random_below(&random, 2));
    }
    out->verdict = (struct yk_gradient_norm_and_factor){.norm = 1, .factor = 0.75F};
}

static int unmake(void **state)
{
    (void)state;
    for (int type = 0; type < TYPES; type++) {
        free(before[type]);
    }
    free(expected);
    free(memory);
    return 0;
}

static int make(void **state)
{
    (void)state;
    memory = calloc(1, sizeof *memory);
    expected = calloc(1, sizeof *expected);
    for (int type = 0; type < TYPES; type++) {
        before[type] = calloc(1, sizeof *before[type]);
        if (!before[type] || !memory || !expected) {
            return -1;
        }
        fill(types[type], before[type]);
    }
    return 0;
}

/* ---- the kernels on that memory ---- */

struct layout {
    int64_t rows;
    int64_t width;
};

static const struct layout layouts[] = {{ROWS, WIDTH}, {WIDE_ROWS, WIDE}};

static void normalise(int threads)
{
    for (int i = 0; i < 2; i++) {
        struct yk_norm_op op = {
            .rows = layouts[i].rows,
            .width = layouts[i].width,
            .x = memory->spaces[0],
            .y = memory->spaces[1 + i],
            .weight = memory->spaces[4],
            .bias = memory->spaces[5],
            .mean = memory->numbers[0],
            .rstd = memory->numbers[1],
            .epsilon = 1e-5F,
            .x_type = memory->type,
            .y_type = memory->type,
            .weight_type = memory->type,
        };
        yk_cpu_norm(threads, &op);
        op.bias = NULL;
        op.y = memory->spaces[6 + i];
        op.rstd = memory->numbers[2];
        yk_cpu_norm(threads, &op);
    }
}

static void normalise_back(int threads)
{
    for (int i = 0; i < 2; i++) {
        struct yk_norm_backward_op op = {
            .rows = layouts[i].rows,
            .width = layouts[i].width,
            .x = memory->spaces[0],
            .dy = memory->spaces[1],
            .dx = memory->spaces[2],
            .add = memory->spaces[3],
            .weight = memory->spaces[4],
            .d_weight = memory->spaces[5],
            .d_bias = memory->spaces[6],
            .mean = memory->numbers[0],
            .rstd = memory->numbers[1],
            .x_type = memory->type,
            .y_type = memory->type,
            .weight_type = memory->type,
        };
        yk_cpu_norm_backward(threads, &op);
        op.dx = memory->spaces[7];
        op.mean = NULL;
        op.d_bias = NULL;
        yk_cpu_norm_backward(threads, &op);
        op.d_weight = NULL;
        op.dx = memory->spaces[3];
        yk_cpu_norm_backward(threads, &op);
    }
}

static void embed(int threads)
{
    const struct yk_embedding_op op = {
        .rows = ROWS,
        .width = WIDTH,
        .sequence = SEQUENCE,
        .vocabulary = VOCABULARY,
        .tokens = memory->tokens,
        .table = memory->spaces[0],
        .positions = memory->spaces[1],
        .shift = memory->spaces[3],
        .out = memory->spaces[2],
        .scale = 1.5F,
        .table_type = memory->type,
        .out_type = memory->type,
    };
    yk_cpu_embedding(threads, &op);
}

static void embed_back(int threads)
{
    const struct yk_embedding_backward_op op = {
        .rows = ROWS,
        .width = WIDTH,
        .sequence = SEQUENCE,
        .vocabulary = VOCABULARY,
        .tokens = memory->tokens,
        .d_out = memory->spaces[0],
        .d_table = memory->spaces[1],
        .d_positions = memory->spaces[2],
        .scale = 1.5F,
        .table_type = memory->type,
        .out_type = memory->type,
    };
    yk_cpu_embedding_backward(threads, &op);
}

static void rotate(int threads)
{
    const struct yk_rotary_op op = {
        .rows = ROWS,
        .sequence = SEQUENCE,
        .heads = 3,
        .head_size = 32,
        .stride = WIDTH,
        .data = memory->spaces[0],
        .cos_sin = memory->numbers[0],
        .type = memory->type,
    };
    yk_cpu_rotary(threads, &op);
}

static void gate(int threads)
{
    const struct yk_glu_op op = {
        .activation = YK_ACTIVATION_SILU,
        .rows = ROWS,
        .width = WIDTH / 2,
        .gate_up = memory->spaces[0],
        .out = memory->spaces[1],
        .type = memory->type,
    };
    yk_cpu_glu(threads, &op);
}

static void gate_back(int threads)
{
    const struct yk_glu_backward_op op = {
        .activation = YK_ACTIVATION_SILU,
        .rows = ROWS,
        .width = WIDTH / 2,
        .gate_up = memory->spaces[0],
        .d_out = memory->spaces[1],
        .d_gate_up = memory->spaces[2],
        .type = memory->type,
    };
    yk_cpu_glu_backward(threads, &op);
}

static void drop(int threads)
{
    const struct yk_dropout_op op = {
        .rows = ROWS,
        .width = WIDTH,
        .sequence = SEQUENCE,
        .from = memory->spaces[0],
        .to = memory->spaces[1],
        .add = memory->spaces[2],
        .dropout = {.rate = 0.125F, .seed = 5, .site = 6, .first_sample = 7},
        .type = memory->type,
    };
    yk_cpu_dropout(threads, &op);
}

static void sum_rows(int threads)
{
    for (int i = 0; i < 2; i++) {
        const struct yk_sum_rows_op op = {
            .rows = layouts[i].rows,
            .columns = layouts[i].width - 3,
            .from = memory->spaces[0],
            .stride = layouts[i].width,
            .to = memory->spaces[1 + i],
            .from_type = memory->type,
            .to_type = memory->type,
        };
        yk_cpu_sum_rows(threads, &op);
    }
}

static void cross_entropy(int threads)
{
    memory->tokens[3] = -1;
    for (int i = 0; i < 2; i++) {
        const struct yk_cross_entropy_op op = {
            .rows = layouts[i].rows,
            .classes = layouts[i].width,
            .stride = layouts[i].width,
            .logits = memory->spaces[i],
            .targets = memory->tokens,
            .row_losses = memory->numbers[i],
            .loss = &memory->totals[0],
            .smoothing = i == 0 ? 0.0F : 0.1F,
            .factor = 0.5F,
            .type = memory->type,
        };
        yk_cpu_cross_entropy(threads, &op);
    }
}

static void sum_squares(int threads)
{
    const struct yk_sum_squares_op op = {
        .count = SIZE - 3,
        .from = memory->spaces[0],
        .to = &memory->totals[0],
        .type = memory->type,
    };
    yk_cpu_sum_squares(threads, &op);
    const struct yk_clip_norm_op judge = {
        .sums = memory->totals,
        .count = 4,
        .unscale = 0.5F,
        .clip = 1.0F,
        .gradient_norm = &memory->verdict,
    };
    yk_cpu_optimizer_clip_norm(threads, &judge);
}

static void adamw(int threads)
{
    const struct yk_adamw_op op = {
        .update.count = SIZE - 3,
        .update.weights = memory->spaces[0],
        .update.master = memory->type == YK_PRECISION_FP32 ? NULL : memory->numbers[0],
        .update.gradients = memory->spaces[1],
        .moment1 = memory->numbers[1],
        .moment2 = memory->numbers[2],
        .update.type = memory->type,
        .update.lr = 1e-2F,
        .beta1 = 0.9F,
        .beta2 = 0.95F,
        .epsilon = 1e-8F,
        .update.weight_decay = 0.1F,
        .correction1 = 0.5F,
        .correction2 = 0.25F,
        .update.gradient_norm = &memory->verdict,
    };
    yk_cpu_optimizer_adamw(threads, &op);
}

static void sgd(int threads)
{
    struct yk_sgd_op op = {
        .update.count = SIZE - 3,
        .update.weights = memory->spaces[0],
        .update.master = memory->type == YK_PRECISION_FP32 ? NULL : memory->numbers[0],
        .update.gradients = memory->spaces[1],
        .velocity = memory->numbers[1],
        .update.type = memory->type,
        .update.lr = 1e-2F,
        .momentum = 0.9F,
        .update.weight_decay = 0.1F,
        .first = true,
        .update.gradient_norm = &memory->verdict,
    };
    yk_cpu_optimizer_sgd(threads, &op);
    op.first = false;
    yk_cpu_optimizer_sgd(threads, &op);
}

static void cast_and_add(int threads)
{
    const struct yk_cast_op up = {SIZE - 3, memory->spaces[0], memory->numbers[0], memory->type,
                                  YK_PRECISION_FP32};
    const struct yk_cast_op down = {SIZE - 3, memory->numbers[1], memory->spaces[1],
                                    YK_PRECISION_FP32, memory->type};
    const struct yk_cast_op across = {SIZE - 3, memory->spaces[2], memory->spaces[3], memory->type,
                                      YK_PRECISION_BF16};
    const struct yk_add_op add = {SIZE - 3, memory->spaces[4], memory->spaces[5], memory->type};
    yk_cpu_elementwise_cast(threads, &up);
    yk_cpu_elementwise_cast(threads, &down);
    yk_cpu_elementwise_cast(threads, &across);
    yk_cpu_elementwise_add(threads, &add);
}

static void nf4(int threads)
{
    struct yk_nf4_tensor nf4;
    (void)yk_ops_lay_out_nf4_tensor(memory->numbers[0], SIZE - 3, &nf4);
    const struct yk_quantise_op down = {SIZE - 3, memory->spaces[0], nf4, memory->type};
    const struct yk_dequantise_op up = {SIZE - 3, nf4, memory->spaces[1], memory->type,
                                        YK_DEQUANTISE_IN_ORDER};
    yk_cpu_nf4_quantise(threads, &down);
    yk_cpu_nf4_dequantise(threads, &up);
}

/* ---- threads ---- */

struct kernel {
    const char *name; /* of the test */
    void (*run)(int threads);
};

#define KERNEL(kernel)                                                                             \
    {                                                                                              \
        .name = #kernel "_does_not_depend_on_the_threads", .run = (kernel)                         \
    }

static struct kernel kernels[] = {
    KERNEL(normalise), KERNEL(normalise_back), KERNEL(embed),       KERNEL(embed_back),
    KERNEL(rotate),    KERNEL(gate),           KERNEL(gate_back),   KERNEL(drop),
    KERNEL(sum_rows),  KERNEL(cross_entropy),  KERNEL(sum_squares), KERNEL(adamw),
    KERNEL(sgd),       KERNEL(cast_and_add),   KERNEL(nf4),
};

/* Bit for bit, and what lies between the members is copied with them. */
static bool same(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct memory)) == 0;
}

static void check_bits(void **state)
{
    static const int threads[] = {2, 3, 5};
    const struct kernel *kernel = *state;
    for (int type = 0; type < TYPES; type++) {
        memcpy(memory, before[type], sizeof *memory);
        kernel->run(1);
        memcpy(expected, memory, sizeof *memory);
        assert_false(same(expected, before[type]));
        for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
            memcpy(memory, before[type], sizeof *memory);
            kernel->run(threads[i]);
            assert_true(same(memory, expected));
        }
    }
}

int main(void)
{
    struct CMUnitTest tests[sizeof kernels / sizeof kernels[0]];
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        tests[i] = (struct CMUnitTest){kernels[i].name, check_bits, NULL, NULL, &kernels[i]};
    }
    return cmocka_run_group_tests(tests, make, unmake);
}
