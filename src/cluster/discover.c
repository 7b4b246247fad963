#include "cluster/discover.h"

#include "cluster/cluster_builder.h"
#include "cluster/datasheet.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define GB 1e9

yk_status yk_discover_machine(const struct yk_nvml_functions *nvml, struct yk_machine *out)
{
    struct yk_nvml_functions loaded = {0};
    *out = (struct yk_machine){0};
    YK_TRY(yk_topology_find(&out->host));
    if (!nvml && !yk_nvml_load_library(&loaded)) {
        out->note = "no GPU: there is no NVIDIA driver here (libnvidia-ml.so.1)";
        return YK_OK;
    }
    const int count = yk_nvml_list_gpus(nvml ? nvml : &loaded, out->gpus, YK_DISCOVER_MAX_GPUS);
    out->gpu_count = count > 0 ? count : 0;
    if (count <= 0) {
        out->note = count < 0 ? "no GPU: the NVIDIA driver does not answer; nvidia-smi may say why"
                              : "no GPU: the NVIDIA driver knows of none";
    }
    return YK_OK;
}

/* `name` without `prefix`, in any case, and the spaces after it. */
static const char *strip_prefix(const char *name, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncasecmp(name, prefix, length) == 0 ? name + length + strspn(name + length, " ")
                                                  : name;
}

const struct yk_datasheet *yk_discover_find_datasheet(const char *name)
{
    const char *product = strip_prefix(name, "NVIDIA");
    const struct yk_datasheet *sheet = yk_datasheet_find(product);
    return sheet ? sheet : yk_datasheet_find(strip_prefix(product, "Tesla"));
}

static yk_status describe_gpu(const struct yk_nvml_gpu *gpu, struct yk_device *out)
{
    const struct yk_datasheet *sheet = yk_discover_find_datasheet(gpu->name);
    if (sheet) {
        yk_cluster_builder_device_from_datasheet(sheet, 1, 0, out);
    } else {
        *out = (struct yk_device){
            .fraction = 1,
            .memory_bytes_per_s = gpu->memory_bytes_per_s,
            .vector_flops = gpu->fp32_flops,
        };
    }
    out->memory_bytes = gpu->memory_bytes > 0 ? gpu->memory_bytes : out->memory_bytes;
    if (!(out->vector_flops > 0) || !(out->memory_bytes_per_s > 0) || !(out->memory_bytes > 0)) {
        return yk_fail(YK_ERROR_INPUT,
                       "no datasheet knows the %s, and its driver does not tell its clocks; write "
                       "a cluster file that says its memory, rates and memory_bandwidth",
                       gpu->name);
    }
    return YK_OK;
}

static yk_status add_cpu(const struct yk_topology *host, struct yk_cluster_builder *builder)
{
    struct yk_device device = {0};
    const int cores = host->core_count > 0 ? host->core_count : host->thread_count;
    yk_cluster_builder_device_from_datasheet(yk_datasheet_find("cpu"), 1, cores > 0 ? cores : 1,
                                             &device);
    device.memory_bytes = host->memory_bytes > 0 ? host->memory_bytes : device.memory_bytes;
    return yk_cluster_builder_add_device(builder, &device);
}

/* Bandwidth of one link in one direction, from the whitepapers of P100, V100, A100, GA102 (bridge),
 * H100 and Blackwell. */
static double nvlink_bytes_per_s(const struct yk_nvml_gpu *gpu)
{
    const int major = gpu->capability_major;
    const bool is_ga102 = major == 8 && gpu->capability_minor != 0;
    return is_ga102                   ? 14.0625 * GB
           : major == 6               ? 20 * GB
           : major >= 7 && major <= 9 ? 25 * GB
                                      : 50 * GB;
}

/* A lane of generation 3 carries 1 GB/s, and every generation doubles that. */
static double pcie_bytes_per_s(const struct yk_nvml_gpu *gpu)
{
    return gpu->pcie_generation > 0 ? gpu->pcie_width * GB * exp2(gpu->pcie_generation - 3) : 0;
}

static struct yk_link link_of(const struct yk_nvml_gpu *a, const struct yk_nvml_gpu *b)
{
    const struct yk_interconnect *nvlink = yk_interconnect_find("nvlink3");
    const struct yk_interconnect *pcie = yk_interconnect_find("pcie4");
    if (a->nvlink_count > 0 && b->nvlink_count > 0) {
        return (struct yk_link){nvlink->latency_s, fmin(a->nvlink_count * nvlink_bytes_per_s(a),
                                                        b->nvlink_count * nvlink_bytes_per_s(b))};
    }
    return (struct yk_link){pcie->latency_s, fmin(pcie_bytes_per_s(a), pcie_bytes_per_s(b))};
}

static yk_status fill(const struct yk_machine *machine, struct yk_cluster_builder *builder)
{
    for (int i = 0; i < machine->gpu_count; i++) {
        struct yk_device device = {0};
        YK_TRY(describe_gpu(&machine->gpus[i], &device));
        YK_TRY(yk_cluster_builder_add_device(builder, &device));
    }
    if (machine->gpu_count == 0) {
        YK_TRY(add_cpu(&machine->host, builder));
    }
    YK_TRY(yk_cluster_builder_begin_links(builder));
    for (int a = 0; a < machine->gpu_count; a++) {
        for (int b = a + 1; b < machine->gpu_count; b++) {
            yk_cluster_builder_set_link(builder, a, b,
                                        link_of(&machine->gpus[a], &machine->gpus[b]));
        }
    }
    return YK_OK;
}

yk_status yk_discover_make_cluster(const struct yk_machine *machine, struct yk_cluster **out)
{
    struct yk_cluster_builder builder = {0};
    YK_TRY(yk_cluster_builder_begin(&builder));
    yk_status status = fill(machine, &builder);
    if (status == YK_OK) {
        /* Where the CPU is the device, its memory is spoken for. */
        const double spare = machine->gpu_count > 0 ? machine->host.memory_bytes : 0;
        status = yk_cluster_builder_finish(&builder, "this machine", spare, out);
    }
    yk_cluster_builder_free(&builder);
    return status;
}
