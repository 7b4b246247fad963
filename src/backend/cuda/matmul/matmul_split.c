#include "backend/cuda/matmul/gemm.h"

#include "backend/cuda/device.h"
#include "base/number.h"

/* ---- aligned parts ---- */

enum {
    WIDE_BYTES = 16,
    SMALLEST = 256, /* shorter dimensions are not split: two matmuls would take longer */
};

/* NULL stays NULL. */
static void *shift(const void *from, int64_t numbers, enum yk_precision type)
{
    return from ? yk_precision_element_address(type, from, numbers) : NULL;
}

/* Another part computes the row sums. */
static void leave_sums(struct yk_matmul_op *part)
{
    part->sums_of = YK_MATMUL_ROW_SUM_NONE;
    part->row_sums = NULL;
}

static struct yk_matmul_op columns_of(const struct yk_matmul_op *op, int64_t first, int64_t end)
{
    struct yk_matmul_op part = *op;
    part.n = end - first;
    part.b = shift(op->b, op->b_transposed ? first * op->b_stride : first, op->b_type);
    part.c = shift(op->c, first, op->c_type);
    part.bias = shift(op->bias, first, op->bias_type);
    part.add = shift(op->add, first, op->c_type);
    part.aux = shift(op->aux, first, op->c_type);
    part.split_columns[0] = 0;
    part.split_columns[1] = 0;
    if (op->sums_of == YK_MATMUL_ROW_SUM_A && first > 0) {
        leave_sums(&part);
    } else if (op->sums_of == YK_MATMUL_ROW_SUM_B || op->sums_of == YK_MATMUL_ROW_SUM_C) {
        part.row_sums = shift(op->row_sums, first, op->sums_type);
    }
    return part;
}

static struct yk_matmul_op rows_of(const struct yk_matmul_op *op, int64_t first, int64_t end)
{
    struct yk_matmul_op part = *op;
    part.m = end - first;
    part.a = shift(op->a, op->a_transposed ? first : first * op->a_stride, op->a_type);
    part.c = shift(op->c, first * op->c_stride, op->c_type);
    part.add = shift(op->add, first * op->add_stride, op->c_type);
    part.aux = shift(op->aux, first * op->aux_stride, op->c_type);
    if (op->sums_of == YK_MATMUL_ROW_SUM_B && first > 0) {
        leave_sums(&part);
    } else if (op->sums_of == YK_MATMUL_ROW_SUM_A) {
        part.row_sums = shift(op->row_sums, first, op->sums_type);
    }
    return part;
}

static struct yk_matmul_op terms_of(const struct yk_matmul_op *op, int64_t first, int64_t end)
{
    struct yk_matmul_op part = *op;
    part.k = end - first;
    part.a = shift(op->a, op->a_transposed ? first * op->a_stride : first, op->a_type);
    part.b = shift(op->b, op->b_transposed ? first : first * op->b_stride, op->b_type);
    return part;
}

/* columns_of(), rows_of() or terms_of(). */
typedef struct yk_matmul_op part_function(const struct yk_matmul_op *op, int64_t first,
                                          int64_t end);

static void multiply_parts(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                           part_function *part_of, int64_t count, int64_t part_size,
                           yk_matmul_split_callback *multiply)
{
    for (int64_t first = 0; first < count; first += part_size) {
        const struct yk_matmul_op part =
            part_of(op, first, yk_number_min(first + part_size, count));
        multiply(lane, &part);
    }
}

/* For narrow matrices cuBLASLt uses kernels with 31-bit element offsets. Larger matrices are
 * therefore split into groups of rows. */
static void multiply_narrow(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                            yk_matmul_split_callback *multiply)
{
    const int64_t rows =
        INT32_MAX / yk_number_max(op->a_stride, yk_number_max(op->b_stride, op->c_stride));
    if (op->a_transposed && op->accumulate && op->k > rows) {
        multiply_parts(lane, op, terms_of, op->k, rows, multiply);
    } else if (!op->a_transposed && op->m > rows) {
        multiply_parts(lane, op, rows_of, op->m, rows, multiply);
    } else {
        multiply(lane, op);
    }
}

/* Multiplies the last terms first. The main part adds them and applies bias and epilogue. */
static void multiply_terms(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                           int64_t even, yk_matmul_split_callback *multiply)
{
    struct yk_matmul_op last = terms_of(op, even, op->k);
    struct yk_matmul_op main_part = terms_of(op, 0, even);
    last.bias = NULL;
    last.epilogue = YK_EPILOGUE_NONE;
    last.aux = NULL;
    if (op->sums_of == YK_MATMUL_ROW_SUM_C) {
        leave_sums(&last);
    }
    multiply_narrow(lane, &last, multiply);
    if (!op->accumulate) {
        main_part.add = op->c;
        main_part.add_stride = op->c_stride;
    }
    multiply(lane, &main_part);
}

static bool is_wide(const void *from, int64_t stride, enum yk_precision type)
{
    return (uintptr_t)from % WIDE_BYTES == 0 && stride * yk_precision_bytes(type) % WIDE_BYTES == 0;
}

/* The largest multiple of 16 bytes of elements up to `count`; `count` itself if it is short. */
static int64_t even_part(int64_t count, enum yk_precision type)
{
    const int64_t step = WIDE_BYTES / yk_precision_bytes(type);
    return count >= SMALLEST ? count / step * step : count;
}

void yk_matmul_split_for_alignment(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                                   yk_matmul_split_callback *multiply)
{
    const bool wide = yk_precision_bytes(op->a_type) == 2 && op->a_type == op->b_type &&
                      is_wide(op->a, op->a_stride, op->a_type) &&
                      is_wide(op->b, op->b_stride, op->b_type) &&
                      is_wide(op->c, op->c_stride, op->c_type);
    const int64_t n = wide ? even_part(op->n, op->c_type) : op->n;
    const int64_t m = wide && op->a_transposed ? even_part(op->m, op->a_type) : op->m;
    const int64_t k =
        wide && (!op->a_transposed || op->b_transposed) ? even_part(op->k, op->a_type) : op->k;
    if (n < op->n || m < op->m) {
        const bool is_wider = n < op->n;
        const struct yk_matmul_op main_part = is_wider ? columns_of(op, 0, n) : rows_of(op, 0, m);
        const struct yk_matmul_op last =
            is_wider ? columns_of(op, n, op->n) : rows_of(op, m, op->m);
        yk_matmul_split_for_alignment(lane, &main_part, multiply);
        multiply_narrow(lane, &last, multiply);
    } else if (k < op->k) {
        multiply_terms(lane, op, k, multiply);
    } else {
        multiply(lane, op);
    }
}

/* ---- parts on side streams, which are created at the first use ---- */

_Static_assert((int)YK_BACKEND_SIDE_STREAM_BYTES ==
                   (int)YK_CUDA_SIDE_STREAM_COUNT * (int)YK_CUDA_MIN_SCRATCH_BYTES,
               "plans count the scratch memory of each side stream");

static bool make_sides(struct yk_backend_lane *lane)
{
    if (lane->fork) {
        return true;
    }
    if (!yk_cuda_lane_check_cuda_error(
            lane, cudaEventCreateWithFlags(&lane->fork, cudaEventDisableTiming),
            "making streams")) {
        return false;
    }
    for (int i = 0; i < YK_CUDA_SIDE_STREAM_COUNT; i++) {
        struct yk_backend_lane *side = NULL;
        if (yk_cuda_lane_create(lane->device, lane->name, &side) != YK_OK) {
            yk_cuda_lane_store_failure(lane, "no further stream can be made");
            return false;
        }
        lane->sides[i] = side;
        if (!yk_cuda_lane_check_cuda_error(
                lane, cudaEventCreateWithFlags(&lane->joins[i], cudaEventDisableTiming),
                "making streams")) {
            return false;
        }
    }
    return true;
}

void yk_matmul_split_over_streams(struct yk_backend_lane *lane, const struct yk_matmul_op *op,
                                  yk_matmul_split_callback *multiply)
{
    const int64_t cuts[YK_CUDA_SIDE_STREAM_COUNT + 2] = {
        0, op->split_columns[0], op->split_columns[1] > 0 ? op->split_columns[1] : op->n, op->n};
    if (!make_sides(lane) ||
        !yk_cuda_lane_check_cuda_error(lane, cudaEventRecord(lane->fork, lane->stream),
                                       "starting streams")) {
        return;
    }
    for (int i = 0; i < YK_CUDA_SIDE_STREAM_COUNT && cuts[i + 2] > cuts[i + 1]; i++) {
        struct yk_backend_lane *side = lane->sides[i];
        const struct yk_matmul_op part = columns_of(op, cuts[i + 1], cuts[i + 2]);
        (void)yk_cuda_lane_check_cuda_error(side, cudaStreamWaitEvent(side->stream, lane->fork, 0),
                                            "waiting");
        multiply(side, &part);
        (void)yk_cuda_lane_check_cuda_error(side, cudaEventRecord(lane->joins[i], side->stream),
                                            "joining streams");
        if (!yk_cuda_lane_is_ok(side)) {
            yk_cuda_lane_store_failure(lane, side->message);
        }
    }
    const struct yk_matmul_op own = columns_of(op, 0, cuts[1]);
    multiply(lane, &own);
    for (int i = 0; i < YK_CUDA_SIDE_STREAM_COUNT && cuts[i + 2] > cuts[i + 1]; i++) {
        (void)yk_cuda_lane_check_cuda_error(
            lane, cudaStreamWaitEvent(lane->stream, lane->joins[i], 0), "joining streams");
    }
}
