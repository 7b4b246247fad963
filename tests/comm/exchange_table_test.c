#include "support/support.h"

#include "support/exchanges/exchange_table.h"
#include "support/exchanges/host_messages.h"
#include "support/exchanges/thread_comm.h"

static void one_rank_alone_exchanges_with_itself(void **state)
{
    (void)state;
    struct exchange_station station;
    assert_ok(exchange_station_open(&yk_comm_self, 0, &station));
    assert_int_equal(station.ranks.rank, 0);
    assert_int_equal(station.ranks.size, 1);
    assert_ok(exchange_table_run(&station.ranks, 5000, 4));
    assert_ok(exchange_host_run(&station.ranks));
    exchange_station_close(&station);
}

static yk_status run_table(int32_t rank, int32_t ranks, void *user)
{
    struct exchange_station station;
    (void)user;
    YK_TRY(exchange_station_open(&yk_comm_threads, 0, &station));
    yk_status status = YK_OK;
    if (station.ranks.rank != rank || station.ranks.size != ranks) {
        status = yk_fail(YK_ERROR_NUMBERS, "sits in the seat of rank %d", (int)station.ranks.rank);
    }
    if (status == YK_OK) {
        status = exchange_table_run(&station.ranks, 5000, 3);
    }
    if (status == YK_OK) {
        status = exchange_host_run(&station.ranks);
    }
    exchange_station_close(&station);
    return status;
}

static void threads_exchange_as_the_table_says(void **state)
{
    (void)state;
    for (int32_t ranks = 1; ranks <= 4; ranks++) {
        assert_ok(yk_thread_world_run(ranks, run_table, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank_alone_exchanges_with_itself),
        cmocka_unit_test(threads_exchange_as_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
