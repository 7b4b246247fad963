/*
 * Config: the numbers that make a transformer, of a built-in model or a Hugging Face config.json. A
 * config made by the functions here has been checked: every size is positive and so small that
 * products of a few of them do not overflow, heads divide what they divide. It never changes.
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

/* Tokens that mean something to whoever makes batches or text; −1 where that is not known. */
struct yk_config_token_ids {
    int64_t pad;           /* fills short sequences up */
    int64_t begin;         /* begins a text */
    int64_t end;           /* ends a text; the first one where there are several */
    int64_t decoder_start; /* what a decoder is given first */
};

/* An initialiser. */
#define YK_CONFIG_TOKEN_IDS_NONE                                                                   \
    {                                                                                              \
        -1, -1, -1, -1                                                                             \
    }

struct yk_model_config {
    const char *name; /* what the user calls it: "llama3-8b", or the file's name */
    const struct yk_architecture *architecture;
    int64_t vocabulary;        /* V; of an encoder–decoder, the source's */
    int64_t target_vocabulary; /* of the decoder and its head; 0: V as well */
    int64_t width;             /* C */
    int64_t positions;      /* learned positions, or the longest sequence where none are learned */
    int64_t token_types;    /* BERT's segments; 0 elsewhere */
    int64_t layers;         /* blocks; of an encoder–decoder, those of the decoder */
    int64_t encoder_layers; /* 0 unless there is an encoder besides the decoder */
    int64_t heads;          /* H */
    int64_t kv_heads;       /* heads of keys and values; H without grouped queries */
    int64_t head_size;      /* C / H unless the config says otherwise */
    int64_t encoder_heads;
    int64_t inner; /* F, the width inside the feed-forward */
    int64_t encoder_inner;
    bool tied;        /* the head uses the embedding's weights */
    bool shared;      /* encoder and decoder use one embedding */
    bool relu;        /* between the feed-forward's linears; else GELU, or one that keeps as much */
    bool linear_bias; /* linears of attention have biases (always for GPT-2 and BERT) */
    bool inner_bias;  /* those of the feed-forward have */
    bool pooler;      /* BERT: a linear over the first token's output */
    bool masked_head; /* BERT: a head that predicts masked tokens */

    /* What costs nothing to know, but is needed to compute. */
    bool gelu_erf;         /* GELU is the exact one, not that by tanh */
    bool silu;             /* SiLU instead of GELU; of Llama's gate nothing is said */
    bool scaled_embedding; /* embeddings of tokens are multiplied by the root of the width */
    bool post_norm;        /* norms come after the sums, as in BERT and the Transformer */
    bool rms_norm;         /* norms divide by the root mean square alone, as in Llama */
    bool drops_stream;     /* embeddings and what is added to the residual stream know dropout, not
                              attention alone: all but Llama */
    struct yk_config_token_ids ids;
    double norm_epsilon;     /* added to variances */
    double spread;           /* standard deviation of weights at the start */
    double rope_theta;       /* base of the rotary positions' wavelengths; 0: none of those */
    double rope_factor;      /* Llama 3's scaling of long wavelengths; 0: none */
    double rope_low;         /* wavelengths longer than rope_positions / rope_low are scaled, */
    double rope_high;        /* shorter than rope_positions / rope_high are not */
    int64_t rope_positions;  /* that the model was first trained with */
    int64_t window;          /* attention looks back this many tokens at most; 0: at all */
    const char *not_trained; /* what of the file cannot be computed with yet, or NULL */
};

/* How many tokens the head distinguishes: `target_vocabulary`, or else `vocabulary`. */
static inline int64_t yk_model_config_target_vocabulary(const struct yk_model_config *config)
{
    return config->target_vocabulary > 0 ? config->target_vocabulary : config->vocabulary;
}

/* The count of numbers from one row of logits to the next: matrix units want rows to begin at
 * multiples of 16 bytes, and memory, where rows are long, of 128. */
static inline int64_t yk_model_config_logit_stride(int64_t vocabulary)
{
    const int64_t step = vocabulary >= 4096 ? 64 : 8;
    return (vocabulary + step - 1) / step * step;
}

/* A built-in model's name and what it is, for lists; false past the last one. */
bool yk_model_config_builtin(size_t number, const char **name, const char **summary);

/* The built-in model of that name. A name that is none fails, offering the nearest. */
yk_status yk_model_config_find(const char *name, const struct yk_model_config **out) YK_MUST_USE;

/*
 * Reads a Hugging Face config.json; `source`, the name the user knows it by, begins every message
 * and becomes the config's name. The config and its strings live in `arena`.
 */
yk_status yk_model_config_read(const char *text, size_t length, const char *source,
                               struct yk_arena *arena,
                               const struct yk_model_config **out) YK_MUST_USE;

/* Whether `word` is taken as a path, and not as a built-in name. */
bool yk_model_config_is_path(const char *word);

/* `word` as a built-in name, or, when it holds a '/' or ends in ".json", as a file or a folder with
 * a config.json. */
yk_status yk_model_config_open(const char *word, struct yk_arena *arena,
                               const struct yk_model_config **out) YK_MUST_USE;

/*
 * Adds the config.json that Hugging Face's transformers reads, in the keys that its versions 4 and
 * 5 share; `dtype` is that of the weights. yk_model_config_read() returns an equal config, by
 * the name it is then read under. Unknown ids of tokens are written as null, so that the framework
 * does not take its defaults for those; but for a decoder's first token, which version 5 wants to
 * be a number: that is left out. A Mistral is written as the Llama that it computes like.
 */
yk_status yk_model_config_write(const struct yk_model_config *config, enum yk_precision dtype,
                                struct yk_text *out) YK_MUST_USE;

/* The models that yoke knows by name. */
enum {
    YK_BUILTIN_ALIASES = 3
};

struct yk_builtin_model {
    struct yk_model_config config;
    const char *summary;
    const char *aliases[YK_BUILTIN_ALIASES]; /* besides its name; up to the first NULL */
};

extern const struct yk_builtin_model yk_builtin_models[];
extern const size_t yk_builtin_model_count;

#endif
