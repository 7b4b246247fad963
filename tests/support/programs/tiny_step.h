/* Tiny step: a GPT so small that its bytes are counted by hand, a plan for it, and its program. */
#ifndef YK_TESTS_TINY_STEP_H
#define YK_TESTS_TINY_STEP_H

#include "base/arena.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"
#include "program/memory/memory.h"
#include "program/program.h"

/* C = 8, two heads, 11 tokens, 16 positions; parameters by hand. */
enum {
    TINY_WIDTH = 8,
    TINY_VOCABULARY = 11,
    TINY_POSITIONS = 16,
    TINY_SEQUENCE = 4,                                                     /* T */
    TINY_EMBED = (TINY_VOCABULARY + TINY_POSITIONS) * TINY_WIDTH,          /* 216 */
    TINY_BLOCK = (16) + (8 * 24 + 24) + (8 * 8 + 8) + (16) + (8 * 32 + 32) /* norm, qkv, out, … */
                 + (32 * 8 + 8),                                           /* 872 */
    TINY_NORM = 2 * TINY_WIDTH,                                            /* 16 */
    TINY_HEAD = TINY_VOCABULARY * TINY_WIDTH,                              /* 88; 0 when tied */
};

/* Bytes a token in fp32, by hand. */
enum {
    TINY_HIDDEN = 4 * TINY_WIDTH, /* between layers */
    /* Saved for backward: the token itself; input, norm, qkv, attention, residual, norm, before and
     * after GELU, with 4 bytes each of two norms' statistics and two heads' sums; input and
     * statistics; input and logits, 11 of them in rows of 16. */
    TINY_EMBED_SAVES = 4,
    TINY_BLOCK_SAVES = 4 * (8 + 8 + 24 + 8 + 8 + 8 + 32 + 32) + 4 * (2 + 2 + 2),
    TINY_NORM_SAVES = 4 * 8 + 4 * 2,
    TINY_HEAD_SAVES = 4 * (8 + 16),
    TINY_BLOCK_WORKSPACE = 4 * 2 * 32, /* the gradients on both sides of GELU */
};

/* An encoder and a decoder: layers encoder embed 0, encoder 1, decoder embed 2, decoders 3 and 4,
 * head 5; 2 and 5 use the weights of 0, and 3 and 4 the output of 1. */
#define TINY_TRANSLATOR                                                                            \
    "{\"model_type\": \"marian\", \"vocab_size\": 11, \"d_model\": 8, \"encoder_layers\": 1, "     \
    "\"decoder_layers\": 2, \"encoder_ffn_dim\": 16, \"decoder_ffn_dim\": 24, "                    \
    "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 2}"

struct tiny_options {
    const char *cluster; /* a line; one rank a device */
    const char *config;  /* NULL: the tiny GPT; else a config.json's text */
    int32_t groups;      /* 0: one of all ranks with equal parts; else empty groups */
    int64_t blocks;
    bool tied;
    int64_t batch; /* 0: one sample a rank */
    enum yk_precision precision;
    int64_t lora_rank;
    bool nf4;
};

struct tiny_step {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    const struct yk_model_config *config;
    struct yk_model_cache *cache;
    const struct yk_model *model; /* of the whole batch */
    struct yk_plan *plan;
    struct yk_program *program; /* NULL until it is compiled */
};

/* A plan with all layers replicated, one micro-batch, prefetch 1, blocks and buckets larger than
 * any layer, limits that nothing reaches. The tests change it. */
struct tiny_step tiny_step_make(struct tiny_options options);
void tiny_step_free(struct tiny_step *tiny);

/* One strategy for all layers. */
void tiny_step_set_strategy(struct tiny_step *tiny, enum yk_sharding_strategy strategy);

/* Adds a member to a group. */
void tiny_step_add_member(struct tiny_step *tiny, int32_t group, int32_t rank, int64_t share,
                          double part);

/* Makes and compiles layers embed 0, block 1, norm 2 and head 3 on two ranks; 864, 3488, 64 and 352
 * bytes each. */
struct tiny_step tiny_step_make_on_two_ranks(enum yk_sharding_strategy strategy, bool tied);

/* Makes group g rank g alone, with the whole batch; `groups` (layers) says where layers go. */
void tiny_step_set_stages(struct tiny_step *tiny, const int32_t *groups);

/* Checks the plan and compiles it, in place of what was compiled before. */
void tiny_step_compile(struct tiny_step *tiny);

/* What the program holds on a rank; lives as long as the step. */
struct yk_program_memory *tiny_step_memory(const struct tiny_step *tiny, int32_t rank);
double tiny_step_always(const struct tiny_step *tiny, int32_t rank, enum yk_memory_kind kind);

/* The most of one kind at a time, besides what is always held; of buffers only workspace, or only
 * messages. */
double tiny_step_most(const struct tiny_step *tiny, int32_t rank, enum yk_memory_kind kind);
double tiny_step_most_messages(const struct tiny_step *tiny, int32_t rank);

/* Bytes, up to rounding. */
#define assert_bytes(actual, expected) tiny_assert_bytes((actual), (expected), __FILE__, __LINE__)
void tiny_assert_bytes(double actual, double expected, const char *file, int line);

#endif
