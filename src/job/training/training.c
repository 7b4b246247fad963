#include "job/training/training.h"

#include "base/folder.h"
#include "base/log.h"
#include "job/device.h"
#include "job/model_dataset.h"
#include "job/output_files.h"
#include "job/rank.h"
#include "job/training/rebalancer.h"
#include "job/workload.h"
#include "model/config.h"
#include "train/executor/collectives.h"
#include "train/rank_partitions.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    USUAL_STEPS = 1000,
    MAX_WARMUP = 100,
};

static struct yk_optimizer_options optimizer_of(const struct yk_train_request *request)
{
    struct yk_optimizer_options optimizer = {
        .beta1 = request->beta1,
        .beta2 = request->beta2,
        .epsilon = request->epsilon,
        .decay = request->weight_decay,
        .momentum = request->momentum,
    };
    /* The option table accepts only names of optimizers. */
    (void)yk_optimizer_find_kind(request->optimizer, &optimizer.kind);
    return optimizer;
}

struct yk_lr_schedule yk_training_make_lr_schedule(const struct yk_train_request *request,
                                                   int64_t steps)
{
    const int64_t tenth = steps / 10;
    const double usual = strcmp(request->optimizer, "sgd") == 0 ? 0.1
                         : request->lora_rank > 0               ? 2e-4
                                                                : 1e-3;
    struct yk_lr_schedule schedule = {
        .max_lr = isnan(request->lr) ? usual : request->lr,
        .warmup = request->warmup >= 0 ? request->warmup
                  : tenth < MAX_WARMUP ? tenth
                                       : MAX_WARMUP,
        .steps = steps,
    };
    schedule.min_lr = isnan(request->min_lr) ? schedule.max_lr / 10 : request->min_lr;
    (void)yk_lr_schedule_find_kind(request->lr_schedule, &schedule.kind);
    return schedule;
}

/* Fails if the folder already holds a run: their checkpoints would be confused. */
static yk_status check_no_run(struct yk_training *training)
{
    bool found = false;
    YK_TRY(yk_train_folder_has_checkpoint(training->folder, training->arena, &found));
    if (found) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s holds a run already; go on with it by --resume, or keep this one "
                       "elsewhere by --out",
                       training->folder);
    }
    return YK_OK;
}

static yk_status open_folder(struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    YK_TRY(yk_train_folder_resolve_path(request, training->arena, &training->folder));
    YK_TRY(yk_folder_join_path(training->folder, "config.json", training->arena,
                               &training->config_path));
    YK_TRY(yk_train_folder_check_is_folder(training->folder));
    /* Locks an existing run before reading it: another process may be writing it. */
    const bool first = yk_train_team_rank(&training->team) == 0;
    if (first && !request->dry_run && yk_folder_contains(training->folder, "run.json")) {
        YK_TRY(yk_train_folder_lock_acquire(&training->lock, training->folder, training->arena));
    }
    return request->dry_run || request->resumed || !first ? YK_OK : check_no_run(training);
}

/* All ranks resume from the same checkpoint. */
static yk_status open_checkpoint(struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    const struct yk_train_team *team = &training->team;
    if (!request->resumed) {
        return YK_OK;
    }
    YK_TRY(yk_checkpoint_open_on_all_ranks(request->resumed,
                                           yk_train_team_is_single_rank(team) ? NULL : &team->ranks,
                                           &training->checkpoint));
    return yk_train_request_check_resume_options(request, training->checkpoint->options_json,
                                                 training->checkpoint->path);
}

static yk_status count_steps(struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    training->steps = request->steps > 0 ? request->steps : USUAL_STEPS;
    if (!isnan(request->epochs)) {
        const struct yk_sampler *sampler = training->inputs.samples;
        const struct yk_plan *plan = training->plan.planned->plan;
        const int64_t slices = plan ? plan->micro_batches : 1;
        const int64_t units = sampler->max_slice_tokens > 0 ? slices : request->batch;
        const double all = request->epochs * (double)sampler->epoch_units;
        const double steps = fmax(1, ceil(all / (double)units));
        if (steps > 1e9) {
            return yk_fail(YK_ERROR_USAGE, "%g epochs are more than a billion steps",
                           request->epochs);
        }
        training->steps = (int64_t)steps;
    }
    const int64_t done = training->checkpoint ? training->checkpoint->state.step : 0;
    if (done >= training->steps) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s has done its %" PRId64 " steps; --steps %" PRId64 " goes on",
                       training->folder, done, 2 * done);
    }
    return YK_OK;
}

static yk_status open_net(struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    struct yk_net_options options = {
        .dropout = request->dropout,
        .label_smoothing = request->label_smoothing,
        .lora_alpha = request->lora_rank > 0 ? request->lora_alpha : 0,
        .seed = (uint64_t)request->seed,
    };
    if (training->inputs.kind == YK_DATASET_IMAGES) {
        yk_model_dataset_set_pixel_options(&training->inputs.images, &options);
    }
    if (request->lora_rank > 0 && !request->weights && !training->random_weights &&
        !training->checkpoint && !request->dry_run) {
        return yk_fail(YK_ERROR_USAGE,
                       "adapters are trained beside weights that stay as they are; name those by "
                       "--weights, or try it out with --weights random");
    }
    return yk_net_create(training->plan.planned->context->model, &options, &training->net);
}

/* Sets the sequence length, converts --batch-tokens into samples of that length, and sets the
 * workload. */
static yk_status resolve_batch(struct yk_training *training)
{
    struct yk_train_request *request = &training->request;
    const struct yk_model_config *config = training->inputs.config;
    struct yk_workload *workload = &training->workload;
    if (request->sequence == 0) {
        const int64_t usual = yk_model_dataset_default_sequence_length(training->inputs.kind);
        request->sequence = usual < config->positions ? usual : config->positions;
    }
    const struct yk_workload_request wanted = {
        .batch = request->batch,
        .sequence = request->sequence,
        .precision = request->precision,
        .lora_rank = request->lora_rank,
        .nf4 = request->nf4,
        .recompute = request->recompute,
    };
    YK_TRY(yk_workload_from_request(&wanted, config, workload));
    if (request->batch_tokens > 0 && request->batch_tokens < workload->sequence) {
        return yk_fail(YK_ERROR_USAGE,
                       "a step of %" PRId64 " tokens has no room for a sample of %" PRId64
                       "; see --batch-tokens and --seq",
                       request->batch_tokens, workload->sequence);
    }
    if (request->batch_tokens > 0) {
        request->batch = request->batch_tokens / workload->sequence;
        workload->batch = request->batch;
        request->batch_tokens = 0; /* saved as `batch`, which may change when the run is resumed */
    }
    if (request->micro_batches > request->batch) {
        return yk_fail(YK_ERROR_USAGE,
                       "%" PRId64 " samples cannot be split into %" PRId64 " micro-batches",
                       request->batch, request->micro_batches);
    }
    return YK_OK;
}

/* Warns if the data has changed since the checkpoint: its position would mean other samples. */
static void note_other_data(const struct yk_training *training)
{
    const int64_t now = training->inputs.samples->epoch_units;
    const int64_t before = training->checkpoint ? training->checkpoint->state.epoch : 0;
    if (before > 0 && before != now) {
        yk_log(YK_LOG_WARNING,
               "an epoch had %" PRId64 " samples or batches when the run was saved and has %" PRId64
               " now: unless its batch is another, %s has changed, and the run goes on with "
               "other samples",
               before, now, training->inputs.data);
    }
}

/* Opens adapter, model and data, without communication. */
static yk_status open_data(struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    YK_TRY(yk_train_weights_read_adapter_config(training));
    YK_TRY(yk_train_inputs_open(request, training->checkpoint, training->arena, &training->inputs));
    return resolve_batch(training);
}

static yk_status read_slowdown(struct yk_training *training)
{
    const struct yk_train_team *team = &training->team;
    double *factors = NULL;
    YK_TRY(yk_rank_parse_slowdowns(training->request.slow,
                                   yk_train_team_is_single_rank(team) ? 1 : team->ranks.size,
                                   training->arena, &factors));
    training->slow = factors[yk_train_team_rank(team)];
    return YK_OK;
}

static yk_status open_samplers_and_net(struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    const struct yk_plan *plan = training->plan.planned->plan;
    YK_TRY(yk_train_inputs_open_samplers(&training->inputs, request, &training->workload,
                                         plan ? plan->micro_batches : 1));
    if (yk_train_team_rank(&training->team) == 0) {
        note_other_data(training);
    }
    YK_TRY(count_steps(training));
    return open_net(training);
}

yk_status yk_training_open(struct yk_training *training, const struct yk_launcher *launcher)
{
    const struct yk_train_request *request = &training->request;
    const struct yk_train_team *team = &training->team;
    YK_TRY(yk_arena_create(&training->arena));
    const struct yk_train_team_request joining = {request->threads, request->device, request->job};
    YK_TRY(yk_train_team_open(launcher, &joining, training->arena, &training->team));
    YK_TRY(yk_train_team_combine_status(team, read_slowdown(training)));
    YK_TRY(yk_train_team_combine_status(team, yk_train_weights_resolve_path(training)));
    YK_TRY(yk_train_team_combine_status(team, open_folder(training)));
    YK_TRY(yk_train_team_combine_status(team, open_checkpoint(training)));
    YK_TRY(yk_train_team_combine_status(team, open_data(training)));
    YK_TRY(yk_train_plan_find(request, team, training->inputs.config, &training->workload,
                              training->config_path, training->arena, &training->plan));
    return yk_train_team_combine_status(team, open_samplers_and_net(training));
}

static yk_status open_engine(struct yk_training *training)
{
    const struct yk_train_request *request = &training->request;
    struct yk_backend_device_options options =
        yk_train_team_backend_options(&training->team, request->wire);
    options.threads = (int32_t)yk_train_plan_thread_count(&training->plan, request,
                                                          yk_train_team_rank(&training->team));
    options.attention = request->attention;
    options.side_streams = request->qkv && strcmp(request->qkv, "streams") == 0;
    options.graphs = request->graphs && strcmp(request->graphs, "on") == 0;
    return yk_device_open_context(&training->plan.device, &options, &training->context);
}

static yk_status open_store(struct yk_training *training)
{
    const struct yk_program *program = training->plan.planned->evaluation.program;
    struct yk_layer_partition *partitions = NULL;
    int32_t *order = NULL;
    YK_TRY(open_engine(training));
    YK_TRY(yk_rank_partitions_compute_stored(program, yk_train_team_rank(&training->team),
                                             training->arena, &partitions));
    YK_TRY(yk_collectives_compute_gradient_order(program, training->arena, &order));
    YK_TRY(yk_parameter_store_create(
        training->net, &training->context, optimizer_of(&training->request).kind,
        &(struct yk_parameter_store_layout){partitions, order}, &training->store));
    return yk_train_weights_initialize(training);
}

/* Writes config.json, plan.json and run.json. The plan refers to this config.json, even if it was
 * read from another file, so that the run folder is self-contained. */
static yk_status write_first_files(struct yk_training *training, struct yk_output_files *outputs)
{
    struct yk_plan_file_context context = yk_train_plan_file_context(&training->plan);
    struct yk_plan *plan = NULL;
    const char *path = NULL;
    YK_TRY(yk_plan_copy(training->plan.planned->plan, training->arena, &plan));
    plan->model_source = training->config_path;
    YK_TRY(yk_model_config_to_json(training->inputs.config, training->net->workload.precision,
                                   yk_output_files_add_nofollow(outputs, training->config_path)));
    YK_TRY(yk_folder_join_path(training->folder, "plan.json", training->arena, &path));
    context.path = path;
    YK_TRY(yk_plan_file_to_json(plan, &context, yk_output_files_add_nofollow(outputs, path)));
    YK_TRY(yk_folder_join_path(training->folder, "run.json", training->arena, &path));
    yk_text_add(yk_output_files_add_nofollow(outputs, path),
                yk_text_chars(&training->options_json));
    return yk_output_files_write_and_free(outputs);
}

/* When a slice of pairs is divided among ranks, a rank may get one sample more than its part of the
 * tokens. Reserves space for the longest sample. */
static int64_t spare_samples(const struct yk_training *training)
{
    const struct yk_sampler *sampler = training->inputs.samples;
    const struct yk_workload *workload = &training->net->workload;
    const int64_t longest =
        sampler->sequence > sampler->target_sequence ? sampler->sequence : sampler->target_sequence;
    return sampler->max_slice_tokens > 0 && !yk_train_team_is_single_rank(&training->team)
               ? (longest + workload->sequence - 1) / workload->sequence
               : 0;
}

static struct yk_executor_options executor_options(struct yk_training *training)
{
    struct yk_train_team *team = &training->team;
    return (struct yk_executor_options){
        .ranks =
            yk_train_team_is_single_rank(team) ? NULL : yk_train_team_device_communicator(team),
        .reduce_in_fp32 = strcmp(training->request.reduce, "fp32") == 0,
        .slowdown = training->slow,
        .spare_samples = spare_samples(training),
        .op_began = yk_train_team_is_single_rank(team) ? NULL : yk_train_team_watchdog_record_op,
        .watch = yk_train_team_is_single_rank(team) ? NULL : yk_train_team_watchdog_set_executor,
        .user = team,
    };
}

static void fill_run(struct yk_training *training, const char *base)
{
    const struct yk_train_request *request = &training->request;
    const struct yk_train_inputs *inputs = &training->inputs;
    training->run = (struct yk_training_run){
        .program = training->plan.planned->evaluation.program,
        .store = training->store,
        .executor = executor_options(training),
        .samples = inputs->samples,
        .evaluation = inputs->evaluation,
        .options =
            {
                .steps = training->steps,
                .batch = request->batch,
                .lr_schedule = yk_training_make_lr_schedule(request, training->steps),
                .optimizer = optimizer_of(request),
                .clip = request->clip,
                .evaluate_every = request->eval_every,
                .evaluate_samples = request->eval_samples,
                .save_every = request->save_every,
                .keep = (int32_t)request->keep,
                .saves_nothing = request->keep == 0,
            },
        .folder = training->folder,
        .options_json = yk_text_chars(&training->options_json),
        .base_model = base,
        .tokenizer = inputs->tokenizer,
        .images = inputs->kind == YK_DATASET_IMAGES ? &inputs->images : NULL,
        .state = {.seed = (uint64_t)request->seed,
                  .scaler = yk_loss_scaler_init(training->net->workload.precision)},
        .evaluated = {.loss = NAN, .accuracy = NAN, .top5_accuracy = NAN},
    };
    if (training->checkpoint) {
        training->run.state = training->checkpoint->state;
    }
}

/* Only rank 0 writes the run folder. */
static yk_status begin_folder(struct yk_training *training)
{
    struct yk_output_files outputs = {0};
    if (yk_train_team_rank(&training->team) > 0) {
        return YK_OK;
    }
    YK_TRY(yk_folder_create(training->folder));
    YK_TRY(yk_train_folder_lock_acquire(&training->lock, training->folder, training->arena));
    YK_TRY(yk_train_folder_check_no_symlinks(training->folder, training->arena));
    if (!training->checkpoint) {
        YK_TRY(check_no_run(training));
    }
    const yk_status status = write_first_files(training, &outputs);
    yk_output_files_free(&outputs);
    return status;
}

yk_status yk_training_prepare_first_step(struct yk_training *training)
{
    const struct yk_train_team *team = &training->team;
    const char *base = NULL;
    YK_TRY(yk_train_team_combine_status(team, open_store(training)));
    YK_TRY(yk_train_team_combine_status(team, yk_train_weights_frozen_base_path(training, &base)));
    YK_TRY(yk_option_write_values_as_json(&yk_train_option_table, &training->request,
                                          &training->options_json));
    YK_TRY(yk_train_team_combine_status(team, begin_folder(training)));
    fill_run(training, base);
    return YK_OK;
}

const struct yk_planner_outcome *yk_training_current_plan(const struct yk_training *training)
{
    return training->rebalancer ? yk_train_rebalancer_current_plan(training->rebalancer)
                                : training->plan.planned;
}

double yk_training_planned_peak_bytes(const struct yk_training *training, int32_t rank)
{
    return training->rebalancer ? yk_train_rebalancer_planned_peak_bytes(training->rebalancer, rank)
                                : training->plan.planned->evaluation.peaks[rank].bytes;
}

void yk_training_close(struct yk_training *training)
{
    yk_counter_recorder_close(training->counter_recorder);
    yk_trace_destroy(training->run.trace);
    yk_text_free(&training->options_json);
    yk_parameter_store_destroy(training->store);
    yk_net_destroy(training->net);
    yk_device_close_context(&training->context);
    yk_train_plan_close(&training->plan);
    yk_train_inputs_close(&training->inputs);
    yk_checkpoint_close(training->checkpoint);
    yk_op_timeline_log_destroy(training->run.log);
    yk_train_folder_lock_release(&training->lock);
    yk_train_team_close(&training->team);
    yk_arena_destroy(training->arena);
}
