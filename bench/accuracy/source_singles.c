/* Single reports, and rows that no prediction can be made for. */
#include "accuracy/sources.h"

const char *describe_nanogpt(const struct csv *csv, size_t row, struct measurement *out)
{
    static const struct device_name names[] = {{"A100", "a100-40", 0}, {NULL, NULL, 0}};
    const struct block block = {768, 12, 12, 3072, false};
    if (!csv_is(csv, row, "precision", "bf16") ||
        !find_device(names, csv_cell(csv, row, "gpu"), &out->device)) {
        return "the precision is not stated";
    }
    const struct run run = {
        .batch = csv_number(csv, row, "mbs"),
        .sequence = csv_number(csv, row, "seq"),
        .precision = YK_PRECISION_BF16,
        .flash = true,
    };
    const double rounds = csv_number(csv, row, "gbs") / (csv_number(csv, row, "n_gpu") * run.batch);
    add_forward(&out->works, &software_mpt, &block, &run, 12);
    add_backward(&out->works, &software_mpt, &block, &run, 12);
    add_head(&out->works, &run, 768, 50304);
    out->samples = run.batch;
    out->seconds = csv_number(csv, row, "value") / 1e3 / rounds;
    return NULL;
}

const char *leave_out_titan(const struct csv *csv, size_t row, struct measurement *out)
{
    (void)csv;
    (void)row;
    (void)out;
    return "neither the sequence nor what is recomputed is stated";
}

const char *leave_out_shape(const struct csv *csv, size_t row, struct measurement *out)
{
    (void)csv;
    (void)row;
    (void)out;
    return "sequence, batch or device are not stated";
}

const char *leave_out_pipeline(const struct csv *csv, size_t row, struct measurement *out)
{
    (void)csv;
    (void)row;
    (void)out;
    return "a pipeline over thousands of mixed GPUs and a network that is not stated";
}
