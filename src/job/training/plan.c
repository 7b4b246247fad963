#include "job/training/plan.h"

#include "base/file.h"
#include "base/log.h"
#include "cluster/topology.h"
#include "comm/host_collective.h"
#include "job/job.h"
#include "job/profile_path.h"
#include "job/workload.h"
#include "planner/planner.h"
#include "profile/profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_SIZE = 64,
    /* A count, not a time limit, so that a resumed run finds the same plan. */
    TRIALS = 64,
};

#define MIB (1024.0 * 1024.0)

/* Number of ranks; for a dry run, the value of --ranks. */
static int32_t rank_count(const struct yk_train_request *request, const struct yk_train_team *team)
{
    return !yk_train_team_is_single_rank(team)      ? team->ranks.size
           : request->dry_run && request->ranks > 1 ? (int32_t)request->ranks
                                                    : 1;
}

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
static yk_status choose_device(const struct yk_train_request *request,
                               const struct yk_train_team *team, struct yk_device_choice *out)
{
    YK_TRY(yk_train_team_choose_device(team, request->device, out));
    return yk_train_team_is_single_rank(team) && out->automatic
               ? predict_device(rank_count(request, team), out)
               : YK_OK;
}

/* Describes the cores and memory of this machine, divided among `ranks` ranks, in the syntax of
 * --cluster. */
static yk_status describe_machine(int64_t threads, int32_t ranks, struct yk_arena *arena,
                                  const char **out)
{
    struct yk_topology machine;
    char line[LINE_SIZE];
    YK_TRY(yk_topology_find(&machine));
    int64_t cores = machine.core_count > 0 ? machine.core_count : machine.thread_count;
    cores = threads > 0 ? threads : cores >= ranks ? cores / ranks : 1;
    int length = ranks > 1 ? snprintf(line, sizeof line, "%dxcpu:%" PRId64, (int)ranks, cores)
                           : snprintf(line, sizeof line, "cpu:%" PRId64, cores);
    if (machine.memory_bytes > MIB) {
        length += snprintf(line + length, sizeof line - (size_t)length, ":%.0fMiB",
                           machine.memory_bytes / MIB / ranks - 0.5);
    }
    *out = yk_arena_copy_text(arena, line, (size_t)length);
    return *out ? YK_OK : yk_fail_out_of_memory();
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
        status = yk_device_gpu_cluster_spec(gpus > 0 ? (first + i) % gpus : first, arena, &line);
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
static yk_status describe_cluster(const struct yk_train_request *request,
                                  const struct yk_train_team *team,
                                  const struct yk_device_choice *device, struct yk_arena *arena,
                                  const char **out)
{
    if (request->cluster) {
        *out = request->cluster;
        return YK_OK;
    }
    if (!yk_train_team_is_single_rank(team)) {
        return yk_train_team_describe_devices(team, device, request->threads, arena, out);
    }
    const int32_t ranks = rank_count(request, team);
    if (!device->gpu) {
        return describe_machine(request->threads, ranks, arena, out);
    }
    return ranks > 1 ? describe_gpus(ranks, device->number, arena, out)
                     : yk_device_gpu_cluster_spec(device->number, arena, out);
}

static yk_status refuse_devices(const struct yk_train_request *request, const char *source,
                                bool from_plan, const char *reason)
{
    return from_plan ? yk_fail(YK_ERROR_INPUT,
                               "%s: the plan is for %s, but %s; make another plan, or leave --plan "
                               "out",
                               request->plan, source, reason)
                     : yk_fail(YK_ERROR_INPUT, "%s: %s; name others, or leave --cluster out",
                               source, reason);
}

/* Whether training runs on such devices: a CPU for each rank, or a GPU. `device` becomes the one of
 * the cluster's kind; `source` is what the plan's file or --cluster calls the cluster. */
static yk_status check_devices(const struct yk_train_request *request, const char *source,
                               bool from_plan, int32_t ranks, const struct yk_cluster *cluster,
                               struct yk_device_choice *device)
{
    int32_t cpus = 0;
    for (int32_t i = 0; i < cluster->device_count; i++) {
        cpus += cluster->devices[i].is_cpu ? 1 : 0;
    }
    const bool gpu = cpus < cluster->device_count;
    if (gpu && cpus > 0) {
        return refuse_devices(request, source, from_plan,
                              "training runs on CPUs or on GPUs, not on both at once");
    }
    if (gpu && !device->gpu && !request->dry_run) {
        return refuse_devices(request, source, from_plan,
                              "no GPU is used here (yoke doctor says what is missing)");
    }
    if (!gpu && device->gpu && request->device && strncmp(request->device, "cuda", 4) == 0) {
        return refuse_devices(request, source, from_plan, "--device asks for a GPU");
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

yk_status yk_train_plan_resolve_workload(const struct yk_train_request *request,
                                         const struct yk_model_config *config,
                                         struct yk_workload *out)
{
    const struct yk_workload_request workload = {
        .batch = request->batch,
        .sequence = request->sequence,
        .precision = request->precision,
        .lora_rank = request->lora_rank,
        .nf4 = request->nf4,
        .recompute = request->recompute,
    };
    return yk_workload_resolve(&workload, config, out);
}

/* `planned` are the sources that the file --plan names; empty without --plan. */
static yk_status open_cluster(const struct yk_train_request *request,
                              const struct yk_train_team *team,
                              const struct yk_plan_source_paths *planned, const char *source,
                              struct yk_arena *arena, struct yk_train_plan *out)
{
    const bool from_plan = planned->cluster && strcmp(source, planned->cluster) == 0;
    const bool first = yk_train_team_rank(team) == 0; /* only rank 0 reads the profile */
    const char *profile = first ? planned->profile : NULL;
    YK_TRY(yk_cluster_open(source, &out->cluster));
    YK_TRY(check_devices(request, source, from_plan, rank_count(request, team), out->cluster,
                         &out->device));
    if (first && (request->profile || !request->plan)) {
        YK_TRY(yk_profile_path_resolve(request->profile, arena, &profile));
    }
    if (profile) {
        YK_TRY(yk_profile_open(profile, &out->profile));
    }
    out->request.cluster_source = source;
    out->request.profile_source = profile;
    return YK_OK;
}

static void fill_request(const struct yk_train_request *request,
                         const struct yk_model_config *config, const struct yk_workload *workload,
                         const char *model_source, struct yk_train_plan *out)
{
    const struct yk_job_search_request search = {.moves = TRIALS, .seed = 1};
    struct yk_plan_request *asked = &out->request;
    out->book = (struct yk_cost_sources){
        .cluster = out->cluster, .profile = out->profile, .measurements = out->facts};
    asked->cost_sources = &out->book;
    asked->config = config;
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

static yk_status read_sources(const char *path, struct yk_arena *arena,
                              struct yk_plan_source_paths *out)
{
    const char *text = NULL;
    size_t length = 0;
    YK_TRY(yk_file_read_document_to_arena(path, arena, &text, &length));
    return yk_plan_file_read_source_paths(text, length, path, arena, out);
}

/* Fails if the plan is for the same model with a different vocabulary than that of this text. */
static yk_status check_vocabulary(const struct yk_train_request *request,
                                  const struct yk_model_config *config,
                                  const struct yk_plan_source_paths *planned,
                                  struct yk_arena *arena)
{
    const struct yk_model_config *meant = NULL;
    if (!request->model || !planned->model || strcmp(request->model, planned->model) != 0 ||
        yk_model_config_open(planned->model, arena, &meant) != YK_OK ||
        meant->vocabulary == config->vocabulary) {
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT,
                   "%s: the plan is for %s with %" PRId64
                   " tokens, but the characters of this text make a model with %" PRId64
                   "; take the plan.json of a run on this text, or leave --plan out: --dry-run "
                   "shows the plan that is found",
                   request->plan, planned->model, meant->vocabulary, config->vocabulary);
}

/* `text` is the content of the file --plan, or the plan that rank 0 has sent. */
static yk_status read_plan(const struct yk_train_request *request, const char *text, size_t length,
                           const char *path, struct yk_arena *arena, struct yk_train_plan *out)
{
    const struct yk_plan_file_context context = yk_train_plan_file_context(out);
    const struct yk_plan *plan = NULL;
    YK_TRY(yk_plan_file_read(text, length, path, &context, arena, &plan));
    YK_TRY(check_plan(request, &out->request.workload, plan));
    out->request.slowdown = plan->options.slowdown;
    YK_TRY(yk_planner_evaluate(&out->request, plan, false, &out->planned));
    return yk_planner_fail_plan_does_not_fit(out->planned);
}

static yk_status read_file(const struct yk_train_request *request, int32_t ranks,
                           struct yk_arena *arena, struct yk_train_plan *out)
{
    const char *text = NULL;
    size_t length = 0;
    YK_TRY(yk_file_read_document_to_arena(request->plan, arena, &text, &length));
    YK_TRY(read_plan(request, text, length, request->plan, arena, out));
    return check_ranks(request->plan, out->planned->plan, ranks);
}

/* A plan may leave devices out. If their ranks have been started, searches again for a plan that
 * uses all of them. */
static yk_status search(const struct yk_train_request *request, const struct yk_train_team *team,
                        struct yk_train_plan *out)
{
    const int32_t ranks = rank_count(request, team);
    yk_job_report_begin(request->job);
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
    yk_job_report_end(request->job);
    if (found && found->rank_count < ranks) {
        status = yk_fail(YK_ERROR_INPUT,
                         "with --batch %" PRId64
                         " no plan has work for more than %d of %d ranks; start fewer, or raise it",
                         found->workload.batch, (int)found->rank_count, (int)ranks);
    }
    return status;
}

/* Reads the plan, or searches for it, in this process. */
static yk_status find_on_this_rank(const struct yk_train_request *request,
                                   const struct yk_train_team *team,
                                   const struct yk_model_config *config,
                                   const struct yk_plan_source_paths *planned,
                                   struct yk_arena *arena, struct yk_train_plan *out)
{
    if (request->plan) {
        YK_TRY(check_vocabulary(request, config, planned, arena));
        return read_file(request, rank_count(request, team), arena, out);
    }
    return search(request, team, out);
}

/* Sends the context sizes that rank 0 knows to all ranks: programs depend on them and must be the
 * same. */
static yk_status broadcast_context(const struct yk_train_team *team, struct yk_arena *arena,
                                   int32_t device_count, struct yk_device_measurements *facts)
{
    double *bytes = NULL;
    YK_TRY_NEW(arena, bytes, device_count);
    for (int32_t i = 0; i < device_count; i++) {
        bytes[i] = facts[i].context_bytes;
    }
    YK_TRY(yk_train_team_broadcast_numbers(team, bytes, device_count));
    for (int32_t i = 0; i < device_count; i++) {
        facts[i].context_bytes = bytes[i];
    }
    return YK_OK;
}

/* Adds the memory of side streams to contexts that were measured. Others are estimates anyway. */
static void count_streams(const struct yk_train_request *request, const struct yk_cluster *cluster,
                          struct yk_device_measurements *facts)
{
    for (int32_t i = 0; i < cluster->device_count; i++) {
        if (!cluster->devices[i].is_cpu && facts[i].context_bytes > 0 && request->qkv &&
            strcmp(request->qkv, "streams") == 0) {
            facts[i].context_bytes += YK_BACKEND_SIDE_STREAM_BYTES;
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
    return yk_plan_file_write(plan, &context, out);
}

/* Sends the plan of rank 0 to all ranks. Fails on all ranks if rank 0 found none. */
static yk_status broadcast_plan(const struct yk_train_request *request,
                                const struct yk_train_team *team, struct yk_arena *arena,
                                struct yk_train_plan *out)
{
    struct yk_text text = {0};
    yk_status status = team->ranks.rank == 0 ? write_for_other_ranks(out, arena, &text) : YK_OK;
    status = yk_train_team_combine_status(team, status);
    YK_THEN(yk_host_collective_broadcast_text(&team->ranks, 0, &text));
    if (status == YK_OK && team->ranks.rank > 0) {
        status =
            read_plan(request, yk_text_chars(&text), text.length, "the plan of rank 0", arena, out);
    }
    yk_text_free(&text);
    return yk_train_team_combine_status(team, status);
}

yk_status yk_train_plan_find(const struct yk_train_request *request,
                             const struct yk_train_team *team, const struct yk_model_config *config,
                             const struct yk_workload *workload, const char *model_source,
                             struct yk_arena *arena, struct yk_train_plan *out)
{
    struct yk_plan_source_paths planned = {0};
    const char *source = NULL;
    yk_status status = request->plan ? read_sources(request->plan, arena, &planned) : YK_OK;
    YK_TRY(yk_train_team_combine_status(team, status));
    YK_TRY(choose_device(request, team, &out->device));
    YK_TRY(describe_cluster(request, team, &out->device, arena, &source));
    status = open_cluster(request, team, &planned, source, arena, out);
    YK_THEN(
        yk_device_measurements_read(out->profile, config->name, out->cluster, arena, &out->facts));
    if (status == YK_OK) {
        count_streams(request, out->cluster, out->facts);
    }
    YK_TRY(yk_train_team_combine_status(team, status));
    if (!yk_train_team_is_single_rank(team)) {
        YK_TRY(broadcast_context(team, arena, out->cluster->device_count, out->facts));
    }
    yk_train_progress_report_phase(request->progress, YK_TRAIN_JOB_PHASE_PLANNING);
    fill_request(request, config, workload, model_source, out);
    status = yk_train_team_rank(team) == 0
                 ? find_on_this_rank(request, team, config, &planned, arena, out)
                 : YK_OK;
    YK_TRY(yk_train_team_combine_status(team, status));
    if (!yk_train_team_is_single_rank(team)) {
        YK_TRY(broadcast_plan(request, team, arena, out));
    }
    if (request->shuffle == 0 || !out->planned || !out->planned->plan) {
        return YK_OK;
    }
    /* The same seed gives the same program on all ranks. */
    return yk_train_team_combine_status(
        team, yk_planner_shuffle_program(out->planned, (uint64_t)request->shuffle));
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
