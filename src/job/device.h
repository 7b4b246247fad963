/*
 * Device: resolves the option --device and opens an engine on that device. The caller closes the
 * engine after it has freed everything that uses it. Not thread-safe.
 */
#ifndef YK_JOB_DEVICE_H
#define YK_JOB_DEVICE_H

#include "backend/backend.h"
#include "base/arena.h"
#include "base/text.h"
#include "nn/store/parameter_store.h"

#include <stdbool.h>
#include <stdint.h>

#define YK_DEVICE_OPTION_HELP                                                                      \
    "Where to compute: cpu, cuda (an NVIDIA GPU), cuda:1 (the second one), or auto: a GPU where "  \
    "there is one that yoke was built for"

struct yk_device_choice {
    int32_t number; /* CUDA index of the GPU among those visible to this process */
    bool gpu;
    bool automatic; /* the GPU was chosen by "auto" */
};

/* Resolves the value of --device; NULL means "auto". Fails if the value is malformed, or if it
 * names a GPU and yoke was built without its CUDA plug-in. */
yk_status yk_device_resolve_option(const char *word, struct yk_device_choice *out) YK_MUST_USE;

/* Number of GPUs visible to this process: --device accepts cuda:0 to cuda:(count − 1). */
yk_status yk_device_count_gpus(int32_t *out) YK_MUST_USE;

/* Describes a GPU in the syntax of --cluster: "h200:143771MiB". A process that has only a part of
 * the GPU (a MIG instance, or an MPS limit) gets that part: "h200:12.1%:16384MiB". */
yk_status yk_device_gpu_cluster_spec(int32_t number, struct yk_arena *arena,
                                     const char **out) YK_MUST_USE;

/* Appends the backend's description of the device to `out` and the versions that its speed depends
 * on to `versions`, which may be NULL. Fails if the backend cannot be loaded. */
yk_status yk_device_describe(const struct yk_device_choice *choice, struct yk_text *out,
                             struct yk_text *versions) YK_MUST_USE;

/* Opens the device and a lane on it. `out` starts as {0}. For a GPU this sets three members of a
 * copy of `options`: the device number, the MPS memory limit and the cache file of matrix product
 * algorithms. */
yk_status yk_device_open_engine(const struct yk_device_choice *choice,
                                const struct yk_backend_options *options,
                                struct yk_device_context *out) YK_MUST_USE;
void yk_device_close_engine(struct yk_device_context *context);

#endif
