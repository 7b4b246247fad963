#include "job/profiling/profile_job.h"

#include "base/log.h"
#include "base/system.h"
#include "job/profile_path.h"
#include "job/profiling/profiling.h"
#include "job/rank.h"
#include "report/profile/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MIB = 1024 * 1024,
};

/* Where a process is the only one. */
static const struct yk_launcher alone = {.size = 1, .local_size = 1};

/* Sets the workload of the current target. */
static yk_status read_workload(struct yk_profiling_state *profiling)
{
    struct yk_workload_request workload = profiling->request->workload;
    workload.precision = yk_precision_name(profiling->targets[profiling->target].precision);
    return yk_workload_from_request(&workload, profiling->config, &profiling->workload);
}

yk_status yk_profile_job_resolve_output_path(const char *profile, struct yk_arena *arena,
                                             const char **out)
{
    if (profile && strcmp(profile, "none") == 0) {
        return yk_fail(YK_ERROR_USAGE, "--profile none: that is for commands that plan; name a "
                                       "file here, or leave it out for the usual one");
    }
    return yk_profile_path_resolve_writable(profile, arena, out);
}

static yk_status describe(struct yk_profiling_state *profiling)
{
    const struct yk_device_context *context = &profiling->context;
    struct yk_text versions = {0};
    context->backend->versions(context->device, &versions);
    if (profiling->all.host_communicator->size > 1) {
        const struct yk_communicator *work =
            yk_measuring_ranks_device_communicator(&profiling->all);
        yk_text_add(&versions, ", ");
        work->comm->describe(work->world, &versions);
    }
    return yk_text_move_to_arena(&versions, profiling->arena, &profiling->result->versions);
}

/* Its threads stay on cores of their own, as they do in training. */
static yk_status open_engine(struct yk_profiling_state *profiling)
{
    const struct yk_train_team *team = &profiling->team;
    struct yk_backend_device_options options =
        yk_train_team_backend_options(team, profiling->request->wire);
    options.threads = profiling->cluster->devices[yk_train_team_rank(team)].cores;
    return yk_device_open_context(&profiling->targets[profiling->target].choice, &options,
                                  &profiling->context);
}

/* A rank alone exchanges with itself, in the host's memory. */
static yk_status open_ranks(struct yk_profiling_state *profiling)
{
    const struct yk_device_context *context = &profiling->context;
    struct yk_train_team *team = &profiling->team;
    profiling->all =
        (struct yk_measuring_ranks){.host_communicator = &team->ranks, .context = *context};
    if (!yk_train_team_is_single_rank(team)) {
        const struct yk_profiling_target *target = &profiling->targets[profiling->target];
        YK_TRY(yk_train_team_connect_gpus(team, &target->choice, profiling->request->wire));
        profiling->all.device_communicator = yk_train_team_device_communicator(team);
        return YK_OK;
    }
    YK_TRY(context->backend->lane_create(context->device, "comm", &profiling->lane));
    const struct yk_comm_options options = {
        .backend = context->backend, .device = context->device, .lane = profiling->lane};
    YK_TRY(yk_communicator_open(&yk_comm_self, &options, &profiling->alone));
    profiling->all.host_communicator = &profiling->alone;
    return YK_OK;
}

/* Opens counters and device of this rank. Ranks then combine their statuses. */
static yk_status open_device(struct yk_profiling_state *profiling)
{
    if (profiling->request->counters) {
        YK_TRY(yk_device_counters_open_recorder(&profiling->targets[profiling->target].choice,
                                                &profiling->counter_recorder));
    }
    return open_engine(profiling);
}

/* A profile knows times of CPUs by the CPU of the machine that keeps it. */
static yk_status compare_cpus(const struct yk_profiling_state *profiling)
{
    const struct yk_measuring_ranks *all = &profiling->all;
    char name[YK_SYSTEM_CPU_NAME_SIZE];
    bool differ = false;
    if (!yk_measuring_ranks_compute_on_cpu(all)) {
        return YK_OK;
    }
    yk_system_cpu_name(name);
    YK_TRY(yk_measuring_ranks_texts_differ(all, name, &differ));
    if (differ && all->host_communicator->rank == 0) {
        yk_log(YK_LOG_WARNING,
               "ranks compute on different CPUs: all times are kept as those of rank 0's, %s; "
               "CPUs with as many cores are not told apart, and plans made on another machine do "
               "not use them",
               name);
    }
    return YK_OK;
}

static yk_status open_target(struct yk_profiling_state *profiling)
{
    const struct yk_train_team *team = &profiling->team;
    YK_TRY(yk_train_team_combine_status(team, read_workload(profiling)));
    YK_TRY(yk_profiling_make_target_cluster(profiling));
    YK_TRY(yk_train_team_combine_status(team, open_device(profiling)));
    YK_TRY(open_ranks(profiling));
    YK_TRY(compare_cpus(profiling));
    return yk_train_team_combine_status(team, describe(profiling));
}

static void close_target(struct yk_profiling_state *profiling)
{
    const struct yk_device_context *context = &profiling->context;
    yk_communicator_close(&profiling->alone);
    profiling->alone = (struct yk_communicator){0};
    if (context->backend) {
        context->backend->lane_destroy(profiling->lane);
    }
    profiling->lane = NULL;
    yk_device_close_context(&profiling->context);
    yk_counter_recorder_close(profiling->counter_recorder);
    profiling->counter_recorder = NULL;
}

/* Memory in use on a GPU; on a CPU, the peak memory of this process. */
static double held_bytes(const struct yk_device_context *context)
{
    return context->backend->used_bytes ? (double)context->backend->used_bytes(context->device)
                                        : yk_system_process_memory().peak_bytes;
}

/* Callbacks of the survey; `user` is the profiling. */
static bool is_stopped(void *user)
{
    const struct yk_profiling_state *profiling = user;
    return yk_job_stop_requested(profiling->request->job);
}

/* Layers come first and take most of the time, links or copies the rest. */
static double overall_progress(const struct yk_profiling_state *profiling, const char *what,
                               double done)
{
    const double layers = profiling->all.host_communicator->size > 1       ? 0.7
                          : profiling->context.backend->used_bytes != NULL ? 0.95
                                                                           : 1;
    return strcmp(what, "layers") == 0 ? layers * done : layers + (1 - layers) * done;
}

static void show_progress(void *user, const char *what, double done)
{
    const struct yk_profiling_state *profiling = user;
    const int32_t rank = yk_train_team_rank(&profiling->team);
    const double whole = overall_progress(profiling, what, done);
    char line[128];
    (void)snprintf(line, sizeof line, "%s, %s: %s", profiling->cluster->devices[rank].name,
                   yk_precision_name(profiling->workload.precision), what);
    yk_job_report_progress(profiling->request->job, line,
                           (profiling->target + whole) / profiling->target_count);
}

static void note_step(void *user, const struct yk_op_timeline *timeline)
{
    const struct yk_profiling_state *profiling = user;
    yk_counter_recorder_add_step_timeline(profiling->counter_recorder, timeline);
}

/* The largest message that a plan for the model could send: all gradients at once. */
static yk_status most_bytes(const struct yk_profiling_state *profiling, int64_t *out)
{
    const struct yk_model *model = NULL;
    int64_t most = 0;
    YK_TRY(yk_model_build(profiling->config, &profiling->workload, profiling->arena, &model));
    for (int32_t i = 0; i < model->layer_count; i++) {
        most += model->layers[i].parameters * 4;
    }
    for (int32_t i = 0; i < model->edge_count; i++) {
        most = model->edges[i].bytes > most ? model->edges[i].bytes : most;
    }
    *out = most < 64 * (int64_t)MIB ? most : 64 * (int64_t)MIB;
    return YK_OK;
}

/* Name of the current target in the counters: its devices and precision. */
static yk_status name_counters(const struct yk_profiling_state *profiling, const char **out)
{
    struct yk_text name = {0};
    yk_text_addf(&name, "%s, %s", profiling->cluster->source,
                 yk_precision_name(profiling->workload.precision));
    return yk_text_move_to_arena(&name, profiling->arena, out);
}

/* Measures the layers; with counters, records them meanwhile. */
static yk_status survey_layers(struct yk_profiling_state *profiling,
                               const struct yk_profiler_request *request)
{
    if (!profiling->counter_recorder) {
        return yk_profiler_measure_layers(&profiling->result->profiler, &profiling->all, request);
    }
    struct yk_counter_run_data *all = &profiling->result->counted;
    struct yk_counter_rank_data *counted = &all->all[all->count];
    YK_TRY(yk_counter_recorder_start(profiling->counter_recorder));
    const yk_status status =
        yk_profiler_measure_layers(&profiling->result->profiler, &profiling->all, request);
    yk_counter_recorder_stop(profiling->counter_recorder);
    YK_TRY(status);
    YK_TRY(yk_counter_recorder_compute_averages(profiling->counter_recorder, NAN, profiling->arena,
                                                counted));
    YK_TRY(name_counters(profiling, &counted->device));
    all->count++;
    return YK_OK;
}

/* Resets the peak memory of the process. Returns whether the peak measured from now on is that of
 * the current target only. */
static bool resets_peak_memory(const struct yk_profiling_state *profiling)
{
    const bool forgotten = yk_system_reset_peak_memory();
    return forgotten || profiling->target == 0 || profiling->context.backend->used_bytes;
}

static yk_status survey(struct yk_profiling_state *profiling)
{
    const struct yk_profiler_request request = {
        .config = profiling->config,
        .workload = profiling->workload,
        .cluster = profiling->cluster,
        .slowdown_factor = profiling->slowness[profiling->all.host_communicator->rank],
        .seconds = profiling->request->seconds,
        .used_bytes = resets_peak_memory(profiling) ? held_bytes : NULL,
        .remeasure = profiling->request->again,
        .versions = profiling->result->versions,
        .callbacks = {.user = profiling,
                      .progress = show_progress,
                      .stop = is_stopped,
                      .ran = profiling->counter_recorder ? note_step : NULL},
    };
    YK_TRY(survey_layers(profiling, &request));
    if (profiling->context.backend->used_bytes && !profiling->result->profiler.stopped) {
        YK_TRY(yk_profiler_measure_device_copies(&profiling->result->profiler, &profiling->all,
                                                 &request));
    }
    if (profiling->all.host_communicator->size > 1 && !profiling->result->profiler.stopped) {
        int64_t most = 0;
        YK_TRY(most_bytes(profiling, &most));
        YK_TRY(yk_profiler_measure_links(&profiling->result->profiler, &profiling->all, &request,
                                         most));
    }
    return YK_OK;
}

/* Adds the notes about the current target to the result. */
static yk_status add_target_note(struct yk_profiling_state *profiling)
{
    const struct yk_profiler *profiler = &profiling->result->profiler;
    struct yk_text *out = &profiling->result->notes;
    yk_workload_write_title(profiling->config, profiling->cluster, &profiling->workload, out);
    yk_text_addf(out, "\n  %s\n", profiling->result->versions);
    if (profiler->blocks > 0) {
        yk_text_addf(out, "  measured by %lld of its blocks, which are alike\n",
                     (long long)profiler->blocks);
    }
    if (profiler->batch > 0) {
        yk_text_addf(out, "  with %lld sample%s at most, which is what fits\n",
                     (long long)profiler->batch, yk_text_plural_suffix(profiler->batch));
    }
    return yk_text_status(out);
}

/* One device of several may be too small for the model; the others are measured all the same. Ranks
 * would have to agree on it, and end instead. */
static yk_status skip_target(struct yk_profiling_state *profiling, yk_status status)
{
    if (status != YK_ERROR_NO_FIT || profiling->target_count == 1 ||
        !yk_train_team_is_single_rank(&profiling->team)) {
        return status;
    }
    yk_workload_write_title(profiling->config, profiling->cluster, &profiling->workload,
                            &profiling->result->notes);
    yk_text_addf(&profiling->result->notes, "\n  left out: %s\n", yk_status_message());
    return yk_text_status(&profiling->result->notes);
}

/* Opens the profile on rank 0, which stores the times of all ranks. */
static yk_status open_profile(struct yk_profiling_state *profiling)
{
    YK_TRY(yk_profiler_init(&profiling->result->profiler));
    return yk_train_team_rank(&profiling->team) == 0
               ? yk_profile_path_open_writable(profiling->request->profile, profiling->result->path,
                                               &profiling->result->profiler.profile)
               : YK_OK;
}

static yk_status measure(struct yk_profiling_state *profiling)
{
    for (profiling->target = 0;
         profiling->target < profiling->target_count && !profiling->result->profiler.stopped;
         profiling->target++) {
        YK_TRY(open_target(profiling));
        if (profiling->target == 0) { /* only now, so that a failure leaves no empty profile */
            YK_TRY(yk_train_team_combine_status(&profiling->team, open_profile(profiling)));
        }
        yk_status status = survey(profiling);
        status = status == YK_OK ? add_target_note(profiling) : skip_target(profiling, status);
        close_target(profiling);
        YK_TRY(status);
    }
    profiling->target = profiling->target_count - 1;
    return YK_OK;
}

/* Opens model, profile path, cluster and targets of the request for `ranks` ranks. */
static yk_status open_profiling(struct yk_profiling_state *profiling, int32_t ranks)
{
    const struct yk_profile_job_request *request = profiling->request;
    if (!request->model) {
        return yk_fail(YK_ERROR_USAGE, "name a model: --model gpt-mini; yoke model lists them");
    }
    YK_TRY(yk_model_config_open(request->model, profiling->arena, &profiling->config));
    YK_TRY(yk_profile_job_resolve_output_path(request->profile, profiling->arena,
                                              &profiling->result->path));
    YK_TRY(yk_rank_parse_slowdowns(request->slow, ranks, profiling->arena, &profiling->slowness));
    if (request->cluster) {
        YK_TRY(yk_profiling_open_cluster(profiling, ranks));
    }
    YK_TRY(yk_profiling_find_targets(profiling, ranks));
    return read_workload(profiling);
}

static yk_status measure_all(struct yk_profiling_state *profiling)
{
    struct yk_train_team *team = &profiling->team;
    const struct yk_job_callbacks *job = profiling->request->job;
    const struct yk_train_team_request request = {
        .device = yk_profiling_device_option(profiling),
        .job = job,
    };
    const struct yk_launcher *launcher = profiling->request->launcher;
    YK_TRY(yk_train_team_open(launcher ? launcher : &alone, &request, profiling->arena, team));
    if (!yk_train_team_is_single_rank(team)) {
        YK_TRY(yk_profiling_find_targets(profiling, team->ranks.size));
    }
    YK_TRY_NEW(profiling->arena, profiling->result->counted.all, profiling->target_count);
    yk_job_report_begin(job);
    const yk_status status = measure(profiling);
    yk_job_report_end(job);
    YK_TRY_OR_CLEAN_UP(status, yk_train_team_watchdog_abort_all_ranks(team, status));
    return yk_train_team_combine_status(team, YK_OK);
}

/* What is left for the caller to know. */
static void finish(struct yk_profiling_state *profiling)
{
    struct yk_profile_job_result *result = profiling->result;
    result->rank = yk_train_team_rank(&profiling->team);
    result->noise = yk_profiler_p75_spread(&result->profiler);
    result->target_count = profiling->target_count;
    result->counters = profiling->request->counters;
    result->cluster = profiling->cluster;
    profiling->cluster = NULL;
}

static void close_profiling(struct yk_profiling_state *profiling)
{
    struct yk_profiler *profiler = &profiling->result->profiler;
    close_target(profiling);
    yk_profile_close(profiler->profile);
    profiler->profile = NULL;
    yk_train_team_close(&profiling->team);
    yk_cluster_destroy(profiling->cluster);
}

yk_status yk_profile_job_check_request(const struct yk_profile_job_request *request, int32_t ranks)
{
    struct yk_profile_job_result result = {0};
    struct yk_profiling_state profiling = {.request = request, .result = &result};
    YK_TRY(yk_arena_create(&result.arena));
    profiling.arena = result.arena;
    const yk_status status = open_profiling(&profiling, ranks);
    close_profiling(&profiling);
    yk_profile_job_result_free(&result);
    return status;
}

yk_status yk_profile_job_run(const struct yk_profile_job_request *request,
                             struct yk_profile_job_result *out)
{
    struct yk_profiling_state profiling = {.request = request, .result = out};
    YK_TRY(yk_arena_create(&out->arena));
    profiling.arena = out->arena;
    yk_status status = open_profiling(&profiling, request->launcher ? request->launcher->size : 1);
    YK_IF_OK(measure_all(&profiling));
    if (status == YK_OK) {
        finish(&profiling);
    }
    close_profiling(&profiling);
    return status;
}

void yk_profile_job_result_free(struct yk_profile_job_result *result)
{
    yk_profiler_free(&result->profiler);
    yk_text_free(&result->notes);
    yk_cluster_destroy(result->cluster);
    yk_arena_destroy(result->arena);
    *result = (struct yk_profile_job_result){0};
}

yk_status yk_profile_job_write_cluster_json(const struct yk_profile_job_result *result,
                                            struct yk_text *out)
{
    return yk_cluster_write_json(result->cluster, out);
}

/* Ends a row by its measurement, whose value is called `key`. */
static void end_row(const struct yk_profile_measurement *measurement, const char *key,
                    struct yk_json_writer *json)
{
    yk_json_write_number(json, key, measurement->value);
    yk_json_write_number(json, "spread", measurement->spread);
    yk_json_write_integer(json, "samples", measurement->samples);
    yk_json_write_end_object(json);
}

static void write_layers(const struct yk_profiler *profiler, struct yk_json_writer *json)
{
    yk_profile_json_begin_array("layers", json);
    for (int32_t i = 0; i < profiler->layer_count; i++) {
        const struct yk_profiler_layer_row *row = &profiler->layers[i];
        yk_profile_json_begin_layer_row(&row->layer, row->batch, json);
        end_row(&row->measurement, "seconds", json);
    }
    yk_json_write_end_array(json);
}

static void write_links(const struct yk_profiler *profiler, struct yk_json_writer *json)
{
    yk_profile_json_begin_array("links", json);
    for (int32_t i = 0; i < profiler->link_count; i++) {
        const struct yk_profiler_link_row *row = &profiler->links[i];
        yk_profile_json_begin_link_row(&row->link, json);
        yk_json_write_integer(json, "bytes", row->bytes);
        end_row(&row->measurement, "seconds", json);
    }
    yk_json_write_end_array(json);
}

static void write_facts(const struct yk_profiler *profiler, struct yk_json_writer *json)
{
    yk_profile_json_begin_array("facts", json);
    for (int32_t i = 0; i < profiler->fact_count; i++) {
        const struct yk_profiler_fact_row *row = &profiler->facts[i];
        yk_profile_json_begin_fact_row(&row->fact, json);
        end_row(&row->measurement, "value", json);
    }
    yk_json_write_end_array(json);
}

yk_status yk_profile_job_write_json(const struct yk_profile_job_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_string(&json, "profile", result->path);
    yk_json_write_newline(&json, 1);
    yk_json_write_string(&json, "versions", result->versions ? result->versions : "");
    yk_json_write_newline(&json, 1);
    yk_json_write_bool(&json, "stopped", result->profiler.stopped);
    write_layers(&result->profiler, &json);
    write_links(&result->profiler, &json);
    write_facts(&result->profiler, &json);
    if (result->counters) {
        yk_json_write_newline(&json, 1);
        yk_json_write_key(&json, "counters");
        yk_counters_file_write_averages_json(&result->counted, out);
    }
    return yk_json_write_end_yoke_document(&json);
}
