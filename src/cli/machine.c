#include "cli/machine.h"

#include "cli/library.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The part numbers of Arm's MIDR_EL1 register (implementer 0x41) for cores found in servers and
 * boards; Linux gives no name on these machines. */
static const struct {
    const char *part;
    const char *name;
} arm_cores[] = {
    {"0xd03", "Arm Cortex-A53"},  {"0xd07", "Arm Cortex-A57"},  {"0xd08", "Arm Cortex-A72"},
    {"0xd0b", "Arm Cortex-A76"},  {"0xd0c", "Arm Neoverse N1"}, {"0xd40", "Arm Neoverse V1"},
    {"0xd49", "Arm Neoverse N2"}, {"0xd4f", "Arm Neoverse V2"}, {"0xd84", "Arm Neoverse V3"},
    {"0xd8e", "Arm Neoverse N3"},
};

/* The first value of `key` in /proc/cpuinfo. */
static bool read_cpuinfo(const char *key, char out[YK_MACHINE_NAME_SIZE])
{
    FILE *stream = fopen("/proc/cpuinfo", "r");
    if (!stream) {
        return false;
    }
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, stream)) {
        const char *colon = strchr(line, ':');
        found = colon && strncmp(line, key, strlen(key)) == 0;
        if (found) {
            const char *value = colon + 1 + strspn(colon + 1, " \t");
            snprintf(out, YK_MACHINE_NAME_SIZE, "%.*s", (int)strcspn(value, "\n"), value);
        }
    }
    (void)fclose(stream);
    return found;
}

static bool name_arm_core(char out[YK_MACHINE_NAME_SIZE])
{
    char implementer[YK_MACHINE_NAME_SIZE];
    char part[YK_MACHINE_NAME_SIZE];
    if (!read_cpuinfo("CPU implementer", implementer) || strcmp(implementer, "0x41") != 0 ||
        !read_cpuinfo("CPU part", part)) {
        return false;
    }
    for (size_t i = 0; i < sizeof arm_cores / sizeof arm_cores[0]; i++) {
        if (strcmp(arm_cores[i].part, part) == 0) {
            snprintf(out, YK_MACHINE_NAME_SIZE, "%s", arm_cores[i].name);
            return true;
        }
    }
    return false;
}

static void name_cpu(char out[YK_MACHINE_NAME_SIZE])
{
    struct utsname system;
    if (read_cpuinfo("model name", out) || name_arm_core(out)) {
        return;
    }
    snprintf(out, YK_MACHINE_NAME_SIZE, "%s CPU", uname(&system) == 0 ? system.machine : "unknown");
}

void yk_machine_find_cpu(struct yk_machine_cpu *out)
{
    name_cpu(out->name);
    cpu_set_t usable;
    CPU_ZERO(&usable);
    const bool limited = sched_getaffinity(0, sizeof usable, &usable) == 0;
    out->cores = limited ? CPU_COUNT(&usable) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    out->memory_bytes = pages > 0 && page_bytes > 0 ? (int64_t)pages * page_bytes : 0;
}

/* The part of NVML used here, declared as its header does. */
struct nvml {
    int (*begin)(void);
    int (*count)(unsigned *);
    int (*handle)(unsigned, void **);
    int (*name)(void *, char *, unsigned);
    int (*memory)(void *, void *);
    int (*capability)(void *, int *, int *);
};

struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

static bool load_nvml(struct nvml *nvml)
{
    static const char *const files[] = {"libnvidia-ml.so.1"};
    void *handle = yk_library_load(files, 1);
    return handle && yk_library_symbol(handle, "nvmlInit_v2", &nvml->begin) &&
           yk_library_symbol(handle, "nvmlDeviceGetCount_v2", &nvml->count) &&
           yk_library_symbol(handle, "nvmlDeviceGetHandleByIndex_v2", &nvml->handle) &&
           yk_library_symbol(handle, "nvmlDeviceGetName", &nvml->name) &&
           yk_library_symbol(handle, "nvmlDeviceGetMemoryInfo", &nvml->memory) &&
           yk_library_symbol(handle, "nvmlDeviceGetCudaComputeCapability", &nvml->capability) &&
           nvml->begin() == 0;
}

int yk_machine_find_gpus(struct yk_machine_gpu *out, int room)
{
    struct nvml nvml = {0};
    unsigned there = 0;
    if (!load_nvml(&nvml) || nvml.count(&there) != 0) {
        return 0;
    }
    int count = 0;
    for (unsigned i = 0; i < there && count < room; i++) {
        struct yk_machine_gpu gpu = {0};
        struct nvml_memory memory = {0};
        void *device = NULL;
        if (nvml.handle(i, &device) == 0 &&
            nvml.name(device, gpu.name, YK_MACHINE_NAME_SIZE) == 0 &&
            nvml.memory(device, &memory) == 0 &&
            nvml.capability(device, &gpu.capability_major, &gpu.capability_minor) == 0) {
            gpu.memory_bytes = (int64_t)memory.total;
            out[count++] = gpu;
        }
    }
    return count;
}
