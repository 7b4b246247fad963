#include "job/training/plan.h"

#include "base/file.h"
#include "base/log.h"
#include "cluster/topology.h"
#include "comm/host_collective.h"
#include "job/job.h"
#include "job/profile_path.h"
#include "planner/planner.h"
#include "profile/profile.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    /* A count, not a time limit, so that a resumed run finds the same plan. */
    TRIALS = 64,
};

#define MIB (1024.0 * 1024.0)

/* The search for a plan on one rank. */
struct finding {
    const struct yk_train_request *request;
    const struct yk_train_team *team;
    const struct yk_model_config *config;
    struct yk_arena *arena;
    int32_t ranks;                       /* number of ranks; for a dry run, the value of --ranks */
    struct yk_plan_source_paths sources; /* that the file --plan names; empty without --plan */
    struct yk_train_plan *out;
};

/* The default device of ranks that are not started yet: GPUs if each rank can have its own. */
static yk_status predict_device(int32_t ranks, struct yk_device_choice *device)
{
    int32_t gpus = 0;
    YK_TRY(yk_device_count_gpus(&gpus));
    if (ranks > 1 && gpus < ranks) {
        *device = (struct yk_device_choice){0};
    }
    return YK_OK;
}

/* Called by all ranks; all of them choose the same kind of device. */
static yk_status choose_device(const struct finding *finding)
{
    struct yk_device_choice *device = &finding->out->device;
    YK_TRY(yk_train_team_choose_device(finding->team, finding->request->device, device));
    return yk_train_team_is_single_rank(finding->team) && device->automatic
               ? predict_device(finding->ranks, device)
               : YK_OK;
}

/* Describes the cores and memory of this machine, divided among `ranks` ranks, in the syntax of
 * --cluster. */
static yk_status describe_machine(int64_t threads, int32_t ranks, struct yk_arena *arena,
                                  const char **out)
{
    struct yk_topology machine;
    struct yk_text line = {0};
    YK_TRY(yk_topology_find(&machine));
    int64_t cores = machine.core_count > 0 ? machine.core_count : machine.thread_count;
    cores = threads > 0 ? threads : cores >= ranks ? cores / ranks : 1;
    if (ranks > 1) {
        yk_text_addf(&line, "%dx", (int)ranks);
    }
    yk_text_addf(&line, "cpu:%" PRId64, cores);
    if (machine.memory_bytes > MIB) {
        yk_text_addf(&line, ":%.0fMiB", machine.memory_bytes / MIB / ranks - 0.5);
    }
    return yk_text_move_to_arena(&line, arena, out);
}

/* Describes the GPUs of ranks that are not started yet: "1xh200:143771MiB + 1xh200:143771MiB".
 * Ranks may share a GPU. */
static yk_status describe_gpus(int32_t ranks, int32_t first, struct yk_arena *arena,
                               const char **out)
{
    struct yk_text text = {0};
    int32_t gpus = 0;
    yk_status status = yk_device_count_gpus(&gpus);
    for (int32_t i = 0; i < ranks && status == YK_OK; i++) {
        const char *line = NULL;
        status =
            yk_device_gpu_as_cluster_option(gpus > 0 ? (first + i) % gpus : first, arena, &line);
        if (status == YK_OK) {
            yk_text_addf(&text, "%s1x%s", i > 0 ? " + " : "", line);
        }
    }
    if (status == YK_OK) {
        return yk_text_move_to_arena(&text, arena, out);
    }
    yk_text_free(&text);
    return status;
}

/* The cluster to plan for: --cluster, or the devices of the ranks. */
static yk_status describe_cluster(const struct finding *finding, const char **out)
{
    const struct yk_device_choice *device = &finding->out->device;
    const int64_t threads = finding->request->threads;
    if (finding->request->cluster) {
        *out = finding->request->cluster;
        return YK_OK;
    }
    if (!yk_train_team_is_single_rank(finding->team)) {
        return yk_train_team_describe_as_cluster_option(finding->team, device, threads,
                                                        finding->arena, out);
    }
    if (!device->gpu) {
        return describe_machine(threads, finding->ranks, finding->arena, out);
    }
    return finding->ranks > 1
               ? describe_gpus(finding->ranks, device->number, finding->arena, out)
               : yk_device_gpu_as_cluster_option(device->number, finding->arena, out);
}

static yk_status refuse_devices(const struct finding *finding, const char *source,
                                const char *reason)
{
    const char *planned = finding->sources.cluster;
    return planned && strcmp(source, planned) == 0
               ? yk_fail(YK_ERROR_INPUT,
                         "%s: the plan is for %s, but %s; make another plan, or leave --plan "
                         "out",
                         finding->request->plan, source, reason)
               : yk_fail(YK_ERROR_INPUT, "%s: %s; name others, or leave --cluster out", source,
                         reason);
}

/* Whether training runs on such devices: a CPU for each rank, or a GPU. `device` becomes the one of
 * the cluster's kind; `source` is what the plan's file or --cluster calls the cluster. */
static yk_status check_devices(const struct finding *finding, const char *source)
{
    const struct yk_train_request *request = finding->request;
    const struct yk_cluster *cluster = finding->out->cluster;
    struct yk_device_choice *device = &finding->out->device;
    const int32_t ranks = finding->ranks;
    int32_t cpus = 0;
    for (int32_t i = 0; i < cluster->device_count; i++) {
        cpus += cluster->devices[i].is_cpu ? 1 : 0;
    }
    const bool gpu = cpus < cluster->device_count;
    if (gpu && cpus > 0) {
        return refuse_devices(finding, source,
                              "training runs on CPUs or on GPUs, not on both at once");
    }
    if (gpu && !device->gpu && !request->dry_run) {
        return refuse_devices(finding, source,
                              "no GPU is used here (yoke doctor says what is missing)");
    }
    if (!gpu && device->gpu && request->device && strncmp(request->device, "cuda", 4) == 0) {
        return refuse_devices(finding, source, "--device asks for a GPU");
    }
    device->gpu = gpu;
    if (!request->plan && cluster->device_count != ranks) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: %d device%s for %d rank%s; start one for each by --ranks %d, or by "
                       "mpirun or srun",
                       source, (int)cluster->device_count,
                       yk_text_plural_suffix(cluster->device_count), (int)ranks,
                       yk_text_plural_suffix(ranks), (int)cluster->device_count);
    }
    return YK_OK;
}

static yk_status open_cluster(const struct finding *finding, const char *source)
{
    const struct yk_train_request *request = finding->request;
    struct yk_train_plan *out = finding->out;
    const bool first = yk_train_team_rank(finding->team) == 0; /* only rank 0 reads the profile */
    const char *profile = first ? finding->sources.profile : NULL;
    YK_TRY(yk_cluster_read_or_parse(source, &out->cluster));
    YK_TRY(check_devices(finding, source));
    if (first && (request->profile || !request->plan)) {
        YK_TRY(yk_profile_path_resolve_readable(request->profile, finding->arena, &profile));
    }
    if (profile) {
        YK_TRY(yk_profile_open_for_reading(profile, &out->profile));
    }
    out->request.cluster_source = source;
    out->request.profile_source = profile;
    return yk_device_measurements_read(out->profile, finding->config->name, out->cluster,
                                       finding->arena, &out->measurements);
}

static void fill_request(const struct finding *finding, const struct yk_workload *workload,
                         const char *model_source)
{
    const struct yk_train_request *request = finding->request;
    struct yk_train_plan *out = finding->out;
    const struct yk_job_search_options search = {.moves = TRIALS, .seed = 1};
    struct yk_plan_request *asked = &out->request;
    out->sources = (struct yk_cost_sources){
        .cluster = out->cluster, .profile = out->profile, .measurements = out->measurements};
    asked->cost_sources = &out->sources;
    asked->config = finding->config;
    asked->workload = *workload;
    asked->model_source = model_source;
    asked->memory_bytes = request->memory_bytes;
    asked->micro_batches = (int32_t)request->micro_batches;
    asked->clip = request->clip > 0;
    asked->strategy = YK_SHARDING_STRATEGY_COUNT;
    asked->decisions = YK_DECIDE_ALL;
    if (request->recompute) {
        asked->decisions &= ~(uint32_t)YK_DECIDE_RECOMPUTATION;
    }
    asked->search = yk_job_make_scheduler_options(&search, request->job);
}

static yk_status fail_mismatch(const char *path, const char *what, int64_t planned, int64_t asked)
{
    return yk_fail(YK_ERROR_INPUT,
                   "%s: the plan is for %s of %" PRId64 ", not %" PRId64
                   "; leave that out, or make another plan",
                   path, what, planned, asked);
}

static yk_status check_ranks(const char *path, const struct yk_plan *plan, int32_t ranks)
{
    if (plan->rank_count == ranks) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: the plan has %d rank%s, but %d %s here; start as many by --ranks %d, or by "
                   "mpirun or srun",
                   path, (int)plan->rank_count, yk_text_plural_suffix(plan->rank_count), (int)ranks,
                   ranks == 1 ? "is" : "are", (int)plan->rank_count);
}

static yk_status check_plan(const struct yk_train_request *request,
                            const struct yk_workload *workload, const struct yk_plan *plan)
{
    const struct yk_workload *planned = &plan->workload;
    if (planned->batch != workload->batch) {
        return fail_mismatch(request->plan, "a batch", planned->batch, workload->batch);
    }
    if (planned->sequence != workload->sequence) {
        return fail_mismatch(request->plan, "a sequence", planned->sequence, workload->sequence);
    }
    if (planned->lora_rank != workload->lora_rank) {
        return fail_mismatch(request->plan, "adapters", planned->lora_rank, workload->lora_rank);
    }
    if (planned->precision != workload->precision || planned->nf4 != workload->nf4) {
        return yk_fail(YK_ERROR_INPUT, "%s: the plan is for %s%s, not for %s%s", request->plan,
                       yk_precision_name(planned->precision), planned->nf4 ? " and NF4" : "",
                       yk_precision_name(workload->precision), workload->nf4 ? " and NF4" : "");
    }
    if (plan->clip != (request->clip > 0)) {
        return yk_fail(YK_ERROR_INPUT, "%s: the plan is for gradients that are %s; see --clip",
                       request->plan, plan->clip ? "clipped" : "not clipped");
    }
    return YK_OK;
}

static yk_status read_sources(struct finding *finding)
{
    const char *path = finding->request->plan;
    const char *text = NULL;
    size_t length = 0;
    YK_TRY(yk_file_read_document_to_arena(path, finding->arena, &text, &length));
    return yk_plan_file_parse_source_paths(text, length, path, finding->arena, &finding->sources);
}

/* Fails if the plan is for the same model with a different vocabulary than that of this text. */
static yk_status check_vocabulary(const struct finding *finding)
{
    const struct yk_train_request *request = finding->request;
    const char *planned = finding->sources.model;
    const struct yk_model_config *meant = NULL;
    if (!request->model || !planned || strcmp(request->model, planned) != 0 ||
        yk_model_config_open(planned, finding->arena, &meant) != YK_OK ||
        meant->vocabulary == finding->config->vocabulary) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: the plan is for %s with %" PRId64
                   " tokens, but the characters of this text make a model with %" PRId64
                   "; take the plan.json of a run on this text, or leave --plan out: --dry-run "
                   "shows the plan that is found",
                   request->plan, planned, meant->vocabulary, finding->config->vocabulary);
}

/* `text` is the content of the file --plan, or the plan that rank 0 has sent. */
static yk_status read_plan(const struct finding *finding, const char *text, size_t length,
                           const char *path)
{
    struct yk_train_plan *out = finding->out;
    const struct yk_plan_file_context context = yk_train_plan_file_context(out);
    const struct yk_plan *plan = NULL;
    YK_TRY(yk_plan_file_parse(text, length, path, &context, finding->arena, &plan));
    YK_TRY(check_plan(finding->request, &out->request.workload, plan));
    out->request.slowdown = plan->options.slowdown;
    YK_TRY(yk_planner_evaluate_plan(&out->request, plan, false, &out->planned));
    return yk_planner_check_plan_fits(out->planned);
}

static yk_status read_file(const struct finding *finding)
{
    const char *path = finding->request->plan;
    const char *text = NULL;
    size_t length = 0;
    YK_TRY(check_vocabulary(finding));
    YK_TRY(yk_file_read_document_to_arena(path, finding->arena, &text, &length));
    YK_TRY(read_plan(finding, text, length, path));
    return check_ranks(path, finding->out->planned->plan, finding->ranks);
}

/* A plan may leave devices out. If their ranks have been started, searches again for a plan that
 * uses all of them. */
static yk_status search(const struct finding *finding)
{
    const struct yk_job_callbacks *job = finding->request->job;
    struct yk_train_plan *out = finding->out;
    const int32_t ranks = finding->ranks;
    yk_job_report_begin(job);
    yk_status status = yk_planner_search(&out->request, &out->planned);
    const struct yk_plan *found = status == YK_OK ? out->planned->plan : NULL;
    if (found && found->rank_count < ranks) {
        yk_log(YK_LOG_NOTE,
               "the best plan leaves %d of %d ranks out; this one is the best with all of them",
               (int)(ranks - found->rank_count), (int)ranks);
        yk_planner_outcome_destroy(out->planned);
        out->planned = NULL;
        out->request.decisions &= ~(uint32_t)YK_DECIDE_PLACEMENT;
        status = yk_planner_search(&out->request, &out->planned);
        found = status == YK_OK && out->planned ? out->planned->plan : NULL;
    }
    yk_job_report_end(job);
    if (found && found->rank_count < ranks) {
        status = yk_fail(YK_ERROR_INPUT,
                         "with --batch %" PRId64
                         " no plan has work for more than %d of %d ranks; start fewer, or raise it",
                         found->workload.batch, (int)found->rank_count, (int)ranks);
    }
    return status;
}

/* Sends the context sizes that rank 0 knows to all ranks: programs depend on them and must be the
 * same. */
static yk_status broadcast_context(const struct finding *finding)
{
    const int32_t device_count = finding->out->cluster->device_count;
    struct yk_device_measurements *measurements = finding->out->measurements;
    double *bytes = NULL;
    YK_TRY_NEW(finding->arena, bytes, device_count);
    for (int32_t i = 0; i < device_count; i++) {
        bytes[i] = measurements[i].context_bytes;
    }
    YK_TRY(yk_train_team_broadcast_numbers(finding->team, bytes, device_count));
    for (int32_t i = 0; i < device_count; i++) {
        measurements[i].context_bytes = bytes[i];
    }
    return YK_OK;
}

/* Adds the memory of side streams to contexts that were measured. Others are estimates anyway. */
static void count_streams(const struct finding *finding)
{
    const struct yk_train_request *request = finding->request;
    const struct yk_cluster *cluster = finding->out->cluster;
    struct yk_device_measurements *measurements = finding->out->measurements;
    for (int32_t i = 0; i < cluster->device_count; i++) {
        if (!cluster->devices[i].is_cpu && measurements[i].context_bytes > 0 && request->qkv &&
            strcmp(request->qkv, "streams") == 0) {
            measurements[i].context_bytes += YK_BACKEND_SIDE_STREAM_BYTES;
        }
    }
}

/* Writes the plan file for the other ranks, which have no profile. */
static yk_status write_for_other_ranks(const struct yk_train_plan *found, struct yk_arena *arena,
                                       struct yk_text *out)
{
    struct yk_plan_file_context context = yk_train_plan_file_context(found);
    struct yk_plan *plan = NULL;
    assert(found->planned); /* a failure to plan has already ended all ranks */
    if (!found->planned->plan) {
        return yk_planner_fail_no_plan_found(found->planned);
    }
    YK_TRY(yk_plan_copy(found->planned->plan, arena, &plan));
    plan->profile_source = NULL;
    context.profile = NULL;
    return yk_plan_file_to_json(plan, &context, out);
}

/* Sends the plan of rank 0 to all ranks. Fails on all ranks if rank 0 found none. */
static yk_status broadcast_plan(const struct finding *finding)
{
    const struct yk_train_team *team = finding->team;
    struct yk_text text = {0};
    yk_status status =
        team->ranks.rank == 0 ? write_for_other_ranks(finding->out, finding->arena, &text) : YK_OK;
    status = yk_train_team_combine_status(team, status);
    YK_IF_OK(yk_host_collective_broadcast_text(&team->ranks, 0, &text));
    if (status == YK_OK && team->ranks.rank > 0) {
        status = read_plan(finding, yk_text_chars(&text), text.length, "the plan of rank 0");
    }
    yk_text_free(&text);
    return yk_train_team_combine_status(team, status);
}

yk_status yk_train_plan_find(const struct yk_train_request *request,
                             const struct yk_train_team *team, const struct yk_model_config *config,
                             const struct yk_workload *workload, const char *model_source,
                             struct yk_arena *arena, struct yk_train_plan *out)
{
    const bool alone = yk_train_team_is_single_rank(team);
    const bool first = yk_train_team_rank(team) == 0;
    struct finding finding = {
        .request = request,
        .team = team,
        .config = config,
        .arena = arena,
        .ranks = !alone                                   ? team->ranks.size
                 : request->dry_run && request->ranks > 1 ? (int32_t)request->ranks
                                                          : 1,
        .out = out,
    };
    const char *source = NULL;
    YK_TRY(yk_train_team_combine_status(team, request->plan ? read_sources(&finding) : YK_OK));
    YK_TRY(choose_device(&finding));
    YK_TRY(describe_cluster(&finding, &source));
    YK_TRY(yk_train_team_combine_status(team, open_cluster(&finding, source)));
    count_streams(&finding);
    if (!alone) {
        YK_TRY(broadcast_context(&finding));
    }
    yk_train_progress_report_phase(request->progress, YK_TRAIN_JOB_PHASE_PLANNING);
    fill_request(&finding, workload, model_source);
    const yk_status status = !first          ? YK_OK
                             : request->plan ? read_file(&finding)
                                             : search(&finding);
    YK_TRY(yk_train_team_combine_status(team, status));
    if (!alone) {
        YK_TRY(broadcast_plan(&finding));
    }
    if (request->shuffle == 0 || !out->planned || !out->planned->plan) {
        return YK_OK;
    }
    /* The same seed gives the same program on all ranks. */
    return yk_train_team_combine_status(
        team, yk_planner_outcome_shuffle_program(out->planned, (uint64_t)request->shuffle));
}

void yk_train_plan_close(struct yk_train_plan *plan)
{
    yk_planner_outcome_destroy(plan->planned);
    yk_profile_close(plan->profile);
    yk_cluster_destroy(plan->cluster);
    *plan = (struct yk_train_plan){0};
}

int64_t yk_train_plan_thread_count(const struct yk_train_plan *plan,
                                   const struct yk_train_request *request, int32_t rank)
{
    const struct yk_plan *found = plan->planned->plan;
    const int32_t device = found ? found->ranks[rank].device : 0;
    return request->threads > 0 ? request->threads : plan->cluster->devices[device].cores;
}

struct yk_plan_file_context yk_train_plan_file_context(const struct yk_train_plan *plan)
{
    return (struct yk_plan_file_context){
        .config = plan->request.config,
        .cluster = plan->cluster,
        .profile = plan->profile,
    };
}
