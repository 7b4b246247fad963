/*
 * Model config: the hyperparameters of a transformer, from a built-in model or a Hugging Face
 * config.json. A config that these functions return is valid: every size that the model uses is
 * positive, and the number of parameters does not overflow. A config never changes.
 */
#ifndef YK_MODEL_CONFIG_H
#define YK_MODEL_CONFIG_H

#include "base/activation.h"
#include "base/arena.h"
#include "base/precision.h"
#include "base/status.h"
#include "base/text.h"
#include "base/throughput_unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_architecture;

enum {
    YK_MAX_END_TOKENS = 8
};

/* The ids of special tokens. −1 means: unknown. */
struct yk_special_token_ids {
    int64_t pad;
    int64_t begin; /* token at the beginning of a text */
    int64_t end;   /* token at the end of a text; if a file lists several, the first of them */
    int64_t decoder_start; /* token at the beginning of a decoder's input */
    /* The other tokens that end a text, if a file lists several. */
    int64_t more_ends[YK_MAX_END_TOKENS - 1];
    int32_t more_end_count;
};

/* Initialises all ids to unknown. */
#define YK_SPECIAL_TOKEN_IDS_NONE                                                                  \
    {                                                                                              \
        .pad = -1, .begin = -1, .end = -1, .decoder_start = -1                                     \
    }

/* The position of a token in its sequence. */
enum yk_positions {
    YK_POSITIONS_NONE,       /* no table is added to embeddings; attention may rotate, see `rope` */
    YK_POSITIONS_LEARNED,    /* a trained table of first_position + positions rows */
    YK_POSITIONS_SINUSOIDAL, /* a fixed table of sines and cosines */
};

enum yk_norm_kind {
    YK_NORM_LAYER, /* layer norm, with weight and bias */
    YK_NORM_RMS,   /* RMS norm, with weight only */
};

/* Where a block has norms. f is attention or the feed-forward, x the residual stream. */
enum yk_norm_placement {
    YK_NORM_BEFORE,           /* x + f(norm(x)): pre-norm, GPT-2, Llama */
    YK_NORM_AFTER_SUM,        /* norm(x + f(x)): post-norm, BERT, the original Transformer */
    YK_NORM_AFTER,            /* x + norm(f(x)): OLMo 2 */
    YK_NORM_BEFORE_AND_AFTER, /* x + norm(f(norm(x))): Gemma 2 */
};

/* Norms of queries and keys before rotary positions. */
enum yk_qk_norm {
    YK_QK_NORM_NONE,
    YK_QK_NORM_PER_HEAD, /* each head has a norm of its own, all with one weight: Qwen3, Gemma 3 */
    YK_QK_NORM_WHOLE,    /* one norm for all heads of a token: OLMo 2 */
};

/* How the frequencies of rotary positions are changed for longer sequences. The names are those of
 * "rope_type" in config.json. */
enum yk_rope_scaling {
    YK_ROPE_DEFAULT,  /* not at all */
    YK_ROPE_LINEAR,   /* all frequencies are divided by `factor` */
    YK_ROPE_DYNAMIC,  /* if the sequence is longer than `positions`, the base grows with its length
                       */
    YK_ROPE_LLAMA3,   /* low frequencies are divided by `factor` */
    YK_ROPE_YARN,     /* the same with another ramp (Peng et al. 2023); scores are scaled */
    YK_ROPE_LONGROPE, /* a factor for each frequency (Ding et al. 2024); scores are scaled */
};

/* Rotary positions (Su et al. 2021). */
struct yk_rope {
    double theta; /* base; 0 means: positions are not rotary */
    enum yk_rope_scaling scaling;
    double factor;
    double low;  /* Llama 3: wavelengths above positions / low are scaled by the whole factor */
    double high; /* Llama 3: wavelengths below positions / high are not scaled */
    double beta_fast; /* YaRN: frequencies with more rotations than this are not scaled */
    double beta_slow; /* YaRN: frequencies with fewer rotations are scaled by the whole factor */
    bool untruncated; /* YaRN: the ends of the ramp are not rounded to whole frequencies */
    double attention_factor; /* YaRN and LongRoPE: factor of cosines and sines */
    int64_t positions;       /* maximum sequence length before the frequencies were changed */
    /* LongRoPE: rotary_size / 2 divisors of the frequencies, for sequences up to `positions`, and
     * for longer ones. */
    const double *short_factors;
    const double *long_factors;
};

/* Properties in which the blocks of one model may differ: flags. */
enum {
    YK_BLOCK_WINDOW = 1,  /* attention has the sliding window, and `local_rope` if there is one */
    YK_BLOCK_NO_ROPE = 2, /* attention has no rotary positions */
    YK_BLOCK_DENSE = 4,   /* a model with experts: this block has a feed-forward instead */
};

/* The images that a model reads, and the patches that they are cut into. */
struct yk_image_shape {
    int64_t channels;
    int64_t height;
    int64_t width;
    int64_t patch_height; /* 0 means: the model reads tokens */
    int64_t patch_width;
};

enum {
    YK_MAX_IMAGE_CHANNELS = 4,
    YK_MAX_IMAGE_SIDE = 8192,
};

/*
 * The description of a transformer. All that the other parts of yoke know about a model is here, or
 * in the names of its modules (model/architecture.h). A member that is 0 or false means: the model
 * does not have this property.
 */
struct yk_model_config {
    const char *name; /* name of the built-in model, or path of the file */
    const struct yk_architecture *architecture;

    /* ---- sizes ---- */
    /* V, the size of the vocabulary; in an encoder–decoder, it is the source's vocabulary; in a
     * classifier, the number of classes. */
    int64_t vocabulary;
    int64_t target_vocabulary; /* size of the vocabulary of decoder and head; 0 means: V */
    int64_t width;             /* C, the hidden size */
    /* The maximum sequence length. If positions are not learned, it is only a default. A model of
     * images always has this length: the class token, then the patches. */
    int64_t positions;
    int64_t first_position; /* row of the first token in the table of learned positions; the rows
                               before it are not used */
    int64_t token_types;    /* number of segments of BERT; otherwise 0 */
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

    /* ---- images ---- */
    struct yk_image_shape image;
    /* (V) the names of the classes of a classifier; NULL means: "LABEL_0", "LABEL_1" … */
    const char *const *labels;

    /* ---- mixture of experts; such models can be planned, but not trained ---- */
    int64_t experts;           /* number of experts of a block; 0 means: no experts */
    int64_t experts_per_token; /* number of experts that compute a token */
    int64_t expert_width;      /* width of the hidden layer of an expert */
    /* Width of the hidden layer of an expert that computes all tokens. */
    int64_t shared_expert_width;

    /* ---- attention and positions ---- */
    int64_t window; /* size of the sliding window of attention in tokens; 0 means: no window */
    /* Flags of each block (`layers` of them), see YK_BLOCK_WINDOW. NULL means: all blocks have the
     * window, if there is one, and rotary positions, if there are any. */
    const unsigned char *block_flags;
    struct yk_rope rope;
    struct yk_rope local_rope; /* of blocks with a window; theta 0 means: `rope` */
    int64_t rotary_size; /* number of elements of a head that are rotated; 0 means: positions are
                            not rotary */

    /* ---- numbers ---- */
    double norm_epsilon;      /* number that is added to variances */
    double attention_scale;   /* factor of scores; 0 means: 1 / √head_size */
    double attention_softcap; /* scores s become cap · tanh(s / cap); 0 means: no cap */
    double residual_scale;    /* factor of the outputs of attention and feed-forward; 0 means: 1 */
    double embedding_scale;   /* factor of token embeddings; 0 means: 1 */
    double logit_scale;       /* factor of logits; 0 means: 1 */
    double logit_softcap;     /* logits l become cap · tanh(l / cap); 0 means: no cap */
    double init_std;          /* standard deviation of the initial weights */

    /* ---- training ---- */
    struct yk_special_token_ids ids;
    /* What prevents training, for messages: "its rope_scaling"; NULL means: the model can be
     * trained. */
    const char *not_trained;

    /* ---- kinds ---- */
    enum yk_positions position_kind;
    enum yk_norm_kind norm;
    enum yk_norm_placement norm_placement;
    enum yk_qk_norm qk_norm;
    enum yk_activation activation;      /* of the feed-forward */
    enum yk_activation head_activation; /* of the transform in BERT's head */

    /* ---- weights that exist, and how they are stored ---- */
    bool tied;        /* the head shares the embedding's weights */
    bool shared;      /* encoder and decoder share one embedding */
    bool qkv_bias;    /* the linears of queries, keys and values have biases */
    bool out_bias;    /* the output linear of attention has a bias */
    bool inner_bias;  /* the linears of the feed-forward have biases */
    bool expert_bias; /* the linears of experts and the router have biases */
    bool transposed;  /* the weights of linears in blocks are stored as (in, out), as in GPT-2 */
    bool interleaved; /* the fused linear of queries, keys and values has the rows of q, k and v of
                         one head after another, as in GPT-NeoX */
    bool pooler;      /* BERT: a linear over the first token's output */
    bool masked_head; /* BERT: a head that predicts masked tokens */
    bool classifier;  /* the head classifies a sample by its first token; it has a bias */
    bool new_head;    /* files of weights do not have the head, which starts anew */
    bool attention_sinks; /* each head has a trained score that no key has, as in gpt-oss */

    /* ---- how blocks compute ---- */
    bool bidirectional; /* attention of the blocks sees all tokens, as in BERT */
    bool parallel;      /* attention and feed-forward read the same input, as in GPT-NeoX */
    bool gated;         /* the feed-forward is down(activation(gate(x)) · up(x)) */
    bool norm_plus_one; /* norms multiply by 1 + weight, as in Gemma */
    bool embedding_scale_rounded; /* embedding_scale is rounded to the precision of the training
                                     run */
    bool residual_dropout; /* embeddings and residual branches have dropout; false in Llama, where
                              only attention has dropout */
    bool scaled_init; /* linears that write to the residual stream start smaller, as in GPT-2 */
};

/* Returns the flags of a block of the decoder, or of a model without an encoder. */
static inline unsigned yk_model_config_block_flags(const struct yk_model_config *config,
                                                   int64_t block)
{
    if (config->block_flags) {
        return config->block_flags[block];
    }
    return config->window > 0 ? YK_BLOCK_WINDOW : 0;
}

/* Returns the sliding window of a block; 0 means: no window. */
static inline int64_t yk_model_config_block_window(const struct yk_model_config *config,
                                                   int64_t block)
{
    return yk_model_config_block_flags(config, block) & YK_BLOCK_WINDOW ? config->window : 0;
}

/* Returns the size of the vocabulary of the head. */
static inline int64_t yk_model_config_target_vocabulary_size(const struct yk_model_config *config)
{
    return config->target_vocabulary > 0 ? config->target_vocabulary : config->vocabulary;
}

/* Returns whether the model reads images, not tokens. */
static inline bool yk_model_config_reads_images(const struct yk_model_config *config)
{
    return config->image.patch_height > 0;
}

/* Returns what the throughput of the model is counted in. */
static inline const struct yk_throughput_unit *
yk_model_config_throughput_unit(const struct yk_model_config *config)
{
    return yk_model_config_reads_images(config) ? &yk_throughput_unit_image
                                                : &yk_throughput_unit_token;
}

/* Returns the number of bytes of an image, one for each channel of a pixel; 0 means: the model
 * reads tokens. */
static inline int64_t yk_model_config_image_bytes(const struct yk_model_config *config)
{
    return yk_model_config_reads_images(config)
               ? config->image.channels * config->image.height * config->image.width
               : 0;
}

/* Returns the number of elements of a patch. */
static inline int64_t yk_model_config_patch_size(const struct yk_model_config *config)
{
    return config->image.channels * config->image.patch_height * config->image.patch_width;
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
 *     folder that contains a config.json;
 *   - any other word: the name of a folder that contains a config.json, if there is such a folder.
 */
yk_status yk_model_config_open(const char *word, struct yk_arena *arena,
                               const struct yk_model_config **out) YK_MUST_USE;

/*
 * Appends a config.json for Hugging Face transformers to `out`, with keys that its versions 4 and 5
 * can both read. `dtype` is the type of the weights. Fails if the model cannot be trained. Unknown
 * token ids are written as null, so that transformers does not use its defaults. Only an unknown
 * decoder_start is left out, because version 5 requires a number. yk_model_config_parse() reads the
 * text as a config that is equal except for the name.
 */
yk_status yk_model_config_to_json(const struct yk_model_config *config, enum yk_precision dtype,
                                  struct yk_text *out) YK_MUST_USE;

#endif
