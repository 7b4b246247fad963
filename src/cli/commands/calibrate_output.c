#include "cli/commands/calibrate_output.h"

#include "base/table.h"
#include "base/units.h"
#include "base/wording.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "forward gpt-block, 8 samples"; "gather 1.2MiB". */
static void describe(const struct yk_calibration_sort *sort, struct yk_text *out)
{
    char bytes[YK_UNITS_SIZE];
    yk_text_add(out, yk_op_kind_name(sort->kind));
    if (!sort->layer) {
        yk_units_format((double)sort->size, YK_UNIT_BYTES, bytes);
        yk_text_addf(out, " %s", bytes);
        return;
    }
    yk_text_addf(out, " %s", sort->layer);
    if (sort->kind != YK_OP_UPDATE) {
        yk_text_addf(out, ", %" PRId64 " sample%s", sort->size, yk_wording_plural(sort->size));
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
    char words[YK_UNITS_SIZE];
    yk_units_format(seconds, YK_UNIT_SECONDS, words);
    yk_table_add(table, "%s", words);
}

static void add_row(const struct yk_calibrate_found *found, const struct yk_calibration_sort *sort,
                    struct yk_table *table)
{
    struct yk_text name = {0};
    describe(sort, &name);
    yk_table_add(table, "%s", yk_text_chars(&name));
    yk_text_free(&name);
    yk_table_add(table, "%s", sort->on);
    yk_table_add(table, "%d", (int)sort->times);
    add_seconds(sort->predicted_s, table);
    add_seconds(sort->measured_s, table);
    add_percent(sort->predicted_s > 0 ? sort->measured_s / sort->predicted_s - 1 : NAN, table);
    add_percent(sort->difference_s / found->run->measured_step_s, table);
}

static yk_status write_table(const struct yk_calibrate_found *found, struct yk_text *out)
{
    static const struct yk_table_column columns[] = {
        {"op", YK_TABLE_LEFT},           {"on", YK_TABLE_LEFT},        {"times", YK_TABLE_RIGHT},
        {"predicted", YK_TABLE_RIGHT},   {"measured", YK_TABLE_RIGHT}, {"off by", YK_TABLE_RIGHT},
        {"of the step", YK_TABLE_RIGHT},
    };
    const struct yk_calibration *calibration = found->calibration;
    struct yk_table *table = NULL;
    YK_TRY(yk_table_create(columns, COUNT(columns), &table));
    for (int32_t i = 0; i < calibration->sort_count && i < found->rows; i++) {
        add_row(found, &calibration->sorts[i], table);
    }
    const yk_status status = yk_table_write(table, out);
    yk_table_destroy(table);
    if (status == YK_OK && calibration->sort_count > found->rows) {
        yk_text_addf(out, "  %" PRId64 " of %d sorts of ops; --rows shows more\n", found->rows,
                     (int)calibration->sort_count);
    }
    return status;
}

static void write_steps(const struct yk_calibrate_found *found, struct yk_text *out)
{
    const struct yk_calibrate_run *run = found->run;
    const double predicted_s = run->planned->trial.step_s;
    char measured[YK_UNITS_SIZE];
    char predicted[YK_UNITS_SIZE];
    char calibrated[YK_UNITS_SIZE];
    yk_units_format(run->measured_step_s, YK_UNIT_SECONDS, measured);
    yk_units_format(predicted_s, YK_UNIT_SECONDS, predicted);
    yk_units_format(found->calibrated_step_s, YK_UNIT_SECONDS, calibrated);
    yk_text_addf(out, "  step        %s measured, half of them faster; %s predicted (%.2f of it)\n",
                 measured, predicted, predicted_s / run->measured_step_s);
    yk_text_addf(out, "  calibrated  %s %s predicted (%.2f of it)\n", calibrated,
                 found->written ? "is now" : "would be",
                 found->calibrated_step_s / run->measured_step_s);
}

static void write_slowdown(double slowdown, bool estimated, const char *what, struct yk_text *out)
{
    if (isfinite(slowdown)) {
        yk_text_addf(out, "  beside      %s takes %.2f times as long%s\n", what, slowdown,
                     estimated ? ", says this run" : "");
    }
}

static void write_profile(const struct yk_calibrate_found *found, struct yk_text *out)
{
    const struct yk_calibration *calibration = found->calibration;
    const struct yk_survey *rows = &calibration->rows;
    yk_text_addf(out, "  profile     %s %s %d time%s of layers", found->run->profile,
                 found->written ? "has" : "would have", (int)rows->layer_count,
                 yk_wording_plural(rows->layer_count));
    if (rows->link_count > 0) {
        yk_text_addf(out, ", %d of messages", (int)rows->link_count);
    }
    yk_text_add(out, found->written ? " from this run\n" : "; nothing was written\n");
    if (calibration->left > 0) {
        yk_text_addf(out,
                     "  left out    %d sort%s of messages that ran beside computation: how much "
                     "that slows them is not known; yoke profile --ranks %d measures it\n",
                     (int)calibration->left, yk_wording_plural(calibration->left),
                     (int)found->run->plan->rank_count);
    }
}

yk_status yk_calibrate_output_text(const struct yk_calibrate_found *found, struct yk_text *out)
{
    const struct yk_calibrate_run *run = found->run;
    const struct yk_calibration *calibration = found->calibration;
    yk_text_addf(out, "%s: %" PRId64 " step%s of %d rank%s beside the prediction\n\n", run->folder,
                 run->spent.steps, yk_wording_plural(run->spent.steps), (int)run->spent.rank_count,
                 yk_wording_plural(run->spent.rank_count));
    if (found->rows > 0) {
        YK_TRY(write_table(found, out));
        yk_text_add(out, "\n");
    }
    write_steps(found, out);
    if (run->spent.rank_count > 1) {
        write_slowdown(calibration->compute_beside, calibration->estimated_compute,
                       "computation beside messages", out);
        write_slowdown(calibration->message_beside, calibration->estimated_message,
                       "a message beside computation", out);
    }
    write_profile(found, out);
    return yk_text_status(out);
}

/* ,"key": value; null where it is no number. */
static void add_value(struct yk_text *out, const char *key, double value)
{
    yk_text_addf(out, ",\"%s\":", key);
    if (isfinite(value)) {
        yk_text_add_number(out, value);
    } else {
        yk_text_add(out, "null");
    }
}

static void write_sort(const struct yk_calibration_sort *sort, struct yk_text *out)
{
    yk_text_addf(out, "{\"op\":\"%s\"", yk_op_kind_name(sort->kind));
    if (sort->layer) {
        yk_text_add(out, ",\"layer\":");
        yk_text_add_json(out, sort->layer);
        yk_text_add(out, ",\"shape\":");
        yk_text_add_json(out, sort->shape);
    } else {
        yk_text_addf(out, ",\"ranks\":%d", (int)sort->ranks);
    }
    if (sort->kind != YK_OP_UPDATE) {
        yk_text_addf(out, ",\"%s\":%" PRId64, sort->layer ? "samples" : "bytes", sort->size);
    }
    yk_text_add(out, ",\"on\":");
    yk_text_add_json(out, sort->on);
    yk_text_addf(out, ",\"times\":%d", (int)sort->times);
    add_value(out, "predicted_s", sort->predicted_s);
    add_value(out, "measured_s", sort->measured_s);
    add_value(out, "difference_s", sort->difference_s);
    add_value(out, "alone_s", sort->alone_s);
    add_value(out, "spread", sort->spread);
    yk_text_add(out, "}");
}

yk_status yk_calibrate_output_json(const struct yk_calibrate_found *found, struct yk_text *out)
{
    const struct yk_calibrate_run *run = found->run;
    const struct yk_calibration *calibration = found->calibration;
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"calibration\",\"run\":");
    yk_text_add_json(out, run->folder);
    yk_text_add(out, ",\"profile\":");
    yk_text_add_json(out, run->profile);
    yk_text_addf(out, ",\"written\":%s,\"steps\":%" PRId64 ",\"ranks\":%d",
                 found->written ? "true" : "false", run->spent.steps, (int)run->spent.rank_count);
    add_value(out, "measured_step_s", run->measured_step_s);
    add_value(out, "predicted_step_s", run->planned->trial.step_s);
    add_value(out, "calibrated_step_s", found->calibrated_step_s);
    add_value(out, "computation_beside_messages", calibration->compute_beside);
    add_value(out, "messages_beside_computation", calibration->message_beside);
    yk_text_addf(out, ",\"left_out\":%d,\"ops\":[", (int)calibration->left);
    for (int32_t i = 0; i < calibration->sort_count; i++) {
        yk_text_add(out, i > 0 ? "," : "");
        write_sort(&calibration->sorts[i], out);
    }
    yk_text_add(out, "]}\n");
    return yk_text_status(out);
}
