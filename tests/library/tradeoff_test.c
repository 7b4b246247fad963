#include "public_api.h"

static const struct yoke_search brief = {.budget_s = 30};

static void deciding_together_is_never_slower_than_any_split(void **state)
{
    (void)state;
    yoke_request *request = ask("4xrtx3090 @ 2GB/s", 8);
    yoke_tradeoff *tradeoff = NULL;
    assert_done(yoke_request_set_search(request, &brief));
    assert_done(yoke_tradeoff_find(request, 5, &tradeoff));
    yoke_request_destroy(request); /* the trade-off holds it */
    const struct yoke_tradeoff_info *info = yoke_tradeoff_info(tradeoff);
    assert_int_equal(info->points, 5);
    assert_true(info->free_bytes > 0);
    assert_non_null(info->definition);
    assert_true(info->bound_s > 0 && info->bound_s <= info->joint_s);
    assert_true(info->joint_kept >= 0 && info->joint_kept <= 15);
    for (int32_t i = 0; i < info->points; i++) {
        assert_near(info->part[i] + 1, i / 4.0 + 1);
        assert_true(isnan(info->split_s[i]) || info->split_s[i] >= info->joint_s * (1 - 1e-9));
        assert_true(info->kept[i] >= 0 && info->kept[i] <= 15);
        assert_true(i == 0 || info->memory_bytes[i] > info->memory_bytes[i - 1]);
        assert_true(isnan(info->joint_of_memory_s[i]) ||
                    !(info->joint_of_memory_s[i] > info->ahead_of_memory_s[i] * (1 + 1e-9)));
    }
    yoke_tradeoff_destroy(tradeoff);
}

static void both_charts_are_drawn(void **state)
{
    (void)state;
    yoke_request *request = ask("2xrtx3090 @ 8GB/s", 4);
    yoke_tradeoff *tradeoff = NULL;
    char *text = NULL;
    assert_done(yoke_request_set_search(request, &brief));
    assert_done(yoke_tradeoff_find(request, 2, &tradeoff));
    assert_done(yoke_tradeoff_draw(tradeoff, YOKE_TRADEOFF_SPLIT, &text));
    check_text(text, "<svg", "</svg>\n");
    assert_done(yoke_tradeoff_draw(tradeoff, YOKE_TRADEOFF_MEMORY, &text));
    check_text(text, "<svg", "</svg>\n");
    text = NULL;
    assert_says(yoke_tradeoff_draw(tradeoff, (enum yoke_tradeoff_chart)2, &text), YOKE_ERROR_USAGE,
                "a trade-off has no chart 2");
    assert_null(text);
    yoke_tradeoff_destroy(tradeoff);
    yoke_request_destroy(request);
}

static void what_cannot_be_weighed_is_refused(void **state)
{
    (void)state;
    yoke_request *request = ask("1xrtx3090", 4);
    yoke_tradeoff *tradeoff = NULL;
    assert_says(yoke_tradeoff_find(request, 1, &tradeoff), YOKE_ERROR_USAGE,
                "a curve has 2 to 200 points, not 1");
    assert_mentions(yoke_tradeoff_find(request, 0, &tradeoff), YOKE_ERROR_INPUT, "one device");
    yoke_request_destroy(request);
    request = ask("2xrtx3090", 4);
    assert_done(yoke_request_set_memory(request, 1 << 28));
    assert_mentions(yoke_tradeoff_find(request, 2, &tradeoff), YOKE_ERROR_NO_FIT, "gpt2");
    yoke_request_destroy(request);
    assert_null(tradeoff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deciding_together_is_never_slower_than_any_split),
        cmocka_unit_test(both_charts_are_drawn),
        cmocka_unit_test(what_cannot_be_weighed_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
