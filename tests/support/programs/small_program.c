#include "support/programs/small_program.h"

#include "support/programs/edit_program.h"
#include "support/support.h"

#include <string.h>

static void describe(const struct small_spec *spec, int64_t batch, struct small_program *small)
{
    static const char *const configs[] = {
        "{\"model_type\":\"gpt2\",\"n_embd\":16,\"n_head\":2,\"n_layer\":2,\"n_positions\":32,"
        "\"vocab_size\":40,\"tie_word_embeddings\":false}",
        "{\"model_type\":\"gpt2\",\"n_embd\":16,\"n_head\":2,\"n_layer\":2,\"n_positions\":32,"
        "\"vocab_size\":40,\"tie_word_embeddings\":true}",
    };
    const char *text = configs[spec->tied ? 1 : 0];
    const struct yk_model_config *config = NULL;
    const struct yk_workload workload = {
        .batch = batch,
        .sequence = 8,
        .precision = YK_PRECISION_BF16,
        .lora_rank = spec->lora_rank,
    };
    assert_ok(yk_arena_create(&small->arena));
    assert_ok(yk_cluster_parse_line("8xrtx3090 @ 10GB/s", &small->cluster));
    assert_ok(yk_model_config_parse(text, strlen(text), "small.json", small->arena, &config));
    assert_ok(yk_model_cache_create(config, &workload, &small->cache));
}

static void deal_out(const struct small_spec *spec, struct yk_plan *plan)
{
    const int32_t members = plan->rank_count / plan->group_count;
    for (int32_t r = 0; r < plan->rank_count; r++) {
        plan->ranks[r] = (struct yk_plan_rank){.device = r, .limit_bytes = 1e9};
        struct yk_plan_group *group = &plan->groups[r / members];
        group->members[group->member_count++] = (struct yk_plan_group_member){
            .rank = r, .share = plan->workload.batch / members, .shard_fraction = 1.0 / members};
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        plan->layers[l] = (struct yk_plan_layer){
            .group = spec->tied && l == SMALL_HEAD ? 0 : l * plan->group_count / plan->layer_count,
            .strategy = spec->strategy,
            .recompute = spec->recompute,
        };
    }
}

struct small_program small_program_make(const struct small_spec *spec)
{
    struct small_program small = {0};
    const int32_t groups = spec->groups > 0 ? spec->groups : 1;
    const int32_t micro_batches = spec->micro_batches > 0 ? spec->micro_batches : 1;
    describe(spec, (int64_t)2 * micro_batches * spec->ranks / groups, &small);
    const struct yk_model *model = yk_model_cache_get_whole_batch(small.cache);
    assert_int_equal(model->layer_count, SMALL_LAYERS);
    assert_ok(yk_plan_create(small.arena, spec->ranks, groups, SMALL_LAYERS, &small.plan));
    small.plan->workload = model->workload;
    small.plan->micro_batches = micro_batches;
    small.plan->no_sync = spec->no_sync;
    small.plan->clip = spec->clip;
    small.plan->prefetch = 1;
    small.plan->block_bytes = 4096;
    small.plan->bucket_bytes = spec->bucketed ? 1e9 : 0;
    deal_out(spec, small.plan);
    assert_ok(yk_plan_check(small.plan, model));
    assert_ok(yk_program_compile(small.plan, small.cluster, small.cache, &small.program));
    if (!spec->together) {
        struct yk_program *apart = edit_copy(small.program);
        yk_program_destroy(small.program);
        small.program = apart;
    }
    return small;
}

void small_program_free(struct small_program *small)
{
    yk_program_destroy(small->program);
    yk_model_cache_destroy(small->cache);
    yk_cluster_destroy(small->cluster);
    yk_arena_destroy(small->arena);
    *small = (struct small_program){0};
}
