#include "job/profiling/calibrate.h"
#include "base/json_write.h"
#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options/command.h"
#include "cli/options/plan_options.h"

#include <inttypes.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "forward gpt-block, 8 samples"; "gather 1.2MiB". */
static void describe(const struct yk_calibrate_op_class *op, struct yk_text *out)
{
    yk_text_add(out, op->op);
    if (!op->layer) {
        yk_text_addf(out, " %s", YK_UNITS_TEXT((double)op->size, YK_UNIT_BYTES));
        return;
    }
    yk_text_addf(out, " %s", op->layer);
    if (op->size >= 0) {
        yk_text_addf(out, ", %" PRId64 " sample%s", op->size, yk_text_plural_suffix(op->size));
    }
}

static void add_percent(double part, struct yk_table *table)
{
    if (isfinite(part) && fabs(part) < 0.0005) {
        yk_table_add(table, "0 %%");
    } else if (isfinite(part)) {
        yk_table_add(table, "%+.*f %%", fabs(part) < 0.0995 ? 1 : 0, 100 * part);
    } else {
        yk_table_add(table, "new");
    }
}

static void add_seconds(double seconds, struct yk_table *table)
{
    yk_table_add(table, "%s", YK_UNITS_TEXT(seconds, YK_UNIT_SECONDS));
}

static void add_row(const struct yk_calibrate_result *result,
                    const struct yk_calibrate_op_class *op, struct yk_table *table)
{
    struct yk_text name = {0};
    describe(op, &name);
    yk_table_add(table, "%s", yk_text_chars(&name));
    yk_text_free(&name);
    yk_table_add(table, "%s", op->device_or_link);
    yk_table_add(table, "%d", (int)op->times);
    add_seconds(op->predicted_s, table);
    add_seconds(op->measured_s, table);
    add_percent(op->predicted_s > 0 ? op->measured_s / op->predicted_s - 1 : NAN, table);
    add_percent(op->difference_s / result->measured_step_s, table);
}

static yk_status write_table(const struct yk_calibrate_result *result, int64_t rows,
                             struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"op", YK_TABLE_LEFT},           {"on", YK_TABLE_LEFT},        {"times", YK_TABLE_RIGHT},
        {"predicted", YK_TABLE_RIGHT},   {"measured", YK_TABLE_RIGHT}, {"off by", YK_TABLE_RIGHT},
        {"of the step", YK_TABLE_RIGHT},
    };
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, COUNT(columns), &table));
    for (int32_t i = 0; i < result->op_count && i < rows; i++) {
        add_row(result, &result->ops[i], table);
    }
    const yk_status status = yk_table_write_and_destroy(table, out);
    if (status == YK_OK && result->op_count > rows) {
        yk_text_addf(out, "  %" PRId64 " of %d sorts of ops; --rows shows more\n", rows,
                     (int)result->op_count);
    }
    return status;
}

static void write_steps(const struct yk_calibrate_result *result, struct yk_text *out)
{
    yk_text_addf(out, "  step        %s measured, half of them faster; %s predicted (%.2f of it)\n",
                 YK_UNITS_TEXT(result->measured_step_s, YK_UNIT_SECONDS),
                 YK_UNITS_TEXT(result->predicted_step_s, YK_UNIT_SECONDS),
                 result->predicted_step_s / result->measured_step_s);
    yk_text_addf(out, "  calibrated  %s %s predicted (%.2f of it)\n",
                 YK_UNITS_TEXT(result->calibrated_step_s, YK_UNIT_SECONDS),
                 result->written ? "is now" : "would be",
                 result->calibrated_step_s / result->measured_step_s);
}

static void write_slowdown(double slowdown, bool estimated, const char *what, struct yk_text *out)
{
    if (isfinite(slowdown)) {
        yk_text_addf(out, "  beside      %s takes %.2f times as long%s\n", what, slowdown,
                     estimated ? ", says this run" : "");
    }
}

static void write_profile(const struct yk_calibrate_result *result, struct yk_text *out)
{
    yk_text_addf(out, "  profile     %s %s %d time%s of layers", result->profile,
                 result->written ? "has" : "would have", (int)result->layer_count,
                 yk_text_plural_suffix(result->layer_count));
    if (result->link_count > 0) {
        yk_text_addf(out, ", %d of messages", (int)result->link_count);
    }
    yk_text_add(out, result->written ? " from this run\n" : "; nothing was written\n");
    if (result->skipped_messages > 0) {
        yk_text_addf(out,
                     "  left out    %d sort%s of messages that ran beside computation: how much "
                     "that slows them is not known; yoke profile --ranks %d measures it\n",
                     (int)result->skipped_messages, yk_text_plural_suffix(result->skipped_messages),
                     (int)result->ranks);
    }
}

static yk_status write_text(const struct yk_calibrate_result *result, int64_t rows,
                            struct yk_text *out)
{
    yk_text_addf(out, "%s: %" PRId64 " step%s of %d rank%s beside the prediction\n\n", result->run,
                 result->steps, yk_text_plural_suffix(result->steps), (int)result->ranks,
                 yk_text_plural_suffix(result->ranks));
    if (rows > 0) {
        YK_TRY(write_table(result, rows, out));
        yk_text_add(out, "\n");
    }
    write_steps(result, out);
    if (result->ranks > 1) {
        write_slowdown(result->compute_slowdown, result->estimated_compute,
                       "computation beside messages", out);
        write_slowdown(result->message_slowdown, result->estimated_message,
                       "a message beside computation", out);
    }
    write_profile(result, out);
    return yk_text_status(out);
}

static void write_op(const struct yk_calibrate_op_class *op, struct yk_json_writer *json)
{
    yk_json_write_begin_object(json, NULL);
    yk_json_write_string(json, "op", op->op);
    if (op->layer) {
        yk_json_write_string(json, "layer", op->layer);
        yk_json_write_string(json, "shape", op->shape);
    } else {
        yk_json_write_integer(json, "ranks", op->ranks);
    }
    if (op->size >= 0) {
        yk_json_write_integer(json, op->layer ? "samples" : "bytes", op->size);
    }
    yk_json_write_string(json, "on", op->device_or_link);
    yk_json_write_integer(json, "times", op->times);
    yk_json_write_number(json, "predicted_s", op->predicted_s);
    yk_json_write_number(json, "measured_s", op->measured_s);
    yk_json_write_number(json, "difference_s", op->difference_s);
    yk_json_write_number(json, "alone_s", op->alone_s);
    yk_json_write_number(json, "spread", op->spread);
    yk_json_write_end_object(json);
}

static yk_status write_json(const struct yk_calibrate_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_document(&json, "calibration");
    yk_json_write_string(&json, "run", result->run);
    yk_json_write_string(&json, "profile", result->profile);
    yk_json_write_bool(&json, "written", result->written);
    yk_json_write_integer(&json, "steps", result->steps);
    yk_json_write_integer(&json, "ranks", result->ranks);
    yk_json_write_number(&json, "measured_step_s", result->measured_step_s);
    yk_json_write_number(&json, "predicted_step_s", result->predicted_step_s);
    yk_json_write_number(&json, "calibrated_step_s", result->calibrated_step_s);
    yk_json_write_number(&json, "compute_slowdown", result->compute_slowdown);
    yk_json_write_number(&json, "message_slowdown", result->message_slowdown);
    yk_json_write_integer(&json, "left_out", result->skipped_messages);
    yk_json_write_begin_array(&json, "ops");
    for (int32_t i = 0; i < result->op_count; i++) {
        write_op(&result->ops[i], &json);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_document(&json);
}

enum {
    MAX_ROWS = 10000
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
    YK_THEN(arguments->json ? write_json(&result, out) : write_text(&result, arguments->rows, out));
    yk_calibrate_result_free(&result);
    return status;
}

#define TO(member) YK_OPTION_FIELD(struct arguments, member)

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
         "profile", "FILE", YK_INPUT_OPTION_GROUP,
         "The measurements to calibrate; else those that the run was planned with, else what "
         "yoke profile has kept"),
     YK_INPUT_FILE_OPTION, TO(request.profile)},
    {YK_OPTION_ROW("dry-run", NULL, YK_OUTPUT_OPTION_GROUP, "Show what differs, and write nothing"),
     YK_FLAG, TO(request.dry_run)},
    {YK_OPTION_ROW("rows", "N", YK_OUTPUT_OPTION_GROUP,
                   "How many of the largest differences to list"),
     YK_INTEGER_OPTION(0, MAX_ROWS, "12"), TO(rows)},
    {YK_OPTION_ROW("json", NULL, YK_OUTPUT_OPTION_GROUP,
                   "Print JSON instead of text, with all sorts of ops"),
     YK_FLAG, TO(json)},
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
    YK_COMMAND_MEMBERS(struct arguments),
};
