#include "nn/layers/logits.h"

static int64_t vocabulary_of(const struct yk_net *net)
{
    return yk_model_config_target_vocabulary(net->config);
}

static int64_t stride_of(const struct yk_net *net)
{
    return yk_model_config_logit_stride(vocabulary_of(net));
}

void *yk_logits_carve(const struct yk_net *net, int32_t layer, int64_t rows,
                      struct yk_carver *carver)
{
    return yk_carve(carver, rows * stride_of(net),
                    (size_t)yk_precision_bytes(net->layers[layer].precision));
}

float *yk_logits_carve_losses(int64_t rows, struct yk_carver *carver)
{
    return yk_carve(carver, rows, sizeof(float));
}

void yk_logits_forward(const struct yk_pass *pass, const struct yk_logits *io, float *losses)
{
    const struct yk_backend *backend = pass->store->engine.backend;
    const struct yk_pass owner = yk_pass_leader(pass);
    const int64_t C = pass->net->config->width;
    const int64_t V = vocabulary_of(pass->net);
    const enum yk_precision type = pass->net->layers[pass->layer].precision;
    struct yk_matmul_op op = {
        .m = yk_pass_rows(pass),
        .n = V,
        .k = C,
        .a = io->x,
        .a_stride = C,
        .b = yk_pass_weights(&owner, 0),
        .b_stride = C,
        .b_transposed = true,
        .c = io->logits,
        .c_stride = stride_of(pass->net),
        .scale = 1,
        .a_type = io->x_type,
        .b_type = yk_pass_type(&owner, 0),
        .c_type = type,
    };
    if (io->bias >= 0) {
        op.bias = yk_pass_weights(pass, io->bias);
        op.bias_type = yk_pass_type(pass, io->bias);
    }
    backend->matmul(pass->lane, &op);
    if (pass->targets) {
        backend->cross_entropy(
            pass->lane,
            &(struct yk_cross_entropy_op){
                .rows = yk_pass_rows(pass),
                .classes = V,
                .stride = stride_of(pass->net),
                .logits = io->logits,
                .targets = pass->targets,
                .row_losses = losses,
                .loss = pass->loss,
                .smoothing = pass->training ? (float)pass->net->options.label_smoothing : 0,
                .factor = pass->loss_factor,
                .type = type,
            });
    }
}

static void bias_back(const struct yk_pass *pass, const struct yk_logits *io)
{
    void *to = io->bias >= 0 ? yk_pass_gradients(pass, io->bias) : NULL;
    if (to) {
        pass->store->engine.backend->sum_rows(
            pass->lane, &(struct yk_sum_rows_op){
                            .rows = yk_pass_rows(pass),
                            .columns = vocabulary_of(pass->net),
                            .from = io->logits,
                            .stride = stride_of(pass->net),
                            .to = to,
                            .from_type = pass->net->layers[pass->layer].precision,
                            .to_type = pass->net->workload.precision,
                        });
    }
}

void yk_logits_backward(const struct yk_pass *pass, const struct yk_logits *io, void *dx)
{
    const struct yk_backend *backend = pass->store->engine.backend;
    const struct yk_pass owner = yk_pass_leader(pass);
    const int64_t C = pass->net->config->width;
    const int64_t V = vocabulary_of(pass->net);
    struct yk_matmul_op op = {
        .m = yk_pass_rows(pass),
        .n = C,
        .k = V,
        .a = io->logits,
        .a_stride = stride_of(pass->net),
        .b = yk_pass_weights(&owner, 0),
        .b_stride = C,
        .c = dx,
        .c_stride = C,
        .scale = 1,
        .a_type = pass->net->layers[pass->layer].precision,
        .b_type = yk_pass_type(&owner, 0),
        .c_type = io->x_type,
    };
    backend->matmul(pass->lane, &op);
    op.c = yk_pass_gradients(&owner, 0);
    if (op.c) {
        op.k = op.m;
        op.m = V;
        op.a_transposed = true;
        op.b = io->x;
        op.b_type = io->x_type;
        op.c_type = pass->net->workload.precision;
        op.accumulate = true;
        backend->matmul(pass->lane, &op);
    }
    bias_back(pass, io);
}
