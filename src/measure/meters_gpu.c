#include "measure/meters_gpu.h"

#include "measure/meters_dcgm.h"
#include "measure/meters_gpm.h"
#include "trace/counters.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static const double gpm_period_s = 0.01;
static const double other_period_s = 0.1;
static const double pcie_period_s = 1; /* asking takes 40 ms, in which nothing else is read */

struct yk_meters_gpu {
    struct yk_nvml nvml;
    int32_t number; /* the driver's */
    void *device;   /* NULL: none */
    bool has_gpm;
    struct yk_gpm gpm;
    struct yk_dcgm dcgm;
    double pcie_after_s; /* until PCIe is asked again */
    bool nvlink_begun;
    double nvlink_bytes[2]; /* so far: in, out */
    struct yk_text why;     /* what is missing */
};

/* The driver's number of CUDA's device. */
static int32_t driver_number(const struct yk_nvml *nvml, int32_t number)
{
    (void)nvml;
    return number;
}

static void find_device(struct yk_meters_gpu *gpu, const struct yk_nvml *nvml, int32_t number)
{
    if (nvml) {
        gpu->nvml = *nvml;
    } else if (!yk_nvml_load(&gpu->nvml)) {
        yk_text_add(&gpu->why, "NVML: the driver's library libnvidia-ml.so.1 is missing");
        return;
    }
    if (gpu->nvml.begin() != 0) {
        yk_text_add(&gpu->why, "NVML: the driver does not answer");
        return;
    }
    gpu->number = driver_number(&gpu->nvml, number);
    if (gpu->number < 0 || gpu->nvml.handle((unsigned)gpu->number, &gpu->device) != 0) {
        gpu->device = NULL;
        yk_text_addf(&gpu->why, "NVML: the driver has no GPU %d", number);
        return;
    }
    gpu->has_gpm = yk_gpm_open(&gpu->gpm, &gpu->nvml, gpu->device, &gpu->why);
}

yk_status yk_meters_gpu_open(const struct yk_nvml *nvml, int32_t number, struct yk_meters_gpu **out)
{
    struct yk_meters_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) {
        return yk_fail_out_of_memory();
    }
    find_device(gpu, nvml, number);
    *out = gpu;
    return YK_OK;
}

void yk_meters_gpu_close(struct yk_meters_gpu *gpu)
{
    if (gpu) {
        yk_meters_gpu_stop(gpu);
        if (gpu->has_gpm) {
            yk_gpm_close(&gpu->gpm);
        }
        yk_text_free(&gpu->why);
        free(gpu);
    }
}

double yk_meters_gpu_period_s(const struct yk_meters_gpu *gpu)
{
    return gpu->has_gpm ? gpm_period_s : other_period_s;
}

void yk_meters_gpu_start(struct yk_meters_gpu *gpu)
{
    gpu->pcie_after_s = 0;
    gpu->nvlink_begun = false;
    if (gpu->has_gpm) {
        yk_gpm_restart(&gpu->gpm);
    } else if (gpu->device) {
        yk_dcgm_start(&gpu->dcgm, gpu->number);
    }
}

void yk_meters_gpu_stop(struct yk_meters_gpu *gpu)
{
    yk_dcgm_stop(&gpu->dcgm);
}

static void read_pcie(struct yk_meters_gpu *gpu, double passed_s, double *values)
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
static void read_nvlink(struct yk_meters_gpu *gpu, const struct yk_nvml_field *in,
                        const struct yk_nvml_field *out, double passed_s, double *values)
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

static void read_fields(struct yk_meters_gpu *gpu, double passed_s, double *values)
{
    struct yk_nvml_field fields[] = {
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
        values[YK_COUNTER_POWER] = 1e-3 * fields[0].value.word;
    }
    if (!gpu->has_gpm) {
        read_nvlink(gpu, &fields[1], &fields[2], passed_s, values);
    }
}

static void read_plain(struct yk_meters_gpu *gpu, double *values)
{
    const struct yk_nvml *nvml = &gpu->nvml;
    struct yk_nvml_memory memory = {0};
    unsigned value = 0;
    if (nvml->memory(gpu->device, &memory) == 0) {
        values[YK_COUNTER_MEMORY] = (double)memory.used;
    }
    if (nvml->clock_now && nvml->clock_now(gpu->device, YK_NVML_CLOCK_SM, &value) == 0) {
        values[YK_COUNTER_CLOCK] = 1e6 * value;
    }
    if (isnan(values[YK_COUNTER_POWER]) && nvml->power && nvml->power(gpu->device, &value) == 0) {
        values[YK_COUNTER_POWER] = 1e-3 * value;
    }
}

bool yk_meters_gpu_read(struct yk_meters_gpu *gpu, double passed_s, double *values)
{
    if (!gpu->device) {
        return true;
    }
    /* First: a sample is of the moment that the reading ends. */
    const bool known = !gpu->has_gpm || yk_gpm_read(&gpu->gpm, values);
    if (!gpu->has_gpm) {
        yk_dcgm_read(&gpu->dcgm, values);
    }
    read_fields(gpu, passed_s, values);
    read_plain(gpu, values);
    if (!gpu->has_gpm) {
        read_pcie(gpu, passed_s, values);
    }
    return known;
}

void yk_meters_gpu_describe(const struct yk_meters_gpu *gpu, double period_s, struct yk_text *text)
{
    if (!gpu->device) {
        yk_text_add(text, yk_text_chars(&gpu->why));
        return;
    }
    yk_text_addf(text, gpu->has_gpm ? "NVML GPM every %g ms" : "NVML every %g ms", 1e3 * period_s);
    if (!gpu->has_gpm) {
        yk_text_addf(text, "; %s; ", yk_text_chars(&gpu->why));
        yk_dcgm_describe(&gpu->dcgm, text);
    }
}
