/*
 * Folds: a stretch of numbers into one. Sixteen partial results lie side by side and are put
 * together as a tree, so that the order is the same with every compiler and vector width.
 */
#ifndef YK_BACKEND_CPU_FOLD_H
#define YK_BACKEND_CPU_FOLD_H

#include <math.h>
#include <stdint.h>

enum {
    YK_CPU_FOLDS = 16,
};

static inline float yk_cpu_fold_end(float *parts)
{
    for (int half = YK_CPU_FOLDS / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) {
            parts[i] += parts[i + half];
        }
    }
    return parts[0];
}

static inline float yk_cpu_sum(const float *x, int64_t count)
{
    float parts[YK_CPU_FOLDS] = {0};
    const int64_t whole = count - count % YK_CPU_FOLDS;
    for (int64_t first = 0; first < whole; first += YK_CPU_FOLDS) {
        for (int i = 0; i < YK_CPU_FOLDS; i++) {
            parts[i] += x[first + i];
        }
    }
    for (int64_t i = whole; i < count; i++) {
        parts[i - whole] += x[i];
    }
    return yk_cpu_fold_end(parts);
}

/* The sum of (x − centre)². */
static inline float yk_cpu_sum_spread(const float *x, int64_t count, float centre)
{
    float parts[YK_CPU_FOLDS] = {0};
    const int64_t whole = count - count % YK_CPU_FOLDS;
    for (int64_t first = 0; first < whole; first += YK_CPU_FOLDS) {
        for (int i = 0; i < YK_CPU_FOLDS; i++) {
            const float away = x[first + i] - centre;
            parts[i] += away * away;
        }
    }
    for (int64_t i = whole; i < count; i++) {
        parts[i - whole] += (x[i] - centre) * (x[i] - centre);
    }
    return yk_cpu_fold_end(parts);
}

/* The largest; −infinity of none. What is not a number is passed over. */
static inline float yk_cpu_largest(const float *x, int64_t count)
{
    float parts[YK_CPU_FOLDS];
    for (int i = 0; i < YK_CPU_FOLDS; i++) {
        parts[i] = -INFINITY;
    }
    const int64_t whole = count - count % YK_CPU_FOLDS;
    for (int64_t first = 0; first < whole; first += YK_CPU_FOLDS) {
        for (int i = 0; i < YK_CPU_FOLDS; i++) {
            parts[i] = x[first + i] > parts[i] ? x[first + i] : parts[i];
        }
    }
    for (int64_t i = whole; i < count; i++) {
        parts[i - whole] = x[i] > parts[i - whole] ? x[i] : parts[i - whole];
    }
    float largest = parts[0];
    for (int i = 1; i < YK_CPU_FOLDS; i++) {
        largest = parts[i] > largest ? parts[i] : largest;
    }
    return largest;
}

#endif
