#include "public_api.h"

static yoke_plan *find_sharded(void)
{
    const struct yoke_search search = {.moves = 100};
    yoke_request *request = ask("2xrtx3090 @ 32GB/s", 16);
    yoke_plan *plan = NULL;
    assert_done(yoke_request_set_search(request, &search));
    assert_done(yoke_request_set_strategy(request, "kept"));
    assert_done(yoke_request_set_decisions(request, YOKE_DECIDE_SHARES));
    assert_done(yoke_plan_find(request, &plan));
    yoke_request_destroy(request);
    return plan;
}

static void a_page_shows_the_plan(void **state)
{
    (void)state;
    yoke_plan *plan = find_sharded();
    char *text = NULL;
    assert_done(yoke_plan_page(plan, NULL, &text));
    assert_contains(text, "kept");
    assert_contains(text, "gpt2");
    check_text(text, "<!doctype html>", "</html>\n");
    yoke_plan_destroy(plan);
}

static void a_page_shows_a_tradeoff_if_there_is_one(void **state)
{
    (void)state;
    const struct yoke_search search = {.budget_s = 30};
    yoke_plan *plan = find_sharded();
    yoke_request *request = ask("2xrtx3090 @ 8GB/s", 4);
    yoke_tradeoff *tradeoff = NULL;
    char *plain = NULL;
    char *with = NULL;
    assert_done(yoke_request_set_search(request, &search));
    assert_done(yoke_tradeoff_find(request, 3, &tradeoff));
    assert_done(yoke_plan_page(plan, NULL, &plain));
    assert_done(yoke_plan_page(plan, tradeoff, &with));
    assert_null(strstr(plain, "split of memory"));
    assert_contains(with, "split of memory");
    yoke_free(plain);
    yoke_free(with);
    yoke_tradeoff_destroy(tradeoff);
    yoke_request_destroy(request);
    yoke_plan_destroy(plan);
}

static void figures_stand_alone(void **state)
{
    (void)state;
    yoke_plan *plan = find_sharded();
    char *text = NULL;
    for (int figure = YOKE_FIGURE_LANES; figure <= YOKE_FIGURE_CLUSTER; figure++) {
        assert_done(yoke_plan_draw(plan, (enum yoke_figure)figure, 1, &text));
        check_text(text, "<svg", "</svg>\n");
    }
    text = NULL;
    assert_says(yoke_plan_draw(plan, YOKE_FIGURE_MEMORY, 2, &text), YOKE_ERROR_USAGE,
                "there is no rank 2; the plan has 2, from 0 on");
    assert_says(yoke_plan_draw(plan, (enum yoke_figure)7, 0, &text), YOKE_ERROR_USAGE,
                "a plan has no figure 7");
    assert_null(text);
    yoke_plan_destroy(plan);
}

static void a_trace_names_the_ops_of_the_step(void **state)
{
    (void)state;
    yoke_plan *plan = find_sharded();
    char *text = NULL;
    assert_done(yoke_plan_trace(plan, &text));
    assert_contains(text, "traceEvents");
    assert_contains(text, "backward layer 11");
    assert_contains(text, "all_gather layer 3");
    yoke_free(text);
    yoke_plan_destroy(plan);
}

static void exporters_are_listed_and_say_what_they_cannot_do(void **state)
{
    (void)state;
    yoke_plan *plan = find_sharded();
    const char *summary = NULL;
    const char *file = NULL;
    int32_t count = 0;
    for (const char *name; (name = yoke_exporter(count, &summary, &file)) != NULL; count++) {
        char *text = NULL;
        char *notes = NULL;
        assert_non_null(summary);
        assert_non_null(file);
        const yoke_status status = yoke_plan_export(plan, name, &text, &notes);
        if (status == YOKE_OK) {
            assert_true(strlen(text) > 0);
            assert_non_null(notes);
        } else {
            assert_int_equal(status, YOKE_ERROR_INPUT);
            assert_true(strlen(yoke_message()) > 0);
            assert_null(text);
            assert_null(notes);
        }
        yoke_free(text);
        yoke_free(notes);
    }
    assert_true(count >= 6);
    assert_null(yoke_exporter(-1, NULL, NULL));
    assert_string_equal(yoke_exporter(1, NULL, NULL), "fsdp");
    yoke_plan_destroy(plan);
}

static void a_sharded_plan_is_exported_to_fsdp(void **state)
{
    (void)state;
    yoke_plan *plan = find_sharded();
    char *text = NULL;
    assert_done(yoke_plan_export(plan, "fsdp", &text, NULL));
    assert_contains(text, "fully_shard");
    yoke_free(text);
    text = NULL;
    assert_mentions(yoke_plan_export(plan, "fdsp", &text, NULL), YOKE_ERROR_INPUT, "\"fsdp\"");
    assert_null(text);
    yoke_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_shows_the_plan),
        cmocka_unit_test(a_page_shows_a_tradeoff_if_there_is_one),
        cmocka_unit_test(figures_stand_alone),
        cmocka_unit_test(a_trace_names_the_ops_of_the_step),
        cmocka_unit_test(exporters_are_listed_and_say_what_they_cannot_do),
        cmocka_unit_test(a_sharded_plan_is_exported_to_fsdp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
