#include "support/training/sharded_checkpoint.h"

#include "base/random.h"
#include "support/exchanges/thread_comm.h"
#include "support/support.h"
#include "train/rank_partitions.h"

#include <stdio.h>
#include <string.h>

_Thread_local int32_t sharded_rank;

enum {
    LONGEST = 1024, /* sentence */
    MAX_BLOCKS = 4,
    MAX_PART = 3,
};

/* ---- who keeps what ---- */

static void draw_group(struct yk_random *random, int32_t first, int32_t count,
                       struct yk_plan_group *out)
{
    double sum = 0;
    out->member_count = count;
    for (int32_t m = 0; m < count; m++) {
        out->members[m].rank = first + (m + 1) % count; /* not in the order of the ranks */
        out->members[m].shard_fraction = m == 0 ? 1 : (double)yk_random_below(random, MAX_PART + 1);
        sum += out->members[m].shard_fraction;
    }
    for (int32_t m = 0; m < count; m++) {
        out->members[m].shard_fraction /= sum;
    }
}

struct yk_program *sharded_program(const struct yk_net *net, int32_t ranks, uint64_t seed,
                                   struct yk_arena *arena)
{
    struct yk_random random = yk_random_from_seed(seed);
    const int32_t groups = 1 + (int32_t)yk_random_below(&random, ranks < 3 ? ranks : 3);
    const int32_t L = net->layer_count;
    struct yk_plan *plan = NULL;
    struct yk_program *program = yk_arena_allocate(arena, 1, sizeof *program);
    assert_non_null(program);
    assert_ok(yk_plan_create(arena, ranks, groups, L, &plan));
    for (int32_t g = 0; g < groups; g++) {
        const int32_t first = g * ranks / groups;
        draw_group(&random, first, (g + 1) * ranks / groups - first, &plan->groups[g]);
    }
    program->layers = yk_arena_allocate(arena, (size_t)L, sizeof *program->layers);
    assert_non_null(program->layers);
    for (int32_t l = 0; l < L; l++) {
        const struct yk_net_layer *layer = &net->layers[l];
        plan->layers[l].group =
            layer->weights_owner == l ? l * groups / L : plan->layers[layer->weights_owner].group;
        plan->layers[l].strategy =
            (enum yk_sharding_strategy)yk_random_below(&random, YK_SHARDING_STRATEGY_COUNT);
        program->layers[l] = (struct yk_program_layer_messages){
            .weights_owner = layer->weights_owner,
            .block_count = 1 + (int32_t)yk_random_below(&random, MAX_BLOCKS),
            .weight_bytes = (double)layer->weight_bytes,
        };
    }
    program->plan = plan;
    program->rank_count = ranks;
    return program;
}

/* ---- numbers of one rank against those of a store that has all ---- */

/* Either copies from `whole` into what is kept, or tells whether both are the same. */
static bool meet(const void *whole, void *kept, size_t bytes, bool fill)
{
    if (fill) {
        memcpy(kept, whole, bytes);
    }
    return memcmp(whole, kept, bytes) == 0;
}

static bool meet_weights(const struct yk_parameter_store *whole,
                         const struct yk_parameter_store *store, int32_t layer, bool fill)
{
    const struct yk_parameter_store_layer *from = &whole->layers[layer];
    const struct yk_parameter_store_layer *kept = &store->layers[layer];
    const int64_t width = yk_precision_bytes(store->net->workload.precision);
    const char *frozen = from->weights + store->net->layers[layer].trained * width;
    bool same = true;
    if (kept->weights) {
        return meet(from->weights, kept->weights, store->net->layers[layer].weight_bytes, fill);
    }
    for (int32_t i = 0; kept->part && i < kept->span_count; i++) {
        const struct yk_layer_partition_span *span = &kept->spans[i];
        const struct yk_layer_partition_span *bytes = &kept->frozen_spans[i];
        same = meet(from->weights + span->first * width, kept->part + span->at * width,
                    (size_t)(span->count * width), fill) &&
               meet(frozen + bytes->first, kept->part + kept->frozen_at + bytes->at,
                    (size_t)bytes->count, fill) &&
               same;
    }
    return same;
}

static bool meet_state(const float *whole, float *kept,
                       const struct yk_parameter_store_layer *layer, bool fill)
{
    bool same = true;
    for (int32_t i = 0; kept && i < layer->span_count; i++) {
        const struct yk_layer_partition_span *span = &layer->spans[i];
        same =
            meet(whole + span->first, kept + span->at, (size_t)span->count * sizeof *kept, fill) &&
            same;
    }
    return same;
}

static yk_status meet_stores(const struct yk_parameter_store *whole,
                             const struct yk_parameter_store *store, bool fill)
{
    for (int32_t l = 0; l < store->net->layer_count; l++) {
        const struct yk_parameter_store_layer *from = &whole->layers[l];
        const struct yk_parameter_store_layer *kept = &store->layers[l];
        if (!meet_weights(whole, store, l, fill)) {
            return yk_fail(YK_ERROR_NUMBERS, "weights of layer %d differ", (int)l);
        }
        if (!meet_state(from->master, kept->master, kept, fill) ||
            !meet_state(from->moment1, kept->moment1, kept, fill) ||
            !meet_state(from->moment2, kept->moment2, kept, fill)) {
            return yk_fail(YK_ERROR_NUMBERS, "the state of layer %d differs", (int)l);
        }
    }
    return YK_OK;
}

/* ---- ranks ---- */

struct job {
    const struct sharded_world *world;
    const struct small_store *whole; /* (ranks) with what is to be saved, or an idea of it */
    struct yk_program *program;
    int64_t step;
    int32_t keep;
    bool loads;
    bool forever;
    int64_t found[SHARDED_MAX_RANKS]; /* steps */
    yk_status status[SHARDED_MAX_RANKS];
    char sentence[SHARDED_MAX_RANKS][LONGEST];
};

static yk_status save(const struct job *job, const struct yk_communicator *ranks,
                      const struct yk_parameter_store *store,
                      const struct yk_layer_partition *saves, int64_t step)
{
    struct yk_text path = {0};
    const struct yk_checkpoint_content content = {
        .store = store,
        .state = {.step = step, .updates = step, .samples = 8 * step, .seed = (uint64_t)step},
        .options_json = "{}",
        .base_model = job->world->base_model,
        .ranks = ranks,
        .saves = saves,
    };
    const yk_status status = yk_checkpoint_save(job->world->folder, &content, job->keep, &path);
    yk_text_free(&path);
    return status;
}

static yk_status save_all(const struct job *job, const struct yk_communicator *ranks, int32_t rank,
                          const struct yk_parameter_store *store,
                          const struct yk_layer_partition *saves)
{
    for (int64_t step = job->step;; step++) {
        small_store_fill(&job->whole[rank], (uint64_t)step);
        YK_TRY(meet_stores(job->whole[rank].store, store, true));
        YK_TRY(save(job, ranks, store, saves, step));
        if (!job->forever) {
            return YK_OK;
        }
    }
}

static yk_status load(struct job *job, const struct yk_communicator *ranks, int32_t rank,
                      struct yk_parameter_store *store)
{
    struct yk_checkpoint *checkpoint = NULL;
    YK_TRY(yk_checkpoint_open_on_all_ranks(job->world->folder, ranks, &checkpoint));
    const int64_t step = checkpoint->state.step;
    yk_status status = yk_checkpoint_load(checkpoint, NULL, store);
    if (status == YK_OK && checkpoint->state.samples != 8 * step) {
        status = yk_fail(YK_ERROR_NUMBERS, "the state is not that of the step");
    }
    if (status == YK_OK) {
        small_store_fill(&job->whole[rank], (uint64_t)step);
        status = meet_stores(job->whole[rank].store, store, false);
    }
    job->found[rank] = step;
    yk_checkpoint_close(checkpoint);
    return status;
}

static yk_status do_job(struct job *job, const struct yk_communicator *ranks, int32_t rank)
{
    const struct small_store *whole = &job->whole[rank];
    struct yk_layer_partition *partitions = NULL;
    struct yk_layer_partition *saves = NULL;
    struct yk_parameter_store *store = NULL;
    YK_TRY(yk_rank_partitions_compute_stored(job->program, rank, whole->arena, &partitions));
    YK_TRY(yk_rank_partitions_compute_saved(job->program, rank, whole->arena, &saves));
    YK_TRY(yk_parameter_store_create(
        whole->net, &whole->store->context, job->world->request->optimizer,
        &(struct yk_parameter_store_layout){.partitions = partitions}, &store));
    const yk_status status =
        job->loads ? load(job, ranks, rank, store) : save_all(job, ranks, rank, store, saves);
    yk_parameter_store_destroy(store);
    return status;
}

static yk_status join(const struct yk_backend *backend, struct yk_backend_device *device,
                      struct job *job, int32_t rank)
{
    struct yk_backend_lane *lane = NULL;
    struct yk_communicator ranks = {0};
    YK_TRY(backend->lane_create(device, "comm", &lane));
    const struct yk_comm_options options = {.backend = backend, .device = device, .lane = lane};
    yk_status status = yk_communicator_open(&yk_comm_threads, &options, &ranks);
    if (status == YK_OK) {
        job->status[rank] = do_job(job, &ranks, rank);
        snprintf(job->sentence[rank], LONGEST, "%s", yk_status_message());
    }
    yk_communicator_close(&ranks);
    backend->lane_destroy(lane);
    return status;
}

static yk_status run_rank(int32_t rank, int32_t ranks, void *user)
{
    const struct yk_backend *backend = &yk_backend_cpu;
    const struct yk_backend_device_options options = {.threads = 1};
    struct yk_backend_device *device = NULL;
    (void)ranks;
    sharded_rank = rank;
    YK_TRY(backend->open(&options, &device));
    const yk_status status = join(backend, device, user, rank);
    backend->close(device);
    return status;
}

/* All ranks say the same. */
static yk_status run(struct job *job)
{
    const int32_t ranks = job->world->ranks;
    struct small_store wholes[SHARDED_MAX_RANKS] = {0};
    if (ranks < 1 || ranks > SHARDED_MAX_RANKS) {
        return yk_fail(YK_ERROR_USAGE, "there are no worlds of %d ranks", (int)ranks);
    }
    for (int32_t r = 0; r < ranks; r++) {
        wholes[r] = small_store_open(job->world->request);
    }
    job->whole = wholes;
    job->program = sharded_program(wholes[0].net, ranks, job->world->seed, wholes[0].arena);
    if (ranks == 1) {
        job->status[0] = do_job(job, NULL, 0);
        snprintf(job->sentence[0], LONGEST, "%s", yk_status_message());
    } else {
        assert_ok(yk_thread_world_run(ranks, run_rank, job));
    }
    for (int32_t r = 0; r < ranks; r++) {
        small_store_close(&wholes[r]);
        assert_int_equal(job->status[r], job->status[0]);
        assert_int_equal(job->found[r], job->found[0]);
        if (job->status[0] != YK_OK) {
            assert_string_equal(job->sentence[r], job->sentence[0]);
        }
    }
    return job->status[0] == YK_OK ? YK_OK : yk_fail(job->status[0], "%s", job->sentence[0]);
}

yk_status sharded_save(const struct sharded_world *world, int64_t step, int32_t keep)
{
    return run(&(struct job){.world = world, .step = step, .keep = keep});
}

yk_status sharded_save_forever(const struct sharded_world *world, int64_t step, int32_t keep)
{
    return run(&(struct job){.world = world, .step = step, .keep = keep, .forever = true});
}

yk_status sharded_load(const struct sharded_world *world, int64_t *out)
{
    struct job job = {.world = world, .loads = true};
    YK_TRY(run(&job));
    *out = job.found[0];
    return YK_OK;
}
