/*
 * Staged blocks: how the blocks of an exchange of comm/staged take turns on the lane.
 *
 * The call of block k sees the exchange of block k - 1 to its end and begins that of block k, so
 * that on the lane, between two calls, block k - 1 goes back and block k + 1 comes:
 *
 *     copy 0 | call 0 | copy 1 | call 1 | 0 back | copy 2 | call 2 | 1 back | … | end | n - 1 back
 *
 * Since the lane runs one call at a time and in order, how far the exchange has come is a number of
 * the world's, and the stage of block k is number k mod 2. Such a call may not ask the device
 * anything: whose memory it is about is known when it is put.
 */
#ifndef YK_COMM_STAGED_BLOCKS_H
#define YK_COMM_STAGED_BLOCKS_H

#include "comm/staged_world.h"

/* What an exchange puts on the lane for block `number`; copies may be NULL. */
struct yk_staged_steps {
    void (*fetch)(const void *op, int64_t number);
    void (*exchange)(void *op);
    void (*bring_back)(const void *op, int64_t number);
};

/* ---- on the thread that puts ---- */

void yk_staged_enqueue_call(const struct yk_comm_world *world, void (*function)(void *user),
                            const void *op);
void yk_staged_enqueue_copy(const struct yk_comm_world *world, void *to, const void *from,
                            size_t bytes);
void yk_staged_enqueue_blocks(struct yk_comm_world *world, const struct yk_staged_steps *steps,
                              const void *op, int64_t blocks);
bool yk_staged_is_on_device(const struct yk_comm_world *world, const void *memory);

static inline int64_t yk_staged_block_count(int64_t all, int64_t block)
{
    return (all + block - 1) / block;
}

/* ---- on the lane ---- */

/* What the other world was given last is done, and it is to be given more; false in trouble. */
bool yk_staged_begin(struct yk_comm_world *world);

/* A block of `all` bytes or things has begun; the next exchange begins at its own beginning. One of
 * a single block is over with its call. */
void yk_staged_advance(struct yk_comm_world *world, int64_t by, int64_t all);

#endif
