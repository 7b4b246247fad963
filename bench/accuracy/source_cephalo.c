/*
 * Cephalo (data/model_latencies.json): the times of all kernels of one layer, summed by a profiler
 * at batches of 1 to 4, as a line through them. PyTorch 2.1 with automatic casts for 16 bit and
 * without tf32. Sizes and software are in models/ of that repository.
 */
#include "accuracy/sources.h"

#include <stdlib.h>
#include <string.h>

/* utils/comm.py shortens the names; its P100 is the card of 12 GB, with three of four memories. */
static const struct device_name cephalo_devices[] = {
    {"a100x40", "a100-40", 0},
    {"a100x80", "a100-80", 0},
    {"a10g", "a10g", 0},
    {"a6000", "a6000", 0},
    {"h100-nvl", "h100-nvl", 0},
    {"l4", "l4", 0},
    {"l40s", "l40s", 0},
    {"p100", "p100-pcie", 549e9},
    {"p40", "p40", 0},
    {"rtx_3090", "rtx3090", 0},
    {"t4", "t4", 0},
    {"v100-pciex16", "v100-pcie-16", 0},
    {"v100x16", "v100-16", 0},
    {"v100x32", "v100-32", 0},
    {NULL, NULL, 0},
};

/* The sizes as models/ of that repository has them. */
static const struct {
    const char *name; /* the end of the model's name */
    const struct software *software;
    struct block block;
} cephalo_models[] = {
    {"bert_base", &software_cephalo_bert, {768, 12, 12, 3072, false}},
    {"bert_large", &software_cephalo_bert, {1024, 16, 16, 4096, false}},
    {"bert_xlarge", &software_cephalo_bert, {1536, 24, 24, 6144, false}},
    {"gpt_test", &software_cephalo_gpt, {512, 128, 128, 2048, false}},
    {"gpt_1.3b", &software_cephalo_gpt, {2048, 128, 128, 8192, false}},
    {"gpt_2.7b", &software_cephalo_gpt, {2560, 80, 80, 10240, false}},
    {"gpt_6.7b", &software_cephalo_gpt, {4096, 128, 128, 16384, false}},
    {"gpt_175b", &software_cephalo_gpt, {12288, 96, 96, 49152, false}},
    {"_tiny", &software_cephalo_llama, {2048, 32, 32, 5632, true}},
    {"llama_3b", &software_cephalo_llama, {3200, 32, 32, 8640, true}},
    {"mistral_7b", &software_cephalo_llama, {4096, 32, 8, 14336, true}},
    {"_7b", &software_cephalo_llama, {4096, 32, 32, 11008, true}},
    {"_13b", &software_cephalo_llama, {5120, 40, 40, 13824, true}},
    {"llama_33b", &software_cephalo_llama, {6656, 52, 52, 17920, true}},
    {"llama_65b", &software_cephalo_llama, {8192, 64, 64, 22016, true}},
    {"vit_h", &software_cephalo_vit, {1280, 16, 16, 5120, false}},
    {"vit_g", &software_cephalo_vit, {1664, 16, 16, 8192, false}},
    {"vit_e", &software_cephalo_vit, {1792, 16, 16, 15360, false}},
    {"vit_e_toy", &software_cephalo_vit, {1792, 16, 16, 15360, false}},
};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* "a*b+c|d*b+e" in ms at `batch`. */
static double line_at(const char *text, double batch)
{
    double sum_ms = 0;
    for (const char *part = text; part; part = strchr(part, '|')) {
        char *end = NULL;
        part += *part == '|';
        sum_ms += strtod(part, &end) * batch;
        sum_ms += strtod(end + strlen("*b"), NULL);
    }
    return sum_ms / 1e3;
}

const char *describe_cephalo(const struct csv *csv, size_t row, struct measurement *out)
{
    const double mean_batch = 2.5; /* a fitted line passes through the mean of its points */
    const char *model = csv_cell(csv, row, "model");
    size_t found = 0;
    const size_t count = sizeof cephalo_models / sizeof cephalo_models[0];
    while (found < count && !ends_with(model, cephalo_models[found].name)) {
        found++;
    }
    if (found == count) {
        return "the model's sizes are not known";
    }
    const struct software *software = cephalo_models[found].software;
    const struct block *block = &cephalo_models[found].block;
    if (!find_device(cephalo_devices, csv_cell(csv, row, "gpu"), &out->device)) {
        return "the device is not known";
    }
    const struct run run = {
        .batch = mean_batch,
        /* Pictures of 384 × 384 in patches of 16 and a class token; words as stated. */
        .sequence = software == &software_cephalo_vit ? 24 * 24 + 1 : csv_number(csv, row, "seq"),
        .precision =
            csv_is(csv, row, "precision", "float16") ? YK_PRECISION_FP16 : YK_PRECISION_FP32,
        .flash = software == &software_cephalo_llama && strcmp(out->device.type, "p40") != 0,
    };
    add_forward(&out->works, software, block, &run, 1);
    add_backward(&out->works, software, block, &run, 1);
    out->samples = mean_batch;
    out->seconds = line_at(csv_cell(csv, row, "value"), mean_batch);
    return NULL;
}
