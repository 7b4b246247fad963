#include "measure/counters/gpm.h"

#include "trace/counters.h"

#include <math.h>
#include <string.h>

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
    METRIC_COUNT = sizeof metrics / sizeof metrics[0]
};

static bool supported(const struct yk_nvml *nvml, void *device)
{
    struct yk_nvml_gpm_support support = {.version = YK_NVML_GPM_VERSION};
    return nvml->gpm_support(device, &support) == 0 && support.supported == 1;
}

static int read_sample(const struct yk_gpm *gpm, void *sample)
{
    return gpm->instance < 0
               ? gpm->nvml->gpm_sample(gpm->device, sample)
               : gpm->nvml->gpm_instance_sample(gpm->device, (unsigned)gpm->instance, sample);
}

bool yk_gpm_open(struct yk_gpm *gpm, const struct yk_nvml *nvml, void *device, int64_t instance,
                 struct yk_text *why)
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
    if (!supported(nvml, device)) {
        yk_text_add(why, "GPM: not on this GPU (Hopper and newer have it)");
        return false;
    }
    int status = 0;
    for (int i = 0; i < YK_GPM_SAMPLES && status == 0; i++) {
        status = nvml->gpm_alloc(&gpm->samples[i]);
    }
    if (status == 0) {
        status = read_sample(gpm, gpm->samples[0]);
    }
    if (status != 0) {
        yk_text_addf(why, "GPM: the driver refuses it (NVML's error %d)", status);
        yk_gpm_close(gpm);
        return false;
    }
    return true;
}

void yk_gpm_close(struct yk_gpm *gpm)
{
    for (int i = 0; i < YK_GPM_SAMPLES; i++) {
        if (gpm->samples[i]) {
            (void)gpm->nvml->gpm_free(gpm->samples[i]);
            gpm->samples[i] = NULL;
        }
    }
}

void yk_gpm_restart(struct yk_gpm *gpm)
{
    gpm->begun = false;
}

/* False when the driver does not answer. */
static bool compare(struct yk_gpm *gpm, int before, int after)
{
    struct yk_nvml_gpm *request = &gpm->request;
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

/* Samples of the same refresh show nothing of memory's bus, and 0 of all that counts work. An idle
 * GPU shows 0 too, but of memory's bus a value. */
static bool refreshed(const struct yk_nvml_gpm *request)
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

/* One that is neither marked nor the last. */
static int free_sample(const struct yk_gpm *gpm)
{
    int free = 0;
    while (free == gpm->marked || free == gpm->last) {
        free++;
    }
    return free;
}

bool yk_gpm_poll(struct yk_gpm *gpm)
{
    const int next = free_sample(gpm);
    if (read_sample(gpm, gpm->samples[next]) != 0) {
        return false;
    }
    const bool begun = gpm->begun;
    if (begun && !(compare(gpm, gpm->last, next) && refreshed(&gpm->request))) {
        return false;
    }
    gpm->begun = true;
    gpm->last = next;
    return begun;
}

void yk_gpm_mark(struct yk_gpm *gpm)
{
    gpm->marked = gpm->last;
}

void yk_gpm_read(struct yk_gpm *gpm, double *values)
{
    if (!gpm->begun || !compare(gpm, gpm->marked, gpm->last)) {
        return;
    }
    for (int i = 0; i < METRIC_COUNT; i++) {
        if (has_value(&gpm->request.metrics[i])) {
            values[metrics[i].counter] = gpm->request.metrics[i].value * metrics[i].unit;
        }
    }
}
