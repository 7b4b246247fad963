#include "plan/plan_file.h"
#include "support/plans/example_plan_file.h"
#include "support/plans/random_plan.h"
#include "support/support.h"

#include <string.h>

enum {
#ifdef __SANITIZE_ADDRESS__
    ROUNDS = 100, /* of each model */
#else
    ROUNDS = 1000,
#endif
};

static const struct yk_plan *read_edited(void **state, const char *from, const char *to)
{
    struct written_plan *made = *state;
    const struct yk_plan *plan = NULL;
    assert_ok(
        written_plan_read(state, written_plan_replace(made->arena, made->text, from, to), &plan));
    return plan;
}

static void a_file_says_what_the_plan_is(void **state)
{
    struct written_plan *made = *state;
    const struct yk_plan *plan = NULL;
    assert_ok(written_plan_read(state, made->text, &plan));
    assert_string_equal(plan->model_source, "gpt2");
    assert_string_equal(plan->cluster_source, "1xrtx3090 + 2xv100 @ 10GB/s");
    assert_null(plan->profile_source);
    assert_int_equal(plan->workload.batch, 12);
    assert_int_equal(plan->workload.precision, YK_PRECISION_BF16);
    assert_true(plan->clip && !plan->no_sync);
    assert_true(plan->block_bytes == 5 * 1048576.0 && plan->bucket_bytes == 25 * 1048576.0);
    assert_int_equal(plan->rank_count, 2);
    assert_int_equal(plan->ranks[0].device, 2);
    assert_true(plan->ranks[0].limit_bytes == 15.5 * 1073741824.0);
    assert_int_equal(plan->ranks[1].device, 0);
    assert_true(plan->ranks[1].limit_bytes == 20000000001.0);
    assert_int_equal(plan->groups[0].members[1].share, 7);
    assert_true(plan->groups[0].members[1].shard_fraction == 0.75);
    assert_int_equal(plan->layer_count, 15);
    assert_int_equal(plan->layers[0].strategy, YK_SHARDING_REPLICATED);
    assert_int_equal(plan->layers[11].strategy, YK_SHARDING_FULLY_SHARDED);
    assert_true(plan->layers[11].recompute && !plan->layers[12].recompute);
    assert_int_equal(plan->layers[12].strategy, YK_SHARDING_KEPT_AFTER_FORWARD);
    assert_int_equal(plan->layers[13].strategy, YK_SHARDING_KEPT_AFTER_FORWARD);
}

/* Of 15 layers: forward of layer 3 (number 4) is slot 4, turn 15, backward of layer 1 (number 2)
 * slot 28, end 31, begin 32. A block of gpt2 has 7087872 parameters, so 14175744 bytes in bf16 and
 * three blocks of 5 MiB; the embedding (50257 + 1024) × 768 × 2 bytes, 8 of them at most. */
static void an_order_is_said_in_words(void **state)
{
    static const struct yk_plan_transfer transfers[] = {
        {YK_TRANSFER_ALL_GATHER, 5, 0, 3, 4},      {YK_TRANSFER_ALL_GATHER, 11, 2, 1, 15},
        {YK_TRANSFER_REDUCE_SCATTER, 3, 0, 2, 28}, {YK_TRANSFER_ALL_GATHER, 1, 0, 3, 28},
        {YK_TRANSFER_ALL_REDUCE, 0, 0, 8, 31},     {YK_TRANSFER_ALL_GATHER, 12, 0, 3, 32},
    };
    struct written_plan *made = *state;
    const struct yk_plan *plan = NULL;
    assert_ok(written_plan_read(state, made->text, &plan));
    assert_int_equal(plan->transfer_count, 6);
    for (int32_t i = 0; i < plan->transfer_count; i++) {
        const struct yk_plan_transfer *transfer = &plan->transfers[i];
        assert_int_equal(transfer->kind, transfers[i].kind);
        assert_int_equal(transfer->layer, transfers[i].layer);
        assert_int_equal(transfer->first_block, transfers[i].first_block);
        assert_int_equal(transfer->block_count, transfers[i].block_count);
        assert_int_equal(transfer->slot, transfers[i].slot);
    }
}

static void a_plan_is_written_for_people(void **state)
{
    struct written_plan *made = *state;
    const struct yk_plan *plan = NULL;
    struct yk_text text = {0};
    assert_ok(written_plan_read(state, made->text, &plan));
    assert_ok(yk_plan_file_to_json(plan, &made->context, &text));
    assert_string_equal(yk_text_chars(&text), made->text);
    yk_text_free(&text);
}

static void round_trip(const char *model, uint64_t seed)
{
    struct yk_random random = yk_random_from_seed(seed);
    struct yk_cluster *cluster = NULL;
    struct yk_plan_file_context context = {0};
    assert_ok(yk_cluster_parse_line("2x(2xa30 @ pcie4) + 1x(3xtitanxp @ pcie3) @ 10GbE", &cluster));
    assert_ok(yk_model_config_find_builtin(model, &context.config));
    context.cluster = cluster;
    for (int i = 0; i < ROUNDS; i++) {
        struct yk_arena *arena = NULL;
        const struct yk_plan *again = NULL;
        struct yk_text first = {0};
        struct yk_text second = {0};
        assert_ok(yk_arena_create(&arena));
        const struct yk_plan *plan = support_random_plan(&random, &context, arena);
        assert_ok(yk_plan_file_to_json(plan, &context, &first));
        assert_ok(yk_plan_file_parse(yk_text_chars(&first), first.length, "again", &context, arena,
                                     &again));
        assert_null(support_plan_difference(plan, again));
        assert_ok(yk_plan_file_to_json(again, &context, &second));
        assert_string_equal(yk_text_chars(&first), yk_text_chars(&second));
        yk_text_free(&first);
        yk_text_free(&second);
        yk_arena_destroy(arena);
    }
    yk_cluster_destroy(cluster);
}

static void plans_of_a_model_with_a_tied_head_read_back_the_same(void **state)
{
    (void)state;
    round_trip("gpt2", 1);
}

static void plans_of_a_small_model_read_back_the_same(void **state)
{
    (void)state;
    round_trip("gpt-nano", 2);
}

static void plans_of_an_encoder_and_decoder_read_back_the_same(void **state)
{
    (void)state;
    round_trip("transformer-base", 3);
}

static void what_is_missing_has_a_value(void **state)
{
    const struct yk_plan *plan =
        read_edited(state,
                    " \"micro_batches\": 1, \"pipeline\": \"gpipe\", \"no_sync\": false, "
                    "\"clip\": true,\n \"prefetch\": 1,",
                    "");
    assert_int_equal(plan->micro_batches, 1);
    assert_int_equal(plan->prefetch, 1);
    assert_int_equal(plan->pipeline, YK_PIPELINE_GPIPE);
    assert_false(plan->clip || plan->no_sync);
    plan = read_edited(state, "\"gpu2\", \"limit\": \"15.5GiB\"", "\"gpu2\"");
    assert_true(plan->ranks[0].limit_bytes == 16 * 1073741824.0);
    plan = read_edited(state, "\"limit\": \"15.5GiB\"", "\"limit\": 1e9");
    assert_true(plan->ranks[0].limit_bytes == 1e9);
    plan =
        read_edited(state,
                    "{\"members\": [{\"rank\": 0, \"share\": 5, \"part\": 0.25},\n"
                    "   {\"rank\": 1, \"share\": 7, \"part\": 0.75}]}",
                    "{\"members\": [{\"rank\": 1, \"share\": 2}, {\"rank\": 0, \"share\": 10}]}");
    assert_true(plan->groups[0].members[0].shard_fraction == 0.5 &&
                plan->groups[0].members[1].shard_fraction == 0.5);
    plan = read_edited(state, "\"group\": 0, \"strategy\": \"kept\", \"recompute\": false",
                       "\"strategy\": \"kept\"");
    assert_int_equal(plan->layers[12].group, 0);
    assert_false(plan->layers[12].recompute);
}

static void slots_may_stand_in_any_order(void **state)
{
    const struct yk_plan *plan =
        read_edited(state, "\"during\": \"forward layer 3\"", "\"during\": \"backward layer 2\"");
    assert_int_equal(plan->transfer_count, 6);
    assert_int_equal(plan->transfers[0].slot, 15);
    assert_int_equal(plan->transfers[1].slot, 27);
    assert_int_equal(plan->transfers[1].layer, 5);
}

static void the_sources_can_be_asked_for_alone(void **state)
{
    struct written_plan *made = *state;
    struct yk_plan_source_paths sources = {0};
    assert_ok(yk_plan_file_parse_source_paths(made->text, strlen(made->text), "p.json", made->arena,
                                              &sources));
    assert_string_equal(sources.model, "gpt2");
    assert_string_equal(sources.cluster, "1xrtx3090 + 2xv100 @ 10GB/s");
    assert_null(sources.profile);
    const char *other = written_plan_replace(made->arena, made->text, "\"profile\": null",
                                             "\"profile\": {\"source\": \"x.db\"}");
    assert_ok(
        yk_plan_file_parse_source_paths(other, strlen(other), "p.json", made->arena, &sources));
    assert_string_equal(sources.profile, "x.db");
    assert_fails(yk_plan_file_parse_source_paths("{", 1, "p.json", made->arena, &sources),
                 YK_ERROR_INPUT,
                 "p.json: line 1, column 1: broken JSON: string or '}' expected near end of file");
}

static void a_file_of_another_form_is_refused(void **state)
{
    assert_edit_refused(
        "\"yoke\": 2", "\"yoke\": 1",
        "a plan of version 1, and this program reads version 2; plan again with "
        "this version: yoke plan --model gpt2 --cluster \"1xrtx3090 + 2xv100 @ 10GB/s\" "
        "-o FILE");
    assert_edit_refused("\"yoke\": 2", "\"yoke\": 3",
                        "\"yoke\" is 3, but this program reads version 2");
    assert_edit_refused("\"kind\": \"plan\"", "\"kind\": \"cluster\"",
                        "\"kind\" is \"cluster\", but a \"plan\" is needed here");
    assert_edit_refused("\"micro_batches\": 1", "\"micro_batch\": 1",
                        "unknown key \"micro_batch\"; did you mean \"micro_batches\"?");
    assert_edit_refused("\"lora\"", "\"laro\"",
                        "workload: unknown key \"laro\"; did you mean \"lora\"?");
    assert_plan_refused(state, "[]", "a plan is an object, not a list", "list");
}

static void numbers_that_are_none_are_refused(void **state)
{
    assert_edit_refused("\"share\": 5", "\"share\": 5.5",
                        "groups[0]: members[0]: \"share\" must be a whole number from 0 to 12");
    assert_edit_refused("\"share\": 5", "\"share\": -5",
                        "groups[0]: members[0]: \"share\" must be a whole number from 0 to 12");
    assert_edit_refused("\"batch\": 12", "\"batch\": 1e300",
                        "workload: \"batch\" must be a whole number from 1 to 9007199254740992");
    assert_edit_refused("\"batch\": 12", "\"batch\": 0",
                        "workload: \"batch\" must be a whole number from 1 to 9007199254740992");
    assert_edit_refused("\"micro_batches\": 1", "\"micro_batches\": 0",
                        "\"micro_batches\" must be a whole number from 1 to 2147483647");
    assert_edit_refused("\"prefetch\": 1", "\"prefetch\": -1",
                        "\"prefetch\" must be a whole number from 0 to 2147483647");
    assert_edit_refused("\"part\": 0.25", "\"part\": -0.25",
                        "groups[0]: members[0]: \"part\" must be a number from 0 to 1");
    assert_edit_refused("\"part\": 0.25", "\"part\": \"a quarter\"",
                        "groups[0]: members[0]: \"part\" must be a number from 0 to 1");
    const struct yk_plan *plan = NULL;
    struct written_plan *made = *state;
    assert_int_equal(written_plan_read(state,
                                       written_plan_replace(made->arena, made->text, "0.25", "NaN"),
                                       &plan),
                     YK_ERROR_INPUT);
    assert_int_equal(
        written_plan_read(state, written_plan_replace(made->arena, made->text, "0.25", "1e999"),
                          &plan),
        YK_ERROR_INPUT);
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    assert_edit_refused("\"block\": \"5MiB\"", "\"block\": 0",
                        "\"block\" must be more than 0 bytes");
    assert_edit_refused("\"block\": \"5MiB\"", "\"block\": \"-5MiB\"",
                        "\"block\" must be more than 0 bytes");
    assert_edit_refused("\"block\": \"5MiB\"", "\"block\": \"5s\"",
                        "block: \"5s\": no size has the unit \"s\"; write it like 24GiB");
    assert_edit_refused("\"block\": \"5MiB\"", "\"block\": true",
                        "\"block\" must be a number, not true or false");
    assert_edit_refused("\"block\": \"5MiB\", ", "", "\"block\" is missing");
    assert_edit_refused("\"bucket\": \"25MiB\"", "\"bucket\": -1",
                        "\"bucket\" must be 0 bytes or more");
    assert_edit_refused("\"limit\": \"15.5GiB\"", "\"limit\": 0",
                        "ranks[0]: \"limit\" must be more than 0 bytes");
    assert_edit_refused("\"limit\": \"15.5GiB\"", "\"limit\": \"17GiB\"",
                        "ranks[0]: \"limit\" is more than the memory of \"gpu2\", 16GiB");
}

static void ranks_and_groups_that_cannot_be_are_refused(void **state)
{
    assert_edit_refused("{\"device\": \"gpu2\"", "{\"device\": \"gpu7\"",
                        "ranks[0]: the cluster has no device \"gpu7\"; did you mean \"gpu0\"?");
    assert_edit_refused("{\"device\": \"gpu2\"", "{\"device\": \"gpu0\"",
                        "device 0 has two ranks; give it one");
    assert_edit_refused("\"rank\": 1", "\"rank\": 2",
                        "groups[0]: members[1]: \"rank\" must be a whole number from 0 to 1");
    assert_edit_refused("\"rank\": 1", "\"rank\": 0", "group 0 has rank 0 twice");
    assert_edit_refused("\"share\": 5", "\"share\": 4",
                        "the shares of group 0 add up to 11, but the batch has 12 samples");
    assert_edit_refused("\"part\": 0.25", "\"part\": 0.5",
                        "the parts of group 0 add up to 1.25, not to 1");
    assert_edit_refused("\"share\": 5, \"part\": 0.25", "\"share\": 5",
                        "groups[0]: some members say a \"part\", and some do not; say all, or "
                        "none for equal ones");
    assert_edit_refused("\"share\": 5, ", "", "groups[0]: members[0]: \"share\" is missing");
}

static void words_that_are_none_are_refused(void **state)
{
    assert_edit_refused("\"pipeline\": \"gpipe\"", "\"pipeline\": \"gpip\"",
                        "\"pipeline\" is \"gpip\"; did you mean \"gpipe\"?");
    assert_edit_refused(
        "\"pipeline\": \"gpipe\"", "\"pipeline\": \"interleaved\"",
        "\"pipeline\" must be \"gpipe\", \"1f1b\" or \"nested\", not \"interleaved\"");
    assert_edit_refused("\"strategy\": \"kept\"", "\"strategy\": \"zero\"",
                        "layers[2]: \"strategy\" must be \"replicated\", \"sharded-state\", "
                        "\"kept\" or \"fully-sharded\", not \"zero\"");
    assert_edit_refused("\"precision\": \"bf16\"", "\"precision\": \"bf61\"",
                        "workload: \"precision\" is \"bf61\"; did you mean \"bf16\"?");
    assert_edit_refused("\"clip\": true", "\"clip\": \"yes\"",
                        "\"clip\" must be true or false, not a string");
    assert_edit_refused("\"nf4\": false", "\"nf4\": true",
                        "workload: NF4 weights are frozen and nothing would be trained; add "
                        "adapters with a LoRA rank, such as 32");
    assert_edit_refused("\"sequence\": 1024", "\"sequence\": 1025",
                        "workload: gpt2: a sequence of 1025 tokens is too long; the model has "
                        "learned 1024 positions");
}

static void layers_must_be_said_once_each(void **state)
{
    assert_edit_refused("\"to\": \"layer 10\"", "\"to\": \"layer 9\"",
                        "\"layers\" leaves out \"layer 10\"");
    assert_edit_refused("\"to\": \"layer 10\"", "\"to\": \"layer 11\"",
                        "layers[2]: \"layer 11\" is in an earlier run, too");
    assert_edit_refused("\"to\": \"layer 10\"", "\"to\": \"layer 100\"",
                        "layers[1]: the model has no layer \"layer 100\"; did you mean \"layer "
                        "10\"?");
    assert_edit_refused("\"to\": \"layer 10\"", "\"to\": \"embed\"",
                        "layers[1]: \"layer 0\" comes after \"embed\"; swap them");
    assert_edit_refused("\"group\": 0, \"strategy\": \"kept\"",
                        "\"group\": 1, \"strategy\": \"kept\"",
                        "layers[2]: \"group\" must be a whole number from 0 to 0");
    assert_edit_refused("\"head\", \"group\": 0, \"strategy\": \"replicated\"",
                        "\"head\", \"group\": 0, \"strategy\": \"kept\"",
                        "\"head\" uses the weights of \"embed\"; both must have one strategy");
}

static void an_order_of_nonsense_is_refused(void **state)
{
    assert_edit_refused("\"during\": \"middle\"", "\"during\": \"middl\"",
                        "order[1]: \"middl\" is no slot; those are \"forward LAYER\", \"middle\", "
                        "\"backward LAYER\", \"end\" and \"begin\"");
    assert_edit_refused("\"during\": \"middle\"", "\"during\": \"forward layr 3\"",
                        "order[1]: the model has no layer \"layr 3\"; did you mean \"layer 3\"?");
    assert_edit_refused("\"during\": \"middle\"", "\"during\": \"forward layer 3\"",
                        "order[1]: \"forward layer 3\" is there already; put both into one");
    assert_edit_refused(
        "\"all_gather layer 4\"", "\"fetch layer 4\"",
        "order[0]: \"fetch layer 4\" is no transfer; those are \"all_gather LAYER\", "
        "\"reduce_scatter LAYER\" and \"all_reduce LAYER\", all with \"blocks 0-3\" at the end "
        "if not all of it travels");
    assert_edit_refused("\"all_gather layer 4\"", "\"all_gather layer 44\"",
                        "order[0]: the model has no layer \"layer 44\"; did you mean \"layer 4\"?");
    assert_edit_refused("\"all_gather layer 4\"", "\"all_gather layer 4 blocks 2-1\"",
                        "order[0]: \"blocks 2-1\" must be \"block 3\" or \"blocks 0-3\"");
    assert_edit_refused(
        "\"all_gather layer 4\"", "\"all_gather layer 4 blocks 1-3\"",
        "all_gather of \"layer 4\": there are no 3 blocks from block 1 on; it has 3");
    assert_edit_refused("\"all_gather layer 4\"",
                        "\"all_gather layer 4 block 99999999999999999999\"",
                        "order[0]: \"block 99999999999999999999\" must be \"block 3\" or \"blocks "
                        "0-3\"");
    assert_edit_refused("\"all_gather layer 4\"", "\"all_reduce layer 4\"",
                        "all_reduce of \"layer 4\": that is not done with a layer that is "
                        "fully-sharded");
    assert_edit_refused(
        "\"all_gather layer 4\"", "\"all_gather head\"",
        "all_gather of \"head\": it uses the weights of \"embed\", and travels with "
        "that");
    assert_edit_refused("\"micro_batches\": 1", "\"micro_batches\": 2",
                        "an order of transfers is for plans with one group and one micro-batch, "
                        "not 1 and 2");
    assert_edit_refused("[\"all_gather layer 4\"]", "\"all_gather layer 4\"",
                        "order[0]: \"do\" must be a list, not a string");
}

static void no_beginning_of_a_file_is_a_plan(void **state)
{
    struct written_plan *made = *state;
    const struct yk_plan *plan = NULL;
    for (size_t length = 0; length + 2 < strlen(made->text); length++) {
        assert_int_equal(
            yk_plan_file_parse(made->text, length, "cut", &made->context, made->arena, &plan),
            YK_ERROR_INPUT);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, written_plan_make, written_plan_unmake)
    const struct CMUnitTest tests[] = {
        TEST(a_file_says_what_the_plan_is),
        TEST(an_order_is_said_in_words),
        TEST(a_plan_is_written_for_people),
        TEST(plans_of_a_model_with_a_tied_head_read_back_the_same),
        TEST(plans_of_a_small_model_read_back_the_same),
        TEST(plans_of_an_encoder_and_decoder_read_back_the_same),
        TEST(what_is_missing_has_a_value),
        TEST(slots_may_stand_in_any_order),
        TEST(the_sources_can_be_asked_for_alone),
        TEST(a_file_of_another_form_is_refused),
        TEST(numbers_that_are_none_are_refused),
        TEST(sizes_that_cannot_be_are_refused),
        TEST(ranks_and_groups_that_cannot_be_are_refused),
        TEST(words_that_are_none_are_refused),
        TEST(layers_must_be_said_once_each),
        TEST(an_order_of_nonsense_is_refused),
        TEST(no_beginning_of_a_file_is_a_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
