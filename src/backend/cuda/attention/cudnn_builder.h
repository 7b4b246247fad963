/*
 * Builder: a graph of cuDNN's backend interface, made op by op, and the plan that runs it. A tensor
 * has an id. The first failure is kept as `reason`; every call after it does nothing and returns
 * YK_CUDNN_NONE, so that only the end must be checked. A builder owns all descriptors it made. One
 * thread at a time.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_CUDNN_BUILDER_H
#define YK_BACKEND_CUDA_ATTENTION_CUDNN_BUILDER_H

#include <cudnn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_CUDNN_NONE = 0, /* no tensor */
    YK_CUDNN_RANK = 4,
    YK_CUDNN_TENSORS = 64,
    YK_CUDNN_OPERATIONS = 48,
    YK_CUDNN_DESCRIPTORS = 2 * YK_CUDNN_OPERATIONS + YK_CUDNN_TENSORS + 1,
    YK_CUDNN_ALIGNMENT = 16,    /* bytes, of stored tensors of 16-bit numbers */
    YK_CUDNN_MIN_ALIGNMENT = 4, /* of others */
};

enum yk_cudnn_place {
    YK_CUDNN_STORED,   /* memory of the device, named when the plan is run */
    YK_CUDNN_BY_VALUE, /* memory of the host, read when the plan is run */
    YK_CUDNN_VIRTUAL,  /* between two ops; never stored */
};

struct yk_cudnn_tensor {
    int64_t sizes[YK_CUDNN_RANK];
    int64_t strides[YK_CUDNN_RANK];
    cudnnDataType_t type;
    enum yk_cudnn_place place;
};

struct yk_cudnn_builder {
    /* By id, from 1 on. */
    struct yk_cudnn_tensor tensors[YK_CUDNN_TENSORS];
    cudnnBackendDescriptor_t tensor_descriptors[YK_CUDNN_TENSORS];
    int tensor_count; /* 1 + the last id; 0 before the first */
    cudnnBackendDescriptor_t operations[YK_CUDNN_OPERATIONS];
    int operation_count;
    cudnnBackendDescriptor_t owned[YK_CUDNN_DESCRIPTORS];
    int owned_count;
    cudnnBackendDescriptor_t config; /* NULL before yk_cudnn_builder_plan(), as the plan */
    cudnnBackendDescriptor_t plan;
    int64_t workspace_bytes; /* that the plan needs */
    int64_t engine;          /* its number */
    bool failed;
    char reason[384];
};

/* What lengths (B, 1, 1, 1) cut a product to: YK_CUDNN_NONE is no cut. */
struct yk_cudnn_padding {
    int rows;
    int columns;
    int inner;
};

int yk_cudnn_builder_tensor(struct yk_cudnn_builder *builder, const struct yk_cudnn_tensor *tensor);
/* A virtual tensor without gaps. */
int yk_cudnn_builder_virtual(struct yk_cudnn_builder *builder, const int64_t sizes[YK_CUDNN_RANK],
                             cudnnDataType_t type);

/* y = a · b over the last two axes. */
void yk_cudnn_builder_matmul(struct yk_cudnn_builder *builder, int a, int b,
                             struct yk_cudnn_padding padding, int y);
/* y = mode(x, b), b being YK_CUDNN_NONE for functions of x alone. */
void yk_cudnn_builder_pointwise(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode, int x,
                                int b, int y);
/* The same into a new virtual tensor of x's sizes, of fp32. */
int yk_cudnn_builder_map(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode, int x, int b);
/* New, of x's sizes: where an element lies along the axis; which pairs compare so; and x, but `b`
 * where the mask is false. */
int yk_cudnn_builder_index(struct yk_cudnn_builder *builder, int x, int64_t axis);
int yk_cudnn_builder_compare(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode, int x,
                             int b);
int yk_cudnn_builder_select(struct yk_cudnn_builder *builder, int x, int b, int mask);
/* y = x reduced along the axes where y has size 1, or heads that are fewer. */
void yk_cudnn_builder_reduce(struct yk_cudnn_builder *builder, cudnnReduceTensorOp_t mode, int x,
                             int y);
/* y = x with other sizes and strides: here, turned. */
void yk_cudnn_builder_reshape(struct yk_cudnn_builder *builder, int x, int y);

/* Ends the graph and makes the first plan, in the order of cuDNN's heuristics, that needs no more
 * workspace than allowed and, if wanted, is repeatable: the same bits every time. Where `handle` is
 * NULL, `device` (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) describes the GPU. False when there is none.
 */
struct yk_cudnn_options {
    int64_t max_workspace; /* bytes */
    bool repeatable;
};
bool yk_cudnn_builder_plan(struct yk_cudnn_builder *builder, cudnnHandle_t handle,
                           cudnnBackendDescriptor_t device, struct yk_cudnn_options options);

/* Runs it on the handle's stream; pointers[i] is the memory of the tensor ids[i]. */
bool yk_cudnn_builder_run(struct yk_cudnn_builder *builder, cudnnHandle_t handle, int64_t count,
                          const int64_t *ids, void *const *pointers, void *workspace);

/* Destroys all descriptors; the builder may begin anew. */
void yk_cudnn_builder_clear(struct yk_cudnn_builder *builder);

#endif
