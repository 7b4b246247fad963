/*
 * Lambda (pytorch-train-throughput-*.csv): samples/s of NVIDIA's BERT example on SQuAD, in
 * sequences of 384 as its scripts have them.
 */
#include "accuracy/sources.h"

#include <string.h>

/* Batches of base and large in 16 bit and in fp32, from pytorch-train-bs-*.csv beside the table. */
static const struct {
    struct device_name device;
    double half[2];
    double full[2];
} lambda_devices[] = {
    {{"Quadro RTX 8000", "quadrortx8000", 0}, {192, 64}, {96, 32}},
    {{"V100 16GB", "v100-16", 0}, {48, 16}, {24, 8}},
    {{"RTX 3090", "rtx3090", 0}, {96, 28}, {48, 16}},
    {{"A10", "a10", 0}, {80, 28}, {48, 12}},
    {{"A100 40GB PCIe", "a100-pcie-40", 0}, {160, 48}, {80, 28}},
    {{"A100 80GB SXM4", "a100-80", 0}, {320, 112}, {172, 64}},
    {{"RTX 6000 Ada", "rtx6000ada", 0}, {192, 64}, {96, 32}},
    {{"RTX A6000", "a6000", 0}, {192, 64}, {96, 32}},
    {{"RTX 4090", "rtx4090", 0}, {96, 28}, {48, 16}},
};

const char *describe_lambda(const struct csv *csv, size_t row, struct measurement *out)
{
    if (strstr(csv_cell(csv, row, "model"), "XL")) {
        return "Transformer-XL: the work of its adaptive softmax depends on the text";
    }
    if (!csv_is(csv, row, "n_gpu", "1")) {
        return "data parallel over a link that is not stated";
    }
    const size_t count = sizeof lambda_devices / sizeof lambda_devices[0];
    size_t i = 0;
    while (i < count && !csv_is(csv, row, "gpu", lambda_devices[i].device.said)) {
        i++;
    }
    if (i == count) {
        return "the device is not known";
    }
    const struct device_name names[] = {lambda_devices[i].device, {NULL, NULL, 0}};
    find_device(names, names[0].said, &out->device);
    const bool large = csv_is(csv, row, "model", "BERT-large SQuAD");
    const bool half = csv_is(csv, row, "precision", "fp16");
    const bool tf32 = out->device.datasheet->matrix_flops[YK_PRECISION_TF32] > 0;
    const struct block block = large ? (struct block){1024, 16, 16, 4096, false}
                                     : (struct block){768, 12, 12, 3072, false};
    const double L = large ? 24 : 12;
    const struct run run = {
        .batch = (half ? lambda_devices[i].half : lambda_devices[i].full)[large],
        .sequence = 384,
        .precision = half   ? YK_PRECISION_FP16
                     : tf32 ? YK_PRECISION_TF32
                            : YK_PRECISION_FP32,
    };
    const double embeddings = 31e6;
    add_forward(&out->works, &software_bert, &block, &run, L);
    add_backward(&out->works, &software_bert, &block, &run, L);
    add_update(&out->works, L * block_parameters(&block) + embeddings);
    out->samples = run.batch;
    out->seconds = run.batch / csv_number(csv, row, "value");
    return NULL;
}
