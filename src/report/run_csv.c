#include "report/run_csv.h"

#include "report/csv.h"
#include "report/label.h"
#include "report/plan_csv.h"

#include <inttypes.h>
#include <math.h>

void yk_run_csv_lanes(const struct yk_run_lanes *lanes, int32_t fold_count, struct yk_text *out)
{
    yk_text_add(out, "ranks,device,lane,op,start_s,end_s,bytes,trace\n");
    for (int32_t f = 0; f < fold_count; f++) {
        const struct yk_plan_fold *fold = &lanes->folds.folds[f];
        for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
            for (int32_t i = 0; i < fold->lanes[t].count; i++) {
                yk_text_addf(out, "%s,", fold->numbers);
                yk_csv_add_words(out, lanes->devices[f]);
                yk_text_add(out, ",");
                yk_plan_csv_event(fold->lanes[t].events[i], out);
                yk_text_addf(out, ",%s\n", yk_run_trace_name(t));
            }
        }
    }
}

void yk_run_csv_kinds(const struct yk_run_kind kinds[YK_LOOK_OP_COUNT], struct yk_text *out)
{
    yk_text_add(out, "kind,predicted_count,predicted_s,measured_count,measured_s\n");
    for (int32_t k = 0; k < YK_LOOK_OP_COUNT; k++) {
        if (kinds[k].count[YK_RUN_PREDICTED] == 0 && kinds[k].count[YK_RUN_MEASURED] == 0) {
            continue;
        }
        yk_text_add(out, yk_look_op_name(k));
        for (int t = 0; t < YK_RUN_TRACE_COUNT; t++) {
            yk_text_addf(out, ",%d,", (int)kinds[k].count[t]);
            yk_csv_add_seconds(out, kinds[k].seconds[t]);
        }
        yk_text_add(out, "\n");
    }
}

/* A mean to about six digits: the others are noise. */
static void add_mean(double mean, struct yk_text *out)
{
    char number[YK_NUMBER_SIZE];
    if (isfinite(mean)) {
        yk_label_number(mean, number);
        yk_text_add(out, number);
    }
}

static void add_step(const struct yk_run_report_step *step, double smooth_loss,
                     double evaluation_loss, struct yk_text *out)
{
    const double values[] = {evaluation_loss, step->norm, step->rate, step->seconds,
                             step->tokens_per_s};
    yk_text_addf(out, "%" PRId64 ",", step->step);
    yk_csv_add_number(out, step->loss);
    yk_text_add(out, ",");
    add_mean(smooth_loss, out);
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        yk_text_add(out, ",");
        yk_csv_add_number(out, values[v]);
    }
    yk_text_add(out, step->skipped ? ",1\n" : ",0\n");
}

static void add_evaluation(const struct yk_run_report_evaluation *evaluation, struct yk_text *out)
{
    yk_text_addf(out, "%" PRId64 ",,,", evaluation->step);
    yk_csv_add_number(out, evaluation->loss);
    yk_text_add(out, ",,,,,0\n");
}

void yk_run_csv_steps(const struct yk_run_report *report, const struct yk_run_curves *curves,
                      int32_t stride, struct yk_text *out)
{
    const struct yk_run_report_evaluation *evaluation = report->evaluations;
    const struct yk_run_report_evaluation *end = evaluation + report->evaluation_count;
    yk_text_add(out, "step,loss,smooth_loss,evaluation_loss,norm,rate,seconds,tokens_per_s,"
                     "skipped\n");
    for (int32_t i = 0; i < report->step_count; i++) {
        double loss = NAN;
        for (; evaluation < end && evaluation->step < report->steps[i].step; evaluation++) {
            add_evaluation(evaluation, out);
        }
        for (; evaluation < end && evaluation->step == report->steps[i].step; evaluation++) {
            loss = evaluation->loss;
        }
        if (i % stride == 0 || isfinite(loss)) {
            add_step(&report->steps[i], curves->smooth_loss[i], loss, out);
        }
    }
    for (; evaluation < end; evaluation++) {
        add_evaluation(evaluation, out);
    }
}

void yk_run_csv_memory(const struct yk_run_report *report, struct yk_text *out)
{
    yk_text_add(out, "device,limit_bytes,measured_bytes");
    for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
        yk_text_addf(out, ",%s_bytes", yk_memory_kind_name((enum yk_memory_kind)k));
    }
    yk_text_add(out, "\n");
    for (int32_t i = 0; i < report->memory_count; i++) {
        const struct yk_run_report_memory *memory = &report->memory[i];
        yk_csv_add_words(out, memory->device);
        yk_text_add(out, ",");
        yk_csv_add_bytes(out, memory->limit_bytes);
        yk_text_add(out, ",");
        yk_csv_add_bytes(out, memory->measured_bytes);
        for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
            yk_text_add(out, ",");
            yk_csv_add_bytes(out, memory->predicted_by_kind[k]);
        }
        yk_text_add(out, "\n");
    }
}

void yk_run_csv_ranks(const struct yk_run_ranks *ranks, struct yk_text *out)
{
    yk_text_add(out, "rank,device,share,predicted_compute_s,measured_compute_s,"
                     "predicted_exposed_s,measured_exposed_s,predicted_idle_s,measured_idle_s,"
                     "predicted_bytes,measured_bytes,limit_bytes\n");
    for (int32_t r = 0; r < ranks->count; r++) {
        const struct yk_run_rank *rank = &ranks->ranks[r];
        const double times[] = {rank->predicted.compute_s, rank->measured.compute_s,
                                rank->predicted.exposed_s, rank->measured.exposed_s,
                                rank->predicted.idle_s,    rank->measured.idle_s};
        const double sizes[] = {rank->predicted_bytes, rank->measured_bytes, rank->limit_bytes};
        yk_text_addf(out, "%d,", (int)r);
        yk_csv_add_words(out, rank->device);
        yk_text_add(out, ",");
        yk_csv_add_number(out, rank->share);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            yk_text_add(out, ",");
            yk_csv_add_seconds(out, times[i]);
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            yk_text_add(out, ",");
            yk_csv_add_bytes(out, sizes[i]);
        }
        yk_text_add(out, "\n");
    }
}

int32_t yk_run_csv_rank_columns(const struct yk_run_report *report)
{
    int32_t columns = 0;
    for (int32_t i = 0; i < report->step_count; i++) {
        const int32_t count = report->steps[i].rank_count;
        columns = count > columns ? count : columns;
    }
    return columns;
}

void yk_run_csv_rank_steps(const struct yk_run_report *report, int32_t stride, struct yk_text *out)
{
    const int32_t columns = yk_run_csv_rank_columns(report);
    yk_text_add(out, "step");
    for (int32_t r = 0; r < columns; r++) {
        yk_text_addf(out, ",rank_%d_s", (int)r);
    }
    yk_text_add(out, "\n");
    for (int32_t i = 0; i < report->step_count; i += stride) {
        const struct yk_run_report_step *step = &report->steps[i];
        if (step->rank_count == 0) {
            continue;
        }
        yk_text_addf(out, "%" PRId64, step->step);
        for (int32_t r = 0; r < columns; r++) {
            yk_text_add(out, ",");
            yk_csv_add_seconds(out, r < step->rank_count ? step->ranks_s[r] : NAN);
        }
        yk_text_add(out, "\n");
    }
}

void yk_run_csv_differences(const struct yk_run_ranks *ranks,
                            const struct yk_run_difference *differences, int32_t count,
                            struct yk_text *out)
{
    yk_text_add(out, "op,rank,device,predicted_s,measured_s\n");
    for (int32_t i = 0; i < count; i++) {
        yk_csv_add_words(out, differences[i].op);
        yk_text_addf(out, ",%d,", (int)differences[i].rank);
        yk_csv_add_words(out, ranks->ranks[differences[i].rank].device);
        yk_text_add(out, ",");
        yk_csv_add_seconds(out, differences[i].predicted_s);
        yk_text_add(out, ",");
        yk_csv_add_seconds(out, differences[i].measured_s);
        yk_text_add(out, "\n");
    }
}
