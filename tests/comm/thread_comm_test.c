#include "support/exchanges/thread_comm.h"
#include "support/support.h"

#include <string.h>

/* One rank's device, lane, world and group of all. */
struct station {
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
    struct yk_comm_world *world;
    struct yk_comm_group *all;
};

static const struct yk_backend *const backend = &yk_backend_cpu;
static const struct yk_comm_backend *const comm = &yk_comm_threads;

static void leave(struct station *station)
{
    comm->group_destroy(station->all);
    comm->close(station->world);
    backend->lane_destroy(station->lane);
    backend->close(station->device);
}

static yk_status join(int32_t ranks, struct station *out)
{
    yk_status status;
    const int32_t everyone[] = {0, 1, 2, 3};
    const struct yk_backend_device_options options = {.threads = 1};
    struct station station = {0};
    YK_TRY(backend->open(&options, &station.device));
    YK_TRY_GOTO(backend->lane_create(station.device, "comm", &station.lane), undo);
    const struct yk_comm_options comm_options = {
        .backend = backend, .device = station.device, .lane = station.lane};
    YK_TRY_GOTO(comm->open(&comm_options, &station.world), undo);
    YK_TRY_GOTO(comm->group_create(station.world, everyone, ranks, &station.all), undo);
    *out = station;
    return YK_OK;
undo:
    leave(&station);
    return status;
}

/* What the lane has done by now, and what went wrong. */
static yk_status finish(const struct station *station)
{
    YK_TRY(backend->lane_synchronize(station->lane));
    return comm->check(station->world);
}

/* One rank does something else than the others expect. */
enum mischief {
    FAILS_BEFORE_IT_OPENS,
    FAILS_BEFORE_THE_EXCHANGE,
    ENDS_THE_RUN,
    ANOTHER_ORDER,
    SENDS_ANOTHER_NUMBER,
};

static yk_status misbehave(const struct station *station, enum mischief mischief, double *number)
{
    struct yk_comm_broadcast broadcast = {.group = station->all, .size = sizeof *number};
    struct yk_comm_send_recv message = {.world = station->world, .size = sizeof *number, .tag = 8};
    broadcast.bytes = number;
    message.bytes = number;
    switch (mischief) {
    case FAILS_BEFORE_THE_EXCHANGE:
        return yk_fail(YK_ERROR_INPUT, "its data is bad");
    case ENDS_THE_RUN:
        comm->abort(station->world, 6);
        break;
    case SENDS_ANOTHER_NUMBER:
        comm->send(&message);
        break;
    default:
        comm->broadcast(&broadcast);
        break;
    }
    return finish(station);
}

static yk_status behave(const struct station *station, int32_t rank, enum mischief mischief,
                        double *number)
{
    struct yk_comm_all_reduce all_reduce = {
        .group = station->all, .count = 1, .type = YK_COMM_FP64};
    struct yk_comm_send_recv message = {
        .world = station->world, .size = sizeof *number, .peer = 1, .tag = 7};
    all_reduce.numbers = number;
    message.bytes = number;
    if (mischief != SENDS_ANOTHER_NUMBER) {
        comm->all_reduce(&all_reduce);
    } else if (rank == 0) {
        comm->recv(&message);
    }
    return finish(station);
}

static yk_status run_mischief(int32_t rank, int32_t ranks, void *user)
{
    const enum mischief mischief = *(const enum mischief *)user;
    struct station station;
    double number = 1;
    if (rank == 1 && mischief == FAILS_BEFORE_IT_OPENS) {
        return yk_fail(YK_ERROR_SYSTEM, "it has no memory");
    }
    YK_TRY(join(ranks, &station));
    const yk_status status = rank == 1 ? misbehave(&station, mischief, &number)
                                       : behave(&station, rank, mischief, &number);
    leave(&station);
    return status;
}

static void every_rank_learns_of(enum mischief mischief, yk_status status, const char *sentence)
{
    assert_fails(yk_thread_world_run(3, run_mischief, &mischief), status, sentence);
}

static void a_rank_that_fails_before_it_opens_wakes_the_others(void **state)
{
    (void)state;
    every_rank_learns_of(FAILS_BEFORE_IT_OPENS, YK_ERROR_SYSTEM, "rank 1: it has no memory");
}

static void a_rank_that_fails_between_exchanges_wakes_the_others(void **state)
{
    (void)state;
    every_rank_learns_of(FAILS_BEFORE_THE_EXCHANGE, YK_ERROR_LOST,
                         "rank 1: left while others wait for it");
}

static void a_rank_that_ends_the_run_wakes_the_others(void **state)
{
    (void)state;
    every_rank_learns_of(ENDS_THE_RUN, YK_ERROR_LOST, "rank 1: ended the run with code 6");
}

static void exchanges_that_differ_are_refused(void **state)
{
    (void)state;
    const enum mischief order = ANOTHER_ORDER;
    assert_int_equal(yk_thread_world_run(3, run_mischief, (void *)(uintptr_t)&order),
                     YK_ERROR_LOST);
    assert_non_null(strstr(yk_status_message(), "ranks differ in their order of exchanges"));
}

static void messages_that_do_not_match_are_refused(void **state)
{
    (void)state;
    every_rank_learns_of(SENDS_ANOTHER_NUMBER, YK_ERROR_LOST,
                         "rank 0: waits for message 7 of 8 bytes, but rank 1 sends message 8 of 8 "
                         "bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_fails_before_it_opens_wakes_the_others),
        cmocka_unit_test(a_rank_that_fails_between_exchanges_wakes_the_others),
        cmocka_unit_test(a_rank_that_ends_the_run_wakes_the_others),
        cmocka_unit_test(exchanges_that_differ_are_refused),
        cmocka_unit_test(messages_that_do_not_match_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
