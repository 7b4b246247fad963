/*
 * Layer builder: describes one layer. The caller adds the parts of the layer (linears, norms,
 * attention …) in the order of the forward pass. Each part adds its parameters, its forward and
 * backward kernels, and the bytes that it saves for the backward pass. Most parts save their input;
 * attention also saves its output. A builder has space for the kernels of the largest block, so
 * adding a part cannot fail. Only one thread at a time may use a builder.
 */
#ifndef YK_MODEL_LAYER_BUILDER_H
#define YK_MODEL_LAYER_BUILDER_H

#include "base/activation.h"
#include "model/model.h"

enum {
    YK_LAYER_MAX_KERNELS = 64,
    YK_LAYER_SHAPE_TEXT_SIZE = 160,
};

struct yk_layer_kernels {
    struct yk_kernel_work items[YK_LAYER_MAX_KERNELS];
    int32_t count;
};

struct yk_layer_builder {
    const struct yk_workload *workload;
    enum yk_layer_role role;
    bool trains; /* the layer's own weights are trained; otherwise only adapters are */
    enum yk_precision precision; /* precision of products and activations */
    int64_t input_bytes; /* bytes of the layer's input; with recomputation, nothing else is saved */
    /* The layer so far, as if there were no recomputation. The model builder sets the name, shape,
     * modules, kernels and workspace of the finished layer. */
    struct yk_layer layer;
    char shape[YK_LAYER_SHAPE_TEXT_SIZE];
    struct yk_layer_kernels forward;
    /* The kernels are in the order of the forward pass. The model builder reverses this order. */
    struct yk_layer_kernels backward;
    int64_t transient_bytes; /* maximum memory that one part needs during its backward pass */
    int64_t dequantised[2];  /* bytes of the two largest weights after dequantisation */
};

/* A matrix product with weights. It computes `parts` linears of the model at once, for example 3
 * for queries, keys and values. */
struct yk_linear_spec {
    const char *name;
    int64_t rows; /* number of tokens */
    int64_t in;
    int64_t out; /* width of the output, all parts together */
    int64_t parts;
    bool bias;
    bool tied;       /* the weights belong to another layer; the bias does not */
    bool input_kept; /* the previous part already saves the input */
    bool in_place;   /* the next part overwrites this output with the gradient of the output */
    /* Mixture of experts: the number of linears, and how many of them compute a token. `rows`
     * counts a token once for each of these. 0 means: one linear that computes all tokens. */
    int64_t experts;
    int64_t experts_per_token;
};

/* Attention of T queries to S keys in each sample. */
struct yk_attention_spec {
    const char *name;
    int64_t batch;
    int64_t queries; /* T */
    int64_t keys;    /* S */
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    bool causal;
    int64_t window; /* number of keys that a query sees at most; 0 means: no window */
};

/* A norm of `groups` groups of `width` numbers in each row, with one weight for all groups. */
struct yk_norm_spec {
    enum yk_norm_kind kind;
    int64_t rows;
    int64_t groups;
    int64_t width;
    bool input_kept;   /* an earlier part already saves the input */
    int64_t kept_rows; /* number of rows of the input that are saved, if more than `rows` */
};

/* The embedding of images: a linear of the patches, plus a position each, behind a class token. */
struct yk_patch_embedding_spec {
    int64_t batch;
    int64_t sequence;    /* T, the class token and the patches */
    int64_t image_bytes; /* of one image */
    int64_t in;          /* elements of a patch */
    int64_t out;
};

/* Starts a layer whose input has `input_rows` tokens of the model's width. If `input_rows` is 0,
 * the layer reads token ids. */
void yk_layer_builder_begin(struct yk_layer_builder *builder, const struct yk_model_config *config,
                            const struct yk_workload *workload, enum yk_layer_role role,
                            const char *kind, int64_t input_rows);

/* Appends formatted text to the shape (see struct yk_layer), for example " C768 F3072 H12". */
void yk_layer_builder_append_shape_text(struct yk_layer_builder *builder, const char *format, ...)
    YK_PRINTF_LIKE(2, 3);

void yk_layer_builder_add_linear(struct yk_layer_builder *builder,
                                 const struct yk_linear_spec *linear);
void yk_layer_builder_add_attention(struct yk_layer_builder *builder,
                                    const struct yk_attention_spec *attention);
void yk_layer_builder_add_norm(struct yk_layer_builder *builder, const struct yk_norm_spec *norm);
/* Adds an activation. If `gated`, it is a gated linear unit: activation(gate) · up. */
void yk_layer_builder_add_activation(struct yk_layer_builder *builder,
                                     enum yk_activation activation, bool gated, int64_t rows,
                                     int64_t width);
void yk_layer_builder_add_residual(struct yk_layer_builder *builder, int64_t rows, int64_t width);

/* Adds rotary positions, which are applied in place. `width` is the width of queries and keys
 * together. */
void yk_layer_builder_add_rotary(struct yk_layer_builder *builder, int64_t rows, int64_t width);

/* Adds an embedding. For each token, it adds up one row of each table; there are `tables` tables
 * (tokens, positions, …). `parameters` is the number of parameters of all tables; 0 means: the
 * tables belong to another layer. */
void yk_layer_builder_add_embedding(struct yk_layer_builder *builder, int64_t rows, int64_t width,
                                    int64_t tables, int64_t parameters);

/* Adds the embedding of images. The backward pass cuts the images into patches again. */
void yk_layer_builder_add_patch_embedding(struct yk_layer_builder *builder,
                                          const struct yk_patch_embedding_spec *patches);

/* Adds softmax and cross-entropy, which overwrite the logits with their gradient. */
void yk_layer_builder_add_loss(struct yk_layer_builder *builder, int64_t rows, int64_t classes);

/* Adds parameters that the layer owns but never uses. */
void yk_layer_builder_add_unused_parameters(struct yk_layer_builder *builder, int64_t parameters);

#endif
