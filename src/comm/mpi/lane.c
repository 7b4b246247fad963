/* Exchanges in their turn on the comm lane: they do nothing once the world is in trouble. */
#include "comm/mpi/direct.h"
#include "comm/mpi/ring.h"

/* What is wrong stays with the world; whoever cares asks it. */
static void run_all_reduce(void *user)
{
    const struct yk_comm_all_reduce *op = user;
    if (!yk_failure_is_set(&op->group->world->trouble)) {
        (void)(yk_mpi_direct_suits(op) ? yk_mpi_direct_all_reduce(op) : yk_mpi_ring_all_reduce(op));
    }
}

static void run_all_gather(void *user)
{
    const struct yk_comm_all_gather *op = user;
    if (!yk_failure_is_set(&op->group->world->trouble)) {
        (void)yk_mpi_ring_all_gather(op);
    }
}

static void run_reduce_scatter(void *user)
{
    const struct yk_comm_reduce_scatter *op = user;
    if (!yk_failure_is_set(&op->group->world->trouble)) {
        (void)yk_mpi_ring_reduce_scatter(op);
    }
}

static void run_broadcast(void *user)
{
    const struct yk_comm_broadcast *op = user;
    if (!yk_failure_is_set(&op->group->world->trouble)) {
        (void)yk_mpi_direct_broadcast(op);
    }
}

static void run_send(void *user)
{
    const struct yk_comm_message *op = user;
    if (!yk_failure_is_set(&op->world->trouble)) {
        (void)yk_mpi_direct_message(op, true);
    }
}

static void run_recv(void *user)
{
    const struct yk_comm_message *op = user;
    if (!yk_failure_is_set(&op->world->trouble)) {
        (void)yk_mpi_direct_message(op, false);
    }
}

void yk_mpi_all_reduce(const struct yk_comm_all_reduce *op)
{
    yk_mpi_enqueue(op->group->world, run_all_reduce, op);
}

void yk_mpi_all_gather(const struct yk_comm_all_gather *op)
{
    yk_mpi_enqueue(op->group->world, run_all_gather, op);
}

void yk_mpi_reduce_scatter(const struct yk_comm_reduce_scatter *op)
{
    yk_mpi_enqueue(op->group->world, run_reduce_scatter, op);
}

void yk_mpi_broadcast(const struct yk_comm_broadcast *op)
{
    yk_mpi_enqueue(op->group->world, run_broadcast, op);
}

void yk_mpi_send(const struct yk_comm_message *op)
{
    yk_mpi_enqueue(op->world, run_send, op);
}

void yk_mpi_recv(const struct yk_comm_message *op)
{
    yk_mpi_enqueue(op->world, run_recv, op);
}
