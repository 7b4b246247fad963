/*
 * Matrix products: what of an op the library does in one, what is done by kernels of ours after it,
 * and what is brought into another form before it.
 *
 * The library takes two operands of one type and gives that type or fp32. Other products go by way
 * of fp32 in scratch memory, as tf32 where anything in them has 16 bits.
 */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/product_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BF16_CAPABILITY = 80, /* from which products of that type are there */
    TF32_CAPABILITY = 80,
    WIDE_ALIGNMENT = 16,
    AUX_ALIGNMENT = 8, /* numbers, of the rows that GELU stores */
};

struct job {
    struct yk_backend_lane *lane;
    struct yk_matmul op;
};

static bool is_half(enum yk_precision type)
{
    return yk_precision_bytes(type) == 2;
}

static enum yk_precision plain(enum yk_precision type)
{
    return type == YK_PRECISION_TF32 ? YK_PRECISION_FP32 : type;
}

/* ---- as the library sees it ---- */

static int32_t alignment_of(const struct yk_matmul *op)
{
    const uintptr_t all = (uintptr_t)op->a | (uintptr_t)op->b | (uintptr_t)op->c |
                          (uintptr_t)op->add | (uintptr_t)op->aux |
                          (uintptr_t)(op->a_stride * yk_precision_bytes(op->a_type)) |
                          (uintptr_t)(op->b_stride * yk_precision_bytes(op->b_type)) |
                          (uintptr_t)(op->c_stride * yk_precision_bytes(op->c_type));
    int32_t alignment = WIDE_ALIGNMENT;
    while (all % (uintptr_t)alignment != 0) {
        alignment /= 2;
    }
    return alignment;
}

static bool is_aux_aligned(const struct yk_matmul *op)
{
    return op->aux_stride % AUX_ALIGNMENT == 0 && (uintptr_t)op->aux % WIDE_ALIGNMENT == 0;
}

/* What the library may do of an op; the rest is ours. */
static enum yk_product_work work_of(const struct yk_matmul *op)
{
    const bool bias_fits = !op->bias || plain(op->bias_type) == plain(op->c_type);
    if (!bias_fits) {
        return YK_PRODUCT_ALONE;
    }
    switch (op->ending) {
    case YK_ENDING_NONE:
        return op->bias ? YK_PRODUCT_BIAS : YK_PRODUCT_ALONE;
    case YK_ENDING_GELU:
        return !op->aux || is_aux_aligned(op) ? YK_PRODUCT_GELU : YK_PRODUCT_ALONE;
    case YK_ENDING_RELU:
        return YK_PRODUCT_RELU;
    case YK_ENDING_GELU_BACK:
        return !op->bias && is_aux_aligned(op) ? YK_PRODUCT_GELU_BACK : YK_PRODUCT_ALONE;
    default:
        return YK_PRODUCT_ALONE;
    }
}

static bool uses_aux(enum yk_product_work work)
{
    return work == YK_PRODUCT_GELU || work == YK_PRODUCT_GELU_BACK;
}

static struct yk_product_shape shape_of(const struct yk_matmul *op, enum yk_product_work work)
{
    struct yk_product_shape shape;
    memset(&shape, 0, sizeof shape); /* it is compared byte by byte */
    shape.m = op->m;
    shape.n = op->n;
    shape.k = op->k;
    shape.a_stride = op->a_stride;
    shape.b_stride = op->b_stride;
    shape.c_stride = op->c_stride;
    shape.a_type = (int32_t)op->a_type;
    shape.c_type = (int32_t)op->c_type;
    shape.a_transposed = op->a_transposed;
    shape.b_transposed = op->b_transposed;
    shape.alignment = alignment_of(op);
    shape.work = (int32_t)work;
    shape.has_bias = op->bias && work != YK_PRODUCT_ALONE;
    shape.aux_stride = uses_aux(work) && op->aux ? op->aux_stride : 0;
    shape.in_place = op->accumulate || (op->add && op->add == op->c);
    if (shape.in_place) {
        shape.add_stride = op->c_stride;
    } else if (op->add &&
               (work != YK_PRODUCT_ALONE || (!op->bias && op->ending == YK_ENDING_NONE))) {
        shape.add_stride = op->add_stride;
    }
    return shape;
}

void yk_product_shape_alone(struct yk_product_shape *shape)
{
    shape->work = YK_PRODUCT_ALONE;
    shape->has_bias = 0;
    shape->aux_stride = 0;
    shape->add_stride = shape->in_place ? shape->c_stride : 0;
}

static struct yk_product_call call_of(struct yk_backend_lane *lane, const struct yk_matmul *op,
                                      const struct yk_product_shape *shape, void *workspace)
{
    return (struct yk_product_call){
        .stream = lane->stream,
        .a = op->a,
        .b = op->b,
        .add = shape->in_place         ? op->c
               : shape->add_stride > 0 ? op->add
                                       : NULL,
        .c = op->c,
        .bias = shape->has_bias ? op->bias : NULL,
        .aux = shape->aux_stride > 0 ? op->aux : NULL,
        .scale = op->scale,
        .workspace = workspace,
    };
}

/* ---- the rest ---- */

/* What is left of an op when the product, and what was added to it in place, is in c. */
static struct yk_matmul rest_of(const struct yk_matmul *op)
{
    struct yk_matmul rest = *op;
    if (op->add == op->c) {
        rest.add = NULL;
    }
    return rest;
}

static bool is_rest(const struct yk_matmul *rest)
{
    return !rest->accumulate && (rest->bias || rest->add || rest->ending != YK_ENDING_NONE);
}

static void put_rest(const struct yk_product_call *call)
{
    const struct job *job = call->user;
    yk_cuda_end_product(job->lane, &job->op);
}

/* ---- the choice, made once ---- */

/* Where the product would be added to what c holds, it is tried out elsewhere. */
static void *take_trial_room(const struct yk_matmul *op)
{
    void *room = NULL;
    const size_t bytes = (size_t)(op->m * op->c_stride) * (size_t)yk_precision_bytes(op->c_type);
    if (cudaMalloc(&room, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return room;
}

static void choose(struct yk_cuda_products *products, const struct yk_product_shape *shape,
                   void *user, struct yk_product_choice *out)
{
    const struct job *job = user;
    struct job split = {job->lane, rest_of(&job->op)};
    struct yk_product_call call = call_of(job->lane, &job->op, shape, job->lane->scratch);
    void *room = shape->in_place ? take_trial_room(&job->op) : NULL;
    if (shape->in_place && !room) {
        return; /* the library's own advice is taken */
    }
    if (room) {
        call.c = room;
        call.add = room;
        split.op.c = room;
    }
    float best = yk_product_try(products, shape, &call, out);
    if (shape->work > YK_PRODUCT_BIAS) {
        struct yk_product_shape alone = *shape;
        struct yk_product_choice other = {0};
        yk_product_shape_alone(&alone);
        call.bias = NULL;
        call.aux = NULL;
        call.add = shape->in_place ? call.add : NULL;
        call.rest = put_rest;
        call.user = &split;
        const float taken = yk_product_try(products, &alone, &call, &other);
        if (taken >= 0 && (best < 0 || taken < best)) {
            *out = other;
            out->split = 1;
        }
    }
    if (room) {
        (void)cudaFree(room);
    }
}

/* ---- products the library can do ---- */

static void multiply(struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    void *workspace = yk_cuda_scratch(lane, YK_PRODUCT_WORKSPACE);
    if (!workspace) {
        return;
    }
    const enum yk_product_work work = op->accumulate ? YK_PRODUCT_ALONE : work_of(op);
    const struct yk_product_shape shape = shape_of(op, work);
    const struct yk_product_call call = call_of(lane, op, &shape, workspace);
    struct job job = {lane, *op};
    bool split = false;
    if (!yk_product_run(lane->device->products, &shape, &call, choose, &job, &split)) {
        char sentence[YK_CUDA_WORDS_SIZE];
        (void)snprintf(sentence, sizeof sentence,
                       "cuBLASLt has no way to take a product of %" PRId64 " x %" PRId64
                       " x %" PRId64 " in %s",
                       op->m, op->n, op->k, yk_precision_name(op->a_type));
        yk_cuda_trouble(lane, sentence);
        return;
    }
    const struct yk_matmul rest = rest_of(op);
    const bool added = shape.add_stride > 0;
    if (split || (work == YK_PRODUCT_ALONE && is_rest(&rest) &&
                  (!added || rest.bias || rest.ending != YK_ENDING_NONE))) {
        yk_cuda_end_product(lane, &rest);
    }
}

/* ---- those it cannot ---- */

static bool is_taken(const struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    const enum yk_precision type = plain(op->a_type);
    const bool known =
        type != YK_PRECISION_BF16 || lane->device->chip.capability >= BF16_CAPABILITY;
    return known && type == plain(op->b_type) &&
           (plain(op->c_type) == YK_PRECISION_FP32 || plain(op->c_type) == type);
}

static int64_t rows_of_a(const struct yk_matmul *op)
{
    return op->a_transposed ? op->k : op->m;
}

static int64_t columns_of_a(const struct yk_matmul *op)
{
    return op->a_transposed ? op->m : op->k;
}

static int64_t rows_of_b(const struct yk_matmul *op)
{
    return op->b_transposed ? op->n : op->k;
}

static int64_t columns_of_b(const struct yk_matmul *op)
{
    return op->b_transposed ? op->k : op->n;
}

static size_t pad(int64_t numbers)
{
    return ((size_t)numbers * sizeof(float) + 255) / 256 * 256;
}

/* Operands of 16 bits become fp32, the product is fp32, and c gets it rounded. Behind what the
 * library works with, scratch memory holds a, b and the product, as far as they are needed. */
static void multiply_wide(struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    const bool half_a = is_half(op->a_type);
    const bool half_b = is_half(op->b_type);
    const bool aside = is_half(op->c_type);
    const size_t a_bytes = half_a ? pad(op->m * op->k) : 0;
    const size_t b_bytes = half_b ? pad(op->k * op->n) : 0;
    const size_t c_bytes = aside ? pad(op->m * op->n) : 0;
    char *scratch = yk_cuda_scratch(lane, YK_PRODUCT_WORKSPACE + a_bytes + b_bytes + c_bytes);
    if (!scratch) {
        return;
    }
    struct yk_matmul wide = *op;
    char *at = scratch + YK_PRODUCT_WORKSPACE;
    const bool coarse = half_a || half_b || aside || op->a_type == YK_PRECISION_TF32;
    const enum yk_precision type = coarse && lane->device->chip.capability >= TF32_CAPABILITY
                                       ? YK_PRECISION_TF32
                                       : YK_PRECISION_FP32;
    wide.a_type = type;
    wide.b_type = type;
    if (half_a) {
        yk_cuda_cast_matrix(lane, rows_of_a(op), columns_of_a(op), op->a, op->a_stride, op->a_type,
                            at, columns_of_a(op), YK_PRECISION_FP32, false);
        wide.a = at;
        wide.a_stride = columns_of_a(op);
    }
    if (half_b) {
        yk_cuda_cast_matrix(lane, rows_of_b(op), columns_of_b(op), op->b, op->b_stride, op->b_type,
                            at + a_bytes, columns_of_b(op), YK_PRECISION_FP32, false);
        wide.b = at + a_bytes;
        wide.b_stride = columns_of_b(op);
    }
    if (!aside) {
        multiply(lane, &wide);
        return;
    }
    wide.c = at + a_bytes + b_bytes;
    wide.c_stride = op->n;
    wide.c_type = YK_PRECISION_FP32;
    wide.accumulate = false;
    wide.add = NULL;
    wide.bias = NULL;
    wide.ending = YK_ENDING_NONE;
    wide.aux = NULL;
    multiply(lane, &wide);
    const bool added = op->accumulate || op->add == op->c;
    yk_cuda_cast_matrix(lane, op->m, op->n, wide.c, op->n, YK_PRECISION_FP32, op->c, op->c_stride,
                        op->c_type, added);
    const struct yk_matmul rest = rest_of(op);
    if (is_rest(&rest)) {
        yk_cuda_end_product(lane, &rest);
    }
}

/* A sum of nothing. */
static void multiply_nothing(struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    const size_t width = (size_t)yk_precision_bytes(op->c_type);
    if (op->accumulate) {
        return;
    }
    if (op->add != op->c) {
        (void)yk_cuda_note(lane,
                           cudaMemset2DAsync(op->c, (size_t)op->c_stride * width, 0,
                                             (size_t)op->n * width, (size_t)op->m, lane->stream),
                           "matmul");
    }
    const struct yk_matmul rest = rest_of(op);
    if (is_rest(&rest)) {
        yk_cuda_end_product(lane, &rest);
    }
}

static void multiply_one(struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    if (op->k == 0 || op->scale == 0) {
        multiply_nothing(lane, op);
    } else if (is_taken(lane, op)) {
        multiply(lane, op);
    } else {
        multiply_wide(lane, op);
    }
}

void yk_cuda_matmul(struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    if (!yk_cuda_sound(lane) || op->m == 0 || op->n == 0) {
        return;
    }
    if (op->cuts[0] > 0 && lane->device->side_streams && op->k > 0) {
        yk_cuda_multiply_beside(lane, op, multiply_one);
    } else {
        multiply_one(lane, op);
    }
}
