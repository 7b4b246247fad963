#include "cluster/nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum {
    CLOCK_SM = 1, /* nvmlClockType_t */
    CLOCK_MEMORY = 2,
    MAX_NVLINKS = 18,
};

#define MIB 1048576.0

static const struct {
    const char *name;
    size_t offset; /* of its pointer in struct yk_nvml_functions */
    bool optional;
} symbols[] = {
    {"nvmlInit_v2", offsetof(struct yk_nvml_functions, begin), false},
    {"nvmlDeviceGetCount_v2", offsetof(struct yk_nvml_functions, count), false},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct yk_nvml_functions, handle), false},
    {"nvmlDeviceGetName", offsetof(struct yk_nvml_functions, name), false},
    {"nvmlDeviceGetMemoryInfo", offsetof(struct yk_nvml_functions, memory), false},
    {"nvmlDeviceGetCudaComputeCapability", offsetof(struct yk_nvml_functions, capability), false},
    {"nvmlDeviceGetMaxPcieLinkGeneration", offsetof(struct yk_nvml_functions, pcie_generation),
     true},
    {"nvmlDeviceGetMaxPcieLinkWidth", offsetof(struct yk_nvml_functions, pcie_width), true},
    {"nvmlDeviceGetClockInfo", offsetof(struct yk_nvml_functions, clock_now), true},
    {"nvmlDeviceGetPowerUsage", offsetof(struct yk_nvml_functions, power), true},
    {"nvmlDeviceGetPcieThroughput", offsetof(struct yk_nvml_functions, pcie_traffic), true},
    {"nvmlDeviceGetFieldValues", offsetof(struct yk_nvml_functions, fields), true},
    {"nvmlDeviceGetHandleByUUID", offsetof(struct yk_nvml_functions, by_uuid), true},
    {"nvmlDeviceGetGpuInstanceId", offsetof(struct yk_nvml_functions, instance_number), true},
    {"nvmlGpmQueryDeviceSupport", offsetof(struct yk_nvml_functions, gpm_support), true},
    {"nvmlGpmSampleAlloc", offsetof(struct yk_nvml_functions, gpm_alloc), true},
    {"nvmlGpmSampleFree", offsetof(struct yk_nvml_functions, gpm_free), true},
    {"nvmlGpmSampleGet", offsetof(struct yk_nvml_functions, gpm_sample), true},
    {"nvmlGpmMigSampleGet", offsetof(struct yk_nvml_functions, gpm_instance_sample), true},
    {"nvmlGpmMetricsGet", offsetof(struct yk_nvml_functions, gpm_metrics), true},
    {"nvmlDeviceGetNvLinkState", offsetof(struct yk_nvml_functions, nvlink_state), true},
    {"nvmlDeviceGetMigMode", offsetof(struct yk_nvml_functions, mig_mode), true},
    {"nvmlDeviceGetNumGpuCores", offsetof(struct yk_nvml_functions, cores), true},
    {"nvmlDeviceGetMaxClockInfo", offsetof(struct yk_nvml_functions, clock), true},
    {"nvmlDeviceGetMemoryBusWidth", offsetof(struct yk_nvml_functions, memory_bus_width), true},
    {"nvmlDeviceGetUUID", offsetof(struct yk_nvml_functions, uuid), true},
    {"nvmlDeviceGetMigDeviceHandleByIndex", offsetof(struct yk_nvml_functions, instance), true},
    {"nvmlDeviceGetAttributes_v2", offsetof(struct yk_nvml_functions, attributes), true},
};

bool yk_nvml_load_library(struct yk_nvml_functions *out)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return false;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        /* Copied as bytes: C has no cast from an object's pointer to a function's. */
        void *symbol = dlsym(library, symbols[i].name);
        memcpy((char *)out + symbols[i].offset, &symbol, sizeof symbol);
        if (!symbol && !symbols[i].optional) {
            return false;
        }
    }
    return true;
}

/* What an optional function of one number says, or 0. */
static unsigned ask(int (*function)(void *device, unsigned *out), void *device)
{
    unsigned value = 0;
    return function && function(device, &value) == 0 ? value : 0;
}

static double ask_clock_hz(const struct yk_nvml_functions *nvml, void *device, unsigned domain)
{
    unsigned mhz = 0;
    return nvml->clock && nvml->clock(device, domain, &mhz) == 0 ? mhz * 1e6 : 0;
}

static int count_nvlinks(const struct yk_nvml_functions *nvml, void *device)
{
    int count = 0;
    for (unsigned link = 0; nvml->nvlink_state && link < MAX_NVLINKS; link++) {
        unsigned active = 0;
        count += nvml->nvlink_state(device, link, &active) == 0 && active == 1;
    }
    return count;
}

/* CUDA C++ programming guide, arithmetic instructions: the chips for servers of Pascal to Ampere,
 * and Turing, have 64 cores an SM, all others 128. */
static unsigned cores_of_sm(const struct yk_nvml_gpu *gpu)
{
    const bool server = gpu->capability_minor == 0;
    return gpu->capability_major == 7 ||
                   (server && (gpu->capability_major == 6 || gpu->capability_major == 8))
               ? 64
               : 128;
}

static void find_instances(const struct yk_nvml_functions *nvml, void *device,
                           struct yk_nvml_gpu *out)
{
    if (!out->mig || !nvml->uuid || !nvml->instance || !nvml->attributes) {
        return;
    }
    for (unsigned i = 0; i < YK_NVML_MAX_MIG_INSTANCES; i++) {
        struct yk_nvml_mig_attributes has = {0};
        struct yk_nvml_mig_instance *found = &out->instances[out->instance_count];
        void *instance = NULL;
        if (nvml->instance(device, i, &instance) == 0 &&
            nvml->uuid(instance, found->uuid, YK_NVML_UUID_SIZE) == 0 &&
            nvml->attributes(instance, &has) == 0) {
            found->memory_bytes = (double)has.memory_mib * MIB;
            found->sm_count = (int)has.multiprocessors;
            out->instance_count++;
        }
    }
}

static bool describe(const struct yk_nvml_functions *nvml, void *device, struct yk_nvml_gpu *out)
{
    struct yk_nvml_memory memory = {0};
    if (nvml->name(device, out->name, YK_NVML_NAME_SIZE) != 0 ||
        nvml->memory(device, &memory) != 0 ||
        nvml->capability(device, &out->capability_major, &out->capability_minor) != 0) {
        return false;
    }
    unsigned mig = 0;
    unsigned pending = 0;
    const unsigned cores = ask(nvml->cores, device);
    out->memory_bytes = (double)memory.total;
    out->sm_count = (int)(cores / cores_of_sm(out));
    out->pcie_generation = (int)ask(nvml->pcie_generation, device);
    out->pcie_width = (int)ask(nvml->pcie_width, device);
    out->nvlink_count = count_nvlinks(nvml, device);
    out->mig = nvml->mig_mode && nvml->mig_mode(device, &mig, &pending) == 0 && mig == 1;
    out->fp32_flops = 2.0 * cores * ask_clock_hz(nvml, device, CLOCK_SM);
    /* Two transfers a cycle of the clock that the driver reports. */
    out->memory_bytes_per_s =
        2 * ask_clock_hz(nvml, device, CLOCK_MEMORY) * ask(nvml->memory_bus_width, device) / 8;
    if (nvml->uuid && nvml->uuid(device, out->uuid, YK_NVML_UUID_SIZE) != 0) {
        out->uuid[0] = '\0';
    }
    find_instances(nvml, device, out);
    return true;
}

int yk_nvml_list_gpus(const struct yk_nvml_functions *nvml, struct yk_nvml_gpu *out, int capacity)
{
    unsigned there = 0;
    if (nvml->begin() != 0 || nvml->count(&there) != 0) {
        return -1;
    }
    int count = 0;
    for (unsigned i = 0; i < there && count < capacity; i++) {
        struct yk_nvml_gpu gpu = {0};
        void *device = NULL;
        if (nvml->handle(i, &device) == 0 && describe(nvml, device, &gpu)) {
            out[count++] = gpu;
        }
    }
    return count;
}
