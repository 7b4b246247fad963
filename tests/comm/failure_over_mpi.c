/*
 * Trouble over MPI: failure_over_mpi PLUGIN KIND, started by mpirun with two ranks. Rank 1 ends the
 * run with code 6 and says why on standard output; rank 0 waits in an exchange that never ends.
 *   end      rank 1 is in no exchange
 *   waiting  rank 1 waits in an exchange as well
 *   long     rank 0 sends more than rank 1 expects
 *   short    rank 0 sends less
 *   group    the ranks make different groups
 */
#include "comm/comm.h"
#include "support/exchanges/exchange_table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct yk_comm_backend *comm;
static double numbers[4];

static void enqueue_message(const struct yk_communicator *ranks, size_t size)
{
    static struct yk_comm_send_recv op;
    op = (struct yk_comm_send_recv){ranks->world, numbers, size, 1 - ranks->rank, 3};
    if (ranks->rank == 0) {
        comm->send(&op);
    } else {
        comm->recv(&op);
    }
}

static void enqueue_all_reduce(const struct yk_communicator *ranks)
{
    static struct yk_comm_all_reduce op;
    op = (struct yk_comm_all_reduce){ranks->world_group, numbers, 2, YK_COMM_FP64, false};
    comm->all_reduce(&op);
}

static yk_status be_rank_1(const struct yk_communicator *ranks, const char *kind)
{
    static const int32_t other_group[] = {1, 0};
    struct yk_comm_group *group = NULL;
    if (strcmp(kind, "group") == 0) {
        return comm->group_create(ranks->world, other_group, 2, &group);
    }
    if (strcmp(kind, "waiting") == 0) {
        enqueue_message(ranks, sizeof numbers);
        return yk_fail(YK_ERROR_LOST, "it waits");
    }
    if (strcmp(kind, "end") == 0) {
        return yk_fail(YK_ERROR_LOST, "it has had enough");
    }
    enqueue_message(ranks, 16);
    return yk_communicator_synchronize(ranks);
}

static yk_status be_rank_0(const struct yk_communicator *ranks, const char *kind)
{
    static const int32_t group_of_all[] = {0, 1};
    struct yk_comm_group *group = NULL;
    if (strcmp(kind, "group") == 0) {
        (void)!comm->group_create(ranks->world, group_of_all, 2, &group);
        (void)pause(); /* until rank 1 ends it */
    } else if (strcmp(kind, "long") == 0 || strcmp(kind, "short") == 0) {
        enqueue_message(ranks, strcmp(kind, "long") == 0 ? 24 : 8);
    }
    enqueue_all_reduce(ranks);
    return yk_communicator_synchronize(ranks);
}

int main(int argc, char **argv)
{
    struct exchange_station station;
    if (argc != 3 || yk_comm_load_plugin(argv[1], &comm) != YK_OK ||
        exchange_station_open(comm, 0, &station) != YK_OK) {
        (void)fprintf(stderr, "%s\n", yk_status_message());
        return 1;
    }
    const yk_status status = station.ranks.rank == 0 ? be_rank_0(&station.ranks, argv[2])
                                                     : be_rank_1(&station.ranks, argv[2]);
    if (status != YK_OK) {
        printf("rank %d: %s\n", (int)station.ranks.rank, yk_status_message());
        (void)fflush(stdout);
        comm->abort(station.ranks.world, 6);
        (void)pause();
    }
    return 0;
}
