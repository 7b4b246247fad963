/*
 * Model config: the hyperparameters of a transformer, from a built-in model or a Hugging Face
 * config.json. A config that these functions return is valid: every size that the model uses is
 * positive, and the number of parameters does not overflow. A config never changes.
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

/* The ids of special tokens. −1 means: unknown. */
struct yk_special_token_ids {
    int64_t pad;
    int64_t begin; /* token at the beginning of a text */
    int64_t end;   /* token at the end of a text; if a file lists several, the first of them */
    int64_t decoder_start; /* token at the beginning of a decoder's input */
};

/* Initialises all ids to unknown. */
#define YK_SPECIAL_TOKEN_IDS_NONE                                                                  \
    {                                                                                              \
        -1, -1, -1, -1                                                                             \
    }

struct yk_model_config {
    const char *name; /* name of the built-in model, or path of the file */
    const struct yk_architecture *architecture;
    /* V, the size of the vocabulary; in an encoder–decoder, it is the source's vocabulary. */
    int64_t vocabulary;
    int64_t target_vocabulary; /* size of the vocabulary of decoder and head; 0 means: V */
    int64_t width;             /* C, the hidden size */
    int64_t positions; /* number of learned positions; if they are not learned, the maximum sequence
                          length */
    int64_t token_types; /* number of segments of BERT; otherwise 0 */
    int64_t layers; /* number of blocks; in an encoder–decoder, only the blocks of the decoder */
    int64_t encoder_layers; /* number of blocks of the encoder of an encoder–decoder; otherwise 0 */
    int64_t heads;          /* H, number of query heads */
    /* Number of heads of keys and values. It is less than H if several query heads share one head
     * of keys and values. */
    int64_t kv_heads;
    int64_t head_size;          /* usually C / H */
    int64_t encoder_heads;      /* number of heads in blocks of the encoder */
    int64_t feed_forward_width; /* F, the width of the feed-forward's hidden layer */
    int64_t encoder_inner; /* width of the feed-forward's hidden layer in blocks of the encoder */
    bool tied;             /* the head shares the embedding's weights */
    bool shared;           /* encoder and decoder share one embedding */
    bool relu; /* the activation of the feed-forward is ReLU; if false, see gelu_erf and silu */
    bool linear_bias; /* the linears of attention have biases (always in GPT-2 and BERT) */
    bool inner_bias;  /* the linears of the feed-forward have biases */
    bool pooler;      /* BERT: a linear over the first token's output */
    bool masked_head; /* BERT: a head that predicts masked tokens */

    /* The costs do not depend on the members below. They are needed to execute the model. */
    bool gelu_erf; /* the activation is exact GELU; if relu, gelu_erf and silu are all false, it is
                      the tanh approximation of GELU */
    bool silu;     /* the activation is SiLU; false in Llama, whose MLP is gated */
    bool scaled_embedding; /* token embeddings are multiplied by the square root of the width */
    /* Norms come after the residual sums, as in BERT and the original Transformer. If false, they
     * come before attention and feed-forward. */
    bool post_norm;
    bool rms_norm;         /* norms are RMS norms, as in Llama; otherwise layer norms */
    bool residual_dropout; /* embeddings and residual branches have dropout; false in Llama, where
                              only attention has dropout */
    struct yk_special_token_ids ids;
    double norm_epsilon; /* number that is added to variances */
    double init_std;     /* standard deviation of the initial weights */
    double rope_theta;   /* base of rotary positions; 0 means: positions are not rotary */
    double rope_factor;  /* factor by which Llama 3 scales long wavelengths; 0 means: no scaling */
    double rope_low;  /* wavelengths longer than rope_positions / rope_low get the whole factor */
    double rope_high; /* wavelengths shorter than rope_positions / rope_high are not scaled */
    int64_t rope_positions; /* maximum sequence length of the training before the wavelengths were
                               scaled */
    int64_t window; /* size of the sliding window of attention in tokens; 0 means: no window */
    /* What prevents training, for messages: "its rope_scaling"; NULL means: the model can be
     * trained. */
    const char *not_trained;
};

/* Returns the size of the vocabulary of the head. */
static inline int64_t yk_model_config_target_vocabulary_size(const struct yk_model_config *config)
{
    return config->target_vocabulary > 0 ? config->target_vocabulary : config->vocabulary;
}

/* Returns the distance from the beginning of a row of logits to the beginning of the next row, in
 * numbers. Rows of 16-bit logits are aligned to 16 bytes for matrix units, and long rows to 128
 * bytes for memory. */
static inline int64_t yk_model_config_logit_row_stride(int64_t vocabulary)
{
    const int64_t step = vocabulary >= 4096 ? 64 : 8;
    return (vocabulary + step - 1) / step * step;
}

/* Finds a built-in model by its name. The error message suggests the most similar name. */
yk_status yk_model_config_find_builtin(const char *name,
                                       const struct yk_model_config **out) YK_MUST_USE;

/*
 * Parses a Hugging Face config.json. `source` becomes the config's name, and every error message
 * begins with it. The config and its strings are in the arena.
 */
yk_status yk_model_config_parse(const char *text, size_t length, const char *source,
                                struct yk_arena *arena,
                                const struct yk_model_config **out) YK_MUST_USE;

/* Returns whether yk_model_config_open() treats `word` as a path. Otherwise `word` is the name of a
 * built-in model. */
bool yk_model_config_name_is_path(const char *word);

/* Opens a config. `word` is one of these:
 *
 *   - the name of a built-in model, such as "llama3-8b", or its published name, such as
 *     "meta-llama/Meta-Llama-3-8B";
 *   - any other word that contains a '/' or ends in ".json": the path of a config.json, or of a
 *     folder that contains a config.json. */
yk_status yk_model_config_open(const char *word, struct yk_arena *arena,
                               const struct yk_model_config **out) YK_MUST_USE;

/*
 * Appends a config.json for Hugging Face transformers to `out`, with keys that its versions 4 and 5
 * can both read. `dtype` is the type of the weights. Fails if the model cannot be trained. Unknown
 * token ids are written as null, so that transformers does not use its defaults. Only an unknown
 * decoder_start is left out, because version 5 requires a number. A Mistral model is written as a
 * Llama model, without `window`. yk_model_config_parse() reads the text as a config that is equal
 * except for the name and `window`.
 */
yk_status yk_model_config_to_json(const struct yk_model_config *config, enum yk_precision dtype,
                                  struct yk_text *out) YK_MUST_USE;

enum {
    YK_BUILTIN_MAX_ALIASES = 3
};

struct yk_builtin_model {
    struct yk_model_config config;
    const char *summary;
    /* Other names of the model; ends with the first NULL. */
    const char *aliases[YK_BUILTIN_MAX_ALIASES];
};

extern const struct yk_builtin_model yk_builtin_models[];
extern const size_t yk_builtin_model_count;

#endif
