#include "support/plans/one_group_plan.h"
#include "support/support.h"

static const int64_t shares[] = {10, 6};

static int make(void **state)
{
    static struct made_plan made;
    made_plan_begin(&made, "gpt2", "1xrtx3090 + 1xv100", shares, YK_SHARDING_REPLICATED);
    *state = &made;
    return 0;
}

static int end(void **state)
{
    made_plan_end(*state);
    return 0;
}

static void numbers_are_those_of_the_plan(void **state)
{
    struct made_plan *made = *state;
    made->plan->micro_batches = 2;
    made->plan->no_sync = true;
    made->plan->layers[3].recompute = true;
    made->plan->layers[4].recompute = true;
    made_plan_export(made, "ddp");
    assert_true(made_plan_says(made, "\nRANKS = 2\nBATCH = 16\nSHARES = [10, 6]\n"
                                     "MICRO_BATCHES = 2\nNO_SYNC = True\nCLIP_NORM = None\n"
                                     "DTYPE = torch.bfloat16\n"));
    assert_true(made_plan_says(made, "\nRECOMPUTED = [\n    \"transformer.h.2\",\n"
                                     "    \"transformer.h.3\",\n]\n"));
    assert_true(made_plan_says(made, "bucket_cap_mb=BUCKET_MIB"));
    assert_true(made_plan_says(made, "gradient_as_bucket_view=True"));
    made_plan_assert_comments(made);
}

/* DDP reduces what .grad has come to, of which the part that was reduced before is the same on
 * every rank, so that its mean is itself: each micro-batch is reduced outside no_sync(). */
static void every_micro_batch_is_reduced_unless_no_sync(void **state)
{
    struct made_plan *made = *state;
    made->plan->micro_batches = 2;
    made->plan->no_sync = false;
    made_plan_export(made, "ddp");
    assert_true(made_plan_says(made, "MICRO_BATCHES = 2\nNO_SYNC = False\n"));
    assert_true(made_plan_says(made, "quiet = NO_SYNC and k < MICRO_BATCHES - 1\n"
                                     "        with model.no_sync() if quiet else "));
}

static void buckets_are_in_mebibytes(void **state)
{
    struct made_plan *made = *state;
    made_plan_export(made, "ddp");
    assert_true(made_plan_says(made, "\nBUCKET_MIB = 24\n"));
    made->plan->bucket_bytes = 1.5 * 1048576;
    made_plan_export(made, "ddp");
    assert_true(made_plan_says(made, "\nBUCKET_MIB = 1.5\n"));
    made->plan->bucket_bytes = 0;
    made_plan_export(made, "ddp");
    assert_true(made_plan_says(made, "\nBUCKET_MIB = 9.5367431640625e-07\n"));
}

static void layers_in_parts_are_noted(void **state)
{
    struct made_plan *made = *state;
    made_plan_export(made, "ddp");
    assert_false(made_plan_notes(made, "planned in parts"));
    for (int32_t i = 2; i < 6; i++) {
        made->plan->layers[i].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    }
    made_plan_export(made, "ddp");
    assert_true(made_plan_notes(made, "layer 1 to layer 4: planned in parts, but DDP keeps every "
                                      "layer whole"));
}

static void a_placement_is_refused(void **state)
{
    struct made_plan *made = *state;
    struct yk_plan_group groups[2] = {made->plan->groups[0], made->plan->groups[0]};
    struct yk_text out = {0};
    made->plan->groups = groups;
    made->plan->group_count = 2;
    made->plan->layers[5].group = 1;
    assert_int_equal(
        yk_export_write_plan(&yk_exporter_ddp, made->plan, made->model, made->cluster, &out, &out),
        YK_ERROR_INPUT);
    assert_int_equal(out.length, 0);
    yk_text_free(&out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)
    const struct CMUnitTest tests[] = {
        TEST(numbers_are_those_of_the_plan), TEST(every_micro_batch_is_reduced_unless_no_sync),
        TEST(buckets_are_in_mebibytes),      TEST(layers_in_parts_are_noted),
        TEST(a_placement_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
