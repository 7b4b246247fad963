/*
 * How far predictions from datasheets are from public measurements, each source predicted by
 * efficiencies that were fitted on the other sources only; and how often of two devices the faster
 * one is told. Usage: bench-accuracy FOLDER [--rows | --fit], where FOLDER holds
 * measured/throughput.csv. --rows prints every prediction, --fit the table of
 * src/cost/efficiency.c.
 */
#include "accuracy/csv.h"
#include "accuracy/fit.h"
#include "accuracy/measurement.h"
#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Measured times closer than this say nothing about which device is faster. */
static const double margin = 1.05;

struct left_out {
    const char *source;
    const char *reason;
    int rows;
};

struct set {
    struct csv csv;
    struct measurement *measurements;
    size_t count;
    struct left_out left_out[32];
    size_t left_out_count;
};

static void leave_out(struct set *set, const char *source, const char *reason)
{
    size_t i = 0;
    while (i < set->left_out_count && (strcmp(set->left_out[i].source, source) != 0 ||
                                       strcmp(set->left_out[i].reason, reason) != 0)) {
        i++;
    }
    if (i == sizeof set->left_out / sizeof set->left_out[0]) {
        return;
    }
    if (i == set->left_out_count) {
        set->left_out[set->left_out_count++] = (struct left_out){source, reason, 0};
    }
    set->left_out[i].rows++;
}

static const struct source *find_source(const char *said)
{
    for (size_t i = 0; i < source_count; i++) {
        if (strncmp(said, sources[i].prefix, strlen(sources[i].prefix)) == 0) {
            return &sources[i];
        }
    }
    return NULL;
}

static void describe(struct set *set)
{
    set->measurements = calloc(set->csv.rows, sizeof *set->measurements);
    if (!set->measurements) {
        exit(1);
    }
    for (size_t row = 0; row < set->csv.rows; row++) {
        const char *said = csv_cell(&set->csv, row, "source");
        const struct source *source = find_source(said);
        struct measurement *next = &set->measurements[set->count];
        *next = (struct measurement){.row = row, .source = source ? source->name : said};
        const char *reason = source ? source->describe(&set->csv, row, next) : "unknown source";
        if (reason) {
            leave_out(set, next->source, reason);
        } else {
            set->count++;
        }
    }
}

/* Each source by what the others say. */
static void predict_across(struct set *set)
{
    for (size_t s = 0; s < source_count; s++) {
        struct yk_device_efficiency efficiencies[YK_DEVICE_GENERATION_COUNT];
        bool fitted = false;
        for (size_t i = 0; i < set->count; i++) {
            struct measurement *measurement = &set->measurements[i];
            if (strcmp(measurement->source, sources[s].name) != 0) {
                continue;
            }
            if (!fitted) {
                fit_efficiencies(set->measurements, set->count, sources[s].name, efficiencies);
                fitted = true;
            }
            measurement->predicted_s = predict(measurement, efficiencies);
        }
    }
}

static double error_of(const struct measurement *measurement)
{
    return measurement->predicted_s / measurement->seconds - 1;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

struct summary {
    size_t rows;
    double median; /* of the errors' sizes, in percent */
    double tenth;  /* nine tenths of them are smaller */
    double bias;   /* the median of the errors */
};

/* Over the rows of one source and one device; NULL stands for all of them. */
static struct summary summarise(const struct set *set, const char *source, const char *device)
{
    double *sizes = calloc(set->count + 1, sizeof *sizes);
    double *errors = calloc(set->count + 1, sizeof *errors);
    struct summary summary = {0};
    if (!sizes || !errors) {
        exit(1);
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct measurement *measurement = &set->measurements[i];
        if ((!source || strcmp(measurement->source, source) == 0) &&
            (!device || strcmp(measurement->device.type, device) == 0)) {
            errors[summary.rows] = 100 * error_of(measurement);
            sizes[summary.rows] = fabs(errors[summary.rows]);
            summary.rows++;
        }
    }
    qsort(sizes, summary.rows, sizeof *sizes, by_value);
    qsort(errors, summary.rows, sizeof *errors, by_value);
    if (summary.rows > 0) {
        summary.median = sizes[summary.rows / 2];
        summary.tenth = sizes[summary.rows * 9 / 10];
        summary.bias = errors[summary.rows / 2];
    }
    free(sizes);
    free(errors);
    return summary;
}

static void print_summary(const char *source, const char *device, struct summary summary)
{
    if (summary.rows > 0) {
        printf("  %-12s %-14s %4zu rows  median error %5.1f %%  nine tenths under %5.1f %%  "
               "bias %+6.1f %%\n",
               source, device, summary.rows, summary.median, summary.tenth, summary.bias);
    }
}

static void print_table(const struct set *set)
{
    for (size_t s = 0; s < source_count; s++) {
        if (s > 0 && strcmp(sources[s].name, sources[s - 1].name) == 0) {
            continue;
        }
        for (size_t d = 0; d < yk_datasheet_count; d++) {
            const char *device = yk_datasheets[d].name;
            print_summary(sources[s].name, device, summarise(set, sources[s].name, device));
        }
        print_summary(sources[s].name, "all", summarise(set, sources[s].name, NULL));
    }
}

static void print_rows(const struct set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct measurement *measurement = &set->measurements[i];
        const struct csv *csv = &set->csv;
        const size_t row = measurement->row;
        printf("  %-12s %-22s T %-6s B %-4s %-9s %-14s measured %9.3f ms  predicted %9.3f ms  "
               "%+6.1f %%\n",
               measurement->source, csv_cell(csv, row, "model"), csv_cell(csv, row, "seq"),
               csv_cell(csv, row, "mbs"), csv_cell(csv, row, "precision"), measurement->device.type,
               1e3 * measurement->seconds, 1e3 * measurement->predicted_s,
               100 * error_of(measurement));
    }
}

/* Two names for one chip are not two devices. */
static bool same_chip(const struct yk_device *a, const struct yk_device *b)
{
    bool same = a->memory_bytes_per_s == b->memory_bytes_per_s;
    for (int p = 0; p < YK_PRECISION_COUNT; p++) {
        same = same && a->matrix_flops[p] == b->matrix_flops[p];
    }
    return same;
}

/* Two rows of one source that differ in nothing but the device. */
static bool comparable(const struct set *set, const struct measurement *a,
                       const struct measurement *b)
{
    static const char *const same[] = {"model",     "seq", "n_gpu",     "strategy",
                                       "precision", "mbs", "recompute", "metric"};
    if (strcmp(a->source, b->source) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (!csv_is(&set->csv, a->row, same[i], csv_cell(&set->csv, b->row, same[i]))) {
            return false;
        }
    }
    return !same_chip(&a->device, &b->device);
}

static double count_pairs(const struct set *set, int *out_pairs)
{
    int pairs = 0;
    int right = 0;
    for (size_t i = 0; i < set->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct measurement *a = &set->measurements[i];
            const struct measurement *b = &set->measurements[j];
            const double measured = (a->seconds / a->samples) / (b->seconds / b->samples);
            const double predicted = (a->predicted_s / a->samples) / (b->predicted_s / b->samples);
            if (fabs(log(measured)) > log(margin) && comparable(set, a, b)) {
                pairs++;
                right += (measured > 1) == (predicted > 1);
            }
        }
    }
    *out_pairs = pairs;
    return pairs > 0 ? 100.0 * right / pairs : 0;
}

static void print_left_out(const struct set *set)
{
    for (size_t i = 0; i < set->left_out_count; i++) {
        printf("  left out: %3d of %s: %s\n", set->left_out[i].rows, set->left_out[i].source,
               set->left_out[i].reason);
    }
}

static void report(struct set *set, bool every_row)
{
    predict_across(set);
    puts("accuracy: seconds from datasheets beside public measurements; each source is predicted\n"
         "  by efficiencies fitted on the other sources");
    if (every_row) {
        print_rows(set);
    }
    print_table(set);
    print_left_out(set);
    int pairs = 0;
    const double right = count_pairs(set, &pairs);
    const struct summary all = summarise(set, NULL, NULL);
    printf("accuracy: median error %.1f %% over %zu rows, nine tenths under %.1f %%; the faster of "
           "two devices told in %.1f %% of %d pairs\n",
           all.median, all.rows, all.tenth, right, pairs);
}

int main(int argc, char **argv)
{
    struct yk_text path = {0};
    struct yk_text text = {0};
    struct set set = {0};
    yk_text_addf(&path, "%s/measured/throughput.csv", argc > 1 ? argv[1] : ".");
    if (yk_file_read_document(yk_text_chars(&path), &text) != YK_OK) {
        printf("accuracy: skipped, there is no %s\n", yk_text_chars(&path));
        yk_text_free(&path);
        return 0;
    }
    set.csv = csv_cut(text.bytes);
    describe(&set);
    if (argc < 3 || strcmp(argv[2], "--fit") != 0) {
        puts("accuracy: nothing is computed on a device: predictions for the devices that each "
             "source names, beside what it measured on them");
    }
    if (argc > 2 && strcmp(argv[2], "--fit") == 0) {
        struct yk_device_efficiency efficiencies[YK_DEVICE_GENERATION_COUNT];
        fit_efficiencies(set.measurements, set.count, NULL, efficiencies);
        fit_print(efficiencies);
    } else {
        report(&set, argc > 2 && strcmp(argv[2], "--rows") == 0);
    }
    csv_free(&set.csv);
    free(set.measurements);
    yk_text_free(&path);
    return 0;
}
