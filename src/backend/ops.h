/*
 * Ops: what a backend is asked to do, one struct of arguments for each op.
 *
 * Everything is row-major. A stride is the count of numbers from one row to the next. Pointers are
 * to the device's memory, and must stay valid until the op has run; the struct itself is copied
 * when the op is called. Numbers are stored as the type says (fp32, fp16 or bf16) and computed with
 * in fp32. Sums are taken in an order that does not depend on how many threads there are.
 */
#ifndef YK_BACKEND_OPS_H
#define YK_BACKEND_OPS_H

#include "base/precision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_epilogue {
    YK_EPILOGUE_NONE,
    YK_EPILOGUE_GELU,     /* c = gelu(x), tanh form; x is stored in aux where there is one */
    YK_EPILOGUE_GELU_ERF, /* the exact form */
    YK_EPILOGUE_RELU,
    YK_EPILOGUE_SILU,          /* c = x · sigmoid(x) */
    YK_EPILOGUE_GELU_BACKWARD, /* c = x · gelu'(aux) */
    YK_EPILOGUE_GELU_ERF_BACKWARD,
    YK_EPILOGUE_RELU_BACKWARD, /* c = aux > 0 ? x : 0; aux may be the output as well as the input */
    YK_EPILOGUE_SILU_BACKWARD,
};

/* Sums over rows that come with a product: gradients of biases. */
enum yk_sums_of {
    YK_SUMS_OF_NONE,
    YK_SUMS_OF_A, /* (m): op(a) over k; a is transposed */
    YK_SUMS_OF_B, /* (n): op(b) over k; b is not transposed */
    YK_SUMS_OF_C, /* (n): what c holds afterwards over m */
};

/* x (m, n) = scale · op(a) (m, k) · op(b) (k, n) + bias + add, then c = epilogue(x); with
 * `accumulate` c += scale · op(a) · op(b), with no bias, add or epilogue. */
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
    bool a_transposed; /* stored as (k, m) */
    bool b_transposed; /* stored as (n, k) */
    bool accumulate;
    enum yk_precision a_type;
    enum yk_precision b_type;
    enum yk_precision c_type;
    enum yk_precision bias_type;
    float scale;
    const void *bias; /* (n), or NULL */
    const void *add;  /* (m, n) of c's type, or NULL; may be c itself */
    int64_t add_stride;
    enum yk_epilogue epilogue;
    void *aux; /* (m, n) of c's type; of RELU never written */
    int64_t aux_stride;
    int64_t cuts[2]; /* columns where a product begins that could be an op of its own, such as keys
                        and values behind queries; 0: none */
    enum yk_sums_of sums_of;
    void *sums; /* added to */
    enum yk_precision sums_type;
};

/*
 * Which numbers are dropped: number e of a sample when word e mod 4 of Philox4x32-10 with the key
 * `seed` and the counter (e / 4, the sample, site) is below rate · 2^32; the others are divided by
 * 1 − rate. Samples are numbered through the whole run, so that the mask is the same in
 * recomputation and on any number of ranks.
 */
struct yk_dropout {
    float rate; /* 0: nothing is dropped */
    uint64_t seed;
    uint64_t site; /* the layer and the place in it; its two halves are words 2 and 3, low first */
    int64_t first_sample;
};

/*
 * Attention of each query to the keys of its sample: out = softmax(scale · q kᵀ) v for every head;
 * `heads / kv_heads` heads of queries share one of keys and values. Rows are tokens, (batch,
 * queries) or (batch, keys) of them; heads lie side by side in a row. Scores are never stored.
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
    void *out;   /* (B·T, heads · head_size) */
    float *sums; /* (B, heads, T): log of the sum of exp(score); may be NULL in forward */
    int64_t q_stride;
    int64_t k_stride;
    int64_t v_stride;
    int64_t out_stride;
    enum yk_precision type;
    float scale;
    bool causal;               /* query t attends to keys up to t + S − T */
    const int32_t *lengths;    /* (B): how many keys count, at least 1; NULL: all */
    struct yk_dropout dropout; /* of the probabilities; e = (head · T + t) · S + s */
};

/* Needs all of the forward's, out and sums included. Gradients are overwritten. */
struct yk_attention_backward_op {
    struct yk_attention_op forward;
    const void *d_out; /* stride out_stride */
    void *dq;          /* strides as those of q, k and v, unless said otherwise */
    void *dk;
    void *dv;
    int64_t dq_stride;
    int64_t dk_stride;
    int64_t dv_stride;
};

/* Layer norm, y = (x − mean) · rstd · weight + bias; without mean and bias, RMS norm. */
struct yk_norm_op {
    int64_t rows;
    int64_t width;
    const void *x; /* (rows, width), as y */
    void *y;
    const void *weight;
    const void *bias; /* NULL: root mean square */
    float *mean;      /* (rows); not used by RMS */
    float *rstd;      /* (rows); 1 / sqrt(variance + epsilon) */
    float epsilon;
    enum yk_precision x_type;
    enum yk_precision y_type;
    enum yk_precision weight_type;
};

/* dx = add + the gradient through the norm; d_weight and d_bias are added to. */
struct yk_norm_backward_op {
    int64_t rows;
    int64_t width;
    const void *x;
    const void *dy;  /* of y's type */
    void *dx;        /* of x's type; may be dy or add itself */
    const void *add; /* of x's type, or NULL */
    const void *weight;
    void *d_weight; /* of weight's type; NULL: frozen */
    void *d_bias;
    const float *mean; /* NULL: root mean square */
    const float *rstd;
    enum yk_precision x_type;
    enum yk_precision y_type;
    enum yk_precision weight_type;
};

/* out[row] = scale · table[token[row]] + positions[row mod sequence] + shift. */
struct yk_embedding_op {
    int64_t rows;
    int64_t width;
    int64_t sequence;
    int64_t vocabulary;
    const int32_t *tokens;
    const void *table;     /* (vocabulary, width) */
    const void *positions; /* (at least sequence, width), or NULL */
    const void *shift;     /* (width) of the table's type, added to every row, or NULL */
    void *out;
    float scale; /* of the table's rows, not of positions */
    enum yk_precision table_type;
    enum yk_precision out_type;
};

/* Adds scale · d_out to d_table, and d_out to d_positions; a shift's gradient is yk_sum_rows_op'.
 */
struct yk_embedding_backward_op {
    int64_t rows;
    int64_t width;
    int64_t sequence;
    int64_t vocabulary;
    const int32_t *tokens;
    const void *d_out;
    void *d_table;     /* or NULL */
    void *d_positions; /* or NULL */
    float scale;
    enum yk_precision table_type;
    enum yk_precision out_type;
};

/* Rotary positions: pairs (i, i + head_size / 2) of every head are rotated in place. */
struct yk_rotary_op {
    int64_t rows;
    int64_t sequence; /* a row's position is row mod sequence */
    int64_t heads;
    int64_t head_size;
    int64_t stride;
    void *data;
    const float *cos_sin; /* (sequence, head_size / 2, 2): cosine and sine */
    bool inverse;         /* by the negative angle: the backward pass */
    enum yk_precision type;
};

/* SwiGLU: out (rows, width) = silu(gate) · up; gate_up (rows, 2 · width) has them side by side. */
struct yk_swiglu_op {
    int64_t rows;
    int64_t width;
    const void *gate_up;
    void *out;
    enum yk_precision type;
};

struct yk_swiglu_backward_op {
    int64_t rows;
    int64_t width;
    const void *gate_up;
    const void *d_out;
    void *d_gate_up; /* may be gate_up itself */
    enum yk_precision type;
};

/* to (rows, width) = dropout(from) + add, `sequence` rows a sample; backward is the same op on the
 * gradient. */
struct yk_dropout_op {
    int64_t rows;
    int64_t width;
    int64_t sequence;
    const void *from;
    void *to;        /* may be from or add itself */
    const void *add; /* or NULL */
    struct yk_dropout dropout;
    enum yk_precision type;
};

/* to[column] += the sum over all rows: the gradient of a bias. */
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
 * Softmax and cross-entropy. Adds the sum of the losses to `loss` and turns the logits into
 * `factor` times its gradient, in place; with a factor of 0 the logits stay as they are. With
 * smoothing s, the target is 1 − s for the label and s / classes for every class, the label too.
 * Rows whose target is negative bear no loss and get a gradient of 0.
 */
struct yk_cross_entropy_op {
    int64_t rows;
    int64_t classes;
    int64_t stride;
    void *logits; /* (rows, classes); what lies between rows is left alone */
    const int32_t *targets;
    float *row_losses; /* (rows), overwritten; 0 where there is no target */
    double *loss;
    float smoothing;
    float factor;
    enum yk_precision type;
};

/* The norm of all gradients of a step; on the device, so that updates need not wait for the host.
 */
struct yk_gradient_norm {
    double norm;  /* of all gradients, unscaled */
    float factor; /* what gradients are multiplied by: unscaled and clipped */
    int32_t skip; /* the norm is infinite or not a number: nothing is updated */
};

/* The sum of squares of all numbers, in double precision; overwrites. */
struct yk_sum_squares_op {
    int64_t count;
    const void *from;
    double *to;
    enum yk_precision type;
};

/* norm = unscale · sqrt(sum of sums); factor = unscale · min(1, clip / (norm + 1e-6)). */
struct yk_clip_norm_op {
    const double *sums;
    int64_t count;
    float unscale; /* 1 / loss scale */
    float clip;    /* 0: no clipping */
    struct yk_gradient_norm *gradient_norm;
};

/* AdamW (Loshchilov and Hutter 2019) as PyTorch has it. With `master`, weights are its rounded
 * copy. */
struct yk_adamw_op {
    int64_t count;
    void *weights;
    float *master; /* NULL: the weights are fp32 and their own master */
    const void *gradients;
    float *moment1;
    float *moment2;
    enum yk_precision type; /* of weights and gradients */
    float lr;
    float beta1;
    float beta2;
    float epsilon;
    float weight_decay;
    float correction1; /* 1 − beta1^t */
    float correction2;
    const struct yk_gradient_norm *gradient_norm; /* NULL: as if factor were 1 */
};

/* Gradient descent with momentum as PyTorch has it: velocity = momentum · velocity + gradient +
 * weight_decay · weight, the first time without the velocity before. */
struct yk_sgd_op {
    int64_t count;
    void *weights;
    float *master;
    const void *gradients;
    float *velocity;
    enum yk_precision type;
    float lr;
    float momentum;
    float weight_decay;
    bool first;
    const struct yk_gradient_norm *gradient_norm;
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
 * NF4 (Dettmers et al. 2023): blocks of 64 numbers, each scaled by its largest absolute value and
 * stored as the number of the nearest of 16 values. Scales are stored in 8 bits as well: less their
 * mean, in blocks of 256, as one of 256 values.
 */
enum {
    YK_NF4_BLOCK = 64,
    YK_NF4_SCALE_BLOCK = 256,
};

struct yk_nf4 {
    uint8_t *codes;      /* (count / 2), rounded up; the earlier number in the high four bits */
    uint8_t *scales;     /* (blocks) */
    float *scale_scales; /* (blocks / 256), rounded up: the largest absolute value of each */
    float *mean;         /* (1) of the blocks' scales */
};

struct yk_quantise_op {
    int64_t count;
    const void *from;
    struct yk_nf4 to;
    enum yk_precision type;
};

/*
 * When weights are dequantised: in order like any op; or prefetched, while what was enqueued since
 * the last such op still runs, which must not use the memory that is written to.
 */
enum yk_dequantise_order {
    YK_DEQUANTISE_IN_ORDER, /* and others may be prefetched after it */
    YK_DEQUANTISE_PREFETCH,
    YK_DEQUANTISE_WITH_LAST, /* like the op before, which it belongs to */
};

struct yk_dequantise_op {
    int64_t count;
    struct yk_nf4 from;
    void *to;
    enum yk_precision type;
    enum yk_dequantise_order order;
};

/* The sums that come with a product as an op of its own, once c is there; sums_of is not NONE. */
struct yk_sum_rows_op yk_ops_matmul_sums(const struct yk_matmul_op *op);

/* The parts of a tensor in NF4 that begins at `base`; returns its bytes. */
size_t yk_ops_nf4_layout(void *base, int64_t count, struct yk_nf4 *out);

#endif
