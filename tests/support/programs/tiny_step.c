#include "support/programs/tiny_step.h"

#include "model/config.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static const struct yk_model_config *read_config(struct yk_arena *arena,
                                                 const struct tiny_options *options)
{
    const struct yk_model_config *config = NULL;
    struct yk_text text = {0};
    if (options->config) {
        assert_ok(yk_model_config_parse(options->config, strlen(options->config), "tiny", arena,
                                        &config));
        return config;
    }
    yk_text_addf(&text,
                 "{\"model_type\": \"gpt2\", \"vocab_size\": %d, \"n_embd\": %d, \"n_layer\": %d, "
                 "\"n_head\": 2, \"n_positions\": %d, \"tie_word_embeddings\": %s}",
                 TINY_VOCABULARY, TINY_WIDTH, (int)options->blocks, TINY_POSITIONS,
                 options->tied ? "true" : "false");
    assert_ok(yk_text_status(&text));
    assert_ok(yk_model_config_parse(text.bytes, text.length, "tiny", arena, &config));
    yk_text_free(&text);
    return config;
}

static void fill_plan(struct tiny_step *tiny, const struct tiny_options *options)
{
    struct yk_plan *plan = tiny->plan;
    plan->model_source = "tiny";
    plan->cluster_source = options->cluster;
    plan->micro_batches = 1;
    plan->prefetch = 1;
    plan->block_bytes = 1e9;
    plan->bucket_bytes = 1e9;
    for (int32_t i = 0; i < plan->rank_count; i++) {
        plan->ranks[i] = (struct yk_plan_rank){
            .device = i, .limit_bytes = tiny->cluster->devices[i].memory_bytes};
        if (options->groups == 0) {
            tiny_step_add_member(tiny, 0, i, plan->workload.batch / plan->rank_count,
                                 1.0 / plan->rank_count);
        }
    }
}

struct tiny_step tiny_step_make(struct tiny_options options)
{
    struct tiny_step tiny = {0};
    assert_ok(yk_arena_create(&tiny.arena));
    assert_ok(yk_cluster_parse_line(options.cluster, &tiny.cluster));
    const int32_t ranks = tiny.cluster->device_count;
    const struct yk_workload workload = {
        .batch = options.batch > 0 ? options.batch : ranks,
        .sequence = TINY_SEQUENCE,
        .precision = options.precision,
        .lora_rank = options.lora_rank,
        .nf4 = options.nf4,
    };
    tiny.config = read_config(tiny.arena, &options);
    assert_ok(yk_model_cache_create(tiny.config, &workload, &tiny.cache));
    tiny.model = yk_model_cache_get_whole_batch(tiny.cache);
    assert_ok(yk_plan_create(tiny.arena, ranks, options.groups > 0 ? options.groups : 1,
                             tiny.model->layer_count, &tiny.plan));
    tiny.plan->workload = workload;
    fill_plan(&tiny, &options);
    return tiny;
}

void tiny_step_free(struct tiny_step *tiny)
{
    yk_program_destroy(tiny->program);
    yk_model_cache_destroy(tiny->cache);
    yk_cluster_destroy(tiny->cluster);
    yk_arena_destroy(tiny->arena);
}

void tiny_step_set_strategy(struct tiny_step *tiny, enum yk_sharding_strategy strategy)
{
    for (int32_t l = 0; l < tiny->plan->layer_count; l++) {
        tiny->plan->layers[l].strategy = strategy;
    }
}

void tiny_step_add_member(struct tiny_step *tiny, int32_t group, int32_t rank, int64_t share,
                          double part)
{
    struct yk_plan_group *planned = &tiny->plan->groups[group];
    planned->members[planned->member_count++] =
        (struct yk_plan_group_member){.rank = rank, .share = share, .shard_fraction = part};
}

void tiny_step_set_stages(struct tiny_step *tiny, const int32_t *groups)
{
    for (int32_t g = 0; g < tiny->plan->group_count; g++) {
        tiny_step_add_member(tiny, g, g, tiny->plan->workload.batch, 1);
    }
    for (int32_t l = 0; l < tiny->plan->layer_count; l++) {
        tiny->plan->layers[l].group = groups[l];
    }
}

void tiny_step_compile(struct tiny_step *tiny)
{
    yk_program_destroy(tiny->program);
    tiny->program = NULL;
    assert_ok(yk_plan_check(tiny->plan, tiny->model));
    assert_ok(yk_program_compile(tiny->plan, tiny->cluster, tiny->cache, &tiny->program));
}

struct yk_program_memory *tiny_step_memory(const struct tiny_step *tiny, int32_t rank)
{
    struct yk_program_memory *memory = NULL;
    assert_ok(yk_program_memory_count_for_rank(tiny->program, rank, tiny->arena, &memory));
    return memory;
}

double tiny_step_always(const struct tiny_step *tiny, int32_t rank, enum yk_memory_kind kind)
{
    return tiny_step_memory(tiny, rank)->permanent_bytes[kind];
}

static bool is_message(const struct yk_buffer_lifetime *lifetime)
{
    return lifetime->begin[YK_LANE_COMM] != YK_OP_NONE || lifetime->end[YK_LANE_COMM] != YK_OP_NONE;
}

static double most_of(const struct tiny_step *tiny, int32_t rank, enum yk_memory_kind kind,
                      bool messages)
{
    const struct yk_program_memory *memory = tiny_step_memory(tiny, rank);
    struct yk_program_memory some = {.lifetimes = memory->lifetimes};
    struct yk_memory_peak peak;
    for (int32_t i = 0; i < memory->lifetime_count; i++) {
        const struct yk_buffer_lifetime lifetime = memory->lifetimes[i];
        if (lifetime.memory == kind &&
            (kind != YK_MEMORY_BUFFERS || is_message(&lifetime) == messages)) {
            some.lifetimes[some.lifetime_count++] = lifetime;
        }
    }
    assert_ok(yk_program_memory_find_peak(tiny->program, rank, &some, &peak));
    return peak.bytes;
}

double tiny_step_most(const struct tiny_step *tiny, int32_t rank, enum yk_memory_kind kind)
{
    return most_of(tiny, rank, kind, false);
}

double tiny_step_most_messages(const struct tiny_step *tiny, int32_t rank)
{
    return most_of(tiny, rank, YK_MEMORY_BUFFERS, true);
}

void tiny_assert_bytes(double actual, double expected, const char *file, int line)
{
    if (!(fabs(actual - expected) <= 1e-9 * (1 + fabs(expected)))) {
        print_error("%.12g bytes, not the expected %.12g\n", actual, expected);
        _fail(file, line);
    }
}

struct tiny_step tiny_step_make_on_two_ranks(enum yk_sharding_strategy strategy, bool tied)
{
    struct tiny_step tiny = tiny_step_make(
        (struct tiny_options){.cluster = "2xcpu:1", .blocks = 1, .tied = tied, .batch = 8});
    tiny_step_set_strategy(&tiny, strategy);
    tiny.plan->pipeline = YK_PIPELINE_1F1B;
    tiny_step_compile(&tiny);
    return tiny;
}
