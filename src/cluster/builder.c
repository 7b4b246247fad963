#include "cluster/builder.h"

#include "base/array.h"
#include "cluster/assume.h"

#include <stdlib.h>
#include <string.h>

yk_status yk_cluster_builder_begin(struct yk_cluster_builder *draft)
{
    *draft = (struct yk_cluster_builder){0};
    return yk_arena_create(&draft->arena);
}

void yk_cluster_builder_free(struct yk_cluster_builder *draft)
{
    free(draft->devices);
    yk_arena_destroy(draft->arena);
    *draft = (struct yk_cluster_builder){0};
}

void yk_cluster_builder_describe_device(const struct yk_datasheet *sheet, double part,
                                        int32_t cores, struct yk_device *out)
{
    const bool is_cpu = sheet->generation == YK_GENERATION_CPU;
    const double scale = is_cpu ? part * cores : part; /* a row for CPUs is of one core */
    *out = (struct yk_device){
        .type = sheet->name,
        .sheet = sheet,
        .generation = sheet->generation,
        .part = part,
        .memory_bytes = sheet->memory_bytes * scale,
        .memory_bytes_per_s = sheet->memory_bytes_per_s * scale,
        .vector_flops = sheet->vector_flops * scale,
        .is_cpu = is_cpu,
        .cores = is_cpu ? cores : 0,
    };
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        out->matrix_flops[i] = sheet->matrix_flops[i] * scale;
    }
}

/* A format that the device lacks is computed in fp32, and fp32 without matrix units as vectors. */
static void fill_rates(struct yk_device *device)
{
    double *matrix = device->matrix_flops;
    if (!(matrix[YK_PRECISION_FP32] > 0)) {
        matrix[YK_PRECISION_FP32] = device->vector_flops;
    }
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        if (!(matrix[i] > 0)) {
            matrix[i] = matrix[YK_PRECISION_FP32];
        }
    }
}

yk_status yk_cluster_builder_add_device(struct yk_cluster_builder *draft,
                                        const struct yk_device *device)
{
    if (draft->device_count >= YK_CLUSTER_MAX_DEVICES) {
        return yk_fail(YK_ERROR_INPUT, "more than %d devices", YK_CLUSTER_MAX_DEVICES);
    }
    YK_TRY(yk_array_grow((void **)&draft->devices, &draft->device_capacity, draft->device_count,
                         sizeof *draft->devices));
    struct yk_device *added = &draft->devices[draft->device_count++];
    *added = *device;
    fill_rates(added);
    if (added->node >= draft->node_count) {
        draft->node_count = added->node + 1;
    }
    return YK_OK;
}

yk_status yk_cluster_builder_begin_links(struct yk_cluster_builder *draft)
{
    const size_t count = (size_t)draft->device_count;
    YK_TRY_NEW(draft->arena, draft->links, count * count);
    return YK_OK;
}

void yk_cluster_builder_set_link(struct yk_cluster_builder *draft, int32_t a, int32_t b,
                                 struct yk_link link)
{
    const int64_t count = draft->device_count;
    draft->links[a * count + b] = link;
    draft->links[b * count + a] = link;
}

yk_status yk_cluster_builder_finish(struct yk_cluster_builder *draft, const char *source,
                                    double host_memory_bytes, struct yk_cluster **out)
{
    struct yk_cluster *cluster = NULL;
    struct yk_device *devices = NULL;
    YK_TRY_NEW(draft->arena, cluster, 1);
    YK_TRY_NEW(draft->arena, devices, draft->device_count);
    memcpy(devices, draft->devices, (size_t)draft->device_count * sizeof *devices);
    const char *copy = yk_arena_copy_text(draft->arena, source, strlen(source));
    if (!copy) {
        return yk_fail_out_of_memory();
    }
    const char *assumption = NULL;
    YK_TRY(yk_cluster_assume_links(draft->devices, draft->device_count, draft->links, draft->arena,
                                   &assumption));
    *cluster = (struct yk_cluster){
        .arena = draft->arena,
        .source = copy,
        .device_count = draft->device_count,
        .node_count = draft->node_count,
        .devices = devices,
        .links = draft->links,
        .host_memory_bytes = host_memory_bytes,
        .assumption = assumption,
    };
    draft->arena = NULL;
    *out = cluster;
    return YK_OK;
}
