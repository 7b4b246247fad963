/* Staged world: the insides of comm/staged, shared by its sources. */
#ifndef YK_COMM_STAGED_WORLD_H
#define YK_COMM_STAGED_WORLD_H

#include "comm/failure.h"
#include "comm/staged.h"

struct yk_comm_world {
    struct yk_comm_options options; /* block_bytes settled */
    const struct yk_ranks *through;
    char *stages[2]; /* blocks of the host's memory: one is exchanged while another is copied */
    char *sums[2];   /* likewise, for what a scatter comes to */
    int64_t done;    /* how far the exchange has come whose turn it is on the lane */
    bool under_way;  /* `inner` is on the other world's lane */
    union {
        struct yk_comm_all_reduce all_reduce;
        struct yk_comm_all_gather all_gather;
        struct yk_comm_reduce_scatter reduce_scatter;
        struct yk_comm_broadcast broadcast;
        struct yk_comm_message message;
    } inner; /* what the other world is given for a block */
    struct yk_failure trouble;
};

struct yk_comm_group {
    struct yk_comm_world *world;
    struct yk_comm_group *through; /* the same ranks in the other world */
    int32_t members;
    int32_t me;
    int64_t *firsts; /* (members + 1) of a round's parts in the stage */
};

void yk_staged_all_reduce(const struct yk_comm_all_reduce *op);
void yk_staged_all_gather(const struct yk_comm_all_gather *op);
void yk_staged_reduce_scatter(const struct yk_comm_reduce_scatter *op);
void yk_staged_broadcast(const struct yk_comm_broadcast *op);
void yk_staged_send(const struct yk_comm_message *op);
void yk_staged_recv(const struct yk_comm_message *op);

#endif
