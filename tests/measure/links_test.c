/* Messages and copies of three ranks on two nodes, kept in a profile and looked up in it. */
#include "support/support.h"

#include "measure/profiler/profiler.h"
#include "support/exchanges/thread_comm.h"
#include "support/files/scratch.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    RANKS = 3,
    LARGEST = 4096,
    CURVES = 11, /* 4 of the pair in a node, 4 of the pair between nodes, 3 of all */
    SIZES = 3,   /* 8, 1024, 4096 */
};

/* Groups of so many ranks that were made since a test began, counted by each of their ranks. */
static atomic_int groups_made[RANKS + 1];
static _Thread_local struct yk_comm_group *group_of_all; /* the last one, as this rank knows it */

static yk_status count_group(struct yk_comm_world *world, const int32_t *ranks, int32_t count,
                             struct yk_comm_group **out)
{
    YK_TRY(yk_comm_threads.group_create(world, ranks, count, out));
    if (*out) {
        atomic_fetch_add(&groups_made[count], 1);
        group_of_all = count == RANKS ? *out : group_of_all;
    }
    return YK_OK;
}

/* Of all three ranks, one message of nine takes its time: others are taken more often in theirs. */
static void all_gather_slowly(const struct yk_comm_all_gather *op)
{
    if (op->group == group_of_all && op->offsets[RANKS] * (int64_t)op->element_bytes >= LARGEST) {
        const struct timespec pause = {.tv_nsec = 3000000};
        (void)nanosleep(&pause, NULL);
    }
    yk_comm_threads.all_gather(op);
}

static void forget_groups(void)
{
    for (int i = 0; i <= RANKS; i++) {
        atomic_store(&groups_made[i], 0);
    }
}

/* One survey of all ranks; the rows are those of rank 0. */
struct measuring {
    const char *versions;
    int64_t max_bytes;
    bool copies; /* instead of messages */
    bool stops;
    bool stops_at_second;  /* group of all ranks */
    bool slow_all_gathers; /* of the largest size */
    double seconds;
    struct yk_cluster *cluster;
    struct yk_profiler surveys[RANKS];
};

struct rank {
    struct yk_device_context context;
    struct yk_backend_lane *lane;
    struct yk_communicator ranks;
    struct yk_comm_backend counting; /* groups */
};

static yk_status open_rank(struct rank *rank, bool slow_all_gathers)
{
    const struct yk_backend_device_options options = {.threads = 1};
    rank->context.backend = &yk_backend_cpu;
    YK_TRY(yk_backend_cpu.open(&options, &rank->context.device));
    YK_TRY(yk_backend_cpu.lane_create(rank->context.device, "load", &rank->context.lane));
    YK_TRY(yk_backend_cpu.lane_create(rank->context.device, "comm", &rank->lane));
    const struct yk_comm_options comm = {
        .backend = &yk_backend_cpu, .device = rank->context.device, .lane = rank->lane};
    YK_TRY(yk_communicator_open(&yk_comm_threads, &comm, &rank->ranks));
    rank->counting = yk_comm_threads;
    rank->counting.group_create = count_group;
    if (slow_all_gathers) {
        rank->counting.all_gather = all_gather_slowly;
    }
    rank->ranks.comm = &rank->counting;
    return YK_OK;
}

static void close_rank(struct rank *rank)
{
    yk_communicator_close(&rank->ranks);
    yk_backend_cpu.lane_destroy(rank->lane);
    yk_backend_cpu.lane_destroy(rank->context.lane);
    yk_backend_cpu.close(rank->context.device);
}

static bool says_stop(void *user)
{
    const struct measuring *measuring = user;
    return measuring->stops ||
           (measuring->stops_at_second && atomic_load(&groups_made[RANKS]) > RANKS);
}

static yk_status run_rank(int32_t number, int32_t ranks, void *user)
{
    (void)ranks;
    struct measuring *measuring = user;
    struct rank rank = {0};
    yk_status status = open_rank(&rank, measuring->slow_all_gathers);
    const struct yk_measuring_ranks team = {.host_communicator = &rank.ranks,
                                            .context = rank.context};
    const struct yk_profiler_request request = {
        .cluster = measuring->cluster,
        .versions = measuring->versions,
        .seconds = measuring->seconds,
        .callbacks = {.user = measuring, .stop = says_stop},
    };
    struct yk_profiler *profiler = &measuring->surveys[number];
    if (status == YK_OK && measuring->copies) {
        status = yk_profiler_measure_device_copies_up_to(profiler, &team, &request,
                                                         measuring->max_bytes);
    } else if (status == YK_OK) {
        status = yk_profiler_measure_links(profiler, &team, &request, measuring->max_bytes);
    }
    close_rank(&rank);
    return status;
}

static void measure(struct measuring *measuring)
{
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(support_scratch_path("profile.db"), &profile));
    assert_ok(yk_cluster_parse_line("1x(2xcpu:1) + 1x(cpu:1)", &measuring->cluster));
    for (int i = 0; i < RANKS; i++) {
        assert_ok(yk_profiler_init(&measuring->surveys[i]));
    }
    measuring->surveys[0].profile = profile;
    assert_ok(yk_thread_world_run(RANKS, run_rank, measuring));
    yk_profile_close(profile);
}

static void drop(struct measuring *measuring)
{
    for (int i = 0; i < RANKS; i++) {
        yk_profiler_free(&measuring->surveys[i]);
    }
    yk_cluster_destroy(measuring->cluster);
}

/* How many rows a survey ends with, on every rank. */
static int32_t count_rows(struct measuring measuring)
{
    measure(&measuring);
    const int32_t count = measuring.surveys[0].link_count;
    for (int i = 1; i < RANKS; i++) {
        assert_int_equal(measuring.surveys[i].link_count, count);
    }
    drop(&measuring);
    return count;
}

static void every_link_and_number_of_ranks_has_its_curve(void **state)
{
    (void)state;
    static const struct yk_profile_link_key expected[CURVES] = {
        {"cpu:1-cpu:1 within a node", "send", 2},
        {"cpu:1-cpu:1 within a node", "all_gather", 2},
        {"cpu:1-cpu:1 within a node", "reduce_scatter", 2},
        {"cpu:1-cpu:1 within a node", "all_reduce", 2},
        {"cpu:1-cpu:1 between nodes", "send", 2},
        {"cpu:1-cpu:1 between nodes", "all_gather", 2},
        {"cpu:1-cpu:1 between nodes", "reduce_scatter", 2},
        {"cpu:1-cpu:1 between nodes", "all_reduce", 2},
        {"cpu:1-cpu:1 between nodes", "all_gather", 3},
        {"cpu:1-cpu:1 between nodes", "reduce_scatter", 3},
        {"cpu:1-cpu:1 between nodes", "all_reduce", 3},
    };
    struct measuring measuring = {.versions = "one", .max_bytes = LARGEST};
    measure(&measuring);
    const struct yk_profiler *profiler = &measuring.surveys[0];
    assert_int_equal(profiler->link_count, CURVES * SIZES);
    for (int32_t i = 0; i < profiler->link_count; i++) {
        const struct yk_profiler_link_row *row = &profiler->links[i];
        assert_string_equal(row->link.link, expected[i / SIZES].link);
        assert_string_equal(row->link.collective, expected[i / SIZES].collective);
        assert_int_equal(row->link.ranks, expected[i / SIZES].ranks);
        assert_true(row->measurement.value > 0);
        assert_true(row->is_saved);
        assert_true(row->measurement.value == measuring.surveys[2].links[i].measurement.value);
    }
    drop(&measuring);
}

/* A curve is known with all its sizes and these versions, or measured as a whole. */
static void what_is_known_is_not_measured_again(void **state)
{
    (void)state;
    const struct measuring once = {.versions = "one", .max_bytes = 8};
    struct measuring other = once;
    other.versions = "two";
    struct measuring larger = other;
    larger.max_bytes = LARGEST;
    assert_int_equal(count_rows(once), CURVES * 2);
    assert_int_equal(count_rows(once), 0);
    assert_int_equal(count_rows(other), CURVES * 2);
    assert_int_equal(count_rows(larger), CURVES * SIZES);
}

/* Connections of one group may be lucky ones: messages among all ranks go through several. */
static void messages_of_all_ranks_are_measured_through_groups_made_anew(void **state)
{
    (void)state;
    forget_groups();
    assert_int_equal(count_rows((struct measuring){.versions = "one", .max_bytes = LARGEST}),
                     CURVES * SIZES);
    assert_int_equal(atomic_load(&groups_made[2]), 2 * 2); /* two pairs */
    assert_int_equal(atomic_load(&groups_made[RANKS]), 3 * RANKS);
}

static void what_is_broken_off_is_no_curve(void **state)
{
    (void)state;
    assert_int_equal(
        count_rows((struct measuring){.versions = "one", .max_bytes = LARGEST, .stops = true}), 0);
    forget_groups();
    assert_int_equal(count_rows((struct measuring){
                         .versions = "one", .max_bytes = LARGEST, .stops_at_second = true}),
                     (CURVES - 3) * SIZES); /* those of pairs, and none of what all three began */
}

/* Small messages have been taken often enough when it ends, large ones have not. */
static void no_curve_is_kept_in_part(void **state)
{
    (void)state;
    struct measuring measuring = {.versions = "one",
                                  .max_bytes = LARGEST,
                                  .stops_at_second = true,
                                  .slow_all_gathers = true,
                                  .seconds = 0.3};
    forget_groups();
    measure(&measuring);
    const struct yk_profiler *profiler = &measuring.surveys[0];
    assert_true(profiler->link_count >= (CURVES - 3) * SIZES);
    assert_int_equal(profiler->link_count % SIZES, 0);
    for (int32_t i = 0; i < profiler->link_count; i++) {
        const struct yk_profile_link_key *link = &profiler->links[i].link;
        assert_true(link->ranks == 2 || strcmp(link->collective, "all_gather") != 0);
    }
    drop(&measuring);
}

/* Of three ranks whose devices are alike: 4 KiB and 16 KiB, both ways. */
static void copies_are_rows_of_the_way_to_the_host(void **state)
{
    (void)state;
    struct measuring measuring = {.versions = "one", .max_bytes = 16384, .copies = true};
    struct measuring second = measuring;
    measure(&measuring);
    const struct yk_profiler *profiler = &measuring.surveys[0];
    assert_int_equal(profiler->link_count, 4);
    for (int32_t i = 0; i < 4; i++) {
        const struct yk_profiler_link_row *row = &profiler->links[i];
        assert_string_equal(row->link.link, "cpu:1-host");
        assert_string_equal(row->link.collective, i < 2 ? "to device" : "from device");
        assert_int_equal(row->link.ranks, 1);
        assert_int_equal(row->bytes, i % 2 == 0 ? 4096 : 16384);
        assert_true(row->measurement.value > 0);
    }
    drop(&measuring);
    assert_int_equal(count_rows(second), 0);
}

#define IN_A_FOLDER(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(every_link_and_number_of_ranks_has_its_curve),
        IN_A_FOLDER(what_is_known_is_not_measured_again),
        IN_A_FOLDER(messages_of_all_ranks_are_measured_through_groups_made_anew),
        IN_A_FOLDER(what_is_broken_off_is_no_curve),
        IN_A_FOLDER(no_curve_is_kept_in_part),
        IN_A_FOLDER(copies_are_rows_of_the_way_to_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
