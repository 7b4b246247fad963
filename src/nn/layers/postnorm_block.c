/*
 * Blocks whose norms come after the sums: y = norm(x + out(attention x)), then norm(y + down(
 * activation(up y))). That of BERT (Devlin et al. 2019), and those of the Transformer (Vaswani et
 * al. 2017) under the names that Marian gives them; a decoder's has attention to the encoder's
 * output between the two.
 */
#include "nn/layers/mlp.h"
#include "nn/layers/norm.h"
#include "nn/parameter_list.h"

/* Norms come first among the parameters, weight and bias each. */
enum {
    NORM_SELF = 0,
    NORM_FEED = 2,
    NORM_CROSS = 4,
};

enum {
    CROSS_Q = YK_MLP_END,
    CROSS_KV,
    CROSS_OUT,
};

struct names {
    const char *queries;
    const char *keys;
    const char *values;
    const char *out;
    const char *norm;
    const char *up;
    const char *down;
    const char *feed_norm;
};

static const struct names bert_names = {
    .queries = "attention.self.query",
    .keys = "attention.self.key",
    .values = "attention.self.value",
    .out = "attention.output.dense",
    .norm = "attention.output.LayerNorm",
    .up = "intermediate.dense",
    .down = "output.dense",
    .feed_norm = "output.LayerNorm",
};

static const struct names marian_names = {
    .queries = "self_attn.q_proj",
    .keys = "self_attn.k_proj",
    .values = "self_attn.v_proj",
    .out = "self_attn.out_proj",
    .norm = "self_attn_layer_norm",
    .up = "fc1",
    .down = "fc2",
    .feed_norm = "final_layer_norm",
};

static void list_block(struct yk_parameter_list *parameters, const struct names *names,
                       int64_t inner)
{
    const char *module = parameters->modules[0];
    const int64_t C = parameters->config->width;
    const double spread = parameters->config->spread;
    const struct yk_projection_spec projections[] = {
        [YK_ATTENTION_QKV] =
            {{names->queries, names->keys, names->values}, {C, C, C}, C, true, false, spread},
        [YK_ATTENTION_OUT] = {{names->out}, {C}, C, true, false, spread},
        [YK_MLP_UP] = {{names->up}, {inner}, C, true, false, spread},
        [YK_MLP_DOWN] = {{names->down}, {C}, inner, true, false, spread},
    };
    for (size_t i = 0; i < sizeof projections / sizeof projections[0]; i++) {
        yk_parameter_list_add_projection(parameters, module, &projections[i]);
    }
}

static void list_norms(struct yk_parameter_list *parameters, const struct names *names)
{
    yk_parameter_list_add_norm(parameters, parameters->modules[0], names->norm);
    yk_parameter_list_add_norm(parameters, parameters->modules[0], names->feed_norm);
}

static void list_bert(struct yk_parameter_list *parameters)
{
    list_norms(parameters, &bert_names);
    list_block(parameters, &bert_names, parameters->config->inner);
}

static void list_encoder(struct yk_parameter_list *parameters)
{
    list_norms(parameters, &marian_names);
    list_block(parameters, &marian_names, parameters->config->encoder_inner);
}

static void list_decoder(struct yk_parameter_list *parameters)
{
    const char *module = parameters->modules[0];
    const int64_t C = parameters->config->width;
    const double spread = parameters->config->spread;
    const struct yk_projection_spec cross[] = {
        {{"encoder_attn.q_proj"}, {C}, C, true, false, spread},
        {{"encoder_attn.k_proj", "encoder_attn.v_proj"}, {C, C}, C, true, false, spread},
        {{"encoder_attn.out_proj"}, {C}, C, true, false, spread},
    };
    list_norms(parameters, &marian_names);
    yk_parameter_list_add_norm(parameters, module, "encoder_attn_layer_norm");
    list_block(parameters, &marian_names, parameters->config->inner);
    for (size_t i = 0; i < sizeof cross / sizeof cross[0]; i++) {
        yk_parameter_list_add_projection(parameters, module, &cross[i]);
    }
}

static bool is_decoder(const struct yk_net *net, int32_t layer)
{
    return net->layers[layer].kind == &yk_layer_decoder_block;
}

static struct yk_attention_shape self_shape(const struct yk_net *net, int32_t layer)
{
    const struct yk_model_config *config = net->config;
    const bool encoder = net->layers[layer].kind == &yk_layer_encoder_block;
    struct yk_attention_shape shape = yk_attention_causal(config);
    shape.heads = encoder ? config->encoder_heads : config->heads;
    shape.kv_heads = shape.heads;
    shape.head_size = config->width / shape.heads;
    shape.causal = is_decoder(net, layer);
    shape.measured = !shape.causal; /* padding comes last, where a causal mask hides it */
    return shape;
}

static struct yk_attention_shape cross_shape(const struct yk_net *net)
{
    struct yk_attention_shape shape = yk_attention_causal(net->config);
    shape.queries = CROSS_Q;
    shape.memory = CROSS_KV;
    shape.out = CROSS_OUT;
    shape.drop_attention = YK_DROPOUT_CROSS_ATTENTION;
    shape.drop_out = YK_DROPOUT_CROSS_OUT;
    shape.causal = false;
    shape.measured = true;
    return shape;
}

/* A sum and its norm. */
struct sum {
    void *sum;    /* (rows, C) */
    void *normed; /* NULL of the last one, which is the layer's output */
    struct yk_norm norm;
};

/* What is kept from forward to backward, besides the input. */
struct saved {
    struct yk_attention_saved self;
    struct yk_attention_saved cross;
    struct yk_mlp_saved feed;
    struct sum after_self;
    struct sum after_cross;
    struct sum after_feed;
};

static struct sum carve_sum(const struct yk_net *net, int32_t weight, int64_t rows, bool last,
                            struct yk_carver *carver)
{
    const enum yk_precision type = net->workload.precision;
    const size_t size = (size_t)yk_precision_bytes(type);
    return (struct sum){
        .sum = yk_carve(carver, rows * net->config->width, size),
        .normed = last ? NULL : yk_carve(carver, rows * net->config->width, size),
        .norm = yk_norm_carve(net, weight, type, rows, carver),
    };
}

static void carve_saved(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                        struct yk_carver *carver, struct saved *out)
{
    const int64_t rows = batch->samples * batch->sequence;
    const struct yk_attention_shape self = self_shape(net, layer);
    *out = (struct saved){0};
    yk_attention_carve(net, layer, &self, batch, carver, &out->self);
    out->after_self = carve_sum(net, NORM_SELF, rows, false, carver);
    if (is_decoder(net, layer)) {
        const struct yk_attention_shape cross = cross_shape(net);
        yk_attention_carve(net, layer, &cross, batch, carver, &out->cross);
        out->after_cross = carve_sum(net, NORM_CROSS, rows, false, carver);
    }
    yk_mlp_carve(net, layer, rows, carver, &out->feed);
    out->after_feed = carve_sum(net, NORM_FEED, rows, true, carver);
}

/* Of forward: dequantised weights, and an output that nobody wants in recomputation. */
struct forward_room {
    void *weights;
    void *output;
};

static struct forward_room carve_forward(const struct yk_net *net, int32_t layer, int64_t rows,
                                         struct yk_carver *carver)
{
    const size_t size = (size_t)yk_precision_bytes(net->workload.precision);
    return (struct forward_room){
        .weights = yk_projection_carve_weights(net, layer, carver),
        .output = yk_carve(carver, rows * net->config->width, size),
    };
}

static void carve_room(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                       struct yk_carver *carver, struct yk_residual_workspace *out)
{
    const int64_t C = net->config->width;
    const int64_t F = net->layers[layer].projections[YK_MLP_UP].out;
    const struct yk_residual_widths widths = {
        .wide = F > 3 * C ? F : 3 * C,
        .narrow = C,
        .memory = is_decoder(net, layer) ? 2 * C : 0,
    };
    yk_residual_carve_workspace(net, layer, batch, &widths, carver, out);
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_batch_shape *batch,
                    struct yk_layer_sizes *out)
{
    struct yk_carver saved_carver = {0};
    struct yk_carver forward_carver = {0};
    struct yk_carver backward_carver = {0};
    struct saved saved;
    struct yk_residual_workspace room;
    carve_saved(net, layer, batch, &saved_carver, &saved);
    (void)carve_forward(net, layer, batch->samples * batch->sequence, &forward_carver);
    carve_room(net, layer, batch, &backward_carver, &room);
    *out = (struct yk_layer_sizes){saved_carver.used, forward_carver.used, backward_carver.used};
}

static void forward(const struct yk_pass *pass)
{
    const struct yk_attention_shape self = self_shape(pass->net, pass->layer);
    struct saved saved;
    struct yk_carver carver = {.base = pass->saved};
    struct yk_carver room_carver = {.base = pass->workspace};
    carve_saved(pass->net, pass->layer, &pass->batch, &carver, &saved);
    const struct forward_room room =
        carve_forward(pass->net, pass->layer, yk_pass_rows(pass), &room_carver);
    const struct sum *before = &saved.after_self;
    yk_attention_forward(pass, &self, &saved.self, pass->input, pass->input, room.weights,
                         before->sum);
    yk_norm_forward(pass, &before->norm, before->sum, before->normed);
    if (is_decoder(pass->net, pass->layer)) {
        const struct yk_attention_shape cross = cross_shape(pass->net);
        yk_attention_forward(pass, &cross, &saved.cross, before->normed, before->normed,
                             room.weights, saved.after_cross.sum);
        before = &saved.after_cross;
        yk_norm_forward(pass, &before->norm, before->sum, before->normed);
    }
    yk_mlp_forward(pass, &saved.feed, before->normed, before->normed, room.weights,
                   saved.after_feed.sum);
    yk_norm_forward(pass, &saved.after_feed.norm, saved.after_feed.sum,
                    pass->output ? pass->output : room.output);
}

/* In place: from the gradient of a norm to that of the sum before it. */
static void sum_back(const struct yk_pass *pass, const struct sum *after, void *gradient)
{
    yk_norm_backward(pass, &after->norm, after->sum, gradient, NULL, gradient);
}

/* The gradient of the stream stays where the output's was until it has become the input's. */
static void backward(const struct yk_pass *pass)
{
    const struct yk_attention_shape self = self_shape(pass->net, pass->layer);
    const bool decoder = is_decoder(pass->net, pass->layer);
    struct saved saved;
    struct yk_residual_workspace room;
    struct yk_carver carver = {.base = pass->saved};
    struct yk_carver room_carver = {.base = pass->workspace};
    void *gradient = pass->output_gradient;
    carve_saved(pass->net, pass->layer, &pass->batch, &carver, &saved);
    carve_room(pass->net, pass->layer, &pass->batch, &room_carver, &room);
    const struct sum *before = decoder ? &saved.after_cross : &saved.after_self;
    sum_back(pass, &saved.after_feed, gradient);
    yk_mlp_backward(pass, &saved.feed, &room, before->normed, gradient, gradient, gradient);
    if (decoder) {
        const struct yk_attention_shape cross = cross_shape(pass->net);
        sum_back(pass, &saved.after_cross, gradient);
        yk_attention_backward(pass, &cross, &saved.cross, &room, saved.after_self.normed, gradient,
                              gradient, gradient);
    }
    sum_back(pass, &saved.after_self, gradient);
    yk_attention_backward(pass, &self, &saved.self, &room, pass->input, gradient, gradient,
                          pass->input_gradient);
}

const struct yk_layer_kind yk_layer_bert_block = {
    .name = "bert-block",
    .is_block = true,
    .list = list_bert,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};

const struct yk_layer_kind yk_layer_encoder_block = {
    .name = "encoder-block",
    .is_block = true,
    .list = list_encoder,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};

const struct yk_layer_kind yk_layer_decoder_block = {
    .name = "decoder-block",
    .is_block = true,
    .list = list_decoder,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
