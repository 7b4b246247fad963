#include "cost/layer_costs.h"
#include "model/config.h"
#include "profile/profile.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCH = 4,
    LAYERS = 15, /* of gpt2: embed, 12 blocks, norm, tied head */
};

struct made {
    struct yk_cluster *cluster;
    struct yk_cost_sources sources;
    struct yk_model_cache *cache;
    struct yk_layer_costs *costs;
};

static struct made make(struct yk_cluster *cluster, struct yk_profile *profile)
{
    const struct yk_workload workload = {
        .batch = BATCH, .sequence = 64, .precision = YK_PRECISION_BF16};
    const struct yk_model_config *config = NULL;
    struct made made = {.cluster = cluster, .sources = {.cluster = cluster, .profile = profile}};
    assert_ok(yk_model_config_find_builtin("gpt2", &config));
    assert_ok(yk_model_cache_create(config, &workload, &made.cache));
    assert_ok(yk_layer_costs_create(&made.sources, made.cache, &made.costs));
    return made;
}

static struct made make_line(const char *line)
{
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_cluster_parse_line(line, &cluster));
    return make(cluster, NULL);
}

static struct made make_file(const char *text)
{
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_cluster_read_json(text, strlen(text), "test", &cluster));
    return make(cluster, NULL);
}

static void unmake(struct made *made)
{
    yk_layer_costs_destroy(made->costs);
    yk_model_cache_destroy(made->cache);
    yk_cluster_destroy(made->cluster);
}

static double price_s(const struct made *made, int32_t device, int32_t layer, int64_t samples,
                      enum yk_cost_pass pass)
{
    double seconds = NAN;
    assert_ok(yk_layer_costs_seconds(made->costs, device, layer, samples, pass, &seconds));
    return seconds;
}

/* Asked in an order that mixes layers, sizes and passes, twice. */
static void prices_are_what_layers_cost(void **state)
{
    (void)state;
    struct made made = make_line("1xa30 + 2xtitanxp + 1xa30:50%");
    for (int32_t i = 0; i < 2 * 4 * LAYERS * BATCH * 3; i++) {
        const int32_t mixed = i * 7 % (4 * LAYERS * BATCH * 3);
        const enum yk_cost_pass pass = (enum yk_cost_pass)(mixed % 3);
        const int64_t samples = 1 + mixed / 3 % BATCH;
        const int32_t layer = mixed / 3 / BATCH % LAYERS;
        const int32_t device = mixed / 3 / BATCH / LAYERS;
        const struct yk_model *model = NULL;
        struct yk_cost_time_estimate time = {0};
        assert_ok(yk_model_cache_get(made.cache, samples, false, &model));
        assert_ok(
            yk_cost_layer_time(&made.sources, device, model, &model->layers[layer], pass, &time));
        assert_true(price_s(&made, device, layer, samples, pass) == time.seconds);
    }
    unmake(&made);
}

static void no_samples_cost_no_time(void **state)
{
    (void)state;
    struct made made = make_line("1xa30");
    assert_true(price_s(&made, 0, 1, 0, YK_COST_PASS_FORWARD) == 0);
    assert_true(price_s(&made, 0, 1, 0, YK_COST_PASS_BACKWARD) == 0);
    assert_true(price_s(&made, 0, 1, 0, YK_COST_PASS_UPDATE) > 0);
    assert_true(price_s(&made, 0, 1, 0, YK_COST_PASS_UPDATE) ==
                price_s(&made, 0, 1, BATCH, YK_COST_PASS_UPDATE));
    unmake(&made);
}

static void devices_alike_are_of_one_kind(void **state)
{
    (void)state;
    struct made made = make_line("2x(1xa30 + 1xtitanxp) + 1xa30:12GiB + 1xa30:50%");
    /* The memory's size changes no time. */
    static const int32_t expected[] = {0, 1, 0, 1, 0, 2};
    for (int32_t i = 0; i < 6; i++) {
        assert_int_equal(yk_layer_costs_device_speed_class(made.costs, i), expected[i]);
    }
    unmake(&made);
}

#define DEVICE(name, measured)                                                                     \
    "{\"name\":\"" name "\",\"type\":\"a30\",\"measured\":[" measured "]}"
#define BLOCK(forward)                                                                             \
    "{\"layer\":\"gpt-block\",\"batch\":1,\"forward\":\"" forward "\",\"backward\":\"2s\"}"
#define BLOCK_3(forward)                                                                           \
    "{\"layer\":\"layer 3\",\"batch\":1,\"forward\":\"" forward "\",\"backward\":\"9s\"}"

static void measured_tables_make_devices_differ(void **state)
{
    (void)state;
    struct made made = make_file(
        "{\"yoke\":1,\"kind\":\"cluster\",\"devices\":[" DEVICE("a", BLOCK("1s")) "," DEVICE(
            "b",
            BLOCK("1s")) "," DEVICE("c",
                                    BLOCK("3s")) "," DEVICE("d",
                                                            "") "],\"links\":{\"bandwidth\":\"1GB/"
                                                                "s\",\"latency\":\"1us\"}}");
    static const int32_t expected[] = {0, 0, 1, 2};
    for (int32_t i = 0; i < 4; i++) {
        assert_int_equal(yk_layer_costs_device_speed_class(made.costs, i), expected[i]);
    }
    assert_true(fabs(price_s(&made, 1, 5, 2, YK_COST_PASS_FORWARD) - 2) < 1e-12);
    assert_true(fabs(price_s(&made, 2, 5, 2, YK_COST_PASS_FORWARD) - 6) < 1e-12);
    unmake(&made);
}

/* Blocks have one shape, and the table calls one of them by its name. */
static void a_layer_that_the_table_names_has_its_own_price(void **state)
{
    (void)state;
    struct made made = make_file("{\"yoke\":1,\"kind\":\"cluster\",\"devices\":[" DEVICE(
        "a", BLOCK("1s") "," BLOCK_3(
                 "5s")) "],\"links\":{\"bandwidth\":\"1GB/s\",\"latency\":\"1us\"}}");
    for (int32_t block = 0; block < 12; block++) {
        const double expected_s = block == 3 ? 5 : 1;
        assert_true(fabs(price_s(&made, 0, 1 + block, 1, YK_COST_PASS_FORWARD) - expected_s) <
                    1e-12);
    }
    unmake(&made);
}

static void assert_origin(const struct made *made, const char *expected)
{
    struct yk_text said = {0};
    yk_error_band_describe_origins(yk_layer_costs_error_band(made->costs), &said);
    assert_string_equal(yk_text_chars(&said), expected);
    yk_text_free(&said);
}

/* Two blocks, of 1 s each, from a profile; an embedding from the cluster file, of 6 s. */
static void prices_say_where_they_come_from(void **state)
{
    (void)state;
    static const char text[] =
        "{\"yoke\":1,\"kind\":\"cluster\",\"devices\":[{\"name\":\"a\",\"type\":\"a30\","
        "\"measured\":[{\"layer\":\"embed\",\"batch\":1,\"forward\":\"6s\",\"backward\":\"6s\"}]}]"
        "}";
    char path[] = "/tmp/yoke-prices-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(unlink(path), 0);
    struct yk_profile *profile = NULL;
    struct yk_cluster *cluster = NULL;
    assert_ok(yk_profile_open_or_create(path, &profile));
    assert_ok(yk_cluster_read_json(text, strlen(text), "test", &cluster));
    struct made made = make(cluster, profile);
    const struct yk_profile_layer_key block = {
        .device = "a30",
        .part = 1,
        .shape = yk_model_cache_get_whole_batch(made.cache)->layers[1].shape,
        .sequence = 64,
        .pass = "forward",
    };
    const struct yk_profile_measurement measured = {.value = 1, .samples = 5, .versions = "test"};
    assert_ok(yk_profile_add_layer_time(profile, &block, 1, &measured));
    assert_origin(&made, "");
    assert_true(price_s(&made, 0, 1, 1, YK_COST_PASS_FORWARD) == 1);
    assert_origin(&made, "measured on this machine");
    assert_true(price_s(&made, 0, 2, 1, YK_COST_PASS_FORWARD) == 1);
    assert_true(price_s(&made, 0, 2, 1, YK_COST_PASS_FORWARD) == 1);
    assert_true(price_s(&made, 0, 0, 1, YK_COST_PASS_FORWARD) == 6);
    assert_origin(&made, "measured on this machine (25 % of the time); measured, says the cluster "
                         "file (75 % of the time)");
    unmake(&made);
    yk_profile_close(profile);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_are_what_layers_cost),
        cmocka_unit_test(no_samples_cost_no_time),
        cmocka_unit_test(devices_alike_are_of_one_kind),
        cmocka_unit_test(measured_tables_make_devices_differ),
        cmocka_unit_test(a_layer_that_the_table_names_has_its_own_price),
        cmocka_unit_test(prices_say_where_they_come_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
