/*
 * Parameter store: the weights, gradients and optimizer state of a net on one device. Layers may be
 * partitioned among the stores of several ranks (nn/store/layer_partition.h). The elements of a
 * layer that a store has are called kept elements.
 *
 * A store owns one allocation of device memory. Callers must order the enqueued work that accesses
 * the same memory. Only one thread at a time may use a store.
 */
#ifndef YK_NN_STORE_PARAMETER_STORE_H
#define YK_NN_STORE_PARAMETER_STORE_H

#include "backend/backend.h"
#include "base/arena.h"
#include "nn/net.h"
#include "nn/store/layer_partition.h"

#include <stdbool.h>

/* A device, and the lane on which copies from and to its memory run. */
struct yk_device_context {
    const struct yk_backend *backend;
    struct yk_backend_device *device;
    struct yk_backend_lane *lane;
};

/* Copies between host and device, and waits until the copy is done. */
static inline yk_status yk_device_context_copy_and_wait(const struct yk_device_context *context,
                                                        void *to, const void *from, size_t bytes)
{
    context->backend->copy(context->lane, to, from, bytes);
    return context->backend->lane_synchronize(context->lane);
}

enum yk_optimizer_kind {
    YK_OPTIMIZER_NONE, /* no gradients and no optimizer state, for evaluation */
    YK_OPTIMIZER_ADAMW,
    YK_OPTIMIZER_SGD,
};

/* The arrays of one layer. NULL means: the store does not have this array. Arrays marked (kept)
 * have `kept` elements. While an op uses a sharded layer, the executor sets `weights` to the
 * gathered weights and `gradients` to a gradient buffer. */
struct yk_parameter_store_layer {
    struct yk_layer_partition partition;
    char *weights; /* weights of the whole layer */
    char *part; /* (kept) trained weights of a fully sharded layer; its frozen bytes begin at byte
                   `frozen_at` */
    char *gradients;     /* gradients of the whole layer, in the precision of the training run */
    char *gradient_part; /* (kept) gradients, if they are sharded */
    float *master;       /* (kept) fp32 copy of the weights, if weights have 16 bits */
    float *moment1;      /* (kept) first moment of AdamW, or velocity of SGD */
    float *moment2;      /* (kept) second moment of AdamW */
    int64_t kept;        /* number of trained elements whose optimizer state this store keeps */
    struct yk_layer_partition_span *spans; /* (span_count) kept spans of the trained numbers */
    struct yk_layer_partition_span *frozen_spans; /* (span_count) kept spans of the frozen bytes */
    int32_t span_count;                           /* 1 if the layer is not sharded */
    size_t frozen_at;                             /* byte offset of the frozen bytes in `part` */
};

struct yk_parameter_store {
    struct yk_arena *arena; /* host memory */
    struct yk_device_context context;
    const struct yk_net *net;
    enum yk_optimizer_kind optimizer;
    void *memory;
    size_t bytes;
    struct yk_parameter_store_layer *layers; /* (L) one for each layer */
};

/* Which parts of layers a store keeps, and the order of the gradients in memory. If `partitions` is
 * NULL, the store keeps all layers whole. If `order` is NULL, the gradients are in the order of the
 * net's layers. yk_parameter_store_create() accepts NULL instead of a layout; then both apply. */
struct yk_parameter_store_layout {
    const struct yk_layer_partition *partitions; /* (L) one for each layer */
    const int32_t *order; /* (L) layer numbers in the order of the layers' gradients in memory */
};

yk_status yk_parameter_store_create(const struct yk_net *net,
                                    const struct yk_device_context *context,
                                    enum yk_optimizer_kind optimizer,
                                    const struct yk_parameter_store_layout *layout,
                                    struct yk_parameter_store **out) YK_MUST_USE;
void yk_parameter_store_destroy(struct yk_parameter_store *store);

enum yk_state_tensor {
    YK_STATE_WEIGHTS, /* fp32 master copy if there is one, otherwise the weights */
    YK_STATE_MOMENT1,
    YK_STATE_MOMENT2,
    YK_STATE_COUNT,
};

/* Returns whether the store keeps this tensor of the layer. */
bool yk_parameter_store_has_state_tensor(const struct yk_parameter_store *store, int32_t layer,
                                         enum yk_state_tensor which);

/* These two functions read and write all numbers of a parameter, as fp32 on the host. They use the
 * master copy if there is one, and convert from and to NF4. They wait for the device. Only whole
 * layers can be read. In a sharded layer, only the part that the store keeps is written. */
yk_status yk_parameter_store_read_values(const struct yk_parameter_store *store, int32_t layer,
                                         const struct yk_parameter *parameter,
                                         float *out) YK_MUST_USE;
yk_status yk_parameter_store_write_values(const struct yk_parameter_store *store, int32_t layer,
                                          const struct yk_parameter *parameter,
                                          const float *numbers) YK_MUST_USE;

/* Writes a parameter whose values are the first `given` elements of `numbers`, repeated. `given` is
 * at least 1. Only these elements are copied to the device. */
yk_status yk_parameter_store_write_repeated_values(const struct yk_parameter_store *store,
                                                   int32_t layer,
                                                   const struct yk_parameter *parameter,
                                                   const float *numbers, int64_t given) YK_MUST_USE;

/* Elements of a trained parameter are numbers. Elements of a frozen parameter are bytes in its
 * stored format, and are only in YK_PARAMETER_STORE_ARRAY_WEIGHTS. */
enum yk_parameter_store_array {
    YK_PARAMETER_STORE_ARRAY_WEIGHTS, /* weights in their stored format */
    YK_PARAMETER_STORE_ARRAY_MASTER,
    YK_PARAMETER_STORE_ARRAY_MOMENT1,
    YK_PARAMETER_STORE_ARRAY_MOMENT2,
};

/* Enqueues copies between an array of the store and `other`, without conversion. Only the elements
 * of the range that the store keeps are copied. `other` has space for the whole range, in host or
 * device memory. If `reading` is true, copies from the store to `other`. Otherwise copies from
 * `other` to the store. Returns the number of copied elements. */
int64_t yk_parameter_store_copy_range(const struct yk_parameter_store *store, int32_t layer,
                                      const struct yk_parameter *parameter,
                                      enum yk_parameter_store_array array,
                                      struct yk_parameter_range range, void *other, bool reading);

/* These two functions read and write a range of a parameter, and wait for the device. The numbers
 * of a trained parameter are read and written as fp32. `which` is ignored for a frozen parameter.
 * Reading fails unless the store keeps the whole range. Writing ignores elements that the store
 * does not keep. */
yk_status yk_parameter_store_read_range(const struct yk_parameter_store *store, int32_t layer,
                                        const struct yk_parameter *parameter,
                                        enum yk_state_tensor which, struct yk_parameter_range range,
                                        void *out) YK_MUST_USE;
yk_status yk_parameter_store_write_range(const struct yk_parameter_store *store, int32_t layer,
                                         const struct yk_parameter *parameter,
                                         enum yk_state_tensor which,
                                         struct yk_parameter_range range,
                                         const void *values) YK_MUST_USE;

enum yk_parameter_store_init_kind {
    YK_PARAMETER_STORE_INIT_ALL, /* initialise everything as the reference implementations do */
    /* Use random numbers that repeat, for benchmarks. This takes a second; drawing billions of
     * different numbers takes minutes. Adapters get random numbers that do not repeat. */
    YK_PARAMETER_STORE_INIT_REPEATED,
    YK_PARAMETER_STORE_INIT_ADAPTERS, /* initialise only adapters and a new head; all other
                                         parameters are loaded later */
};

/* Initialises parameters. The values depend only on the seed and on the name of the parameter. */
yk_status yk_parameter_store_init_parameters(struct yk_parameter_store *store, uint64_t seed,
                                             enum yk_parameter_store_init_kind which) YK_MUST_USE;

/* Looks for a parameter whose weights are not finite and, if there is none, for a parameter whose
 * gradient is not finite. Sets `*name` to the parameter's name and `*what` to "weights" or
 * "gradient". Sets `*name` to NULL if everything is finite. Does not check frozen weights that are
 * NF4 or sharded. */
yk_status yk_parameter_store_find_nonfinite_values(const struct yk_parameter_store *store,
                                                   const char **name,
                                                   const char **what) YK_MUST_USE;

#endif
