/*
 * llm-foundry (scripts/train/benchmarking): tokens/s of MPT models under FSDP, whose communication
 * is taken to hide behind the computation.
 */
#include "accuracy/sources.h"

#include <string.h>

static const struct device_name foundry_devices[] = {
    {"h100_80gb", "h100", 0},
    {"a100_80gb", "a100-80", 0},
    {"a100_40gb", "a100-40", 0},
    {NULL, NULL, 0},
};

static const struct {
    const char *name;
    double width;
    double heads;
    double layers;
} foundry_models[] = {
    {"MPT-125m", 768, 12, 12}, {"MPT-350m", 1024, 16, 24}, {"MPT-760m", 1536, 12, 24},
    {"MPT-1b", 2048, 16, 24},  {"MPT-3b", 2560, 20, 32},   {"MPT-7b", 4096, 32, 32},
    {"MPT-13b", 5120, 40, 40}, {"MPT-30b", 7168, 56, 48},  {"MPT-70b", 8192, 64, 80},
};

const char *describe_foundry(const struct csv *csv, size_t row, struct measurement *out)
{
    const double vocabulary = 50368;
    if (strstr(csv_cell(csv, row, "precision"), "fp8")) {
        return "fp8, which yoke does not have";
    }
    const char *model = csv_cell(csv, row, "model");
    const size_t count = sizeof foundry_models / sizeof foundry_models[0];
    size_t i = 0;
    while (i < count && strcmp(model, foundry_models[i].name) != 0) {
        i++;
    }
    if (i == count || !find_device(foundry_devices, csv_cell(csv, row, "gpu"), &out->device)) {
        return "the model or the device is not known";
    }
    const double C = foundry_models[i].width;
    const double L = foundry_models[i].layers;
    const struct block block = {C, foundry_models[i].heads, foundry_models[i].heads, 4 * C, false};
    const struct run run = {
        .batch = csv_number(csv, row, "mbs"),
        .sequence = csv_number(csv, row, "seq"),
        .precision = YK_PRECISION_BF16,
        .flash = true,
    };
    const bool recompute = csv_is(csv, row, "recompute", "True");
    const double micro_batches =
        csv_number(csv, row, "gbs") / (csv_number(csv, row, "n_gpu") * run.batch);
    const double parameters = L * block_parameters(&block) + vocabulary * C;
    add_forward(&out->works, &software_mpt, &block, &run, recompute ? 2 * L : L);
    add_backward(&out->works, &software_mpt, &block, &run, L);
    add_head(&out->works, &run, C, vocabulary);
    add_update(&out->works, parameters / csv_number(csv, row, "n_gpu") / micro_batches);
    out->samples = run.batch;
    out->seconds = run.batch * run.sequence / csv_number(csv, row, "value");
    return NULL;
}
