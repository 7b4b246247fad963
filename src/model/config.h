/*
 * Model config: the hyperparameters of a transformer, from a built-in model or a Hugging Face
 * config.json. A config that these functions return is valid: every size that the model uses is
 * positive, products of a few sizes do not overflow, and the number of heads divides the width. A
 * config never changes.
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
    int64_t begin;         /* token at the beginning of a text */
    int64_t end;           /* token at the end of a text; the first one if there are several */
    int64_t decoder_start; /* the first token of a decoder's input */
};

/* An initialiser with which all ids are unknown. */
#define YK_SPECIAL_TOKEN_IDS_NONE                                                                  \
    {                                                                                              \
        -1, -1, -1, -1                                                                             \
    }

struct yk_model_config {
    const char *name; /* name of the built-in model, or path of the file */
    const struct yk_architecture *architecture;
    /* V, size of the vocabulary; in an encoder–decoder, of the source vocabulary. */
    int64_t vocabulary;
    int64_t target_vocabulary; /* vocabulary of the decoder and the head; 0 means: equal to V */
    int64_t width;             /* C, the hidden size */
    int64_t positions;         /* number of learned positions, or maximum sequence length */
    int64_t token_types;       /* number of segments of BERT; otherwise 0 */
    int64_t layers;         /* number of blocks; in an encoder–decoder, blocks of the decoder */
    int64_t encoder_layers; /* number of blocks of the encoder of an encoder–decoder; otherwise 0 */
    int64_t heads;          /* H, number of query heads */
    /* Number of heads of keys and values; equal to H unless queries are grouped. */
    int64_t kv_heads;
    int64_t head_size; /* usually C / H */
    int64_t encoder_heads;
    int64_t feed_forward_width; /* F, the width of the feed-forward's hidden layer */
    int64_t encoder_inner;
    bool tied;   /* the head shares the embedding's weights */
    bool shared; /* encoder and decoder share one embedding */
    bool relu;   /* the activation of the feed-forward is ReLU; otherwise see gelu_erf and silu */
    bool linear_bias; /* the linears of attention have biases (always in GPT-2 and BERT) */
    bool inner_bias;  /* the linears of the feed-forward have biases */
    bool pooler;      /* BERT: a linear over the first token's output */
    bool masked_head; /* BERT: a head that predicts masked tokens */

    /* The following members do not change the costs, but are needed to execute the model. */
    bool gelu_erf; /* the activation is exact GELU; otherwise the tanh approximation of GELU */
    bool silu;     /* the activation is SiLU; false for the gated MLP of Llama */
    bool scaled_embedding; /* token embeddings are multiplied by the square root of the width */
    /* Norms come after the residual sums, as in BERT and the original Transformer. */
    bool post_norm;
    bool rms_norm;         /* norms are RMS norms, as in Llama; otherwise layer norms */
    bool residual_dropout; /* embeddings and residual branches have dropout; Llama has dropout only
                              in attention */
    struct yk_special_token_ids ids;
    double norm_epsilon; /* number that is added to variances */
    double init_std;     /* standard deviation of the initial weights */
    double rope_theta;   /* base of rotary positions; 0 means: positions are not rotary */
    double rope_factor;  /* factor by which Llama 3 scales long wavelengths; 0 means: no scaling */
    double rope_low;     /* wavelengths longer than rope_positions / rope_low are scaled */
    double rope_high;    /* wavelengths shorter than rope_positions / rope_high are not scaled */
    int64_t rope_positions; /* maximum sequence length of the original training */
    int64_t window; /* size of the sliding window of attention in tokens; 0 means: no window */
    /* The option that prevents training; NULL means: the model can be trained. */
    const char *not_trained;
};

/* Returns the size of the vocabulary of the head. */
static inline int64_t yk_model_config_target_vocabulary_size(const struct yk_model_config *config)
{
    return config->target_vocabulary > 0 ? config->target_vocabulary : config->vocabulary;
}

/* Returns the distance between two rows of logits, in numbers. Rows are aligned to 16 bytes for
 * matrix units, and long rows to 128 bytes for memory. */
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

/* Opens a config by name or path. If `word` contains a '/' or ends in ".json", it is the path of a
 * config.json or of a folder that contains one. Otherwise it is the name of a built-in model. A
 * published name such as "meta-llama/Meta-Llama-3-8B" also finds the built-in model. */
yk_status yk_model_config_open(const char *word, struct yk_arena *arena,
                               const struct yk_model_config **out) YK_MUST_USE;

/*
 * Appends a config.json for Hugging Face transformers to `out`, with keys that versions 4 and 5 can
 * both read. `dtype` is the type of the weights. If yk_model_config_parse() reads this text, the
 * result is equal to `config` except for the name. Unknown token ids are written as null, so that
 * transformers does not use its defaults. An unknown decoder_start is not written, because version
 * 5 requires a number. A Mistral model is written as the equivalent Llama model.
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
