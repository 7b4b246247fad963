/*
 * Sailor (profiles/MODEL/DEVICE/profile.json): sums over the layers of Megatron-DeepSpeed, in
 * NVIDIA's container 24.10. Sizes are in third_party/Megatron-DeepSpeed/profile_all.py. The time of
 * the update is not compared: the optimizer there is not fused, and bound by the host.
 */
#include "accuracy/sources.h"

#include <stdlib.h>
#include <string.h>

/* Its "RTX-2080" has 11 GB (sailor/Planner/simulations/constants.py): a 2080 Ti. */
static const struct device_name sailor_devices[] = {
    {"A100-40", "a100-40", 0},    {"A100-80", "a100-80", 0},
    {"GH-96", "gh200", 0},        {"V100-16", "v100-16", 0},
    {"RTX-2080", "rtx2080ti", 0}, {"RTX-3090", "rtx3090", 0},
    {"Titan-RTX", "titanrtx", 0}, {NULL, NULL, 0},
};

const char *describe_sailor(const struct csv *csv, size_t row, struct measurement *out)
{
    const double vocabulary = 50304; /* GPT-2's, padded */
    if (strstr(csv_cell(csv, row, "note"), "SUSPECT")) {
        return "marked as suspect";
    }
    if (!csv_is(csv, row, "n_gpu", "1")) {
        return "tensor parallel over a link that is not stated";
    }
    if (csv_is(csv, row, "seq", "")) {
        return "the sequence is not stated";
    }
    if (!find_device(sailor_devices, csv_cell(csv, row, "gpu"), &out->device)) {
        return "the device is not known";
    }
    const bool large = csv_is(csv, row, "model", "GPT-Neo-2.7");
    const struct block block = large ? (struct block){2560, 20, 20, 10240, false}
                                     : (struct block){1024, 16, 16, 4096, false};
    const double L = large ? 32 : 24;
    /* fp32, and the container lets products use tf32 where there is such a thing */
    const bool tf32 = out->device.datasheet->matrix_flops[YK_PRECISION_TF32] > 0;
    const struct run run = {
        .batch = csv_number(csv, row, "mbs"),
        .sequence = csv_number(csv, row, "seq"),
        .precision = tf32 ? YK_PRECISION_TF32 : YK_PRECISION_FP32,
    };
    add_forward(&out->works, &software_megatron, &block, &run, L);
    add_backward(&out->works, &software_megatron, &block, &run, L);
    add_head(&out->works, &run, block.width, vocabulary);
    const char *value = csv_cell(csv, row, "value"); /* forward|backward|update */
    out->samples = run.batch;
    out->seconds = strtod(value, NULL) + strtod(strchr(value, '|') + 1, NULL);
    return NULL;
}
