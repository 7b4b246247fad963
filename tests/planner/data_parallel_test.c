#include "planner/search/data_parallel.h"

#include "support/support.h"

#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void assert_within(double actual, double expected, double factor)
{
    if (!(actual <= expected * factor && actual * factor >= expected)) {
        fail_msg("%.6g is not within %g times of %.6g", actual, factor, expected);
    }
}

/* Two devices, the link between them, and a profile. */
struct place {
    char folder[32];
    char path[64];
    struct yk_device devices[2];
    struct yk_link links[4];
    struct yk_cluster cluster;
    struct yk_cost_sources sources;
};

static void open_place(struct place *place)
{
    *place = (struct place){.folder = "/tmp/yoke-knee-XXXXXX"};
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->path, sizeof place->path, "%s/profile.db", place->folder);
    for (int i = 0; i < 2; i++) {
        place->devices[i] = (struct yk_device){.type = "a30", .fraction = 1};
    }
    for (int i = 0; i < 4; i++) {
        place->links[i] = (struct yk_link){1e-4, 1e10};
    }
    place->cluster = (struct yk_cluster){
        .device_count = 2, .node_count = 1, .devices = place->devices, .links = place->links};
    place->sources = (struct yk_cost_sources){.cluster = &place->cluster};
    assert_ok(yk_profile_open_or_create(place->path, &place->sources.profile));
}

static void close_place(struct place *place)
{
    yk_profile_close(place->sources.profile);
    unlink(place->path);
    rmdir(place->folder);
}

static void add_line(const struct place *place, const char *collective, double latency_s,
                     double bytes_per_s)
{
    const struct yk_profile_link_key link = {"a30-a30 within a node", collective, 2};
    for (int64_t bytes = 1024; bytes <= 16777216; bytes *= 4) {
        const struct yk_profile_measurement measurement = {
            .value = latency_s + (double)bytes / bytes_per_s, .samples = 5, .versions = "none"};
        assert_ok(yk_profile_add_link_time(place->sources.profile, &link, bytes, &measurement));
    }
}

static double block_of(const struct place *place)
{
    static const int32_t devices[] = {0, 1};
    const struct yk_plan_request request = {.cost_sources = &place->sources,
                                            .decisions = YK_DECIDE_ALL};
    const struct yk_search_context context = {.request = &request};
    double block = 0;
    assert_ok(yk_data_parallel_choose_block_bytes(&context, devices, 2, &block));
    return block;
}

/* Before anything is measured 9·2·100 µs·10 GB/s; then twice the knee of sends, which a round of a
 * ring of two is half of; then that of gathers; never under 1 MiB nor above 64. */
static void the_block_is_the_knee_of_what_was_measured(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    assert_within(block_of(&place), 18e6, 1.001);
    add_line(&place, "send", 100e-6, 1.25e8); /* 1 Gbit/s */
    assert_within(block_of(&place), 1024 * 1024, 1.001);
    add_line(&place, "send", 2e-3, 1.25e8);
    assert_within(block_of(&place), 2 * 2.25e6, 1.001);
    add_line(&place, "all_gather", 4e-3, 1.25e8);
    assert_within(block_of(&place), 4.5e6, 1.001);
    add_line(&place, "all_gather", 1e-1, 1.25e8); /* not reached within the sizes */
    assert_within(block_of(&place), 64 * 1024 * 1024, 1.001);
    close_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_is_the_knee_of_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
