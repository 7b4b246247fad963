#include "cli/options/command.h"
#include "cli/options/plan_options.h"
#include "job/profiling/calibrate_profile.h"

enum {
    MAX_ROWS = 10000
};

struct arguments {
    struct yk_calibrate_profile_request request;
    int64_t rows; /* of the table, at most */
    bool json;
    bool quiet;
};

static yk_status run(const void *given, struct yk_text *out)
{
    const struct arguments *arguments = given;
    struct yk_calibrate_profile_result result = {0};
    yk_status status = yk_calibrate_profile_run(&arguments->request, &result);
    YK_IF_OK(arguments->json ? yk_calibrate_profile_write_json(&result, out)
                             : yk_calibrate_profile_write_text(&result, arguments->rows, out));
    yk_calibrate_profile_result_free(&result);
    return status;
}

#define TO(member) YK_OPTION_OFFSET_OF(struct arguments, member)

static const struct yk_operand operands[] = {
    {
        .placeholder = "RUN",
        .help = "The folder of a run that has ended: the --out of yoke train",
        .required = true,
        TO(request.run),
    },
};

static const struct yk_option options[] = {
    {YK_OPTION_ROW(
         "profile", "FILE", YK_INPUT_OPTION_HEADING,
         "The measurements to calibrate; else those that the run was planned with, else what "
         "yoke profile has kept"),
     YK_OPTION_INIT_INPUT_FILE, TO(request.profile)},
    {YK_OPTION_ROW("dry-run", NULL, YK_OUTPUT_OPTION_HEADING,
                   "Show what differs, and write nothing"),
     YK_OPTION_INIT_FLAG, TO(request.dry_run)},
    {YK_OPTION_ROW("rows", "N", YK_OUTPUT_OPTION_HEADING,
                   "How many of the largest differences to list"),
     YK_OPTION_INIT_INTEGER(0, MAX_ROWS, "12"), TO(rows)},
    {YK_OPTION_ROW("json", NULL, YK_OUTPUT_OPTION_HEADING,
                   "Print JSON instead of text, with all sorts of ops"),
     YK_OPTION_INIT_FLAG, TO(json)},
    YK_QUIET_OPTION(struct arguments, quiet, "notes"),
};

static const struct yk_command_example examples[] = {
    {"yoke calibrate runs/book", "Hold a run against its prediction and correct the profile"},
    {"yoke calibrate runs/book --dry-run --rows 30", "Look first"},
};

static const struct yk_command_exit_code exits[] = {
    {YK_ERROR_INPUT, "the run has not ended, kept no times, or is of another model or cluster"},
};

const struct yk_command yk_command_calibrate = {
    .name = "calibrate",
    .summary = "correct the profile by what a run took, op by op",
    .description =
        "Holds what the ops of a finished run took against what was predicted of them, lists the "
        "largest differences, and writes what was measured into the profile, so that the next plan "
        "of the same model predicts it.",
    YK_COMMAND_INITIALIZERS(struct arguments),
};
