#include "support/op_reference.h"
#include "support/op_table.h"

#include <math.h>
#include <stddef.h>

enum addend {
    NO_ADD,
    ADD,
    ADD_C, /* c itself */
};

struct matmul_case {
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t gap; /* by how much strides are larger than rows */
    enum yk_precision types[3];
    bool a_transposed;
    bool b_transposed;
    bool accumulate;
    bool bias;
    enum yk_precision bias_type;
    enum addend add;
    bool aux;
    enum yk_ending ending;
    double size;  /* of the numbers in a and b; 0: 1 */
    double scale; /* 0: 1 */
};

static bool goes_back(enum yk_ending ending)
{
    return ending == YK_ENDING_GELU_BACK || ending == YK_ENDING_GELU_ERF_BACK ||
           ending == YK_ENDING_RELU_BACK || ending == YK_ENDING_SILU_BACK;
}

static void begin(struct op_bench *bench, const struct matmul_case *one)
{
    static const char *const endings[] = {"",          " gelu",      " gelu_erf",      " relu",
                                          " silu",     " gelu_back", " gelu_erf_back", " relu_back",
                                          " silu_back"};
    static const char *const adds[] = {"", " +add", " +c"};
    op_bench_begin(bench, "matmul %lldx%lldx%lld gap %lld a %s%s b %s%s c %s%s%s%s%s%s",
                   (long long)one->m, (long long)one->n, (long long)one->k, (long long)one->gap,
                   yk_precision_name(one->types[0]), one->a_transposed ? "^T" : "",
                   yk_precision_name(one->types[1]), one->b_transposed ? "^T" : "",
                   yk_precision_name(one->types[2]), one->accumulate ? " accumulate" : "",
                   one->bias ? " +bias" : "", adds[one->add], endings[one->ending],
                   one->aux ? " aux" : "");
}

/* What the op's results should be, beside what they are. */
static void expect(struct op_bench *bench, const struct yk_matmul *op,
                   const struct matmul_case *one, const struct reference_matmul *given,
                   struct op_array *c, struct op_array *aux)
{
    struct reference_matmul numbers = *given;
    numbers.c = op_copy(bench, c);
    numbers.inner = op_room(bench, one->m * one->n);
    reference_matmul(op, &numbers);
    double tolerance = op_tolerance(bench, c);
    if (yk_precision_bytes(op->a_type) != yk_precision_bytes(op->b_type)) {
        tolerance = fmax(tolerance, bench->mixed_tolerance);
    }
    op_expect_within(bench, c, "c", numbers.c, 0, tolerance);
    if (one->aux && (one->ending == YK_ENDING_GELU || one->ending == YK_ENDING_GELU_ERF ||
                     one->ending == YK_ENDING_SILU)) {
        op_expect_within(bench, aux, "aux", numbers.inner, 0, tolerance);
    }
}

static struct op_array *take_aux(struct op_bench *bench, const struct matmul_case *one)
{
    const int64_t stride = one->n + 2 * one->gap;
    if (!one->aux) {
        return NULL;
    }
    if (!goes_back(one->ending)) {
        return op_poisoned(bench, one->types[2], one->m, one->n, stride);
    }
    struct op_array *aux = op_drawn(bench, one->types[2], one->m, one->n, stride, 4);
    for (int64_t i = 0; i < one->m * one->n; i += 3) {
        aux->values[i] = 0; /* what most numbers are that a ReLU gave */
    }
    op_store(aux);
    return aux;
}

static void try_matmul(struct op_bench *bench, const struct matmul_case *one)
{
    begin(bench, one);
    const double size = one->size > 0 ? one->size : 1;
    const int64_t a_rows = one->a_transposed ? one->k : one->m;
    const int64_t a_columns = one->a_transposed ? one->m : one->k;
    const int64_t b_rows = one->b_transposed ? one->n : one->k;
    const int64_t b_columns = one->b_transposed ? one->k : one->n;
    const enum yk_precision c_type = one->types[2];
    struct op_array *a =
        op_drawn(bench, one->types[0], a_rows, a_columns, a_columns + one->gap, size);
    struct op_array *b =
        op_drawn(bench, one->types[1], b_rows, b_columns, b_columns + 2 * one->gap, size);
    struct op_array *c = one->accumulate || one->add == ADD_C
                             ? op_drawn(bench, c_type, one->m, one->n, one->n + one->gap, 2)
                             : op_poisoned(bench, c_type, one->m, one->n, one->n + one->gap);
    struct op_array *bias =
        one->bias ? op_drawn(bench, one->bias_type, 1, one->n, one->n, 2) : NULL;
    struct op_array *add =
        one->add == ADD ? op_drawn(bench, c_type, one->m, one->n, one->n + 3 * one->gap, 2) : c;
    struct op_array *aux = take_aux(bench, one);
    const struct yk_matmul op = {
        .m = one->m,
        .n = one->n,
        .k = one->k,
        .a = a->device,
        .b = b->device,
        .c = c->device,
        .a_stride = a->stride,
        .b_stride = b->stride,
        .c_stride = c->stride,
        .a_transposed = one->a_transposed,
        .b_transposed = one->b_transposed,
        .accumulate = one->accumulate,
        .a_type = one->types[0],
        .b_type = one->types[1],
        .c_type = c_type,
        .bias_type = one->bias_type,
        .scale = one->scale != 0 ? (float)one->scale : 1,
        .bias = bias ? bias->device : NULL,
        .add = one->add != NO_ADD ? add->device : NULL,
        .add_stride = add->stride,
        .ending = one->ending,
        .aux = aux ? aux->device : NULL,
        .aux_stride = aux ? aux->stride : 0,
    };
    op_bench_upload(bench);
    bench->backend->matmul(bench->lane, &op);
    op_bench_run(bench);
    const struct reference_matmul numbers = {
        .a = a->values,
        .b = b->values,
        .bias = bias ? bias->values : NULL,
        .add = one->add != NO_ADD ? add->values : NULL,
        .aux = aux ? aux->values : NULL,
    };
    expect(bench, &op, one, &numbers, c, aux);
    op_bench_end(bench);
}

/* All four ways of storing a and b. */
static void try_transpositions(struct op_bench *bench, struct matmul_case one)
{
    for (int i = 0; i < 4; i++) {
        one.a_transposed = i & 1;
        one.b_transposed = i & 2;
        try_matmul(bench, &one);
    }
}

static void try_sizes(struct op_bench *bench)
{
    static const int64_t sizes[][4] = {{1, 1, 1, 0},      {3, 7, 17, 0},   {17, 1, 65, 3},
                                       {1, 130, 7, 1},    {7, 3, 1, 5},    {65, 17, 130, 0},
                                       {130, 65, 17, 16}, {64, 64, 64, 0}, {33, 129, 64, 8}};
    static const enum yk_precision types[][3] = {
        {FP32, FP32, FP32}, {BF16, BF16, BF16}, {FP16, FP16, FP16}, {BF16, FP32, FP32},
        {FP32, FP16, FP16}, {BF16, BF16, FP32}, {FP16, FP16, FP32}, {FP32, BF16, BF16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            try_transpositions(bench, (struct matmul_case){
                                          .m = sizes[i][0],
                                          .n = sizes[i][1],
                                          .k = sizes[i][2],
                                          .gap = sizes[i][3],
                                          .types = {types[j][0], types[j][1], types[j][2]},
                                      });
        }
    }
}

/* Endings with all that comes before them, in every type; rows of odd size or not. */
static void try_endings(struct op_bench *bench, int64_t n, int64_t gap)
{
    for (int i = 0; i < OP_TYPES; i++) {
        for (int ending = YK_ENDING_NONE; ending <= YK_ENDING_SILU_BACK; ending++) {
            struct matmul_case one = {
                .m = 17,
                .n = n,
                .k = 7,
                .gap = gap,
                .types = {op_types[i], op_types[i], op_types[i]},
                .b_transposed = true,
                .bias = true,
                .bias_type = op_types[i],
                .add = ADD,
                .aux = ending != YK_ENDING_NONE,
                .ending = (enum yk_ending)ending,
                .scale = 0.5,
            };
            try_matmul(bench, &one);
            one.bias_type = FP32;
            one.add = ADD_C;
            one.size = 8; /* far into where the endings are flat */
            try_matmul(bench, &one);
            one.bias = false;
            one.add = NO_ADD;
            one.gap = 0;
            one.aux = goes_back((enum yk_ending)ending);
            one.size = 1;
            try_matmul(bench, &one);
        }
    }
}

void op_table_matmul(struct op_bench *bench)
{
    static const struct matmul_case cases[] = {
        {.m = 130, .n = 257, .k = 65, .types = {FP32, FP32, FP32}, .accumulate = true},
        {.m = 65, .n = 17, .k = 130, .gap = 3, .types = {BF16, BF16, FP32}, .accumulate = true},
        {.m = 65, .n = 17, .k = 3, .types = {BF16, BF16, BF16}, .accumulate = true, .scale = 2},
        {.m = 65, .n = 17, .k = 3, .types = {FP16, FP16, FP16}, .accumulate = true, .scale = -1},
        /* A weight's gradient: dyᵀ x. */
        {.m = 48,
         .n = 65,
         .k = 257,
         .types = {FP32, FP32, FP32},
         .a_transposed = true,
         .accumulate = true},
        {.m = 48,
         .n = 65,
         .k = 257,
         .types = {BF16, BF16, FP32},
         .a_transposed = true,
         .accumulate = true},
        {.m = 130, .n = 257, .k = 17, .types = {FP32, FP32, FP32}, .add = ADD_C, .bias = true},
        {.m = 1, .n = 1000, .k = 65, .types = {FP32, FP32, FP32}, .b_transposed = true},
        {.m = 1000, .n = 1, .k = 65, .types = {FP32, FP32, FP32}, .bias = true},
        {.m = 3, .n = 5, .k = 2000, .types = {FP32, FP32, FP32}},
        {.m = 65, .n = 17, .k = 1500, .gap = 3, .types = {FP32, FP32, FP32}, .add = ADD_C},
        {.m = 300,
         .n = 17,
         .k = 1100,
         .gap = 1,
         .types = {BF16, FP32, FP32},
         .a_transposed = true,
         .accumulate = true,
         .scale = 0.5},
        {.m = 3, .n = 5, .k = 2000, .types = {BF16, BF16, FP32}, .b_transposed = true},
        {.m = 257, .n = 385, .k = 300, .types = {FP32, FP32, FP32}},
        {.m = 257,
         .n = 385,
         .k = 300,
         .types = {BF16, BF16, BF16},
         .b_transposed = true,
         .bias = true,
         .bias_type = BF16},
        {.m = 257,
         .n = 384,
         .k = 17,
         .types = {BF16, BF16, BF16},
         .b_transposed = true,
         .bias = true,
         .bias_type = FP32,
         .add = ADD,
         .aux = true,
         .ending = YK_ENDING_GELU},
        /* Nothing to do, or nothing to sum up. */
        {.m = 0, .n = 7, .k = 3, .types = {FP32, FP32, FP32}, .bias = true},
        {.m = 7, .n = 0, .k = 3, .gap = 2, .types = {FP32, FP32, FP32}},
        {.m = 7, .n = 3, .k = 0, .gap = 2, .types = {FP32, FP32, FP32}, .accumulate = true},
        {.m = 7, .n = 3, .k = 0, .gap = 2, .types = {BF16, BF16, FP32}, .bias = true, .add = ADD},
    };
    try_sizes(bench);
    try_endings(bench, 65, 3);
    try_endings(bench, 64, 8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        try_matmul(bench, &cases[i]);
    }
    const struct matmul_case large = {.m = 257, .n = 300, .k = 65, .types = {FP32, FP32, FP32}};
    try_transpositions(bench, large);
}
