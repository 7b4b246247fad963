#include "nn/parameter_list.h"

#include "nn/layers/layer.h"

#include <assert.h>
#include <math.h>

/* Adds a parameter. `name` is in the arena; NULL means: the allocation failed. */
static void add(struct yk_parameter_list *parameters, const char *name,
                struct yk_parameter parameter)
{
    assert(parameters->count < YK_PARAMETER_LIST_MAX);
    parameters->failed = parameters->failed || !name;
    parameter.name = name ? name : "";
    parameter.count = 1;
    for (int32_t i = 0; i < parameter.rank; i++) {
        parameter.count *= parameter.shape[i];
    }
    parameter.decayed = parameter.rank > 1;
    parameter.saved_with_adapter =
        parameter.trained && !parameter.adapter && parameters->workload->lora_rank > 0;
    parameters->items[parameters->count++] = parameter;
}

static bool trains_all(const struct yk_parameter_list *parameters)
{
    return parameters->trains;
}

/* The format of parameters outside the linears of blocks. What is trained has the precision of the
 * training run. */
static enum yk_parameter_format outer_format(const struct yk_parameter_list *parameters)
{
    return parameters->workload->nf4 && !parameters->trains ? YK_PARAMETER_FP32
                                                            : YK_PARAMETER_PLAIN;
}

static void add_vector(struct yk_parameter_list *parameters, const char *name, int64_t size,
                       enum yk_parameter_init init)
{
    add(parameters, name,
        (struct yk_parameter){
            .rank = 1,
            .shape = {size, 1},
            .format = outer_format(parameters),
            .trained = trains_all(parameters),
            .init = init,
        });
}

/* Returns "PREFIX.NAME", or `name` itself if there is no prefix. */
static const char *join(struct yk_parameter_list *parameters, const char *prefix, const char *name)
{
    const char *joined = prefix ? yk_arena_format(parameters->arena, "%s.%s", prefix, name) : name;
    parameters->failed = parameters->failed || !joined;
    return joined ? joined : "";
}

const char *yk_parameter_list_module_name(struct yk_parameter_list *parameters,
                                          enum yk_module_role role)
{
    const char *name = yk_architecture_module_name(parameters->config, role, parameters->arena);
    parameters->failed = parameters->failed || !name;
    return name ? name : "";
}

void yk_parameter_list_add_bias(struct yk_parameter_list *parameters, const char *module,
                                int64_t size)
{
    add_vector(parameters, yk_arena_format(parameters->arena, "%s.bias", module), size,
               YK_PARAMETER_INIT_ZERO);
}

void yk_parameter_list_add_norm(struct yk_parameter_list *parameters, const char *prefix,
                                const char *module, int64_t width)
{
    const struct yk_model_config *config = parameters->config;
    const char *name = join(parameters, prefix, module);
    /* A norm that multiplies by 1 + weight starts as one that multiplies by 1. */
    add_vector(parameters, yk_arena_format(parameters->arena, "%s.weight", name), width,
               config->norm_plus_one ? YK_PARAMETER_INIT_ZERO : YK_PARAMETER_INIT_ONE);
    if (config->norm == YK_NORM_LAYER) {
        yk_parameter_list_add_bias(parameters, name, width);
    }
}

void yk_parameter_list_add_buffer(struct yk_parameter_list *parameters, const char *module,
                                  const char *name, int64_t rows, int64_t columns)
{
    add(parameters, join(parameters, module, name),
        (struct yk_parameter){
            .rank = rows > 0 ? 2 : 1,
            .shape = {rows > 0 ? rows : columns, rows > 0 ? columns : 1},
            .format = outer_format(parameters),
            .optional = true,
            .init = YK_PARAMETER_INIT_ZERO,
        });
}

void yk_parameter_list_add_embedding(struct yk_parameter_list *parameters, const char *module,
                                     int64_t rows, int64_t columns)
{
    add(parameters, yk_arena_format(parameters->arena, "%s.weight", module),
        (struct yk_parameter){
            .rank = 2,
            .shape = {rows, columns},
            .format = outer_format(parameters),
            .trained = trains_all(parameters),
            .init = YK_PARAMETER_INIT_NORMAL,
            .init_std = parameters->config->init_std,
        });
}

void yk_parameter_list_add_array(struct yk_parameter_list *parameters, const char *module,
                                 const char *name, const int64_t shape[YK_PARAMETER_MAX_RANK + 1])
{
    struct yk_parameter parameter = {
        .format = outer_format(parameters),
        .trained = trains_all(parameters),
        .init = YK_PARAMETER_INIT_NORMAL,
        .init_std = parameters->config->init_std,
    };
    for (; shape[parameter.rank] > 0; parameter.rank++) {
        parameter.shape[parameter.rank] = shape[parameter.rank];
    }
    add(parameters, join(parameters, module, name), parameter);
}

static void add_weights(struct yk_parameter_list *parameters, const char *name,
                        const struct yk_projection_spec *spec, int32_t part)
{
    const bool quantised = parameters->workload->nf4 && parameters->kind->block;
    const int64_t out = spec->out[part];
    add(parameters, yk_arena_format(parameters->arena, "%s.weight", name),
        (struct yk_parameter){
            .rank = 2,
            .shape = {spec->transposed ? spec->in : out, spec->transposed ? out : spec->in},
            .format = quantised ? YK_PARAMETER_NF4 : outer_format(parameters),
            .trained = trains_all(parameters),
            .init = YK_PARAMETER_INIT_NORMAL,
            .init_std = spec->spread,
        });
}

/* Names as in PEFT. A is initialised as a linear of PyTorch, B is 0, so that an adapter initially
 * adds 0. */
static void add_adapter(struct yk_parameter_list *parameters, const char *name,
                        const struct yk_projection_spec *spec, int32_t part, char which)
{
    const int64_t rank = parameters->workload->lora_rank;
    const bool a = which == 'A';
    add(parameters,
        yk_arena_format(parameters->arena, "base_model.model.%s.lora_%c.weight", name, which),
        (struct yk_parameter){
            .rank = 2,
            .shape = {a ? rank : spec->out[part], a ? spec->in : rank},
            .format = YK_PARAMETER_PLAIN,
            .trained = true,
            .adapter = true,
            .init = a ? YK_PARAMETER_INIT_UNIFORM : YK_PARAMETER_INIT_ZERO,
            .init_std = a ? 1 / sqrt((double)spec->in) : 0,
        });
}

static void add_projection(struct yk_parameter_list *parameters, const char *prefix,
                           const struct yk_projection_spec *spec)
{
    const char *names[YK_PROJECTION_MAX_PARTS] = {0};
    assert(parameters->projection_count < YK_LAYER_MAX_PROJECTIONS);
    struct yk_projection *projection = &parameters->projections[parameters->projection_count++];
    *projection = (struct yk_projection){.in = spec->in, .transposed = spec->transposed};
    int32_t parts = 0;
    for (; parts < YK_PROJECTION_MAX_PARTS && spec->parts[parts]; parts++) {
        names[parts] = join(parameters, prefix, spec->parts[parts]);
        projection->part_out[parts] = spec->out[parts];
        projection->out += spec->out[parts];
    }
    projection->parts = parts;
    const bool adapted = parameters->kind->block && parameters->workload->lora_rank > 0;
    /* Weights of all parts first, so that they are contiguous; then biases, A and B. */
    projection->weight = parameters->count;
    for (int32_t i = 0; i < parts; i++) {
        add_weights(parameters, names[i], spec, i);
    }
    projection->bias = spec->bias ? parameters->count : -1;
    for (int32_t i = 0; spec->bias && i < parts; i++) {
        yk_parameter_list_add_bias(parameters, names[i], spec->out[i]);
    }
    projection->a = adapted ? parameters->count : -1;
    for (int32_t i = 0; adapted && i < parts; i++) {
        add_adapter(parameters, names[i], spec, i, 'A');
    }
    projection->b = adapted ? parameters->count : -1;
    for (int32_t i = 0; adapted && i < parts; i++) {
        add_adapter(parameters, names[i], spec, i, 'B');
    }
}

void yk_parameter_list_add_projections(struct yk_parameter_list *parameters, const char *prefix,
                                       const struct yk_projection_spec *specs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_projection(parameters, prefix, &specs[i]);
    }
}
