#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct attend_case {
    int64_t batch;
    int64_t queries;
    int64_t keys;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    int64_t gap; /* by how much strides are larger than rows, or one of the places below */
    bool causal;
    bool lengths;
    float rate;
    double size; /* of q and k; 0: 1. Large ones make chances of almost 0 and 1 */
    int64_t window;
    float softcap;
};

/* Instead of a gap: q, k and v in one array. */
enum {
    FUSED = -1,       /* all heads of q, then those of k, then those of v */
    INTERLEAVED = -2, /* q, k and v of the first head, then those of the second one (GPT-NeoX) */
};

static const struct attend_case cases[] = {
    {1, 1, 1, 1, 1, 1, 0, false, false, 0, 0, 0, 0},
    {1, 1, 1, 2, 1, 8, 0, true, false, 0, 0, 0, 0},
    {2, 3, 7, 1, 1, 17, 3, false, false, 0, 0, 0, 0},
    {2, 7, 7, 3, 3, 8, 0, true, false, 0, 0, 0, 0},
    {2, 17, 17, 4, 2, 16, -1, true, false, 0, 0, 0, 0},
    {2, 65, 65, 2, 2, 64, -1, true, false, 0.3F, 0, 0, 0},
    {1, 129, 129, 2, 1, 16, 0, true, false, 0, 0, 0, 0},
    {1, 130, 130, 2, 1, 20, 5, false, false, 0, 0, 0, 0},
    {1, 129, 129, 2, 2, 16, 8, true, false, 0.3F, 0, 0, 0},
    {2, 130, 130, 8, 4, 8, 0, true, false, 0, 0, 0, 0}, /* as many heads as threads could want */
    {1, 17, 130, 4, 1, 16, 0, true, false, 0, 0, 0, 0}, /* keys from before the first query */
    {2, 7, 65, 2, 2, 17, 1, true, true, 0.3F, 0, 0, 0},
    {1, 1, 257, 4, 2, 32, 0, true, false, 0, 0, 0, 0}, /* the next token */
    {3, 17, 65, 2, 1, 64, 0, false, true, 0, 0, 0, 0},
    {3, 65, 65, 2, 2, 16, 4, true, true, 0, 0, 0, 0},
    {3, 33, 33, 2, 2, 8, -1, false, true, 0.3F, 0, 0, 0},
    {2, 65, 17, 2, 2, 16, 0, false, false, 0, 0, 0, 0}, /* more queries than keys */
    {1, 40, 40, 1, 1, 128, 0, true, false, 0, 0, 0, 0},
    {1, 40, 40, 2, 2, 80, 0, true, false, 0, 0, 0, 0},
    {1, 70, 70, 1, 1, 256, 0, true, false, 0, 0, 0, 0},
    {1, 33, 65, 2, 1, 16, 0, true, false, 0, 5, 0, 0},
    {0, 7, 7, 2, 2, 8, 0, true, false, 0, 0, 0, 0},
    {2, 0, 7, 2, 2, 8, 0, true, false, 0, 0, 0, 0},
    {1, 70, 70, 2, 1, 96, 0, true, false, 0, 0, 0, 0},
    /* Windows of one key, less than a tile of keys, a tile, more than one, and more than all. */
    {1, 150, 150, 2, 2, 80, -1, true, false, 0, 0, 1, 0},
    {1, 150, 150, 2, 1, 96, 8, true, false, 0, 0, 33, 0},
    {1, 200, 200, 2, 1, 64, 0, true, false, 0, 0, 64, 0},
    {1, 140, 140, 1, 1, 256, 0, true, false, 0, 0, 65, 0},
    {1, 270, 270, 1, 1, 128, -1, true, false, 0, 0, 128, 0},
    {1, 300, 300, 2, 1, 16, 0, true, false, 0, 0, 129, 0},
    {1, 70, 70, 2, 2, 64, 0, true, false, 0, 0, 500, 0},
    {2, 17, 150, 2, 1, 64, 0, true, false, 0, 0, 20, 0},
    {1, 1, 257, 4, 2, 64, 0, true, false, 0, 0, 100, 0},
    {2, 300, 300, 8, 4, 8, 0, true, false, 0, 0, 40, 0}, /* as many heads as threads could want */
    {1, 200, 200, 2, 1, 64, 0, false, false, 0, 0, 40, 0},
    {1, 280, 280, 1, 1, 128, 0, false, false, 0, 0, 64, 0},
    {1, 130, 130, 2, 2, 32, -1, false, false, 0, 0, 1, 0},
    {3, 140, 140, 2, 2, 64, 4, false, true, 0, 0, 30, 0}, /* queries far behind all keys */
    {2, 140, 140, 2, 1, 80, 0, true, true, 0.3F, 0, 30, 0},
    {2, 65, 17, 2, 2, 16, 0, false, false, 0, 0, 5, 0}, /* queries far before all keys */
    /* Caps near the scores, below most of them, and beyond them. */
    {1, 130, 130, 2, 2, 128, -1, true, false, 0, 0, 0, 0.5F},
    {1, 70, 70, 2, 1, 64, 0, true, false, 0, 5, 0, 5},
    {1, 33, 65, 2, 1, 96, 8, false, false, 0.3F, 5, 0, 50},
    {1, 140, 140, 2, 1, 256, 0, true, false, 0, 5, 64, 50},
    {2, 140, 140, 4, 2, 64, 8, true, true, 0.3F, 0, 50, 1},
    {3, 70, 70, 4, 2, 80, -1, false, true, 0.3F, 0, 17, 1},
    /* q, k and v of every head side by side. */
    {1, 40, 40, 2, 2, 128, -2, true, false, 0, 0, 0, 0},
    {2, 65, 65, 2, 2, 80, -2, true, false, 0.3F, 0, 0, 0},
    {1, 100, 100, 4, 4, 96, -2, true, false, 0, 0, 0, 0},
    {1, 33, 33, 2, 2, 256, -2, false, false, 0, 0, 0, 0},
    {2, 65, 65, 8, 8, 17, -2, true, false, 0, 0, 0, 0},
    {2, 140, 140, 3, 3, 64, -2, true, true, 0.3F, 0, 30, 1},
};

/* One case on the bench: q, k and v are of their own, or parts of `fused`. */
struct setting {
    struct yk_attention_op op;
    struct reference_attention numbers;
    int64_t q_width;
    int64_t kv_width;
    int64_t q_rows;
    int64_t kv_rows;
    struct op_array *fused; /* (B·T, q_width + 2 · kv_width), or NULL */
};

static void begin(struct op_bench *bench, const char *op, const struct attend_case *one,
                  enum yk_precision type)
{
    op_bench_begin(bench,
                   "%s %s B %lld T %lld S %lld heads %lld/%lld x %lld gap %lld window %lld cap "
                   "%g%s%s%s%s",
                   op, yk_precision_name(type), (long long)one->batch, (long long)one->queries,
                   (long long)one->keys, (long long)one->heads, (long long)one->kv_heads,
                   (long long)one->head_size, (long long)one->gap, (long long)one->window,
                   (double)one->softcap, one->causal ? " causal" : "",
                   one->lengths ? " lengths" : "", one->rate > 0 ? " dropout" : "",
                   one->size > 0 ? " large" : "");
}

/* Copies the heads of q, k or v (`which` 0, 1 or 2) from rows with all three to rows of their own,
 * or back. */
static void move_heads(const struct yk_attention_op *op, int which, int64_t rows, double *together,
                       double *apart, bool back)
{
    for (int64_t i = 0; i < rows * op->heads; i++) {
        double *one = together + (3 * i + which) * op->head_size;
        double *other = apart + i * op->head_size;
        memcpy(back ? one : other, back ? other : one, (size_t)op->head_size * sizeof *one);
    }
}

static void place_interleaved(struct op_bench *bench, struct setting *setting)
{
    const int64_t width = 3 * setting->q_width;
    const double **numbers[3] = {&setting->numbers.q, &setting->numbers.k, &setting->numbers.v};
    struct op_array *fused = op_drawn(bench, setting->op.type, setting->q_rows, width, width, 1);
    setting->fused = fused;
    setting->op.q = fused->device;
    setting->op.k = op_at(fused, setting->op.head_size);
    setting->op.v = op_at(fused, 2 * setting->op.head_size);
    setting->op.q_stride = setting->op.k_stride = setting->op.v_stride = width;
    setting->op.head_stride = 3 * setting->op.head_size;
    for (int i = 0; i < 3; i++) {
        double *apart = op_room(bench, setting->q_rows * setting->q_width);
        move_heads(&setting->op, i, setting->q_rows, fused->values, apart, false);
        *numbers[i] = apart;
    }
}

static void place_fused(struct op_bench *bench, struct setting *setting)
{
    const int64_t width = setting->q_width + 2 * setting->kv_width;
    struct op_array *fused = op_drawn(bench, setting->op.type, setting->q_rows, width, width, 1);
    setting->fused = fused;
    setting->op.q = fused->device;
    setting->op.k = op_at(fused, setting->q_width);
    setting->op.v = op_at(fused, setting->q_width + setting->kv_width);
    setting->op.q_stride = setting->op.k_stride = setting->op.v_stride = width;
    setting->numbers.q = op_columns(bench, fused, 0, setting->q_width);
    setting->numbers.k = op_columns(bench, fused, setting->q_width, setting->kv_width);
    setting->numbers.v =
        op_columns(bench, fused, setting->q_width + setting->kv_width, setting->kv_width);
}

static void place_apart(struct op_bench *bench, const struct attend_case *one,
                        struct setting *setting)
{
    const double size = one->size > 0 ? one->size : 1;
    const enum yk_precision type = setting->op.type;
    setting->op.q_stride = setting->q_width + one->gap;
    setting->op.k_stride = setting->kv_width + 2 * one->gap;
    setting->op.v_stride = setting->kv_width + 3 * one->gap;
    struct op_array *q =
        op_drawn(bench, type, setting->q_rows, setting->q_width, setting->op.q_stride, size);
    struct op_array *k =
        op_drawn(bench, type, setting->kv_rows, setting->kv_width, setting->op.k_stride, size);
    struct op_array *v =
        op_drawn(bench, type, setting->kv_rows, setting->kv_width, setting->op.v_stride, 1);
    setting->op.q = q->device;
    setting->op.k = k->device;
    setting->op.v = v->device;
    setting->numbers.q = q->values;
    setting->numbers.k = k->values;
    setting->numbers.v = v->values;
}

static struct setting set_up(struct op_bench *bench, const struct attend_case *one,
                             enum yk_precision type)
{
    struct setting setting = {
        .op =
            {
                .batch = one->batch,
                .queries = one->queries,
                .keys = one->keys,
                .heads = one->heads,
                .kv_heads = one->kv_heads,
                .head_size = one->head_size,
                .type = type,
                .scale = 1 / sqrtf((float)one->head_size),
                .softcap = one->softcap,
                .causal = one->causal,
                .window = one->window,
                .dropout = {one->rate, 0x0123456789abcdefU, 0xfedcba9800000007U, 41},
            },
        .q_width = one->heads * one->head_size,
        .kv_width = one->kv_heads * one->head_size,
        .q_rows = one->batch * one->queries,
        .kv_rows = one->batch * one->keys,
    };
    setting.op.out_stride = setting.q_width + (one->gap > 0 ? one->gap : 0);
    if (one->gap == INTERLEAVED) {
        place_interleaved(bench, &setting);
    } else if (one->gap == FUSED) {
        place_fused(bench, &setting);
    } else {
        place_apart(bench, one, &setting);
    }
    if (one->lengths) {
        struct op_array *lengths = op_indices(bench, one->batch, 1, (int32_t)one->keys + 1);
        /* With one key the scores have no gradient; only in fp32 is what is left small. */
        lengths->indices[0] = type == FP32 ? 1 : 2;
        op_store(lengths);
        setting.op.lengths = lengths->device;
        setting.numbers.lengths = lengths->indices;
    }
    return setting;
}

static void try_attention(struct op_bench *bench, const struct attend_case *one,
                          enum yk_precision type, bool with_sums)
{
    begin(bench, with_sums ? "attention" : "attention without sums", one, type);
    struct setting setting = set_up(bench, one, type);
    struct op_array *out =
        op_poisoned(bench, type, setting.q_rows, setting.q_width, setting.op.out_stride);
    struct op_array *sums =
        op_poisoned(bench, FP32, one->batch * one->heads, one->queries, one->queries);
    setting.op.out = out->device;
    setting.op.log_sum_exp = with_sums ? sums->device : NULL;
    op_bench_upload(bench);
    bench->backend->attention(bench->lane, &setting.op);
    op_bench_run(bench);
    double *expected_out = op_room(bench, setting.q_rows * setting.q_width);
    double *expected_sums = op_room(bench, setting.q_rows * one->heads);
    reference_attention(&setting.op, &setting.numbers, expected_out, expected_sums);
    op_expect(bench, out, "out", expected_out, 0);
    if (with_sums) {
        op_expect(bench, sums, "sums", expected_sums, 0.1);
    }
    op_bench_end(bench);
}

/* dq, dk and dv: of their own with other strides than those of q, k and v, or in one array. */
struct gradients {
    struct op_array *fused;
    struct op_array *parts[3];
    double *expected[3];
    int64_t widths[3];
    double sizes[3]; /* of their numbers before terms cancel */
};

/*
 * A query's chances are about 1 / n where it sees n keys, and the squares of n of them sum to 1 /
 * n; they multiply differences that are as large as a product of d_out and v. Where n is 1 nothing
 * is left of the difference but the rounding of `out`.
 */
static void find_sizes(const struct attend_case *one, const struct setting *setting,
                       double sizes[3])
{
    const double score = 0.2 * (double)setting->op.scale * sqrt((double)one->head_size) *
                         (one->size > 0 ? one->size : 1) / (1 - (double)one->rate);
    const int32_t *lengths = setting->numbers.lengths;
    double squares = 0;
    for (int64_t i = 0; i < setting->q_rows; i++) {
        int64_t visible = 0;
        for (int64_t s = 0; s < one->keys; s++) {
            visible += reference_attention_sees(&setting->op, lengths, i / one->queries,
                                                i % one->queries, s);
        }
        squares += visible > 0 ? score * score / (double)visible : 0;
    }
    const double group = (double)one->heads / (double)one->kv_heads;
    sizes[0] = setting->q_rows > 0 ? sqrt(squares / (double)setting->q_rows) : 0;
    sizes[1] = setting->kv_rows > 0 ? sqrt(group * squares / (double)setting->kv_rows) : 0;
    sizes[2] = 0;
}

static void place_gradients(struct op_bench *bench, const struct attend_case *one,
                            const struct setting *setting, struct yk_attention_backward_op *op,
                            struct gradients *out)
{
    const enum yk_precision type = setting->op.type;
    const int64_t width = setting->q_width + 2 * setting->kv_width;
    const int64_t rows[3] = {setting->q_rows, setting->kv_rows, setting->kv_rows};
    void **pointers[3] = {&op->dq, &op->dk, &op->dv};
    int64_t *strides[3] = {&op->dq_stride, &op->dk_stride, &op->dv_stride};
    int64_t first = 0;
    out->widths[0] = setting->q_width;
    out->widths[1] = out->widths[2] = setting->kv_width;
    if (one->gap < 0) {
        out->fused = op_poisoned(bench, type, setting->q_rows, width, width);
    }
    for (int i = 0; i < 3; i++) {
        out->expected[i] = op_room(bench, rows[i] * out->widths[i]);
        if (out->fused) {
            *pointers[i] = op_at(out->fused, one->gap == FUSED ? first : i * one->head_size);
            *strides[i] = width;
        } else {
            const int64_t stride = out->widths[i] + (i + 2) * one->gap;
            out->parts[i] = op_poisoned(bench, type, rows[i], out->widths[i], stride);
            *pointers[i] = out->parts[i]->device;
            *strides[i] = stride;
        }
        first += out->widths[i];
    }
    find_sizes(one, setting, out->sizes);
}

static void expect_gradients(struct op_bench *bench, const struct yk_attention_op *op,
                             struct gradients *gradients)
{
    static const char *const names[] = {"dq", "dk", "dv"};
    if (!gradients->fused) {
        for (int i = 0; i < 3; i++) {
            op_expect(bench, gradients->parts[i], names[i], gradients->expected[i],
                      gradients->sizes[i]);
        }
        return;
    }
    const int64_t width = gradients->fused->columns;
    double *all = op_room(bench, gradients->fused->rows * width);
    for (int i = 0; op->head_stride > 0 && i < 3; i++) {
        move_heads(op, i, gradients->fused->rows, all, gradients->expected[i], true);
    }
    for (int64_t row = 0; op->head_stride == 0 && row < gradients->fused->rows; row++) {
        double *to = all + row * width;
        for (int i = 0; i < 3; i++) {
            const int64_t count = gradients->widths[i];
            memcpy(to, gradients->expected[i] + row * count, (size_t)count * sizeof *to);
            to += count;
        }
    }
    op_expect(bench, gradients->fused, "dq, dk and dv side by side", all, gradients->sizes[1]);
}

static void try_attention_backward(struct op_bench *bench, const struct attend_case *one,
                                   enum yk_precision type)
{
    begin(bench, "attention_backward", one, type);
    struct setting setting = set_up(bench, one, type);
    double *out_values = op_room(bench, setting.q_rows * setting.q_width);
    double *sum_values = op_room(bench, setting.q_rows * one->heads);
    reference_attention(&setting.op, &setting.numbers, out_values, sum_values);
    struct op_array *out =
        op_given(bench, type, setting.q_rows, setting.q_width, setting.op.out_stride, out_values);
    struct op_array *sums =
        op_given(bench, FP32, one->batch * one->heads, one->queries, one->queries, sum_values);
    struct op_array *d_out =
        op_drawn(bench, type, setting.q_rows, setting.q_width, setting.op.out_stride, 1);
    setting.op.out = out->device;
    setting.op.log_sum_exp = sums->device;
    struct yk_attention_backward_op op = {.forward = setting.op, .d_out = d_out->device};
    struct gradients gradients = {0};
    place_gradients(bench, one, &setting, &op, &gradients);
    op_bench_upload(bench);
    bench->backend->attention_backward(bench->lane, &op);
    op_bench_run(bench);
    reference_attention_backward(&setting.op, &setting.numbers, d_out->values,
                                 gradients.expected[0], gradients.expected[1],
                                 gradients.expected[2]);
    expect_gradients(bench, &setting.op, &gradients);
    op_bench_end(bench);
}

/* The larger ones go without fp16, to save time, but for windows, which need large ones. */
static int types_of(const struct attend_case *one)
{
    return one->queries * one->keys > 10000 && one->window == 0 ? OP_TYPES - 1 : OP_TYPES;
}

void op_table_attention(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int j = 0; j < types_of(&cases[i]); j++) {
            try_attention(bench, &cases[i], op_types[j], true);
        }
    }
    try_attention(bench, &cases[6], FP32, false);
}

void op_table_attention_backward(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int j = 0; j < types_of(&cases[i]); j++) {
            try_attention_backward(bench, &cases[i], op_types[j]);
        }
    }
}
