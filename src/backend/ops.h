/*
 * Ops: the arguments of every op of a backend, one struct per op.
 *
 * Matrices are row-major. A shape is written in parentheses: (rows, columns). A stride is the
 * number of elements from the start of one row to the start of the next. Pointers are to device
 * memory and must stay valid until the op has run. The struct is copied when the op is enqueued.
 * Elements are stored in the given type (fp32, fp16 or bf16); ops compute in fp32. The order of
 * summation does not depend on the number of threads.
 */
#ifndef YK_BACKEND_OPS_H
#define YK_BACKEND_OPS_H

#include "base/activation.h"
#include "base/precision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins the definition of a function in a header that both host code and kernels include. */
#ifdef __CUDACC__
#define YK_HOST_OR_DEVICE_INLINE static __device__ __forceinline__
#else
#define YK_HOST_OR_DEVICE_INLINE static inline
#endif

/* Expands OP(CAPITALS, name, function) for every op. struct yk_<name>_op has the arguments of the
 * op, yk_cpu_<function>() is its kernel on the CPU, and yk_cuda_<function>() enqueues it on a
 * GPU. */
#define YK_OPS_FOR_EACH(OP)                                                                        \
    OP(MATMUL, matmul, matmul)                                                                     \
    OP(ATTENTION, attention, attention)                                                            \
    OP(ATTENTION_BACKWARD, attention_backward, attention_backward)                                 \
    OP(NORM, norm, norm)                                                                           \
    OP(NORM_BACKWARD, norm_backward, norm_backward)                                                \
    OP(EMBEDDING, embedding, embedding)                                                            \
    OP(EMBEDDING_BACKWARD, embedding_backward, embedding_backward)                                 \
    OP(PATCHIFY, patchify, patches_cut)                                                            \
    OP(PATCH_TOKENS, patch_tokens, patches_place_tokens)                                           \
    OP(ROTARY, rotary, rotary)                                                                     \
    OP(QK_NORM, qk_norm, qk_norm)                                                                  \
    OP(QK_NORM_BACKWARD, qk_norm_backward, qk_norm_backward)                                       \
    OP(GLU, glu, glu)                                                                              \
    OP(GLU_BACKWARD, glu_backward, glu_backward)                                                   \
    OP(LORA, lora, lora)                                                                           \
    OP(LORA_BACKWARD, lora_backward, lora_backward)                                                \
    OP(DROPOUT, dropout, dropout)                                                                  \
    OP(SUM_ROWS, sum_rows, sum_rows)                                                               \
    OP(CROSS_ENTROPY, cross_entropy, cross_entropy)                                                \
    OP(ACCURACY, accuracy, accuracy)                                                               \
    OP(SUM_SQUARES, sum_squares, sum_squares)                                                      \
    OP(CLIP_NORM, clip_norm, optimizer_clip_norm)                                                  \
    OP(ADAMW, adamw, optimizer_adamw)                                                              \
    OP(SGD, sgd, optimizer_sgd)                                                                    \
    OP(CAST, cast, elementwise_cast)                                                               \
    OP(ADD, add, elementwise_add)                                                                  \
    OP(QUANTISE, quantise, nf4_quantise)                                                           \
    OP(DEQUANTISE, dequantise, nf4_dequantise)

enum yk_matmul_epilogue {
    YK_EPILOGUE_NONE,
    YK_EPILOGUE_GELU,     /* c = gelu(x) in the tanh form; stores x in aux if aux is not NULL */
    YK_EPILOGUE_GELU_ERF, /* like YK_EPILOGUE_GELU, but in the exact form */
    YK_EPILOGUE_RELU,
    YK_EPILOGUE_RELU_SQUARED,  /* c = max(x, 0)²; stores x in aux if aux is not NULL */
    YK_EPILOGUE_SILU,          /* c = x · sigmoid(x) */
    YK_EPILOGUE_GELU_BACKWARD, /* c = x · gelu'(aux) */
    YK_EPILOGUE_GELU_ERF_BACKWARD,
    YK_EPILOGUE_RELU_BACKWARD, /* c = aux > 0 ? x : 0; aux is the input or the output of ReLU */
    YK_EPILOGUE_RELU_SQUARED_BACKWARD, /* c = x · 2 · max(aux, 0) */
    YK_EPILOGUE_SILU_BACKWARD,
};

/* Sums that a matmul computes in addition to its product. They are used as gradients of biases. */
enum yk_matmul_row_sum_source {
    YK_MATMUL_ROW_SUM_NONE,
    YK_MATMUL_ROW_SUM_A, /* m sums: Σ op(a) over k; requires a_transposed */
    YK_MATMUL_ROW_SUM_B, /* n sums: Σ op(b) over k; requires !b_transposed */
    YK_MATMUL_ROW_SUM_C, /* n sums: Σ c over m, after the epilogue */
};

/*
 * Matrix product. The shapes are (m, k) for op(a), (k, n) for op(b), and (m, n) for x and c. op()
 * transposes a matrix that is stored transposed.
 *   if `accumulate` is not set:  x = scale · op(a) · op(b) + bias + add;  c = epilogue(x)
 *   if `accumulate` is set:      c = c + scale · op(a) · op(b)
 */
struct yk_matmul_op {
    int64_t m;
    int64_t n;
    int64_t k;
    const void *a;
    const void *b;
    void *c;
    int64_t a_stride;
    int64_t b_stride;
    int64_t c_stride;
    bool a_transposed; /* a is stored as (k, m) */
    bool b_transposed; /* b is stored as (n, k) */
    bool accumulate;
    enum yk_precision a_type;
    enum yk_precision b_type;
    enum yk_precision c_type;
    enum yk_precision bias_type;
    float scale;
    const void *bias; /* (n); may be NULL */
    const void *add;  /* (m, n), with the type of c; may be NULL; may be equal to c */
    int64_t add_stride;
    enum yk_matmul_epilogue epilogue;
    void *aux; /* (m, n), with the type of c; input of backward epilogues, output of the others;
                  YK_EPILOGUE_RELU does not write aux */
    int64_t aux_stride;
    int64_t split_columns[2]; /* columns at which the matmul may be split into independent matmuls,
                                 such as queries, keys and values; 0 means: no split */
    enum yk_matmul_row_sum_source sums_of;
    void *row_sums; /* the op adds the row sums to these elements */
    enum yk_precision sums_type;
};

/*
 * Parameters of dropout. Each element has an index e in its sample and a random word. The element
 * is dropped if the word is less than 2^32 · rate; otherwise it is divided by 1 − rate.
 * Philox4x32-10 with the key `seed` and the counter (e / 4, sample, low half of site, high half of
 * site) computes four words; the element has word e mod 4. Samples are numbered consecutively over
 * the whole run, so the same elements are dropped in recomputation and for any number of ranks.
 */
struct yk_dropout_options {
    float rate; /* 0 means: no dropout */
    uint64_t seed;
    uint64_t site;        /* identifies the layer and the position in the layer */
    int64_t first_sample; /* number of the first sample of the op */
};

/*
 * Attention of each query to the keys of its sample: out = softmax(scale · q kᵀ) v for every head.
 * B is the number of samples (`batch`). A row is a token and contains all heads. Each head of keys
 * and values is shared by heads / kv_heads query heads. Scores are never stored. With `softcap` c,
 * the scores are c · tanh(scale · q kᵀ / c).
 */
struct yk_attention_op {
    int64_t batch;
    int64_t queries; /* T */
    int64_t keys;    /* S */
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size;
    const void *q; /* (B·T, heads · head_size) */
    const void *k; /* (B·S, kv_heads · head_size) */
    const void *v;
    void *out; /* (B·T, heads · head_size) */
    float *
        log_sum_exp; /* (B, heads, T): log-sum-exp of the scores; may be NULL in the forward pass */
    int64_t q_stride;
    int64_t k_stride;
    int64_t v_stride;
    int64_t out_stride;
    /* Number of elements from one head to the next in a row of q, k or v, and in their gradients.
     * 0 means: head_size. The heads of `out` are always adjacent. */
    int64_t head_stride;
    enum yk_precision type;
    float scale;
    float softcap;          /* 0 means: scores are not capped */
    bool causal;            /* query t attends to keys up to t + S − T */
    int64_t window;         /* query t attends only to keys at a distance of less than `window` from
                               t + S − T; 0 means: no window */
    const int32_t *lengths; /* (B): number of valid keys, at least 1; NULL means: all S */
    /* Dropout of the probabilities. The index e of query t and key s is (head · T + t) · S + s. */
    struct yk_dropout_options dropout;
};

/* Gradients of attention. The op overwrites dq, dk and dv. forward.out and forward.log_sum_exp must
 * not be NULL. */
struct yk_attention_backward_op {
    struct yk_attention_op forward;
    const void *d_out; /* has the stride forward.out_stride */
    void *dq;
    void *dk;
    void *dv;
    int64_t dq_stride;
    int64_t dk_stride;
    int64_t dv_stride;
};

/*
 * Layer norm: y = (x − mean) · rstd · (weight + weight_offset) + bias + add. RMS norm has no mean
 * and no bias. Each row has `groups` groups of `width` elements that are normalised separately,
 * with the same weight: for example the heads of queries.
 */
struct yk_norm_op {
    int64_t rows;
    int64_t groups; /* 0 means: 1 */
    int64_t width;
    int64_t x_stride; /* 0 means: groups · width */
    int64_t y_stride; /* 0 means: groups · width */
    const void *x;    /* x and y are (rows, groups, width) */
    void *y;
    const void *add; /* (rows, width), with the type and the stride of y; may be NULL, and may be
                        equal to y; not NULL only if there is one group */
    const void *weight;
    const void *bias; /* NULL means: RMS norm */
    float *mean;      /* output (rows, groups); not used by RMS norm */
    float *rstd;      /* output (rows, groups): 1 / sqrt(variance + epsilon) */
    float epsilon;
    float weight_offset; /* 1 for norms that store weight − 1, otherwise 0 */
    enum yk_precision x_type;
    enum yk_precision y_type;
    enum yk_precision weight_type;
};

/* Gradients of a norm. The gradient of x, plus `add`, is written to dx. The gradients of weight and
 * bias are added to d_weight and d_bias. */
struct yk_norm_backward_op {
    int64_t rows;
    int64_t groups; /* 0 means: 1 */
    int64_t width;
    int64_t x_stride; /* each stride: 0 means: groups · width */
    int64_t dy_stride;
    int64_t dx_stride; /* also the stride of `add` */
    const void *x;
    const void *dy;  /* has the type of y */
    void *dx;        /* has the type of x; may be equal to dy or add */
    const void *add; /* has the type of x; may be NULL */
    const void *weight;
    void *d_weight;    /* has the type of weight; NULL means: the weight is frozen */
    void *d_bias;      /* has the type of weight; NULL means: the bias is frozen, or RMS norm */
    const float *mean; /* NULL means: RMS norm */
    const float *rstd;
    float weight_offset;
    enum yk_precision x_type;
    enum yk_precision y_type;
    enum yk_precision weight_type;
};

/* out[row] = scale · table[tokens[row]] + positions[row mod sequence] + shift. */
struct yk_embedding_op {
    int64_t rows;
    int64_t width;
    int64_t sequence;
    int64_t vocabulary;
    const int32_t *tokens;
    const void *table;     /* (vocabulary, width) */
    const void *positions; /* `sequence` or more rows of `width` elements; may be NULL */
    const void *shift; /* (width), with the type of the table; is added to every row; may be NULL */
    void *out;
    float scale; /* factor for the rows of the table, not for positions and shift */
    enum yk_precision table_type;
    enum yk_precision out_type;
};

/* Adds scale · d_out[row] to d_table[tokens[row]], and d_out[row] to d_positions[row mod sequence].
 * The gradient of `shift` is computed with struct yk_sum_rows_op. */
struct yk_embedding_backward_op {
    int64_t rows;
    int64_t width;
    int64_t sequence;
    int64_t vocabulary;
    const int32_t *tokens;
    const void *d_out;
    void *d_table;     /* may be NULL */
    void *d_positions; /* may be NULL */
    float scale;
    enum yk_precision table_type;
    enum yk_precision out_type;
};

enum {
    YK_PATCHIFY_MAX_CHANNELS = 4
};

/*
 * The patches of images as rows of a matrix, in which they are multiplied with the weights of a
 * convolution. Patches do not overlap: an image has N = (height / patch_height) · (width /
 * patch_width) of them, in rows from left to right; pixels behind the last whole patch are not
 * used. A patch has K = channels · patch_height · patch_width elements, in this order. Element x of
 * channel c becomes scale[c] · x + shift[c]. Each image has T = 1 + N rows; the first is that of
 * the class token and is 0.
 */
struct yk_patchify_op {
    int64_t batch; /* B, number of images */
    int64_t channels;
    int64_t height;
    int64_t width;
    int64_t patch_height;
    int64_t patch_width;
    const uint8_t *pixels; /* (B, channels, height, width) */
    void *out;             /* (B·T, K) */
    float scale[YK_PATCHIFY_MAX_CHANNELS];
    float shift[YK_PATCHIFY_MAX_CHANNELS];
    enum yk_precision type;
};

/* Returns the number of patches of an image. */
static inline int64_t yk_ops_patch_count(const struct yk_patchify_op *op)
{
    return (op->height / op->patch_height) * (op->width / op->patch_width);
}

/* What is added to the embeddings of patches: out[row] = positions[t] + (t = 0 ? class_token :
 * bias), where t is row mod sequence. The gradients are computed with struct yk_sum_rows_op. */
struct yk_patch_tokens_op {
    int64_t rows;
    int64_t width;
    int64_t sequence;              /* T */
    const void *positions;         /* (T, width) */
    const void *class_token;       /* (width) */
    const void *bias;              /* (width) */
    void *out;                     /* (rows, width) */
    enum yk_precision weight_type; /* of positions, class_token and bias */
    enum yk_precision out_type;
};

/* Rotary position embedding, in place. Rotates the pairs (i, i + rotary_size / 2) of every head,
 * for i from 0 to rotary_size / 2 − 1. The other elements of a head do not change. */
struct yk_rotary_op {
    int64_t rows;
    int64_t sequence; /* the position of a row is row mod sequence */
    int64_t heads;
    int64_t head_size;
    int64_t head_stride; /* number of elements from one head to the next; 0 means: head_size */
    int64_t rotary_size; /* 0 means: head_size */
    int64_t stride;
    void *data;
    const float *cos_sin; /* (sequence, rotary_size / 2, 2): cosine and sine */
    bool inverse;         /* rotates by the negative angle, for the backward pass */
    enum yk_precision type;
};

/* QK-norm: norms of queries and of keys, after which the outputs of both are rotated. All three
 * have the same rows. */
struct yk_qk_norm_op {
    struct yk_norm_op q;
    struct yk_norm_op k;
    struct yk_rotary_op rotary; /* of q.y and k.y; if cos_sin is NULL, they are not rotated */
};

/* Gradients of QK-norm. The gradients of the outputs are rotated back before those of the norms are
 * computed. */
struct yk_qk_norm_backward_op {
    struct yk_norm_backward_op q;
    struct yk_norm_backward_op k;
    struct yk_rotary_op rotary; /* of q.dy and k.dy, which are q.dx and k.dx; `inverse` is true */
};

/* What a LoRA adapter adds to a matrix (rows, columns): scale · inner · factorᵀ. An op that reads
 * the matrix adds it to what it has read, so that the sum need not be in memory. */
struct yk_lora_term {
    const void *inner; /* (rows, rank); NULL means: nothing is added */
    int64_t inner_stride;
    int64_t rank;
    const void *factor;     /* (columns, rank) */
    bool factor_transposed; /* factor is stored as (rank, columns) */
    float scale;
};

/* Gated linear unit (Shazeer 2020): out = activation(gate) · up. A row of gate_up has 2 · width
 * elements: first gate, then up. A row of out has `width` elements. All terms of adapters are there
 * or none; see yk_ops_glu_supports_lora_terms(). */
struct yk_glu_op {
    int64_t rows;
    int64_t width;
    enum yk_activation activation;
    const void *gate_up;
    void *out;
    enum yk_precision type;
    struct yk_lora_term gate_term;
    struct yk_lora_term up_term;
};

struct yk_glu_backward_op {
    int64_t rows;
    int64_t width;
    enum yk_activation activation;
    const void *gate_up;
    const void *d_out;
    void *d_gate_up; /* may be equal to gate_up */
    enum yk_precision type;
    struct yk_lora_term gate_term;
    struct yk_lora_term up_term;
    struct yk_lora_term d_out_term; /* its factor is transposed */
    /* Required with terms, else NULL. d_out_term comes from an adapter whose input is `out`, the
     * result of the forward op with the same gate_up and terms. The gradient of its factor is added
     * to d_factor:
     *   d_factor = d_factor + scale · innerᵀ · out
     * A backend reads `out`, or computes it again. Neither overlaps d_gate_up. */
    const void *out; /* (rows, width) */
    void *d_factor;  /* (rank, width); need not be at a multiple of 16 bytes */
};

enum {
    YK_LORA_TERM_MAX_RANK = 32,
};

/* Returns whether the two ops above can add terms of adapters: elements have 16 bits, the
 * activation is one that models gate with, `width` is a multiple of 8 and no rank is above the
 * maximum. The caller also has to place gate_up, out and their gradients at multiples of 16 bytes,
 * which nobody checks. */
static inline bool yk_ops_glu_supports_lora_terms(enum yk_precision type,
                                                  enum yk_activation activation, int64_t width,
                                                  int64_t rank)
{
    return yk_precision_bytes(type) == 2 &&
           (activation == YK_ACTIVATION_SILU || activation == YK_ACTIVATION_GELU ||
            activation == YK_ACTIVATION_GELU_TANH) &&
           width % 8 == 0 && rank <= YK_LORA_TERM_MAX_RANK;
}

enum {
    YK_LORA_MAX_PARTS = 3,
};

/*
 * LoRA adapters of some columns of a matrix, such as those of queries, of keys and of values. For
 * each part: y = scale · inner · factorᵀ + add. In y and add the columns of the parts follow each
 * other, and in inner those of their ranks.
 */
struct yk_lora_op {
    int64_t rows;
    int64_t rank;      /* of each part */
    const void *inner; /* (rows, parts · rank) */
    void *y;           /* (rows, columns of all parts) */
    const void *add;   /* like y; may be NULL; may be equal to y */
    int64_t y_stride;  /* also the stride of add */
    struct {
        int64_t columns;
        const void *factor; /* (columns, rank) */
    } part[YK_LORA_MAX_PARTS];
    int32_t parts;
    float scale;
    enum yk_precision type;
};

/*
 * The gradients of LoRA adapters. dy is the gradient of y. For each part:
 *   d_factor = d_factor + scale · dyᵀ · inner
 *   d_inner  = scale · dy · factor
 * In dy the columns of the parts follow each other, and in inner and d_inner those of their ranks.
 */
struct yk_lora_backward_op {
    int64_t rows;
    int64_t rank;   /* of each part */
    const void *dy; /* (rows, columns of all parts) */
    int64_t dy_stride;
    const void *inner; /* (rows, parts · rank) */
    void *d_inner;     /* (rows, parts · rank) */
    struct {
        int64_t columns;
        const void *factor; /* (columns, rank) */
        void *d_factor;     /* (columns, rank) */
    } part[YK_LORA_MAX_PARTS];
    int32_t parts;
    float scale;
    enum yk_precision type;
};

/* to = scale · dropout(from) + add. All three have the shape (rows, width). The backward pass is
 * the same op on the gradient. */
struct yk_dropout_op {
    int64_t rows;
    int64_t width;
    int64_t sequence; /* rows per sample */
    const void *from;
    void *to;        /* may be equal to from or add */
    const void *add; /* may be NULL */
    float scale;     /* 0 means: 1 */
    struct yk_dropout_options dropout;
    enum yk_precision type;
};

/* to[column] += the sum of this column over all rows. This is the gradient of a bias. */
struct yk_sum_rows_op {
    int64_t rows;
    int64_t columns;
    const void *from;
    int64_t stride;
    void *to;
    enum yk_precision from_type;
    enum yk_precision to_type;
};

/*
 * Softmax and cross-entropy. Adds the sum of the losses of all rows to `loss`, and replaces the
 * logits with `factor` times their gradient. If `factor` is 0, the logits do not change. With label
 * smoothing s, the target probability is s / classes for every class; the class of the label gets
 * 1 − s in addition. A row with a negative target has a loss and a gradient of 0. With `softcap` c,
 * softmax is applied to c · tanh(logits / c); the gradient is that of the logits.
 */
struct yk_cross_entropy_op {
    int64_t rows;
    int64_t classes;
    int64_t stride;
    void *logits; /* (rows, classes); the op does not write the padding between rows */
    const int32_t *targets;
    float *row_losses; /* output (rows) */
    double *loss;
    float smoothing;
    float softcap; /* 0 means: logits are not capped */
    float factor;
    enum yk_precision type;
};

enum {
    YK_ACCURACY_TOP = 5 /* a target that is among so many best classes is the second kind of hit */
};

/*
 * Counts the rows whose target is the class with the largest logit, and those whose target is among
 * the YK_ACCURACY_TOP classes with the largest logits. Of equal logits, the first counts as larger.
 * A row with a negative target is not counted.
 */
struct yk_accuracy_op {
    int64_t rows;
    int64_t classes;
    int64_t stride;
    const void *logits; /* (rows, classes) */
    const int32_t *targets;
    double *hits; /* (2) the op adds both numbers to these */
    enum yk_precision type;
};

/* The norm of all gradients of a step. It is in device memory, so that optimizers do not wait for
 * the host. */
struct yk_gradient_norm_and_factor {
    double norm;  /* norm of the gradients without the loss scale */
    float factor; /* optimizers multiply gradients by it: it removes the loss scale and clips */
    int32_t skip; /* 1 means: the norm is infinite or NaN, and optimizers do nothing */
};

/* *to = the sum of squares of all elements, in double precision. */
struct yk_sum_squares_op {
    int64_t count;
    const void *from;
    double *to;
    enum yk_precision type;
};

/* Computes a struct yk_gradient_norm_and_factor:
 *   norm = unscale · sqrt(Σ sums)
 *   factor = unscale · min(1, clip / (norm + 1e-6)) */
struct yk_clip_norm_op {
    const double *sums;
    int64_t count;
    float unscale; /* 1 / loss scale */
    float clip;    /* 0 means: no clipping */
    struct yk_gradient_norm_and_factor *gradient_norm;
};

/* The arguments that all optimizers have. If `master` is not NULL, the op updates `master` and
 * writes the rounded result to `weights`. */
struct yk_weight_update {
    int64_t count;
    void *weights;
    float *master; /* fp32 copy of the weights; NULL means: update `weights` directly */
    const void *gradients;
    enum yk_precision type; /* type of weights and gradients */
    float lr;
    float weight_decay;
    const struct yk_gradient_norm_and_factor *gradient_norm; /* NULL means: factor 1 */
};

/* AdamW (Loshchilov and Hutter 2019), computed as in PyTorch. */
struct yk_adamw_op {
    struct yk_weight_update update;
    float *moment1;
    float *moment2;
    float beta1;
    float beta2;
    float epsilon;
    float correction1; /* 1 − beta1^t; t is the number of updates, including this one */
    float correction2; /* 1 − beta2^t */
};

/* Gradient descent with momentum, computed as in PyTorch:
 *   velocity = momentum · velocity + gradient + weight_decay · weight
 * In the first step (`first` is set), the old velocity is not used. */
struct yk_sgd_op {
    struct yk_weight_update update;
    float *velocity;
    float momentum;
    bool first;
};

struct yk_cast_op {
    int64_t count;
    const void *from;
    void *to;
    enum yk_precision from_type;
    enum yk_precision to_type;
};

/* to += from. */
struct yk_add_op {
    int64_t count;
    const void *from;
    void *to;
    enum yk_precision type;
};

/*
 * NF4 (Dettmers et al. 2023): the scale of a block of 64 elements is their largest absolute value.
 * Each element is divided by the scale and stored as the 4-bit code of the nearest of 16 values.
 * The scales are quantised too: the mean of all scales is subtracted from each scale, and the
 * differences are quantised in the same way, but in blocks of 256 and to 8-bit codes of 256 values.
 */
enum {
    YK_NF4_BLOCK_SIZE = 64,        /* elements per scale */
    YK_NF4_SCALE_BLOCK_SIZE = 256, /* scales per element of scale_scales */
};

/* A tensor in NF4. */
struct yk_nf4_tensor {
    uint8_t *codes;      /* (⌈count / 2⌉); the first of two elements is in the high four bits */
    uint8_t *scales;     /* (blocks): 8-bit codes */
    float *scale_scales; /* (⌈blocks / 256⌉): largest |scale − mean| of each 256 blocks */
    float *mean;         /* one number: the mean of the scales of all blocks */
};

struct yk_quantise_op {
    int64_t count;
    const void *from;
    struct yk_nf4_tensor to;
    enum yk_precision type;
};

/* When a dequantise op runs. */
enum yk_dequantise_schedule {
    YK_DEQUANTISE_IN_ORDER, /* in order, like every other op */
    /* In parallel with the ops that were enqueued between the previous dequantise op and this op.
     * The ops in between must neither read nor write the output memory of this op. */
    YK_DEQUANTISE_PREFETCH,
    YK_DEQUANTISE_WITH_PREVIOUS, /* directly after the previous dequantise op */
};

struct yk_dequantise_op {
    int64_t count;
    struct yk_nf4_tensor from;
    void *to;
    enum yk_precision type;
    enum yk_dequantise_schedule order;
};

/* Returns an op that computes the row sums of the matmul `op`; it must run after the matmul.
 * op->sums_of must not be YK_MATMUL_ROW_SUM_NONE. */
struct yk_sum_rows_op yk_ops_make_sum_rows_op_of_matmul(const struct yk_matmul_op *op);

/* Returns the matmul that computes d_factor. */
struct yk_matmul_op yk_ops_make_matmul_op_of_glu_backward(const struct yk_glu_backward_op *op);

/* Returns the matmul that computes the columns of a part. */
struct yk_matmul_op yk_ops_make_matmul_op_of_lora(const struct yk_lora_op *op, int32_t part);

/* Sets the two matmuls that compute d_factor and d_inner of a part. */
void yk_ops_make_matmul_ops_of_lora_backward(const struct yk_lora_backward_op *op, int32_t part,
                                             struct yk_matmul_op out[2]);

/* Sets the pointers of an NF4 tensor with `count` elements that is stored at `base`. Returns the
 * size of the tensor in bytes. `out` may be NULL. */
size_t yk_ops_lay_out_nf4_tensor(void *base, int64_t count, struct yk_nf4_tensor *out);

#endif
