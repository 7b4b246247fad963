#include "report/profile/report.h"

#include "support/reports/markup.h"
#include "support/reports/page.h"
#include "support/support.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DAY = 86400,
    NOW = 1000 * DAY,
    SIZES = 8,
};

struct shown {
    char folder[40];
    char path[64];
    struct yk_profile *profile;
    struct yk_arena *arena;
    struct yk_profile_report report;
};

static void begin(struct shown *shown)
{
    *shown = (struct shown){.folder = "/tmp/yoke-profile-report-XXXXXX"};
    assert_non_null(mkdtemp(shown->folder));
    snprintf(shown->path, sizeof shown->path, "%s/profile.db", shown->folder);
    assert_ok(yk_profile_open_or_create(shown->path, &shown->profile));
    assert_ok(yk_arena_create(&shown->arena));
}

static void end(struct shown *shown)
{
    yk_arena_destroy(shown->arena);
    yk_profile_close(shown->profile);
    unlink(shown->path);
    rmdir(shown->folder);
}

static struct yk_profile_measurement measured(const char *subject, double value, int64_t days_ago)
{
    return (struct yk_profile_measurement){.value = value,
                                           .spread = 0.025,
                                           .samples = 7,
                                           .versions = "OpenBLAS 0.3",
                                           .measured_at = NOW - days_ago * DAY,
                                           .host = "one",
                                           .cpu = strncmp(subject, "cpu", 3) == 0 ? "Tiny" : ""};
}

static void add_layer(struct shown *shown, const char *device, const char *pass, int64_t batch,
                      double seconds, int64_t days_ago)
{
    const struct yk_profile_layer_key layer = {device, 1, "norm C48 fp32", 16, pass};
    const struct yk_profile_measurement measurement = measured(device, seconds, days_ago);
    assert_ok(yk_profile_add_layer_time(shown->profile, &layer, batch, &measurement));
}

static void add_layer_of_an_hour_before(struct shown *shown, int64_t days_ago)
{
    const struct yk_profile_layer_key layer = {"cpu:1", 1, "norm C48 fp32", 16, "update"};
    struct yk_profile_measurement measurement = measured(layer.device, 1e-3, days_ago);
    measurement.measured_at -= DAY / 24;
    assert_ok(yk_profile_add_layer_time(shown->profile, &layer, 1, &measurement));
}

/* A ring of four: T = 3·(α + s/(4·1 GB/s)) with α = 10 µs, so the knee is 9·4·10 µs·1 GB/s, 360 kB
 * or 352 KiB, and each link carries 1 GB/s in the end. */
static void add_gathers(struct shown *shown)
{
    const struct yk_profile_link_key link = {"cpu:1-h200 between nodes", "all_gather", 4};
    int64_t bytes = 1024;
    for (int i = 0; i < SIZES; i++, bytes *= 4) {
        const struct yk_profile_measurement measurement =
            measured(link.link, 3 * (10e-6 + (double)bytes / 4e9), 3);
        assert_ok(yk_profile_add_link_time(shown->profile, &link, bytes, &measurement));
    }
}

static void fill(struct shown *shown)
{
    const struct yk_profile_fact_key fact = {"cpu:1", YK_PROFILE_FACT_CONTEXT_BYTES};
    const struct yk_profile_measurement bytes = measured(fact.subject, 2097152, 0);
    add_layer(shown, "cpu:1", "forward", 1, 1e-3, 3);
    add_layer(shown, "cpu:1", "forward", 2, 2e-3, 3);
    add_layer(shown, "cpu:1", "backward", 1, 3e-3, 20);
    add_layer(shown, "cpu:1", "update", 1, 5e-4, 3);
    add_layer(shown, "h200", "forward", 1, 1e-5, 3);
    add_gathers(shown);
    assert_ok(yk_profile_add_fact(shown->profile, &fact, &bytes));
}

static void make(struct shown *shown, const char *device)
{
    const struct yk_profile_report_request request = {.path = "p.db", .now = NOW, .device = device};
    assert_ok(yk_profile_report_make(shown->profile, &request, shown->arena, &shown->report));
}

static void tables_have_a_row_for_each_number_of_samples(void **state)
{
    (void)state;
    struct shown shown;
    struct yk_text text = {0};
    begin(&shown);
    fill(&shown);
    make(&shown, NULL);
    assert_ok(yk_profile_report_write_text(&shown.report, 80, &text));
    page_expect(&text, "p.db: 5 times of layers, 8 of messages, 1 fact\n");
    page_expect(&text,
                "\ncpu:1\n  measured 3 days ago, the oldest 2 weeks ago, on one (Tiny), with "
                "OpenBLAS 0.3\n");
    page_expect(&text,
                "  norm C48 fp32      16        1      1ms       3ms   500us   2.5 %     7\n"
                "  norm C48 fp32      16        2      2ms                     2.5 %     7\n");
    page_expect(&text, "\nh200\n  measured 3 days ago, on one, with OpenBLAS 0.3\n");
    page_expect(&text,
                "\ncpu:1: a process holds 2MiB besides what it trains, spread 2.5 %, measured "
                "just now\n");
    yk_text_free(&text);
    end(&shown);
}

static void ages_that_read_the_same_are_given_once(void **state)
{
    (void)state;
    struct shown shown;
    struct yk_text text = {0};
    begin(&shown);
    add_layer(&shown, "cpu:1", "forward", 1, 1e-3, 3);
    add_layer_of_an_hour_before(&shown, 3);
    make(&shown, NULL);
    assert_ok(yk_profile_report_write_text(&shown.report, 80, &text));
    page_expect(&text, "\ncpu:1\n  measured 3 days ago, on one (Tiny), with OpenBLAS 0.3\n");
    yk_text_free(&text);
    end(&shown);
}

/* 64 KiB: 3·(10 µs + 16.384 µs) is 79.2 µs, and three quarters of the bytes in that 621 MB/s. */
static void links_have_a_curve_with_its_knee(void **state)
{
    (void)state;
    struct shown shown;
    struct yk_text text = {0};
    begin(&shown);
    fill(&shown);
    make(&shown, NULL);
    assert_ok(yk_profile_report_write_text(&shown.report, 80, &text));
    page_expect(&text, "\ncpu:1-h200 between nodes, all_gather among 4 ranks\n"
                       "  measured 3 days ago, on one (Tiny), with OpenBLAS 0.3\n"
                       "  knee 352KiB: 90 % of 1GB/s, latency 30.0us\n\n");
    page_expect(&text, "^ knee 352KiB ---");
    page_expect(&text, "   64KiB  79.2us      621MB/s   2.5 %     7\n");
    const char *last = strstr(text.bytes, "16MiB\n"); /* of the sizes under the curve */
    const char *first = last;
    while (first && first[-1] != '\n') {
        first--;
    }
    assert_non_null(first);
    assert_in_range(last + 5 - first, 60, 80);
    yk_text_free(&text);
    end(&shown);
}

static void a_device_is_shown_alone_with_its_links(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        int32_t layers, links, facts;
    } cases[] = {{"cpu", 1, 1, 1},  {"cpu:1", 1, 1, 1}, {"cpu:2", 0, 0, 0}, {"h200", 1, 1, 0},
                 {"cuda", 1, 1, 0}, {"h20", 0, 0, 0},   {"cp", 0, 0, 0}};
    struct shown shown;
    begin(&shown);
    fill(&shown);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make(&shown, cases[i].device);
        assert_int_equal(shown.report.layer_count, cases[i].layers);
        assert_int_equal(shown.report.link_count, cases[i].links);
        assert_int_equal(shown.report.fact_count, cases[i].facts);
        assert_int_equal(shown.report.known, 5 + SIZES + 1);
    }
    end(&shown);
}

static void json_has_every_number_and_the_knees(void **state)
{
    (void)state;
    struct shown shown;
    struct yk_text text = {0};
    struct yk_json *root = NULL;
    begin(&shown);
    fill(&shown);
    make(&shown, NULL);
    assert_ok(yk_profile_report_write_json(&shown.report, &text));
    assert_ok(yk_json_parse(text.bytes, text.length, &root));
    assert_int_equal(yk_json_array_count(yk_json_get_member(root, "layers")), 5);
    assert_int_equal(yk_json_array_count(yk_json_get_member(root, "links")), SIZES);
    assert_int_equal(yk_json_array_count(yk_json_get_member(root, "facts")), 1);
    assert_int_equal(yk_json_array_count(yk_json_get_member(root, "knees")), 1);
    page_expect(&text, "\"message\": \"all_gather\", \"ranks\": 4, \"bytes\": 65536, ");
    page_expect(&text,
                "\"measured_at\": 86140800, \"host\": \"one\", \"cpu\": \"Tiny\", \"versions\": "
                "\"OpenBLAS 0.3\"}");
    yk_json_destroy(root);
    yk_text_free(&text);
    end(&shown);
}

static size_t count_of(const struct yk_text *picture, const char *element)
{
    size_t count = 0;
    assert_true(markup_is_balanced(yk_text_chars(picture), element, &count));
    assert_null(strstr(picture->bytes, "nan"));
    assert_null(strstr(picture->bytes, "inf"));
    return count;
}

/* A circle for each size in both charts, and one around the knee. */
static void pictures_show_every_point(void **state)
{
    (void)state;
    struct shown shown;
    struct yk_text link = {0};
    struct yk_text layer = {0};
    int32_t next = 0;
    begin(&shown);
    fill(&shown);
    make(&shown, NULL);
    assert_ok(yk_profile_figures_draw_link_curves(&shown.report, 0, shown.arena, &link, &next));
    assert_int_equal(next, 1);
    assert_int_equal(count_of(&link, "circle"), 2 * SIZES + 1);
    page_expect(&link, ">knee 352KiB</text>");
    page_expect(&link, ">plateau 1GB/s</text>");
    assert_ok(yk_profile_figures_draw_layer_times(&shown.report.layers[0], shown.arena, &layer));
    assert_int_equal(count_of(&layer, "circle"), 3);
    page_expect(&layer, ">update 500us</text>");
    page_expect(&layer, "norm C48 fp32 on cpu:1, samples of 16 tokens");
    yk_text_free(&link);
    yk_text_free(&layer);
    end(&shown);
}

/* One size, a time of nothing, and no link at all. */
static void little_is_shown_as_well(void **state)
{
    (void)state;
    const struct yk_profile_link_key link = {"a-b within a node", "send", 2};
    const struct yk_profile_measurement some = measured("cpu:1", 1e-3, 0);
    struct shown shown;
    struct yk_text text = {0};
    int32_t next = 0;
    begin(&shown);
    make(&shown, NULL);
    assert_int_equal(shown.report.known, 0);
    assert_ok(yk_profile_report_write_json(&shown.report, &text));
    page_expect(&text, "\"knees\": []");
    add_layer(&shown, "cpu:1", "forward", 1, 0, 0);
    assert_ok(yk_profile_add_link_time(shown.profile, &link, 8, &some));
    make(&shown, NULL);
    assert_ok(yk_profile_report_write_text(&shown.report, 20, &text));
    page_expect(&text, "no knee: one size tells none");
    yk_text_free(&text);
    text = (struct yk_text){0};
    assert_ok(yk_profile_figures_draw_link_curves(&shown.report, 0, shown.arena, &text, &next));
    assert_int_equal(count_of(&text, "circle"), 2);
    yk_text_free(&text);
    text = (struct yk_text){0};
    assert_ok(yk_profile_figures_draw_layer_times(&shown.report.layers[0], shown.arena, &text));
    assert_int_equal(count_of(&text, "circle"), 0);
    yk_text_free(&text);
    end(&shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_a_row_for_each_number_of_samples),
        cmocka_unit_test(ages_that_read_the_same_are_given_once),
        cmocka_unit_test(links_have_a_curve_with_its_knee),
        cmocka_unit_test(a_device_is_shown_alone_with_its_links),
        cmocka_unit_test(json_has_every_number_and_the_knees),
        cmocka_unit_test(pictures_show_every_point),
        cmocka_unit_test(little_is_shown_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
