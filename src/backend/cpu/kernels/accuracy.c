#include "backend/cpu/kernels/kernels.h"

#include "backend/cpu/math/fp32_buffer.h"
#include "backend/cpu/parallel.h"

/* Returns how many classes are better than the target. */
static int64_t rank_of(const struct yk_accuracy_op *op, int64_t row, int64_t target)
{
    float scratch[YK_CPU_FP32_BUFFER_SIZE];
    const float own = *yk_cpu_fp32_buffer_for_reading(op->type, op->logits,
                                                      row * op->stride + target, 1, scratch);
    int64_t better = 0;
    for (int64_t first = 0; first < op->classes; first += YK_CPU_FP32_BUFFER_SIZE) {
        const int64_t count = yk_number_min(YK_CPU_FP32_BUFFER_SIZE, op->classes - first);
        const float *logits = yk_cpu_fp32_buffer_for_reading(
            op->type, op->logits, row * op->stride + first, count, scratch);
        for (int64_t i = 0; i < count; i++) {
            const int64_t class = first + i;
            const bool lower = logits[i] < own || (logits[i] == own && class > target);
            better += class != target && !lower ? 1 : 0; /* all others, if `own` is NaN */
        }
    }
    return better;
}

/* Rows are few: a classifier has one for each sample. */
void yk_cpu_accuracy(int threads, const void *op)
{
    const struct yk_accuracy_op *accuracy = op;
    (void)threads;
    for (int64_t row = 0; row < accuracy->rows; row++) {
        const int64_t target = accuracy->targets[row];
        if (target >= 0 && target < accuracy->classes) {
            const int64_t rank = rank_of(accuracy, row, target);
            accuracy->hits[0] += rank < 1 ? 1 : 0;
            accuracy->hits[1] += rank < YK_ACCURACY_TOP ? 1 : 0;
        }
    }
}
