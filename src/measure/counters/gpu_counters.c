#include "measure/counters/gpu_counters.h"

#include "cluster/discover.h"
#include "cluster/visible_devices.h"
#include "measure/counters/counter_refresh_tracker.h"
#include "measure/counters/dcgm_counters.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double gpm_period_s = 0.02; /* where its counters always are new */
static const double other_period_s = 0.1;
static const double pcie_period_s = 1; /* asking takes 40 ms, in which nothing else is read */
static const double silence_s = 1;     /* of GPM, after which there are readings without it */
static const double short_part = 0.6;  /* of the length wanted: no reading is shorter */

/* ---- GPM ---- */

#define MIB 1048576.0
#define PERCENT 0.01

static const struct {
    unsigned id;
    enum yk_counter counter;
    double unit;
} metrics[] = {
    {YK_NVML_GPM_SM, YK_COUNTER_SM, PERCENT},
    {YK_NVML_GPM_OCCUPANCY, YK_COUNTER_OCCUPANCY, PERCENT},
    {YK_NVML_GPM_TENSOR, YK_COUNTER_TENSOR, PERCENT},
    {YK_NVML_GPM_DRAM, YK_COUNTER_DRAM, PERCENT},
    {YK_NVML_GPM_PCIE_IN, YK_COUNTER_PCIE_IN, MIB},
    {YK_NVML_GPM_PCIE_OUT, YK_COUNTER_PCIE_OUT, MIB},
    {YK_NVML_GPM_NVLINK_IN, YK_COUNTER_NVLINK_IN, MIB},
    {YK_NVML_GPM_NVLINK_OUT, YK_COUNTER_NVLINK_OUT, MIB},
};

enum {
    GPM_SAMPLES = 3,
    METRIC_COUNT = sizeof metrics / sizeof metrics[0],
};

/* Averages of GPU activity between two samples of NVML GPU Performance Monitoring. The driver
 * refreshes these counters periodically; samples between two refreshes are equal. */
struct gpm {
    const struct yk_nvml_functions *nvml;
    void *device;
    int64_t instance;           /* MIG instance by the driver's index; -1: the whole GPU */
    void *samples[GPM_SAMPLES]; /* NULL if GPM is not available */
    int marked;                 /* index of the sample where the average begins; may equal `last` */
    int last;                   /* index of the first sample after the last refresh */
    bool begun;                 /* `last` is valid */
    struct yk_nvml_gpm_metrics request;
};

static bool gpm_is_supported(const struct yk_nvml_functions *nvml, void *device)
{
    struct yk_nvml_gpm_support support = {.version = YK_NVML_GPM_VERSION};
    return nvml->gpm_support(device, &support) == 0 && support.supported == 1;
}

static int gpm_read_sample(const struct gpm *gpm, void *sample)
{
    return gpm->instance < 0
               ? gpm->nvml->gpm_sample(gpm->device, sample)
               : gpm->nvml->gpm_instance_sample(gpm->device, (unsigned)gpm->instance, sample);
}

static void gpm_close(struct gpm *gpm)
{
    for (int i = 0; i < GPM_SAMPLES; i++) {
        if (gpm->samples[i]) {
            (void)gpm->nvml->gpm_free(gpm->samples[i]);
            gpm->samples[i] = NULL;
        }
    }
}

/* Checks with a first sample that GPM works. Otherwise adds the reason to `why`. */
static bool gpm_open(struct gpm *gpm, const struct yk_nvml_functions *nvml, void *device,
                     int64_t instance, struct yk_text *why)
{
    memset(gpm, 0, sizeof *gpm);
    gpm->nvml = nvml;
    gpm->device = device;
    gpm->instance = instance;
    if (!nvml->gpm_support || !nvml->gpm_alloc || !nvml->gpm_free || !nvml->gpm_sample ||
        !nvml->gpm_metrics || (instance >= 0 && !nvml->gpm_instance_sample)) {
        yk_text_add(why, "GPM: the driver is too old for it");
        return false;
    }
    if (!gpm_is_supported(nvml, device)) {
        yk_text_add(why, "GPM: not on this GPU (Hopper and newer have it)");
        return false;
    }
    int status = 0;
    for (int i = 0; i < GPM_SAMPLES && status == 0; i++) {
        status = nvml->gpm_alloc(&gpm->samples[i]);
    }
    if (status == 0) {
        status = gpm_read_sample(gpm, gpm->samples[0]);
    }
    if (status != 0) {
        yk_text_addf(why, "GPM: the driver refuses it (NVML's error %d)", status);
        gpm_close(gpm);
        return false;
    }
    return true;
}

/* Asks the driver for the metrics between two samples. False if it does not answer. */
static bool gpm_compare(struct gpm *gpm, int before, int after)
{
    struct yk_nvml_gpm_metrics *request = &gpm->request;
    request->version = YK_NVML_GPM_VERSION;
    request->count = METRIC_COUNT;
    request->before = gpm->samples[before];
    request->after = gpm->samples[after];
    for (int i = 0; i < METRIC_COUNT; i++) {
        request->metrics[i].id = metrics[i].id;
        request->metrics[i].status = 0;
        request->metrics[i].value = NAN;
    }
    return gpm->nvml->gpm_metrics(request) == 0;
}

static bool has_value(const struct yk_nvml_gpm_metric *metric)
{
    return metric->status == 0 && isfinite(metric->value);
}

/* Between two samples of the same refresh, DRAM activity has no value and the activity of SMs is 0.
 * On an idle GPU the latter is 0 too, but DRAM activity has a value. */
static bool gpm_is_refreshed(const struct yk_nvml_gpm_metrics *request)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct yk_nvml_gpm_metric *metric = &request->metrics[i];
        const bool works = metric->id == YK_NVML_GPM_SM || metric->id == YK_NVML_GPM_OCCUPANCY ||
                           metric->id == YK_NVML_GPM_TENSOR;
        if (has_value(metric) &&
            (metric->id == YK_NVML_GPM_DRAM || (works && metric->value != 0))) {
            return true;
        }
    }
    return false;
}

/* Index of a sample that is neither `marked` nor `last`. */
static int gpm_find_free_sample(const struct gpm *gpm)
{
    int free = 0;
    while (free == gpm->marked || free == gpm->last) {
        free++;
    }
    return free;
}

/* Reads a sample. Returns whether the counters were refreshed since the previous sample: false for
 * the first sample, and if the driver does not answer. */
static bool gpm_poll(struct gpm *gpm)
{
    const int next = gpm_find_free_sample(gpm);
    if (gpm_read_sample(gpm, gpm->samples[next]) != 0) {
        return false;
    }
    const bool begun = gpm->begun;
    if (begun && !(gpm_compare(gpm, gpm->last, next) && gpm_is_refreshed(&gpm->request))) {
        return false;
    }
    gpm->begun = true;
    gpm->last = next;
    return begun;
}

/* Sets the values that GPM provides to their averages from the mark to the last refresh. */
static void gpm_read(struct gpm *gpm, double *values)
{
    if (!gpm->begun || !gpm_compare(gpm, gpm->marked, gpm->last)) {
        return;
    }
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (has_value(&gpm->request.metrics[i])) {
            values[metrics[i].counter] = gpm->request.metrics[i].value * metrics[i].unit;
        }
    }
}

/* ---- the GPU ---- */

struct yk_gpu_counters {
    struct yk_nvml_functions nvml;
    int32_t number;   /* the driver's */
    void *device;     /* NULL: none */
    void *part;       /* the device, or the instance of it that is meant */
    int64_t instance; /* its number; -1: all of the GPU */
    bool has_gpm;
    struct gpm gpm;
    struct yk_counter_refresh_tracker refresh;
    struct yk_dcgm_counters dcgm;
    double begin_s;      /* of the reading under way */
    bool whole;          /* GPM knows all of it: it began at a refresh */
    double power_watts;  /* when it began; NAN: not known */
    double pcie_after_s; /* until PCIe is asked again */
    bool nvlink_begun;
    double nvlink_bytes[2]; /* so far: in, out */
    struct yk_text why;     /* what is missing */
};

/* True if the driver answers for it; of an instance its memory and GPM are apart from the GPU's. */
static bool find_instance(struct yk_gpu_counters *gpu, const char *uuid)
{
    unsigned number = 0;
    if (!gpu->nvml.by_uuid || !gpu->nvml.instance_number ||
        gpu->nvml.by_uuid(uuid, &gpu->part) != 0 ||
        gpu->nvml.instance_number(gpu->part, &number) != 0) {
        return false;
    }
    gpu->instance = number;
    return true;
}

static void find_device(struct yk_gpu_counters *gpu, const struct yk_nvml_gpu *gpus, int count,
                        int32_t number)
{
    const struct yk_visible_device shown =
        yk_visible_devices_find_gpu(getenv("CUDA_VISIBLE_DEVICES"), gpus, count, number);
    void *device = NULL;
    if (shown.gpu < 0 || gpu->nvml.handle((unsigned)shown.gpu, &device) != 0) {
        yk_text_addf(&gpu->why, "NVML: there is no GPU %d", number);
        return;
    }
    gpu->number = shown.gpu;
    gpu->instance = -1;
    gpu->part = device;
    if (shown.instance >= 0 &&
        !find_instance(gpu, gpus[shown.gpu].instances[shown.instance].uuid)) {
        yk_text_addf(&gpu->why, "NVML: the driver does not tell of instances of GPU %d", number);
        return;
    }
    gpu->device = device;
    yk_counter_refresh_tracker_init(&gpu->refresh);
    gpu->has_gpm = gpm_open(&gpu->gpm, &gpu->nvml, device, gpu->instance, &gpu->why);
}

static yk_status find_source(struct yk_gpu_counters *gpu, const struct yk_nvml_functions *nvml,
                             int32_t number)
{
    if (nvml) {
        gpu->nvml = *nvml;
    } else if (!yk_nvml_load_library(&gpu->nvml)) {
        yk_text_add(&gpu->why, "NVML: the driver's library libnvidia-ml.so.1 is missing");
        return YK_OK;
    }
    struct yk_nvml_gpu *gpus = calloc(YK_DISCOVER_MAX_GPUS, sizeof gpus[0]);
    YK_TRY_ALLOCATED(gpus);
    const int count = yk_nvml_list_gpus(&gpu->nvml, gpus, YK_DISCOVER_MAX_GPUS);
    if (count < 0) {
        yk_text_add(&gpu->why, "NVML: the driver does not answer");
    } else {
        find_device(gpu, gpus, count, number);
    }
    free(gpus);
    return YK_OK;
}

yk_status yk_gpu_counters_open(const struct yk_nvml_functions *nvml, int32_t number,
                               struct yk_gpu_counters **out)
{
    struct yk_gpu_counters *gpu = calloc(1, sizeof *gpu);
    YK_TRY_ALLOCATED(gpu);
    YK_TRY_OR_CLEAN_UP(find_source(gpu, nvml, number), yk_gpu_counters_close(gpu));
    *out = gpu;
    return YK_OK;
}

void yk_gpu_counters_close(struct yk_gpu_counters *gpu)
{
    if (gpu) {
        yk_dcgm_counters_stop(&gpu->dcgm);
        if (gpu->has_gpm) {
            gpm_close(&gpu->gpm);
        }
        yk_text_free(&gpu->why);
        free(gpu);
    }
}

double yk_gpu_counters_default_period_s(const struct yk_gpu_counters *gpu)
{
    return gpu->has_gpm ? gpm_period_s : other_period_s;
}

static void read_pcie(struct yk_gpu_counters *gpu, double passed_s, double *values)
{
    gpu->pcie_after_s -= passed_s;
    if (!gpu->nvml.pcie_traffic || gpu->pcie_after_s > 0 || passed_s <= 0) {
        return;
    }
    unsigned in = 0;
    unsigned out = 0;
    if (gpu->nvml.pcie_traffic(gpu->device, YK_NVML_PCIE_IN, &in) == 0 &&
        gpu->nvml.pcie_traffic(gpu->device, YK_NVML_PCIE_OUT, &out) == 0) {
        values[YK_COUNTER_PCIE_IN] = in * 1e3;
        values[YK_COUNTER_PCIE_OUT] = out * 1e3;
    }
    gpu->pcie_after_s = pcie_period_s;
}

/* From what went over all links so far, in KiB. */
static void read_nvlink(struct yk_gpu_counters *gpu, const struct yk_nvml_field_value *in,
                        const struct yk_nvml_field_value *out, double passed_s, double *values)
{
    const bool begun = gpu->nvlink_begun;
    gpu->nvlink_begun = in->status == 0 && out->status == 0;
    if (!gpu->nvlink_begun) {
        return;
    }
    const double bytes[2] = {1024 * (double)in->value.wide, 1024 * (double)out->value.wide};
    if (begun && passed_s > 0 && isnan(values[YK_COUNTER_NVLINK_IN])) {
        values[YK_COUNTER_NVLINK_IN] = (bytes[0] - gpu->nvlink_bytes[0]) / passed_s;
        values[YK_COUNTER_NVLINK_OUT] = (bytes[1] - gpu->nvlink_bytes[1]) / passed_s;
    }
    gpu->nvlink_bytes[0] = bytes[0];
    gpu->nvlink_bytes[1] = bytes[1];
}

static void read_fields(struct yk_gpu_counters *gpu, double passed_s, double *values)
{
    struct yk_nvml_field_value fields[] = {
        {.id = YK_NVML_FIELD_POWER},
        {.id = YK_NVML_FIELD_NVLINK_IN, .scope = UINT_MAX},
        {.id = YK_NVML_FIELD_NVLINK_OUT, .scope = UINT_MAX},
    };
    /* GPM tells of NVLink by itself. */
    const int count = gpu->has_gpm ? 1 : 3;
    if (!gpu->nvml.fields || gpu->nvml.fields(gpu->device, count, fields) != 0) {
        return;
    }
    if (fields[0].status == 0) {
        /* A power of now, not an average: of both ends, then. */
        const double watts = 1e-3 * fields[0].value.word;
        values[YK_COUNTER_POWER] =
            isnan(gpu->power_watts) ? watts : 0.5 * (gpu->power_watts + watts);
        gpu->power_watts = watts;
    } else {
        gpu->power_watts = NAN;
    }
    if (!gpu->has_gpm) {
        read_nvlink(gpu, &fields[1], &fields[2], passed_s, values);
    }
}

static void read_plain(struct yk_gpu_counters *gpu, double *values)
{
    const struct yk_nvml_functions *nvml = &gpu->nvml;
    struct yk_nvml_memory memory = {0};
    unsigned value = 0;
    if (nvml->memory(gpu->part, &memory) == 0) {
        values[YK_COUNTER_MEMORY] = (double)memory.used;
    }
    if (nvml->clock_now && nvml->clock_now(gpu->device, YK_NVML_CLOCK_SM, &value) == 0) {
        values[YK_COUNTER_CLOCK] = 1e6 * value;
    }
    if (isnan(values[YK_COUNTER_POWER]) && nvml->power && nvml->power(gpu->device, &value) == 0) {
        values[YK_COUNTER_POWER] = 1e-3 * value;
    }
}

/* What needs no GPM, from the beginning of the reading until `end_s`, where the next one begins. */
static void end_reading(struct yk_gpu_counters *gpu, double end_s, struct yk_counter_reading *out)
{
    const double passed_s = end_s - gpu->begin_s;
    out->begin_s = gpu->begin_s;
    out->end_s = end_s;
    for (int i = 0; i < YK_COUNTER_COUNT; i++) {
        out->values[i] = NAN;
    }
    if (gpu->device) {
        read_fields(gpu, passed_s, out->values);
        read_plain(gpu, out->values);
    }
    if (gpu->device && !gpu->has_gpm) {
        yk_dcgm_counters_read(&gpu->dcgm, out->values);
        read_pcie(gpu, passed_s, out->values);
    }
    gpu->begin_s = end_s;
}

void yk_gpu_counters_start(struct yk_gpu_counters *gpu, double now_s)
{
    struct yk_counter_reading nothing;
    gpu->pcie_after_s = 0;
    gpu->nvlink_begun = false;
    gpu->begin_s = now_s;
    gpu->whole = false;
    gpu->power_watts = NAN;
    if (gpu->has_gpm) {
        gpu->gpm.begun = false;
        yk_counter_refresh_tracker_start(&gpu->refresh, now_s);
        (void)gpm_poll(&gpu->gpm);
        gpu->gpm.marked = gpu->gpm.last;
        gpu->whole = gpu->gpm.begun && yk_counter_refresh_tracker_is_continuous(&gpu->refresh);
    } else if (gpu->device && gpu->instance < 0) {
        yk_dcgm_counters_start(&gpu->dcgm, gpu->number);
    }
    end_reading(gpu, now_s, &nothing);
}

void yk_gpu_counters_stop(struct yk_gpu_counters *gpu)
{
    yk_dcgm_counters_stop(&gpu->dcgm);
}

static bool poll_gpm(struct yk_gpu_counters *gpu, double now_s, double length_s,
                     struct yk_counter_reading *out)
{
    const bool steady = yk_counter_refresh_tracker_is_continuous(&gpu->refresh);
    const bool fresh = gpm_poll(&gpu->gpm);
    if (yk_counter_refresh_tracker_record_poll(&gpu->refresh, now_s, fresh)) {
        const bool whole = gpu->whole;
        if (whole && gpu->refresh.instant_s - gpu->begin_s < short_part * length_s) {
            return false;
        }
        end_reading(gpu, gpu->refresh.instant_s, out);
        if (whole) {
            gpm_read(&gpu->gpm, out->values);
        }
        gpu->gpm.marked = gpu->gpm.last;
        gpu->whole = true;
        return whole;
    }
    if (steady && !yk_counter_refresh_tracker_is_continuous(&gpu->refresh)) {
        gpu->whole = false; /* what it began at was no refresh then */
    }
    if (now_s - fmax(gpu->refresh.fresh_s, gpu->begin_s) >= silence_s) {
        end_reading(gpu, now_s, out);
        gpu->whole = false;
        return true;
    }
    return false;
}

bool yk_gpu_counters_poll(struct yk_gpu_counters *gpu, double now_s, double length_s,
                          struct yk_counter_reading *out)
{
    if (gpu->has_gpm) {
        return poll_gpm(gpu, now_s, length_s, out);
    }
    end_reading(gpu, now_s, out);
    return true;
}

double yk_gpu_counters_next_poll_s(struct yk_gpu_counters *gpu, double length_s)
{
    const double end_s = gpu->begin_s + length_s;
    return gpu->has_gpm ? yk_counter_refresh_tracker_next_poll_s(&gpu->refresh, end_s) : end_s;
}

bool yk_gpu_counters_can_end_reading_any_time(const struct yk_gpu_counters *gpu)
{
    return !gpu->has_gpm;
}

static void describe_gpm(const struct yk_gpu_counters *gpu, double period_s, struct yk_text *text)
{
    const double interval_ms = 1e3 * gpu->refresh.interval_s;
    if (yk_counter_refresh_tracker_is_continuous(&gpu->refresh)) {
        yk_text_addf(text, "NVML GPM every %g ms", 1e3 * period_s);
    } else if (gpu->refresh.count == 0) {
        yk_text_add(text, "NVML GPM: its counters were not refreshed meanwhile");
    } else {
        /* It wavers by some milliseconds. */
        const double step_ms = interval_ms > 50 ? 10 : 1;
        yk_text_addf(text, "NVML GPM, refreshed every %g ms",
                     step_ms * round(interval_ms / step_ms));
    }
}

void yk_gpu_counters_describe(const struct yk_gpu_counters *gpu, double period_s,
                              struct yk_text *text)
{
    if (!gpu->device) {
        yk_text_add(text, yk_text_chars(&gpu->why));
        return;
    }
    if (gpu->has_gpm) {
        describe_gpm(gpu, period_s, text);
        return;
    }
    yk_text_addf(text, "NVML every %g ms; %s", 1e3 * period_s, yk_text_chars(&gpu->why));
    if (gpu->instance < 0) {
        yk_text_add(text, "; ");
        yk_dcgm_counters_describe(&gpu->dcgm, text);
    }
}
