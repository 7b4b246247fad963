/*
 * Work: one operation of a device, by what it takes: arithmetic operations, bytes to and from the
 * device's memory, launches. How long that is, only the cost room knows.
 */
#ifndef YK_MODEL_WORK_H
#define YK_MODEL_WORK_H

#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>

enum yk_work_class {
    YK_WORK_MATRIX,    /* a matrix product: (m, k) times (k, n) is 2mkn operations */
    YK_WORK_ATTENTION, /* flash attention: scores and values never leave the chip */
    YK_WORK_VECTOR,    /* everything else: norms, activations, softmax, optimizer, dequantise */
    YK_WORK_CLASS_COUNT,
};

struct yk_work {
    const char *name; /* "qkv", "attention", "loss" …; constant */
    enum yk_work_class class;
    enum yk_precision precision; /* that the operations are done in */
    double operations;
    double bytes;     /* read and written once each */
    int32_t launches; /* kernels */
    bool narrow;      /* numbers of 16 bits are what is read and written */
};

struct yk_work_list {
    const struct yk_work *items;
    int32_t count;
};

/*
 * Operations that MFU (model FLOPS utilisation) counts, as PaLM (Chowdhery et al. 2022, appendix B)
 * does: products with weights and of attention, 2 for a multiply-add; forward, for the gradient of
 * inputs and for the gradient of weights, each where it is done: not the last of frozen weights,
 * and of a table that rows are looked up in none. Nothing for what is computed again.
 */
struct yk_flops {
    double formula; /* attention as 12 × heads × head size × context for every token */
    double exact;   /* attention by the pairs of positions that are looked at */
};

/* The operations of all items of one class. */
static inline double yk_work_operations(const struct yk_work_list *list, enum yk_work_class class)
{
    double sum = 0;
    for (int32_t i = 0; i < list->count; i++) {
        sum += list->items[i].class == class ? list->items[i].operations : 0;
    }
    return sum;
}

#endif
