#ifndef YK_NO_CUDNN
#include "backend/cuda/attention/cudnn_builder.h"

#include "backend/cuda/lane.h"

#include <string.h>

/* Records a failure. Returns false after the first one. */
static bool check(struct yk_cudnn_builder *builder, cudnnStatus_t status)
{
    builder->failed = builder->failed || status != CUDNN_STATUS_SUCCESS;
    return !builder->failed;
}

static cudnnBackendDescriptor_t create(struct yk_cudnn_builder *builder,
                                       cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t made = NULL;
    builder->failed = builder->failed || builder->owned_count == YK_CUDNN_MAX_DESCRIPTORS;
    if (!builder->failed && check(builder, cudnnBackendCreateDescriptor(type, &made))) {
        builder->owned[builder->owned_count++] = made;
    }
    return made;
}

static void set(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t descriptor,
                cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                const void *values)
{
    if (!builder->failed) {
        (void)check(builder, cudnnBackendSetAttribute(descriptor, name, type, count, values));
    }
}

static void set_descriptor(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t descriptor,
                           cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t value)
{
    set(builder, descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

/* Does not set the attribute for YK_CUDNN_NO_TENSOR. */
static void set_tensor(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t descriptor,
                       cudnnBackendAttributeName_t name, int id)
{
    if (id != YK_CUDNN_NO_TENSOR) {
        set_descriptor(builder, descriptor, name, builder->tensor_descriptors[id]);
    }
}

static bool end(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t descriptor)
{
    return !builder->failed && check(builder, cudnnBackendFinalize(descriptor));
}

/* Finalizes `computation` and creates an operation that uses it. */
static cudnnBackendDescriptor_t begin_operation(struct yk_cudnn_builder *builder,
                                                cudnnBackendDescriptorType_t type,
                                                cudnnBackendAttributeName_t computation_name,
                                                cudnnBackendDescriptor_t computation)
{
    (void)end(builder, computation);
    const cudnnBackendDescriptor_t made = create(builder, type);
    set_descriptor(builder, made, computation_name, computation);
    return made;
}

static void end_operation(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t operation)
{
    builder->failed = builder->failed || builder->operation_count == YK_CUDNN_MAX_OPERATIONS;
    if (end(builder, operation)) {
        builder->operations[builder->operation_count++] = operation;
    }
}

int yk_cudnn_builder_add_tensor(struct yk_cudnn_builder *builder,
                                const struct yk_cudnn_tensor *tensor)
{
    const int id = builder->tensor_count > 0 ? builder->tensor_count : 1;
    if (id == YK_CUDNN_MAX_TENSORS) {
        builder->failed = true;
        return YK_CUDNN_NO_TENSOR;
    }
    const cudnnBackendDescriptor_t made = create(builder, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const int64_t unique = id;
    const bool is_half = tensor->type == CUDNN_DATA_HALF || tensor->type == CUDNN_DATA_BFLOAT16;
    const int64_t alignment = is_half ? YK_CUDNN_HALF_ALIGNMENT : YK_CUDNN_MIN_ALIGNMENT;
    const bool yes = true;
    set(builder, made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &tensor->type);
    set(builder, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, YK_CUDNN_TENSOR_RANK,
        tensor->sizes);
    set(builder, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, YK_CUDNN_TENSOR_RANK,
        tensor->strides);
    set(builder, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &unique);
    set(builder, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    if (tensor->place != YK_CUDNN_IN_DEVICE_MEMORY) {
        set(builder, made,
            tensor->place == YK_CUDNN_VIRTUAL ? CUDNN_ATTR_TENSOR_IS_VIRTUAL
                                              : CUDNN_ATTR_TENSOR_IS_BY_VALUE,
            CUDNN_TYPE_BOOLEAN, 1, &yes);
    }
    if (!end(builder, made)) {
        return YK_CUDNN_NO_TENSOR;
    }
    builder->tensors[id] = *tensor;
    builder->tensor_descriptors[id] = made;
    builder->tensor_count = id + 1;
    return id;
}

int yk_cudnn_builder_add_virtual_tensor(struct yk_cudnn_builder *builder,
                                        const int64_t sizes[YK_CUDNN_TENSOR_RANK],
                                        cudnnDataType_t type)
{
    struct yk_cudnn_tensor tensor = {.type = type, .place = YK_CUDNN_VIRTUAL};
    int64_t stride = 1;
    for (int i = YK_CUDNN_TENSOR_RANK - 1; i >= 0; i--) {
        tensor.sizes[i] = sizes[i];
        tensor.strides[i] = stride;
        stride *= sizes[i];
    }
    return yk_cudnn_builder_add_tensor(builder, &tensor);
}

void yk_cudnn_builder_add_matmul(struct yk_cudnn_builder *builder, int a, int b,
                                 struct yk_cudnn_matmul_length_tensors lengths, int y)
{
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const cudnnBackendDescriptor_t computation = create(builder, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    set(builder, computation, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    const cudnnBackendDescriptor_t made =
        begin_operation(builder, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_MATMUL_DESC, computation);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_CDESC, y);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, lengths.rows);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, lengths.columns);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, lengths.inner);
    end_operation(builder, made);
}

/* An elementwise op. `type` is the type of the computation. */
struct pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t type;
    int64_t axis; /* only of CUDNN_POINTWISE_GEN_INDEX */
    int x;
    int b;
    int mask;
    int dy; /* only of backward modes */
    int y;  /* of backward modes: dx */
};

static void add_pointwise(struct yk_cudnn_builder *builder, const struct pointwise *op)
{
    const cudnnBackendDescriptor_t computation =
        create(builder, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set(builder, computation, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &op->mode);
    set(builder, computation, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &op->type);
    if (op->mode == CUDNN_POINTWISE_GEN_INDEX) {
        set(builder, computation, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &op->axis);
    }
    const cudnnBackendDescriptor_t made =
        begin_operation(builder, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, computation);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, op->x);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, op->b);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, op->mask);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, op->dy);
    set_tensor(builder, made,
               op->dy == YK_CUDNN_NO_TENSOR ? CUDNN_ATTR_OPERATION_POINTWISE_YDESC
                                            : CUDNN_ATTR_OPERATION_POINTWISE_DXDESC,
               op->y);
    end_operation(builder, made);
}

void yk_cudnn_builder_add_pointwise(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode,
                                    int x, int b, int y)
{
    const struct pointwise op = {.mode = mode, .type = CUDNN_DATA_FLOAT, .x = x, .b = b, .y = y};
    add_pointwise(builder, &op);
}

/* Adds the op with a new output tensor, which has the sizes of x and the type op.type. */
static int add_operation(struct yk_cudnn_builder *builder, struct pointwise op)
{
    op.y = yk_cudnn_builder_add_virtual_tensor(builder, builder->tensors[op.x].sizes, op.type);
    add_pointwise(builder, &op);
    return op.y;
}

int yk_cudnn_builder_add_pointwise_new_output(struct yk_cudnn_builder *builder,
                                              cudnnPointwiseMode_t mode, int x, int b)
{
    return add_operation(
        builder, (struct pointwise){.mode = mode, .type = CUDNN_DATA_FLOAT, .x = x, .b = b});
}

int yk_cudnn_builder_add_pointwise_backward(struct yk_cudnn_builder *builder,
                                            cudnnPointwiseMode_t mode, int dy, int x)
{
    return add_operation(
        builder, (struct pointwise){.mode = mode, .type = CUDNN_DATA_FLOAT, .x = x, .dy = dy});
}

int yk_cudnn_builder_add_axis_index(struct yk_cudnn_builder *builder, int x, int64_t axis)
{
    const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_GEN_INDEX;
    return add_operation(
        builder, (struct pointwise){.mode = mode, .type = CUDNN_DATA_INT32, .axis = axis, .x = x});
}

int yk_cudnn_builder_add_compare(struct yk_cudnn_builder *builder, cudnnPointwiseMode_t mode, int x,
                                 int b)
{
    return add_operation(
        builder, (struct pointwise){.mode = mode, .type = CUDNN_DATA_BOOLEAN, .x = x, .b = b});
}

int yk_cudnn_builder_add_select(struct yk_cudnn_builder *builder, int x, int b, int mask)
{
    const struct pointwise op = {.mode = CUDNN_POINTWISE_BINARY_SELECT,
                                 .type = CUDNN_DATA_FLOAT,
                                 .x = x,
                                 .b = b,
                                 .mask = mask};
    return add_operation(builder, op);
}

void yk_cudnn_builder_add_reduce(struct yk_cudnn_builder *builder, cudnnReduceTensorOp_t mode,
                                 int x, int y)
{
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const cudnnBackendDescriptor_t computation =
        create(builder, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    set(builder, computation, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(builder, computation, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1,
        &mode);
    const cudnnBackendDescriptor_t made =
        begin_operation(builder, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_REDUCTION_DESC, computation);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    end_operation(builder, made);
}

void yk_cudnn_builder_add_reshape(struct yk_cudnn_builder *builder, int x, int y)
{
    const cudnnBackendDescriptor_t made =
        create(builder, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
    set_tensor(builder, made, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    end_operation(builder, made);
}

static cudnnBackendDescriptor_t finish_graph(struct yk_cudnn_builder *builder, cudnnHandle_t handle)
{
    const cudnnBackendDescriptor_t graph = create(builder, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(builder, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        builder->operation_count, (const void *)builder->operations);
    set(builder, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    (void)end(builder, graph);
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

/* ---- the plan ---- */

enum {
    MAX_CONFIGS = 32, /* engine configurations to consider */
};

/* Limit of the workspace of one plan, in bytes. */
static const int64_t max_workspace = 4LL << 30;

/* Whether the engine of a configuration computes the same bits in every run. */
static bool is_repeatable(cudnnBackendDescriptor_t config)
{
    cudnnBackendDescriptor_t engine = NULL;
    cudnnStatus_t status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine);
    if (status != CUDNN_STATUS_SUCCESS) {
        return false;
    }
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count = 0;
    YK_CUDA_CALL_UNLESS_FAILED(status, cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                                                CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                                                &count, (void *)&engine));
    YK_CUDA_CALL_UNLESS_FAILED(
        status, cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                         CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                                         &count, notes));
    bool repeatable = status == CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; repeatable && i < count; i++) {
        repeatable = notes[i] != CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    }
    cudnnBackendDestroyDescriptor(engine);
    return repeatable;
}

/* Makes the plan of a configuration. Returns NULL where the plan does not meet the options. */
static cudnnBackendDescriptor_t try_config(struct yk_cudnn_builder *builder,
                                           cudnnBackendDescriptor_t config, bool repeatable)
{
    cudnnBackendDescriptor_t plan = NULL;
    if ((repeatable && !is_repeatable(config)) ||
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan) !=
            CUDNN_STATUS_SUCCESS) {
        return NULL;
    }
    int64_t count = 0;
    cudnnStatus_t status =
        cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void *)&config);
    YK_CUDA_CALL_UNLESS_FAILED(status, cudnnBackendFinalize(plan));
    YK_CUDA_CALL_UNLESS_FAILED(
        status, cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                         CUDNN_TYPE_INT64, 1, &count, &builder->workspace_bytes));
    if (status != CUDNN_STATUS_SUCCESS || builder->workspace_bytes > max_workspace) {
        cudnnBackendDestroyDescriptor(plan);
        return NULL;
    }
    return plan;
}

/* Keeps the first usable configuration. cuDNN sorts them by expected speed. */
static void try_configs(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t heuristics,
                        bool repeatable)
{
    cudnnBackendDescriptor_t configs[MAX_CONFIGS];
    int64_t made = 0;
    while (made < MAX_CONFIGS &&
           cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configs[made]) ==
               CUDNN_STATUS_SUCCESS) {
        made++;
    }
    int64_t count = 0;
    if (cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, made, &count,
                                 (void *)configs) != CUDNN_STATUS_SUCCESS) {
        count = 0;
    }
    for (int64_t i = 0; i < made; i++) {
        if (i < count && !builder->plan) {
            builder->plan = try_config(builder, configs[i], repeatable);
            if (builder->plan) {
                builder->config = configs[i]; /* the plan refers to it */
                continue;
            }
        }
        cudnnBackendDestroyDescriptor(configs[i]);
    }
}

/* Returns NULL where cuDNN has no heuristics of this mode. */
static cudnnBackendDescriptor_t ask_heuristics(cudnnBackendDescriptor_t graph,
                                               cudnnBackendHeurMode_t mode)
{
    cudnnBackendDescriptor_t made = NULL;
    cudnnStatus_t status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &made);
    YK_CUDA_CALL_UNLESS_FAILED(
        status, cudnnBackendSetAttribute(made, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                         CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void *)&graph));
    YK_CUDA_CALL_UNLESS_FAILED(status, cudnnBackendSetAttribute(made, CUDNN_ATTR_ENGINEHEUR_MODE,
                                                                CUDNN_TYPE_HEUR_MODE, 1, &mode));
    YK_CUDA_CALL_UNLESS_FAILED(status, cudnnBackendFinalize(made));
    if (status != CUDNN_STATUS_SUCCESS && made) {
        cudnnBackendDestroyDescriptor(made);
        made = NULL;
    }
    return made;
}

bool yk_cudnn_builder_make_plan(struct yk_cudnn_builder *builder, cudnnHandle_t handle,
                                bool repeatable)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    const cudnnBackendDescriptor_t graph = finish_graph(builder, handle);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (builder->failed || builder->plan) {
            break;
        }
        const cudnnBackendDescriptor_t heuristics = ask_heuristics(graph, modes[i]);
        if (heuristics) {
            try_configs(builder, heuristics, repeatable);
            cudnnBackendDestroyDescriptor(heuristics);
        }
    }
    builder->failed = builder->failed || !builder->plan;
    return !builder->failed;
}

bool yk_cudnn_builder_run_plan(struct yk_cudnn_builder *builder, cudnnHandle_t handle,
                               int64_t count, const int64_t *ids, void *const *pointers,
                               void *workspace)
{
    cudnnBackendDescriptor_t pack = NULL;
    cudnnStatus_t status =
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    YK_CUDA_CALL_UNLESS_FAILED(status,
                               cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                                                        CUDNN_TYPE_INT64, count, ids));
    YK_CUDA_CALL_UNLESS_FAILED(
        status, cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                                         CUDNN_TYPE_VOID_PTR, count, (const void *)pointers));
    YK_CUDA_CALL_UNLESS_FAILED(
        status, cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                                         CUDNN_TYPE_VOID_PTR, 1, (const void *)&workspace));
    YK_CUDA_CALL_UNLESS_FAILED(status, cudnnBackendFinalize(pack));
    YK_CUDA_CALL_UNLESS_FAILED(status, cudnnBackendExecute(handle, builder->plan, pack));
    (void)check(builder, status);
    if (pack) {
        cudnnBackendDestroyDescriptor(pack);
    }
    return !builder->failed;
}

#endif
