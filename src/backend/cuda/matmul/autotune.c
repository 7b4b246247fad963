#include "backend/cuda/matmul/gemm.h"

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"

#include <inttypes.h>
#include <stdio.h>

struct trial {
    struct yk_gemm gemm;
    void *output; /* used in place of c if the op adds to c; NULL means: c itself */
    size_t output_bytes;
    void *made[2];                          /* random operands */
    struct yk_matmul_check_counts *checked; /* on the device */
    bool undecided;                         /* at least one check had no result */
};

/* ---- memory ---- */

/* Returns NULL if there is not enough memory. */
static void *allocate(size_t bytes)
{
    void *output = NULL;
    if (cudaMalloc(&output, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return output;
}

static void free_trial(struct trial *trial)
{
    (void)cudaFree(trial->made[0]);
    (void)cudaFree(trial->made[1]);
    (void)cudaFree(trial->checked);
    (void)cudaFree(trial->output);
}

/* An op that adds to c must not run several times on c, so its trials use other memory. */
static bool allocate_output(struct trial *trial)
{
    struct yk_matmul_op *op = &trial->gemm.op;
    trial->checked = allocate(sizeof *trial->checked);
    if (trial->checked && trial->gemm.shape.in_place) {
        trial->output_bytes =
            (size_t)(op->m * op->c_stride) * (size_t)yk_precision_bytes(op->c_type);
        trial->output = allocate(trial->output_bytes);
        op->c = trial->output;
        op->add = op->add ? trial->output : NULL;
    }
    return trial->checked && op->c;
}

static const void *make_operand(struct trial *trial, int which, int64_t numbers,
                                enum yk_precision type)
{
    trial->made[which] = allocate((size_t)numbers * (size_t)yk_precision_bytes(type));
    if (trial->made[which]) {
        yk_cuda_matmul_check_fill_random(trial->gemm.lane, numbers, (unsigned)which, type,
                                         trial->made[which]);
    }
    return trial->made[which];
}

/* A product of zeros (of an adapter at the start of training) cannot be checked, so random operands
 * replace the operands. */
static bool make_operands(struct trial *trial)
{
    struct yk_matmul_op *op = &trial->gemm.op;
    op->a = make_operand(trial, 0, (op->a_transposed ? op->k : op->m) * op->a_stride, op->a_type);
    op->b = make_operand(trial, 1, (op->b_transposed ? op->n : op->k) * op->b_stride, op->b_type);
    return op->a && op->b;
}

/* ---- one trial ---- */

/* Fills with NaN, so that elements which a trial does not write are noticed. */
static void poison(void *rows, int64_t stride, const struct yk_matmul_op *op, cudaStream_t stream)
{
    const size_t width = (size_t)yk_precision_bytes(op->c_type);
    (void)cudaMemset2DAsync(rows, (size_t)stride * width, 0xff, (size_t)op->n * width,
                            (size_t)op->m, stream);
}

static void begin_trial(const struct yk_cublas_matmul_arguments *arguments)
{
    const struct trial *trial = arguments->user;
    const struct yk_matmul_op *op = &trial->gemm.op;
    if (trial->output) {
        (void)cudaMemsetAsync(trial->output, 0, trial->output_bytes, arguments->stream);
    } else {
        poison(op->c, op->c_stride, op, arguments->stream);
    }
    if (op->aux && op->epilogue == YK_EPILOGUE_GELU) {
        poison(op->aux, op->aux_stride, op, arguments->stream);
    }
    if (arguments->sums) {
        (void)cudaMemsetAsync(arguments->sums, 0xff, YK_GEMM_ROW_SUM_SCRATCH_BYTES / 2,
                              arguments->stream);
    }
    (void)cudaMemsetAsync(trial->checked, 0, sizeof *trial->checked, arguments->stream);
}

static void run_rest(const struct yk_cublas_matmul_arguments *arguments)
{
    const struct trial *trial = arguments->user;
    yk_gemm_enqueue_unfused_parts(&trial->gemm);
}

/* If the counts cannot be read, the result counts as wrong. */
static enum yk_matmul_check_result end_trial(const struct yk_cublas_matmul_arguments *arguments)
{
    struct trial *trial = arguments->user;
    const struct yk_gemm *gemm = &trial->gemm;
    struct yk_matmul_check_counts checked = {0, 0};
    yk_cuda_matmul_check(gemm->lane, &gemm->op, trial->output != NULL,
                         gemm->shape.sums_of != YK_MATMUL_ROW_SUM_NONE ? arguments->sums : NULL,
                         trial->checked);
    if (cudaMemcpyAsync(&checked, trial->checked, sizeof checked, cudaMemcpyDefault,
                        arguments->stream) != cudaSuccess ||
        cudaStreamSynchronize(arguments->stream) != cudaSuccess || checked.bad > 0) {
        return YK_MATMUL_CHECK_WRONG;
    }
    trial->undecided = trial->undecided || checked.correct == 0;
    return checked.correct > 0 ? YK_MATMUL_CHECK_CORRECT : YK_MATMUL_CHECK_UNDECIDED;
}

/* ---- all trials ---- */

static bool is_variant(const struct yk_matmul_shape *shape, enum yk_matmul_fusion variant)
{
    switch (variant) {
    case YK_MATMUL_FUSION_NO_ROW_SUM:
        return shape->sums_of != YK_MATMUL_ROW_SUM_NONE;
    case YK_MATMUL_FUSION_NONE:
        return shape->work > YK_CUBLAS_EPILOGUE_BIAS;
    default:
        return true;
    }
}

/* Returns the milliseconds of the best variant, or a negative constant as
 * yk_cublas_find_fastest_algorithm() does. */
static float try_variants(struct yk_cublas *cublas, struct trial *trial,
                          struct yk_matmul_algorithm_choice *out)
{
    struct yk_gemm *gemm = &trial->gemm;
    const struct yk_cublas_matmul_arguments arguments =
        yk_gemm_make_cublas_arguments(gemm, gemm->lane->scratch);
    float best = YK_CUBLAS_NO_ALGORITHM_RUNS;
    gemm->op.row_sums = (char *)arguments.sums + YK_GEMM_ROW_SUM_SCRATCH_BYTES / 2;
    for (int i = YK_MATMUL_FUSION_ALL; i <= YK_MATMUL_FUSION_NONE; i++) {
        struct yk_matmul_shape reduced = gemm->shape;
        struct yk_matmul_algorithm_choice other = {0};
        if (!is_variant(&gemm->shape, (enum yk_matmul_fusion)i)) {
            continue;
        }
        gemm->variant = (enum yk_matmul_fusion)i;
        yk_matmul_shape_remove_unfused_parts(&reduced, gemm->variant);
        struct yk_cublas_matmul_arguments reduced_call =
            yk_cublas_arguments_used_by_shape(&arguments, &reduced);
        reduced_call.rest = run_rest;
        if (gemm->op.c != gemm->op.aux) { /* else a trial would overwrite its own input */
            reduced_call.begin = begin_trial;
            reduced_call.end = end_trial;
        }
        reduced_call.user = trial;
        const float elapsed_ms =
            yk_cublas_find_fastest_algorithm(cublas, &reduced, &reduced_call, &other);
        if (elapsed_ms >= 0 && (best < 0 || elapsed_ms < best)) {
            best = elapsed_ms;
            *out = other;
            out->variant = i;
        } else if (best < 0 && elapsed_ms == YK_CUBLAS_NO_ALGORITHM_CORRECT) {
            best = elapsed_ms;
        }
    }
    return best;
}

static void fail_wrong(struct yk_backend_lane *lane, const struct yk_matmul_op *op)
{
    char message[YK_CUDA_ERROR_TEXT_SIZE];
    (void)snprintf(message, sizeof message,
                   "all that cuBLASLt has for a product of %" PRId64 " x %" PRId64 " x %" PRId64
                   " in %s comes out wrong on these %d SMs; where the GPU is divided by MPS, "
                   "divide it otherwise",
                   op->m, op->n, op->k, yk_precision_name(op->a_type),
                   (int)yk_cuda_lane_device_properties(lane)->processors);
    yk_cuda_lane_store_failure(lane, message);
}

/* Without memory for trials, out->exists stays 0 and yk_cublas_enqueue_matmul() uses cuBLASLt's
 * heuristic. */
bool yk_matmul_autotune(struct yk_cublas *cublas, const struct yk_matmul_shape *shape, void *user,
                        struct yk_matmul_algorithm_choice *out)
{
    struct trial trial = {.gemm = *(const struct yk_gemm *)user};
    float best = YK_CUBLAS_NO_ALGORITHM_RUNS;
    trial.gemm.shape = *shape;
    if (allocate_output(&trial)) {
        best = try_variants(cublas, &trial, out);
        if (trial.undecided && make_operands(&trial)) {
            best = try_variants(cublas, &trial, out);
        } else if (trial.undecided && best == YK_CUBLAS_NO_ALGORITHM_CORRECT) {
            best = YK_CUBLAS_NO_ALGORITHM_RUNS;
        }
        if (best == YK_CUBLAS_NO_ALGORITHM_CORRECT) {
            fail_wrong(trial.gemm.lane, &trial.gemm.op);
        }
    }
    free_trial(&trial);
    return best != YK_CUBLAS_NO_ALGORITHM_CORRECT;
}
