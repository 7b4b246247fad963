#include "support/training/thread_ranks.h"

#include "backend/backend.h"
#include "base/random.h"
#include "comm/host_collective.h"
#include "program/memory/memory.h"
#include "program/program_facts.h"
#include "support/exchanges/thread_comm.h"
#include "train/batch_prefetcher.h"
#include "train/executor/collectives.h"
#include "train/executor/executor.h"
#include "train/rank_partitions.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEWEST_TOKENS = 2,
    VOCABULARY = 40,
    FEW_CLASSES = 3, /* that every model of images knows */
};

/* ---- samples that are made up ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    struct yk_random random = yk_random_from_seed(a * 0x9e3779b97f4a7c15ULL + b);
    return (uint64_t)yk_random_below(&random, INT32_MAX);
}

static void make_up(uint64_t seed, int64_t count, int32_t *tokens, int32_t *targets)
{
    for (int64_t i = 0; i < count; i++) {
        const uint64_t drawn = mix(seed, (uint64_t)i);
        if (tokens) {
            tokens[i] = (int32_t)(drawn % VOCABULARY);
        }
        if (targets) {
            targets[i] = drawn % 5 == 0 ? -1 : (int32_t)(drawn / 64 % VOCABULARY);
        }
    }
}

static void destroy(struct yk_sampler *sampler)
{
    free(sampler);
}

static yk_status fetch_sample(const struct yk_sampler *sampler, int64_t number, int32_t *tokens,
                              int32_t *targets, int64_t *there)
{
    make_up((uint64_t)number, sampler->sequence, tokens, targets);
    targets[0] = 1;
    *there = sampler->sequence;
    return YK_OK;
}

/* Pieces of as many tokens as planned or fewer: longer and shorter sentences take turns. */
static yk_status fetch_slice(const struct yk_sampler *sampler, int64_t number,
                             struct yk_sample_slice *out)
{
    const int64_t longest = sampler->sequence;
    const int64_t length =
        FEWEST_TOKENS + (int64_t)(mix(7, (uint64_t)number) % (uint64_t)(longest - 1));
    const int64_t other =
        FEWEST_TOKENS + (int64_t)(mix(8, (uint64_t)number) % (uint64_t)(longest - 1));
    const int64_t widest = length > other ? length : other;
    out->samples = sampler->max_slice_tokens / widest;
    out->sequence = length;
    out->target_sequence = other;
    out->first_sample = number * sampler->max_slice_tokens;
    make_up((uint64_t)number * 3 + 1, out->samples * length, out->tokens, NULL);
    make_up((uint64_t)number * 3 + 2, out->samples * other, out->target_tokens, out->targets);
    out->targets[0] = 1;
    for (int64_t i = 0; i < out->samples; i++) {
        out->lengths[i] = (int32_t)(1 + mix((uint64_t)number, (uint64_t)i) % (uint64_t)length);
    }
    out->token_count = out->samples * length;
    return YK_OK;
}

/* Images of noise, of which some have no class. */
static yk_status fetch_images(const struct yk_sampler *sampler, int64_t first, int64_t count,
                              uint8_t *pixels, int32_t *labels)
{
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = 0; pixels && k < sampler->pixel_bytes; k++) {
            pixels[i * sampler->pixel_bytes + k] = (uint8_t)mix((uint64_t)(first + i), (uint64_t)k);
        }
        const uint64_t drawn = mix((uint64_t)(first + i), 1U << 20);
        labels[i] =
            drawn % 5 == 0 && (first + i) % 3 > 0 ? -1 : (int32_t)(drawn / 64 % FEW_CLASSES);
    }
    return YK_OK;
}

static const struct yk_sampler_callbacks image_kind = {.destroy = destroy,
                                                       .fetch_images = fetch_images};
static const struct yk_sampler_callbacks sample_kind = {.destroy = destroy,
                                                        .fetch_sample = fetch_sample};
static const struct yk_sampler_callbacks slice_kind = {.destroy = destroy,
                                                       .fetch_slice = fetch_slice};

int64_t rank_run_rows(const struct yk_program *program)
{
    const struct yk_plan *plan = program->plan;
    int64_t fewest = INT64_MAX;
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        int64_t all = 0;
        for (int32_t i = 0; i < plan->groups[0].member_count; i++) {
            int64_t first = 0;
            all += yk_plan_member_sample_range(plan, 0, i, m, &first);
        }
        fewest = all < fewest ? all : fewest;
    }
    return fewest * plan->workload.sequence;
}

static yk_status make_sampler(const struct rank_run_request *request, struct yk_sampler **out)
{
    const struct yk_program *program = request->program;
    const struct yk_plan *plan = program->plan;
    const struct yk_model *model = yk_model_cache_get_whole_batch(program->cache);
    struct yk_sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler) {
        return yk_fail_out_of_memory();
    }
    const bool slices = model->config->encoder_layers > 0;
    const bool images = yk_model_config_reads_images(model->config);
    *sampler = (struct yk_sampler){
        .kind = slices   ? &slice_kind
                : images ? &image_kind
                         : &sample_kind,
        .epoch_units = 1000,
        .sequence = images ? 1 : plan->workload.sequence,
        .pixel_bytes = yk_model_config_image_bytes(model->config),
        .target_sequence = slices ? plan->workload.sequence : 0,
        .max_slice_tokens = slices ? request->slice_rows : 0,
    };
    *out = sampler;
    return YK_OK;
}

/* ---- one rank ---- */

struct crew {
    const struct rank_run_request *request;
    struct rank_run_result *result;
    struct yk_net *net;
    struct yk_sampler *sampler;
    int64_t *first_of;              /* (L) of each layer's numbers in the result */
    struct rank_run_memory *memory; /* (ranks) */
};

struct rank {
    struct crew *crew;
    struct yk_backend backend; /* the CPU's, or one that is like a GPU */
    struct yk_device_context context;
    struct yk_backend_lane *comm_lane;
    struct yk_backend_lane *staged_lane;
    struct yk_communicator ranks;
    struct yk_communicator staged;
    struct yk_arena *arena;
    struct yk_parameter_store *store;
    struct yk_executor *executor;
    struct yk_batch_prefetcher *prefetcher;
};

static yk_status open_store(struct rank *rank)
{
    const struct yk_program *program = rank->crew->request->program;
    struct yk_layer_partition *partitions = NULL;
    int32_t *order = NULL;
    YK_TRY(yk_rank_partitions_compute_stored(program, rank->ranks.rank, rank->arena, &partitions));
    YK_TRY(yk_collectives_compute_gradient_order(program, rank->arena, &order));
    YK_TRY(yk_parameter_store_create(
        rank->crew->net, &rank->context, rank->crew->request->optimizer.kind,
        &(struct yk_parameter_store_layout){partitions, order}, &rank->store));
    return yk_parameter_store_init_parameters(rank->store, 5, YK_PARAMETER_STORE_INIT_ALL);
}

/* Samples that a pass may have besides those of the plan, where pieces are cut in proportion. */
static int64_t spare_samples(const struct crew *crew)
{
    return crew->sampler->max_slice_tokens > 0 ? 1 : 0;
}

static size_t use_none(struct yk_backend_device *device)
{
    (void)device;
    return 0;
}

static bool hold_all(const struct yk_backend_device *device, const void *memory)
{
    (void)device;
    return memory != NULL;
}

/* The ranks that the executor exchanges with; none where it is alone. */
static yk_status open_work(struct rank *rank, const struct yk_communicator **out)
{
    *out = rank->ranks.size > 1 ? &rank->ranks : NULL;
    if (!*out || !rank->crew->request->apart) {
        return YK_OK;
    }
    YK_TRY(yk_backend_cpu.lane_create(rank->context.device, "staged", &rank->staged_lane));
    YK_TRY(yk_communicator_open(&yk_comm_host_staging,
                                &(struct yk_comm_options){.backend = &rank->backend,
                                                          .device = rank->context.device,
                                                          .lane = rank->staged_lane,
                                                          .host_communicator = &rank->ranks},
                                &rank->staged));
    *out = &rank->staged;
    return YK_OK;
}

static yk_status open_rank(struct rank *rank)
{
    const struct rank_run_request *request = rank->crew->request;
    const struct yk_plan *plan = request->program->plan;
    const struct yk_backend_device_options options = {.threads = 1};
    struct yk_micro_batch_share *cuts = NULL;
    const struct yk_communicator *work = NULL;
    rank->backend = yk_backend_cpu;
    if (request->apart) {
        rank->backend.used_bytes = use_none;
        rank->backend.contains = hold_all;
    }
    rank->context.backend = &rank->backend;
    YK_TRY(yk_arena_create(&rank->arena));
    YK_TRY(yk_backend_cpu.open(&options, &rank->context.device));
    YK_TRY(yk_backend_cpu.lane_create(rank->context.device, "load", &rank->context.lane));
    YK_TRY(yk_backend_cpu.lane_create(rank->context.device, "comm", &rank->comm_lane));
    YK_TRY(yk_communicator_open(&yk_comm_threads,
                                &(struct yk_comm_options){.backend = &yk_backend_cpu,
                                                          .device = rank->context.device,
                                                          .lane = rank->comm_lane},
                                &rank->ranks));
    YK_TRY(open_store(rank));
    YK_TRY(open_work(rank, &work));
    YK_TRY(yk_executor_create(
        request->program, rank->store, &request->optimizer,
        &(struct yk_executor_options){.ranks = work,
                                      .reduce_in_fp32 = request->wide,
                                      .spare_samples = spare_samples(rank->crew)},
        &rank->executor));
    YK_TRY_NEW(rank->arena, cuts, plan->micro_batches);
    yk_batch_prefetcher_compute_shares(plan, rank->ranks.rank, cuts);
    return yk_batch_prefetcher_create(rank->crew->sampler, &rank->context, plan->micro_batches,
                                      cuts, &rank->prefetcher);
}

static void close_rank(struct rank *rank)
{
    yk_batch_prefetcher_destroy(rank->prefetcher);
    yk_executor_destroy(rank->executor);
    yk_parameter_store_destroy(rank->store);
    yk_communicator_close(&rank->staged);
    yk_communicator_close(&rank->ranks);
    yk_backend_cpu.lane_destroy(rank->staged_lane);
    yk_backend_cpu.lane_destroy(rank->comm_lane);
    yk_backend_cpu.lane_destroy(rank->context.lane);
    yk_backend_cpu.close(rank->context.device);
    yk_arena_destroy(rank->arena);
}

static yk_status end_step(struct rank *rank, int64_t number)
{
    struct yk_step_result result = {0};
    YK_TRY(yk_executor_end_step(rank->executor, &result));
    if (rank->ranks.rank == 0) {
        rank->crew->result->losses[number] = result.loss;
        rank->crew->result->norms[number] = result.norm;
    }
    return YK_OK;
}

static yk_status evaluate(struct rank *rank)
{
    const struct yk_rank_batch *batch = NULL;
    struct yk_loss_sums sums = {0};
    YK_TRY(yk_batch_prefetcher_read_batch(rank->prefetcher, 500, INT64_MAX, &batch));
    YK_TRY(yk_executor_evaluate_batch_step(rank->executor, batch, &sums));
    if (rank->ranks.rank == 0) {
        rank->crew->result->evaluated = sums.loss;
    }
    return YK_OK;
}

static yk_status train(struct rank *rank)
{
    const struct rank_run_request *request = rank->crew->request;
    struct yk_random breaks = yk_random_from_seed(request->seed);
    const struct yk_rank_batch *now = NULL;
    int64_t next_unit = 0;
    int64_t ended = 0;
    YK_TRY(yk_batch_prefetcher_read_batch(rank->prefetcher, next_unit, INT64_MAX, &now));
    next_unit += now->units;
    for (int64_t s = 0; s < request->steps; s++) {
        const struct yk_rank_batch *next = NULL;
        bool skipped = false;
        YK_TRY(yk_batch_prefetcher_read_batch(rank->prefetcher, next_unit, INT64_MAX, &next));
        next_unit += next->units;
        const struct yk_step_options step = {
            .batch = now,
            .lr = request->rate,
            .updates = s,
            .loss_scale = 1,
            .clip = request->program->plan->clip ? request->clip : 0,
        };
        YK_TRY(yk_executor_begin_step(rank->executor, &step, next));
        YK_TRY(yk_executor_get_last_step_skipped(rank->executor, &skipped));
        now = next;
        if (s + 1 == request->steps || yk_random_below(&breaks, 4) == 0) {
            YK_TRY(yk_executor_finish_steps(rank->executor));
            while (ended <= s) {
                YK_TRY(end_step(rank, ended++));
            }
            YK_TRY(evaluate(rank));
        } else if (s + 1 - ended == yk_executor_max_steps_in_flight(rank->executor)) {
            YK_TRY(end_step(rank, ended++));
        }
    }
    return YK_OK;
}

/* This rank's numbers into the common result: of a layer that several keep whole, each its slice,
 * so that every rank's are looked at. */
static yk_status hand_in(struct rank *rank)
{
    const struct yk_plan *plan = rank->crew->request->program->plan;
    const struct yk_net *net = rank->crew->net;
    for (int32_t l = 0; l < net->layer_count; l++) {
        const struct yk_parameter_store_layer *kept = &rank->store->layers[l];
        const struct yk_plan_group *group = &plan->groups[plan->layers[l].group];
        const int32_t member =
            yk_program_facts_group_member_index(plan, plan->layers[l].group, rank->ranks.rank);
        for (int32_t i = 0; i < kept->span_count && net->layers[l].trained > 0; i++) {
            struct yk_layer_partition_span span = kept->spans[i];
            if (kept->partition.kind == YK_LAYER_PARTITION_WHOLE) {
                span.first = yk_layer_partition_block_start(net->layers[l].trained,
                                                            group->member_count, member);
                span.count = yk_layer_partition_block_start(net->layers[l].trained,
                                                            group->member_count, member + 1) -
                             span.first;
                span.at = span.first;
            }
            const char *from = kept->master ? (const char *)(kept->master + span.at)
                               : kept->part ? kept->part + span.at * (int64_t)sizeof(float)
                                            : kept->weights + span.first * (int64_t)sizeof(float);
            for (int64_t n = 0; n < span.count; n++) {
                float number = 0;
                memcpy(&number, from + n * (int64_t)sizeof number, sizeof number);
                rank->crew->result->weights[rank->crew->first_of[l] + span.first + n] = number;
            }
        }
    }
    return YK_OK;
}

static void note_memory(struct rank *rank)
{
    rank->crew->memory[rank->ranks.rank].allocated =
        (double)(yk_executor_device_memory_bytes(rank->executor) + rank->store->bytes);
}

static yk_status run_rank(int32_t number, int32_t ranks, void *user)
{
    struct rank rank = {.crew = user};
    (void)number;
    (void)ranks;
    yk_status status = open_rank(&rank);
    if (status == YK_OK) {
        status = train(&rank);
    }
    if (status == YK_OK) {
        status = hand_in(&rank);
    }
    if (status == YK_OK) {
        note_memory(&rank);
    }
    close_rank(&rank);
    return status;
}

/* ---- all of them ---- */

/* The softmax does not see what is added to all scores of a query: key biases have no gradient. */
static void note_idle(const struct yk_net *net, int32_t layer, bool *idle)
{
    for (int32_t i = 0; i < net->layers[layer].parameter_count; i++) {
        const struct yk_parameter *parameter = &net->layers[layer].parameters[i];
        const char *name = parameter->name;
        const size_t length = strlen(name);
        const bool bias = length > 5 && strcmp(name + length - 5, ".bias") == 0;
        int64_t first = parameter->first;
        int64_t count = parameter->count;
        if (!parameter->trained || !bias) {
            continue;
        }
        if (strstr(name, "c_attn")) {
            first += count / 3;
            count /= 3;
        } else if (!strstr(name, "k_proj") && !strstr(name, ".key.")) {
            continue;
        }
        memset(idle + first, 1, (size_t)count * sizeof *idle);
    }
}

/* Plans do not count those: as many more bytes for as many more samples. */
static void add_spare(const struct crew *crew, struct yk_program_memory *memory)
{
    for (int32_t i = 0; i < memory->lifetime_count; i++) {
        struct yk_buffer_lifetime *lifetime = &memory->lifetimes[i];
        if (lifetime->samples > 0) {
            lifetime->bytes *=
                (double)(lifetime->samples + spare_samples(crew)) / (double)lifetime->samples;
        }
    }
}

/* Before ranks are threads: a model's sizes are for one at a time. */
static yk_status count_memory(struct crew *crew)
{
    const struct yk_program *program = crew->request->program;
    struct yk_arena *arena = NULL;
    yk_status status = YK_OK;
    YK_TRY(yk_arena_create(&arena));
    for (int32_t r = 0; r < program->rank_count && status == YK_OK; r++) {
        struct yk_program_memory *memory = NULL;
        struct yk_memory_peak peak = {0};
        status = yk_program_memory_count_for_rank(program, r, arena, &memory);
        if (status == YK_OK) {
            add_spare(crew, memory);
            status = yk_program_memory_find_peak(program, r, memory, &peak);
        }
        if (status == YK_OK) {
            crew->memory[r].counted = peak.bytes - memory->permanent_bytes[YK_MEMORY_CONTEXT];
        }
    }
    yk_arena_destroy(arena);
    return status;
}

static yk_status set_up(struct crew *crew)
{
    const struct yk_program *program = crew->request->program;
    struct rank_run_result *result = crew->result;
    YK_TRY(yk_net_create(yk_model_cache_get_whole_batch(program->cache),
                         &(struct yk_net_options){.seed = 3}, &crew->net));
    YK_TRY(make_sampler(crew->request, &crew->sampler));
    crew->first_of = calloc((size_t)crew->net->layer_count, sizeof *crew->first_of);
    crew->memory = calloc((size_t)program->rank_count, sizeof *crew->memory);
    for (int32_t l = 0; crew->first_of && l < crew->net->layer_count; l++) {
        crew->first_of[l] = result->count;
        result->count += crew->net->layers[l].trained;
    }
    result->weights = calloc((size_t)result->count + 1, sizeof *result->weights);
    result->idle = calloc((size_t)result->count + 1, sizeof *result->idle);
    if (!crew->first_of || !crew->memory || !result->weights || !result->idle) {
        return yk_fail_out_of_memory();
    }
    for (int32_t l = 0; l < crew->net->layer_count; l++) {
        note_idle(crew->net, l, result->idle + crew->first_of[l]);
    }
    return count_memory(crew);
}

yk_status rank_run(const struct rank_run_request *request, struct rank_run_result *out)
{
    struct crew crew = {.request = request, .result = out};
    *out = (struct rank_run_result){0};
    yk_status status = set_up(&crew);
    if (status == YK_OK) {
        status = yk_thread_world_run(request->program->rank_count, run_rank, &crew);
    }
    for (int32_t r = 0; status == YK_OK && r < request->program->rank_count; r++) {
        const struct rank_run_memory *memory = &crew.memory[r];
        const double over = memory->allocated - memory->counted;
        out->memory =
            r == 0 || over > out->memory.allocated - out->memory.counted ? *memory : out->memory;
    }
    yk_sampler_destroy(crew.sampler);
    yk_net_destroy(crew.net);
    free(crew.first_of);
    free(crew.memory);
    return status;
}

yk_status rank_run_alone(const struct yk_program *program, struct yk_arena *arena,
                         struct yk_program **out)
{
    const struct yk_plan *of = program->plan;
    const bool slices = yk_model_cache_get_whole_batch(program->cache)->config->encoder_layers > 0;
    struct yk_plan *plan = NULL;
    YK_TRY(yk_plan_create(arena, 1, 1, of->layer_count, &plan));
    plan->model_source = of->model_source;
    plan->cluster_source = of->cluster_source;
    plan->workload = of->workload;
    plan->ranks[0].limit_bytes = 1e15;
    plan->groups[0].member_count = 1;
    plan->groups[0].members[0] =
        (struct yk_plan_group_member){.share = of->workload.batch, .shard_fraction = 1};
    plan->micro_batches = slices ? of->micro_batches : 1;
    plan->clip = of->clip;
    plan->prefetch = 1;
    plan->block_bytes = 1e9;
    plan->bucket_bytes = 1e9;
    return yk_program_compile(plan, program->cluster, program->cache, out);
}
