/* Exchanges of a device's memory through the host's, with threads for ranks and a CPU that says
 * that all memory is the device's. */
#include "support/support.h"

#include "comm/comm.h"
#include "support/exchanges/exchange_table.h"
#include "support/exchanges/host_messages.h"
#include "support/exchanges/thread_comm.h"

#include <string.h>

static struct yk_backend pretended;

static bool holds_all(const struct yk_backend_device *device, const void *memory)
{
    (void)device;
    return memory != NULL;
}

struct job {
    size_t block_bytes; /* of the stage */
    bool on_device;
};

/* The table over a staged world, whose lane is another than that of the world that carries it. */
static yk_status run_staged(const struct exchange_station *station, const struct job *job)
{
    yk_status status;
    struct yk_communicator staged = {0};
    struct yk_backend_lane *lane = NULL;
    YK_TRY(pretended.lane_create(station->device, "staged", &lane));
    const struct yk_comm_options options = {
        .backend = job->on_device ? &pretended : &yk_backend_cpu,
        .device = station->device,
        .lane = lane,
        .block_bytes = job->block_bytes,
        .host_communicator = &station->ranks,
    };
    YK_TRY_GOTO(yk_communicator_open(&yk_comm_host_staging, &options, &staged), done);
    YK_TRY_GOTO(exchange_table_run(&staged, 20000, 1), done);
    YK_TRY_GOTO(exchange_host_run(&staged), done);
    status = YK_OK;
done:
    yk_communicator_close(&staged);
    pretended.lane_destroy(lane);
    return status;
}

static yk_status run_rank(int32_t rank, int32_t ranks, void *user)
{
    struct exchange_station station;
    (void)rank;
    (void)ranks;
    YK_TRY(exchange_station_open(&yk_comm_threads, 0, &station));
    const yk_status status = run_staged(&station, user);
    exchange_station_close(&station);
    return status;
}

static void what_is_on_a_device_is_exchanged_as_the_table_says(void **state)
{
    (void)state;
    pretended = yk_backend_cpu;
    pretended.contains = holds_all;
    static const size_t blocks[] = {1, 0}; /* many slices of a part, and all at once */
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        struct job job = {blocks[i], true};
        for (int32_t ranks = 2; ranks <= 4; ranks++) {
            assert_ok(yk_thread_world_run(ranks, run_rank, &job));
        }
    }
}

static void what_is_on_the_host_goes_as_it_is(void **state)
{
    (void)state;
    pretended = yk_backend_cpu;
    struct job job = {0, false};
    assert_ok(yk_thread_world_run(3, run_rank, &job));
}

static yk_status refuse(struct yk_backend_device *device, size_t bytes, void **out)
{
    (void)device;
    (void)bytes;
    (void)out;
    return yk_fail(YK_ERROR_NO_FIT, "there is no memory");
}

/* Rank 1 has no memory to stage messages in. */
static yk_status be_rich_or_poor(int32_t rank, int32_t ranks, void *user)
{
    struct exchange_station station;
    struct yk_communicator staged = {0};
    struct yk_backend backend = yk_backend_cpu;
    (void)ranks;
    (void)user;
    backend.allocate_host = rank == 1 ? refuse : backend.allocate_host;
    YK_TRY(exchange_station_open(&yk_comm_threads, 0, &station));
    const struct yk_comm_options options = {
        .backend = &backend,
        .device = station.device,
        .lane = station.lane,
        .host_communicator = &station.ranks,
    };
    const yk_status opened = yk_communicator_open(&yk_comm_host_staging, &options, &staged);
    const bool is_right = opened == YK_ERROR_NO_FIT && !staged.world &&
                          strcmp(yk_status_message(), "rank 1: there is no memory") == 0;
    const yk_status status =
        is_right ? YK_OK : yk_fail(YK_ERROR_NUMBERS, "rank %d: %s", (int)rank, yk_status_message());
    exchange_station_close(&station);
    return status;
}

static void a_rank_with_no_memory_for_it_is_not_waited_for(void **state)
{
    (void)state;
    assert_ok(yk_thread_world_run(3, be_rich_or_poor, NULL));
}

/* One thing of every rank must fit into the stage, which has 4 KiB for each at least. */
static yk_status gather_what_is_too_large(int32_t rank, int32_t ranks, void *user)
{
    enum {
        SIZE = 3 * 4096
    };
    static char wholes[2][2 * SIZE];
    static const int64_t firsts[] = {0, 1, 2};
    yk_status status;
    struct exchange_station station;
    struct yk_communicator staged = {0};
    (void)ranks;
    (void)user;
    YK_TRY(exchange_station_open(&yk_comm_threads, 0, &station));
    const struct yk_comm_options options = {.backend = &pretended,
                                            .device = station.device,
                                            .lane = station.lane,
                                            .block_bytes = 1,
                                            .host_communicator = &station.ranks};
    YK_TRY_GOTO(yk_communicator_open(&yk_comm_host_staging, &options, &staged), done);
    const struct yk_comm_all_gather op = {staged.world_group, wholes[rank] + (ptrdiff_t)rank * SIZE,
                                          wholes[rank], firsts, SIZE};
    staged.comm->all_gather(&op);
    status = yk_communicator_synchronize(&staged) == YK_ERROR_INPUT
                 ? YK_OK
                 : yk_fail(YK_ERROR_NUMBERS, "it goes past the end of the stage");
done:
    yk_communicator_close(&staged);
    exchange_station_close(&station);
    return status;
}

static void what_the_stage_has_no_room_for_is_refused(void **state)
{
    (void)state;
    pretended = yk_backend_cpu;
    pretended.contains = holds_all;
    assert_ok(yk_thread_world_run(2, gather_what_is_too_large, NULL));
}

static void a_world_to_carry_messages_is_needed(void **state)
{
    (void)state;
    struct yk_communicator staged;
    const struct yk_comm_options options = {.backend = &yk_backend_cpu};
    assert_int_equal(yk_communicator_open(&yk_comm_host_staging, &options, &staged),
                     YK_ERROR_INPUT);
    assert_string_equal(yk_status_message(), "staged: there is no world to carry messages");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_on_a_device_is_exchanged_as_the_table_says),
        cmocka_unit_test(what_is_on_the_host_goes_as_it_is),
        cmocka_unit_test(a_rank_with_no_memory_for_it_is_not_waited_for),
        cmocka_unit_test(what_the_stage_has_no_room_for_is_refused),
        cmocka_unit_test(a_world_to_carry_messages_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
