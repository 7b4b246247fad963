/*
 * Kernel work: the work of one kernel of a layer, as arithmetic operations, memory traffic and
 * launches. src/cost converts this work to seconds.
 */
#ifndef YK_MODEL_KERNEL_WORK_H
#define YK_MODEL_KERNEL_WORK_H

#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_kernel_class {
    YK_KERNEL_MATRIX,    /* a matrix product: (m, k) × (k, n) has 2mkn operations */
    YK_KERNEL_ATTENTION, /* flash attention: the scores are not written to memory */
    YK_KERNEL_VECTOR,    /* all others: norms, activations, softmax, optimizer, dequantisation */
    YK_KERNEL_CLASS_COUNT,
};

struct yk_kernel_work {
    const char *name; /* "qkv", "attention", "loss" …; a string literal */
    enum yk_kernel_class class;
    enum yk_precision precision; /* precision of the operations */
    double operations;
    double bytes;     /* bytes read from and written to memory */
    int32_t launches; /* number of kernel launches */
    bool narrow;      /* the workload's precision has 16 bits; false for updates */
};

struct yk_kernel_work_list {
    const struct yk_kernel_work *items;
    int32_t count;
};

/*
 * The operations that MFU (model FLOPS utilisation) counts, as in PaLM (Chowdhery et al. 2022,
 * appendix B). These are the matrix products with weights and the matrix products of attention,
 * with 2 operations per multiply-add. They are counted for the forward pass, the gradients of
 * inputs, and the gradients of trained weights. Embedding lookups and recomputation are not
 * counted.
 */
struct yk_mfu_flops {
    double formula; /* attention counts 12 × heads × head size × sequence length per token */
    double exact;   /* attention counts only the pairs of positions that it computes */
};

/* Returns the sum of the operations of all kernels of one class. */
static inline double yk_kernel_work_sum_class_operations(const struct yk_kernel_work_list *list,
                                                         enum yk_kernel_class class)
{
    double sum = 0;
    for (int32_t i = 0; i < list->count; i++) {
        sum += list->items[i].class == class ? list->items[i].operations : 0;
    }
    return sum;
}

#endif
