/*
 * Loaded: a checkpoint, or a folder of Hugging Face's, with its weights in this machine's memory:
 * what the commands that use a trained model begin with.
 *
 * It owns what it points to and does not move once it is open. One thread at a time.
 */
#ifndef YK_JOB_LOADED_H
#define YK_JOB_LOADED_H

#include "base/option.h"
#include "job/device.h"
#include "nn/net.h"
#include "nn/store.h"
#include "train/checkpoint.h"

#include <stddef.h>
#include <stdint.h>

struct yk_loaded_words {
    const char *path;      /* the operand */
    const char *weights;   /* of what an adapter adapts; NULL: where the checkpoint says */
    const char *precision; /* NULL: that of the training */
    int64_t batch;         /* 0: 1 */
    int64_t sequence;      /* 0: as it was trained */
    const char *device;    /* as of --device */
    int64_t threads;       /* 0: one on each core */
};

/* Starts as {0}. */
struct yk_loaded {
    struct yk_arena *arena;
    struct yk_checkpoint *checkpoint;
    const struct yk_tokenizer *tokenizer; /* the checkpoint's; NULL: none */
    const struct yk_model *model;
    struct yk_engine engine;
    struct yk_net *net;
    struct yk_store *store;
};

yk_status yk_loaded_open(const struct yk_loaded_words *words, struct yk_loaded *out) YK_MUST_USE;
void yk_loaded_close(struct yk_loaded *loaded);

#define YK_LOADED_GROUP "Model options"

/* Rows of an options table, as in job/workload.h. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* clang-format off */
#define YK_LOADED_OPTIONS(type, field)                                                             \
    {                                                                                              \
        .name = "weights",                                                                         \
        .placeholder = "PATH",                                                                     \
        .help = "The weights that an adapter is for, if not where they were",                      \
        .group = YK_LOADED_GROUP,                                                                  \
        .kind = YK_OPTION_INPUT,                                                                   \
        .offset = offsetof(type, field.weights),                                                   \
    },                                                                                             \
    {                                                                                              \
        .name = "device",                                                                          \
        .placeholder = "DEVICE",                                                                   \
        .help = YK_DEVICE_HELP,                                                                    \
        .group = YK_LOADED_GROUP,                                                                  \
        .kind = YK_OPTION_TEXT,                                                                    \
        .preset = "auto",                                                                          \
        .offset = offsetof(type, field.device),                                                    \
    },                                                                                             \
    {                                                                                              \
        .name = "threads",                                                                         \
        .placeholder = "N",                                                                        \
        .help = "Compute with so many threads; else one for each core",                            \
        .group = YK_LOADED_GROUP,                                                                  \
        .kind = YK_OPTION_INTEGER,                                                                 \
        .least = 1,                                                                                \
        .most = 4096,                                                                              \
        .offset = offsetof(type, field.threads),                                                   \
    }
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

#define YK_LOADED_OPERAND_HELP                                                                     \
    "A checkpoint, the folder of a run (its newest checkpoint), or a folder of Hugging Face's"

#endif
