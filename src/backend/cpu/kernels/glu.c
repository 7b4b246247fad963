#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/activation.h"
#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/math/simd.h"
#include "backend/cpu/parallel.h"

#include <assert.h>
#include <string.h>

/* silu(g) = g · s(g) with s the logistic function; its derivative is s · (1 + g · (1 − s)). */
static inline float logistic(float x)
{
    return 1.0F / (1.0F + yk_cpu_exp(-x));
}

/* Columns [first, first + count) of a term. */
struct term_columns {
    const struct yk_lora_term *term;
    enum yk_precision type;
    int64_t width;
    int64_t first;
    int64_t count;
};

/* x += scale · inner · factor, where factor is stored as (rank, width). */
static void add_rows_of_factor(const struct term_columns *at, const float *inner, float *x)
{
    const struct yk_lora_term *term = at->term;
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t k = 0; k < term->rank; k++) {
        const float *factor = yk_cpu_fp32_buffer_for_reading(
            at->type, term->factor, k * at->width + at->first, at->count, scratch);
        const float scale = term->scale * inner[k];
        for (int64_t i = 0; i < at->count; i++) {
            x[i] += scale * factor[i];
        }
    }
}

static float dot_product(const float *a, const float *b, int64_t count)
{
    yk_cpu_simd_vector sums = yk_cpu_simd_broadcast(0);
    int64_t i = 0;
    for (; i + YK_CPU_SIMD_WIDTH <= count; i += YK_CPU_SIMD_WIDTH) {
        sums += yk_cpu_simd_load(a + i) * yk_cpu_simd_load(b + i);
    }
    float sum = sums[0] + sums[1] + (sums[2] + sums[3]);
    for (; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* The same, where factor is stored as (width, rank). */
static void add_dot_products(const struct term_columns *at, const float *inner, float *x)
{
    const struct yk_lora_term *term = at->term;
    const int64_t at_once = YK_CPU_FP32_BUFFER_SIZE / term->rank;
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t done = 0; done < at->count; done += at_once) {
        const int64_t count = yk_number_min(at_once, at->count - done);
        const float *factor = yk_cpu_fp32_buffer_for_reading(
            at->type, term->factor, (at->first + done) * term->rank, count * term->rank, scratch);
        for (int64_t i = 0; i < count; i++) {
            x[done + i] += term->scale * dot_product(inner, factor + i * term->rank, term->rank);
        }
    }
}

/* Returns numbers of a row plus a term. `x` are the numbers; the sums are in `scratch`, where the
 * numbers may be already. Without a term, the sums are the numbers. */
static const float *add_term(const struct term_columns *at, int64_t row, const float *x,
                             float *scratch)
{
    const struct yk_lora_term *term = at->term;
    float inner_scratch[YK_LORA_TERM_MAX_RANK];
    if (!term->inner) {
        return x;
    }
    assert(term->rank > 0 && term->rank <= YK_LORA_TERM_MAX_RANK);
    if (x != scratch) {
        memcpy(scratch, x, (size_t)at->count * sizeof *scratch);
    }
    const float *inner = yk_cpu_fp32_buffer_for_reading(
        at->type, term->inner, row * term->inner_stride, term->rank, inner_scratch);
    (term->factor_transposed ? add_rows_of_factor : add_dot_products)(at, inner, scratch);
    return scratch;
}

static void glu_chunk(enum yk_activation activation, const float *gate, const float *up,
                      int64_t count, float *out)
{
    if (activation == YK_ACTIVATION_SILU) {
        for (int64_t i = 0; i < count; i++) {
            out[i] = gate[i] * logistic(gate[i]) * up[i];
        }
        return;
    }
    memmove(out, gate, (size_t)count * sizeof *out);
    yk_cpu_activation_apply(activation, out, count);
    for (int64_t i = 0; i < count; i++) {
        out[i] *= up[i];
    }
}

static void glu_row(const void *work, int64_t row)
{
    const struct yk_glu_op *op = work;
    float gate_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float up_scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        const int64_t at = 2 * row * op->width + first;
        const int64_t out_at = row * op->width + first;
        const float *gate =
            yk_cpu_fp32_buffer_for_reading(op->type, op->gate_up, at, count, gate_scratch);
        const float *up = yk_cpu_fp32_buffer_for_reading(op->type, op->gate_up, at + op->width,
                                                         count, up_scratch);
        gate = add_term(&(struct term_columns){&op->gate_term, op->type, op->width, first, count},
                        row, gate, gate_scratch);
        up = add_term(&(struct term_columns){&op->up_term, op->type, op->width, first, count}, row,
                      up, up_scratch);
        float *out = yk_cpu_fp32_buffer_for_writing(op->type, op->out, out_at, gate_scratch);
        glu_chunk(op->activation, gate, up, count, out);
        yk_cpu_fp32_buffer_store_back(op->type, out, count, op->out, out_at);
    }
}

void yk_cpu_glu(int threads, const void *op)
{
    const struct yk_glu_op *glu = op;
    yk_cpu_parallel_for_rows(threads, glu->rows, glu->width, glu_row, op);
}

static void silu_backward_chunk(const float *gate, const float *up, const float *d_out,
                                int64_t count, float *restrict d_gate, float *restrict d_up)
{
    for (int64_t i = 0; i < count; i++) {
        const float g = gate[i];
        const float s = logistic(g);
        const float d = d_out[i] * s;
        d_gate[i] = d * up[i] * (1.0F + g * (1.0F - s));
        d_up[i] = d * g;
    }
}

static void glu_backward_chunk(enum yk_activation activation, const float *gate, const float *up,
                               const float *d_out, int64_t count, float *restrict d_gate,
                               float *restrict d_up)
{
    if (activation == YK_ACTIVATION_SILU) {
        silu_backward_chunk(gate, up, d_out, count, d_gate, d_up);
        return;
    }
    memcpy(d_up, gate, (size_t)count * sizeof *d_up);
    yk_cpu_activation_apply(activation, d_up, count);
    for (int64_t i = 0; i < count; i++) {
        d_up[i] *= d_out[i];
        d_gate[i] = d_out[i] * up[i];
    }
    yk_cpu_activation_multiply_by_derivative(activation, d_gate, gate, count);
}

static void glu_backward_row(const void *work, int64_t row)
{
    const struct yk_glu_backward_op *op = work;
    float gate_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float up_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float d_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float d_gate[YK_CPU_FP32_BUFFER_SIZE]; /* separate buffers: d_gate_up may be gate_up itself */
    float d_up[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        const int64_t at = 2 * row * op->width + first;
        const int64_t up_at = at + op->width;
        const float *gate =
            yk_cpu_fp32_buffer_for_reading(op->type, op->gate_up, at, count, gate_scratch);
        const float *up =
            yk_cpu_fp32_buffer_for_reading(op->type, op->gate_up, up_at, count, up_scratch);
        const float *d_out = yk_cpu_fp32_buffer_for_reading(
            op->type, op->d_out, row * op->width + first, count, d_scratch);
        gate = add_term(&(struct term_columns){&op->gate_term, op->type, op->width, first, count},
                        row, gate, gate_scratch);
        up = add_term(&(struct term_columns){&op->up_term, op->type, op->width, first, count}, row,
                      up, up_scratch);
        d_out = add_term(&(struct term_columns){&op->d_out_term, op->type, op->width, first, count},
                         row, d_out, d_scratch);
        glu_backward_chunk(op->activation, gate, up, d_out, count, d_gate, d_up);
        yk_cpu_convert_array_from_fp32(op->type, d_gate, count, op->d_gate_up, at);
        yk_cpu_convert_array_from_fp32(op->type, d_up, count, op->d_gate_up, up_at);
    }
}

void yk_cpu_glu_backward(int threads, const void *op)
{
    const struct yk_glu_backward_op *glu = op;
    if (glu->d_out_term.inner) {
        assert(glu->out && glu->d_factor);
        const struct yk_matmul_op matmul = yk_ops_make_matmul_op_of_glu_backward(glu);
        yk_cpu_matmul(threads, &matmul);
    }
    yk_cpu_parallel_for_rows(threads, glu->rows, glu->width, glu_backward_row, op);
}
