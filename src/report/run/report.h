/*
 * Run report: a page about a training run. It shows how the time of a step is spent, the loss, the
 * speed, the times of the ranks over the steps, the predicted and the measured last step on every
 * lane of every rank, memory, options, and a sample of generated text. Its pictures can also be
 * written as SVG files.
 *
 * The caller fills struct yk_run_report, which owns nothing. The page leaves out everything that is
 * unknown (NULL, NAN, or a count of 0), so an unfinished run has a page, too.
 */
#ifndef YK_REPORT_RUN_REPORT_H
#define YK_REPORT_RUN_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "base/throughput_unit.h"
#include "program/memory/memory.h"
#include "report/chart.h"
#include "report/run/summary.h"
#include "trace/counters_file.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_run_report_option {
    const char *name;
    const char *value;
};

struct yk_run_report_step {
    int64_t step; /* number of the step, from 1 */
    double loss;
    double norm; /* gradient norm before clipping */
    double lr;
    double seconds;
    double units_per_s;    /* tokens or images per second */
    const double *ranks_s; /* (rank_count) computation time of each rank in a recent step before
                              this one; NAN means: unknown */
    int32_t rank_count;    /* 0 means: unknown */
    bool skipped;          /* true means: the gradients were not finite, so there was no update */
};

/* A rebalancing: the ranks have new shares of the batch after this step. */
struct yk_run_report_rebalancing {
    int64_t step;
    const double *shares; /* (share_count) number of samples of each rank */
    int32_t share_count;
    const double *predicted_s; /* (predicted_count) predicted computation time of each rank */
    int32_t predicted_count;
};

struct yk_run_report_evaluation {
    int64_t step;
    double loss;
    double accuracy; /* of a classifier, 0 to 1; otherwise NAN */
};

/* The memory of one device. */
struct yk_run_report_memory {
    const char *device;
    double predicted_by_kind[YK_MEMORY_KIND_COUNT];
    double limit_bytes;    /* NAN means: no limit */
    double measured_bytes; /* peak; NAN means: unknown */
};

struct yk_run_report {
    const char *title;
    const char *model;                          /* a sentence about the model; NULL means: none */
    const char *data;                           /* a sentence about the data; NULL means: none */
    const struct yk_run_report_option *options; /* options, in the order of the page */
    int32_t option_count;
    const struct yk_throughput_unit *unit; /* what `units_per_s` counts; NULL means: tokens */
    int64_t step_goal;                     /* number of requested steps; 0 means: unknown */
    /* `steps`, `evaluations` and `rebalancings` are sorted by step. */
    const struct yk_run_report_step *steps;
    int32_t step_count;
    const struct yk_run_report_evaluation *evaluations;
    int32_t evaluation_count;
    const struct yk_run_report_rebalancing *rebalancings;
    int32_t rebalancing_count;
    double predicted_step_s;
    double unit_mfu;       /* model FLOPS utilisation (struct yk_mfu) if the speed were one unit per
                              second, with the formula of PaLM; 0 means: unknown */
    double unit_exact_mfu; /* like `unit_mfu`, but with the exact cost of attention */
    double measured_step_s; /* median of the step times */
    double measured_low_s;  /* 10th percentile of the step times; 0 or NAN means: unknown */
    double measured_high_s; /* 90th percentile of the step times */
    const struct yk_trace *predicted; /* the predicted step; NULL means: none */
    const struct yk_trace *measured;  /* the last step, which starts at 0; NULL means: none */
    const struct yk_run_rank_summary *ranks; /* the ranks at the end of the run */
    int32_t rank_count;
    /* The ranks before the first rebalancing. NULL means: they are equal to `ranks`. */
    const struct yk_run_rank_summary *first_ranks;
    int32_t first_rank_count;
    const struct yk_counter_run_data *counters; /* device counters; NULL means: none were read */
    const struct yk_run_report_memory *memory;
    int32_t memory_count;
    const char *sample;     /* text that the model generated; NULL means: none */
    const char *checkpoint; /* path of the newest checkpoint; NULL means: none */
};

yk_status yk_run_page_write(const struct yk_run_report *report, struct yk_text *out) YK_MUST_USE;

/* Writes the picture with the name `name` ("loss", "ranks", "lanes", "counters" or "memory"), or
 * all pictures if `name` is NULL; see yk_chart_write_pictures(). */
yk_status yk_run_page_write_pictures(const struct yk_run_report *report, const char *name,
                                     yk_chart_picture_text_function open,
                                     void *argument) YK_MUST_USE;

#endif
