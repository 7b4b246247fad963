/*
 * Ring: a small MPI program that shows whether hosts are joined as they should be. Every rank sends
 * to the next one in turn, and says on which host it is and how many bytes a second went through.
 *
 *     mpicc -O2 -o ring ring.c && mpirun -n 3 ./ring
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BYTES = 8 << 20,
    TIMES = 4
};

static double send_to_next(char *bytes, int rank, int size, int from)
{
    const int to = (from + 1) % size;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = MPI_Wtime();
    for (int i = 0; i < TIMES; i++) {
        if (rank == from) {
            MPI_Send(bytes, BYTES, MPI_CHAR, to, i, MPI_COMM_WORLD);
        } else if (rank == to) {
            MPI_Recv(bytes, BYTES, MPI_CHAR, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return (double)BYTES * TIMES / (MPI_Wtime() - start_s);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *bytes = calloc(BYTES, 1);
    if (!bytes) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    char host[64] = "";
    (void)gethostname(host, sizeof host - 1);
    for (int from = 0; from < size && size > 1; from++) {
        const double bytes_per_s = send_to_next(bytes, rank, size, from);
        if (rank == from) {
            printf("rank %d of %d on %s: %.0f MB/s to the next\n", rank, size, host,
                   bytes_per_s / 1e6);
            (void)fflush(stdout);
        }
    }
    free(bytes);
    return MPI_Finalize();
}
