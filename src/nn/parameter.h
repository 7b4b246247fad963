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

enum yk_store_form {
    YK_STORE_PLAIN, /* in the precision of the training */
    YK_STORE_FULL,  /* fp32: beside NF4 */
    YK_STORE_NF4,
};

enum yk_start {
    YK_START_ZERO,
    YK_START_ONE,
    YK_START_NORMAL,  /* of mean 0 and standard deviation `spread` */
    YK_START_UNIFORM, /* from −spread to spread */
};

struct yk_parameter {
    const char *name; /* "transformer.h.0.attn.c_attn.weight" */
    int32_t rank;     /* 1 or 2 */
    int64_t shape[2]; /* as in the file */
    int64_t count;
    enum yk_store_form form;
    bool trained;
    bool decayed;
    bool adapter;  /* saved with the adapter, not with the model */
    bool optional; /* a file may lack it: it is then as it starts */
    enum yk_start start;
    double spread;
    size_t offset; /* in the layer's weights, bytes */
    int64_t first; /* of a trained one: its first number in the layer's gradients and state */
};

#endif
