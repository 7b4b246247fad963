/*
 * The references' gradients against finite differences of the references themselves: for a weighted
 * sum of an op's outputs, the slope in every one of its inputs.
 */
#include "base/random.h"
#include "support/ops/reference.h"
#include "support/support.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    ROOM = 256, /* the most numbers of one array */
};

static void draw(struct yk_random *random, double *numbers, int64_t count)
{
    assert_true(count <= ROOM);
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = 2 * yk_random_uniform(random) - 1;
    }
}

static double weigh(const double *weights, const double *numbers, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += weights[i] * numbers[i];
    }
    return sum;
}

typedef double (*loss_function)(const void *user);

/* `loss` depends on `numbers`, which are moved a little each. */
static void assert_gradient(const char *name, double *numbers, const double *gradient,
                            int64_t count, loss_function loss, const void *user)
{
    const double step = 1e-5; /* the error is about step², or rounding over step: 1e-10 both */
    for (int64_t i = 0; i < count; i++) {
        const double here = numbers[i];
        numbers[i] = here + step;
        const double above = loss(user);
        numbers[i] = here - step;
        const double below = loss(user);
        numbers[i] = here;
        const double slope = (above - below) / (2 * step);
        if (!(fabs(slope - gradient[i]) <= 1e-8 * (1 + fabs(slope)))) {
            fail_msg("%s %lld: the gradient is %.12g, the slope %.12g", name, (long long)i,
                     gradient[i], slope);
        }
    }
}

/* ---- products ---- */

struct product {
    struct yk_matmul_op op;
    double a[ROOM];
    double b[ROOM];
    double bias[ROOM];
    double add[ROOM];
    double weights[ROOM]; /* of the outputs */
    double inner[ROOM];
};

static double product_loss(const void *user)
{
    const struct product *product = user;
    double c[ROOM];
    double inner[ROOM];
    const struct reference_matmul numbers = {product->a, product->b, product->bias, product->add,
                                             NULL,       c,          inner};
    reference_matmul(&product->op, &numbers);
    return weigh(product->weights, c, product->op.m * product->op.n);
}

struct product_gradients {
    double a[ROOM];
    double b[ROOM];
};

/* The gradients of stored a and b, as trainers take them: two products more. */
static void product_gradients(const struct product *product, const double *d_inner,
                              struct product_gradients *out)
{
    const struct yk_matmul_op *op = &product->op;
    struct yk_matmul_op a_op = {.m = op->m, .n = op->k, .k = op->n, .scale = op->scale};
    struct yk_matmul_op b_op = {.m = op->k, .n = op->n, .k = op->m, .scale = op->scale};
    struct reference_matmul a_numbers = {.a = d_inner, .b = product->b, .c = out->a};
    struct reference_matmul b_numbers = {.a = product->a, .b = d_inner, .c = out->b};
    a_op.b_transposed = !op->b_transposed;
    b_op.a_transposed = !op->a_transposed;
    if (op->a_transposed) { /* (k, m) = op(b) dᵀ */
        a_op = (struct yk_matmul_op){.m = op->k,
                                     .n = op->m,
                                     .k = op->n,
                                     .scale = op->scale,
                                     .a_transposed = op->b_transposed,
                                     .b_transposed = true};
        a_numbers.a = product->b;
        a_numbers.b = d_inner;
    }
    if (op->b_transposed) { /* (n, k) = dᵀ op(a) */
        b_op = (struct yk_matmul_op){.m = op->n,
                                     .n = op->k,
                                     .k = op->m,
                                     .scale = op->scale,
                                     .a_transposed = true,
                                     .b_transposed = op->a_transposed};
        b_numbers.a = d_inner;
        b_numbers.b = product->a;
    }
    reference_matmul(&a_op, &a_numbers);
    reference_matmul(&b_op, &b_numbers);
}

static void check_product(struct product *product, enum yk_matmul_epilogue back)
{
    const struct yk_matmul_op *op = &product->op;
    const int64_t count = op->m * op->n;
    double c[ROOM];
    double d_inner[ROOM];
    struct product_gradients gradients;
    double d_bias[ROOM] = {0};
    const struct reference_matmul numbers = {product->a, product->b, product->bias, product->add,
                                             NULL,       c,          product->inner};
    reference_matmul(op, &numbers);
    for (int64_t i = 0; i < count; i++) {
        d_inner[i] = reference_epilogue(back, product->weights[i], product->inner[i]);
    }
    product_gradients(product, d_inner, &gradients);
    const struct yk_sum_rows_op sum = {.rows = op->m, .columns = op->n};
    reference_sum_rows(&sum, d_inner, d_bias);
    assert_gradient("a", product->a, gradients.a, op->m * op->k, product_loss, product);
    assert_gradient("b", product->b, gradients.b, op->k * op->n, product_loss, product);
    assert_gradient("bias", product->bias, d_bias, op->n, product_loss, product);
    assert_gradient("add", product->add, d_inner, count, product_loss, product);
}

static void gradients_of_products_are_slopes(void **state)
{
    (void)state;
    static const enum yk_matmul_epilogue endings[][2] = {
        {YK_EPILOGUE_NONE, YK_EPILOGUE_NONE},
        {YK_EPILOGUE_GELU, YK_EPILOGUE_GELU_BACKWARD},
        {YK_EPILOGUE_GELU_ERF, YK_EPILOGUE_GELU_ERF_BACKWARD},
        {YK_EPILOGUE_RELU, YK_EPILOGUE_RELU_BACKWARD},
        {YK_EPILOGUE_RELU_SQUARED, YK_EPILOGUE_RELU_SQUARED_BACKWARD},
        {YK_EPILOGUE_SILU, YK_EPILOGUE_SILU_BACKWARD},
    };
    struct yk_random random = yk_random_from_seed(1);
    for (int i = 0; i < 24; i++) {
        struct product product = {.op = {.m = 3,
                                         .n = 5,
                                         .k = 4,
                                         .scale = 1.5F,
                                         .a_transposed = i & 1,
                                         .b_transposed = i & 2,
                                         .epilogue = endings[i / 4][0]}};
        draw(&random, product.a, 12);
        draw(&random, product.b, 20);
        draw(&random, product.bias, 5);
        draw(&random, product.add, 15);
        draw(&random, product.weights, 15);
        check_product(&product, endings[i / 4][1]);
    }
}

/* ---- attention ---- */

struct attention {
    struct yk_attention_op op;
    int32_t lengths[2];
    bool with_lengths;
    double q[ROOM];
    double k[ROOM];
    double v[ROOM];
    double weights[ROOM];
};

static struct reference_attention attention_numbers(const struct attention *attention)
{
    return (struct reference_attention){attention->q, attention->k, attention->v,
                                        attention->with_lengths ? attention->lengths : NULL};
}

static double attention_loss(const void *user)
{
    const struct attention *attention = user;
    const struct yk_attention_op *op = &attention->op;
    const struct reference_attention numbers = attention_numbers(attention);
    double out[ROOM];
    reference_attention(op, &numbers, out, NULL);
    return weigh(attention->weights, out, op->batch * op->queries * op->heads * op->head_size);
}

static void check_attention(struct attention *attention)
{
    const struct yk_attention_op *op = &attention->op;
    const int64_t q_count = op->batch * op->queries * op->heads * op->head_size;
    const int64_t kv_count = op->batch * op->keys * op->kv_heads * op->head_size;
    double dq[ROOM];
    double dk[ROOM];
    double dv[ROOM];
    struct yk_random random = yk_random_from_seed(2);
    draw(&random, attention->q, q_count);
    draw(&random, attention->k, kv_count);
    draw(&random, attention->v, kv_count);
    draw(&random, attention->weights, q_count);
    const struct reference_attention numbers = attention_numbers(attention);
    reference_attention_backward(op, &numbers, attention->weights, dq, dk, dv);
    assert_gradient("q", attention->q, dq, q_count, attention_loss, attention);
    assert_gradient("k", attention->k, dk, kv_count, attention_loss, attention);
    assert_gradient("v", attention->v, dv, kv_count, attention_loss, attention);
}

static void gradients_of_attention_are_slopes(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        const bool dropped = i & 4;
        struct attention attention = {
            .op = {.batch = 2,
                   .queries = 3,
                   .keys = 5,
                   .heads = 4,
                   .kv_heads = i & 8 ? 4 : 2,
                   .head_size = 3,
                   .scale = 0.7F,
                   .causal = i & 1,
                   .dropout = {dropped ? 0.3F : 0, 11, 12, 13}},
            .lengths = {3, 5},
            .with_lengths = i & 2,
        };
        check_attention(&attention);
    }
}

/* With lengths, the last queries see no key in the window. */
static void gradients_of_attention_with_windows_and_caps_are_slopes(void **state)
{
    (void)state;
    for (int i = 0; i < 24; i++) {
        struct attention attention = {
            .op = {.batch = 2,
                   .queries = 6,
                   .keys = 7,
                   .heads = 2,
                   .kv_heads = i & 2 ? 1 : 2,
                   .head_size = 3,
                   .scale = 0.7F,
                   .softcap = i % 3 == 0 ? 0 : 0.5F,
                   .causal = i & 1,
                   .window = i % 3 == 1 ? 0 : i / 6 + 1,
                   .dropout = {i & 4 ? 0.3F : 0, 11, 12, 13}},
            .lengths = {2, 7},
            .with_lengths = i & 8,
        };
        check_attention(&attention);
    }
}

/* ---- rows ---- */

enum {
    ROWS = 4,
    WIDTH = 6,
    LORA_RANK = 2,
};

struct rows {
    struct yk_norm_op norm;
    struct yk_glu_op gate;
    bool rms;
    bool with_add;
    double x[ROOM];
    double weight[ROOM];
    double bias[ROOM];
    double added[ROOM];
    double weights[ROOM];
    int32_t indices[ROWS];
    struct yk_cross_entropy_op cross_entropy;
    struct yk_dropout_op drop;
    struct yk_rotary_op rotate;
};

static struct rows draw_rows(uint64_t seed)
{
    struct rows rows = {0};
    struct yk_random random = yk_random_from_seed(seed);
    draw(&random, rows.x, (int64_t)2 * ROWS * WIDTH);
    draw(&random, rows.weight, (int64_t)2 * ROWS * WIDTH);
    draw(&random, rows.bias, (int64_t)ROWS * WIDTH);
    draw(&random, rows.weights, (int64_t)ROWS * WIDTH);
    draw(&random, rows.added, (int64_t)ROWS * WIDTH);
    return rows;
}

struct moments {
    double mean[3 * ROWS];
    double rstd[3 * ROWS];
};

static double normalise(const struct rows *rows, struct moments *out)
{
    double y[ROWS * WIDTH];
    const struct reference_norm numbers = {.x = rows->x,
                                           .weight = rows->weight,
                                           .bias = rows->rms ? NULL : rows->bias,
                                           .add = rows->with_add ? rows->added : NULL,
                                           .y = y,
                                           .mean = out->mean,
                                           .rstd = out->rstd};
    reference_norm(&rows->norm, &numbers);
    return weigh(rows->weights, y, (int64_t)ROWS * WIDTH);
}

static double normalise_loss(const void *user)
{
    struct moments moments;
    return normalise(user, &moments);
}

static void check_norm(bool rms, int64_t groups, float weight_offset)
{
    const int64_t width = groups > 0 ? WIDTH / groups : WIDTH;
    struct rows rows = draw_rows(3);
    struct moments moments;
    double dx[ROWS * WIDTH];
    double d_weight[WIDTH] = {0};
    double d_bias[WIDTH] = {0};
    rows.rms = rms;
    rows.with_add = groups == 1;
    rows.norm = (struct yk_norm_op){.rows = ROWS,
                                    .groups = groups,
                                    .width = width,
                                    .epsilon = 0.01F,
                                    .weight_offset = weight_offset};
    (void)normalise(&rows, &moments);
    const struct yk_norm_backward_op op = {
        .rows = ROWS, .groups = groups, .width = width, .weight_offset = weight_offset};
    const struct reference_norm_backward numbers = {
        rows.x,       rows.weights, NULL,     rows.weight, rms ? NULL : moments.mean,
        moments.rstd, dx,           d_weight, d_bias};
    reference_norm_backward(&op, &numbers);
    assert_gradient("x", rows.x, dx, (int64_t)ROWS * WIDTH, normalise_loss, &rows);
    assert_gradient("weight", rows.weight, d_weight, width, normalise_loss, &rows);
    if (!rms) {
        assert_gradient("bias", rows.bias, d_bias, width, normalise_loss, &rows);
    }
    if (rows.with_add) {
        assert_gradient("add", rows.added, rows.weights, (int64_t)ROWS * WIDTH, normalise_loss,
                        &rows);
    }
}

static void gradients_of_norms_are_slopes(void **state)
{
    (void)state;
    for (int rms = 0; rms < 2; rms++) {
        for (int64_t groups = 0; groups <= 3; groups++) {
            check_norm(rms, groups, 0);
            check_norm(rms, groups, 1);
        }
    }
}

/* The table of three tokens is in `weight`, two positions in `bias`, a shift in `x`. */
static double embed_loss(const void *user)
{
    const struct rows *rows = user;
    double out[ROWS * WIDTH];
    const struct yk_embedding_op op = {
        .rows = ROWS, .width = WIDTH, .sequence = 2, .vocabulary = 3, .scale = 2.5F};
    reference_embedding(&op, rows->indices, rows->weight, rows->bias, rows->x, out);
    return weigh(rows->weights, out, (int64_t)ROWS * WIDTH);
}

static void gradients_of_embeddings_are_slopes(void **state)
{
    (void)state;
    struct rows rows = draw_rows(4);
    const int32_t tokens[ROWS] = {2, 0, 2, 2};
    double d_table[3 * WIDTH] = {0};
    double d_positions[2 * WIDTH] = {0};
    double d_shift[WIDTH] = {0};
    memcpy(rows.indices, tokens, sizeof tokens);
    const struct yk_embedding_backward_op op = {
        .rows = ROWS, .width = WIDTH, .sequence = 2, .vocabulary = 3, .scale = 2.5F};
    const struct yk_sum_rows_op sum = {.rows = ROWS, .columns = WIDTH};
    reference_embedding_backward(&op, rows.indices, rows.weights, d_table, d_positions);
    reference_sum_rows(&sum, rows.weights, d_shift);
    assert_gradient("table", rows.weight, d_table, (int64_t)3 * WIDTH, embed_loss, &rows);
    assert_gradient("positions", rows.bias, d_positions, (int64_t)2 * WIDTH, embed_loss, &rows);
    assert_gradient("shift", rows.x, d_shift, WIDTH, embed_loss, &rows);
}

/* Angles are in `weight`, as they come. */
static double rotate_loss(const void *user)
{
    const struct rows *rows = user;
    double data[ROWS * WIDTH];
    memcpy(data, rows->x, sizeof data);
    reference_rotary(&rows->rotate, rows->weight, data);
    return weigh(rows->weights, data, (int64_t)ROWS * WIDTH);
}

static void gradient_of_rotation_is_a_slope(void **state)
{
    (void)state;
    struct rows rows = draw_rows(5);
    double dx[ROWS * WIDTH];
    for (int64_t rotary_size = 0; rotary_size <= WIDTH; rotary_size += 2) {
        rows.rotate = (struct yk_rotary_op){.rows = ROWS,
                                            .sequence = 2,
                                            .heads = 1,
                                            .head_size = WIDTH,
                                            .rotary_size = rotary_size};
        struct yk_rotary_op back = rows.rotate;
        back.inverse = true;
        memcpy(dx, rows.weights, sizeof dx);
        reference_rotary(&back, rows.weight, dx);
        assert_gradient("x", rows.x, dx, (int64_t)ROWS * WIDTH, rotate_loss, &rows);
    }
}

static double gate_loss(const void *user)
{
    const struct rows *rows = user;
    double out[ROWS * WIDTH];
    reference_glu(&rows->gate, rows->x, out);
    return weigh(rows->weights, out, (int64_t)ROWS * WIDTH);
}

static void gradient_of_glu_is_a_slope(void **state)
{
    (void)state;
    struct rows rows = draw_rows(6);
    double dx[2 * ROWS * WIDTH];
    for (int i = YK_ACTIVATION_GELU_TANH; i <= YK_ACTIVATION_TANH; i++) {
        const enum yk_activation activation = (enum yk_activation)i;
        rows.gate = (struct yk_glu_op){.rows = ROWS, .width = WIDTH, .activation = activation};
        const struct yk_glu_backward_op op = {
            .rows = ROWS, .width = WIDTH, .activation = activation};
        reference_glu_backward(&op, rows.x, rows.weights, dx);
        assert_gradient("gate_up", rows.x, dx, (int64_t)2 * ROWS * WIDTH, gate_loss, &rows);
    }
}

/* Of two parts, of which the adapters' factors are in `weight`, and `inner` in x. */
static double lora_loss(const void *user)
{
    const struct rows *rows = user;
    double y[ROWS * WIDTH] = {0};
    for (int i = 0; i < 2; i++) {
        const struct yk_lora_term term = {
            .rank = LORA_RANK, .inner_stride = (int64_t)2 * LORA_RANK, .scale = 0.75F};
        reference_add_lora_term(&term, ROWS, WIDTH / 2, rows->x + (ptrdiff_t)i * LORA_RANK,
                                rows->weight + (ptrdiff_t)i * WIDTH / 2 * LORA_RANK,
                                y + (ptrdiff_t)i * WIDTH / 2, WIDTH);
    }
    return weigh(rows->weights, y, (int64_t)ROWS * WIDTH);
}

static void gradients_of_adapters_are_slopes(void **state)
{
    (void)state;
    struct rows rows = draw_rows(11);
    double d_factor[WIDTH * LORA_RANK] = {0};
    double d_inner[ROWS * 2 * LORA_RANK];
    const struct yk_lora_backward_op op = {
        .rows = ROWS,
        .rank = LORA_RANK,
        .parts = 2,
        .part = {{.columns = WIDTH / 2}, {.columns = WIDTH / 2}},
        .scale = 0.75F,
    };
    for (int i = 0; i < 2; i++) {
        double dy[ROWS * WIDTH / 2];
        double inner[ROWS * LORA_RANK];
        for (int j = 0; j < ROWS * WIDTH / 2; j++) {
            dy[j] = rows.weights[j / (WIDTH / 2) * WIDTH + i * WIDTH / 2 + j % (WIDTH / 2)];
        }
        for (int j = 0; j < ROWS * LORA_RANK; j++) {
            inner[j] = rows.x[(j / LORA_RANK * 2 + i) * LORA_RANK + j % LORA_RANK];
        }
        const ptrdiff_t at = (ptrdiff_t)i * WIDTH / 2 * LORA_RANK;
        reference_lora_backward(&op, i, dy, inner, rows.weight + at, d_factor + at,
                                d_inner + (ptrdiff_t)i * LORA_RANK);
    }
    assert_gradient("factor", rows.weight, d_factor, (int64_t)WIDTH * LORA_RANK, lora_loss, &rows);
    assert_gradient("inner", rows.x, d_inner, (int64_t)ROWS * 2 * LORA_RANK, lora_loss, &rows);
}

static double drop_loss(const void *user)
{
    const struct rows *rows = user;
    double to[ROWS * WIDTH];
    reference_dropout(&rows->drop, rows->x, rows->weight, to);
    return weigh(rows->weights, to, (int64_t)ROWS * WIDTH);
}

static void gradient_of_dropout_is_dropout_of_the_gradient(void **state)
{
    (void)state;
    struct rows rows = draw_rows(7);
    double dx[ROWS * WIDTH];
    for (int i = 0; i < 2; i++) {
        rows.drop = (struct yk_dropout_op){.rows = ROWS,
                                           .width = WIDTH,
                                           .sequence = 2,
                                           .scale = i ? 0.25F : 0,
                                           .dropout = {0.3F, 5, 6, 7}};
        reference_dropout(&rows.drop, rows.weights, NULL, dx);
        assert_gradient("from", rows.x, dx, (int64_t)ROWS * WIDTH, drop_loss, &rows);
    }
}

/* `factor` is 0 while losses are taken, which leaves the logits alone. */
static double cross_entropy_loss(const void *user)
{
    const struct rows *rows = user;
    double logits[ROWS * WIDTH];
    double row_losses[ROWS];
    double loss = 0;
    struct yk_cross_entropy_op op = rows->cross_entropy;
    op.factor = 0;
    memcpy(logits, rows->x, sizeof logits);
    reference_cross_entropy(&op, rows->indices, logits, row_losses, &loss);
    return (double)rows->cross_entropy.factor * loss;
}

static void gradient_of_the_loss_is_a_slope(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct rows rows = draw_rows(8);
        const int32_t targets[ROWS] = {5, -1, 0, 3};
        double logits[ROWS * WIDTH];
        double row_losses[ROWS];
        double loss = 0;
        memcpy(rows.indices, targets, sizeof targets);
        rows.cross_entropy = (struct yk_cross_entropy_op){.rows = ROWS,
                                                          .classes = WIDTH,
                                                          .smoothing = i & 1 ? 0.1F : 0,
                                                          .softcap = i & 2 ? 0.75F : 0,
                                                          .factor = 0.25F};
        memcpy(logits, rows.x, sizeof logits);
        reference_cross_entropy(&rows.cross_entropy, rows.indices, logits, row_losses, &loss);
        assert_gradient("logits", rows.x, logits, (int64_t)ROWS * WIDTH, cross_entropy_loss, &rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_products_are_slopes),
        cmocka_unit_test(gradients_of_attention_are_slopes),
        cmocka_unit_test(gradients_of_attention_with_windows_and_caps_are_slopes),
        cmocka_unit_test(gradients_of_norms_are_slopes),
        cmocka_unit_test(gradients_of_embeddings_are_slopes),
        cmocka_unit_test(gradient_of_rotation_is_a_slope),
        cmocka_unit_test(gradient_of_glu_is_a_slope),
        cmocka_unit_test(gradients_of_adapters_are_slopes),
        cmocka_unit_test(gradient_of_dropout_is_dropout_of_the_gradient),
        cmocka_unit_test(gradient_of_the_loss_is_a_slope),
    };
    return cmocka_run_group_tests_name("op_gradient", tests, NULL, NULL);
}
