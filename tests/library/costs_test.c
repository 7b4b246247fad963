#include "public_api.h"

/* Two devices whose blocks were measured at two batches; 1 ms and 1 GB/s between them. */
static const char measured[] =
    "{\"yoke\": 1, \"kind\": \"cluster\", \"devices\": ["
    "{\"name\": \"a\", \"type\": \"rtx3090\", \"measured\": ["
    "{\"layer\": \"gpt-block\", \"batch\": 2, \"forward\": \"10ms\", \"backward\": \"30ms\"},"
    "{\"layer\": \"gpt-block\", \"batch\": 4, \"forward\": \"14ms\", \"backward\": \"38ms\"}]},"
    "{\"name\": \"b\", \"type\": \"rtx3090\"}],"
    "\"links\": [{\"between\": [\"a\", \"b\"], \"bandwidth\": \"1GB/s\", \"latency\": \"1ms\"}]}";

struct fixture {
    yoke_cluster *cluster;
    yoke_model *model;
    yoke_costs *costs;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    const struct yoke_workload workload = {.batch = 3};
    fixture = (struct fixture){0};
    assert_done(yoke_cluster_read(measured, "measured", &fixture.cluster));
    assert_done(yoke_model_open("gpt2", &workload, &fixture.model));
    assert_done(yoke_costs_create(fixture.cluster, NULL, &fixture.costs));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    yoke_cluster_destroy(fixture->cluster); /* before the costs that need it */
    yoke_costs_destroy(fixture->costs);
    yoke_model_destroy(fixture->model);
    return 0;
}

static void measured_times_go_before_datasheets(void **state)
{
    struct fixture *fixture = *state;
    struct yoke_cost cost = {0};
    /* Three samples lie half way between two and four. */
    assert_done(yoke_costs_layer(fixture->costs, fixture->model, 1, 0, YOKE_PASS_FORWARD, &cost));
    assert_near(cost.seconds, 12e-3);
    assert_string_equal(cost.origin, "table");
    assert_done(yoke_costs_layer(fixture->costs, fixture->model, 1, 0, YOKE_PASS_BACKWARD, &cost));
    assert_near(cost.seconds, 34e-3);
    assert_done(yoke_costs_layer(fixture->costs, fixture->model, 1, 1, YOKE_PASS_FORWARD, &cost));
    assert_string_equal(cost.origin, "datasheet");
    assert_true(cost.seconds > 0);
    assert_done(yoke_costs_layer(fixture->costs, fixture->model, 1, 1, YOKE_PASS_UPDATE, &cost));
    assert_true(cost.seconds > 0);
}

static void a_message_costs_latency_and_bytes_over_bandwidth(void **state)
{
    struct fixture *fixture = *state;
    struct yoke_cost cost = {0};
    assert_done(yoke_costs_send(fixture->costs, 0, 1, 2e9, &cost));
    assert_near(cost.seconds, 2.001);
    assert_done(yoke_costs_send(fixture->costs, 1, 1, 2e9, &cost));
    assert_true(cost.seconds == 0);
}

static void collectives_go_around_a_ring(void **state)
{
    struct fixture *fixture = *state;
    static const int32_t devices[] = {0, 1};
    struct yoke_cost cost = {0};
    /* One round of half the bytes; with unequal parts, of the largest; twice that to reduce. */
    assert_done(yoke_costs_collective(fixture->costs, YOKE_COLLECTIVE_ALL_GATHER, devices, 2, 1e9,
                                      0, &cost));
    assert_near(cost.seconds, 0.501);
    assert_done(yoke_costs_collective(fixture->costs, YOKE_COLLECTIVE_REDUCE_SCATTER, devices, 2,
                                      1e9, 0.8e9, &cost));
    assert_near(cost.seconds, 0.801);
    assert_done(yoke_costs_collective(fixture->costs, YOKE_COLLECTIVE_ALL_REDUCE, devices, 2, 1e9,
                                      0, &cost));
    assert_near(cost.seconds, 1.002);
}

static void what_does_not_exist_is_refused(void **state)
{
    struct fixture *fixture = *state;
    static const int32_t devices[] = {0, 7};
    struct yoke_cost cost = {.seconds = -1};
    yoke_costs *costs = fixture->costs;
    assert_says(yoke_costs_layer(costs, fixture->model, 1, 2, YOKE_PASS_FORWARD, &cost),
                YOKE_ERROR_USAGE, "there is no device 2; the cluster has 2, from 0 on");
    assert_says(yoke_costs_layer(costs, fixture->model, 15, 0, YOKE_PASS_FORWARD, &cost),
                YOKE_ERROR_USAGE, "there is no layer 15; gpt2 has 15, from 0 on");
    assert_says(yoke_costs_layer(costs, fixture->model, 1, 0, (enum yoke_pass)3, &cost),
                YOKE_ERROR_USAGE, "there is no pass 3");
    assert_says(yoke_costs_send(costs, 0, 1, NAN, &cost), YOKE_ERROR_USAGE,
                "a message has 0 bytes or more, not nan");
    assert_says(yoke_costs_send(costs, -1, 1, 1, &cost), YOKE_ERROR_USAGE,
                "there is no device -1; the cluster has 2, from 0 on");
    assert_says(yoke_costs_collective(costs, YOKE_COLLECTIVE_ALL_GATHER, devices, 2, 1, 0, &cost),
                YOKE_ERROR_USAGE, "there is no device 7; the cluster has 2, from 0 on");
    assert_says(yoke_costs_collective(costs, YOKE_COLLECTIVE_ALL_GATHER, devices, 0, 1, 0, &cost),
                YOKE_ERROR_USAGE, "a collective has 1 device or more, not 0");
    assert_says(yoke_costs_collective(costs, (enum yoke_collective)3, devices, 1, 1, 0, &cost),
                YOKE_ERROR_USAGE, "there is no collective 3");
    assert_true(cost.seconds == -1);
}

static void a_profile_that_is_not_there_is_refused(void **state)
{
    struct fixture *fixture = *state;
    yoke_costs *costs = NULL;
    assert_mentions(yoke_costs_create(fixture->cluster, "/no/such/profile", &costs),
                    YOKE_ERROR_INPUT, "/no/such/profile");
    assert_null(costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(measured_times_go_before_datasheets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_message_costs_latency_and_bytes_over_bandwidth, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(collectives_go_around_a_ring, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_exist_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_profile_that_is_not_there_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
