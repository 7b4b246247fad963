#include "model/config.h"

#include "model/architecture.h"

#define GPT(V, positions_, layers_, heads_, C, tied_)                                              \
    .architecture = &yk_architecture_gpt2, .vocabulary = (V), .width = (C),                        \
    .positions = (positions_), .layers = (layers_), .heads = (heads_), .kv_heads = (heads_),       \
    .head_size = (C) / (heads_), .feed_forward_width = INT64_C(4) * (C), .tied = (tied_),          \
    .linear_bias = true, .inner_bias = true, .residual_dropout = true, .norm_epsilon = 1e-5,       \
    .init_std = 0.02

/* The last of the byte pairs both begins and ends a text. */
#define GPT2(layers_, heads_, C)                                                                   \
    GPT(50257, 1024, layers_, heads_, C, true), .ids = {-1, 50256, 50256, -1}

/* The characters of Tiny Shakespeare, 128 at a time. */
#define MINGPT(layers_, heads_, C)                                                                 \
    GPT(65, 128, layers_, heads_, C, false), .ids = YK_SPECIAL_TOKEN_IDS_NONE

/* The first token of WordPiece is [PAD]. */
#define BERT(layers_, heads_, C, masked)                                                           \
    .architecture = &yk_architecture_bert, .vocabulary = 30522, .width = (C), .positions = 512,    \
    .token_types = 2, .layers = (layers_), .heads = (heads_), .kv_heads = (heads_),                \
    .head_size = (C) / (heads_), .feed_forward_width = INT64_C(4) * (C), .tied = true,             \
    .linear_bias = true, .inner_bias = true, .pooler = !(masked), .masked_head = (masked),         \
    .gelu_erf = true, .post_norm = true, .residual_dropout = true, .ids = {0, -1, -1, -1},         \
    .norm_epsilon = 1e-12, .init_std = 0.02

/* As in the paper, one table serves the source, the target and the head. */
#define TRANSFORMER(V, positions_, layers_, heads_, C, F)                                          \
    .architecture = &yk_architecture_transformer, .vocabulary = (V), .width = (C),                 \
    .positions = (positions_), .layers = (layers_), .encoder_layers = (layers_),                   \
    .heads = (heads_), .kv_heads = (heads_), .head_size = (C) / (heads_),                          \
    .encoder_heads = (heads_), .feed_forward_width = (F), .encoder_inner = (F), .tied = true,      \
    .shared = true, .relu = true, .linear_bias = true, .inner_bias = true,                         \
    .scaled_embedding = true, .post_norm = true, .residual_dropout = true,                         \
    .ids = YK_SPECIAL_TOKEN_IDS_NONE, .norm_epsilon = 1e-5, .init_std = 0.02

/* The paper's vocabulary has about 37,000 byte pairs. */
#define PAPERS_TRANSFORMER(heads_, C, F) TRANSFORMER(37000, 1024, 6, heads_, C, F)

#define LLAMA(V, positions_, layers_, heads_, kv_heads_, C, F, theta)                              \
    .architecture = &yk_architecture_llama, .vocabulary = (V), .width = (C),                       \
    .positions = (positions_), .layers = (layers_), .heads = (heads_), .kv_heads = (kv_heads_),    \
    .head_size = (C) / (heads_), .feed_forward_width = (F), .rms_norm = true,                      \
    .ids = YK_SPECIAL_TOKEN_IDS_NONE, .norm_epsilon = 1e-5, .init_std = 0.02,                      \
    .rope_theta = (theta)

const struct yk_builtin_model yk_builtin_models[] = {
    {{.name = "gpt2", GPT2(12, 12, 768)}, "GPT-2, 124 million parameters", {"gpt2-small"}},
    {{.name = "gpt2-medium", GPT2(24, 16, 1024)}, "GPT-2, 355 million parameters", {NULL}},
    {{.name = "gpt2-large", GPT2(36, 20, 1280)}, "GPT-2, 774 million parameters", {NULL}},
    {{.name = "gpt2-xl", GPT2(48, 25, 1600)}, "GPT-2, 1.56 billion parameters", {NULL}},
    {{.name = "gpt-nano", MINGPT(3, 3, 48)}, "minGPT on characters, 3 layers of width 48", {NULL}},
    {{.name = "gpt-micro", MINGPT(4, 4, 128)},
     "minGPT on characters, 4 layers of width 128",
     {NULL}},
    {{.name = "gpt-mini", MINGPT(6, 6, 192)},
     "minGPT on characters, 6 layers of width 192",
     {NULL}},
    {{.name = "bert-base", BERT(12, 12, 768, false)},
     "BERT with its pooler, 109 million parameters",
     {"bert-base-uncased"}},
    {{.name = "bert-large", BERT(24, 16, 1024, false)},
     "BERT with its pooler, 335 million parameters",
     {"bert-large-uncased"}},
    {{.name = "bert-base-mlm", BERT(12, 12, 768, true)},
     "bert-base with the head that predicts masked words instead of the pooler",
     {"bert"}},
    {{.name = "bert-large-mlm", BERT(24, 16, 1024, true)},
     "bert-large with the head that predicts masked words instead of the pooler",
     {NULL}},
    {{.name = "bert-mini", BERT(4, 4, 256, true)},
     "BERT that predicts masked words, 4 layers of width 256",
     {NULL}},
    {{.name = "bert-tiny", BERT(2, 2, 128, true)},
     "BERT that predicts masked words, 2 layers of width 128",
     {NULL}},
    {{.name = "transformer-base", PAPERS_TRANSFORMER(8, 512, 2048)},
     "encoder and decoder of the Transformer, 63 million parameters",
     {"transformer"}},
    {{.name = "transformer-big", PAPERS_TRANSFORMER(16, 1024, 4096)},
     "encoder and decoder of the Transformer, 214 million parameters",
     {NULL}},
    {{.name = "transformer-small", TRANSFORMER(8000, 512, 3, 4, 256, 1024)},
     "encoder and decoder of 3 layers each, width 256, 8,000 words",
     {NULL}},
    {{.name = "llama-mini", LLAMA(8000, 1024, 4, 4, 2, 256, 768, 1e4), .tied = true},
     "Llama of 4 layers of width 256, 8,000 words",
     {NULL}},
    {{.name = "tinyllama-1.1b", LLAMA(32000, 2048, 22, 32, 4, 2048, 5632, 1e4)},
     "TinyLlama, 1.1 billion parameters",
     {"tinyllama"}},
    {{.name = "llama2-7b", LLAMA(32000, 4096, 32, 32, 32, 4096, 11008, 1e4)},
     "Llama 2, 6.7 billion parameters",
     {"llama-2-7b-hf", "llama-2-7b-chat-hf"}},
    {{.name = "llama3-8b", LLAMA(128256, 8192, 32, 32, 8, 4096, 14336, 5e5)},
     "Llama 3, 8.0 billion parameters",
     {"meta-llama-3-8b", "meta-llama-3-8b-instruct", "llama-3-8b-instruct"}},
    {{.name = "llama3-70b", LLAMA(128256, 8192, 80, 64, 8, 8192, 28672, 5e5)},
     "Llama 3, 70.6 billion parameters",
     {"meta-llama-3-70b", "meta-llama-3-70b-instruct", "llama-3-70b-instruct"}},
};
const size_t yk_builtin_model_count = sizeof yk_builtin_models / sizeof yk_builtin_models[0];
