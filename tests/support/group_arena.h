/* Group arena: memory that all tests of a program share and that ends with them: give the two
 * functions to cmocka as the setup and teardown of the group. */
#ifndef YK_TESTS_GROUP_ARENA_H
#define YK_TESTS_GROUP_ARENA_H

#include "base/arena.h"

extern struct yk_arena *group_arena;

int group_arena_make(void **state);
int group_arena_drop(void **state);

#endif
