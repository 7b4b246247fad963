/*
 * Fuzz target of plan files. A plan that is accepted makes sense, and reads back the same once
 * written.
 */
#include "fuzz/fuzz.h"

#include "plan/plan_file.h"
#include "support/plans/random_plan.h"

#include <stdio.h>
#include <stdlib.h>

static void check(yk_status status, const char *broken)
{
    if (status != YK_OK || broken) {
        fprintf(stderr, "broken promise: %s\n", broken ? broken : yk_status_message());
        abort();
    }
}

static void check_plan(const struct yk_plan *plan, const struct yk_plan_file_context *context,
                       struct yk_arena *arena)
{
    const struct yk_model *model = NULL;
    const struct yk_plan *again = NULL;
    struct yk_text text = {0};
    check(yk_model_build(context->config, &plan->workload, arena, &model), NULL);
    check(yk_plan_check(plan, model), NULL);
    check(yk_plan_file_to_json(plan, context, &text), NULL);
    check(yk_plan_file_parse(yk_text_chars(&text), text.length, "written", context, arena, &again),
          NULL);
    check(YK_OK, support_plan_difference(plan, again));
    yk_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_plan_file_context context = {0};
    struct yk_cluster *cluster = NULL;
    struct yk_arena *arena = NULL;
    struct yk_plan_source_paths sources = {0};
    const struct yk_plan *plan = NULL;
    check(yk_arena_create(&arena), NULL);
    check(yk_cluster_parse_line("1xrtx3090 + 2xv100 @ 10GB/s", &cluster), NULL);
    check(yk_model_config_find_builtin("gpt-nano", &context.config), NULL);
    context.cluster = cluster;
    if (yk_plan_file_parse((const char *)data, size, "fuzz", &context, arena, &plan) == YK_OK) {
        fuzz_accept();
        check(yk_plan_file_parse_source_paths((const char *)data, size, "fuzz", arena, &sources),
              NULL);
        check_plan(plan, &context, arena);
    }
    yk_cluster_destroy(cluster);
    yk_arena_destroy(arena);
    return 0;
}
