#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/parallel.h"

/* ---- patches ---- */

static void clear_row(const struct yk_patchify_op *op, int64_t at, int64_t elements)
{
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < elements; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, elements - first);
        float *out = yk_cpu_fp32_buffer_for_writing(op->type, op->out, at + first, scratch);
        for (int64_t i = 0; i < count; i++) {
            out[i] = 0;
        }
        yk_cpu_fp32_buffer_store_back(op->type, out, count, op->out, at + first);
    }
}

/* Converts `count` pixels of a line of a patch. */
static void convert_line(const struct yk_patchify_op *op, const uint8_t *pixels, int64_t channel,
                         int64_t count, int64_t at)
{
    const float scale = op->scale[channel];
    const float shift = op->shift[channel];
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < count; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t length = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, count - first);
        float *out = yk_cpu_fp32_buffer_for_writing(op->type, op->out, at + first, scratch);
        for (int64_t i = 0; i < length; i++) {
            out[i] = scale * (float)pixels[first + i] + shift;
        }
        yk_cpu_fp32_buffer_store_back(op->type, out, length, op->out, at + first);
    }
}

static void cut_row(const void *work, int64_t row)
{
    const struct yk_patchify_op *op = work;
    const int64_t across = op->width / op->patch_width;
    const int64_t rows = 1 + yk_ops_patch_count(op);
    const int64_t elements = op->channels * op->patch_height * op->patch_width;
    const int64_t patch = row % rows - 1;
    int64_t at = row * elements;
    if (patch < 0) {
        clear_row(op, at, elements);
        return;
    }
    const int64_t y = patch / across * op->patch_height;
    const int64_t x = patch % across * op->patch_width;
    for (int64_t c = 0; c < op->channels; c++) {
        const int64_t plane = (row / rows * op->channels + c) * op->height;
        for (int64_t line = 0; line < op->patch_height; line++) {
            convert_line(op, op->pixels + (plane + y + line) * op->width + x, c, op->patch_width,
                         at);
            at += op->patch_width;
        }
    }
}

void yk_cpu_patches_cut(int threads, const void *op)
{
    const struct yk_patchify_op *patchify = op;
    const int64_t elements = patchify->channels * patchify->patch_height * patchify->patch_width;
    yk_cpu_parallel_for_rows(threads, patchify->batch * (1 + yk_ops_patch_count(patchify)),
                             elements, cut_row, op);
}

/* ---- tokens ---- */

static void place_row(const void *work, int64_t row)
{
    const struct yk_patch_tokens_op *op = work;
    const int64_t t = row % op->sequence;
    float position_scratch[YK_CPU_FP32_BUFFER_SIZE];
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    float out_scratch[YK_CPU_FP32_BUFFER_SIZE];
    for (int64_t first = 0; first < op->width; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->width - first);
        const int64_t at = row * op->width + first;
        const float *position = yk_cpu_fp32_buffer_for_reading(
            op->weight_type, op->positions, t * op->width + first, count, position_scratch);
        const float *other = yk_cpu_fp32_buffer_for_reading(
            op->weight_type, t == 0 ? op->class_token : op->bias, first, count, scratch);
        float *out = yk_cpu_fp32_buffer_for_writing(op->out_type, op->out, at, out_scratch);
        for (int64_t i = 0; i < count; i++) {
            out[i] = position[i] + other[i];
        }
        yk_cpu_fp32_buffer_store_back(op->out_type, out, count, op->out, at);
    }
}

void yk_cpu_patches_place_tokens(int threads, const void *op)
{
    const struct yk_patch_tokens_op *tokens = op;
    yk_cpu_parallel_for_rows(threads, tokens->rows, tokens->width, place_row, op);
}
