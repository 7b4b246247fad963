/*
 * Update: weights that an optimizer's rule brings on, chunk by chunk in fp32: the master where
 * there is one, else the weights.
 */
#ifndef YK_BACKEND_CPU_KERNELS_OPTIMIZER_H
#define YK_BACKEND_CPU_KERNELS_OPTIMIZER_H

#include "backend/ops.h"

/* What an optimizer does to `count` weights from number `first` on; `factor` is that of gradients.
 */
typedef void yk_cpu_optimizer_rule(const void *optimizer, float factor, const float *gradients,
                                   int64_t first, int64_t count, float *weights);

struct yk_cpu_optimizer {
    int64_t count;
    void *weights;
    float *master; /* NULL: none */
    const void *gradients;
    enum yk_precision type; /* of weights and gradients */
    const struct yk_gradient_norm *gradient_norm;
    yk_cpu_optimizer_rule *rule;
    const void *optimizer;
};

void yk_cpu_optimizer_run(int threads, const struct yk_cpu_optimizer *update);

#endif
