#include "support/files/other_programs.h"
#include "support/plans/one_group_plan.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#define CLUSTER "1xrtx6000ada + 2xrtx3090 @ 32GB/s"

static const int64_t shares[] = {7, 4, 1};

/* gpt-nano: embed, layer 0, layer 1, layer 2, norm, head; none shares weights. */
static int make(void **state)
{
    static struct made_plan made;
    made_plan_begin(&made, "gpt-nano", CLUSTER, shares, YK_SHARDING_FULLY_SHARDED);
    *state = &made;
    return 0;
}

static int end(void **state)
{
    made_plan_end(*state);
    return 0;
}

/* Fails the test unless the row of `layer` in LAYERS has the words. */
static void assert_row(const struct made_plan *made, const char *layer, const char *words)
{
    char name[64];
    snprintf(name, sizeof name, "{\"name\": \"%s\"", layer);
    const char *row = strstr(yk_text_chars(&made->out), name);
    assert_non_null(row);
    const char *found = strstr(row, words);
    if (!found || found > strchr(row, '\n')) {
        fail_msg("%s does not say %s", layer, words);
    }
}

static void each_layer_is_resharded_as_planned(void **state)
{
    struct made_plan *made = *state;
    struct yk_plan_layer *layers = made->plan->layers;
    layers[2].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    layers[3].strategy = YK_SHARDING_REPLICATED;
    layers[4].strategy = YK_SHARDING_SHARDED_STATE;
    made_plan_export(made, "fsdp");
    assert_row(made, "layer 0", "\"modules\": [\"transformer.h.0\"]");
    assert_row(made, "layer 0", "\"replicated\": False, \"reshard_after_forward\": True");
    assert_row(made, "layer 1", "\"replicated\": False, \"reshard_after_forward\": False");
    assert_row(made, "layer 2", "\"replicated\": True, \"reshard_after_forward\": False");
    assert_row(made, "norm", "\"replicated\": False, \"reshard_after_forward\": False");
    assert_row(made, "norm", "\"strategy\": \"sharded-state\"");
    assert_true(made_plan_notes(made, "norm: sharded-state keeps parameters whole"));
    made_plan_assert_comments(made);
}

static void weights_in_common_belong_to_the_whole_model(void **state)
{
    struct made_plan tied;
    (void)state;
    made_plan_begin(&tied, "gpt2", CLUSTER, shares, YK_SHARDING_FULLY_SHARDED);
    made_plan_export(&tied, "fsdp");
    assert_row(&tied, "embed", "\"reshard_after_forward\": False, \"in_root\": True");
    assert_row(&tied, "head", "\"reshard_after_forward\": False, \"in_root\": True");
    assert_row(&tied, "layer 0", "\"in_root\": False");
    assert_true(made_plan_says(&tied, "\nROOT_REPLICATED = False\n"));
    tied.plan->layers[0].strategy = YK_SHARDING_REPLICATED;
    tied.plan->layers[tied.plan->layer_count - 1].strategy = YK_SHARDING_REPLICATED;
    made_plan_export(&tied, "fsdp");
    assert_true(made_plan_says(&tied, "\nROOT_REPLICATED = True\n"));
    made_plan_end(&tied);
}

static void gathers_go_as_far_ahead_as_planned(void **state)
{
    struct made_plan *made = *state;
    made_plan_export(made, "fsdp");
    assert_row(made, "embed", "\"forward_prefetch\": [\"layer 0\"]");
    assert_row(made, "layer 0",
               "\"forward_prefetch\": [\"layer 1\"], \"backward_prefetch\": [\"embed\"]");
    assert_row(made, "head", "\"forward_prefetch\": [], \"backward_prefetch\": [\"norm\"]");
    made->plan->prefetch = 2;
    made_plan_export(made, "fsdp");
    assert_row(made, "embed", "\"forward_prefetch\": [\"layer 0\", \"layer 1\"]");
    assert_row(made, "layer 0", "\"forward_prefetch\": [\"layer 2\"], \"backward_prefetch\": []");
}

/* Replicated layers are not gathered, kept ones not again for backward. */
static void only_what_is_gathered_is_gathered_ahead(void **state)
{
    struct made_plan *made = *state;
    made->plan->layers[2].strategy = YK_SHARDING_REPLICATED;
    made->plan->layers[3].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    made_plan_export(made, "fsdp");
    assert_row(made, "layer 0", "\"forward_prefetch\": [\"layer 2\"]");
    assert_row(made, "layer 1", "\"forward_prefetch\": [], \"backward_prefetch\": []");
    assert_row(made, "norm", "\"backward_prefetch\": [\"layer 0\"]");
}

/* 6 layers: turn is slot 6, backward of layer l is 12 − l, begin is 14. */
static void an_order_says_with_which_layer_a_gather_starts(void **state)
{
    static struct yk_plan_transfer transfers[] = {
        {YK_TRANSFER_ALL_GATHER, 2, 0, 1, 0},     {YK_TRANSFER_ALL_GATHER, 3, 0, 1, 0},
        {YK_TRANSFER_ALL_GATHER, 1, 0, 1, 6},     {YK_TRANSFER_ALL_GATHER, 0, 0, 1, 9},
        {YK_TRANSFER_REDUCE_SCATTER, 4, 0, 1, 9}, {YK_TRANSFER_REDUCE_SCATTER, 3, 0, 1, 13},
        {YK_TRANSFER_ALL_GATHER, 1, 0, 1, 14},
    };
    struct made_plan *made = *state;
    made->plan->transfers = transfers;
    made->plan->transfer_count = 7;
    made_plan_export(made, "fsdp");
    assert_row(made, "embed", "\"forward_prefetch\": [\"layer 0\", \"layer 1\", \"layer 2\"]");
    assert_row(made, "head", "\"backward_prefetch\": [\"layer 0\"]");
    assert_row(made, "layer 2", "\"forward_prefetch\": [], \"backward_prefetch\": [\"embed\"]");
    assert_true(made_plan_notes(made, "1 gathers are planned before the pass"));
    assert_true(made_plan_notes(made, "1 scatters and reductions are put off in the plan"));
    made_plan_assert_comments(made);
}

static void numbers_are_those_of_the_plan(void **state)
{
    struct made_plan *made = *state;
    struct yk_plan *plan = made->plan;
    plan->micro_batches = 2;
    plan->no_sync = true;
    plan->clip = true;
    plan->layers[1].recompute = true;
    plan->ranks[1].limit_bytes = 2e10;
    made_plan_export(made, "fsdp");
    assert_true(made_plan_says(made, "\nRANKS = 3\nBATCH = 12\nSHARES = [7, 4, 1]\n"
                                     "MICRO_BATCHES = 2\nNO_SYNC = True\nCLIP_NORM = 1.0\n"
                                     "DTYPE = torch.bfloat16\nTF32 = False\n"));
    assert_true(made_plan_says(made, "    20000000000,  # gpu1\n"));
    assert_row(made, "layer 0", "\"recompute\": True");
    assert_row(made, "layer 1", "\"recompute\": False");
    assert_true(made_plan_notes(made, "not at which norm"));
    plan->clip = false;
    plan->workload.precision = YK_PRECISION_TF32;
    made_plan_describe(made);
    made_plan_export(made, "fsdp");
    assert_true(made_plan_says(made, "CLIP_NORM = None\nDTYPE = None\nTF32 = True\n"));
    assert_false(made_plan_notes(made, "not at which norm"));
}

static void what_fsdp_cannot_say_is_noted(void **state)
{
    struct made_plan *made = *state;
    struct yk_plan_group_member *members = made->plan->groups[0].members;
    made_plan_export(made, "fsdp");
    assert_false(made_plan_notes(made, "Parts are unequal"));
    assert_false(made_plan_notes(made, "takes no samples"));
    assert_true(made_plan_notes(made, "blocks of 4MiB and buckets are not cut or fused"));
    members[0].shard_fraction = 0.5;
    members[1].shard_fraction = 0.3;
    members[2].shard_fraction = 0.2;
    members[1].share += members[2].share;
    members[2].share = 0;
    made->plan->workload.lora_rank = 8;
    made->plan->workload.nf4 = true;
    made->plan->workload.precision = YK_PRECISION_FP16;
    made_plan_describe(made);
    made_plan_export(made, "fsdp");
    assert_true(made_plan_notes(made, "from 0.2 to 0.5 of the sharded state; FSDP divides it"));
    assert_true(made_plan_notes(made, "Rank 2 (gpu2) takes no samples."));
    assert_true(made_plan_notes(made, "Adapters of rank 8 on all linears are planned, with the "
                                      "frozen linears in NF4"));
    assert_true(made_plan_notes(made, "fp16 needs a loss scaler"));
    made_plan_assert_comments(made);
}

/* The members' order is that of PyTorch's ranks; who is no member does not run. */
static void ranks_are_members_of_the_group(void **state)
{
    struct made_plan *made = *state;
    struct yk_plan_group *group = &made->plan->groups[0];
    group->members[0] = (struct yk_plan_group_member){.rank = 2, .share = 9, .shard_fraction = 0.5};
    group->members[1] = (struct yk_plan_group_member){.rank = 0, .share = 3, .shard_fraction = 0.5};
    group->member_count = 2;
    made_plan_export(made, "fsdp");
    assert_true(made_plan_says(made, "\nRANKS = 2\nBATCH = 12\nSHARES = [9, 3]\n"));
    assert_true(made_plan_says(made, "  # gpu2\n    51539607552,  # gpu0\n"));
    assert_true(made_plan_notes(made, "gpu1 holds no layer, and is left out."));
}

static void a_placement_is_refused(void **state)
{
    struct made_plan *made = *state;
    struct yk_plan_group groups[2] = {made->plan->groups[0], made->plan->groups[0]};
    struct yk_text out = {0};
    made->plan->groups = groups;
    made->plan->group_count = 2;
    made->plan->layers[3].group = 1;
    assert_fails(
        yk_export_write_plan(&yk_exporter_fsdp, made->plan, made->model, made->cluster, &out, &out),
        YK_ERROR_INPUT,
        "fsdp trains every layer on all ranks, but this plan has layers in several "
        "groups; a placement can be exported to accelerate");
    yk_text_free(&out);
}

static void names_from_files_stay_in_comments(void **state)
{
    struct made_plan *made = *state;
    made->plan->model_source = "gpt-nano";
    made->plan->cluster_source = "evil\nimport os\r\x01 \xff ok \xc3\xa9 \"\"\"";
    made_plan_export(made, "fsdp");
    assert_true(made_plan_says(made, "# gpt-nano on evil?import os?? ? ok \xc3\xa9 \"\"\": 12 "));
    assert_false(made_plan_says(made, "\nimport os"));
}

/* Stands in for PyTorch, so that what needs no tensors runs anywhere. */
static const char stand_in[] =
    "import sys, types\n"
    "class Any(types.ModuleType):\n"
    "    def __getattr__(self, name):\n"
    "        return type(name, (), {})\n"
    "for name in ['torch', 'torch.distributed', 'torch.distributed.algorithms',\n"
    "             'torch.distributed.algorithms._checkpoint',\n"
    "             'torch.distributed.algorithms._checkpoint.checkpoint_wrapper',\n"
    "             'torch.distributed.device_mesh', 'torch.distributed.fsdp']:\n"
    "    sys.modules[name] = Any(name)\n"
    "torch = sys.modules['torch']\n"
    "torch.distributed = sys.modules['torch.distributed']\n"
    "torch.utils = types.SimpleNamespace(data=types.SimpleNamespace(Sampler=object))\n"
    "torch.arange = lambda n: list(range(n))\n"
    "import plan\n";

static void python_agrees_with_the_plan_about_samples(void **state)
{
    struct made_plan *made = *state;
    struct yk_text expected = {0};
    struct yk_text script = {0};
    struct yk_text printed = {0};
    if (!outside_has("python3")) {
        skip();
    }
    char *folder = outside_make_folder();
    made->plan->micro_batches = 5;
    made_plan_export(made, "fsdp");
    outside_write(folder, "plan.py", yk_text_chars(&made->out));
    yk_text_add(&script, stand_in);
    yk_text_add(&script, "for r in range(plan.RANKS):\n"
                         "    for k in range(plan.MICRO_BATCHES):\n"
                         "        s = plan.samples(r, k)\n"
                         "        print(r, k, s.start, len(s), '%.6f' % plan.loss_weights(r)[k])\n"
                         "    print(list(plan.Shares(25, r, shuffle=False))[5:])\n");
    outside_write(folder, "test.py", yk_text_chars(&script));
    for (int32_t r = 0; r < 3; r++) {
        int64_t start = 0;
        struct yk_text lists = {0};
        for (int32_t k = 0; k < 5; k++) {
            int64_t first = 0;
            const int64_t count = yk_plan_member_sample_range(made->plan, 0, r, k, &first);
            yk_text_addf(&expected, "%d %d %d %d %.6f\n", (int)r, (int)k, (int)(start + first),
                         (int)count, (double)count * 3 / 12);
            yk_text_addf(&lists, "%s[", k > 0 ? ", " : "");
            for (int64_t i = 0; i < (count > 0 ? count : 1); i++) {
                yk_text_addf(&lists, "%s%d", i > 0 ? ", " : "",
                             (int)(12 + (count > 0 ? start + first + i : 0)));
            }
            yk_text_add(&lists, "]");
            for (int32_t other = 0; other < 3; other++) {
                start += yk_plan_member_sample_range(made->plan, 0, other, k, &first);
            }
        }
        yk_text_addf(&expected, "[%s]\n", yk_text_chars(&lists));
        yk_text_free(&lists);
    }
    assert_int_equal(outside_run(folder, "python3 -B test.py", &printed), 0);
    assert_string_equal(yk_text_chars(&printed), yk_text_chars(&expected));
    outside_remove(folder);
    yk_text_free(&expected);
    yk_text_free(&script);
    yk_text_free(&printed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)
    const struct CMUnitTest tests[] = {
        TEST(each_layer_is_resharded_as_planned),
        TEST(weights_in_common_belong_to_the_whole_model),
        TEST(gathers_go_as_far_ahead_as_planned),
        TEST(only_what_is_gathered_is_gathered_ahead),
        TEST(an_order_says_with_which_layer_a_gather_starts),
        TEST(numbers_are_those_of_the_plan),
        TEST(what_fsdp_cannot_say_is_noted),
        TEST(ranks_are_members_of_the_group),
        TEST(a_placement_is_refused),
        TEST(names_from_files_stay_in_comments),
        TEST(python_agrees_with_the_plan_about_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
