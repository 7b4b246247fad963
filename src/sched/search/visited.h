/*
 * Visited: the states an exact search has been through, to leave out those that cannot end better.
 *
 * A state has a key (what is done and where data lies) and times. One with the same key and no time
 * earlier than those of a visited state is dominated. The table has a fixed size and forgets old
 * states when it is full, which costs time but never correctness. One thread at a time.
 */
#ifndef YK_SCHED_SEARCH_VISITED_H
#define YK_SCHED_SEARCH_VISITED_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_visited;

/* States have `key_length` numbers as key and at most `max_times` times. There is room for
 * `max_states` of them, or for as many as a fixed amount of memory holds; it is the arena's. */
yk_status yk_visited_create(struct yk_arena *arena, int32_t key_length, int32_t max_times,
                            int64_t max_states, struct yk_visited **out) YK_MUST_USE;

/* Whether the state is dominated by a visited one; if not, it is remembered. */
bool yk_visited_dominates(struct yk_visited *visited, const uint16_t *key, const int64_t *times,
                          int32_t time_count);

#endif
