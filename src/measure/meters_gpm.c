#include "measure/meters_gpm.h"

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

bool yk_gpm_open(struct yk_gpm *gpm, const struct yk_nvml *nvml, void *device, struct yk_text *why)
{
    memset(gpm, 0, sizeof *gpm);
    gpm->nvml = nvml;
    gpm->device = device;
    if (!nvml->gpm_support || !nvml->gpm_alloc || !nvml->gpm_free || !nvml->gpm_sample ||
        !nvml->gpm_metrics) {
        yk_text_add(why, "GPM: the driver is too old for it");
        return false;
    }
    if (!supported(nvml, device)) {
        yk_text_add(why, "GPM: not on this GPU (Hopper and newer have it)");
        return false;
    }
    int status = 0;
    for (int i = 0; i < 2 && status == 0; i++) {
        status = nvml->gpm_alloc(&gpm->samples[i]);
    }
    if (status == 0) {
        status = nvml->gpm_sample(device, gpm->samples[0]);
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
    for (int i = 0; i < 2; i++) {
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

/* False when not one of them has a value. */
static bool compare(struct yk_gpm *gpm, double *values)
{
    struct yk_nvml_gpm *request = &gpm->request;
    request->version = YK_NVML_GPM_VERSION;
    request->count = METRIC_COUNT;
    request->before = gpm->samples[0];
    request->after = gpm->samples[1];
    for (int i = 0; i < METRIC_COUNT; i++) {
        request->metrics[i].id = metrics[i].id;
        request->metrics[i].status = 0;
        request->metrics[i].value = NAN;
    }
    if (gpm->nvml->gpm_metrics(request) != 0) {
        return false;
    }
    bool any = false;
    for (int i = 0; i < METRIC_COUNT; i++) {
        const double value = request->metrics[i].value;
        if (request->metrics[i].status == 0 && isfinite(value)) {
            values[metrics[i].counter] = value * metrics[i].unit;
            any = true;
        }
    }
    return any;
}

bool yk_gpm_read(struct yk_gpm *gpm, double *values)
{
    const bool begun = gpm->begun;
    gpm->begun = gpm->nvml->gpm_sample(gpm->device, gpm->samples[1]) == 0;
    const bool known = gpm->begun && (!begun || compare(gpm, values));
    void *const sample = gpm->samples[0];
    gpm->samples[0] = gpm->samples[1];
    gpm->samples[1] = sample;
    return known;
}
