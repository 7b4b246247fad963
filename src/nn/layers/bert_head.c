/*
 * The last layer of BERT (Devlin et al. 2019): norm(activation(transform x)), logits over the
 * vocabulary with a bias, and the loss over masked tokens.
 */
#include "nn/layers/logits.h"
#include "nn/layers/mlp.h"
#include "nn/layers/norm.h"
#include "nn/parameter_list.h"

enum {
    TRANSFORM, /* the only site */
};

/* By transformers' names. Untied, the product has a bias of its own, and the other is idle. */
static void list(struct yk_parameter_list *parameters)
{
    const struct yk_model_config *config = parameters->config;
    const char *module = parameters->modules[0];
    const int64_t C = config->width;
    const int64_t V = config->vocabulary;
    if (parameters->follows) {
        yk_parameter_list_add_vector(parameters, module, "predictions.bias", V, YK_INIT_ZERO);
    } else {
        yk_parameter_list_add_embedding(parameters, "cls.predictions.decoder", V, C);
        yk_parameter_list_add_vector(parameters, module, "predictions.decoder.bias", V,
                                     YK_INIT_ZERO);
    }
    yk_parameter_list_add_norm(parameters, module, "predictions.transform.LayerNorm");
    yk_parameter_list_add_projection(
        parameters, module,
        &(struct yk_projection_spec){
            {"predictions.transform.dense"}, {C}, C, true, false, config->spread});
    if (!parameters->follows) {
        yk_parameter_list_add_buffer(parameters, "cls.predictions.bias", 0, V);
    }
}

/* After the table, where it has one of its own. */
static int32_t bias_of(const struct yk_net *net, int32_t layer)
{
    return net->layers[layer].leader == layer ? 1 : 0;
}

/* What is kept from forward to backward, besides the input; (rows, C) each but the logits. */
struct saved {
    void *logits;      /* (rows, V) in front, where whoever wants them looks */
    void *transformed; /* before the activation; NULL for ReLU, whose output says as much */
    void *active;
    void *normed;
    struct yk_norm norm;
};

static struct saved carve(const struct yk_net *net, int32_t layer, int64_t rows,
                          struct yk_carver *carver)
{
    const enum yk_precision type = net->layers[layer].precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    const int64_t numbers = rows * net->config->width;
    struct saved saved = {.logits = yk_logits_carve(net, layer, rows, carver)};
    saved.transformed = net->config->relu ? NULL : yk_carve(carver, numbers, size);
    saved.active = yk_carve(carver, numbers, size);
    saved.normed = yk_carve(carver, numbers, size);
    saved.norm = yk_norm_carve(net, bias_of(net, layer) + 1, type, rows, carver);
    return saved;
}

/* Gradients as they go back: (rows, C). */
static void *carve_gradient(const struct yk_net *net, int32_t layer, int64_t rows,
                            struct yk_carver *carver)
{
    return yk_carve(carver, rows * net->config->width,
                    (size_t)yk_precision_bytes(net->layers[layer].precision));
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_sizes *out)
{
    const int64_t rows = batch->samples * batch->sequence;
    struct yk_carver saved = {0};
    struct yk_carver forward = {0};
    struct yk_carver backward = {0};
    (void)carve(net, layer, rows, &saved);
    (void)yk_logits_carve_losses(rows, &forward);
    (void)carve_gradient(net, layer, rows, &backward);
    *out = (struct yk_layer_sizes){saved.used, forward.used, backward.used};
}

static struct yk_logits logits_of(const struct yk_pass *pass, const struct saved *saved)
{
    return (struct yk_logits){
        .x = saved->normed,
        .x_type = saved->norm.type,
        .bias = bias_of(pass->net, pass->layer),
        .logits = saved->logits,
    };
}

static void forward(const struct yk_pass *pass)
{
    struct yk_carver carver = {.base = pass->saved};
    const struct saved saved = carve(pass->net, pass->layer, yk_pass_rows(pass), &carver);
    const struct yk_logits io = logits_of(pass, &saved);
    yk_projection_forward(pass, TRANSFORM,
                          &(struct yk_projection_forward){
                              .x = pass->input,
                              .y = saved.active,
                              .epilogue = yk_mlp_epilogue(pass->net->config, false),
                              .aux = saved.transformed,
                          });
    yk_norm_forward(pass, &saved.norm, saved.active, saved.normed);
    yk_logits_forward(pass, &io, pass->workspace);
}

/*
 * The derivative of the activation, in place. No op applies one alone, so it is the ending of a
 * product that is multiplied by 0: of a column of what the norm put
 * out with the norm's weight.
 */
static void activation_back(const struct yk_pass *pass, const struct saved *saved, void *gradient)
{
    const int64_t C = pass->net->config->width;
    pass->store->engine.backend->matmul(
        pass->lane, &(struct yk_matmul_op){
                        .m = yk_pass_rows(pass),
                        .n = C,
                        .k = 1,
                        .a = saved->normed,
                        .a_stride = C,
                        .b = yk_pass_weights(pass, saved->norm.weight),
                        .b_stride = C,
                        .c = gradient,
                        .c_stride = C,
                        .add = gradient,
                        .add_stride = C,
                        .epilogue = yk_mlp_epilogue(pass->net->config, true),
                        .aux = saved->transformed ? saved->transformed : saved->active,
                        .aux_stride = C,
                        .scale = 0,
                        .a_type = saved->norm.type,
                        .b_type = yk_pass_type(pass, saved->norm.weight),
                        .c_type = saved->norm.type,
                    });
}

static void backward(const struct yk_pass *pass)
{
    const int64_t rows = yk_pass_rows(pass);
    struct yk_carver carver = {.base = pass->saved};
    struct yk_carver room = {.base = pass->workspace};
    const struct saved saved = carve(pass->net, pass->layer, rows, &carver);
    const struct yk_logits io = logits_of(pass, &saved);
    void *gradient = carve_gradient(pass->net, pass->layer, rows, &room);
    yk_logits_backward(pass, &io, gradient);
    yk_norm_backward(pass, &saved.norm, saved.active, gradient, NULL, gradient);
    activation_back(pass, &saved, gradient);
    yk_projection_backward(pass, TRANSFORM,
                           &(struct yk_projection_backward){
                               .x = pass->input, .dy = gradient, .dx = pass->input_gradient});
}

const struct yk_layer_kind yk_layer_bert_head = {
    .name = "bert-head",
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
