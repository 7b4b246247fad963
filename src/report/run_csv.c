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
