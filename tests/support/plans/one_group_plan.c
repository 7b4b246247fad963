#include "support/plans/one_group_plan.h"

#include "support/support.h"

#include <string.h>

void made_plan_describe(struct made_plan *made)
{
    const struct yk_model_config *config = NULL;
    assert_ok(yk_model_config_find_builtin(made->plan->model_source, &config));
    assert_ok(yk_model_build(config, &made->plan->workload, made->arena, &made->model));
}

static void fill_plan(struct made_plan *made, const int64_t *shares,
                      enum yk_sharding_strategy strategy)
{
    struct yk_plan *plan = made->plan;
    const int32_t count = made->cluster->device_count;
    plan->micro_batches = 1;
    plan->prefetch = 1;
    plan->block_bytes = 4 << 20;
    plan->bucket_bytes = 24 << 20;
    plan->groups[0].member_count = count;
    for (int32_t i = 0; i < count; i++) {
        plan->ranks[i] = (struct yk_plan_rank){
            .device = i, .limit_bytes = made->cluster->devices[i].memory_bytes};
        plan->groups[0].members[i] = (struct yk_plan_group_member){
            .rank = i, .share = shares[i], .shard_fraction = 1.0 / count};
    }
    for (int32_t i = 0; i < plan->layer_count; i++) {
        plan->layers[i].strategy = strategy;
    }
}

void made_plan_begin(struct made_plan *made, const char *model, const char *cluster,
                     const int64_t *shares, enum yk_sharding_strategy strategy)
{
    struct yk_workload workload = {.sequence = 64, .precision = YK_PRECISION_BF16};
    const struct yk_model_config *config = NULL;
    *made = (struct made_plan){0};
    assert_ok(yk_arena_create(&made->arena));
    assert_ok(yk_cluster_parse_line(cluster, &made->cluster));
    assert_ok(yk_model_config_find_builtin(model, &config));
    for (int32_t i = 0; i < made->cluster->device_count; i++) {
        workload.batch += shares[i];
    }
    assert_ok(yk_model_build(config, &workload, made->arena, &made->model));
    assert_ok(yk_plan_create(made->arena, made->cluster->device_count, 1, made->model->layer_count,
                             &made->plan));
    made->plan->model_source = model;
    made->plan->cluster_source = cluster;
    made->plan->workload = workload;
    fill_plan(made, shares, strategy);
}

void made_plan_end(struct made_plan *made)
{
    yk_text_free(&made->out);
    yk_text_free(&made->notes);
    yk_cluster_destroy(made->cluster);
    yk_arena_destroy(made->arena);
}

void made_plan_export(struct made_plan *made, const char *exporter)
{
    const struct yk_exporter *found = NULL;
    yk_text_free(&made->out);
    yk_text_free(&made->notes);
    assert_ok(yk_plan_check(made->plan, made->model));
    assert_ok(yk_export_find_exporter(exporter, &found));
    assert_ok(yk_export_write_plan(found, made->plan, made->model, made->cluster, &made->out,
                                   &made->notes));
}

bool made_plan_says(const struct made_plan *made, const char *words)
{
    return strstr(yk_text_chars(&made->out), words) != NULL;
}

bool made_plan_notes(const struct made_plan *made, const char *words)
{
    return strstr(yk_text_chars(&made->notes), words) != NULL;
}

void made_plan_assert_comments(const struct made_plan *made)
{
    const char *line = yk_text_chars(&made->notes);
    assert_true(*line != '\0');
    while (*line) {
        const size_t length = strcspn(line, "\n");
        struct yk_text comment = {0};
        yk_text_add(&comment, "\n# - ");
        yk_text_add_bytes(&comment, line, length + 1);
        assert_true(made_plan_says(made, yk_text_chars(&comment)));
        yk_text_free(&comment);
        line += length + 1;
    }
}
