#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/math/reduce.h"
#include "backend/cpu/math/simd.h"
#include "backend/cpu/parallel.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/*
 * With m the largest logit x of a row, Z = Σ exp(x − m), label t and smoothing s over C classes:
 *   loss     = log Z + m − (1 − s) · x_t − (s / C) · Σ x
 *   gradient = exp(x − m) / Z − s / C, and less 1 − s at the label.
 * If logits are fp32 and the gradient is wanted, exp(x − m) is stored in place of the logits.
 * 16-bit types would lose precision, so there it is computed twice. With a cap c, x is
 * c · tanh(logit / c), and the gradient is also multiplied by 1 − tanh² = 1 − (x / c)²; this needs
 * the logits once more, so exp(x − m) is computed twice too.
 */
struct row {
    float largest;
    double sum;    /* Z */
    double logits; /* Σ x, with smoothing only */
};

static bool keeps_powers(const struct yk_cross_entropy_op *op)
{
    return op->factor != 0.0F && op->softcap == 0.0F && !yk_cpu_fp32_needs_conversion(op->type);
}

static void cap(float softcap, int64_t count, float *logits)
{
    const float inverse = 1.0F / softcap;
    for (int64_t i = 0; i < count; i++) {
        logits[i] = softcap * yk_cpu_tanh(logits[i] * inverse);
    }
}

/* exp(x) for x ≤ 0. Results below 2^-126 are 0. */
static inline float power(float x)
{
    int32_t n;
    const float bounded = x < -104.0F ? -104.0F : x;
    const float less_one = yk_cpu_expm1_after_range_reduction(bounded, &n);
    const float whole = yk_cpu_exp2_of_integer(n < -127 ? -127 : n); /* 0 below 2^-126 */
    return less_one * whole + whole;
}

/* Replaces logits by exp(x − m). */
static void to_powers(float largest, int64_t count, float *numbers)
{
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = power(numbers[i] - largest);
    }
}

/* The sum of the capped logits. `scratch` may hold the logits already. */
static float sum_capped(float softcap, const float *logits, int64_t count, float *scratch)
{
    memmove(scratch, logits, (size_t)count * sizeof *scratch);
    cap(softcap, count, scratch);
    return yk_cpu_reduce_sum(scratch, count);
}

/* With keeps_powers(), replaces the logits by exp(x − m). */
static struct row sum_row(const struct yk_cross_entropy_op *op, int64_t start)
{
    struct row row = {.largest = -INFINITY};
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->classes; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->classes - first);
        const float *logits =
            yk_cpu_fp32_buffer_for_reading(op->type, op->logits, start + first, count, scratch);
        const float largest = yk_cpu_reduce_max(logits, count);
        row.largest = largest > row.largest ? largest : row.largest;
        if (op->smoothing != 0.0F) {
            row.logits +=
                (double)(op->softcap == 0.0F ? yk_cpu_reduce_sum(logits, count)
                                             : sum_capped(op->softcap, logits, count, scratch));
        }
    }
    if (op->softcap != 0.0F) { /* the largest logit is also the largest one after the cap */
        cap(op->softcap, 1, &row.largest);
    }
    for (int64_t first = 0; first < op->classes; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->classes - first);
        float *numbers = (float *)op->logits + start + first;
        if (!keeps_powers(op)) {
            yk_cpu_convert_array_to_fp32(op->type, op->logits, start + first, count, scratch);
            numbers = scratch;
            if (op->softcap != 0.0F) {
                cap(op->softcap, count, numbers);
            }
        }
        to_powers(row.largest, count, numbers);
        row.sum += (double)yk_cpu_reduce_sum(numbers, count);
    }
    return row;
}

/* Caps logits and stores the derivatives of the cap in `slopes`. */
static void cap_with_slopes(float softcap, int64_t count, float *restrict logits,
                            float *restrict slopes)
{
    const float inverse = 1.0F / softcap;
    for (int64_t i = 0; i < count; i++) {
        const float tangent = yk_cpu_tanh(logits[i] * inverse);
        logits[i] = softcap * tangent;
        slopes[i] = 1.0F - tangent * tangent;
    }
}

static void write_gradient(const struct yk_cross_entropy_op *op, int64_t start, int64_t target,
                           const struct row *row)
{
    const float scale = (float)((double)op->factor / row->sum);
    const float even = op->factor * op->smoothing / (float)op->classes;
    const bool capped = op->softcap != 0.0F;
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    float slopes[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->classes; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->classes - first);
        float *gradient =
            yk_cpu_fp32_buffer_for_update(op->type, op->logits, start + first, count, scratch);
        if (capped) {
            cap_with_slopes(op->softcap, count, gradient, slopes);
        }
        if (!keeps_powers(op)) {
            to_powers(row->largest, count, gradient);
        }
        for (int64_t i = 0; i < count; i++) {
            gradient[i] = gradient[i] * scale - even;
        }
        if (target >= first && target < first + count) {
            gradient[target - first] -= op->factor * (1.0F - op->smoothing);
        }
        for (int64_t i = 0; capped && i < count; i++) {
            gradient[i] *= slopes[i];
        }
        yk_cpu_fp32_buffer_store_back(op->type, gradient, count, op->logits, start + first);
    }
}

static void run_row(const void *work, int64_t number)
{
    const struct yk_cross_entropy_op *op = work;
    const int64_t start = number * op->stride;
    const int64_t target = op->targets[number];
    assert(target < op->classes);
    if (target < 0) {
        op->row_losses[number] = 0.0F;
        if (op->factor != 0.0F) {
            memset(yk_precision_element_address(op->type, op->logits, start), 0,
                   (size_t)(op->classes * yk_precision_bytes(op->type)));
        }
        return;
    }
    const double smoothing = (double)op->smoothing;
    float logit = yk_cpu_convert_element_to_fp32(op->type, op->logits, start + target);
    if (op->softcap != 0.0F) {
        cap(op->softcap, 1, &logit);
    }
    const double label = (double)logit;
    const struct row row = sum_row(op, start);
    double loss = log(row.sum) + ((double)row.largest - label);
    if (op->smoothing != 0.0F) {
        loss += smoothing * (label - row.logits / (double)op->classes);
    }
    op->row_losses[number] = (float)loss;
    if (op->factor != 0.0F) {
        write_gradient(op, start, target, &row);
    }
}

void yk_cpu_cross_entropy(int threads, const void *op)
{
    const struct yk_cross_entropy_op *cross_entropy = op;
    yk_cpu_parallel_for_rows(threads, cross_entropy->rows, cross_entropy->classes, run_row, op);
    double sum = 0;
    for (int64_t row = 0; row < cross_entropy->rows; row++) {
        sum += (double)cross_entropy->row_losses[row];
    }
    *cross_entropy->loss += sum;
}
