/* Direct: exchanges in which members speak to those they mean. On the lane's thread; false when the
 * world is in trouble. */
#ifndef YK_COMM_MPI_DIRECT_H
#define YK_COMM_MPI_DIRECT_H

#include "comm/mpi/world.h"

/* Whether so few numbers are summed sooner by everyone than around the ring. */
bool yk_mpi_direct_suits(const struct yk_comm_all_reduce *op);
bool yk_mpi_direct_all_reduce(const struct yk_comm_all_reduce *op);

bool yk_mpi_direct_broadcast(const struct yk_comm_broadcast *op);
bool yk_mpi_direct_message(const struct yk_comm_message *op, bool is_sent);

#endif
