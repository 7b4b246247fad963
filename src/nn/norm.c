#include "nn/norm.h"

#include "model/architecture.h"
#include "nn/parameters.h"

void yk_norm_forward(const struct yk_pass *pass, int32_t weight, const void *x, void *y,
                     float *mean, float *rstd)
{
    const enum yk_precision type = pass->net->workload.precision;
    pass->store->engine.backend->normalise(
        pass->lane, &(struct yk_normalise){
                        .rows = yk_pass_rows(pass),
                        .width = pass->net->config->width,
                        .x = x,
                        .y = y,
                        .weight = yk_pass_weights(pass, weight),
                        .bias = mean ? yk_pass_weights(pass, weight + 1) : NULL,
                        .mean = mean,
                        .rstd = rstd,
                        .epsilon = (float)pass->net->config->norm_epsilon,
                        .x_type = type,
                        .y_type = type,
                        .weight_type = yk_pass_type(pass, weight),
                    });
}

void yk_norm_backward(const struct yk_pass *pass, int32_t weight, const void *x, const void *dy,
                      const void *add, void *dx, const float *mean, const float *rstd)
{
    const enum yk_precision type = pass->net->workload.precision;
    pass->store->engine.backend->normalise_back(
        pass->lane, &(struct yk_normalise_back){
                        .rows = yk_pass_rows(pass),
                        .width = pass->net->config->width,
                        .x = x,
                        .dy = dy,
                        .dx = dx,
                        .add = add,
                        .weight = yk_pass_weights(pass, weight),
                        .d_weight = yk_pass_gradients(pass, weight),
                        .d_bias = mean ? yk_pass_gradients(pass, weight + 1) : NULL,
                        .mean = mean,
                        .rstd = rstd,
                        .x_type = type,
                        .y_type = type,
                        .weight_type = yk_pass_type(pass, weight),
                    });
}

/* Layer norms have a mean to take away, Llama's have not. */
static bool has_mean(const struct yk_model_config *config)
{
    return config->architecture != &yk_architecture_llama;
}

static void list(struct yk_parameters *parameters)
{
    const int64_t C = parameters->config->width;
    yk_parameters_add_vector(parameters, parameters->modules[0], "weight", C, YK_START_ONE);
    if (has_mean(parameters->config)) {
        yk_parameters_add_vector(parameters, parameters->modules[0], "bias", C, YK_START_ZERO);
    }
}

struct saved {
    float *mean; /* (rows); NULL: root mean square */
    float *rstd;
};

static void carve(const struct yk_net *net, int64_t rows, struct yk_carver *carver,
                  struct saved *out)
{
    out->rstd = yk_carve(carver, rows, sizeof(float));
    out->mean = has_mean(net->config) ? yk_carve(carver, rows, sizeof(float)) : NULL;
}

static void measure(const struct yk_net *net, int32_t layer, const struct yk_extent *extent,
                    struct yk_layer_sizes *out)
{
    struct yk_carver carver = {0};
    struct saved saved;
    (void)layer;
    carve(net, extent->samples * extent->sequence, &carver, &saved);
    *out = (struct yk_layer_sizes){.saved_bytes = carver.used};
}

static void forward(const struct yk_pass *pass)
{
    struct saved saved;
    carve(pass->net, yk_pass_rows(pass), &(struct yk_carver){.base = pass->saved}, &saved);
    yk_norm_forward(pass, 0, pass->input, pass->output, saved.mean, saved.rstd);
}

static void backward(const struct yk_pass *pass)
{
    struct saved saved;
    carve(pass->net, yk_pass_rows(pass), &(struct yk_carver){.base = pass->saved}, &saved);
    yk_norm_backward(pass, 0, pass->input, pass->output_gradient, NULL, pass->input_gradient,
                     saved.mean, saved.rstd);
}

const struct yk_layer_kind yk_layer_norm = {
    .name = "norm",
    .needs_input = true,
    .list = list,
    .measure = measure,
    .forward = forward,
    .backward = backward,
};
