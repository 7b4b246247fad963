#include "support/ops/matmul_case.h"

#include "support/ops/reference.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

struct arrays {
    struct op_array *a;
    struct op_array *b;
    struct op_array *c;
    struct op_array *bias; /* NULL where there is none, as what follows */
    struct op_array *add;
    struct op_array *aux;
    struct op_array *sums;
};

bool matmul_case_goes_back(enum yk_matmul_epilogue epilogue)
{
    return epilogue == YK_EPILOGUE_GELU_BACKWARD || epilogue == YK_EPILOGUE_GELU_ERF_BACKWARD ||
           epilogue == YK_EPILOGUE_RELU_BACKWARD || epilogue == YK_EPILOGUE_RELU_SQUARED_BACKWARD ||
           epilogue == YK_EPILOGUE_SILU_BACKWARD;
}

static void begin(struct op_bench *bench, const struct matmul_case *one)
{
    static const char *const endings[] = {
        [YK_EPILOGUE_NONE] = "",
        [YK_EPILOGUE_GELU] = " gelu",
        [YK_EPILOGUE_GELU_ERF] = " gelu_erf",
        [YK_EPILOGUE_RELU] = " relu",
        [YK_EPILOGUE_RELU_SQUARED] = " relu_squared",
        [YK_EPILOGUE_SILU] = " silu",
        [YK_EPILOGUE_GELU_BACKWARD] = " gelu_back",
        [YK_EPILOGUE_GELU_ERF_BACKWARD] = " gelu_erf_back",
        [YK_EPILOGUE_RELU_BACKWARD] = " relu_back",
        [YK_EPILOGUE_RELU_SQUARED_BACKWARD] = " relu_squared_back",
        [YK_EPILOGUE_SILU_BACKWARD] = " silu_back",
    };
    static const char *const adds[] = {"", " +add", " +c"};
    static const char *const sums[] = {"", " sums of a", " sums of b", " sums of c"};
    char more[128] = "";
    if (one->round > 0 || one->cuts[0] > 0 || one->sums_of != YK_MATMUL_ROW_SUM_NONE) {
        (void)snprintf(more, sizeof more, " strides of %lld%s cut at %lld and %lld%s %s",
                       (long long)one->round, one->loose ? " but of add and aux" : "",
                       (long long)one->cuts[0], (long long)one->cuts[1], sums[one->sums_of],
                       yk_precision_name(one->sums_type));
    }
    op_bench_begin(bench, "matmul %lldx%lldx%lld gap %lld a %s%s b %s%s c %s%s%s%s%s%s%s",
                   (long long)one->m, (long long)one->n, (long long)one->k, (long long)one->gap,
                   yk_precision_name(one->types[0]), one->a_transposed ? "^T" : "",
                   yk_precision_name(one->types[1]), one->b_transposed ? "^T" : "",
                   yk_precision_name(one->types[2]), one->accumulate ? " accumulate" : "",
                   one->bias ? " +bias" : "", adds[one->add], endings[one->epilogue],
                   one->aux ? " aux" : "", more);
}

/* ---- arrays ---- */

static int64_t rounded_up(const struct matmul_case *one, int64_t stride)
{
    return one->round > 0 ? (stride + one->round - 1) / one->round * one->round : stride;
}

static struct op_array *allocate_add(struct op_bench *bench, const struct matmul_case *one)
{
    const int64_t wanted = one->n + 3 * one->gap;
    return op_drawn(bench, one->types[2], one->m, one->n,
                    one->loose ? wanted : rounded_up(one, wanted), 2);
}

static struct op_array *allocate_aux(struct op_bench *bench, const struct matmul_case *one)
{
    const int64_t wanted = one->n + 2 * one->gap;
    const int64_t stride = one->loose ? wanted : rounded_up(one, wanted);
    if (!one->aux) {
        return NULL;
    }
    if (!matmul_case_goes_back(one->epilogue)) {
        return op_poisoned(bench, one->types[2], one->m, one->n, stride);
    }
    struct op_array *aux = op_drawn(bench, one->types[2], one->m, one->n, stride, 4);
    for (int64_t i = 0; i < one->m * one->n; i += 3) {
        aux->values[i] = 0; /* what most numbers are that a ReLU gave */
    }
    op_store(aux);
    return aux;
}

static struct op_array *allocate_sums(struct op_bench *bench, const struct matmul_case *one)
{
    const int64_t count = one->sums_of == YK_MATMUL_ROW_SUM_A ? one->m : one->n;
    if (one->sums_of == YK_MATMUL_ROW_SUM_NONE) {
        return NULL;
    }
    return op_drawn(bench, one->sums_type, 1, count, count, 2);
}

static struct arrays allocate_arrays(struct op_bench *bench, const struct matmul_case *one)
{
    const double size = one->size > 0 ? one->size : 1;
    const int64_t a_rows = one->a_transposed ? one->k : one->m;
    const int64_t a_columns = one->a_transposed ? one->m : one->k;
    const int64_t a_stride = rounded_up(one, a_columns + one->gap);
    const int64_t b_rows = one->b_transposed ? one->n : one->k;
    const int64_t b_columns = one->b_transposed ? one->k : one->n;
    const int64_t b_stride = rounded_up(one, b_columns + 2 * one->gap);
    const int64_t c_stride = rounded_up(one, one->n + one->gap);
    const enum yk_precision c_type = one->types[2];
    struct arrays arrays = {0};
    arrays.a = op_drawn(bench, one->types[0], a_rows, a_columns, a_stride, size);
    arrays.b = op_drawn(bench, one->types[1], b_rows, b_columns, b_stride, size);
    arrays.c = one->accumulate || one->add == ADD_C
                   ? op_drawn(bench, c_type, one->m, one->n, c_stride, 2)
                   : op_poisoned(bench, c_type, one->m, one->n, c_stride);
    arrays.bias = one->bias ? op_drawn(bench, one->bias_type, 1, one->n, one->n, 2) : NULL;
    arrays.add = one->add == ADD ? allocate_add(bench, one) : one->add == ADD_C ? arrays.c : NULL;
    arrays.aux = allocate_aux(bench, one);
    arrays.sums = allocate_sums(bench, one);
    return arrays;
}

/* ---- the op ---- */

static void *device_of(const struct op_array *array)
{
    return array ? array->device : NULL;
}

static int64_t stride_of(const struct op_array *array)
{
    return array ? array->stride : 0;
}

static const double *values_of(const struct op_array *array)
{
    return array ? array->values : NULL;
}

static struct yk_matmul_op op_of(const struct matmul_case *one, const struct arrays *arrays)
{
    return (struct yk_matmul_op){
        .m = one->m,
        .n = one->n,
        .k = one->k,
        .a = arrays->a->device,
        .b = arrays->b->device,
        .c = arrays->c->device,
        .a_stride = arrays->a->stride,
        .b_stride = arrays->b->stride,
        .c_stride = arrays->c->stride,
        .a_transposed = one->a_transposed,
        .b_transposed = one->b_transposed,
        .accumulate = one->accumulate,
        .a_type = one->types[0],
        .b_type = one->types[1],
        .c_type = one->types[2],
        .bias_type = one->bias_type,
        .scale = one->scale != 0 ? (float)one->scale : 1,
        .bias = device_of(arrays->bias),
        .add = device_of(arrays->add),
        .add_stride = stride_of(arrays->add),
        .epilogue = one->epilogue,
        .aux = device_of(arrays->aux),
        .aux_stride = stride_of(arrays->aux),
        .split_columns = {one->cuts[0], one->cuts[1]},
        .sums_of = one->sums_of,
        .row_sums = device_of(arrays->sums),
        .sums_type = one->sums_type,
    };
}

/* What the op's results should be, beside what they are. */
static void expect(struct op_bench *bench, const struct yk_matmul_op *op,
                   const struct matmul_case *one, const struct arrays *arrays)
{
    const struct reference_matmul numbers = {
        .a = arrays->a->values,
        .b = arrays->b->values,
        .bias = values_of(arrays->bias),
        .add = values_of(arrays->add),
        .aux = values_of(arrays->aux),
        .c = op_copy(bench, arrays->c),
        .inner = op_room(bench, one->m * one->n),
    };
    reference_matmul(op, &numbers);
    double tolerance = op_tolerance(bench, arrays->c);
    if (yk_precision_bytes(op->a_type) != yk_precision_bytes(op->b_type)) {
        tolerance = fmax(tolerance, bench->mixed_tolerance);
    }
    op_expect_within(bench, arrays->c, "c", numbers.c, 0, tolerance);
    if (one->aux &&
        (one->epilogue == YK_EPILOGUE_GELU || one->epilogue == YK_EPILOGUE_GELU_ERF ||
         one->epilogue == YK_EPILOGUE_RELU_SQUARED || one->epilogue == YK_EPILOGUE_SILU)) {
        op_expect_within(bench, arrays->aux, "aux", numbers.inner, 0, tolerance);
    }
    if (arrays->sums) {
        const double *from = op->sums_of == YK_MATMUL_ROW_SUM_A   ? arrays->a->values
                             : op->sums_of == YK_MATMUL_ROW_SUM_B ? arrays->b->values
                                                                  : arrays->c->results;
        double *sums = op_copy(bench, arrays->sums);
        reference_matmul_sums(op, from, sums);
        op_expect(bench, arrays->sums, "sums", sums, 0);
    }
}

void matmul_case_try(struct op_bench *bench, const struct matmul_case *one)
{
    if (bench->every > 0 && !one->own && bench->passed++ % bench->every != 0) {
        return;
    }
    begin(bench, one);
    const struct arrays arrays = allocate_arrays(bench, one);
    const struct yk_matmul_op op = op_of(one, &arrays);
    op_bench_upload(bench);
    bench->backend->matmul(bench->lane, &op);
    op_bench_run(bench);
    expect(bench, &op, one, &arrays);
    op_bench_end(bench);
}
