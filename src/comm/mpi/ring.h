/* Ring: exchanges of a group in which each member speaks to the next. On the lane's thread; false
 * when the world is in trouble. */
#ifndef YK_COMM_MPI_RING_H
#define YK_COMM_MPI_RING_H

#include "comm/mpi/world.h"

bool yk_mpi_ring_all_gather(const struct yk_comm_all_gather *op);
bool yk_mpi_ring_reduce_scatter(const struct yk_comm_reduce_scatter *op);
bool yk_mpi_ring_all_reduce(const struct yk_comm_all_reduce *op);

#endif
