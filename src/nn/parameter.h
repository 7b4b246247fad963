/*
 * Parameter: one tensor of a layer: its name in Hugging Face's files, its shape, where it lies
 * among the layer's weights, and how it starts.
 *
 * All of a layer's weights are one piece of memory. First come the trained ones, in the precision
 * of the training and those that decay before those that do not; gradients and optimizer state are
 * laid out in the same order, without gaps, so that a part of a layer is a range of numbers. Frozen
 * ones follow.
 */
#ifndef YK_NN_PARAMETER_H
#define YK_NN_PARAMETER_H

#include "base/precision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_parameter_format {
    YK_PARAMETER_PLAIN, /* in the precision of the training */
    YK_PARAMETER_FP32,  /* fp32: beside NF4 */
    YK_PARAMETER_NF4,
};

enum yk_parameter_init {
    YK_INIT_ZERO,
    YK_INIT_ONE,
    YK_INIT_NORMAL,  /* of mean 0 and standard deviation `spread` */
    YK_INIT_UNIFORM, /* from −spread to spread */
};

struct yk_parameter {
    const char *name; /* "transformer.h.0.attn.c_attn.weight" */
    int32_t rank;     /* 1 or 2 */
    int64_t shape[2]; /* as in the file */
    int64_t count;
    enum yk_parameter_format format;
    bool trained;
    bool decayed;
    bool adapter;  /* saved with the adapter, not with the model */
    bool optional; /* a file may lack it: it is then as it starts */
    enum yk_parameter_init start;
    double spread;
    size_t offset; /* in the layer's weights, bytes */
    int64_t first; /* of a trained one: its first number in the layer's gradients and state */
};

#endif
