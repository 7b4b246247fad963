#include "backend/cpu/cpu.h"

#include "backend/cpu/kernels/kernels.h"
#include "base/system.h"

#include <cblas.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The cores that this process may use. */
static int count_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than a cpu_set_t holds */
    return online > 0 ? (int)online : 1;
}

static yk_status open_device(const struct yk_backend_device_options *options,
                             struct yk_backend_device **out)
{
    if (options->index != 0) {
        return yk_fail(YK_ERROR_INPUT, "cpu: there is one, number 0; number %d is not",
                       (int)options->index);
    }
    if (options->threads < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "cpu: %d threads cannot compute: 1 or more, or 0 for one on each core",
                       (int)options->threads);
    }
    struct yk_backend_device *device = calloc(1, sizeof *device);
    YK_TRY_ALLOCATED(device);
    device->threads = options->threads > 0 ? options->threads : count_cores();
    yk_status status = yk_cpu_blas_reserve_buffers(device->threads);
    YK_IF_OK(yk_cpu_affinity_init(&device->affinity, options));
    YK_TRY_OR_CLEAN_UP(status, free(device));
    *out = device;
    return YK_OK;
}

static void close_device(struct yk_backend_device *device)
{
    if (device) {
        yk_cpu_affinity_free(&device->affinity);
    }
    free(device);
}

static void describe(const struct yk_backend_device *device, struct yk_text *out)
{
    char name[YK_SYSTEM_CPU_NAME_SIZE];
    yk_system_cpu_name(name);
    yk_text_addf(out, "%s, %d thread%s", name, device->threads, device->threads == 1 ? "" : "s");
}

/* The clock limit of the operating system, if it reports one. */
static void add_clock_limit(struct yk_text *out)
{
    FILE *stream = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "r");
    char line[32] = "";
    if (stream) {
        const char *read = fgets(line, sizeof line, stream);
        const double khz = read ? strtod(line, NULL) : 0;
        if (khz > 0) {
            yk_text_addf(out, ", %.0f MHz", khz / 1e3);
        }
        (void)fclose(stream);
    }
}

static void add_versions(const struct yk_backend_device *device, struct yk_text *out)
{
    const char *library = openblas_get_config(); /* "OpenBLAS 0.3.21 NO_LAPACKE …" */
    size_t length = strcspn(library, " ");       /* of its first two words */
    length += strspn(library + length, " ");
    length += strcspn(library + length, " ");
    describe(device, out);
    yk_text_add(out, ", ");
    yk_text_add_bytes(out, library, length);
    yk_text_addf(out, " (%s)", openblas_get_corename());
    add_clock_limit(out);
    yk_text_addf(out, ", code %s", yk_code_cpu);
}

struct host_call {
    void (*function)(void *user);
    void *user;
};

static void run_call(int threads, const void *op)
{
    (void)threads;
    const struct host_call *call = op;
    call->function(call->user);
}

static void call_host(struct yk_backend_lane *lane, void (*function)(void *user), void *user)
{
    const struct host_call call = {function, user};
    yk_cpu_lane_enqueue(lane, run_call, &call, sizeof call);
}

/* Enqueues the kernel of the op on the lane with a copy of its arguments. */
#define ENQUEUE(CAPITALS, op_name, function)                                                       \
    static void enqueue_##op_name(struct yk_backend_lane *lane,                                    \
                                  const struct yk_##op_name##_op *op)                              \
    {                                                                                              \
        _Static_assert(sizeof *op <= YK_CPU_OP_MAX_BYTES, "an op fits an entry of the lane");      \
        yk_cpu_lane_enqueue(lane, yk_cpu_##function, op, sizeof *op);                              \
    }

YK_OPS_FOR_EACH(ENQUEUE)

#define ENTRY(CAPITALS, name, function) .name = enqueue_##name,

const struct yk_backend yk_backend_cpu = {.name = "cpu",
                                          .abi = YK_BACKEND_ABI,
                                          .open = open_device,
                                          .close = close_device,
                                          .describe = describe,
                                          .versions = add_versions,
                                          .allocate = yk_cpu_memory_allocate,
                                          .free = yk_cpu_memory_free,
                                          .allocate_host = yk_cpu_memory_allocate,
                                          .free_host = yk_cpu_memory_free,
                                          .lane_create = yk_cpu_lane_create,
                                          .lane_destroy = yk_cpu_lane_destroy,
                                          .lane_synchronize = yk_cpu_lane_synchronize,
                                          .event_create = yk_cpu_lane_event_create,
                                          .event_destroy = yk_cpu_lane_event_destroy,
                                          .event_record = yk_cpu_lane_event_record,
                                          .event_wait = yk_cpu_lane_event_wait,
                                          .event_synchronize = yk_cpu_lane_event_synchronize,
                                          .event_query = yk_cpu_lane_event_query,
                                          .event_time_s = yk_cpu_lane_event_time_s,
                                          .copy = yk_cpu_memory_enqueue_copy,
                                          .clear = yk_cpu_memory_enqueue_clear,
                                          .call_host = call_host,
                                          YK_OPS_FOR_EACH(ENTRY)};
