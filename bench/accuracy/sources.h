/* Sources: each turns a row into a measurement, or says why the row does not state enough. */
#ifndef YK_BENCH_ACCURACY_SOURCES_H
#define YK_BENCH_ACCURACY_SOURCES_H

#include "accuracy/measurement.h"

/* What a source calls a device, and the datasheet it has; ended by a row of NULL. */
struct device_name {
    const char *said;
    const char *sheet;
    double memory_bytes_per_s; /* where the card differs from the sheet; 0 otherwise */
};

bool find_device(const struct device_name *names, const char *said, struct yk_device *out);

const char *describe_cephalo(const struct csv *csv, size_t row, struct measurement *out);
const char *describe_foundry(const struct csv *csv, size_t row, struct measurement *out);
const char *describe_sailor(const struct csv *csv, size_t row, struct measurement *out);
const char *describe_lambda(const struct csv *csv, size_t row, struct measurement *out);
const char *describe_nanogpt(const struct csv *csv, size_t row, struct measurement *out);
const char *leave_out_titan(const struct csv *csv, size_t row, struct measurement *out);
const char *leave_out_shape(const struct csv *csv, size_t row, struct measurement *out);
const char *leave_out_pipeline(const struct csv *csv, size_t row, struct measurement *out);

#endif
