/*
 * Thread comm: a world whose ranks are threads of one process, for tests.
 *
 * Each rank takes its seat on its own thread, then opens yk_comm_threads as any comm. Exchanges run
 * on the ranks' comm lanes, meet there and read each other's memory. Sums go through the members in
 * their order. What ranks put in different orders, and messages that do not match, are refused with
 * both sides' words. When a rank gives up, the others are woken with its sentence.
 */
#ifndef YK_TESTS_SUPPORT_EXCHANGES_THREAD_COMM_H
#define YK_TESTS_SUPPORT_EXCHANGES_THREAD_COMM_H

#include "comm/comm.h"

struct yk_thread_world;

extern const struct yk_comm_backend yk_comm_threads; /* named "threads" */

yk_status yk_thread_world_create(int32_t ranks, struct yk_thread_world **out) YK_MUST_USE;
/* After every rank has closed its world. */
void yk_thread_world_destroy(struct yk_thread_world *world);

/* The next open() of this thread is that of this rank. */
void yk_thread_world_seat(struct yk_thread_world *world, int32_t rank);

/* Rank `rank` cannot go on, whether it has opened its world or not: what others wait for, now and
 * later, fails with "rank N: sentence". */
void yk_thread_world_break(struct yk_thread_world *world, int32_t rank, yk_status status,
                           const char *sentence);

/* What one rank does, on its own thread and in its seat. Checks of cmocka must not fail in it: they
 * leave by a jump, which threads cannot. */
typedef yk_status (*yk_thread_rank)(int32_t rank, int32_t ranks, void *user);

/* Runs `function` once for each rank of a new world, side by side. One that fails breaks the world.
 * Returns the first failure, as "rank N: sentence". */
yk_status yk_thread_world_run(int32_t ranks, yk_thread_rank function, void *user) YK_MUST_USE;

#endif
