/*
 * Device: which device --device means, and an engine on it. Whoever opens an engine closes it after
 * everything on it is gone. One thread at a time.
 */
#ifndef YK_JOB_DEVICE_H
#define YK_JOB_DEVICE_H

#include "backend/backend.h"
#include "base/arena.h"
#include "base/text.h"
#include "nn/store/store.h"

#include <stdbool.h>
#include <stdint.h>

#define YK_DEVICE_HELP                                                                             \
    "Where to compute: cpu, cuda (an NVIDIA GPU), cuda:1 (the second one), or auto: a GPU where "  \
    "there is one that yoke was built for"

struct yk_device_choice {
    int32_t number; /* of the GPU, as CUDA counts those that this process sees */
    bool gpu;
    bool automatic; /* nobody asked for the GPU by name */
};

/* NULL stands for auto. A GPU that is asked for and cannot be had is refused with the reason. */
yk_status yk_device_choose(const char *word, struct yk_device_choice *out) YK_MUST_USE;

/* How many GPUs --device can name: cuda:0 and so on. */
yk_status yk_device_count_gpus(int32_t *out) YK_MUST_USE;

/* The GPU as a line that a plan's file can keep: "h200:143771MiB", or where this process has a part
 * of it, an instance (MIG) or what the service that shares it allows (MPS), "h200:12.1%:16384MiB".
 */
yk_status yk_device_describe_gpu(int32_t number, struct yk_arena *arena,
                                 const char **out) YK_MUST_USE;

/* Adds what the device's backend says of it, and unless `versions` is NULL what its times depend
 * on. A refusal says what is missing. */
yk_status yk_device_describe(const struct yk_device_choice *choice, struct yk_text *out,
                             struct yk_text *versions) YK_MUST_USE;

/* `out` starts as {0}. Of the options, the number of a GPU and its file of products are filled in.
 */
yk_status yk_device_open_engine(const struct yk_device_choice *choice,
                                const struct yk_backend_options *options,
                                struct yk_engine *out) YK_MUST_USE;
void yk_device_close_engine(struct yk_engine *engine);

#endif
