#include "support/group_arena.h"

#include <stddef.h>

struct yk_arena *group_arena;

int group_arena_make(void **state)
{
    (void)state;
    return yk_arena_create(&group_arena) == YK_OK ? 0 : -1;
}

int group_arena_drop(void **state)
{
    (void)state;
    yk_arena_destroy(group_arena);
    group_arena = NULL;
    return 0;
}
