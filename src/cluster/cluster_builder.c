#include "cluster/cluster_builder.h"

#include "base/array.h"
#include "base/units.h"
#include "cluster/datasheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a device that no datasheet knows, and between nodes: what the oldest of common machines has.
 */
#define UNKNOWN_BUS "pcie3"
#define NETWORK "10GbE"

/* What was assumed so far: the ends of the range, each with a device that has it. */
struct assumed {
    const struct yk_interconnect *slowest;
    const struct yk_interconnect *fastest;
    const struct yk_device *slowest_device;
    const struct yk_device *fastest_device;
    const struct yk_interconnect *network;
};

static const struct yk_interconnect *bus_of(const struct yk_device *device)
{
    return yk_interconnect_find(device->datasheet ? device->datasheet->host_interconnect
                                                  : UNKNOWN_BUS);
}

static const struct yk_interconnect *peer_of(const struct yk_device *a, const struct yk_device *b)
{
    const bool twins =
        a->datasheet && a->datasheet == b->datasheet && a->fraction == 1 && b->fraction == 1;
    return twins && a->datasheet->peer_interconnect
               ? yk_interconnect_find(a->datasheet->peer_interconnect)
               : NULL;
}

static const struct yk_interconnect *
assume_within_node(const struct yk_device *a, const struct yk_device *b, struct assumed *assumed)
{
    const struct yk_device *device = a;
    const struct yk_interconnect *link = peer_of(a, b);
    if (!link) {
        const struct yk_interconnect *first = bus_of(a);
        const struct yk_interconnect *second = bus_of(b);
        device = second->bytes_per_s < first->bytes_per_s ? b : a;
        link = second->bytes_per_s < first->bytes_per_s ? second : first;
    }
    if (!assumed->slowest || link->bytes_per_s < assumed->slowest->bytes_per_s) {
        assumed->slowest = link;
        assumed->slowest_device = device;
    }
    if (!assumed->fastest || link->bytes_per_s > assumed->fastest->bytes_per_s) {
        assumed->fastest = link;
        assumed->fastest_device = device;
    }
    return link;
}

/* "PCIe 4.0 x16 of rtx3090, 32GB/s". */
static void add_link(struct yk_text *out, const struct yk_interconnect *link,
                     const struct yk_device *device)
{
    char bandwidth[YK_UNITS_BUFFER_SIZE];
    yk_units_format(link->bytes_per_s, YK_UNIT_BYTES_PER_S, bandwidth);
    yk_text_add(out, link->title);
    if (device) {
        yk_text_addf(out, " of %s", device->type ? device->type : device->name);
    }
    yk_text_addf(out, ", %s", bandwidth);
}

static yk_status describe(const struct assumed *assumed, struct yk_arena *arena, const char **out)
{
    struct yk_text text = {0};
    yk_text_add(&text, "links not given: ");
    if (assumed->slowest) {
        add_link(&text, assumed->slowest, assumed->slowest_device);
    }
    if (assumed->fastest != assumed->slowest) {
        yk_text_add(&text, ", to ");
        add_link(&text, assumed->fastest, assumed->fastest_device);
        yk_text_add(&text, "; each pair talks at its slower device's pace");
    }
    if (assumed->network) {
        yk_text_add(&text, assumed->slowest ? "; between nodes " : "between nodes ");
        add_link(&text, assumed->network, NULL);
    }
    return yk_text_move_to_arena(&text, arena, out);
}

/* Fills the links without a bandwidth. `out` is a sentence that says what was assumed; NULL where
 * all links were given. */
static yk_status assume_links(struct yk_cluster_builder *builder, const char **out)
{
    const int32_t count = builder->device_count;
    struct assumed assumed = {0};
    for (int32_t a = 0; a < count; a++) {
        for (int32_t b = a + 1; b < count; b++) {
            if (builder->links[(int64_t)a * count + b].bytes_per_s > 0) {
                continue;
            }
            const bool is_one_node = builder->devices[a].node == builder->devices[b].node;
            const struct yk_interconnect *link =
                is_one_node
                    ? assume_within_node(&builder->devices[a], &builder->devices[b], &assumed)
                    : yk_interconnect_find(NETWORK);
            assumed.network = is_one_node ? assumed.network : link;
            yk_cluster_builder_set_link(builder, a, b,
                                        (struct yk_link){link->latency_s, link->bytes_per_s});
        }
    }
    *out = NULL;
    return assumed.slowest || assumed.network ? describe(&assumed, builder->arena, out) : YK_OK;
}

yk_status yk_cluster_builder_begin(struct yk_cluster_builder *builder)
{
    *builder = (struct yk_cluster_builder){0};
    return yk_arena_create(&builder->arena);
}

void yk_cluster_builder_free(struct yk_cluster_builder *builder)
{
    free(builder->devices);
    yk_arena_destroy(builder->arena);
    *builder = (struct yk_cluster_builder){0};
}

void yk_cluster_builder_device_from_datasheet(const struct yk_datasheet *sheet, double part,
                                              int32_t cores, struct yk_device *out)
{
    const bool is_cpu = sheet->generation == YK_DEVICE_GENERATION_CPU;
    const double scale = is_cpu ? part * cores : part; /* a row for CPUs is of one core */
    *out = (struct yk_device){
        .type = sheet->name,
        .datasheet = sheet,
        .generation = sheet->generation,
        .fraction = part,
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

yk_status yk_cluster_builder_add_device(struct yk_cluster_builder *builder,
                                        const struct yk_device *device)
{
    if (builder->device_count >= YK_CLUSTER_MAX_DEVICES) {
        return yk_fail(YK_ERROR_INPUT, "more than %d devices", YK_CLUSTER_MAX_DEVICES);
    }
    YK_TRY_GROW_ARRAY(builder->devices, builder->device_capacity, builder->device_count);
    struct yk_device *added = &builder->devices[builder->device_count];
    *added = *device;
    const int number = (int)builder->kind_counts[device->is_cpu]++;
    if (!device->name) {
        char name[24];
        snprintf(name, sizeof name, device->is_cpu ? "cpu%d" : "gpu%d", number);
        YK_TRY(yk_arena_strdup(builder->arena, name, &added->name));
    }
    builder->device_count++;
    fill_rates(added);
    if (added->node >= builder->node_count) {
        builder->node_count = added->node + 1;
    }
    return YK_OK;
}

yk_status yk_cluster_builder_begin_links(struct yk_cluster_builder *builder)
{
    const size_t count = (size_t)builder->device_count;
    YK_TRY_NEW(builder->arena, builder->links, count * count);
    return YK_OK;
}

void yk_cluster_builder_set_link(struct yk_cluster_builder *builder, int32_t a, int32_t b,
                                 struct yk_link link)
{
    const int64_t count = builder->device_count;
    builder->links[a * count + b] = link;
    builder->links[b * count + a] = link;
}

yk_status yk_cluster_builder_finish(struct yk_cluster_builder *builder, const char *source,
                                    double host_memory_bytes, struct yk_cluster **out)
{
    struct yk_cluster *cluster = NULL;
    struct yk_device *devices = NULL;
    YK_TRY_NEW(builder->arena, cluster, 1);
    YK_TRY_NEW(builder->arena, devices, builder->device_count);
    memcpy(devices, builder->devices, (size_t)builder->device_count * sizeof *devices);
    const char *copy = NULL;
    const char *assumption = NULL;
    YK_TRY(yk_arena_strdup(builder->arena, source, &copy));
    YK_TRY(assume_links(builder, &assumption));
    *cluster = (struct yk_cluster){
        .arena = builder->arena,
        .source = copy,
        .device_count = builder->device_count,
        .node_count = builder->node_count,
        .devices = devices,
        .links = builder->links,
        .host_memory_bytes = host_memory_bytes,
        .assumption = assumption,
    };
    builder->arena = NULL;
    *out = cluster;
    return YK_OK;
}
