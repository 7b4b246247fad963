/* Model: the layers of a transformer, and what each takes to train on a batch. */
#ifndef YOKE_MODEL_H
#define YOKE_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_model yoke_model;

/* What is trained in one step. Filled by the caller. */
struct yoke_workload {
    int64_t batch;           /* samples; 0: 1 */
    int64_t sequence;        /* tokens a sample; 0: 1024, or what the model can take if less */
    int64_t target_sequence; /* of an encoder and decoder; 0: as many as the source's */
    const char *precision;   /* "fp32", "tf32", "fp16" or "bf16"; NULL: "bf16" */
    int64_t lora_rank;       /* 0: every parameter is trained; else only adapters of this rank */
    bool nf4;                /* frozen weights are kept in four bits; asks for adapters */
    bool recompute;          /* blocks save only their input and run forward again in backward */
};

struct yoke_model_info {
    const char *name;         /* "gpt2-xl", or the file's name */
    const char *architecture; /* "gpt2", "llama", "bert", "transformer" */
    int32_t layer_count;
    int32_t edge_count;
    int64_t parameters;
    int64_t trainable;
    int64_t tokens;                /* of a batch, that bear loss */
    struct yoke_workload workload; /* with nothing left open but the target sequence */
};

struct yoke_layer {
    const char *name; /* "embed", "layer 0", "head" */
    const char *kind; /* "gpt-block" */
    int32_t shares;   /* the earlier layer whose weights it uses too, or -1 */
    int64_t parameters;
    int64_t trainable;
    double forward_operations; /* of one batch; backward includes recomputation */
    double backward_operations;
    double weight_bytes; /* as they are kept and sent */
    double gradient_bytes;
    double optimizer_bytes;
    int64_t saved_bytes;        /* held from its forward to its backward */
    int64_t workspace_bytes;    /* held besides while it computes */
    const char *const *modules; /* the Hugging Face modules it is made of */
    int32_t module_count;
};

/* Data that goes from one layer to another in forward; its gradient comes back, as many bytes. */
struct yoke_layer_edge {
    int32_t from;
    int32_t to;
    int64_t bytes;
};

/* `word` as a built-in model, or as a Hugging Face config.json when it holds a '/' or ends in
 * ".json". `workload` may be NULL. */
YOKE_API yoke_status yoke_model_open(const char *word, const struct yoke_workload *workload,
                                     yoke_model **out) YOKE_MUST_USE;

/* The text of a config.json; `source` is what messages and plans call it. */
YOKE_API yoke_status yoke_model_read(const char *text, const char *source,
                                     const struct yoke_workload *workload,
                                     yoke_model **out) YOKE_MUST_USE;

YOKE_API void yoke_model_destroy(yoke_model *model);

YOKE_API const struct yoke_model_info *yoke_model_info(const yoke_model *model);

/* Layers are in the order of the forward pass. */
YOKE_API const struct yoke_layer *yoke_model_layer(const yoke_model *model, int32_t layer);
YOKE_API const struct yoke_layer_edge *yoke_model_edge(const yoke_model *model, int32_t edge);

/* The built-in models by name: `*summary` says what each is, and may be NULL. NULL past the last
 * one. */
YOKE_API const char *yoke_model_builtin(int32_t number, const char **summary);

#ifdef __cplusplus
}
#endif

#endif
