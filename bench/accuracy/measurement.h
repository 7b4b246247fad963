/* Measurement: a row of the public measurements, as works on a device and the seconds they took. */
#ifndef YK_BENCH_ACCURACY_MEASUREMENT_H
#define YK_BENCH_ACCURACY_MEASUREMENT_H

#include "accuracy/csv.h"
#include "accuracy/software.h"
#include "cluster/cluster.h"
#include "cost/roofline.h"

struct measurement {
    size_t row;         /* of the table */
    const char *source; /* "cephalo" … */
    struct yk_device device;
    struct works works;
    double samples; /* that the seconds are for */
    double seconds; /* measured */
    double predicted_s;
};

/* One place that measurements come from. */
struct source {
    const char *prefix; /* of the table's first column */
    const char *name;
    /* Fills device, works, samples and seconds; or returns why the row does not state enough. */
    const char *(*describe)(const struct csv *csv, size_t row, struct measurement *out);
};

extern const struct source sources[];
extern const size_t source_count;

double predict(const struct measurement *measurement,
               const struct yk_device_efficiency *efficiencies);

#endif
