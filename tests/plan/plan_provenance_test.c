/* What a plan file says it was made for, held against what is there. */
#include "plan/plan_file.h"
#include "plan/plan_provenance.h"
#include "profile/profile.h"
#include "support/plans/example_plan_file.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void a_plan_for_another_model_is_refused(void **state)
{
    struct written_plan *made = *state;
    assert_ok(yk_model_config_find_builtin("gpt2-xl", &made->context.config));
    assert_plan_refused(state, made->text,
                        "model: made for gpt2 with 12 layers, this is gpt2-xl with 48", "gpt2-xl");
    assert_ok(yk_model_config_find_builtin("bert-base", &made->context.config));
    assert_plan_refused(state, made->text,
                        "model: made for gpt2 with 124439808 parameters, this is bert-base with "
                        "109482240",
                        "bert-base");
    struct yk_model_config other = {0};
    const struct yk_model_config *config = NULL;
    assert_ok(yk_model_config_find_builtin("gpt2", &config));
    other = *config;
    other.heads = other.kv_heads = 24;
    other.head_size = 32;
    other.name = "other.json";
    made->context.config = &other;
    assert_plan_refused(state, made->text,
                        "model: made for gpt2, this is other.json with as many layers and "
                        "parameters but other sizes; plan again",
                        "heads");
}

static void the_same_model_may_have_another_name(void **state)
{
    struct written_plan *made = *state;
    const struct yk_plan *plan = NULL;
    struct yk_model_config other = *made->context.config;
    other.name = "somewhere/config.json";
    made->context.config = &other;
    assert_ok(written_plan_read(state, made->text, &plan));
    assert_string_equal(plan->model_source, "gpt2");
}

/* Against a cluster that `line` describes instead. */
static void assert_other_cluster(void **state, const char *line, const char *message, int at)
{
    struct written_plan *made = *state;
    struct yk_cluster *other = NULL;
    assert_ok(yk_cluster_parse_line(line, &other));
    made->context.cluster = other;
    written_plan_assert_refused(state, made->text, message, line, __FILE__, at);
    made->context.cluster = made->cluster;
    yk_cluster_destroy(other);
}

static void a_plan_for_another_cluster_is_refused(void **state)
{
    assert_other_cluster(state, "1xrtx3090 + 1xv100 @ 10GB/s",
                         "cluster: made for 3 devices, this cluster has 2", __LINE__);
    assert_other_cluster(state, "3xrtx3090 @ 10GB/s",
                         "cluster: device 1 was v100-16 with 16GiB, it is rtx3090 with 24GiB now",
                         __LINE__);
    assert_other_cluster(state, "1xrtx3090 + 2xv100:12GiB @ 10GB/s",
                         "cluster: device 1 was v100-16 with 16GiB, it is v100-16 with 12GiB now",
                         __LINE__);
    assert_other_cluster(state, "1xrtx3090 + 2xv100 @ 11GB/s",
                         "cluster: the links are not those that the plan was made for; plan again",
                         __LINE__);
    assert_other_cluster(state, "1xrtx3090 + 2xv100:50%:16GiB @ 10GB/s",
                         "cluster: the rates, nodes or measured times of the devices are not those "
                         "that the plan was made for; plan again",
                         __LINE__);
    assert_edit_refused("\"name\": \"gpu1\"", "\"name\": \"big\"",
                        "cluster: device 1 was \"big\", it is \"gpu1\" now");
}

/* A line and the file it is written to are one cluster. */
static void the_same_cluster_may_come_from_a_file(void **state)
{
    struct written_plan *made = *state;
    const struct yk_plan *plan = NULL;
    struct yk_cluster *again = NULL;
    struct yk_text text = {0};
    assert_ok(yk_cluster_write_json(made->cluster, &text));
    assert_ok(yk_cluster_read_json(yk_text_chars(&text), text.length, "lab.json", &again));
    made->context.cluster = again;
    assert_ok(written_plan_read(state, made->text, &plan));
    yk_text_free(&text);
    yk_cluster_destroy(again);
}

static void a_file_written_by_hand_needs_no_hashes(void **state)
{
    struct written_plan *made = *state;
    const struct yk_plan *plan = NULL;
    char *text = written_plan_replace(made->arena, written_plan_text,
                                      ", \"hash\": \"MODEL\",\n  \"layers\": 12, "
                                      "\"parameters\": 124439808",
                                      "");
    text = written_plan_replace(made->arena, text, ", \"hash\": \"CLUSTER\", \"links\": \"LINKS\"",
                                "");
    assert_ok(written_plan_read(state, text, &plan));
    assert_plan_refused(state, written_plan_text,
                        "model: \"hash\" must be 16 hexadecimal digits, not \"MODEL\"", "hash");
}

static void add_time(struct yk_profile *profile, double seconds)
{
    const struct yk_profile_layer_key layer = {"v100", 1, "gpt-block", 1024, "forward"};
    const struct yk_profile_measurement time = {
        .value = seconds, .spread = 0.01, .samples = 5, .versions = "none"};
    assert_ok(yk_profile_add_layer_time(profile, &layer, 4, &time));
}

static void a_plan_for_another_profile_is_refused(void **state)
{
    struct written_plan *made = *state;
    struct yk_plan_file_context *context = &made->context;
    const struct yk_plan *plan = NULL;
    const struct yk_plan *again = NULL;
    struct yk_plan *copy = NULL;
    struct yk_text text = {0};
    char folder[] = "/tmp/yoke-plan-XXXXXX";
    char path[64];
    assert_ok(written_plan_read(state, made->text, &plan));
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/here.db", folder);
    assert_ok(yk_profile_open_or_create(path, &context->profile));
    assert_plan_refused(state, made->text, "profile: made without a profile, but one is given",
                        "no profile");
    add_time(context->profile, 0.5);
    assert_ok(yk_plan_copy(plan, made->arena, &copy));
    assert_int_equal(yk_plan_file_to_json(copy, context, &text), YK_ERROR_INPUT);
    copy->profile_source = "here.db";
    assert_ok(yk_plan_file_to_json(copy, context, &text));
    assert_ok(written_plan_read(state, yk_text_chars(&text), &again));
    assert_string_equal(again->profile_source, "here.db");
    add_time(context->profile, 0.25);
    assert_plan_refused(state, yk_text_chars(&text),
                        "profile: here.db holds other times than those that the plan was made "
                        "with; plan again",
                        "other times");
    yk_profile_close(context->profile);
    context->profile = NULL;
    assert_plan_refused(state, yk_text_chars(&text),
                        "profile: made with here.db, but no profile is given", "gone");
    yk_text_free(&text);
    assert_int_equal(unlink(path) | rmdir(folder), 0);
}

/* "", "a" and "foobar" of the reference vectors of the hash's authors. */
static void hashes_are_fnv_1a(void **state)
{
    (void)state;
    char hash[YK_PLAN_PROVENANCE_HASH_SIZE];
    yk_plan_provenance_hash_bytes("", 0, hash);
    assert_string_equal(hash, "cbf29ce484222325");
    yk_plan_provenance_hash_bytes("a", 1, hash);
    assert_string_equal(hash, "af63dc4c8601ec8c");
    yk_plan_provenance_hash_bytes("foobar", 6, hash);
    assert_string_equal(hash, "85944171f73967e8");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, written_plan_make, written_plan_unmake)
    const struct CMUnitTest tests[] = {
        TEST(a_plan_for_another_model_is_refused),
        TEST(the_same_model_may_have_another_name),
        TEST(a_plan_for_another_cluster_is_refused),
        TEST(the_same_cluster_may_come_from_a_file),
        TEST(a_file_written_by_hand_needs_no_hashes),
        TEST(a_plan_for_another_profile_is_refused),
        TEST(hashes_are_fnv_1a),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
