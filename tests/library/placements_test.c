#include "public_api.h"

static const struct yoke_search counted = {.moves = 200};

static yoke_placements *compare(yoke_request *request)
{
    yoke_placements *placements = NULL;
    assert_done(yoke_request_set_search(request, &counted));
    assert_done(yoke_placements_find(request, &placements));
    yoke_request_destroy(request); /* the placements hold it */
    return placements;
}

static void all_ways_are_compared_and_the_fastest_that_fits_wins(void **state)
{
    (void)state;
    yoke_placements *placements = compare(ask("1xrtx6000ada + 1xrtx3090", 4));
    const struct yoke_placements_info *info = yoke_placements_info(placements);
    assert_true(info->count >= 5);
    assert_contains(info->source, "datasheet");
    const struct yoke_placement *winner = yoke_placements_at(placements, info->winner);
    assert_non_null(winner);
    for (int32_t i = 0; i < info->count; i++) {
        const struct yoke_placement *placement = yoke_placements_at(placements, i);
        assert_true(!placement->fits || placement->step_s >= winner->step_s);
        assert_true(placement->bound_s > 0);
        assert_true(placement->micro_batches >= 1);
        assert_true(placement->missing_device == -1);
    }
    assert_true(winner->fits);
    assert_null(winner->refusal);
    assert_true(winner->step_s >= winner->bound_s * (1 - 1e-9));
    assert_null(yoke_placements_at(placements, info->count));
    yoke_placements_destroy(placements);
}

static void one_way_alone_is_asked_for(void **state)
{
    (void)state;
    yoke_request *request = ask("1xrtx6000ada + 1xrtx3090", 4);
    assert_done(yoke_request_set_algorithm(request, "auto"));
    yoke_placements *placements = compare(request);
    assert_int_equal(yoke_placements_info(placements)->count, 1);
    assert_string_equal(yoke_placements_at(placements, 0)->name, "auto");
    yoke_placements_destroy(placements);
}

/* Everything on the second device, as the map says. */
static void a_map_is_followed_and_written_again(void **state)
{
    (void)state;
    yoke_request *request = ask("1xrtx6000ada + 1xrtx3090", 4);
    char *map = NULL;
    assert_says(yoke_request_set_map(request, "{}", NULL), YOKE_ERROR_USAGE,
                "yoke_request_set_map: source must not be NULL");
    assert_done(yoke_request_set_map(request, "{\"\": 1}", "mine"));
    assert_done(yoke_request_set_algorithm(request, "map"));
    yoke_placements *placements = compare(request);
    const struct yoke_placement *placement = yoke_placements_at(placements, 0);
    for (int32_t l = 0; l < 15; l++) {
        assert_int_equal(yoke_placements_device(placements, 0, l, 0), 1);
    }
    assert_int_equal(yoke_placements_device(placements, 0, 15, 0), -1);
    assert_int_equal(yoke_placements_device(placements, 0, 0, 1), -1);
    assert_int_equal(yoke_placements_device(placements, 1, 0, 0), -1);
    assert_int_equal(placement->peak_bytes[0], 0);
    assert_true(placement->peak_bytes[1] > 16 * INT64_C(124439808));
    assert_false(placement->divided);
    assert_done(yoke_placements_device_map(placements, 0, &map));
    assert_contains(map, "\"\": 1");
    yoke_free(map);
    yoke_placements_destroy(placements);
}

static void the_way_named_map_needs_one(void **state)
{
    (void)state;
    yoke_request *request = ask("1xrtx6000ada + 1xrtx3090", 4);
    yoke_placements *placements = NULL;
    assert_done(yoke_request_set_map(request, "{\"\": 1}", "mine"));
    assert_done(yoke_request_set_map(request, NULL, NULL));
    assert_done(yoke_request_set_algorithm(request, "map"));
    assert_says(yoke_placements_find(request, &placements), YOKE_ERROR_USAGE,
                "the way of placing \"map\" needs a map to follow");
    assert_null(placements);
    yoke_request_destroy(request);
}

static void what_does_not_fit_is_a_result_with_no_winner(void **state)
{
    (void)state;
    const struct yoke_workload workload = {.batch = 4};
    yoke_model *model = NULL;
    yoke_cluster *cluster = NULL;
    yoke_request *request = NULL;
    char *text = NULL;
    assert_done(yoke_model_open("llama3-8b", &workload, &model));
    assert_done(yoke_cluster_open("2xrtx3090", &cluster));
    assert_done(yoke_request_create(model, cluster, &request));
    assert_done(yoke_request_set_algorithm(request, "heft"));
    yoke_placements *placements = compare(request);
    assert_int_equal(yoke_placements_info(placements)->winner, -1);
    const struct yoke_placement *placement = yoke_placements_at(placements, 0);
    assert_false(placement->fits);
    if (!placement->refusal) {
        assert_true(placement->missing_device >= 0);
        assert_true(placement->missing_bytes > 0);
    }
    assert_says(yoke_placements_write(placements, 5, YOKE_SCHEDULE_SVG, &text), YOKE_ERROR_USAGE,
                "there is no placement 5; there are 1, from 0 on");
    assert_mentions(yoke_placements_device_map(placements, -1, &text), YOKE_ERROR_USAGE,
                    "there is no placement -1");
    assert_null(text);
    yoke_placements_destroy(placements);
    yoke_cluster_destroy(cluster);
    yoke_model_destroy(model);
}

static void a_step_is_drawn(void **state)
{
    (void)state;
    yoke_request *request = ask("1xrtx6000ada + 1xrtx3090", 4);
    char *text = NULL;
    assert_done(yoke_request_set_micro_batches(request, 2));
    assert_done(yoke_request_set_algorithm(request, "pipeline"));
    yoke_placements *placements = compare(request);
    assert_int_equal(yoke_placements_at(placements, 0)->micro_batches, 2);
    assert_done(yoke_placements_write(placements, 0, YOKE_SCHEDULE_SVG, &text));
    assert_contains(text, "gpt2, scheduled by pipeline");
    check_text(text, "<svg", "</svg>\n");
    assert_done(yoke_placements_write(placements, 0, YOKE_SCHEDULE_TRACE, &text));
    assert_contains(text, "layer 11");
    yoke_free(text);
    yoke_placements_destroy(placements);
}

static void ways_are_listed(void **state)
{
    (void)state;
    int32_t count = 0;
    while (yoke_placement_algorithm(count)) {
        count++;
    }
    assert_int_equal(count, 6); /* auto, map, heft, heft-memory, pipeline, best */
    assert_null(yoke_placement_algorithm(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_are_compared_and_the_fastest_that_fits_wins),
        cmocka_unit_test(one_way_alone_is_asked_for),
        cmocka_unit_test(a_map_is_followed_and_written_again),
        cmocka_unit_test(the_way_named_map_needs_one),
        cmocka_unit_test(what_does_not_fit_is_a_result_with_no_winner),
        cmocka_unit_test(a_step_is_drawn),
        cmocka_unit_test(ways_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
