#include "job/planning/plan_job.h"

#include "base/log.h"
#include "export/export.h"
#include "job/output_files.h"
#include "job/planning/planning_inputs.h"
#include "planner/placement/placement.h"
#include "planner/planner.h"

#include <string.h>

bool yk_plan_job_strategy_choice_at(size_t number, struct yk_option_choice *out)
{
    *out = (struct yk_option_choice){"random", NULL};
    if (number < YK_SHARDING_STRATEGY_COUNT) {
        out->name = yk_plan_strategy_name((enum yk_sharding_strategy)number);
    }
    return number <= YK_SHARDING_STRATEGY_COUNT;
}

/* The placement algorithms that never divide a layer. */
bool yk_plan_job_placement_choice_at(size_t number, struct yk_option_choice *out)
{
    const char *name = yk_placement_algorithm_name(number);
    *out = (struct yk_option_choice){name, NULL};
    return name && yk_placement_plan_supports_algorithm(name);
}

bool yk_plan_job_export_choice_at(size_t number, struct yk_option_choice *out)
{
    if (number >= yk_exporter_count) {
        return false;
    }
    *out = (struct yk_option_choice){yk_exporters[number]->name, yk_exporters[number]->summary};
    return true;
}

/* "shares,order" as bits. */
static yk_status read_decisions(const char *words, uint32_t *out)
{
    *out = 0;
    for (const char *word = words; *word;) {
        const size_t length = strcspn(word, ",");
        int32_t found = 0;
        while (found < YK_PLAN_DECISION_COUNT &&
               (strlen(yk_plan_decision_name(found)) != length ||
                strncmp(yk_plan_decision_name(found), word, length) != 0)) {
            found++;
        }
        if (found == YK_PLAN_DECISION_COUNT) {
            return yk_fail(YK_ERROR_USAGE,
                           "--only: there is no decision \"%.*s\"; there are shares, parts, "
                           "strategies, block, order, placement and recomputation, with commas "
                           "between them",
                           (int)length, word);
        }
        *out |= (uint32_t)1 << found;
        word += length + (word[length] == ',' ? 1 : 0);
    }
    return YK_OK;
}

static yk_status read_strategy(const struct yk_plan_job_request *request,
                               struct yk_plan_request *out)
{
    out->strategy = YK_SHARDING_STRATEGY_COUNT;
    out->random_strategies = request->strategy && strcmp(request->strategy, "random") == 0;
    for (int32_t s = 0; request->strategy && s < YK_SHARDING_STRATEGY_COUNT; s++) {
        if (strcmp(request->strategy, yk_plan_strategy_name((enum yk_sharding_strategy)s)) == 0) {
            out->strategy = (enum yk_sharding_strategy)s;
        }
    }
    return request->only ? read_decisions(request->only, &out->decisions) : YK_OK;
}

static int32_t find_device(const struct yk_cluster *cluster, const char *name, size_t length)
{
    for (int32_t p = 0; p < cluster->device_count; p++) {
        if (strlen(cluster->devices[p].name) == length &&
            strncmp(cluster->devices[p].name, name, length) == 0) {
            return p;
        }
    }
    return -1;
}

/* Parses "gpu0,gpu2" into `left_out` (devices): true for all devices that are not listed. */
static yk_status read_devices(const char *words, const struct yk_cluster *cluster,
                              struct yk_arena *arena, const bool **left_out)
{
    bool *out = NULL;
    YK_TRY_NEW(arena, out, cluster->device_count);
    memset(out, true, sizeof *out * (size_t)cluster->device_count);
    for (const char *word = words; word;) {
        const size_t length = strcspn(word, ",");
        const int32_t device = find_device(cluster, word, length);
        if (device < 0) {
            return yk_fail(YK_ERROR_USAGE,
                           "--devices: the cluster has no device \"%.*s\"; they are %s to %s, with "
                           "commas between them",
                           (int)length, word, cluster->devices[0].name,
                           cluster->devices[cluster->device_count - 1].name);
        }
        if (!out[device]) {
            return yk_fail(YK_ERROR_USAGE, "--devices: %s is named twice",
                           cluster->devices[device].name);
        }
        out[device] = false;
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    *left_out = out;
    return YK_OK;
}

static const struct yk_exporter *exporter_of(const struct yk_plan_job_request *request)
{
    for (size_t i = 0; request->export && i < yk_exporter_count; i++) {
        if (strcmp(yk_exporters[i]->name, request->export) == 0) {
            return yk_exporters[i];
        }
    }
    return NULL;
}

static const char *export_path(const struct yk_plan_job_request *request)
{
    const struct yk_exporter *exporter = exporter_of(request);
    return request->export_output || !exporter ? request->export_output : exporter->file;
}

static yk_status check(const struct yk_plan_job_request *request)
{
    YK_TRY(yk_workload_check_micro_batches(&request->workload, request->micro_batches));
    if (request->placement && (strcmp(request->placement, "map") == 0) != !!request->map) {
        return request->map
                   ? yk_fail(YK_ERROR_USAGE,
                             "--map FILE and --placement %s both say where layers go; leave one "
                             "of them out",
                             request->placement)
                   : yk_fail(YK_ERROR_USAGE, "--placement map needs a --map FILE to follow");
    }
    if (request->export_output && !request->export) {
        return yk_fail(YK_ERROR_USAGE,
                       "--export-output names what --export writes; add --export fsdp, for one");
    }
    const char *const paths[] = {request->planning.model,   request->planning.cluster,
                                 request->planning.profile, request->map,
                                 request->output,           export_path(request)};
    return yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 4);
}

static yk_status prepare(const struct yk_plan_job_request *request,
                         struct yk_planning_inputs *planning)
{
    YK_TRY(yk_planning_inputs_open(&request->planning, planning));
    struct yk_plan_request *planned = &planning->request;
    YK_TRY(yk_workload_from_request(&request->workload, planned->config, &planned->workload));
    YK_TRY(read_strategy(request, planned));
    if (request->workload.recompute) {
        planned->decisions &= ~(uint32_t)YK_DECIDE_RECOMPUTATION;
    }
    if (request->devices) {
        YK_TRY(read_devices(request->devices, planning->cluster, planning->arena,
                            &planned->excluded_devices));
    }
    planned->micro_batches = (int32_t)request->micro_batches;
    planned->clip = request->clip;
    planned->search = yk_job_make_scheduler_options(&request->search, request->job);
    return YK_OK;
}

/* Makes a plan from a placement and examines it. */
static yk_status plan_placement(const struct yk_plan_job_request *request,
                                const struct yk_planning_inputs *planning,
                                struct yk_planner_outcome **out)
{
    const struct yk_device_map *map = NULL;
    struct yk_placement_plan placed = {0};
    const char *way = request->placement ? request->placement : "map";
    if (request->map) {
        YK_TRY(yk_planning_inputs_read_device_map(request->map, planning->request.config,
                                                  planning->cluster->device_count, planning->arena,
                                                  &map));
    }
    YK_TRY(yk_placement_plan_run_algorithm(&planning->request, way, map, planning->arena, &placed));
    YK_TRY(yk_planner_evaluate_plan(&planning->request, placed.plan, false, out));
    (*out)->evaluation_count = placed.trials;
    (*out)->cut_short = placed.cut_short;
    return YK_OK;
}

yk_status yk_plan_job_run(const struct yk_plan_job_request *request, struct yk_plan_job_result *out)
{
    YK_TRY(check(request));
    YK_TRY(prepare(request, &out->planning));
    yk_job_report_begin(request->job);
    const yk_status status = request->placement || request->map
                                 ? plan_placement(request, &out->planning, &out->planned)
                                 : yk_planner_search(&out->planning.request, &out->planned);
    yk_job_report_end(request->job);
    if (status == YK_OK) {
        yk_job_log_if_stopped(request->job);
    }
    return status;
}

/* What the export at `path` does not say, a line each. */
static void log_notes(const char *path, const struct yk_text *notes)
{
    for (const char *line = yk_text_chars(notes); *line;) {
        const size_t length = strcspn(line, "\n");
        yk_log(YK_LOG_NOTE, "%s: %.*s", path, (int)length, line);
        line += length + (line[length] == '\n' ? 1 : 0);
    }
}

static yk_status export_plan(const struct yk_plan_job_request *request,
                             const struct yk_planner_outcome *planned,
                             struct yk_output_files *outputs)
{
    const struct yk_exporter *exporter = exporter_of(request);
    const char *path = export_path(request);
    struct yk_text notes = {0};
    struct yk_text *text = request->export_output ? yk_output_files_add(outputs, path)
                                                  : yk_output_files_add_nofollow(outputs, path);
    const yk_status status = yk_export_write_plan(exporter, planned->plan, planned->context->model,
                                                  planned->context->cluster, text, &notes);
    if (status == YK_OK) {
        log_notes(path, &notes);
    }
    yk_text_free(&notes);
    return status;
}

/* The plan is written even if it cannot be exported. */
yk_status yk_plan_job_write_files(const struct yk_plan_job_request *request,
                                  const struct yk_plan_job_result *result)
{
    const struct yk_planner_outcome *planned = result->planned;
    struct yk_output_files outputs = {0};
    if (!planned->plan) {
        return yk_planner_fail_no_plan_found(planned);
    }
    YK_TRY(yk_planner_check_plan_fits(planned));
    if (request->output) {
        struct yk_plan_file_context context =
            yk_planning_inputs_plan_file_context(&result->planning);
        context.path = request->output;
        yk_output_files_drop_added_on_failure(
            &outputs, yk_plan_file_to_json(planned->plan, &context,
                                           yk_output_files_add(&outputs, request->output)));
    }
    if (request->export) {
        const yk_status status = export_plan(request, planned, &outputs);
        yk_output_files_drop_added_on_failure(
            &outputs, status == YK_OK ? status : yk_status_prefix_message(status, "not exported"));
    }
    return yk_output_files_write_and_free(&outputs);
}

void yk_plan_job_result_free(struct yk_plan_job_result *result)
{
    yk_planner_outcome_destroy(result->planned);
    yk_planning_inputs_close(&result->planning);
    *result = (struct yk_plan_job_result){0};
}
