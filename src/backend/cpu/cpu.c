#include "backend/backend.h"

#include "backend/code.h"
#include "backend/cpu/blas.h"
#include "backend/cpu/device.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/lane.h"
#include "backend/cpu/memory.h"
#include "base/cpu_name.h"

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
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than the set has room for */
    return online > 0 ? (int)online : 1;
}

static yk_status open_device(const struct yk_backend_options *options,
                             struct yk_backend_device **out)
{
    if (options->number != 0) {
        return yk_fail(YK_ERROR_INPUT, "cpu: there is one, number 0; number %d is not",
                       (int)options->number);
    }
    if (options->threads < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "cpu: %d threads cannot compute: 1 or more, or 0 for one on each core",
                       (int)options->threads);
    }
    struct yk_backend_device *device = calloc(1, sizeof *device);
    if (!device) {
        return yk_fail_out_of_memory();
    }
    device->threads = options->threads > 0 ? options->threads : count_cores();
    yk_status status = yk_cpu_blas_reserve(device->threads);
    if (status == YK_OK) {
        status = yk_cpu_pins_start(&device->pins, options);
    }
    if (status != YK_OK) {
        free(device);
        return status;
    }
    *out = device;
    return YK_OK;
}

static void close_device(struct yk_backend_device *device)
{
    if (device) {
        yk_cpu_pins_end(&device->pins);
    }
    free(device);
}

static void describe(const struct yk_backend_device *device, struct yk_text *out)
{
    char name[YK_CPU_NAME_SIZE];
    yk_cpu_name(name);
    yk_text_addf(out, "%s, %d thread%s", name, device->threads, device->threads == 1 ? "" : "s");
}

/* What the system lets the clock go up to, where it tells. */
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

static void put_call(struct yk_backend_lane *lane, void (*function)(void *user), void *user)
{
    const struct host_call call = {function, user};
    yk_cpu_put(lane, run_call, &call, sizeof call);
}

/* An op is its kernel, put on the lane with a copy of its arguments. */
#define PUT(op_name)                                                                               \
    static void put_##op_name(struct yk_backend_lane *lane, const struct yk_##op_name *op)         \
    {                                                                                              \
        _Static_assert(sizeof *op <= YK_CPU_OP_BYTES, "an op fits its place on the lane");         \
        yk_cpu_put(lane, yk_cpu_##op_name, op, sizeof *op);                                        \
    }

PUT(matmul)
PUT(attend)
PUT(attend_back)
PUT(normalise)
PUT(normalise_back)
PUT(embed)
PUT(embed_back)
PUT(rotate)
PUT(gate)
PUT(gate_back)
PUT(drop)
PUT(sum_rows)
PUT(lose)
PUT(sum_squares)
PUT(judge)
PUT(adamw)
PUT(sgd)
PUT(cast)
PUT(add)
PUT(quantise)
PUT(dequantise)

const struct yk_backend yk_backend_cpu = {
    .name = "cpu",
    .abi = YK_BACKEND_ABI,
    .open = open_device,
    .close = close_device,
    .describe = describe,
    .versions = add_versions,
    .take = yk_cpu_take,
    .give_back = yk_cpu_give_back,
    .take_host = yk_cpu_take,
    .give_back_host = yk_cpu_give_back,
    .lane_create = yk_cpu_lane_create,
    .lane_destroy = yk_cpu_lane_destroy,
    .finish = yk_cpu_lane_finish,
    .event_create = yk_cpu_event_create,
    .event_destroy = yk_cpu_event_destroy,
    .record = yk_cpu_event_record,
    .wait = yk_cpu_event_wait,
    .reach = yk_cpu_event_reach,
    .happened = yk_cpu_event_happened,
    .event_s = yk_cpu_event_s,
    .copy = yk_cpu_copy,
    .clear = yk_cpu_clear,
    .call = put_call,
    .matmul = put_matmul,
    .attend = put_attend,
    .attend_back = put_attend_back,
    .normalise = put_normalise,
    .normalise_back = put_normalise_back,
    .embed = put_embed,
    .embed_back = put_embed_back,
    .rotate = put_rotate,
    .gate = put_gate,
    .gate_back = put_gate_back,
    .drop = put_drop,
    .sum_rows = put_sum_rows,
    .lose = put_lose,
    .sum_squares = put_sum_squares,
    .judge = put_judge,
    .adamw = put_adamw,
    .sgd = put_sgd,
    .cast = put_cast,
    .add = put_add,
    .quantise = put_quantise,
    .dequantise = put_dequantise,
};
