/* Memory kind: what the bytes that a rank's device holds are for. */
#ifndef YK_PLAN_MEMORY_KIND_H
#define YK_PLAN_MEMORY_KIND_H

enum yk_memory_kind {
    YK_MEMORY_PARAMETERS, /* that the rank keeps */
    YK_MEMORY_GATHERED,   /* parameters of others, for the time of their use */
    YK_MEMORY_GRADIENTS,
    YK_MEMORY_OPTIMIZER,
    YK_MEMORY_ACTIVATIONS,
    YK_MEMORY_BUFFERS, /* workspace, messages, batches */
    YK_MEMORY_CONTEXT, /* driver and libraries */
    YK_MEMORY_KIND_COUNT,
};

/* What a rank's device holds from a moment on. */
struct yk_memory_point {
    double at_s;
    double bytes[YK_MEMORY_KIND_COUNT];
};

/* "parameters", "gathered" … */
static inline const char *yk_memory_kind_name(enum yk_memory_kind kind)
{
    static const char *const names[] = {"parameters",  "gathered", "gradients", "optimizer",
                                        "activations", "buffers",  "context"};
    return names[kind];
}

#endif
