#include "job/reporting/run_report.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/number.h"
#include "job/output_files.h"
#include "job/planning/planning_inputs.h"
#include "planner/planner.h"
#include "report/label.h"
#include "report/run/metrics.h"
#include "report/run/report.h"
#include "trace/trace.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_BEFORE = 17 /* plans: a run is rebalanced up to 16 times */
};

/* Starts as {0}, with paths and folder. */
struct reading {
    const struct yk_run_report_paths *paths;
    const char *folder;
    struct yk_arena *arena;
    struct yk_text text; /* of the file that is being read */
    struct yk_run_metrics metrics;
    struct yk_planning_inputs planning;
    struct yk_planner_outcome *planned; /* in force at the end; NULL: the plan is not known */
    struct yk_planner_outcome *before[MAX_BEFORE]; /* in force earlier; [0] the run began with */
    int32_t before_count;                          /* 0: none but `planned` */
    struct yk_trace *predicted;
    struct yk_trace *measured;
    struct yk_run_summary summary;
    struct yk_counter_run_data counters;
    struct yk_run_report report;
    struct yk_output_files outputs;
};

/* The path of a file of the run, or NULL where there is none. In the arena. */
static yk_status find_file(const struct reading *reading, const char *name, const char **out)
{
    YK_TRY(yk_folder_join_path(reading->folder, name, reading->arena, out));
    *out = access(*out, F_OK) == 0 ? *out : NULL;
    return YK_OK;
}

/* A file of the run; `text` is NULL if there is no such file. */
struct run_file {
    const char *path;
    const char *text; /* valid until the next file is read */
    size_t length;
};

static yk_status read_file(struct reading *reading, const char *name, struct run_file *out)
{
    struct yk_text *text = &reading->text;
    *out = (struct run_file){0};
    text->length = 0;
    YK_TRY(find_file(reading, name, &out->path));
    if (out->path) {
        YK_TRY(yk_file_read_with_limit(out->path, YK_FILE_MAX_TRACE_BYTES, text));
        out->text = yk_text_chars(text);
        out->length = text->length;
    }
    return YK_OK;
}

static yk_status read_files(struct reading *reading)
{
    struct yk_arena *arena = reading->arena;
    struct run_file file;
    YK_TRY(read_file(reading, "metrics.jsonl", &file));
    if (file.text) {
        YK_TRY(yk_run_metrics_parse(file.text, file.length, file.path, arena, &reading->metrics));
    }
    YK_TRY(read_file(reading, "run.json", &file));
    if (file.text) {
        YK_TRY(yk_run_options_parse_json(file.text, file.length, file.path, arena,
                                         &reading->report.options, &reading->report.option_count));
    }
    YK_TRY(read_file(reading, "trace.json", &file));
    if (file.text) {
        YK_TRY(yk_chrome_trace_parse_json(file.text, file.length, file.path, &reading->measured));
    }
    YK_TRY(read_file(reading, "trace-predicted.json", &file));
    if (file.text) {
        YK_TRY(yk_chrome_trace_parse_json(file.text, file.length, file.path, &reading->predicted));
    }
    YK_TRY(read_file(reading, "summary.json", &file));
    if (file.text) {
        YK_TRY(yk_run_summary_parse(file.text, file.length, file.path, arena, &reading->summary));
    }
    YK_TRY(read_file(reading, "counters.json", &file));
    if (file.text) {
        reading->report.counters = &reading->counters;
        YK_TRY(yk_counters_file_parse_json(file.text, file.length, file.path, arena,
                                           &reading->counters));
    }
    YK_TRY(read_file(reading, "sample.txt", &file));
    if (file.text) {
        reading->report.sample = yk_arena_copy_text(arena, file.text, file.length);
        YK_TRY_ALLOCATED(reading->report.sample);
    }
    yk_text_free(&reading->text); /* a trace may be large */
    return YK_OK;
}

static const char *option_value(const struct reading *reading, const char *name)
{
    for (int32_t i = 0; i < reading->report.option_count; i++) {
        if (strcmp(reading->report.options[i].name, name) == 0) {
            return reading->report.options[i].value;
        }
    }
    return NULL;
}

/* The samples of the ranks at the end: the summary has them, and those of a run that has none are
 * of its last change. */
static yk_status find_shares(const struct reading *reading, double **out, int32_t *out_count)
{
    const struct yk_run_summary *summary = &reading->summary;
    const int32_t changes = reading->metrics.rebalancing_count;
    const struct yk_run_report_rebalancing *last =
        changes > 0 ? &reading->metrics.rebalancings[changes - 1] : NULL;
    const bool summarised = summary->rank_count > 0;
    const int32_t count = summarised ? summary->rank_count : last ? last->share_count : 0;
    YK_TRY_NEW(reading->arena, *out, (int64_t)count + 1);
    for (int32_t r = 0; r < count; r++) {
        (*out)[r] = summarised ? summary->ranks[r].share : last->shares[r];
    }
    *out_count = count;
    return YK_OK;
}

/* Whether a rank takes more samples by these shares than by any plan that is known. */
static bool uses_more(const struct reading *reading, const struct yk_plan *last,
                      const double *shares)
{
    for (int32_t r = 0; r < last->rank_count; r++) {
        int64_t most = yk_plan_largest_share_of_rank(last, r);
        for (int32_t i = 0; i < reading->before_count; i++) {
            most = yk_number_max(most, yk_plan_largest_share_of_rank(reading->before[i]->plan, r));
        }
        if (shares[r] > (double)most) {
            return true;
        }
    }
    return false;
}

/* The plan that the run began with, and those between that and the last by which a rank took more
 * samples, and so more memory, than by the others. */
static yk_status examine_before(struct reading *reading, const struct yk_plan *plan,
                                const struct yk_plan *last)
{
    const struct yk_plan_request *request = &reading->planning.request;
    const struct yk_run_metrics *metrics = &reading->metrics;
    YK_TRY(yk_planner_evaluate_plan(request, plan, false, &reading->before[0]));
    reading->before_count = 1;
    for (int32_t i = 0; i + 1 < metrics->rebalancing_count; i++) {
        const struct yk_run_report_rebalancing *change = &metrics->rebalancings[i];
        const struct yk_plan *followed = plan;
        if (reading->before_count == MAX_BEFORE || change->share_count != plan->rank_count ||
            !uses_more(reading, last, change->shares)) {
            continue;
        }
        YK_TRY(yk_run_plan_copy_with_shares(plan, request->config, change->shares,
                                            change->share_count, reading->arena, &followed));
        if (followed != plan) {
            YK_TRY(yk_planner_evaluate_plan(request, followed, false,
                                            &reading->before[reading->before_count]));
            reading->before_count++;
        }
    }
    return YK_OK;
}

static yk_status examine_plan(struct reading *reading, const char *path)
{
    /* Measurements may have changed since: the step that was predicted then is in the folder. */
    struct yk_planning_inputs_request named = {.any_profile = true};
    const struct yk_plan *plan = NULL;
    YK_TRY(find_file(reading, "config.json", &named.model));
    double *shares = NULL;
    int32_t share_count = 0;
    YK_TRY(yk_planning_inputs_open_plan_file(path, &named, &reading->planning, &plan));
    const struct yk_plan_request *request = &reading->planning.request;
    const struct yk_plan *last = plan;
    YK_TRY(find_shares(reading, &shares, &share_count));
    YK_TRY(yk_run_plan_copy_with_shares(plan, request->config, shares, share_count, reading->arena,
                                        &last));
    if (last != plan) {
        YK_TRY(examine_before(reading, plan, last));
    }
    return yk_planner_evaluate_plan(request, last, false, &reading->planned);
}

/* The most memory of a rank by the plans that the run has gone by. */
static const struct yk_memory_peak *peak_of(const struct reading *reading, int32_t rank)
{
    const struct yk_memory_peak *most = &reading->planned->evaluation.peaks[rank];
    for (int32_t i = 0; i < reading->before_count; i++) {
        const struct yk_memory_peak *peak = &reading->before[i]->evaluation.peaks[rank];
        most = peak->bytes > most->bytes ? peak : most;
    }
    return most;
}

/* Fills the ranks from the summary and, if known, from the plan. */
static yk_status fill_ranks(struct reading *reading)
{
    const struct yk_run_summary *summary = &reading->summary;
    const int32_t planned = reading->planned ? reading->planned->plan->rank_count : 0;
    const int32_t count = summary->rank_count > planned ? summary->rank_count : planned;
    struct yk_run_rank_summary *ranks = NULL;
    YK_TRY_NEW(reading->arena, ranks, (int64_t)count + 1);
    for (int32_t r = 0; r < count; r++) {
        ranks[r] = r < summary->rank_count ? summary->ranks[r] : yk_run_summary_make_unknown_rank();
        if (r < planned) {
            const double summarised = ranks[r].predicted_bytes;
            ranks[r].predicted_bytes =
                isfinite(summarised) ? summarised : peak_of(reading, r)->bytes;
            yk_run_plan_fill_unknown_rank_members(reading->planned, r, &ranks[r]);
        }
    }
    if (count == 1 && !isfinite(ranks[0].measured_bytes)) {
        ranks[0].measured_bytes = summary->peak_bytes;
    }
    reading->report.ranks = ranks;
    reading->report.rank_count = count;
    return YK_OK;
}

/* What the plan that the run began with says of the ranks, where another is in force. */
static yk_status fill_first_ranks(struct reading *reading)
{
    const struct yk_planner_outcome *first = reading->before_count > 0 ? reading->before[0] : NULL;
    const int32_t count = first ? first->plan->rank_count : 0;
    struct yk_run_rank_summary *ranks = NULL;
    if (count == 0) {
        return YK_OK;
    }
    YK_TRY_NEW(reading->arena, ranks, count);
    for (int32_t r = 0; r < count; r++) {
        ranks[r] = yk_run_summary_make_unknown_rank();
        yk_run_plan_fill_unknown_rank_members(first, r, &ranks[r]);
    }
    reading->report.first_ranks = ranks;
    reading->report.first_rank_count = count;
    return YK_OK;
}

static yk_status fill_memory(struct reading *reading)
{
    const struct yk_planner_outcome *planned = reading->planned;
    struct yk_run_report_memory *memory = NULL;
    const int32_t count = planned ? planned->plan->rank_count : 0;
    YK_TRY_NEW(reading->arena, memory, (int64_t)count + 1);
    for (int32_t r = 0; r < count; r++) {
        const struct yk_run_rank_summary *rank = &reading->report.ranks[r];
        memory[r].device = rank->device;
        memory[r].limit_bytes = rank->limit_bytes;
        memory[r].measured_bytes = rank->measured_bytes;
        for (int k = 0; k < YK_MEMORY_KIND_COUNT; k++) {
            memory[r].predicted_by_kind[k] = peak_of(reading, r)->by_kind[k];
        }
    }
    reading->report.memory = memory;
    reading->report.memory_count = count;
    return YK_OK;
}

/* A plan that cannot be examined any more costs the page its prediction, and nothing else. */
static yk_status open_plan(struct reading *reading)
{
    const char *path = NULL;
    YK_TRY(find_file(reading, "plan.json", &path));
    if (!path) {
        return YK_OK;
    }
    if (examine_plan(reading, path) != YK_OK) {
        yk_log(YK_LOG_WARNING, "no prediction on the page: %s", yk_status_message());
        return YK_OK;
    }
    if (!reading->predicted) {
        YK_TRY(yk_sim_make_trace(reading->planned->evaluation.sim, &reading->predicted));
    }
    return YK_OK;
}

/* The newest of checkpoints/step-NNNNNNNN: the last by name. */
static yk_status find_checkpoint(struct reading *reading)
{
    const char *folder = NULL;
    char newest[256] = "";
    YK_TRY(find_file(reading, "checkpoints", &folder));
    DIR *opened = folder ? opendir(folder) : NULL;
    if (!opened) {
        return YK_OK;
    }
    for (const struct dirent *entry = readdir(opened); entry; entry = readdir(opened)) {
        if (strncmp(entry->d_name, "step-", 5) == 0 && strcmp(entry->d_name, newest) > 0) {
            snprintf(newest, sizeof newest, "%s", entry->d_name);
        }
    }
    (void)closedir(opened);
    char path[sizeof newest + 16];
    snprintf(path, sizeof path, "checkpoints/%s", newest);
    return newest[0] ? find_file(reading, path, &reading->report.checkpoint) : YK_OK;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Pairs come in any number and length within the tokens that were planned for. */
static void add_batch(const struct yk_model *model, struct yk_text *out)
{
    const struct yk_workload *workload = &model->workload;
    if (model->config->encoder_layers > 0) {
        yk_text_addf(out, "up to %" PRId64 " tokens a side", workload->batch * workload->sequence);
    } else {
        yk_model_append_batch(model->config, workload, out);
    }
}

static yk_status describe(struct reading *reading)
{
    struct yk_run_report *report = &reading->report;
    const char *data = option_value(reading, "data");
    const char *target = option_value(reading, "target");
    struct yk_text text = {0};
    report->title = option_value(reading, "model");
    report->title = base_name(report->title ? report->title : reading->folder);
    if (reading->planned) {
        const struct yk_model *model = reading->planned->context->model;
        char parameters[YK_NUMBER_BUFFER_SIZE];
        yk_label_format_count(model->parameters, parameters);
        yk_text_addf(&text, "%s parameters, ", parameters);
        add_batch(model, &text);
        yk_text_addf(&text, " a step, %s.", yk_precision_name(model->workload.precision));
        YK_TRY(yk_text_move_to_arena(&text, reading->arena, &report->model));
    }
    if (data) {
        yk_text_addf(&text, target ? "Trained on %s and %s." : "Trained on %s.", base_name(data),
                     base_name(target ? target : ""));
        YK_TRY(yk_text_move_to_arena(&text, reading->arena, &report->data));
    }
    return YK_OK;
}

static void fill_steps(struct reading *reading)
{
    struct yk_run_report *report = &reading->report;
    const char *steps = option_value(reading, "steps");
    long long goal = 0;
    report->steps = reading->metrics.steps;
    report->step_count = reading->metrics.step_count;
    report->unit = reading->metrics.unit;
    report->evaluations = reading->metrics.evaluations;
    report->evaluation_count = reading->metrics.evaluation_count;
    report->rebalancings = reading->metrics.rebalancings;
    report->rebalancing_count = reading->metrics.rebalancing_count;
    report->measured_step_s = reading->metrics.median_step_s;
    report->measured_low_s = reading->metrics.low_step_s;
    report->measured_high_s = reading->metrics.high_step_s;
    report->predicted_step_s =
        isfinite(reading->summary.predicted_step_s) ? reading->summary.predicted_step_s
        : reading->planned                          ? reading->planned->evaluation.step_s
        : reading->predicted ? yk_trace_breakdown_step_length_s(reading->predicted)
                             : NAN;
    if (reading->planned) {
        const struct yk_mfu mfu = yk_planner_mfu_at_throughput(reading->planned, 1);
        report->unit_mfu = mfu.formula;
        report->unit_exact_mfu = mfu.exact;
    }
    report->predicted = reading->predicted;
    report->measured = reading->measured;
    /* NOLINTNEXTLINE(cert-err34-c): what is no number stays 0, not known */
    report->step_goal = steps && sscanf(steps, "%lld", &goal) == 1 ? goal : 0;
}

static yk_status read_run(struct reading *reading)
{
    YK_TRY(yk_arena_create(&reading->arena));
    reading->metrics.median_step_s = NAN;
    reading->summary = (struct yk_run_summary){.peak_bytes = NAN, .predicted_step_s = NAN};
    if (!yk_folder_contains(reading->folder, "metrics.jsonl") &&
        !yk_folder_contains(reading->folder, "run.json")) {
        return yk_fail(YK_ERROR_INPUT, "%s holds no run: it has neither metrics.jsonl nor run.json",
                       reading->folder);
    }
    YK_TRY(read_files(reading));
    YK_TRY(open_plan(reading));
    YK_TRY(fill_ranks(reading));
    YK_TRY(fill_first_ranks(reading));
    YK_TRY(fill_memory(reading));
    YK_TRY(find_checkpoint(reading));
    fill_steps(reading);
    return describe(reading);
}

static void close_run(struct reading *reading)
{
    yk_text_free(&reading->text);
    yk_trace_destroy(reading->measured);
    yk_trace_destroy(reading->predicted);
    yk_planner_outcome_destroy(reading->planned);
    for (int32_t i = 0; i < reading->before_count; i++) {
        yk_planner_outcome_destroy(reading->before[i]);
    }
    yk_planning_inputs_close(&reading->planning);
    yk_arena_destroy(reading->arena);
}

/* The text for a picture in the folder of pictures. */
static yk_status open_picture(void *argument, const char *name, struct yk_text **out)
{
    struct reading *reading = argument;
    return yk_output_files_add_in_folder(&reading->outputs, reading->paths->svg_folder, name,
                                         reading->arena, out);
}

static yk_status draw(struct reading *reading)
{
    const struct yk_run_report_paths *paths = reading->paths;
    struct yk_output_files *outputs = &reading->outputs;
    YK_TRY(read_run(reading));
    if (paths->page) {
        struct yk_text *page = paths->nofollow ? yk_output_files_add_nofollow(outputs, paths->page)
                                               : yk_output_files_add(outputs, paths->page);
        yk_output_files_drop_added_on_failure(outputs, yk_run_page_write(&reading->report, page));
    }
    if (paths->svg_folder) {
        yk_output_files_drop_added_on_failure(
            outputs, yk_run_page_write_pictures(&reading->report, NULL, open_picture, reading));
    }
    return yk_output_files_write_and_free(outputs);
}

yk_status yk_run_report_write(const struct yk_run_report_paths *paths)
{
    struct reading reading = {.paths = paths, .folder = paths->run_folder};
    const yk_status status = draw(&reading);
    close_run(&reading);
    return status;
}
