#include "job/profiling/calibrate.h"
#include "cli/commands/calibrate_output.h"
#include "cli/options/command.h"
#include "cli/options/plan_options.h"

enum {
    MOST_ROWS = 10000
};

struct arguments {
    struct yk_calibrate_request request;
    int64_t rows; /* of the table, at most */
    bool json;
    bool quiet;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_calibrate_result result = {0};
    yk_status status = yk_calibrate_run(&arguments->request, &result);
    if (status == YK_OK) {
        status = arguments->json ? yk_calibrate_output_json(&result, out)
                                 : yk_calibrate_output_text(&result, arguments->rows, out);
    }
    yk_calibrate_result_free(&result);
    return status;
}

#define TO(member) YK_TO(struct arguments, member)

static const struct yk_operand operands[] = {
    {
        .placeholder = "RUN",
        .help = "The folder of a run that has ended: the --out of yoke train",
        .required = true,
        TO(request.run),
    },
};

static const struct yk_option options[] = {
    {YK_ROW("profile", "FILE", YK_INPUT_GROUP,
            "The measurements to calibrate; else those that the run was planned with, else what "
            "yoke profile has kept"),
     YK_INPUT, TO(request.profile)},
    {YK_ROW("dry-run", NULL, YK_OUTPUT_GROUP, "Show what differs, and write nothing"), YK_FLAG,
     TO(request.dry_run)},
    {YK_ROW("rows", "N", YK_OUTPUT_GROUP, "How many of the largest differences to list"),
     YK_INTEGER(0, MOST_ROWS, "12"), TO(rows)},
    {YK_ROW("json", NULL, YK_OUTPUT_GROUP, "Print JSON instead of text, with all sorts of ops"),
     YK_FLAG, TO(json)},
    YK_QUIET_OPTION(struct arguments, quiet, "notes"),
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
    YK_COMMAND_PARTS(struct arguments),
};
