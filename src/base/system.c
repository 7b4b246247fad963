#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

/* Part numbers in Arm's MIDR_EL1 register (implementer 0x41) of cores in servers and boards. Linux
 * reports no name for them. */
static const struct {
    const char *part;
    const char *name;
} arm_cores[] = {
    {"0xd03", "Arm Cortex-A53"},  {"0xd07", "Arm Cortex-A57"},  {"0xd08", "Arm Cortex-A72"},
    {"0xd0b", "Arm Cortex-A76"},  {"0xd0c", "Arm Neoverse N1"}, {"0xd40", "Arm Neoverse V1"},
    {"0xd49", "Arm Neoverse N2"}, {"0xd4f", "Arm Neoverse V2"}, {"0xd84", "Arm Neoverse V3"},
    {"0xd8e", "Arm Neoverse N3"},
};

/* The first value of `key` in a file of /proc, whose lines are "key: value". */
static bool read_value(const char *path, const char *key, char out[YK_SYSTEM_CPU_NAME_SIZE])
{
    FILE *stream = fopen(path, "r");
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
            snprintf(out, YK_SYSTEM_CPU_NAME_SIZE, "%.*s", (int)strcspn(value, "\n"), value);
        }
    }
    (void)fclose(stream);
    return found;
}

static bool read_cpuinfo(const char *key, char out[YK_SYSTEM_CPU_NAME_SIZE])
{
    return read_value("/proc/cpuinfo", key, out);
}

static bool name_arm_core(const char *machine, char out[YK_SYSTEM_CPU_NAME_SIZE])
{
    char implementer[YK_SYSTEM_CPU_NAME_SIZE];
    char part[YK_SYSTEM_CPU_NAME_SIZE];
    if (!read_cpuinfo("CPU implementer", implementer) || !read_cpuinfo("CPU part", part)) {
        return false;
    }
    snprintf(out, YK_SYSTEM_CPU_NAME_SIZE, "%.24s CPU %.24s/%.24s", machine, implementer, part);
    for (size_t i = 0; i < sizeof arm_cores / sizeof arm_cores[0]; i++) {
        if (strcmp(implementer, "0x41") == 0 && strcmp(arm_cores[i].part, part) == 0) {
            snprintf(out, YK_SYSTEM_CPU_NAME_SIZE, "%s", arm_cores[i].name);
        }
    }
    return true;
}

void yk_system_cpu_name(char out[YK_SYSTEM_CPU_NAME_SIZE])
{
    struct utsname system;
    const char *machine = uname(&system) == 0 ? system.machine : "unknown";
    if (!read_cpuinfo("model name", out) && !name_arm_core(machine, out)) {
        snprintf(out, YK_SYSTEM_CPU_NAME_SIZE, "%.64s CPU", machine);
    }
}

/* A value such as "12345 kB". */
static double read_bytes(const char *path, const char *key)
{
    char value[YK_SYSTEM_CPU_NAME_SIZE];
    return read_value(path, key, value) ? 1024 * strtod(value, NULL) : 0;
}

double yk_system_free_memory_bytes(void)
{
    return read_bytes("/proc/meminfo", "MemAvailable");
}

struct yk_system_process_memory yk_system_process_memory(void)
{
    return (struct yk_system_process_memory){
        .resident_bytes = read_bytes("/proc/self/status", "VmRSS"),
        .peak_bytes = read_bytes("/proc/self/status", "VmHWM"),
    };
}

bool yk_system_reset_peak_memory(void)
{
    FILE *stream = fopen("/proc/self/clear_refs", "w");
    if (!stream) {
        return false;
    }
    const bool written = fputs("5", stream) >= 0; /* proc(5): reset only the peak */
    return fclose(stream) == 0 && written;
}

/* The largest buffer of a thread of OpenBLAS 0.3. */
#define ROOM_BYTES (((size_t)128 << 20) + 4096)

static bool has_room(void)
{
    void *memory = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED && munmap(memory, ROOM_BYTES) == 0;
}

yk_status yk_system_check_room_to_fork(void)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    struct rlimit allowed;
    if (getrlimit(RLIMIT_AS, &allowed) != 0 || allowed.rlim_cur == RLIM_INFINITY) {
        return YK_OK;
    }
    /* A thread that waits for its buffer takes it between the two. */
    bool room = has_room();
    (void)nanosleep(&pause, NULL);
    room = room && has_room();
    return room ? YK_OK
                : yk_fail(YK_ERROR_SYSTEM,
                          "out of memory: ulimit -v leaves less than %zu MiB of address space to "
                          "start a process; raise it",
                          ROOM_BYTES >> 20);
}
