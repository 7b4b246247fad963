#include "job/planning/placement_job.h"

#include "base/log.h"
#include "base/units.h"
#include "cost/cost.h"
#include "export/export.h"
#include "job/planning/planning_inputs.h"
#include "planner/placement/placement.h"

#include <math.h>
#include <string.h>

bool yk_placement_job_algorithm_choice_at(size_t number, struct yk_option_choice *out)
{
    *out = (struct yk_option_choice){yk_placement_algorithm_name(number), NULL};
    return out->name != NULL;
}

static const char *export_path(const struct yk_placement_job_request *request)
{
    const char *path = request->output ? request->output : "device_map.json";
    return request->export ? path : NULL;
}

static yk_status check(const struct yk_placement_job_request *request)
{
    const struct yk_planning_inputs_request *planning = &request->planning;
    if (!planning->model || !planning->cluster) {
        return yk_fail(YK_ERROR_USAGE,
                       "yoke place needs a --%s; to see what it does, try yoke place --model "
                       "llama3-8b --lora 32 --nf4 --batch 5 --cluster \"1xrtx6000ada + 2xrtx3090\"",
                       planning->model ? "cluster" : "model");
    }
    if (request->algorithm && strcmp(request->algorithm, "map") == 0 && !request->map) {
        return yk_fail(YK_ERROR_USAGE, "--algorithm map needs a --map FILE to follow");
    }
    if (request->output && !request->export) {
        return yk_fail(YK_ERROR_USAGE,
                       "--output names what --export writes; add --export accelerate");
    }
    YK_TRY(yk_workload_check_micro_batches(&request->workload, request->micro_batches));
    const char *const paths[] = {
        planning->model,         planning->cluster,     request->map,
        planning->profile,       request->drawings.svg, request->drawings.html,
        request->drawings.trace, export_path(request)};
    return yk_output_files_check_paths(paths, sizeof paths / sizeof paths[0], 4);
}

static yk_status prepare(const struct yk_placement_job_request *request,
                         struct yk_placement_job_result *out)
{
    struct yk_planning_inputs *planning = &out->planning;
    YK_TRY(yk_planning_inputs_open(&request->planning, planning));
    out->request = (struct yk_placement_request){
        .cost_sources = &planning->sources,
        .config = planning->request.config,
        .micro_batches = (int32_t)request->micro_batches,
        .algorithm = request->algorithm,
        .search = yk_job_make_scheduler_options(&request->search, request->job),
    };
    YK_TRY(
        yk_workload_from_request(&request->workload, out->request.config, &out->request.workload));
    return request->map ? yk_planning_inputs_read_device_map(request->map, out->request.config,
                                                             planning->cluster->device_count,
                                                             planning->arena, &out->request.map)
                        : YK_OK;
}

/* A measured time that is for no layer of the model is probably misspelt. */
static void warn_of_unused_times(const struct yk_placement_job_result *result)
{
    const struct yk_model *model = result->placements->steps[0]->model;
    for (int32_t p = 0; p < result->planning.cluster->device_count; p++) {
        const struct yk_device *device = &result->planning.cluster->devices[p];
        const struct yk_measured_layer_time *unused =
            yk_cost_find_unused_measurement(device, model);
        if (unused) {
            yk_log(YK_LOG_WARNING,
                   "%s: the measured time of \"%s\" is for no layer of %s; its layers are of the "
                   "kinds that yoke model %s --json tells",
                   device->name, unused->layer, model->config->name, model->config->name);
            return;
        }
    }
}

yk_status yk_placement_job_run(const struct yk_placement_job_request *request,
                               struct yk_placement_job_result *out)
{
    YK_TRY(check(request));
    YK_TRY(prepare(request, out));
    yk_job_report_begin(request->job);
    const yk_status status = yk_placement_compare_algorithms(&out->request, &out->placements);
    yk_job_report_end(request->job);
    YK_TRY(status);
    yk_job_log_if_stopped(request->job);
    warn_of_unused_times(out);
    const struct yk_placements *all = out->placements;
    out->output = (struct yk_placement_comparison){
        .request = &out->request,
        .placements = all,
        .shown = all->winner < 0 ? NULL : &all->placements[all->winner],
    };
    return YK_OK;
}

/* The placement that lacks least names the device; the remedy is looked for. */
static yk_status fail_no_fit(const struct yk_placement_job_result *result)
{
    const struct yk_placements *all = result->placements;
    const struct yk_placement *nearest = NULL;
    struct yk_text words = {0};
    struct yk_text remedy = {0};
    for (int32_t i = 0; i < all->count; i++) {
        const struct yk_placement *placement = &all->placements[i];
        if (placement->schedule &&
            (!nearest || placement->fit.missing_bytes < nearest->fit.missing_bytes)) {
            nearest = placement;
        }
    }
    nearest = nearest ? nearest : &all->placements[0];
    yk_status status = yk_placement_find_memory_remedy(&result->request, &all->deadline, &remedy);
    if (status == YK_OK) {
        const char *violation =
            yk_placement_comparison_misfit_reason(&result->output, nearest, &words);
        const char *model = result->request.config->name;
        const char *way = nearest->name;
        const char *cure = yk_text_chars(&remedy);
        status =
            all->cut_short
                ? yk_fail(YK_ERROR_NO_FIT,
                          "no placement of %s that fits was found within the budget of %.3g s "
                          "(--budget): by %s, the nearest to fit, %s; %s",
                          model, result->request.search.budget_s, way, violation, cure)
            : result->request.algorithm
                ? yk_fail(YK_ERROR_NO_FIT, "%s does not fit by %s: %s; %s", model, way, violation,
                          cure)
                : yk_fail(YK_ERROR_NO_FIT, "%s fits nowhere: by %s, the nearest to fit, %s; %s",
                          model, way, violation, cure);
    }
    yk_text_free(&words);
    yk_text_free(&remedy);
    return status;
}

/* Names what was exported, and what of it a device_map does not say. */
static void note_export(const char *path, const struct yk_placement *exported,
                        const struct yk_placement *fastest)
{
    const int32_t micro_batches = exported->step->micro_batch_count;
    char time[YK_UNITS_BUFFER_SIZE];
    yk_units_format(exported->step_s, YK_UNIT_SECONDS, time);
    if (exported != fastest) {
        yk_log(YK_LOG_NOTE,
               "%s is the map of %s, %s a step: %s is faster, but has layers on several devices, "
               "which a device_map cannot say",
               path, exported->name, time, fastest->name);
    } else {
        yk_log(YK_LOG_NOTE, "%s is the map of %s, %s a step", path, exported->name, time);
    }
    if (micro_batches > 1) {
        yk_log(YK_LOG_NOTE,
               "that is with %d micro-batches; Accelerate sends the batch through whole, for which "
               "--micro-batches 1 finds the best map",
               (int)micro_batches);
    }
}

/* The map of the row that is shown as the fastest or, where a map cannot say that one, of the
 * fastest with one device a layer. */
static yk_status export_map(const struct yk_placement_job_request *request,
                            const struct yk_placement_job_result *result,
                            struct yk_output_files *outputs)
{
    const struct yk_placement *fastest = result->output.shown;
    const char *path = export_path(request);
    if (!path) {
        return YK_OK;
    }
    const struct yk_placement *exported =
        fastest->divided ? yk_placements_find_best_undivided(result->placements) : fastest;
    if (!exported) {
        return result->request.algorithm
                   ? yk_fail(YK_ERROR_USAGE,
                             "%s has layers on several devices, which a device_map cannot say; "
                             "leave out --algorithm %s, or add --micro-batches 1",
                             fastest->name, result->request.algorithm)
                   : yk_fail(YK_ERROR_NO_FIT,
                             "no map with one device a layer fits, and a device_map can say no "
                             "other; accumulate gradients over smaller batches");
    }
    note_export(path, exported, fastest);
    return yk_export_accelerate_device_map(
        exported->map, request->output ? yk_output_files_add(outputs, path)
                                       : yk_output_files_add_nofollow(outputs, path));
}

/* The page compares all placements; the picture and the trace are of the one shown. */
static void draw(struct yk_schedule_drawing_paths drawings,
                 const struct yk_placement_comparison *output, struct yk_output_files *outputs)
{
    const struct yk_placement *shown = output->shown;
    const struct yk_schedule_report report = {
        .schedule = shown->schedule,
        .algorithm = shown->name,
        .source = output->request->config->name,
        .lower_bound = llround(shown->bound_s * shown->step->graph->ticks_per_unit),
        .kinds = shown->step->kinds,
    };
    if (drawings.html) {
        yk_output_files_drop_added_on_failure(
            outputs, yk_placement_comparison_write_page(
                         output, yk_output_files_add(outputs, drawings.html)));
        drawings.html = NULL;
    }
    yk_output_files_add_schedule_drawings(&drawings, &report, outputs);
}

yk_status yk_placement_job_write_files(const struct yk_placement_job_request *request,
                                       const struct yk_placement_job_result *result)
{
    struct yk_output_files outputs = {0};
    if (!result->output.shown) {
        return fail_no_fit(result);
    }
    draw(request->drawings, &result->output, &outputs);
    yk_output_files_drop_added_on_failure(&outputs, export_map(request, result, &outputs));
    return yk_output_files_write_and_free(&outputs);
}

void yk_placement_job_result_free(struct yk_placement_job_result *result)
{
    yk_placements_destroy(result->placements);
    yk_planning_inputs_close(&result->planning);
    *result = (struct yk_placement_job_result){0};
}
