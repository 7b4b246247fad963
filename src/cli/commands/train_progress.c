#include "cli/commands/train_progress.h"

#include "base/text.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "cli/terminal_job.h"

#include <inttypes.h>
#include <math.h>

enum {
    FIRST_LINES = 10
};

/* Signals ask instead of ending the process once the job looks at its flag. */
static void on_phase(void *user, enum yk_train_phase phase)
{
    (void)user;
    (void)(phase == YK_TRAIN_PHASE_PLANNING ? yk_terminal_job() : yk_terminal_job_termination());
}

static void show(struct yk_train_lines *lines, bool keep)
{
    if (yk_text_status(&lines->line) == YK_OK) {
        yk_terminal_line(yk_text_chars(&lines->line), keep);
    }
    lines->line.length = 0;
}

/* ---- the beginning ---- */

static void add_model(const struct yk_train_start *start, struct yk_text *out)
{
    yk_text_addf(out, "%s: %" PRId64 " parameters", start->model, start->parameters);
    if (start->trainable < start->parameters) {
        yk_text_addf(out, ", %" PRId64 " of them trained", start->trainable);
    }
    yk_text_addf(out, ", %" PRId64 " token%s in its vocabulary\n", start->vocabulary,
                 yk_text_plural(start->vocabulary));
}

static void add_data(const struct yk_train_start *start, struct yk_text *out)
{
    const int64_t units = start->epoch_units;
    yk_text_addf(out, "data: %s; ", start->data);
    if (start->batch_rows > 0) {
        yk_text_addf(out, "%" PRId64 " batch%s of up to %" PRId64 " tokens a side an epoch\n",
                     units, units == 1 ? "" : "es", start->batch_rows);
        return;
    }
    yk_text_addf(out, "%" PRId64 " sample%s of %" PRId64 " token%s an epoch\n", units,
                 yk_text_plural(units), start->sequence, yk_text_plural(start->sequence));
}

static void add_plan(const struct yk_train_start *start, struct yk_text *out)
{
    char step[YK_UNITS_SIZE];
    char memory[YK_UNITS_SIZE];
    char limit[YK_UNITS_SIZE];
    yk_units_format(start->predicted_step_s, YK_UNIT_SECONDS, step);
    yk_units_format(start->planned_bytes, YK_UNIT_BYTES, memory);
    yk_units_format(start->limit_bytes, YK_UNIT_BYTES, limit);
    yk_text_addf(out, "plan: %" PRId64 " sample%s a step, %s; %s\n", start->batch,
                 yk_text_plural(start->batch), start->precision, start->plan);
    yk_text_addf(out, "predicted: %s a step ±%.0f %%, ", step, 100 * start->predicted_error);
    yk_text_add_duration(start->predicted_s, out);
    yk_text_addf(out, " in all, %s of %s memory", memory, limit);
    if (start->resumed) {
        yk_text_addf(out, "\nresumed: %s", start->resumed);
    }
}

static void on_start(void *user, const struct yk_train_start *start)
{
    struct yk_train_lines *lines = user;
    lines->first_step = start->steps_done;
    add_model(start, &lines->line);
    add_data(start, &lines->line);
    add_plan(start, &lines->line);
    show(lines, true);
}

/* ---- steps ---- */

/* "0:42", "3:07", "2:15:00". */
static void add_duration(double seconds, struct yk_text *out)
{
    const int64_t all = (int64_t)fmin(ceil(seconds), 1e9);
    const int64_t hours = all / 3600;
    if (hours > 0) {
        yk_text_addf(out, "%" PRId64 ":%02d:%02d", hours, (int)(all / 60 % 60), (int)(all % 60));
    } else {
        yk_text_addf(out, "%d:%02d", (int)(all / 60), (int)(all % 60));
    }
}

static void add_speed(const struct yk_train_step *step, struct yk_text *out)
{
    char seconds[YK_UNITS_SIZE];
    char memory[YK_UNITS_SIZE];
    yk_units_format(step->seconds, YK_UNIT_SECONDS, seconds);
    yk_units_format(step->memory_bytes, YK_UNIT_BYTES, memory);
    yk_text_addf(out, "  %s  %.0f tokens/s", seconds, step->tokens_per_s);
    if (step->seconds > 0) {
        yk_text_addf(out, "  MFU %.1f %% (exact %.1f)", 100 * step->mfu, 100 * step->exact_mfu);
        yk_text_addf(out, "  memory %s  predicted/measured %.2f", memory,
                     step->predicted_s / step->seconds);
    }
    if (step->slowest >= 0) {
        yk_text_addf(out, "  slowest rank %d, computing %.0f %%", (int)step->slowest,
                     100 * step->slowest_part);
    }
}

static void on_step(void *user, const struct yk_train_step *step)
{
    struct yk_train_lines *lines = user;
    struct yk_text *line = &lines->line;
    const bool keep = step->step - lines->first_step <= FIRST_LINES ||
                      step->step % lines->log_every == 0 || step->step == step->steps ||
                      step->skipped;
    /* Neither is ever less than 0; what is no number may have a sign nonetheless. */
    yk_text_addf(line, "step %" PRId64 "/%" PRId64 "  loss %.4f  norm %.3f  rate %.2e", step->step,
                 step->steps, fabs(step->loss), fabs(step->norm), step->rate);
    yk_text_add(line, step->skipped ? "  skipped" : "");
    if (step->skipped && step->scaled) {
        yk_text_addf(line, ", loss scale %g", step->loss_scale);
    }
    yk_text_add(line, "  left ");
    add_duration(step->left_s, line);
    add_speed(step, line);
    show(lines, keep);
}

static void on_evaluation(void *user, const struct yk_train_evaluation *evaluation)
{
    struct yk_train_lines *lines = user;
    const double loss = fabs(evaluation->loss);
    yk_text_addf(&lines->line, "step %" PRId64 ": evaluation loss %.4f, perplexity ",
                 evaluation->step, loss);
    yk_text_add_perplexity(loss, 2, &lines->line);
    yk_text_addf(&lines->line, ", over %" PRId64 " token%s", evaluation->tokens,
                 yk_text_plural(evaluation->tokens));
    show(lines, true);
}

static void on_checkpoint(void *user, const struct yk_train_checkpoint *checkpoint)
{
    struct yk_train_lines *lines = user;
    yk_text_addf(&lines->line, "step %" PRId64 ": saved %s", checkpoint->step, checkpoint->path);
    show(lines, true);
}

struct yk_train_progress yk_train_lines_progress(struct yk_train_lines *lines)
{
    return (struct yk_train_progress){
        .user = lines,
        .phase = on_phase,
        .start = on_start,
        .step = on_step,
        .evaluation = on_evaluation,
        .checkpoint = on_checkpoint,
    };
}

void yk_train_lines_free(struct yk_train_lines *lines)
{
    yk_text_free(&lines->line);
}
