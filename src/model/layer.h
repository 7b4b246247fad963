/*
 * Layer: builds one layer from the parts that transformers are made of. Each part adds its
 * parameters, its work forward and backward, and the bytes that its backward needs, in the order of
 * the forward pass. A part keeps its own input, and attention its output as well, so what a layer
 * saves is the sum over its parts. A builder is a plain struct with space for the works of the
 * largest block; adding cannot fail. One thread.
 */
#ifndef YK_MODEL_LAYER_H
#define YK_MODEL_LAYER_H

#include "model/model.h"

enum {
    YK_LAYER_MAX_WORKS = 64,
    YK_LAYER_SHAPE_SIZE = 160,
};

enum yk_layer_role {
    YK_LAYER_EMBEDDING, /* nothing below it wants a gradient */
    YK_LAYER_BLOCK,     /* gets adapters, NF4 and recomputation where the workload asks for them
                         */
    YK_LAYER_OUTER, /* after the blocks: frozen where blocks have adapters, fp32 where they are NF4
                     */
};

struct yk_layer_works {
    struct yk_work items[YK_LAYER_MAX_WORKS];
    int32_t count;
};

struct yk_layer_builder {
    const struct yk_workload *workload;
    enum yk_layer_role role;
    enum yk_precision precision; /* of products and of stored numbers */
    const char *kind;
    char shape[YK_LAYER_SHAPE_SIZE];
    int64_t input_bytes; /* what was sent to it: all that is saved under recomputation */

    int64_t parameters;
    int64_t trainable;
    int64_t quantised;
    int64_t full_width;
    struct yk_layer_works forward;
    struct yk_layer_works backward; /* in the order of the forward pass */
    struct yk_flops flops;
    bool keeps_input; /* what was sent to it is among what it saves */
    int64_t saved_bytes;
    int64_t transient_bytes; /* the most that a single part holds while it runs backward */
    int64_t dequantised[2];  /* bytes of the largest weights in NF4, and of the next */
};

/* A product with weights, done for `parts` linears of the model at once: 3 for q, k and v. */
struct yk_layer_linear {
    const char *name;
    int64_t rows; /* tokens */
    int64_t in;
    int64_t out; /* of all parts */
    int64_t parts;
    bool bias;
    bool tied;       /* the weights, but not the bias, belong to another layer */
    bool input_kept; /* by the part before */
    bool in_place;   /* the part after keeps its output and turns it into the gradient */
};

/* Attention of `rows` queries, T a sample, to S positions a sample. */
struct yk_layer_attention {
    const char *name;
    int64_t batch;
    int64_t queries; /* T */
    int64_t keys;    /* S */
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    bool causal;
};

enum yk_activation_kind {
    YK_ACTIVATION_GELU,
    YK_ACTIVATION_RELU,
    YK_ACTIVATION_SWIGLU, /* silu(gate) · up */
    YK_ACTIVATION_TANH,
};

enum yk_norm_kind {
    YK_NORM_LAYER, /* mean and variance; weight and bias */
    YK_NORM_RMS,   /* root of the mean square; weight */
};

/* Starts a layer that is sent `input_rows` tokens of the model's width; 0 for one that reads tokens
 * themselves. `shape` has the sizes, such as "C768 F3072 H12". */
void yk_layer_begin(struct yk_layer_builder *builder, const struct yk_model_config *config,
                    const struct yk_workload *workload, enum yk_layer_role role, const char *kind,
                    int64_t input_rows);

/* Adds words to the shape; see yk_layer.shape. */
void yk_layer_add_shape(struct yk_layer_builder *builder, const char *format, ...) YK_PRINTF(2, 3);

void yk_layer_add_linear(struct yk_layer_builder *builder, const struct yk_layer_linear *linear);
void yk_layer_add_attention(struct yk_layer_builder *builder,
                            const struct yk_layer_attention *attention);
/* Attention to the sequence itself with its linears, and the sum; queries, keys and values are
 * products of `linears` linears. */
void yk_layer_add_self_attention(struct yk_layer_builder *builder,
                                 const struct yk_layer_attention *attention, int64_t linears);
void yk_layer_add_norm(struct yk_layer_builder *builder, enum yk_norm_kind kind, int64_t rows,
                       int64_t width);
void yk_layer_add_activation(struct yk_layer_builder *builder, enum yk_activation_kind kind,
                             int64_t rows, int64_t width);
void yk_layer_add_residual(struct yk_layer_builder *builder, int64_t rows, int64_t width);

/* Turns queries and keys by their positions, in place; `width` is that of both together. */
void yk_layer_add_rotary(struct yk_layer_builder *builder, int64_t rows, int64_t width);

/* Sums `tables` rows for each token (its embedding, its learned position …); the tables have
 * `parameters` in all, 0 where they belong to another layer. */
void yk_layer_add_embedding(struct yk_layer_builder *builder, int64_t rows, int64_t width,
                            int64_t tables, int64_t parameters);

/* Softmax and cross-entropy, which turn the logits into their gradient in place. */
void yk_layer_add_loss(struct yk_layer_builder *builder, int64_t rows, int64_t classes);

/* Parameters that the layer owns and that no work of it uses. */
void yk_layer_add_unused(struct yk_layer_builder *builder, int64_t parameters);

#endif
