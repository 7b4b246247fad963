#include "cli/commands/calibrate_output.h"
#include "cli/options/command.h"
#include "cli/options/rows.h"
#include "cli/terminal.h"
#include "job/profile_path.h"
#include "job/profiling/calibrate_run.h"

#include <math.h>
#include <string.h>

enum {
    MOST_ROWS = 10000
};

/* Two predictions that differ by less are the same. */
static const double same_part = 0.001;

/* Further from the measured step, what ops took does not explain it. */
static const double odd_part = 0.1;

struct arguments {
    const char *run;
    const char *profile;
    int64_t rows;
    bool dry_run;
    bool json;
    bool quiet;
};

static yk_status copy_layer(void *user, const struct yk_profile_layer_row *row)
{
    return yk_profile_add_layer(user, &row->layer, row->batch, &row->measurement);
}

static yk_status copy_link(void *user, const struct yk_profile_link_row *row)
{
    return yk_profile_add_link(user, &row->link, row->bytes, &row->measurement);
}

static yk_status copy_fact(void *user, const struct yk_profile_fact_row *row)
{
    return yk_profile_add_fact(user, &row->fact, &row->measurement);
}

static yk_status copy(struct yk_profile *from, struct yk_profile *to)
{
    YK_TRY(yk_profile_begin(to));
    YK_TRY(yk_profile_visit_layers(from, copy_layer, to));
    YK_TRY(yk_profile_visit_links(from, copy_link, to));
    YK_TRY(yk_profile_visit_facts(from, copy_fact, to));
    return yk_profile_commit(to);
}

/* What would be predicted afterwards, tried on a copy of the profile that is nowhere but in memory.
 */
static yk_status predict(struct yk_calibrate_run *run, const struct yk_calibration *calibration,
                         double *out_s)
{
    struct yk_profile *tried = NULL;
    YK_TRY(yk_profile_create(":memory:", &tried));
    yk_status status = run->planning.profile ? copy(run->planning.profile, tried) : YK_OK;
    if (status == YK_OK) {
        status = yk_calibration_keep(calibration, tried);
    }
    if (status == YK_OK) {
        status = yk_calibrate_run_predict(run, tried, out_s);
    }
    yk_profile_close(tried);
    return status;
}

static yk_status keep(const struct yk_calibrate_run *run, const struct yk_calibration *calibration)
{
    struct yk_profile *profile = NULL;
    YK_TRY(yk_profile_path_create(run->is_usual ? NULL : run->profile, run->profile, &profile));
    const yk_status status = yk_calibration_keep(calibration, profile);
    yk_profile_close(profile);
    return status;
}

static void note_changes(const struct yk_calibrate_run *run)
{
    const double now_s = run->planned->trial.step_s;
    if (fabs(now_s - run->predicted_step_s) > same_part * now_s) {
        char then[YK_UNITS_SIZE];
        yk_units_format(run->predicted_step_s, YK_UNIT_SECONDS, then);
        yk_log(YK_LOG_NOTE,
               "the run was planned with other times, which predicted %s a step; what is shown as "
               "predicted is by %s",
               then, run->has_profile ? run->profile : "datasheets");
    }
}

static void note_rest(const struct yk_calibrate_found *found)
{
    const double measured_s = found->run->measured_step_s;
    if (fabs(found->calibrated_step_s - measured_s) > odd_part * measured_s) {
        yk_log(YK_LOG_WARNING,
               "what ops took in the median does not add up to the median step: many steps were "
               "disturbed, each elsewhere; train for longer with nothing else on the machine");
    }
}

static yk_status calibrate(const struct arguments *arguments, struct yk_calibrate_run *run,
                           struct yk_calibration *calibration, struct yk_text *out)
{
    struct yk_calibrate_found found = {
        .run = run, .calibration = calibration, .rows = arguments->rows};
    YK_TRY(yk_calibrate_run_open(arguments->run, arguments->profile, !arguments->dry_run, run));
    const struct yk_calibration_wish wish = {
        .program = run->planned->trial.program,
        .sim = run->planned->trial.sim,
        .book = &run->planning.book,
        .spent = &run->spent,
    };
    const yk_status status = yk_calibrate(&wish, run->arena, calibration);
    if (status != YK_OK) {
        return yk_fail_in(status, arguments->run);
    }
    YK_TRY(predict(run, calibration, &found.calibrated_step_s));
    note_changes(run);
    note_rest(&found);
    if (!arguments->dry_run) {
        YK_TRY(keep(run, calibration));
        found.written = true;
    }
    return arguments->json ? yk_calibrate_output_json(&found, out)
                           : yk_calibrate_output_text(&found, out);
}

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_calibrate_run opened = {0};
    struct yk_calibration calibration = {0};
    if (arguments->quiet) {
        yk_terminal_be_quiet();
    }
    const yk_status status = calibrate(arguments, &opened, &calibration, out);
    yk_calibration_free(&calibration);
    yk_calibrate_run_close(&opened);
    return status;
}

static const struct yk_operand operands[] = {
    {
        .placeholder = "RUN",
        .help = "The folder of a run that has ended: the --out of yoke train",
        .required = true,
        .offset = offsetof(struct arguments, run),
    },
};

static const struct yk_option options[] = {
    {
        .name = "profile",
        .placeholder = "FILE",
        .help = "The measurements to calibrate; else those that the run was planned with, else "
                "what yoke profile has kept",
        .group = "Input options",
        .kind = YK_OPTION_INPUT,
        .offset = offsetof(struct arguments, profile),
    },
    {
        .name = "dry-run",
        .help = "Show what differs, and write nothing",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, dry_run),
    },
    {
        .name = "rows",
        .placeholder = "N",
        .help = "How many of the largest differences to list",
        .group = YK_OUTPUT_GROUP,
        .preset = "12",
        .kind = YK_OPTION_INTEGER,
        .least = 0,
        .most = MOST_ROWS,
        .offset = offsetof(struct arguments, rows),
    },
    {
        .name = "json",
        .help = "Print JSON instead of text, with all sorts of ops",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, json),
    },
    {
        .name = "quiet",
        .help = "No notes on standard error",
        .group = YK_OUTPUT_GROUP,
        .kind = YK_OPTION_FLAG,
        .offset = offsetof(struct arguments, quiet),
    },
};

static const struct yk_example examples[] = {
    {"yoke calibrate runs/book", "Hold a run against its prediction and correct the profile"},
    {"yoke calibrate runs/book --dry-run --rows 30", "Look first"},
    {NULL, NULL},
};

static const struct yk_exit exits[] = {
    {YK_ERROR_INPUT, "the run has not ended, kept no times, or is of another model or cluster"},
    {0, NULL},
};

const struct yk_command yk_command_calibrate = {
    .name = "calibrate",
    .summary = "correct the profile by what a run took, op by op",
    .description =
        "Holds what the ops of a finished run took against what was predicted of them, lists the "
        "largest differences, and writes what was measured into the profile, so that the next plan "
        "of the same model predicts it.",
    .examples = examples,
    .operands = operands,
    .operand_count = sizeof operands / sizeof operands[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = exits,
    .arguments_size = sizeof(struct arguments),
    .run = run,
};
