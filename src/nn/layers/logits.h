/*
 * Logits: the end of every head: a product over the vocabulary, by a table of its own or by that of
 * the embedding, and the loss, which turns logits into their gradient where they are. The table is
 * the first parameter of whichever layer has it.
 */
#ifndef YK_NN_LAYERS_LOGITS_H
#define YK_NN_LAYERS_LOGITS_H

#include "nn/layers/projection.h"

struct yk_logits {
    const void *x; /* (rows, C) */
    enum yk_precision x_type;
    int32_t bias; /* (V), among the layer's own parameters; −1: none */
    void *logits; /* (rows, V), yk_model_config_logit_stride() apart, in the precision of the head's
                     products; afterwards their gradient */
};

/* Room for logits, and, of forward's workspace, for the losses of rows. */
void *yk_logits_carve(const struct yk_net *net, int32_t layer, int64_t rows,
                      struct yk_carver *carver);
float *yk_logits_carve_losses(int64_t rows, struct yk_carver *carver);

/* The loss is taken where the pass has targets. */
void yk_logits_forward(const struct yk_pass *pass, const struct yk_logits *io, float *losses);

/* dx (rows, C) as x, and the gradients of the table and the bias. */
void yk_logits_backward(const struct yk_pass *pass, const struct yk_logits *io, void *dx);

#endif
