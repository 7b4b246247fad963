/*
 * Run report: a page about a training run: where its time goes, the loss, its speed, the ranks over
 * the steps, the predicted and the measured last step on every lane of every rank, memory, options,
 * and a sample of generated text. Its pictures can also be written as SVG files.
 *
 * The caller fills struct yk_run_report; the record owns nothing. The page leaves out whatever is
 * unknown (NULL, NAN, or a count of 0), so that an unfinished run has a page, too.
 */
#ifndef YK_REPORT_RUN_REPORT_H
#define YK_REPORT_RUN_REPORT_H

#include "base/status.h"
#include "base/text.h"
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
    int64_t step; /* from 1 */
    double loss;
    double norm; /* gradient norm before clipping */
    double lr;
    double seconds;
    double tokens_per_s;
    const double *ranks_s; /* (rank_count) computation time of each rank; NAN: unknown */
    int32_t rank_count;    /* 0: unknown */
    bool skipped;          /* the gradients were not finite, so there was no update */
};

/* The ranks have new shares after this step. */
struct yk_run_report_rebalancing {
    int64_t step;
    const double *shares; /* (share_count) samples of each rank */
    int32_t share_count;
    const double *predicted_s; /* (predicted_count) predicted computation time of each rank */
    int32_t predicted_count;
};

struct yk_run_report_evaluation {
    int64_t step;
    double loss;
};

/* Memory of one device. */
struct yk_run_report_memory {
    const char *device;
    double predicted_by_kind[YK_MEMORY_KIND_COUNT];
    double limit_bytes;    /* NAN: no limit */
    double measured_bytes; /* peak; NAN: unknown */
};

struct yk_run_report {
    const char *title;
    const char *model;                          /* a sentence about the model; NULL: none */
    const char *data;                           /* a sentence about the data; NULL: none */
    const struct yk_run_report_option *options; /* in the order of the page */
    int32_t option_count;
    int64_t step_goal;                      /* steps that were requested; 0: unknown */
    const struct yk_run_report_step *steps; /* sorted by step, as are the next two */
    int32_t step_count;
    const struct yk_run_report_evaluation *evaluations;
    int32_t evaluation_count;
    const struct yk_run_report_rebalancing *rebalancings;
    int32_t rebalancing_count;
    double predicted_step_s;
    double token_mfu; /* model FLOPS utilisation at one token per second; 0: unknown */
    double token_exact_mfu;
    double measured_step_s;           /* median */
    double measured_low_s;            /* 10th percentile; 0 or less: unknown */
    double measured_high_s;           /* 90th percentile */
    const struct yk_trace *predicted; /* one step; NULL: none */
    const struct yk_trace *measured;  /* the last step, which starts at 0; NULL: none */
    const struct yk_run_rank *ranks;  /* at the end of the run */
    int32_t rank_count;
    const struct yk_run_rank *first_ranks; /* before the first rebalancing; NULL: same as `ranks` */
    int32_t first_rank_count;
    const struct yk_counter_run_data *counters; /* device counters; NULL: none were read */
    const struct yk_run_report_memory *memory;
    int32_t memory_count;
    const char *sample;     /* text that the model generated; NULL: none */
    const char *checkpoint; /* path of the newest checkpoint; NULL: none */
};

yk_status yk_run_page_write(const struct yk_run_report *report, struct yk_text *out) YK_MUST_USE;

/* Writes the picture called `name` ("loss", "ranks", "lanes", "counters" or "memory"), or with name
 * NULL all of them, as in yk_chart_write_svg(). */
yk_status yk_run_page_write_pictures(const struct yk_run_report *report, const char *name,
                                     yk_chart_open_file open, void *argument) YK_MUST_USE;

#endif
