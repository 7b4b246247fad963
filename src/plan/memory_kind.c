#include "plan/memory_kind.h"

const char *yk_memory_kind_name(enum yk_memory_kind kind)
{
    static const char *const names[] = {"parameters",  "gathered", "gradients", "optimizer",
                                        "activations", "buffers",  "context"};
    return names[kind];
}
