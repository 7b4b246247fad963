#include "job/profiling/calibrate_profile.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/text_table.h"
#include "base/units.h"
#include "job/planning/planning_inputs.h"
#include "job/profile_path.h"
#include "job/reporting/run_report.h"
#include "measure/timings.h"
#include "planner/planner.h"
#include "report/run/metrics.h"
#include "report/run/summary.h"
#include "trace/op_times.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A finished run that a profile is calibrated with. */
struct finished_run {
    const struct yk_calibrate_profile_request *request;
    struct yk_calibrate_profile_result
        *result;            /* its path of the profile is the file to calibrate */
    struct yk_arena *arena; /* of the result */
    bool has_profile;       /* that file is there */
    bool is_default;        /* nobody named it */
    struct yk_planning_inputs planning;
    const struct yk_plan *plan;         /* that the run ended with */
    struct yk_planner_outcome *planned; /* by the profile as it is */
    uint64_t shuffle; /* seed of another program for the plan; 0: the plan's own */
    struct yk_op_times op_times;
    double predicted_step_s; /* when the run began; NAN: not known */
};

typedef yk_status (*reader)(struct finished_run *run, const char *path, const struct yk_text *text);

/* Whether the process that writes the folder still holds its lock. */
static bool is_running(const char *lock)
{
    const int descriptor = open(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    const bool held = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
    (void)close(descriptor);
    return held;
}

static yk_status check(const char *folder, struct yk_arena *arena)
{
    const char *lock = NULL;
    if (!yk_folder_exists(folder)) {
        return yk_fail(YK_ERROR_INPUT, "%s is no folder of a run; name the --out of a yoke train",
                       folder);
    }
    YK_TRY(yk_folder_join_path(folder, "lock", arena, &lock));
    if (is_running(lock)) {
        return yk_fail(YK_ERROR_INPUT, "%s is still being trained; calibrate when that has ended",
                       folder);
    }
    if (!yk_folder_contains(folder, "plan.json")) {
        return yk_fail(YK_ERROR_INPUT, "%s holds no run: it has no plan.json", folder);
    }
    if (!yk_folder_contains(folder, "summary.json")) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has no summary.json: its training was cut off; go on with: yoke train "
                       "--resume --out %s",
                       folder, folder);
    }
    if (!yk_folder_contains(folder, "op-times.json")) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has no op-times.json: it took too few steps to tell what its ops take; "
                       "train for ten or more",
                       folder);
    }
    return YK_OK;
}

static yk_status read_file(struct finished_run *run, const char *name, reader read)
{
    struct yk_text text = {0};
    const char *path = NULL;
    YK_TRY(yk_folder_join_path(run->request->run, name, run->arena, &path));
    yk_status status = yk_file_read_with_limit(path, YK_FILE_MAX_TRACE_BYTES, &text);
    YK_IF_OK(read(run, path, &text));
    yk_text_free(&text);
    return status;
}

static yk_status read_op_times(struct finished_run *run, const char *path,
                               const struct yk_text *text)
{
    return yk_op_times_parse_json(yk_text_chars(text), text->length, path, run->arena,
                                  &run->op_times);
}

/* The median time of the steps that used the last plan of the run. */
static yk_status find_step(const struct yk_run_metrics *metrics, struct yk_arena *arena,
                           double *out_s)
{
    const int32_t changes = metrics->rebalancing_count;
    const int64_t after = changes > 0 ? metrics->rebalancings[changes - 1].step : 0;
    double *seconds = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, seconds, (int64_t)metrics->step_count + 1);
    for (int32_t i = 0; i < metrics->step_count; i++) {
        if (metrics->steps[i].step > after && metrics->steps[i].seconds > 0) {
            seconds[count++] = metrics->steps[i].seconds;
        }
    }
    *out_s = yk_timings_median_of_numbers(seconds, count);
    return YK_OK;
}

static yk_status read_metrics(struct finished_run *run, const char *path,
                              const struct yk_text *text)
{
    struct yk_run_metrics metrics = {0};
    YK_TRY(yk_run_metrics_parse(yk_text_chars(text), text->length, path, run->arena, &metrics));
    YK_TRY(find_step(&metrics, run->arena, &run->result->measured_step_s));
    return run->result->measured_step_s > 0 ? YK_OK
                                            : yk_fail(YK_ERROR_INPUT, "%s: there is no step", path);
}

static yk_status read_summary(struct finished_run *run, const char *path,
                              const struct yk_text *text)
{
    struct yk_run_summary summary = {.predicted_step_s = NAN};
    YK_TRY(yk_run_summary_parse(yk_text_chars(text), text->length, path, run->arena, &summary));
    run->predicted_step_s = summary.predicted_step_s;
    return YK_OK;
}

/* Another program than the plan's own was drawn by --shuffle. */
static yk_status read_options(struct finished_run *run, const char *path,
                              const struct yk_text *text)
{
    const struct yk_run_report_option *options = NULL;
    int32_t count = 0;
    YK_TRY(yk_run_options_parse_json(yk_text_chars(text), text->length, path, run->arena, &options,
                                     &count));
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(options[i].name, "shuffle") == 0) {
            run->shuffle = strtoull(options[i].value, NULL, 10); /* 0 of what is no number */
        }
    }
    return YK_OK;
}

/* The profile that is to be calibrated: that of the request, else that which the run was planned
 * with, else the usual one. A damaged one that is to be written is set aside. */
static yk_status find_profile(struct finished_run *run, const struct yk_plan_source_paths *sources)
{
    const char *named = run->request->profile ? run->request->profile : sources->profile;
    const char **path = &run->result->profile;
    if (run->request->profile && strcmp(run->request->profile, "none") == 0) {
        return yk_fail(YK_ERROR_USAGE,
                       "--profile none: there is nothing to calibrate; name a file");
    }
    run->is_default = !named;
    YK_TRY(yk_profile_path_resolve_writable(named, run->arena, path));
    run->has_profile = access(*path, F_OK) == 0;
    if (run->has_profile && !run->request->dry_run) {
        struct yk_profile *profile = NULL;
        YK_TRY(yk_profile_path_open_writable(*path, *path, &profile));
        yk_profile_close(profile);
    }
    return YK_OK;
}

static yk_status examine(struct finished_run *run, struct yk_planner_outcome **out)
{
    struct yk_planner_outcome *planned = NULL;
    YK_TRY(yk_planner_evaluate_plan(&run->planning.request, run->plan, false, &planned));
    YK_TRY_OR_CLEAN_UP(run->shuffle > 0 ? yk_planner_outcome_shuffle_program(planned, run->shuffle)
                                        : YK_OK,
                       yk_planner_outcome_destroy(planned));
    *out = planned;
    return YK_OK;
}

/* --rebalance gave ranks other samples than the plan's file says. */
static yk_status follow_shares(struct finished_run *run)
{
    double *shares = NULL;
    YK_TRY_NEW(run->arena, shares, (int64_t)run->op_times.rank_count + 1);
    for (int32_t r = 0; r < run->op_times.rank_count; r++) {
        shares[r] = (double)run->op_times.ranks[r].share;
    }
    return yk_run_plan_copy_with_shares(run->plan, run->planning.request.config, shares,
                                        run->op_times.rank_count, run->arena, &run->plan);
}

static yk_status read_plan(struct finished_run *run, const char *path, const struct yk_text *text)
{
    struct yk_planning_inputs_request request = {.any_profile = true};
    struct yk_plan_source_paths sources;
    YK_TRY(yk_plan_file_parse_source_paths(yk_text_chars(text), text->length, path, run->arena,
                                           &sources));
    YK_TRY(find_profile(run, &sources));
    request.profile = run->has_profile ? run->result->profile : "none";
    if (yk_folder_contains(run->request->run, "config.json")) {
        YK_TRY(yk_folder_join_path(run->request->run, "config.json", run->arena, &request.model));
    }
    YK_TRY(yk_planning_inputs_open_plan_file(path, &request, &run->planning, &run->plan));
    YK_TRY(follow_shares(run));
    return examine(run, &run->planned);
}

static yk_status open_run(struct finished_run *run)
{
    YK_TRY(check(run->request->run, run->arena));
    YK_TRY(read_file(run, "op-times.json", read_op_times));
    YK_TRY(read_file(run, "metrics.jsonl", read_metrics));
    YK_TRY(read_file(run, "summary.json", read_summary));
    YK_TRY(read_file(run, "run.json", read_options));
    return read_file(run, "plan.json", read_plan);
}

/* Predicts the step time of the run's plan with another profile. */
static yk_status predict_step(struct finished_run *run, struct yk_profile *profile, double *out_s)
{
    struct yk_planner_outcome *planned = NULL;
    struct yk_profile *own = run->planning.sources.profile;
    run->planning.sources.profile = profile;
    const yk_status status = examine(run, &planned);
    run->planning.sources.profile = own;
    if (status == YK_OK) {
        *out_s = planned->evaluation.step_s;
    }
    yk_planner_outcome_destroy(planned);
    return status;
}

/* Two predictions that differ by less are the same. */
static const double same_part = 0.001;

/* A larger relative difference means that the op times do not explain the step time. */
static const double odd_part = 0.1;

static yk_status copy_layer(void *user, const struct yk_profile_layer_row *row)
{
    return yk_profile_add_layer_time(user, &row->layer, row->batch, &row->measurement);
}

static yk_status copy_link(void *user, const struct yk_profile_link_row *row)
{
    return yk_profile_add_link_time(user, &row->link, row->bytes, &row->measurement);
}

static yk_status copy_fact(void *user, const struct yk_profile_fact_row *row)
{
    return yk_profile_add_fact(user, &row->fact, &row->measurement);
}

static yk_status copy(struct yk_profile *from, struct yk_profile *to)
{
    const struct yk_profile_visitor visitor = {to, copy_layer, copy_link, copy_fact};
    YK_TRY(yk_profile_begin_transaction(to));
    YK_TRY(yk_profile_visit_rows(from, &visitor));
    return yk_profile_commit(to);
}

/* What would be predicted afterwards, tried on a copy of the profile that is nowhere but in memory.
 */
static yk_status predict(struct finished_run *run, const struct yk_calibration *calibration,
                         double *out_s)
{
    struct yk_profile *tried = NULL;
    YK_TRY(yk_profile_open_or_create(":memory:", &tried));
    yk_status status = run->planning.profile ? copy(run->planning.profile, tried) : YK_OK;
    YK_IF_OK(yk_profiler_write_unsaved_rows(&calibration->rows, tried));
    YK_IF_OK(predict_step(run, tried, out_s));
    yk_profile_close(tried);
    return status;
}

static yk_status save_profile(const struct finished_run *run,
                              const struct yk_calibration *calibration)
{
    struct yk_profile *profile = NULL;
    const char *path = run->result->profile;
    YK_TRY(yk_profile_path_open_writable(run->is_default ? NULL : path, path, &profile));
    const yk_status status = yk_profiler_write_unsaved_rows(&calibration->rows, profile);
    yk_profile_close(profile);
    return status;
}

static void note_other_profile(const struct finished_run *run)
{
    const double now_s = run->planned->evaluation.step_s;
    if (fabs(now_s - run->predicted_step_s) > same_part * now_s) {
        yk_log(YK_LOG_NOTE,
               "the run was planned with other times, which predicted %s a step; what is shown as "
               "predicted is by %s",
               YK_UNITS_FORMAT_TEMPORARY(run->predicted_step_s, YK_UNIT_SECONDS),
               run->has_profile ? run->result->profile : "datasheets");
    }
}

static void warn_unexplained(const struct yk_calibrate_profile_result *result)
{
    const double measured_s = result->measured_step_s;
    if (fabs(result->calibrated_step_s - measured_s) > odd_part * measured_s) {
        yk_log(YK_LOG_WARNING,
               "what ops took in the median does not add up to the median step: many steps were "
               "disturbed, each elsewhere; train for longer with nothing else on the machine");
    }
}

static yk_status calibrate(struct finished_run *run)
{
    struct yk_calibrate_profile_result *out = run->result;
    YK_TRY(open_run(run));
    const struct yk_calibration_request wanted = {
        .program = run->planned->evaluation.program,
        .sim = run->planned->evaluation.sim,
        .sources = &run->planning.sources,
        .measured = &run->op_times,
    };
    const yk_status status = yk_calibration_compute(&wanted, run->arena, &out->calibration);
    if (status != YK_OK) {
        return yk_status_prefix_message(status, run->request->run);
    }
    out->run = run->request->run;
    out->steps = run->op_times.steps;
    out->ranks = run->op_times.rank_count;
    out->predicted_step_s = run->planned->evaluation.step_s;
    YK_TRY(predict(run, &out->calibration, &out->calibrated_step_s));
    note_other_profile(run);
    warn_unexplained(out);
    if (!run->request->dry_run) {
        YK_TRY(save_profile(run, &out->calibration));
        out->written = true;
    }
    return YK_OK;
}

yk_status yk_calibrate_profile_run(const struct yk_calibrate_profile_request *request,
                                   struct yk_calibrate_profile_result *out)
{
    struct finished_run run = {.request = request, .result = out};
    YK_TRY(yk_arena_create(&out->arena));
    run.arena = out->arena;
    const yk_status status = calibrate(&run);
    yk_planner_outcome_destroy(run.planned);
    yk_planning_inputs_close(&run.planning);
    return status;
}

void yk_calibrate_profile_result_free(struct yk_calibrate_profile_result *result)
{
    yk_calibration_free(&result->calibration);
    yk_arena_destroy(result->arena);
    *result = (struct yk_calibrate_profile_result){0};
}

/* "forward gpt-block, 8 samples"; "gather 1.2MiB". */
static void describe(const struct yk_calibration_op_class *op, struct yk_text *out)
{
    yk_text_add(out, yk_op_kind_name(op->kind));
    if (!op->layer) {
        yk_text_addf(out, " %s", YK_UNITS_FORMAT_TEMPORARY((double)op->size, YK_UNIT_BYTES));
        return;
    }
    yk_text_addf(out, " %s", op->layer);
    if (op->kind != YK_OP_UPDATE) {
        yk_text_addf(out, ", %" PRId64 " sample%s", op->size, yk_text_plural_suffix(op->size));
    }
}

static void add_percent(double part, struct yk_text_table *table)
{
    if (isfinite(part) && fabs(part) < 0.0005) {
        yk_text_table_add_cell(table, "0 %%");
    } else if (isfinite(part)) {
        yk_text_table_add_cell(table, "%+.*f %%", fabs(part) < 0.0995 ? 1 : 0, 100 * part);
    } else {
        yk_text_table_add_cell(table, "new");
    }
}

static void add_seconds(double seconds, struct yk_text_table *table)
{
    yk_text_table_add_cell(table, "%s", YK_UNITS_FORMAT_TEMPORARY(seconds, YK_UNIT_SECONDS));
}

static void add_row(const struct yk_calibrate_profile_result *result,
                    const struct yk_calibration_op_class *op, struct yk_text_table *table)
{
    struct yk_text name = {0};
    describe(op, &name);
    yk_text_table_add_cell(table, "%s", yk_text_chars(&name));
    yk_text_free(&name);
    yk_text_table_add_cell(table, "%s", op->profile_key);
    yk_text_table_add_cell(table, "%d", (int)op->times);
    add_seconds(op->predicted_s, table);
    add_seconds(op->measured_s, table);
    add_percent(op->predicted_s > 0 ? op->measured_s / op->predicted_s - 1 : NAN, table);
    add_percent(op->difference_s / result->measured_step_s, table);
}

static yk_status write_table(const struct yk_calibrate_profile_result *result, int64_t rows,
                             struct yk_text *out)
{
    static const struct yk_text_table_column columns[] = {
        {"op", YK_TEXT_TABLE_LEFT},           {"on", YK_TEXT_TABLE_LEFT},
        {"times", YK_TEXT_TABLE_RIGHT},       {"predicted", YK_TEXT_TABLE_RIGHT},
        {"measured", YK_TEXT_TABLE_RIGHT},    {"off by", YK_TEXT_TABLE_RIGHT},
        {"of the step", YK_TEXT_TABLE_RIGHT},
    };
    struct yk_text_table *table = NULL;
    YK_TRY(yk_text_table_create(columns, sizeof columns / sizeof columns[0], &table));
    const struct yk_calibration *calibration = &result->calibration;
    for (int32_t i = 0; i < calibration->class_count && i < rows; i++) {
        add_row(result, &calibration->classes[i], table);
    }
    const yk_status status = yk_text_table_write_and_destroy(table, out);
    if (status == YK_OK && calibration->class_count > rows) {
        yk_text_addf(out, "  %" PRId64 " of %d sorts of ops; --rows shows more\n", rows,
                     (int)calibration->class_count);
    }
    return status;
}

static void write_steps(const struct yk_calibrate_profile_result *result, struct yk_text *out)
{
    yk_text_addf(out, "  step        %s measured, half of them faster; %s predicted (%.2f of it)\n",
                 YK_UNITS_FORMAT_TEMPORARY(result->measured_step_s, YK_UNIT_SECONDS),
                 YK_UNITS_FORMAT_TEMPORARY(result->predicted_step_s, YK_UNIT_SECONDS),
                 result->predicted_step_s / result->measured_step_s);
    yk_text_addf(out, "  calibrated  %s %s predicted (%.2f of it)\n",
                 YK_UNITS_FORMAT_TEMPORARY(result->calibrated_step_s, YK_UNIT_SECONDS),
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

static void write_profile(const struct yk_calibrate_profile_result *result, struct yk_text *out)
{
    const int32_t layers = result->calibration.rows.layer_count;
    const int32_t links = result->calibration.rows.link_count;
    const int32_t skipped = result->calibration.skipped_message_classes;
    yk_text_addf(out, "  profile     %s %s %d time%s of layers", result->profile,
                 result->written ? "has" : "would have", (int)layers,
                 yk_text_plural_suffix(layers));
    if (links > 0) {
        yk_text_addf(out, ", %d of messages", (int)links);
    }
    yk_text_add(out, result->written ? " from this run\n" : "; nothing was written\n");
    if (skipped > 0) {
        yk_text_addf(out,
                     "  left out    %d sort%s of messages that ran beside computation: how much "
                     "that slows them is not known; yoke profile --ranks %d measures it\n",
                     (int)skipped, yk_text_plural_suffix(skipped), (int)result->ranks);
    }
}

yk_status yk_calibrate_profile_write_text(const struct yk_calibrate_profile_result *result,
                                          int64_t rows, struct yk_text *out)
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
        const struct yk_calibration *calibration = &result->calibration;
        write_slowdown(calibration->compute_slowdown, calibration->estimated_compute,
                       "computation beside messages", out);
        write_slowdown(calibration->message_slowdown, calibration->estimated_message,
                       "a message beside computation", out);
    }
    write_profile(result, out);
    return yk_text_status(out);
}

static void write_op(const struct yk_calibration_op_class *op, struct yk_json_writer *json)
{
    yk_json_write_begin_object(json, NULL);
    yk_json_write_string(json, "op", yk_op_kind_name(op->kind));
    if (op->layer) {
        yk_json_write_string(json, "layer", op->layer);
        yk_json_write_string(json, "shape", op->shape);
    } else {
        yk_json_write_integer(json, "ranks", op->ranks);
    }
    if (op->kind != YK_OP_UPDATE) {
        yk_json_write_integer(json, op->layer ? "samples" : "bytes", op->size);
    }
    yk_json_write_string(json, "on", op->profile_key);
    yk_json_write_integer(json, "times", op->times);
    yk_json_write_number(json, "predicted_s", op->predicted_s);
    yk_json_write_number(json, "measured_s", op->measured_s);
    yk_json_write_number(json, "difference_s", op->difference_s);
    yk_json_write_number(json, "alone_s", op->alone_s);
    yk_json_write_number(json, "spread", op->spread);
    yk_json_write_end_object(json);
}

yk_status yk_calibrate_profile_write_json(const struct yk_calibrate_profile_result *result,
                                          struct yk_text *out)
{
    const struct yk_calibration *calibration = &result->calibration;
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_yoke_document(&json, "calibration");
    yk_json_write_string(&json, "run", result->run);
    yk_json_write_string(&json, "profile", result->profile);
    yk_json_write_bool(&json, "written", result->written);
    yk_json_write_integer(&json, "steps", result->steps);
    yk_json_write_integer(&json, "ranks", result->ranks);
    yk_json_write_number(&json, "measured_step_s", result->measured_step_s);
    yk_json_write_number(&json, "predicted_step_s", result->predicted_step_s);
    yk_json_write_number(&json, "calibrated_step_s", result->calibrated_step_s);
    yk_json_write_number(&json, "compute_slowdown", calibration->compute_slowdown);
    yk_json_write_number(&json, "message_slowdown", calibration->message_slowdown);
    yk_json_write_integer(&json, "left_out", calibration->skipped_message_classes);
    yk_json_write_begin_array(&json, "ops");
    for (int32_t i = 0; i < calibration->class_count; i++) {
        write_op(&calibration->classes[i], &json);
    }
    yk_json_write_end_array(&json);
    return yk_json_write_end_yoke_document(&json);
}
