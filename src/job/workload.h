/*
 * Workload: the words of the command line that say what is trained: batch, sequence, precision,
 * adapters. Commands that need them have a `struct yk_workload_words` among their arguments and the
 * rows YK_WORKLOAD_OPTIONS in their table.
 */
#ifndef YK_JOB_WORKLOAD_H
#define YK_JOB_WORKLOAD_H

#include "base/option.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_WORKLOAD_MOST_TOKENS = 1 << 30,
    YK_WORKLOAD_MOST_RANK = 1 << 20,
};

struct yk_workload_words {
    int64_t batch;
    int64_t sequence; /* 0 where it is not said */
    int64_t target_sequence;
    const char *precision;
    int64_t lora_rank;
    bool nf4;
    bool recompute;
};

/* The workload that the words mean for `config`. */
yk_status yk_workload_read(const struct yk_workload_words *words,
                           const struct yk_model_config *config,
                           struct yk_workload *out) YK_MUST_USE;

/* "llama3-8b on 1xrtx6000ada + 2xrtx3090: 5 samples of 1024 tokens, bf16, LoRA of rank 32, NF4". */
void yk_workload_add_title(const struct yk_model_config *config, const struct yk_cluster *cluster,
                           const struct yk_workload *workload, struct yk_text *out);

/* The precisions, as choices of an option. */
bool yk_workload_precisions(size_t number, struct yk_choice *out);

#define YK_WORKLOAD_GROUP "Workload options"

/* Rows of an options table; `type` is the command's arguments, `field` the words among them: a type
 * and a member cannot stand in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* clang-format off */
#define YK_WORKLOAD_OPTIONS(type, field)                                                           \
    {                                                                                              \
        .name = "batch",                                                                           \
        .placeholder = "N",                                                                        \
        .help = "Samples in a batch",                                                              \
        .group = YK_WORKLOAD_GROUP,                                                                \
        .preset = "1",                                                                             \
        .kind = YK_OPTION_INTEGER,                                                                 \
        .least = 1,                                                                                \
        .most = YK_WORKLOAD_MOST_TOKENS,                                                           \
        .offset = offsetof(type, field.batch),                                                     \
    },                                                                                             \
    {                                                                                              \
        .name = "seq",                                                                             \
        .placeholder = "TOKENS",                                                                   \
        .help = "Length of a sample; else 1024, or what the model can take if that is less",       \
        .group = YK_WORKLOAD_GROUP,                                                                \
        .kind = YK_OPTION_INTEGER,                                                                 \
        .least = 1,                                                                                \
        .most = YK_WORKLOAD_MOST_TOKENS,                                                           \
        .offset = offsetof(type, field.sequence),                                                  \
    },                                                                                             \
    {                                                                                              \
        .name = "target-seq",                                                                      \
        .placeholder = "TOKENS",                                                                   \
        .help = "Length of what an encoder and decoder translate to; else that of the source",     \
        .group = YK_WORKLOAD_GROUP,                                                                \
        .kind = YK_OPTION_INTEGER,                                                                 \
        .least = 1,                                                                                \
        .most = YK_WORKLOAD_MOST_TOKENS,                                                           \
        .offset = offsetof(type, field.target_sequence),                                           \
    },                                                                                             \
    {                                                                                              \
        .name = "precision",                                                                       \
        .placeholder = "NAME",                                                                     \
        .help = "What matrix products are done in: fp32, tf32, fp16 or bf16",                      \
        .group = YK_WORKLOAD_GROUP,                                                                \
        .preset = "bf16",                                                                          \
        .kind = YK_OPTION_CHOICE,                                                                  \
        .choices = yk_workload_precisions,                                                         \
        .offset = offsetof(type, field.precision),                                                 \
    },                                                                                             \
    {                                                                                              \
        .name = "lora",                                                                            \
        .placeholder = "RANK",                                                                     \
        .help = "Train only adapters of this rank, on all linears of the blocks",                  \
        .group = YK_WORKLOAD_GROUP,                                                                \
        .kind = YK_OPTION_INTEGER,                                                                 \
        .least = 1,                                                                                \
        .most = YK_WORKLOAD_MOST_RANK,                                                             \
        .offset = offsetof(type, field.lora_rank),                                                 \
    },                                                                                             \
    {                                                                                              \
        .name = "nf4",                                                                             \
        .help = "Keep the frozen weights of the blocks in four bits, as QLoRA does",               \
        .group = YK_WORKLOAD_GROUP,                                                                \
        .kind = YK_OPTION_FLAG,                                                                    \
        .offset = offsetof(type, field.nf4),                                                       \
    },                                                                                             \
    {                                                                                              \
        .name = "recompute",                                                                       \
        .help = "Blocks save only their input and run forward again during backward",              \
        .group = YK_WORKLOAD_GROUP,                                                                \
        .kind = YK_OPTION_FLAG,                                                                    \
        .offset = offsetof(type, field.recompute),                                                 \
    }
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
