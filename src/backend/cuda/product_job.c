#include "backend/cuda/product_job.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

#include <string.h>

enum {
    WIDE_ALIGNMENT = 16,
    AUX_ALIGNMENT = 8, /* numbers, of the rows that GELU stores */
};

static enum yk_precision plain(enum yk_precision type)
{
    return type == YK_PRECISION_TF32 ? YK_PRECISION_FP32 : type;
}

/* ---- as the library sees it ---- */

static int32_t alignment_of(const struct yk_matmul *op)
{
    const uintptr_t all =
        (uintptr_t)op->a | (uintptr_t)op->b | (uintptr_t)op->c | (uintptr_t)op->add |
        (uintptr_t)op->aux | (uintptr_t)(op->a_stride * yk_precision_bytes(op->a_type)) |
        (uintptr_t)(op->b_stride * yk_precision_bytes(op->b_type)) |
        (uintptr_t)(op->c_stride * yk_precision_bytes(op->c_type)) |
        (uintptr_t)(op->add ? op->add_stride * yk_precision_bytes(op->c_type) : 0);
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

/* Which sums the library makes with the product. */
static enum yk_sums_of sums_of(const struct yk_matmul *op, enum yk_product_work work)
{
    const bool fits = plain(op->sums_type) == plain(op->c_type);
    const bool bare = op->accumulate || (!op->bias && op->ending == YK_ENDING_NONE);
    switch (op->sums_of) {
    case YK_SUMS_OF_A:
    case YK_SUMS_OF_B:
        return fits && bare ? op->sums_of : YK_SUMS_OF_NOTHING;
    case YK_SUMS_OF_C:
        return fits && work == YK_PRODUCT_GELU_BACK ? op->sums_of : YK_SUMS_OF_NOTHING;
    default:
        return YK_SUMS_OF_NOTHING;
    }
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
    shape.sums_of = (int32_t)sums_of(op, work);
    shape.in_place = op->accumulate || (op->add && op->add == op->c);
    if (shape.in_place) {
        shape.add_stride = op->c_stride;
    } else if (op->add &&
               (work != YK_PRODUCT_ALONE || (!op->bias && op->ending == YK_ENDING_NONE))) {
        shape.add_stride = op->add_stride;
    }
    return shape;
}

static int64_t sums_count(const struct yk_matmul *op)
{
    return op->sums_of == YK_SUMS_OF_A ? op->m : op->n;
}

struct yk_product_job yk_product_job_make(struct yk_backend_lane *lane, const struct yk_matmul *op,
                                          void *workspace)
{
    struct yk_product_job job = {
        .lane = lane, .op = *op, .made_sums = (char *)workspace + YK_PRODUCT_WORKSPACE};
    const enum yk_product_work work = op->accumulate ? YK_PRODUCT_ALONE : work_of(op);
    job.shape = shape_of(op, work);
    if (job.op.sums_of != YK_SUMS_OF_NOTHING &&
        sums_count(op) * (int64_t)sizeof(float) > YK_PRODUCT_SUMS / 2) {
        job.shape.sums_of = YK_SUMS_OF_NOTHING;
    }
    return job;
}

struct yk_product_call yk_product_job_call(const struct yk_product_job *job, void *workspace,
                                           void *sums)
{
    const struct yk_matmul *op = &job->op;
    return (struct yk_product_call){
        .stream = job->lane->stream,
        .a = op->a,
        .b = op->b,
        .add = job->shape.in_place ? op->c : op->add,
        .c = op->c,
        .bias = op->bias,
        .aux = op->aux,
        .sums = sums,
        .scale = op->scale,
        .workspace = workspace,
    };
}

/* ---- the rest ---- */

void yk_product_job_sum(struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    if (op->sums_of == YK_SUMS_OF_NOTHING) {
        return;
    }
    const struct yk_sum_rows sums = yk_matmul_sums(op);
    yk_cuda_sum_rows(lane, &sums);
}

/* Bias, what is not added in place, and the ending, where c has the product. */
static void put_ending(struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    struct yk_matmul rest = *op;
    if (op->add == op->c) {
        rest.add = NULL;
    }
    if (!rest.accumulate && (rest.bias || rest.add || rest.ending != YK_ENDING_NONE)) {
        yk_cuda_end_product(lane, &rest);
    }
}

void yk_product_job_end(struct yk_backend_lane *lane, const struct yk_matmul *op)
{
    put_ending(lane, op);
    yk_product_job_sum(lane, op);
}

void yk_product_job_rest(const struct yk_product_job *job)
{
    struct yk_product_shape done = job->shape;
    struct yk_matmul left = job->op;
    yk_product_shape_reduce(&done, job->variant);
    if (done.work != YK_PRODUCT_ALONE) {
        left.ending = YK_ENDING_NONE;
        left.bias = NULL;
    }
    if (done.add_stride > 0) {
        left.add = NULL;
    }
    put_ending(job->lane, &left);
    if (done.sums_of != YK_SUMS_OF_NOTHING) {
        yk_cuda_add(job->lane, &(struct yk_add){
                                   .count = sums_count(&left),
                                   .from = job->made_sums,
                                   .to = left.sums,
                                   .type = left.c_type,
                               });
    } else {
        yk_product_job_sum(job->lane, &left);
    }
}
