#include "base/json.h"
#include "support/files/other_programs.h"
#include "support/plans/one_group_plan.h"
#include "support/plans/random_plan.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum {
    ROUNDS = 200,
    COMPILED = 10, /* of them, by interpreters that take their time */
};

static void an_exporter_is_found_by_its_name(void **state)
{
    (void)state;
    const struct yk_exporter *found = NULL;
    for (size_t i = 0; i < yk_exporter_count; i++) {
        assert_ok(yk_export_find_exporter(yk_exporters[i]->name, &found));
        assert_ptr_equal(found, yk_exporters[i]);
        assert_true(strlen(found->summary) > 0 && strlen(found->file) > 0);
    }
    assert_fails(yk_export_find_exporter("fdsp", &found), YK_ERROR_INPUT,
                 "a plan cannot be exported to \"fdsp\"; did you mean \"fsdp\"?");
    struct yk_text all = {0};
    yk_text_add(&all, "a plan cannot be exported to \"megatron\"; it can be to ");
    for (size_t i = 0; i < yk_exporter_count; i++) {
        yk_text_addf(&all, "%s%s", i > 0 ? ", " : "", yk_exporters[i]->name);
    }
    assert_fails(yk_export_find_exporter("megatron", &found), YK_ERROR_INPUT, yk_text_chars(&all));
    yk_text_free(&all);
}

/* The map that a placement of gpt2's layers on three devices is. */
static void a_placement_becomes_a_device_map(void **state)
{
    (void)state;
    static const int64_t shares[] = {1, 1, 1};
    struct made_plan made;
    made_plan_begin(&made, "gpt-nano", "cpu:8 + 2xa30", shares, YK_SHARDING_REPLICATED);
    struct yk_plan *placed = NULL;
    assert_ok(yk_plan_create(made.arena, 3, 3, 6, &placed));
    struct yk_plan_group *groups = placed->groups;
    struct yk_plan_layer *layers = placed->layers;
    *placed = *made.plan;
    placed->groups = groups;
    placed->layers = layers;
    placed->group_count = 3;
    placed->micro_batches = 3;
    for (int32_t i = 0; i < 3; i++) {
        groups[i].member_count = 1;
        groups[i].members[0] =
            (struct yk_plan_group_member){.rank = i, .share = 3, .shard_fraction = 1};
    }
    static const int32_t group_of[] = {0, 1, 1, 2, 2, 2};
    for (int32_t i = 0; i < 6; i++) {
        layers[i].group = group_of[i];
    }
    made.plan = placed;
    made_plan_export(&made, "accelerate");
    assert_string_equal(yk_text_chars(&made.out), "{\n"
                                                  "  \"transformer.wte\": \"cpu\",\n"
                                                  "  \"transformer.wpe\": \"cpu\",\n"
                                                  "  \"transformer.drop\": \"cpu\",\n"
                                                  "  \"transformer.h.0\": 0,\n"
                                                  "  \"transformer.h.1\": 0,\n"
                                                  "  \"transformer.h.2\": 1,\n"
                                                  "  \"transformer.ln_f\": 1,\n"
                                                  "  \"lm_head\": 1\n"
                                                  "}\n");
    assert_true(made_plan_notes(&made, "The 3 micro-batches and their order (gpipe) are not said"));
    assert_true(made_plan_notes(&made, "Layers of a CPU go to \"cpu\""));
    assert_false(made_plan_notes(&made, "several ranks hold these"));
    made_plan_end(&made);
}

static void layers_of_several_ranks_go_to_the_largest_share(void **state)
{
    (void)state;
    static const int64_t shares[] = {1, 4, 3};
    struct made_plan made;
    made_plan_begin(&made, "gpt-nano", "3xa30", shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "accelerate");
    assert_true(made_plan_says(&made, "\"transformer.h.0\": 1,"));
    assert_true(made_plan_notes(&made, "embed to head: several ranks hold these and share the "
                                       "samples; a device_map has one device for each module"));
    made_plan_end(&made);
}

/* Whether `text` is what its tool takes, as far as it can be told here. */
static void assert_well_formed(const struct yk_exporter *exporter, const struct yk_text *text,
                               bool compiled)
{
    const char *suffix = strrchr(exporter->file, '.');
    struct yk_json *root = NULL;
    struct yk_text printed = {0};
    if (strcmp(suffix, ".json") == 0) {
        assert_ok(yk_json_parse(yk_text_chars(text), text->length, &root));
        yk_json_destroy(root);
        return;
    }
    const bool python = strcmp(suffix, ".py") == 0;
    if ((!python && strcmp(suffix, ".sh") != 0) || !compiled ||
        !outside_has(python ? "python3" : "bash")) {
        return;
    }
    char *folder = outside_make_folder();
    outside_write(folder, "file", yk_text_chars(text));
    const int code =
        outside_run(folder, python ? "python3 -m py_compile file" : "bash -n file", &printed);
    if (code != 0) {
        fail_msg("%s: %s", exporter->name, yk_text_chars(&printed));
    }
    outside_remove(folder);
    yk_text_free(&printed);
}

/* What several groups hold cannot be said by tools that know one; anything else is written. */
static bool has_one_group(const struct yk_plan *plan)
{
    bool one = true;
    for (int32_t i = 1; i < plan->layer_count; i++) {
        one = one && plan->layers[i].group == plan->layers[0].group;
    }
    return one;
}

static void export_all(const struct yk_plan *plan, const struct yk_model *model,
                       const struct yk_cluster *cluster, bool compiled)
{
    for (size_t i = 0; i < yk_exporter_count; i++) {
        const struct yk_exporter *exporter = yk_exporters[i];
        struct yk_text out = {0};
        struct yk_text notes = {0};
        const yk_status status = yk_export_write_plan(exporter, plan, model, cluster, &out, &notes);
        assert_int_equal(status,
                         exporter->supports_groups || has_one_group(plan) ? YK_OK : YK_ERROR_INPUT);
        if (status == YK_OK) {
            assert_well_formed(exporter, &out, compiled);
            assert_true(notes.length > 0 && notes.bytes[notes.length - 1] == '\n');
        }
        yk_text_free(&out);
        yk_text_free(&notes);
    }
}

static void any_plan_is_written_or_refused_as_a_whole(void **state)
{
    (void)state;
    static const char *const models[] = {"gpt-nano", "gpt2", "bert-base-mlm", "transformer-base"};
    struct yk_random random = yk_random_from_seed(7);
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_cluster_parse_line("2x(2xa30 @ pcie4) + 1x(1xtitanxp + cpu:8 @ pcie3) @ 10GbE",
                                    &cluster));
    for (int i = 0; i < ROUNDS; i++) {
        struct yk_plan_file_context context = {.cluster = cluster};
        struct yk_arena *arena = NULL;
        const struct yk_model *model = NULL;
        assert_ok(yk_arena_create(&arena));
        assert_ok(yk_model_config_find_builtin(models[i % 4], &context.config));
        const struct yk_plan *plan = support_random_plan(&random, &context, arena);
        assert_ok(yk_model_build(context.config, &plan->workload, arena, &model));
        export_all(plan, model, cluster, i < COMPILED);
        yk_arena_destroy(arena);
    }
    yk_cluster_destroy(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exporter_is_found_by_its_name),
        cmocka_unit_test(a_placement_becomes_a_device_map),
        cmocka_unit_test(layers_of_several_ranks_go_to_the_largest_share),
        cmocka_unit_test(any_plan_is_written_or_refused_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
