#include "measure/counters/cpu_counters.h"

#include "base/array.h"
#include "measure/timings.h"
#include "trace/counters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a processor fetches for one miss of its last cache. */
#define LINE_BYTES 64

enum {
    MAX_THREADS = 256,
    EVENT_COUNT = 3,
};

/* Misses of the last cache: the kernel's plain event has loads and stores on x86, but is one of the
 * first cache on ARM, where that of loads alone is left. */
#if defined(__x86_64__)
#define MISSES_TYPE PERF_TYPE_HARDWARE
#define MISSES_CONFIG PERF_COUNT_HW_CACHE_MISSES
#else
#define MISSES_TYPE PERF_TYPE_HW_CACHE
#define MISSES_CONFIG                                                                              \
    (PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |                                   \
     PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
#endif

static const struct {
    uint32_t type;
    uint64_t config;
    enum yk_counter counter;
    double unit;
} events[EVENT_COUNT] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, YK_COUNTER_CYCLES, 1},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, YK_COUNTER_INSTRUCTIONS, 1},
    {MISSES_TYPE, MISSES_CONFIG, YK_COUNTER_CACHE_MISS_BYTES, LINE_BYTES},
};

/* One counter of one thread and of those that it starts. */
struct watch {
    int file;
    int event;
    struct yk_cpu_counters_perf_count last;
};

struct yk_cpu_counters {
    struct watch *watches;
    int32_t watch_count;
    int32_t watch_capacity;
    int errors[EVENT_COUNT]; /* why there is none */
    double computed_s;       /* at the last reading */
    int statm;               /* open file; -1: none */
    long page_bytes;
};

double yk_cpu_counters_scaled_difference(const struct yk_cpu_counters_perf_count *before,
                                         const struct yk_cpu_counters_perf_count *after)
{
    const double value = (double)(after->value - before->value);
    const double enabled_ns = (double)(after->enabled_ns - before->enabled_ns);
    const double running_ns = (double)(after->running_ns - before->running_ns);
    if (running_ns > 0) {
        return value * enabled_ns / running_ns;
    }
    return enabled_ns > 0 ? NAN : 0;
}

/* Of the program alone: kernels allow that to more users than counting the kernel's own work. */
static int open_event(int event, pid_t thread)
{
    struct perf_event_attr attributes = {
        .type = events[event].type,
        .size = sizeof attributes,
        .config = events[event].config,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static yk_status watch_thread(struct yk_cpu_counters *cpu, pid_t thread)
{
    for (int event = 0; event < EVENT_COUNT; event++) {
        const int file = cpu->errors[event] == 0 ? open_event(event, thread) : -1;
        if (file < 0) {
            /* A thread that has ended meanwhile is no reason. */
            if (cpu->errors[event] == 0 && errno != ESRCH) {
                cpu->errors[event] = errno;
            }
            continue;
        }
        YK_TRY_OR_CLEAN_UP(yk_array_grow((void **)&cpu->watches, &cpu->watch_capacity,
                                         cpu->watch_count, sizeof cpu->watches[0]),
                           (void)close(file));
        cpu->watches[cpu->watch_count++] = (struct watch){.file = file, .event = event};
    }
    return YK_OK;
}

/* A counter is inherited by threads that begin later: those that are there are found one by one. */
static yk_status watch_threads(struct yk_cpu_counters *cpu)
{
    DIR *folder = opendir("/proc/self/task");
    if (!folder) {
        return watch_thread(cpu, 0);
    }
    yk_status status = YK_OK;
    int count = 0;
    const struct dirent *entry;
    while (status == YK_OK && count < MAX_THREADS && (entry = readdir(folder))) {
        const long thread = strtol(entry->d_name, NULL, 10);
        if (thread > 0) {
            status = watch_thread(cpu, (pid_t)thread);
            count++;
        }
    }
    (void)closedir(folder);
    return status;
}

yk_status yk_cpu_counters_open(struct yk_cpu_counters **out)
{
    struct yk_cpu_counters *cpu = calloc(1, sizeof *cpu);
    YK_TRY_ALLOCATED(cpu);
    cpu->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    cpu->page_bytes = sysconf(_SC_PAGESIZE);
    YK_TRY_OR_CLEAN_UP(watch_threads(cpu), yk_cpu_counters_close(cpu));
    *out = cpu;
    return YK_OK;
}

void yk_cpu_counters_close(struct yk_cpu_counters *cpu)
{
    if (!cpu) {
        return;
    }
    for (int32_t i = 0; i < cpu->watch_count; i++) {
        (void)close(cpu->watches[i].file);
    }
    if (cpu->statm >= 0) {
        (void)close(cpu->statm);
    }
    free(cpu->watches);
    free(cpu);
}

static void read_events(struct yk_cpu_counters *cpu, double passed_s, double *values)
{
    double sums[EVENT_COUNT] = {0};
    for (int32_t i = 0; i < cpu->watch_count; i++) {
        struct watch *watch = &cpu->watches[i];
        struct yk_cpu_counters_perf_count now;
        if (read(watch->file, &now, sizeof now) == (ssize_t)sizeof now) {
            sums[watch->event] += yk_cpu_counters_scaled_difference(&watch->last, &now);
            watch->last = now;
        } else {
            sums[watch->event] = NAN;
        }
    }
    for (int i = 0; i < EVENT_COUNT && passed_s > 0; i++) {
        if (cpu->errors[i] == 0 && cpu->watch_count > 0) {
            values[events[i].counter] = sums[i] * events[i].unit / passed_s;
        }
    }
}

/* "size resident …", in pages. */
static double resident_bytes(const struct yk_cpu_counters *cpu)
{
    char text[128];
    const ssize_t length =
        cpu->statm >= 0 ? pread(cpu->statm, text, sizeof text - 1, 0) : (ssize_t)-1;
    if (length <= 0) {
        return NAN;
    }
    text[length] = '\0';
    char *resident = NULL;
    (void)strtoull(text, &resident, 10);
    return (double)strtoull(resident, NULL, 10) * (double)cpu->page_bytes;
}

void yk_cpu_counters_read(struct yk_cpu_counters *cpu, double passed_s, double *values)
{
    const double computed_s = yk_timings_process_cpu_s();
    read_events(cpu, passed_s, values);
    if (passed_s > 0) {
        values[YK_COUNTER_CORES] = (computed_s - cpu->computed_s) / passed_s;
    }
    values[YK_COUNTER_MEMORY] = resident_bytes(cpu);
    cpu->computed_s = computed_s;
}

static void explain(int error, struct yk_text *text)
{
    char level[16] = "";
    const int file = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        const ssize_t length = read(file, level, sizeof level - 1);
        level[length > 0 ? length : 0] = '\0';
        level[strcspn(level, "\n")] = '\0';
        (void)close(file);
    }
    if (error == ENOENT || error == EOPNOTSUPP) {
        yk_text_add(text, "perf: this machine shows no hardware counters (a virtual one?)");
    } else if (error == ENOSYS) {
        yk_text_add(text, "perf: not known to this system");
    } else if ((error == EACCES || error == EPERM) && level[0] != '\0') {
        yk_text_addf(text, "perf: refused by the system (perf_event_paranoid is %s)", level);
    } else {
        yk_text_addf(text, "perf: refused by the system (%s)", strerror(error));
    }
}

void yk_cpu_counters_describe(const struct yk_cpu_counters *cpu, double period_s,
                              struct yk_text *text)
{
    int error = 0;
    int missing = 0;
    for (int i = 0; i < EVENT_COUNT; i++) {
        missing += cpu->errors[i] != 0;
        error = cpu->errors[i] != 0 ? cpu->errors[i] : error;
    }
    yk_text_addf(text, missing < EVENT_COUNT ? "perf every %g ms" : "time and memory every %g ms",
                 1e3 * period_s);
    if (missing == EVENT_COUNT) {
        yk_text_add(text, "; ");
        explain(error, text);
    } else if (missing > 0) {
        yk_text_add(text, "; perf: not all of cycles, instructions and misses are there");
    }
}
