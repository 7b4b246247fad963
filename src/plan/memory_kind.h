/* Memory kind: categories of the memory that a rank uses on its device. */
#ifndef YK_PLAN_MEMORY_KIND_H
#define YK_PLAN_MEMORY_KIND_H

enum yk_memory_kind {
    YK_MEMORY_PARAMETERS, /* parameters that the rank stores permanently */
    YK_MEMORY_GATHERED,   /* parameters gathered from other ranks, while they are in memory */
    YK_MEMORY_GRADIENTS,
    YK_MEMORY_OPTIMIZER,
    YK_MEMORY_ACTIVATIONS,
    YK_MEMORY_BUFFERS, /* workspace, messages and batches */
    YK_MEMORY_CONTEXT, /* driver and libraries */
    YK_MEMORY_KIND_COUNT,
};

/* The memory in use from time `at_s` until the next point of the timeline. */
struct yk_memory_timeline_point {
    double at_s;
    double bytes[YK_MEMORY_KIND_COUNT];
};

static inline const char *yk_memory_kind_name(enum yk_memory_kind kind)
{
    static const char *const names[] = {"parameters",  "gathered", "gradients", "optimizer",
                                        "activations", "buffers",  "context"};
    return names[kind];
}

#endif
