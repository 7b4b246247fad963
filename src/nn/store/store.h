/*
 * Store: the numbers of a net on a device: weights, gradients and optimizer state, whole or
 * partitioned among several stores.
 *
 * A store owns one allocation of device memory. Callers that enqueue work see to it that nobody
 * else uses the same numbers at the same time.
 */
#ifndef YK_NN_STORE_STORE_H
#define YK_NN_STORE_STORE_H

#include "backend/backend.h"
#include "nn/net.h"
#include "nn/store/partition.h"

#include <stdbool.h>

/* A device, and the lane on which its memory is written and read. */
struct yk_engine {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
};

/* Copies between host and device, and waits. */
static inline yk_status yk_engine_copy(const struct yk_engine *engine, void *to, const void *from,
                                       size_t bytes)
{
    engine->backend->copy(engine->lane, to, from, bytes);
    return engine->backend->lane_synchronize(engine->lane);
}

enum yk_optimizer_kind {
    YK_OPTIMIZER_NONE, /* weights alone: for evaluation */
    YK_OPTIMIZER_ADAMW,
    YK_OPTIMIZER_SGD,
};

/* Of one layer; NULL where it has none. Whole weights and gradients of a layer that is kept in
 * part are wherever the owner of that memory has them during their use, and NULL otherwise. */
struct yk_store_layer {
    struct yk_partition partition;
    char *weights;       /* whole */
    char *part;          /* (kept) trained ones, then, at `frozen_at`, bytes of the frozen ones */
    char *gradients;     /* (trained) whole, in the precision of the training */
    char *gradient_part; /* (kept) where gradients are not kept whole */
    float *master;       /* (kept) where weights have 16 bits */
    float *moment1;      /* (kept); of SGD the velocity */
    float *moment2;      /* (kept); AdamW alone */
    int64_t kept;        /* trained numbers whose state is kept here */
    struct yk_partition_span *spans;        /* of them; one where all are kept */
    struct yk_partition_span *frozen_spans; /* in bytes from the first frozen one: of the part */
    int32_t span_count;                     /* of either */
    size_t frozen_at;
};

struct yk_store {
    struct yk_engine engine;
    const struct yk_net *net;
    enum yk_optimizer_kind optimizer;
    void *memory;
    size_t bytes;
    struct yk_store_layer
        *layers; /* (L); a layer that uses another's weights has none of its own */
};

/* What is kept of a net: everything where these, or the layout itself, are NULL. */
struct yk_store_layout {
    const struct yk_partition *partitions; /* (L) */
    const int32_t *order; /* (L) layers; gradients that are kept whole lie behind each other so */
};

yk_status yk_store_create(const struct yk_net *net, const struct yk_engine *engine,
                          enum yk_optimizer_kind optimizer, const struct yk_store_layout *layout,
                          struct yk_store **out) YK_MUST_USE;
void yk_store_destroy(struct yk_store *store);

enum yk_state_tensor {
    YK_STATE_WEIGHTS, /* the master copy where there is one */
    YK_STATE_MOMENT1,
    YK_STATE_MOMENT2,
    YK_STATE_COUNT,
};

/* Whether the store keeps such numbers of the layer. */
bool yk_store_has_state(const struct yk_store *store, int32_t layer, enum yk_state_tensor which);

/* A parameter's numbers (count) as fp32 on the host: of a trained one in 16 bits its master
 * copy, of one in NF4 what its codes stand for. Waits for the device. Reading needs a whole
 * layer; of one that is kept in part, that part is written. */
yk_status yk_store_read_values(const struct yk_store *store, int32_t layer,
                               const struct yk_parameter *parameter, float *out) YK_MUST_USE;
yk_status yk_store_write_values(const struct yk_store *store, int32_t layer,
                                const struct yk_parameter *parameter,
                                const float *numbers) YK_MUST_USE;

/* The same where the first `given` numbers, at least one, repeat: they alone leave the host. */
yk_status yk_store_write_repeated_values(const struct yk_store *store, int32_t layer,
                                         const struct yk_parameter *parameter, const float *numbers,
                                         int64_t given) YK_MUST_USE;

enum yk_store_init {
    YK_STORE_INIT_ALL, /* as the reference implementations do */
    /* With numbers that repeat, which only keep the device as busy as real ones: drawing billions
     * of numbers takes minutes, this a second. Adapters, which are few, are drawn as above. */
    YK_STORE_INIT_ROUGH,
    YK_STORE_INIT_ADAPTERS, /* alone: where everything else is about to be loaded */
};

/* Fills parameters from numbers that depend on the seed and the parameter's name alone. */
yk_status yk_store_init(struct yk_store *store, uint64_t seed,
                        enum yk_store_init which) YK_MUST_USE;

/* The name of a parameter that is not all finite, or, where all are, of one whose gradient is
 * not; else NULL. `what` is "weights" or "gradient". */
yk_status yk_store_find_nonfinite_values(const struct yk_store *store, const char **name,
                                         const char **what) YK_MUST_USE;

#endif
