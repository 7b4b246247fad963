/* Model: the layers of a transformer, and the work and memory of each layer for one batch. */
#ifndef YOKE_MODEL_H
#define YOKE_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_model yoke_model;

/* The work of one training step. Filled by the caller. */
struct yoke_workload {
    int64_t batch;    /* number of samples; 0 means: 1 */
    int64_t sequence; /* tokens per sample; 0 means: 1024, or the model's maximum if that is less */
    int64_t target_sequence; /* tokens per target of an encoder-decoder; 0 means: as many as the
                                source */
    const char *precision;   /* "fp32", "tf32", "fp16" or "bf16"; NULL means: "bf16" */
    int64_t lora_rank;       /* train LoRA adapters of this rank; 0 means: train all parameters */
    bool nf4;                /* store frozen weights in 4 bits (NF4); requires adapters */
    bool recompute; /* blocks store only their input and repeat their forward pass in the backward
                       pass */
};

struct yoke_model_info {
    const char *name;         /* "gpt2-xl", or the name of the file */
    const char *architecture; /* the family: "gpt2", "llama", "qwen3", "transformer" */
    int32_t layer_count;
    int32_t edge_count;
    int64_t parameters;
    int64_t trainable;
    int64_t tokens;                /* number of tokens of a batch that are part of the loss */
    struct yoke_workload workload; /* all defaults are filled in, except target_sequence */
};

struct yoke_layer {
    const char *name; /* "embed", "layer 0", "head" */
    const char *kind; /* "gpt-block" */
    int32_t shares; /* index of the earlier layer whose weights this layer shares; -1 means: none */
    int64_t parameters;
    int64_t trainable;
    double forward_operations;  /* arithmetic operations for one batch */
    double backward_operations; /* the same; includes recomputation */
    double weight_bytes;        /* size of the weights as they are stored and sent */
    double gradient_bytes;
    double optimizer_bytes;
    int64_t saved_bytes;     /* activations that are stored from the forward to the backward pass */
    int64_t workspace_bytes; /* additional memory during the computation */
    const char *const *modules; /* (module_count) names of the layer's Hugging Face modules */
    int32_t module_count;
};

/* Activations that one layer sends to another in the forward pass. Their gradients, which have the
 * same size, are sent back in the backward pass. */
struct yoke_layer_edge {
    int32_t from;
    int32_t to;
    int64_t bytes;
};

/* Opens a model. If `word` ends in ".json" or contains '/', it is the path of a Hugging Face
 * config.json or of a folder that contains one. Otherwise it is the name of a built-in model.
 * Exception: the published name of a built-in model, such as "meta-llama/Meta-Llama-3-8B", opens
 * that model although it contains a slash. `workload` may be NULL. */
YOKE_API yoke_status yoke_model_open(const char *word, const struct yoke_workload *workload,
                                     yoke_model **out) YOKE_MUST_USE;

/* Reads a model from the text of a config.json. `source` is the name of the text in messages and
 * plans. */
YOKE_API yoke_status yoke_model_read(const char *text, const char *source,
                                     const struct yoke_workload *workload,
                                     yoke_model **out) YOKE_MUST_USE;

YOKE_API void yoke_model_destroy(yoke_model *model);

YOKE_API const struct yoke_model_info *yoke_model_info(const yoke_model *model);

/* Layers are numbered in the order of the forward pass. */
YOKE_API const struct yoke_layer *yoke_model_layer(const yoke_model *model, int32_t layer);
YOKE_API const struct yoke_layer_edge *yoke_model_edge(const yoke_model *model, int32_t edge);

/* Returns the name of built-in model `number`, or NULL after the last one. Sets `*summary` to a
 * description of the model. `summary` may be NULL. */
YOKE_API const char *yoke_model_builtin(int32_t number, const char **summary);

#ifdef __cplusplus
}
#endif

#endif
