/*
 * Over MPI: what benchmarks among ranks of one machine have in common. Started without mpirun, such
 * a program starts itself with it.
 */
#ifndef YK_BENCH_OVER_MPI_H
#define YK_BENCH_OVER_MPI_H

#include "comm/communicator.h"

struct over_mpi {
    const char *name;     /* "exchange", for what is said */
    const char *ranks;    /* how many: a word for mpirun */
    const char *bound_to; /* "core", "none": likewise */
    size_t block_bytes;   /* of the comm; 0: its own */
    yk_status (*measure)(const struct yk_communicator *ranks,
                         const struct yk_comm_options *options);
};

/* With the program's own words; what main() returns. */
int over_mpi_run(const struct over_mpi *bench, int argc, char **argv);

#endif
