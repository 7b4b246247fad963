/*
 * cuDNN builder: creates a graph with cuDNN's backend API, op by op, and the execution plan of the
 * graph.
 *
 * Each tensor has an id; the first id is 1. After the first failure, every later call does nothing
 * and returns YK_CUDNN_NO_TENSOR. The caller therefore checks only the result of
 * yk_cudnn_builder_make_plan(). The builder owns all descriptors. Only one thread at a time may use
 * a builder.
 */
#ifndef YK_BACKEND_CUDA_ATTENTION_CUDNN_BUILDER_H
#define YK_BACKEND_CUDA_ATTENTION_CUDNN_BUILDER_H

#include <cudnn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_CUDNN_NO_TENSOR = 0, /* the id that means: no tensor */
    YK_CUDNN_TENSOR_RANK = 4,
    YK_CUDNN_MAX_TENSORS = 64,
    YK_CUDNN_MAX_OPERATIONS = 48,
    YK_CUDNN_MAX_DESCRIPTORS = 2 * YK_CUDNN_MAX_OPERATIONS + YK_CUDNN_MAX_TENSORS + 1,
    YK_CUDNN_HALF_ALIGNMENT = 16, /* in bytes; for 16-bit tensors in device memory */
    YK_CUDNN_MIN_ALIGNMENT = 4,   /* in bytes; for all other tensors */
};

enum yk_cudnn_tensor_storage {
    YK_CUDNN_IN_DEVICE_MEMORY, /* in device memory; the pointer is passed when the plan runs */
    YK_CUDNN_BY_VALUE,         /* one number in host memory, read when the plan runs */
    YK_CUDNN_VIRTUAL,          /* an intermediate result between two ops, never stored */
};

struct yk_cudnn_tensor {
    int64_t sizes[YK_CUDNN_TENSOR_RANK];
    int64_t strides[YK_CUDNN_TENSOR_RANK];
    cudnnDataType_t type;
    enum yk_cudnn_tensor_storage place;
};

/* The caller must fill the struct with zeros before the first call. */
struct yk_cudnn_builder {
    struct yk_cudnn_tensor tensors[YK_CUDNN_MAX_TENSORS]; /* indexed by id */
    cudnnBackendDescriptor_t tensor_descriptors[YK_CUDNN_MAX_TENSORS];
    int tensor_count; /* the last id plus 1; 0 means: no tensor yet */
    cudnnBackendDescriptor_t operations[YK_CUDNN_MAX_OPERATIONS];
    int operation_count;
    cudnnBackendDescriptor_t owned[YK_CUDNN_MAX_DESCRIPTORS]; /* destroyed with the builder */
    int owned_count;
    cudnnBackendDescriptor_t config; /* engine configuration of the plan; NULL without a plan */
    cudnnBackendDescriptor_t plan;   /* NULL before yk_cudnn_builder_make_plan() */
    int64_t workspace_bytes;         /* device memory that the plan needs */
    bool failed;
};

/* The ids of three tensors (B, 1, 1, 1) of int32 that hold the valid length of each sample. The
 * tensors are for the three dimensions of a matmul (rows, inner) · (inner, columns).
 * YK_CUDNN_NO_TENSOR means: the full length is valid. */
struct yk_cudnn_matmul_length_tensors {
    int rows;
    int columns;
    int inner;
};

/* Adds a tensor to the graph and returns its id. */
int yk_cudnn_builder_add_tensor(struct yk_cudnn_builder *builder,
                                const struct yk_cudnn_tensor *tensor);
/* Adds a contiguous virtual tensor to the graph and returns its id. */
int yk_cudnn_builder_add_virtual_tensor(struct yk_cudnn_builder *builder,
                                        const int64_t sizes[YK_CUDNN_TENSOR_RANK],
                                        cudnnDataType_t type);

/* Adds the op y = a · b over the last two axes. */
void yk_cudnn_builder_add_matmul(struct yk_cudnn_builder *builder, int a, int b,
                                 struct yk_cudnn_matmul_length_tensors lengths, int y);
/* Adds the op y = mode(x, b). `b` is YK_CUDNN_NO_TENSOR if the function `mode` has one argument. */
void yk_cudnn_builder_add_pointwise(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode,
                                    int x, int b, int y);
/* Adds the op y = mode(x, b) with a new virtual fp32 tensor y, which has the sizes of x. Returns
 * y. */
int yk_cudnn_builder_add_pointwise_new_output(struct yk_cudnn_builder *builder,
                                              cudnnPointwiseMode_t mode, int x, int b);
/* Adds the op y = dy · mode'(x) with a new virtual fp32 tensor y, which has the sizes of x. `mode`
 * is the backward mode of a function with one argument. Returns y. */
int yk_cudnn_builder_add_pointwise_backward(struct yk_cudnn_builder *builder,
                                            cudnnPointwiseMode_t mode, int dy, int x);
/* Returns a new tensor of int32 that holds the index of each element of x along the axis. */
int yk_cudnn_builder_add_axis_index(struct yk_cudnn_builder *builder, int x, int64_t axis);
/* Returns a new tensor of booleans: the result of the comparison for each element. */
int yk_cudnn_builder_add_compare(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode, int x,
                                 int b);
/* Returns a new tensor with the elements of x where the mask is true, and of b where the mask is
 * false. */
int yk_cudnn_builder_add_select(struct yk_cudnn_builder *builder, int x, int b, int mask);
/* Adds an op that reduces x to y. The op reduces along each axis on which y is smaller than x. On
 * this axis, y has size 1 or, if it is the axis of heads, fewer heads than x. */
void yk_cudnn_builder_add_reduce(struct yk_cudnn_builder *builder, cudnnReduceTensorOp_t mode,
                                 int x, int y);
/* Adds an op that reads x with the sizes and strides of y. It is used for transposition. */
void yk_cudnn_builder_add_reshape(struct yk_cudnn_builder *builder, int x, int y);

/* Finalizes the graph and makes a plan. Tries plans in the order of cuDNN's heuristics and takes
 * the first one whose workspace is not too large. If `repeatable` is true, the plan must also
 * compute the same bits in every run. Returns false if there is no such plan. */
bool yk_cudnn_builder_make_plan(struct yk_cudnn_builder *builder, cudnnHandle_t handle,
                                bool repeatable);

/* Enqueues the plan on the stream of the handle. pointers[i] is the memory of tensor ids[i].
 * Returns false on failure. */
bool yk_cudnn_builder_run_plan(struct yk_cudnn_builder *builder, cudnnHandle_t handle,
                               int64_t count, const int64_t *ids, void *const *pointers,
                               void *workspace);

/* Destroys all descriptors. The builder can then be used for another graph. */
void yk_cudnn_builder_clear(struct yk_cudnn_builder *builder);

#endif
