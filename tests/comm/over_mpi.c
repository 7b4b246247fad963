/* The exchange table over MPI: over_mpi PLUGIN BLOCK_BYTES LARGEST ORDERS, started by mpirun. */
#include "comm/comm.h"
#include "support/exchanges/exchange_table.h"
#include "support/exchanges/host_messages.h"

#include <stdio.h>
#include <stdlib.h>

static yk_status run(const struct yk_comm_backend *comm, size_t block_bytes, int64_t largest,
                     int orders)
{
    struct exchange_station station;
    YK_TRY(exchange_station_open(comm, block_bytes, &station));
    yk_status status = exchange_table_run(&station.ranks, largest, orders);
    if (status == YK_OK) {
        status = exchange_host_run(&station.ranks);
    }
    if (status != YK_OK) {
        (void)fprintf(stderr, "rank %d: %s\n", (int)station.ranks.rank, yk_status_message());
        comm->abort(station.ranks.world, (int)status);
    }
    if (status == YK_OK && station.ranks.rank == 0) {
        struct yk_text text = {0};
        comm->describe(station.ranks.world, &text);
        printf("%s\n", yk_text_chars(&text));
        yk_text_free(&text);
    }
    exchange_station_close(&station);
    return status;
}

int main(int argc, char **argv)
{
    const struct yk_comm_backend *comm = NULL;
    if (argc != 5) {
        return YK_ERROR_USAGE;
    }
    yk_status status = yk_comm_load_plugin(argv[1], &comm);
    if (status == YK_OK) {
        status = run(comm, (size_t)strtoull(argv[2], NULL, 10), strtoll(argv[3], NULL, 10),
                     (int)strtol(argv[4], NULL, 10));
    }
    if (status != YK_OK) {
        (void)fprintf(stderr, "%s\n", yk_status_message());
    }
    return status;
}
