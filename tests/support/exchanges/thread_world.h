/* Thread world: the insides of tests/support/exchanges/thread_comm.h, shared by its sources. */
#ifndef YK_TESTS_SUPPORT_EXCHANGES_THREAD_WORLD_H
#define YK_TESTS_SUPPORT_EXCHANGES_THREAD_WORLD_H

#include "support/exchanges/thread_barrier.h"
#include "support/exchanges/thread_comm.h"

enum {
    THREAD_GROUPS = 256 /* that a world may ever have */
};

/* A message that one rank holds out to another; under the mutex of the floor. */
struct thread_mailbox {
    const struct yk_comm_send_recv *offered;
};

/* What the members of a group share. */
struct thread_circle {
    struct thread_barrier barrier;
    int32_t *ranks; /* (meeting.members) */
};

struct yk_thread_world {
    int32_t ranks;
    struct thread_floor floor;
    struct thread_barrier all;
    struct thread_mailbox *mailboxes; /* (ranks, ranks): from, to */
    struct thread_circle *circles[THREAD_GROUPS];
};

/* One rank's view. */
struct yk_comm_world {
    struct yk_thread_world *shared;
    int32_t rank;
    int32_t groups; /* made so far */
    struct yk_comm_options options;
};

struct yk_comm_group {
    struct yk_comm_world *world;
    struct thread_circle *circle;
    int32_t me;
};

/* The exchanges, on the putting thread. */
void thread_all_reduce(const struct yk_comm_all_reduce *op);
void thread_all_gather(const struct yk_comm_all_gather *op);
void thread_reduce_scatter(const struct yk_comm_reduce_scatter *op);
void thread_broadcast(const struct yk_comm_broadcast *op);
void thread_send(const struct yk_comm_send_recv *op);
void thread_recv(const struct yk_comm_send_recv *op);

#endif
