/*
 * Model config: the hyperparameters of a transformer, from a built-in model or a Hugging Face
 * config.json. A config from these functions is valid: every size is positive, products of a few
 * sizes do not overflow, and the number of heads divides the width. It never changes.
 */
#ifndef YK_MODEL_CONFIG_H
#define YK_MODEL_CONFIG_H

#include "base/arena.h"
#include "base/precision.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_architecture;

/* The ids of special tokens; −1: unknown. */
struct yk_special_token_ids {
    int64_t pad;
    int64_t begin;         /* begins a text */
    int64_t end;           /* ends a text; the first one if there are several */
    int64_t decoder_start; /* the first token of a decoder's input */
};

/* An initialiser: all ids are unknown. */
#define YK_SPECIAL_TOKEN_IDS_NONE                                                                  \
    {                                                                                              \
        -1, -1, -1, -1                                                                             \
    }

struct yk_model_config {
    const char *name; /* of the built-in model, or the path of the file */
    const struct yk_architecture *architecture;
    int64_t vocabulary;        /* V; in an encoder–decoder, of the source */
    int64_t target_vocabulary; /* of the decoder and the head; 0: equal to V */
    int64_t width;             /* C, the hidden size */
    int64_t positions;         /* learned positions, or the maximum sequence length */
    int64_t token_types;       /* segments of BERT; else 0 */
    int64_t layers;            /* blocks; in an encoder–decoder, of the decoder */
    int64_t encoder_layers;    /* of an encoder–decoder; else 0 */
    int64_t heads;             /* H */
    int64_t kv_heads;          /* heads of keys and values; H unless queries are grouped */
    int64_t head_size;         /* usually C / H */
    int64_t encoder_heads;
    int64_t feed_forward_width; /* F, the width of the feed-forward's hidden layer */
    int64_t encoder_inner;
    bool tied;        /* the head shares the embedding's weights */
    bool shared;      /* encoder and decoder share one embedding */
    bool relu;        /* the activation of the feed-forward is ReLU; else see gelu_erf and silu */
    bool linear_bias; /* the linears of attention have biases (always in GPT-2 and BERT) */
    bool inner_bias;  /* the linears of the feed-forward have biases */
    bool pooler;      /* BERT: a linear over the first token's output */
    bool masked_head; /* BERT: a head that predicts masked tokens */

    /* The following members do not change costs, but are needed to compute. */
    bool gelu_erf;         /* the activation is exact GELU; else its tanh approximation */
    bool silu;             /* the activation is SiLU; not set for the gated MLP of Llama */
    bool scaled_embedding; /* token embeddings are multiplied by the root of the width */
    bool post_norm;        /* norms follow the residual sums, as in BERT and the Transformer */
    bool rms_norm;         /* RMS norms, as in Llama; else layer norms */
    bool residual_dropout; /* embeddings and residual branches have dropout; Llama has it only in
                          attention */
    struct yk_special_token_ids ids;
    double norm_epsilon;     /* added to variances */
    double init_std;         /* standard deviation of the initial weights */
    double rope_theta;       /* base of rotary positions; 0: positions are not rotary */
    double rope_factor;      /* Llama 3's scaling of long wavelengths; 0: none */
    double rope_low;         /* wavelengths above rope_positions / rope_low are scaled */
    double rope_high;        /* wavelengths below rope_positions / rope_high are not scaled */
    int64_t rope_positions;  /* maximum sequence length of the original training */
    int64_t window;          /* sliding window of attention in tokens; 0: none */
    const char *not_trained; /* option that prevents training; NULL: none */
};

/* The vocabulary of the head. */
static inline int64_t yk_model_config_target_vocabulary(const struct yk_model_config *config)
{
    return config->target_vocabulary > 0 ? config->target_vocabulary : config->vocabulary;
}

/* The distance of two rows of logits, in numbers. Rows are aligned to 16 bytes for matrix units,
 * and long rows to 128 bytes for memory. */
static inline int64_t yk_model_config_logit_stride(int64_t vocabulary)
{
    const int64_t step = vocabulary >= 4096 ? 64 : 8;
    return (vocabulary + step - 1) / step * step;
}

/* The name and summary of built-in model `number`. False: there is no such number. */
bool yk_model_config_get_builtin(size_t number, const char **name, const char **summary);

/* Finds a built-in model by name. The error suggests the nearest name. */
yk_status yk_model_config_find_builtin(const char *name,
                                       const struct yk_model_config **out) YK_MUST_USE;

/*
 * Parses a Hugging Face config.json. `source` is the prefix of every message and becomes the
 * config's name. The config and its strings are in the arena.
 */
yk_status yk_model_config_read(const char *text, size_t length, const char *source,
                               struct yk_arena *arena,
                               const struct yk_model_config **out) YK_MUST_USE;

/* Whether yk_model_config_open() treats `word` as a path; else it is a built-in name. */
bool yk_model_config_is_path(const char *word);

/* Opens a built-in model by name. If `word` contains a '/' or ends in ".json", it is a file, or a
 * folder with a config.json. A published name such as "meta-llama/Meta-Llama-3-8B" also finds the
 * built-in model. */
yk_status yk_model_config_open(const char *word, struct yk_arena *arena,
                               const struct yk_model_config **out) YK_MUST_USE;

/*
 * Appends a config.json for Hugging Face transformers, with keys that versions 4 and 5 both read.
 * `dtype` is the type of the weights. yk_model_config_read() returns an equal config except for the
 * name. Unknown token ids are written as null, so that transformers does not use its defaults. An
 * unknown decoder_start is left out, because version 5 requires a number. A Mistral model is
 * written as the equivalent Llama.
 */
yk_status yk_model_config_write(const struct yk_model_config *config, enum yk_precision dtype,
                                struct yk_text *out) YK_MUST_USE;

enum {
    YK_BUILTIN_MAX_ALIASES = 3
};

struct yk_builtin_model {
    struct yk_model_config config;
    const char *summary;
    const char *aliases[YK_BUILTIN_MAX_ALIASES]; /* other names; ends with the first NULL */
};

extern const struct yk_builtin_model yk_builtin_models[];
extern const size_t yk_builtin_model_count;

#endif
