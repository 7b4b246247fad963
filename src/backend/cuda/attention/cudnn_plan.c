/* Plans: of the ways cuDNN knows to run a graph, the first that will do. */
#ifndef YK_NO_CUDNN
#include "backend/cuda/attention/cudnn_builder.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_CONFIGS = 32, /* configurations of engines that are looked at */
};

/* Sets an attribute if all went well before. */
static cudnnStatus_t give(cudnnStatus_t before, cudnnBackendDescriptor_t descriptor,
                          cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          int64_t count, const void *values)
{
    if (before != CUDNN_STATUS_SUCCESS) {
        return before;
    }
    return cudnnBackendSetAttribute(descriptor, name, type, count, values);
}

static cudnnStatus_t get(cudnnStatus_t before, cudnnBackendDescriptor_t descriptor,
                         cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         int64_t most, int64_t *count, void *values)
{
    if (before != CUDNN_STATUS_SUCCESS) {
        return before;
    }
    return cudnnBackendGetAttribute(descriptor, name, type, most, count, values);
}

static cudnnStatus_t end(cudnnStatus_t before, cudnnBackendDescriptor_t descriptor)
{
    return before != CUDNN_STATUS_SUCCESS ? before : cudnnBackendFinalize(descriptor);
}

/* Says why the last thing tried did not do; only the last one is kept. */
static void note(struct yk_cudnn_builder *builder, const char *what, cudnnStatus_t status)
{
    char detail[256] = "";
    cudnnGetLastErrorString(detail, sizeof(detail));
    snprintf(builder->reason, sizeof(builder->reason), "%s: %s (%s)", what,
             cudnnGetErrorString(status), detail);
}

/* The number of a configuration's engine, and whether it promises the same bits every time. */
static cudnnStatus_t inspect_engine(cudnnBackendDescriptor_t config, int64_t *number,
                                    bool *repeatable)
{
    cudnnBackendDescriptor_t engine = NULL;
    cudnnStatus_t status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count = 0;
    status = get(status, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                 &count, (void *)&engine);
    status =
        get(status, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, number);
    status = get(status, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes);
    *repeatable = status == CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; *repeatable && i < count; i++) {
        *repeatable = notes[i] != CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    }
    cudnnBackendDestroyDescriptor(engine);
    return status;
}

/* The configuration as a plan, or NULL where it will not do. */
static cudnnBackendDescriptor_t try_config(struct yk_cudnn_builder *builder,
                                           cudnnBackendDescriptor_t config,
                                           cudnnBackendDescriptor_t device,
                                           struct yk_cudnn_plan_options options)
{
    bool repeatable = false;
    cudnnStatus_t status = inspect_engine(config, &builder->engine, &repeatable);
    if (status != CUDNN_STATUS_SUCCESS || (options.repeatable && !repeatable)) {
        note(builder, "an engine that is not the same every time", status);
        return NULL;
    }
    cudnnBackendDescriptor_t plan = NULL;
    status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan);
    if (status != CUDNN_STATUS_SUCCESS) {
        note(builder, "plan", status);
        return NULL;
    }
    status = give(status, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                  CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void *)&config);
    if (device) {
        status = give(status, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void *)&device);
    }
    int64_t count = 0;
    status = end(status, plan);
    status = get(status, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                 &count, &builder->workspace_bytes);
    if (status == CUDNN_STATUS_SUCCESS && builder->workspace_bytes <= options.max_workspace) {
        return plan;
    }
    note(builder, status == CUDNN_STATUS_SUCCESS ? "more workspace than is allowed" : "plan",
         status);
    cudnnBackendDestroyDescriptor(plan);
    return NULL;
}

/* Configurations come in the order of the speed that cuDNN expects of them. */
static void try_configs(struct yk_cudnn_builder *builder, cudnnBackendDescriptor_t heuristics,
                        cudnnBackendDescriptor_t device, struct yk_cudnn_plan_options options)
{
    cudnnBackendDescriptor_t configs[MAX_CONFIGS];
    int64_t made = 0;
    while (made < MAX_CONFIGS &&
           cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configs[made]) ==
               CUDNN_STATUS_SUCCESS) {
        made++;
    }
    int64_t count = 0;
    const cudnnStatus_t status =
        get(CUDNN_STATUS_SUCCESS, heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
            CUDNN_TYPE_BACKEND_DESCRIPTOR, made, &count, (void *)configs);
    if (status != CUDNN_STATUS_SUCCESS || count == 0) {
        note(builder, "no engine takes the graph", status);
        count = 0;
    }
    for (int64_t i = 0; i < made; i++) {
        if (i < count && !builder->plan) {
            builder->plan = try_config(builder, configs[i], device, options);
            if (builder->plan) {
                builder->config = configs[i]; /* the plan refers to it */
                continue;
            }
        }
        cudnnBackendDestroyDescriptor(configs[i]);
    }
}

/* The heuristics of that mode, or NULL. */
static cudnnBackendDescriptor_t ask_heuristics(struct yk_cudnn_builder *builder,
                                               cudnnBackendDescriptor_t graph,
                                               cudnnBackendHeurMode_t mode,
                                               cudnnBackendDescriptor_t device)
{
    cudnnBackendDescriptor_t made = NULL;
    cudnnStatus_t status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &made);
    status = give(status, made, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                  CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void *)&graph);
    status = give(status, made, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (device) {
        status = give(status, made, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                      1, (const void *)&device);
    }
    status = end(status, made);
    if (status == CUDNN_STATUS_SUCCESS) {
        return made;
    }
    note(builder, "heuristics", status);
    if (made) {
        cudnnBackendDestroyDescriptor(made);
    }
    return NULL;
}

bool yk_cudnn_plan_make(struct yk_cudnn_builder *builder, cudnnHandle_t handle,
                        cudnnBackendDescriptor_t device, struct yk_cudnn_plan_options options)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    const cudnnBackendDescriptor_t graph = yk_cudnn_builder_finish(builder, handle);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (builder->failed || builder->plan) {
            break;
        }
        const cudnnBackendDescriptor_t heuristics =
            ask_heuristics(builder, graph, modes[i], device);
        if (heuristics) {
            try_configs(builder, heuristics, device, options);
            cudnnBackendDestroyDescriptor(heuristics);
        }
    }
    builder->failed = builder->failed || !builder->plan;
    return !builder->failed;
}

bool yk_cudnn_plan_run(struct yk_cudnn_builder *builder, cudnnHandle_t handle, int64_t count,
                       const int64_t *ids, void *const *pointers, void *workspace)
{
    cudnnBackendDescriptor_t pack = NULL;
    cudnnStatus_t status =
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    status = give(status, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids);
    status = give(status, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count,
                  (const void *)pointers);
    status = give(status, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
                  (const void *)&workspace);
    status = end(status, pack);
    if (status == CUDNN_STATUS_SUCCESS) {
        status = cudnnBackendExecute(handle, builder->plan, pack);
    }
    yk_cudnn_builder_check(builder, status, "execution");
    if (pack) {
        cudnnBackendDestroyDescriptor(pack);
    }
    return !builder->failed;
}

#endif
