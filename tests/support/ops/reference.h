/*
 * Op reference: every op of backend/ops.h once more, written for reading: dense arrays of doubles,
 * one loop for each index of the equation, nothing shared with any backend.
 *
 * An op's struct gives sizes and settings only; its pointers and strides are never looked at, since
 * they may be a device's. Arrays come beside it, without gaps between rows, as double whatever type
 * the op stores. NULL means what it means in ops.h.
 */
#ifndef YK_TESTS_OP_REFERENCE_H
#define YK_TESTS_OP_REFERENCE_H

#include "backend/ops.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- stored numbers ---- */

/* The number of that type that is nearest, ties to even; beyond the largest, infinity. */
double reference_round(enum yk_precision type, double value);
double reference_load(enum yk_precision type, const void *from, int64_t at);
/* Stores the nearest number. */
void reference_store(enum yk_precision type, double value, void *to, int64_t at);

/* ---- dropout ---- */

/* Philox4x32-10: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011). */
void reference_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* What number `place` of a sample is multiplied by: 0, or 1 / (1 − rate). */
double reference_kept(const struct yk_dropout_options *dropout, int64_t sample, int64_t place);

/* ---- products ---- */

double reference_activation(enum yk_activation activation, double x);
/* The derivative; 0 where it jumps. */
double reference_activation_slope(enum yk_activation activation, double x);

/* The ending as a function of x, and of aux where it goes backward. */
double reference_epilogue(enum yk_matmul_epilogue epilogue, double x, double aux);

struct reference_matmul {
    const double *a; /* as stored: (m, k), or (k, m) where transposed */
    const double *b;
    const double *bias;
    const double *add;
    const double *aux; /* read by endings that go backward */
    double *c;         /* (m, n) */
    double *inner;     /* (m, n): x before the ending, or NULL */
};

void reference_matmul(const struct yk_matmul_op *op, const struct reference_matmul *numbers);
/* `from` is what is summed: a, b, or what c holds afterwards. */
void reference_matmul_sums(const struct yk_matmul_op *op, const double *from, double *sums);

struct reference_attention {
    const double *q;
    const double *k;
    const double *v;
    const int32_t *lengths;
};

/* Whether a query of a sample attends to a key. */
bool reference_attention_sees(const struct yk_attention_op *op, const int32_t *lengths,
                              int64_t sample, int64_t query, int64_t key);

/* Of a query that sees no key, `out` and the gradient are 0, and the sum is −∞. */
void reference_attention(const struct yk_attention_op *op,
                         const struct reference_attention *numbers, double *out, double *sums);
void reference_attention_backward(const struct yk_attention_op *op,
                                  const struct reference_attention *numbers, const double *d_out,
                                  double *dq, double *dk, double *dv);

/* ---- rows ---- */

struct reference_norm {
    const double *x;
    const double *weight;
    const double *bias; /* NULL: root mean square */
    const double *add;
    double *y;
    double *mean; /* NULL: not wanted */
    double *rstd;
};

void reference_norm(const struct yk_norm_op *op, const struct reference_norm *numbers);

struct reference_norm_backward {
    const double *x;
    const double *dy;
    const double *add;
    const double *weight;
    const double *mean; /* NULL: root mean square */
    const double *rstd;
    double *dx;
    double *d_weight;
    double *d_bias;
};

void reference_norm_backward(const struct yk_norm_backward_op *op,
                             const struct reference_norm_backward *numbers);

void reference_embedding(const struct yk_embedding_op *op, const int32_t *tokens,
                         const double *table, const double *positions, const double *shift,
                         double *out);
void reference_embedding_backward(const struct yk_embedding_backward_op *op, const int32_t *tokens,
                                  const double *d_out, double *d_table, double *d_positions);
void reference_patchify(const struct yk_patchify_op *op, const uint8_t *pixels, double *out);
void reference_patch_tokens(const struct yk_patch_tokens_op *op, const double *class_token,
                            const double *positions, const double *bias, double *out);
void reference_accuracy(const struct yk_accuracy_op *op, const int32_t *targets,
                        const double *logits, double *hits);
void reference_rotary(const struct yk_rotary_op *op, const double *cos_sin, double *data);
/* Adds a term to (rows, columns) numbers, of which rows are `stride` apart. */
void reference_add_lora_term(const struct yk_lora_term *term, int64_t rows, int64_t columns,
                             const double *inner, const double *factor, double *to, int64_t stride);
void reference_glu(const struct yk_glu_op *op, const double *gate_up, double *out);
/* Adds to d_factor. `inner` has the rows of op->d_out_term. */
void reference_glu_backward_factor(const struct yk_glu_backward_op *op, const double *inner,
                                   const double *out, double *d_factor);
void reference_glu_backward(const struct yk_glu_backward_op *op, const double *gate_up,
                            const double *d_out, double *d_gate_up);
/* Of part `part`. dy has its columns only and inner its ranks only, but rows of d_inner have the
 * ranks of all parts. Adds to d_factor. */
void reference_lora_backward(const struct yk_lora_backward_op *op, int32_t part, const double *dy,
                             const double *inner, const double *factor, double *d_factor,
                             double *d_inner);
void reference_dropout(const struct yk_dropout_op *op, const double *from, const double *add,
                       double *to);
void reference_sum_rows(const struct yk_sum_rows_op *op, const double *from, double *to);
void reference_cross_entropy(const struct yk_cross_entropy_op *op, const int32_t *targets,
                             double *logits, double *row_losses, double *loss);

/* ---- updates ---- */

double reference_sum_squares(const struct yk_sum_squares_op *op, const double *from);
void reference_clip_norm(const struct yk_clip_norm_op *op, const double *sums,
                         struct yk_gradient_norm_and_factor *out);

/* `weights` are those of the master where there is one. */
void reference_adamw(const struct yk_adamw_op *op,
                     const struct yk_gradient_norm_and_factor *verdict, const double *gradients,
                     double *weights, double *moment1, double *moment2);
void reference_sgd(const struct yk_sgd_op *op, const struct yk_gradient_norm_and_factor *verdict,
                   const double *gradients, double *weights, double *velocity);

/* ---- NF4 ---- */

/* The 16 values of a code (Dettmers et al. 2023, appendix E). */
double reference_nf4_value(int code);

/* The 256 values of a scale's code, ascending: 0, 1, and of both signs the midpoints of 2^i equal
 * parts of 0.1 to 1 times 10^(i − 6), for i from 0 to 6 (Dettmers et al. 2022). */
void reference_nf4_scale_values(double out[256]);

struct reference_nf4 {
    uint8_t *codes;
    uint8_t *scales;
    double *scale_scales;
    double *mean;
};

void reference_quantise(int64_t count, const double *from, const struct reference_nf4 *to);
void reference_dequantise(int64_t count, const struct reference_nf4 *from, double *to);

#endif
