#include "support/plans/valid_plan.h"

#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_RANKS = 4,
    MOST_GROUPS = 3,
    MOST_MICRO_BATCHES = 4,
    MOST_BLOCKS = 5, /* of a layer in an order of transfers */
};

static const char *const configs[] = {
    "{\"model_type\":\"gpt2\",\"n_embd\":16,\"n_head\":2,\"n_layer\":2,\"n_positions\":32,"
    "\"vocab_size\":40}",
    "{\"model_type\":\"gpt2\",\"n_embd\":16,\"n_head\":2,\"n_layer\":4,\"n_positions\":32,"
    "\"vocab_size\":40,\"tie_word_embeddings\":false}",
    "{\"model_type\":\"llama\",\"hidden_size\":16,\"intermediate_size\":24,"
    "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"num_hidden_layers\":3,"
    "\"max_position_embeddings\":32,\"vocab_size\":40,\"tie_word_embeddings\":false}",
    "{\"model_type\":\"llama\",\"hidden_size\":16,\"intermediate_size\":24,"
    "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"num_hidden_layers\":2,"
    "\"max_position_embeddings\":32,\"vocab_size\":40,\"tie_word_embeddings\":true}",
    "{\"architectures\":[\"BertForMaskedLM\"],\"model_type\":\"bert\",\"hidden_size\":16,"
    "\"intermediate_size\":24,\"max_position_embeddings\":32,\"num_attention_heads\":2,"
    "\"num_hidden_layers\":2,\"type_vocab_size\":2,\"vocab_size\":40}",
    "{\"architectures\":[\"BertModel\"],\"model_type\":\"bert\",\"hidden_size\":16,"
    "\"intermediate_size\":24,\"max_position_embeddings\":32,\"num_attention_heads\":2,"
    "\"num_hidden_layers\":2,\"type_vocab_size\":2,\"vocab_size\":40}",
    "{\"architectures\":[\"MarianMTModel\"],\"model_type\":\"marian\",\"d_model\":16,"
    "\"decoder_attention_heads\":2,\"decoder_ffn_dim\":24,\"decoder_layers\":2,"
    "\"encoder_attention_heads\":2,\"encoder_ffn_dim\":24,\"encoder_layers\":2,"
    "\"max_position_embeddings\":32,\"share_encoder_decoder_embeddings\":true,"
    "\"tie_word_embeddings\":true,\"vocab_size\":40}",
    "{\"architectures\":[\"MarianMTModel\"],\"model_type\":\"marian\",\"d_model\":16,"
    "\"decoder_attention_heads\":2,\"decoder_ffn_dim\":24,\"decoder_layers\":2,"
    "\"encoder_attention_heads\":2,\"encoder_ffn_dim\":24,\"encoder_layers\":2,"
    "\"max_position_embeddings\":32,\"share_encoder_decoder_embeddings\":false,"
    "\"tie_word_embeddings\":true,\"vocab_size\":40}",
};

static bool chance(struct yk_random *random, int64_t of)
{
    return yk_random_below(random, of) == 0;
}

/* From `least` to `most`. */
static int32_t pick(struct yk_random *random, int32_t lowest, int32_t most)
{
    return lowest + (int32_t)yk_random_below(random, most - lowest + 1);
}

/* `given`: the config.json of the model, or NULL. */
static void pick_sizes(struct yk_random *random, int64_t batch, const char *given,
                       struct sound_plan *sound)
{
    const char *drawn = configs[yk_random_below(random, sizeof configs / sizeof configs[0])];
    const char *text = given ? given : drawn;
    const struct yk_model_config *config = NULL;
    struct yk_workload workload = {
        .batch = batch,
        .sequence = 8,
        .precision = (enum yk_precision)pick(random, 0, YK_PRECISION_COUNT - 1),
        .lora_rank = chance(random, 3) ? 2 : 0,
    };
    workload.nf4 = workload.lora_rank > 0 && chance(random, 2);
    assert_ok(yk_model_config_parse(text, strlen(text), "small.json", sound->arena, &config));
    if (yk_model_config_reads_images(config)) {
        workload.sequence = config->positions;
    }
    assert_ok(yk_model_cache_create(config, &workload, &sound->cache));
}

/* Parts may be 0; those of a group add up to 1. */
static void pick_parts(struct yk_random *random, struct yk_plan_group *group)
{
    const bool equal = chance(random, 2);
    double sum = 0;
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i].shard_fraction = equal || i == 0 ? 1 : (double)pick(random, 0, 3);
        sum += group->members[i].shard_fraction;
    }
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i].shard_fraction /= sum;
    }
}

static void pick_group(struct yk_random *random, struct yk_plan *plan, struct yk_plan_group *group)
{
    int32_t ranks[MOST_RANKS] = {0};
    const int64_t unit = plan->group_count > 1 ? plan->micro_batches : 1;
    for (int32_t i = 0; i < plan->rank_count; i++) {
        ranks[i] = i;
    }
    group->member_count =
        plan->group_count == 1 ? plan->rank_count : pick(random, 1, plan->rank_count);
    for (int32_t i = 0; i < group->member_count; i++) {
        const int32_t other = pick(random, i, plan->rank_count - 1);
        group->members[i].rank = ranks[other];
        ranks[other] = ranks[i];
    }
    pick_parts(random, group);
    for (int64_t given = 0; given < plan->workload.batch; given += unit) {
        group->members[yk_random_below(random, group->member_count)].share += unit;
    }
}

/* With one group, the largest share must do for all micro-batches. */
static void fit_micro_batches(struct yk_plan *plan)
{
    int64_t largest = 0;
    for (int32_t i = 0; i < plan->groups[0].member_count; i++) {
        const int64_t share = plan->groups[0].members[i].share;
        largest = share > largest ? share : largest;
    }
    if (plan->group_count == 1 && plan->micro_batches > largest) {
        plan->micro_batches = (int32_t)largest;
    }
}

/* The samples of each turn, at least one: all groups take as many. */
static void pick_micro_batches(struct yk_random *random, const struct yk_plan *plan,
                               int64_t *samples)
{
    int64_t left = plan->workload.batch;
    for (int32_t m = 0; m < plan->micro_batches; m++) {
        samples[m] = 1;
        left--;
    }
    for (; left > 0; left--) {
        samples[yk_random_below(random, plan->micro_batches)]++;
    }
}

/* The members of a group take turns, and those of a turn share its samples; a group with too few of
 * them becomes one of one member. */
static void share_alternating(struct yk_random *random, struct yk_plan *plan,
                              const int64_t *samples, struct yk_plan_group *group)
{
    const int32_t M = plan->micro_batches;
    if (group->member_count < M) {
        group->member_count = 1;
        group->members[0].share = plan->workload.batch;
        group->members[0].shard_fraction = 1;
        return;
    }
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i].micro_batch_number = i < M ? i + 1 : pick(random, 1, M);
        group->members[i].share = 0;
    }
    for (int32_t m = 0; m < M; m++) {
        for (int64_t given = 0; given < samples[m];) {
            struct yk_plan_group_member *member =
                &group->members[pick(random, 0, group->member_count - 1)];
            if (member->micro_batch_number == m + 1) {
                member->share++;
                given++;
            }
        }
    }
}

/* Now and then, where there are micro-batches. */
static void maybe_alternate(struct yk_random *random, struct yk_plan *plan)
{
    int64_t samples[MOST_MICRO_BATCHES] = {0};
    if (plan->micro_batches < 2 || !chance(random, 3)) {
        return;
    }
    pick_micro_batches(random, plan, samples);
    for (int32_t g = 0; g < plan->group_count; g++) {
        share_alternating(random, plan, samples, &plan->groups[g]);
    }
}

/* Neighbouring layers are often in one group, but any map is a plan. */
static void pick_layers(struct yk_random *random, const struct yk_model *model,
                        struct yk_plan *plan)
{
    const bool stages = chance(random, 2);
    const bool alike = chance(random, 4);
    const enum yk_sharding_strategy all =
        (enum yk_sharding_strategy)pick(random, 0, YK_SHARDING_STRATEGY_COUNT - 1);
    for (int32_t l = 0; l < plan->layer_count; l++) {
        const int32_t shares = model->layers[l].shares_weights_of;
        struct yk_plan_layer *layer = &plan->layers[l];
        layer->recompute = chance(random, 3);
        if (shares != YK_LAYER_NONE) {
            layer->group = plan->layers[shares].group;
            layer->strategy = plan->layers[shares].strategy;
            continue;
        }
        layer->group = stages ? l * plan->group_count / plan->layer_count
                              : pick(random, 0, plan->group_count - 1);
        layer->strategy =
            alike ? all
                  : (enum yk_sharding_strategy)pick(random, 0, YK_SHARDING_STRATEGY_COUNT - 1);
    }
}

static void pick_scalars(struct yk_random *random, struct yk_plan *plan)
{
    plan->pipeline =
        (enum yk_pipeline_schedule_kind)pick(random, 0, YK_PIPELINE_SCHEDULE_COUNT - 1);
    plan->no_sync = chance(random, 2);
    plan->clip = chance(random, 3);
    plan->prefetch = pick(random, 1, 3);
    plan->block_bytes = pick(random, 200, 4000);
    plan->bucket_bytes = chance(random, 3) ? 0 : pick(random, 1, 20000);
}

struct ordering {
    struct yk_random *random;
    const struct yk_model *model;
    struct yk_plan *plan;
    int32_t L;
    int32_t slots;
};

static void add(const struct ordering *ordering, enum yk_transfer_kind kind, int32_t layer,
                int32_t block, int32_t count, int32_t slot)
{
    ordering->plan->transfers[ordering->plan->transfer_count++] =
        (struct yk_plan_transfer){kind, layer, block, count, slot % ordering->slots};
}

/* Slots after a layer's backward, counted on past the end of the round. */
struct window {
    int32_t begin;
    int32_t
        turn; /* scatters and reductions go before it, gathers for the next forward from it on */
    int32_t end;
};

/* All of a layer is scattered before any of it is gathered, since it is updated in between. With a
 * barrier gradients go in this round, and weights from its last gap on. */
static struct window pick_window(const struct ordering *ordering, int32_t layer)
{
    const int32_t last = ordering->slots - 1;
    struct window window = {
        .begin = 2 * ordering->L - layer + 1, .end = ordering->slots + layer, /* the next forward */
    };
    window.turn = yk_plan_has_update_barrier(ordering->plan)
                      ? last
                      : pick(ordering->random, window.begin + 1, window.end - 1);
    return window;
}

static bool is_shared(const struct ordering *ordering, int32_t layer)
{
    for (int32_t l = 0; l < ordering->L; l++) {
        if (ordering->model->layers[l].shares_weights_of == layer) {
            return true;
        }
    }
    return false;
}

static void order_layer(const struct ordering *ordering, int32_t layer)
{
    const struct yk_model_layer_state_bytes state =
        yk_model_layer_state_bytes(ordering->model, &ordering->model->layers[layer]);
    const enum yk_sharding_strategy strategy = ordering->plan->layers[layer].strategy;
    const double travels =
        strategy == YK_SHARDING_SHARDED_STATE ? state.gradient_bytes : state.weight_bytes;
    const int32_t blocks = (int32_t)fmax(1, ceil(travels / ordering->plan->block_bytes));
    const bool trained = state.gradient_bytes > 0;
    const bool gathered =
        strategy == YK_SHARDING_KEPT_AFTER_FORWARD || strategy == YK_SHARDING_FULLY_SHARDED;
    const bool again = strategy == YK_SHARDING_FULLY_SHARDED && !is_shared(ordering, layer) &&
                       ordering->model->layers[layer].backward.count > 0;
    const struct window window = pick_window(ordering, layer);
    if (strategy == YK_SHARDING_REPLICATED) {
        if (trained) {
            add(ordering, YK_TRANSFER_ALL_REDUCE, layer, 0, blocks,
                pick(ordering->random, window.begin, window.turn - 1));
        }
        return;
    }
    for (int32_t block = 0, count = 0; block < blocks; block += count) {
        count = pick(ordering->random, 1, blocks - block);
        if (trained) {
            add(ordering, YK_TRANSFER_REDUCE_SCATTER, layer, block, count,
                pick(ordering->random, window.begin, window.turn - 1));
        }
        if (gathered || trained) {
            add(ordering, YK_TRANSFER_ALL_GATHER, layer, block, count,
                pick(ordering->random, window.turn, window.end - 1));
        }
        if (again) {
            add(ordering, YK_TRANSFER_ALL_GATHER, layer, block, count,
                pick(ordering->random, layer + 1, 2 * ordering->L - layer - 1));
        }
    }
}

/* A layer that shares weights and has others besides cannot be ordered, unless those stay. */
static bool can_order(const struct yk_model *model, const struct yk_plan *plan)
{
    for (int32_t l = 0; l < plan->layer_count; l++) {
        if (model->layers[l].shares_weights_of != YK_LAYER_NONE &&
            model->layers[l].parameters > 0 && plan->layers[l].strategy != YK_SHARDING_REPLICATED) {
            return false;
        }
    }
    return plan->group_count == 1 && plan->micro_batches == 1 && plan->rank_count > 1;
}

static int by_slot(const void *left, const void *right)
{
    const struct yk_plan_transfer *a = left;
    const struct yk_plan_transfer *b = right;
    return (a->slot > b->slot) - (a->slot < b->slot);
}

/* Every layer is a message of its own, cut into few blocks. */
static void pick_transfers(struct yk_random *random, const struct yk_model *model,
                           struct yk_arena *arena, struct yk_plan *plan)
{
    const struct ordering ordering = {random, model, plan, plan->layer_count,
                                      yk_plan_slot_count(plan)};
    double largest = 0;
    for (int32_t l = 0; l < ordering.L; l++) {
        largest = fmax(largest, yk_model_layer_state_bytes(model, &model->layers[l]).weight_bytes);
    }
    plan->bucket_bytes = 0;
    plan->block_bytes = largest / pick(random, 1, MOST_BLOCKS);
    plan->transfers =
        yk_arena_allocate(arena, (size_t)ordering.L * 3 * MOST_BLOCKS, sizeof *plan->transfers);
    assert_non_null(plan->transfers);
    for (int32_t l = 0; l < ordering.L; l++) {
        if (model->layers[l].shares_weights_of == YK_LAYER_NONE &&
            yk_model_layer_state_bytes(model, &model->layers[l]).weight_bytes > 0) {
            order_layer(&ordering, l);
        }
    }
    qsort(plan->transfers, (size_t)plan->transfer_count, sizeof *plan->transfers, by_slot);
}

struct sound_plan sound_plan_make(uint64_t seed)
{
    return sound_plan_make_for(seed, NULL);
}

struct sound_plan sound_plan_make_for(uint64_t seed, const char *config)
{
    struct yk_random random = yk_random_from_seed(seed);
    struct sound_plan sound = {0};
    const int32_t ranks = pick(&random, 1, MOST_RANKS);
    const int32_t groups = chance(&random, 2) ? 1 : pick(&random, 2, MOST_GROUPS);
    const int32_t micro_batches = chance(&random, 2) ? 1 : pick(&random, 2, MOST_MICRO_BATCHES);
    const int64_t batch = (int64_t)micro_batches * pick(&random, 1, 5);
    assert_ok(yk_arena_create(&sound.arena));
    assert_ok(
        yk_cluster_parse_line("1xrtx6000ada + 2xrtx3090 + 1xa100-40gb @ 10GB/s", &sound.cluster));
    pick_sizes(&random, batch, config, &sound);
    const struct yk_model *model = yk_model_cache_get_whole_batch(sound.cache);
    assert_ok(yk_plan_create(sound.arena, ranks, groups, model->layer_count, &sound.plan));
    sound.plan->model_source = "small.json";
    sound.plan->cluster_source = "line";
    sound.plan->workload = model->workload;
    sound.plan->micro_batches = micro_batches;
    pick_scalars(&random, sound.plan);
    for (int32_t r = 0; r < ranks; r++) {
        sound.plan->ranks[r].device = r;
        sound.plan->ranks[r].limit_bytes = sound.cluster->devices[r].memory_bytes;
    }
    for (int32_t g = 0; g < groups; g++) {
        pick_group(&random, sound.plan, &sound.plan->groups[g]);
    }
    fit_micro_batches(sound.plan);
    maybe_alternate(&random, sound.plan);
    pick_layers(&random, model, sound.plan);
    if (can_order(model, sound.plan) && chance(&random, 2)) {
        pick_transfers(&random, model, sound.arena, sound.plan);
    }
    assert_ok(yk_plan_check(sound.plan, model));
    return sound;
}

void sound_plan_free(struct sound_plan *sound)
{
    yk_model_cache_destroy(sound->cache);
    yk_cluster_destroy(sound->cluster);
    yk_arena_destroy(sound->arena);
    *sound = (struct sound_plan){0};
}
