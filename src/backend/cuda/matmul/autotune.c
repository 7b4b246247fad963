#include "backend/cuda/matmul/autotune.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

#include <inttypes.h>
#include <stdio.h>

struct trial {
    struct yk_gemm job;
    void *room; /* of a trial that is not to change c */
    size_t room_bytes;
    void *made[2];                          /* operands of our own */
    struct yk_matmul_check_counts *checked; /* on the device */
    bool untold;                            /* of an algorithm at least, whether it is right */
};

/* ---- room ---- */

/* NULL where there is none. */
static void *take(size_t bytes)
{
    void *room = NULL;
    if (cudaMalloc(&room, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return room;
}

static void free_trial(struct trial *trial)
{
    (void)cudaFree(trial->made[0]);
    (void)cudaFree(trial->made[1]);
    (void)cudaFree(trial->checked);
    (void)cudaFree(trial->room);
}

/* Where the product would be added to what c holds, it is tried out elsewhere. */
static bool make_room(struct trial *trial)
{
    struct yk_matmul_op *op = &trial->job.op;
    trial->checked = take(sizeof *trial->checked);
    if (trial->checked && trial->job.shape.in_place) {
        trial->room_bytes = (size_t)(op->m * op->c_stride) * (size_t)yk_precision_bytes(op->c_type);
        trial->room = take(trial->room_bytes);
        op->c = trial->room;
        op->add = op->add ? trial->room : NULL;
    }
    return trial->checked && op->c;
}

static const void *make_operand(struct trial *trial, int which, int64_t numbers,
                                enum yk_precision type)
{
    trial->made[which] = take((size_t)numbers * (size_t)yk_precision_bytes(type));
    if (trial->made[which]) {
        yk_cuda_matmul_check_fill(trial->job.lane, numbers, (unsigned)which, type,
                                  trial->made[which]);
    }
    return trial->made[which];
}

/* Products of zeros (where training begins, half of an adapter is) tell nothing: then operands
 * serve that are not zero. */
static bool make_operands(struct trial *trial)
{
    struct yk_matmul_op *op = &trial->job.op;
    op->a = make_operand(trial, 0, (op->a_transposed ? op->k : op->m) * op->a_stride, op->a_type);
    op->b = make_operand(trial, 1, (op->b_transposed ? op->n : op->k) * op->b_stride, op->b_type);
    return op->a && op->b;
}

/* ---- one trial ---- */

/* No numbers at all: what a trial does not write is not taken for what one before it wrote. */
static void poison(void *rows, int64_t stride, const struct yk_matmul_op *op, cudaStream_t stream)
{
    const size_t width = (size_t)yk_precision_bytes(op->c_type);
    (void)cudaMemset2DAsync(rows, (size_t)stride * width, 0xff, (size_t)op->n * width,
                            (size_t)op->m, stream);
}

static void begin_trial(const struct yk_cublas_call *call)
{
    const struct trial *trial = call->user;
    const struct yk_matmul_op *op = &trial->job.op;
    if (trial->room) {
        (void)cudaMemsetAsync(trial->room, 0, trial->room_bytes, call->stream);
    } else {
        poison(op->c, op->c_stride, op, call->stream);
    }
    if (op->aux && op->epilogue == YK_EPILOGUE_GELU) {
        poison(op->aux, op->aux_stride, op, call->stream);
    }
    if (call->sums) {
        (void)cudaMemsetAsync(call->sums, 0xff, YK_GEMM_SUMS_BYTES / 2, call->stream);
    }
    (void)cudaMemsetAsync(trial->checked, 0, sizeof *trial->checked, call->stream);
}

static void put_rest(const struct yk_cublas_call *call)
{
    const struct trial *trial = call->user;
    yk_gemm_finish(&trial->job);
}

/* What cannot be looked at is not trusted. */
static enum yk_matmul_result end_trial(const struct yk_cublas_call *call)
{
    struct trial *trial = call->user;
    const struct yk_gemm *job = &trial->job;
    struct yk_matmul_check_counts checked = {0, 0};
    yk_cuda_matmul_check(job->lane, &job->op, trial->room != NULL,
                         job->shape.sums_of != YK_SUMS_OF_NONE ? call->sums : NULL, trial->checked);
    if (cudaMemcpyAsync(&checked, trial->checked, sizeof checked, cudaMemcpyDefault,
                        call->stream) != cudaSuccess ||
        cudaStreamSynchronize(call->stream) != cudaSuccess || checked.bad > 0) {
        return YK_MATMUL_WRONG;
    }
    trial->untold = trial->untold || checked.told == 0;
    return checked.told > 0 ? YK_MATMUL_CORRECT : YK_MATMUL_UNKNOWN;
}

/* ---- all of them ---- */

static bool is_variant(const struct yk_matmul_shape *shape, enum yk_matmul_variant variant)
{
    switch (variant) {
    case YK_MATMUL_FUSED_NO_SUMS:
        return shape->sums_of != YK_SUMS_OF_NONE;
    case YK_MATMUL_BARE:
        return shape->work > YK_MATMUL_EPILOGUE_BIAS;
    default:
        return true;
    }
}

/* The milliseconds of the best; negative where there is none, as yk_cublas_try says. */
static float try_variants(struct yk_cublas *products, struct trial *trial,
                          struct yk_matmul_choice *out)
{
    struct yk_gemm *job = &trial->job;
    char *sums = (char *)job->lane->scratch + YK_CUBLAS_WORKSPACE_BYTES;
    const struct yk_cublas_call call = yk_gemm_call(job, job->lane->scratch, sums);
    float best = YK_CUBLAS_NONE_RUNS;
    job->op.sums = sums + YK_GEMM_SUMS_BYTES / 2;
    for (int i = YK_MATMUL_FUSED; i <= YK_MATMUL_BARE; i++) {
        struct yk_matmul_shape reduced = job->shape;
        struct yk_matmul_choice other = {0};
        if (!is_variant(&job->shape, (enum yk_matmul_variant)i)) {
            continue;
        }
        job->variant = (enum yk_matmul_variant)i;
        yk_matmul_shape_reduce(&reduced, job->variant);
        struct yk_cublas_call reduced_call = yk_cublas_call_reduce(&call, &reduced);
        reduced_call.rest = put_rest;
        if (job->op.c != job->op.aux) { /* else a trial would change what it reads */
            reduced_call.begin = begin_trial;
            reduced_call.end = end_trial;
        }
        reduced_call.user = trial;
        const float taken = yk_cublas_try(products, &reduced, &reduced_call, &other);
        if (taken >= 0 && (best < 0 || taken < best)) {
            best = taken;
            *out = other;
            out->variant = i;
        } else if (best < 0 && taken == YK_CUBLAS_NONE_CORRECT) {
            best = taken;
        }
    }
    return best;
}

/* Rather no number than a wrong one. */
static void refuse_wrong(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    char sentence[YK_CUDA_TEXT_SIZE];
    (void)snprintf(sentence, sizeof sentence,
                   "all that cuBLASLt has for a product of %" PRId64 " x %" PRId64 " x %" PRId64
                   " in %s comes out wrong on these %d SMs; where the GPU is divided by MPS, "
                   "divide it otherwise",
                   op->m, op->n, op->k, yk_precision_name(op->a_type),
                   (int)yk_cuda_lane_properties(lane)->processors);
    yk_cuda_lane_fail(lane, sentence);
}

/* Without memory to try in, the library's own advice is taken. */
bool yk_matmul_autotune(struct yk_cublas *products, const struct yk_matmul_shape *shape, void *user,
                        struct yk_matmul_choice *out)
{
    struct trial trial = {.job = *(const struct yk_gemm *)user};
    float best = YK_CUBLAS_NONE_RUNS;
    trial.job.shape = *shape;
    if (make_room(&trial)) {
        best = try_variants(products, &trial, out);
        if (trial.untold && make_operands(&trial)) {
            best = try_variants(products, &trial, out);
        } else if (trial.untold && best == YK_CUBLAS_NONE_CORRECT) {
            best = YK_CUBLAS_NONE_RUNS;
        }
        if (best == YK_CUBLAS_NONE_CORRECT) {
            refuse_wrong(trial.job.lane, &trial.job.op);
        }
    }
    free_trial(&trial);
    return best != YK_CUBLAS_NONE_CORRECT;
}
