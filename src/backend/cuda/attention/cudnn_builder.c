#ifndef YK_NO_CUDNN
#include "backend/cuda/attention/cudnn_builder.h"

#include <stdio.h>
#include <string.h>

bool yk_cudnn_builder_check(struct yk_cudnn_builder *builder, cudnnStatus_t status,
                            const char *action)
{
    if (status == CUDNN_STATUS_SUCCESS || builder->failed) {
        return !builder->failed;
    }
    char detail[256] = "";
    cudnnGetLastErrorString(detail, sizeof(detail));
    builder->failed = true;
    snprintf(builder->reason, sizeof(builder->reason), "%s: %s (%s)", action,
             cudnnGetErrorString(status), detail);
    return false;
}

static cudnnBackendDescriptor_t create(struct yk_cudnn_builder *builder,
                                       cudnnBackendDescriptorType_t type, const char *action)
{
    cudnnBackendDescriptor_t made = NULL;
    if (builder->failed) {
        return NULL;
    }
    if (builder->owned_count == YK_CUDNN_DESCRIPTORS) {
        yk_cudnn_builder_check(builder, CUDNN_STATUS_INTERNAL_ERROR,
                               "a graph larger than the builder holds");
        return NULL;
    }
    if (yk_cudnn_builder_check(builder, cudnnBackendCreateDescriptor(type, &made), action)) {
        builder->owned[builder->owned_count++] = made;
    }
    return made;
}

static void set(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t descriptor,
                cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                const void *values, const char *action)
{
    if (!builder->failed) {
        yk_cudnn_builder_check(
            builder, cudnnBackendSetAttribute(descriptor, name, type, count, values), action);
    }
}

static void set_descriptor(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t descriptor,
                           cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value,
                           const char *action)
{
    set(builder, descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value, action);
}

/* Leaves the attribute out where there is no tensor. */
static void set_tensor(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t descriptor,
                       cudnnBackendAttributeName_t name, int id, const char *action)
{
    if (id != YK_CUDNN_NONE) {
        set_descriptor(builder, descriptor, name, builder->tensor_descriptors[id], action);
    }
}

static bool end(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t descriptor,
                const char *action)
{
    return !builder->failed &&
           yk_cudnn_builder_check(builder, cudnnBackendFinalize(descriptor), action);
}

/* An operation that is done in some way, whose description ends here. */
static cudnnBackendDescriptor_t begin_operation(struct yk_cudnn_builder *builder,
                                                cudnnBackendDescriptorType_t type,
                                                cudnnBackendAttributeName_t way_name,
                                                cudnnBackendDescriptor_t way, const char *action)
{
    end(builder, way, action);
    const cudnnBackendDescriptor_t made = create(builder, type, action);
    set_descriptor(builder, made, way_name, way, action);
    return made;
}

static void end_operation(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t operation,
                          const char *action)
{
    if (!end(builder, operation, action)) {
        return;
    }
    if (builder->operation_count == YK_CUDNN_OPERATIONS) {
        yk_cudnn_builder_check(builder, CUDNN_STATUS_INTERNAL_ERROR,
                               "a graph larger than the builder holds");
        return;
    }
    builder->operations[builder->operation_count++] = operation;
}

int yk_cudnn_builder_tensor(struct yk_cudnn_builder *builder, const struct yk_cudnn_tensor *tensor)
{
    static const char action[] = "tensor";
    const int id = builder->tensor_count > 0 ? builder->tensor_count : 1;
    if (id == YK_CUDNN_TENSORS) {
        yk_cudnn_builder_check(builder, CUDNN_STATUS_INTERNAL_ERROR,
                               "a graph larger than the builder holds");
        return YK_CUDNN_NONE;
    }
    const cudnnBackendDescriptor_t made = create(builder, CUDNN_BACKEND_TENSOR_DESCRIPTOR, action);
    const int64_t unique = id;
    const bool is_half = tensor->type == CUDNN_DATA_HALF || tensor->type == CUDNN_DATA_BFLOAT16;
    const int64_t alignment = is_half ? YK_CUDNN_ALIGNMENT : YK_CUDNN_MIN_ALIGNMENT;
    const bool yes = true;
    set(builder, made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &tensor->type, action);
    set(builder, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, YK_CUDNN_RANK, tensor->sizes,
        action);
    set(builder, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, YK_CUDNN_RANK, tensor->strides,
        action);
    set(builder, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &unique, action);
    set(builder, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment, action);
    if (tensor->place != YK_CUDNN_STORED) {
        set(builder, made,
            tensor->place == YK_CUDNN_VIRTUAL ? CUDNN_ATTR_TENSOR_IS_VIRTUAL
                                              : CUDNN_ATTR_TENSOR_IS_BY_VALUE,
            CUDNN_TYPE_BOOLEAN, 1, &yes, action);
    }
    if (!end(builder, made, action)) {
        return YK_CUDNN_NONE;
    }
    builder->tensors[id] = *tensor;
    builder->tensor_descriptors[id] = made;
    builder->tensor_count = id + 1;
    return id;
}

int yk_cudnn_builder_virtual(struct yk_cudnn_builder *builder, const int64_t sizes[YK_CUDNN_RANK],
                             cudnnDataType_t type)
{
    struct yk_cudnn_tensor tensor = {.type = type, .place = YK_CUDNN_VIRTUAL};
    int64_t stride = 1;
    for (int i = YK_CUDNN_RANK - 1; i >= 0; i--) {
        tensor.sizes[i] = sizes[i];
        tensor.strides[i] = stride;
        stride *= sizes[i];
    }
    return yk_cudnn_builder_tensor(builder, &tensor);
}

void yk_cudnn_builder_matmul(struct yk_cudnn_builder *builder, int a, int b,
                             struct yk_cudnn_padding padding, int y)
{
    static const char action[] = "matmul";
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const cudnnBackendDescriptor_t way = create(builder, CUDNN_BACKEND_MATMUL_DESCRIPTOR, action);
    set(builder, way, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type, action);
    const cudnnBackendDescriptor_t made =
        begin_operation(builder, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_MATMUL_DESC, way, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_CDESC, y, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, padding.rows,
               action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, padding.columns,
               action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, padding.inner,
               action);
    end_operation(builder, made, action);
}

/* All there is to an elementwise op; `type` is what it is computed in. */
struct pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t type;
    int64_t axis; /* of an index */
    int x;
    int b;
    int mask;
    int y;
};

static void add_pointwise(struct yk_cudnn_builder *builder, const struct pointwise *op)
{
    static const char action[] = "pointwise";
    const cudnnBackendDescriptor_t way =
        create(builder, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, action);
    set(builder, way, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &op->mode, action);
    set(builder, way, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &op->type, action);
    if (op->mode == CUDNN_POINTWISE_GEN_INDEX) {
        set(builder, way, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &op->axis, action);
    }
    const cudnnBackendDescriptor_t made =
        begin_operation(builder, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, way, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, op->x, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, op->b, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, op->mask, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, op->y, action);
    end_operation(builder, made, action);
}

void yk_cudnn_builder_pointwise(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode, int x,
                                int b, int y)
{
    const struct pointwise op = {.mode = mode, .type = CUDNN_DATA_FLOAT, .x = x, .b = b, .y = y};
    add_pointwise(builder, &op);
}

/* The op into a new tensor, of x's sizes and the type it is computed in. */
static int add_operation(struct yk_cudnn_builder *builder, struct pointwise op)
{
    op.y = yk_cudnn_builder_virtual(builder, builder->tensors[op.x].sizes, op.type);
    add_pointwise(builder, &op);
    return op.y;
}

int yk_cudnn_builder_map(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode, int x, int b)
{
    return add_operation(
        builder, (struct pointwise){.mode = mode, .type = CUDNN_DATA_FLOAT, .x = x, .b = b});
}

int yk_cudnn_builder_index(struct yk_cudnn_builder *builder, int x, int64_t axis)
{
    const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_GEN_INDEX;
    return add_operation(
        builder, (struct pointwise){.mode = mode, .type = CUDNN_DATA_INT32, .axis = axis, .x = x});
}

int yk_cudnn_builder_compare(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode, int x,
                             int b)
{
    return add_operation(
        builder, (struct pointwise){.mode = mode, .type = CUDNN_DATA_BOOLEAN, .x = x, .b = b});
}

int yk_cudnn_builder_select(struct yk_cudnn_builder *builder, int x, int b, int mask)
{
    const struct pointwise op = {.mode = CUDNN_POINTWISE_BINARY_SELECT,
                                 .type = CUDNN_DATA_FLOAT,
                                 .x = x,
                                 .b = b,
                                 .mask = mask};
    return add_operation(builder, op);
}

void yk_cudnn_builder_reduce(struct yk_cudnn_builder *builder, cudnnReduceTensorOp_t mode, int x,
                             int y)
{
    static const char action[] = "reduction";
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const cudnnBackendDescriptor_t way =
        create(builder, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, action);
    set(builder, way, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type, action);
    set(builder, way, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &mode,
        action);
    const cudnnBackendDescriptor_t made =
        begin_operation(builder, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_REDUCTION_DESC, way, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y, action);
    end_operation(builder, made, action);
}

void yk_cudnn_builder_reshape(struct yk_cudnn_builder *builder, int x, int y)
{
    static const char action[] = "reshape";
    const cudnnBackendDescriptor_t made =
        create(builder, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x, action);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y, action);
    end_operation(builder, made, action);
}

cudnnBackendDescriptor_t yk_cudnn_builder_finish(struct yk_cudnn_builder *builder,
                                                 cudnnHandle_t handle)
{
    static const char action[] = "operation graph";
    const cudnnBackendDescriptor_t graph =
        create(builder, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, action);
    set(builder, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        builder->operation_count, (const void *)builder->operations, action);
    if (handle) {
        set(builder, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle,
            action);
    }
    end(builder, graph, action);
    return graph;
}

void yk_cudnn_builder_clear(struct yk_cudnn_builder *builder)
{
    if (builder->plan) {
        cudnnBackendDestroyDescriptor(builder->plan);
    }
    if (builder->config) {
        cudnnBackendDestroyDescriptor(builder->config);
    }
    for (int i = builder->owned_count - 1; i >= 0; i--) {
        cudnnBackendDestroyDescriptor(builder->owned[i]);
    }
    memset(builder, 0, sizeof(*builder));
}

#endif
