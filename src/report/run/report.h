/*
 * Run report: one page about a training, for a browser: where its time goes, the loss, its speed,
 * the ranks over the steps, the last step as it was predicted and as it was measured on every lane
 * of every rank, memory, options, and a sample of what the model generates. Its pictures
 * are SVG files, too.
 *
 * The record points at what others own, and is filled by whoever knows of the run. What is missing
 * (NULL, none, or no number) is left out of the page, so a run that still goes on has one, too.
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
    double norm; /* of the gradients, before clipping */
    double rate;
    double seconds;
    double tokens_per_s;
    const double *ranks_s; /* (rank_count) that each rank computed; NAN: not known */
    int32_t rank_count;    /* 0: not known of any */
    bool skipped;          /* numbers went bad, nothing was updated */
};

/* After this step, ranks had other shares. */
struct yk_run_report_rebalancing {
    int64_t step;
    const double *shares; /* (share_count), by rank */
    int32_t share_count;
    const double *predicted_s; /* (predicted_count) that each rank was to compute from then on */
    int32_t predicted_count;
};

struct yk_run_report_evaluation {
    int64_t step;
    double loss;
};

/* A device's memory. */
struct yk_run_report_memory {
    const char *device;
    double predicted_by_kind[YK_MEMORY_KIND_COUNT];
    double limit_bytes;    /* NAN: none */
    double measured_bytes; /* at the fullest moment; NAN: not known */
};

struct yk_run_report {
    const char *title;
    const char *model;                          /* a sentence about what is trained, or NULL */
    const char *data;                           /* and on what */
    const struct yk_run_report_option *options; /* in the order they are shown */
    int32_t option_count;
    int64_t step_goal;                      /* 0: not known */
    const struct yk_run_report_step *steps; /* by step */
    int32_t step_count;
    const struct yk_run_report_evaluation *evaluations; /* by step */
    int32_t evaluation_count;
    const struct yk_run_report_rebalancing *rebalancings; /* by step */
    int32_t rebalancing_count;
    double predicted_step_s;
    double token_mfu; /* model FLOPS utilisation of one token a second; 0: not known */
    double token_exact_mfu;
    double measured_step_s;           /* median */
    double measured_low_s;            /* a tenth of the steps took less, and another more than */
    double measured_high_s;           /* this; not above 0: not known */
    const struct yk_trace *predicted; /* one step; NULL: none */
    const struct yk_trace *measured;  /* the last step, from its start at 0; NULL: none */
    const struct yk_run_rank *ranks;  /* what is known besides the traces, at the end */
    int32_t rank_count;
    const struct yk_run_rank
        *first_ranks; /* as planned, before any rebalancing; NULL: as `ranks` */
    int32_t first_rank_count;
    const struct yk_counter_ranks
        *counters; /* what the counters of devices showed; NULL: none were read */
    const struct yk_run_report_memory *memory;
    int32_t memory_count;
    const char *sample;     /* written by the model; NULL: none */
    const char *checkpoint; /* the path of the newest; NULL: none */
};

yk_status yk_run_report_page(const struct yk_run_report *report, struct yk_text *out) YK_MUST_USE;

/* The pictures of the page, or one of them by its name ("loss", "ranks", "lanes", "counters",
 * "memory"): see yk_chart_write(). */
yk_status yk_run_page_pictures(const struct yk_run_report *report, const char *name,
                               yk_chart_open open, void *argument) YK_MUST_USE;

#endif
