#include "nn/parameter_list.h"

#include "nn/layers/layer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LONGEST_NAME = 256
};

static const char *keep_name(struct yk_parameter_list *parameters, const char *name)
{
    const char *kept = yk_arena_copy_text(parameters->arena, name, strlen(name));
    parameters->failed = parameters->failed || !kept;
    return kept ? kept : "";
}

static void add(struct yk_parameter_list *parameters, const char *name,
                struct yk_parameter parameter)
{
    assert(parameters->count < YK_PARAMETER_LIST_MAX);
    parameter.name = keep_name(parameters, name);
    parameter.count = parameter.shape[0] * (parameter.rank > 1 ? parameter.shape[1] : 1);
    parameter.decayed = parameter.rank > 1;
    parameters->items[parameters->count++] = parameter;
}

static bool trains_all(const struct yk_parameter_list *parameters)
{
    return parameters->workload->lora_rank == 0;
}

/* The format of parameters outside the linears of blocks. */
static enum yk_parameter_format outer_format(const struct yk_parameter_list *parameters)
{
    return parameters->workload->nf4 ? YK_PARAMETER_FP32 : YK_PARAMETER_PLAIN;
}

void yk_parameter_list_add_vector(struct yk_parameter_list *parameters, const char *module,
                                  const char *suffix, int64_t size, enum yk_parameter_init init)
{
    char name[LONGEST_NAME];
    snprintf(name, sizeof name, "%s.%s", module, suffix);
    add(parameters, name,
        (struct yk_parameter){
            .rank = 1,
            .shape = {size, 1},
            .format = outer_format(parameters),
            .trained = trains_all(parameters),
            .init = init,
        });
}

void yk_parameter_list_add_norm(struct yk_parameter_list *parameters, const char *module,
                                const char *suffix)
{
    char name[LONGEST_NAME];
    const char *point = suffix[0] ? "." : "";
    const int64_t C = parameters->config->width;
    snprintf(name, sizeof name, "%s%sweight", suffix, point);
    yk_parameter_list_add_vector(parameters, module, name, C, YK_PARAMETER_INIT_ONE);
    if (!parameters->config->rms_norm) {
        snprintf(name, sizeof name, "%s%sbias", suffix, point);
        yk_parameter_list_add_vector(parameters, module, name, C, YK_PARAMETER_INIT_ZERO);
    }
}

void yk_parameter_list_add_buffer(struct yk_parameter_list *parameters, const char *name,
                                  int64_t rows, int64_t columns)
{
    add(parameters, name,
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
    char name[LONGEST_NAME];
    snprintf(name, sizeof name, "%s.weight", module);
    add(parameters, name,
        (struct yk_parameter){
            .rank = 2,
            .shape = {rows, columns},
            .format = outer_format(parameters),
            .trained = trains_all(parameters),
            .init = YK_PARAMETER_INIT_NORMAL,
            .init_std = parameters->config->init_std,
        });
}

static void add_weights(struct yk_parameter_list *parameters, const char *module,
                        const struct yk_projection_spec *spec, int32_t part)
{
    char name[LONGEST_NAME];
    const bool quantised = parameters->workload->nf4 && parameters->kind->block;
    const int64_t out = spec->out[part];
    snprintf(name, sizeof name, "%s%s%s.weight", module, spec->parts[part][0] ? "." : "",
             spec->parts[part]);
    add(parameters, name,
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
static void add_adapter(struct yk_parameter_list *parameters, const char *module,
                        const struct yk_projection_spec *spec, int32_t part, char which)
{
    char name[LONGEST_NAME];
    const int64_t rank = parameters->workload->lora_rank;
    const bool a = which == 'A';
    snprintf(name, sizeof name, "base_model.model.%s.%s.lora_%c.weight", module, spec->parts[part],
             which);
    add(parameters, name,
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

static void add_projection(struct yk_parameter_list *parameters,
                           const struct yk_projection_spec *spec)
{
    const char *module = parameters->modules[0];
    assert(parameters->projection_count < YK_LAYER_MAX_PROJECTIONS);
    struct yk_projection *projection = &parameters->projections[parameters->projection_count++];
    *projection = (struct yk_projection){.in = spec->in, .transposed = spec->transposed};
    int32_t parts = 0;
    for (; parts < YK_PROJECTION_MAX_PARTS && spec->parts[parts]; parts++) {
        projection->part_out[parts] = spec->out[parts];
        projection->out += spec->out[parts];
    }
    projection->parts = parts;
    const bool adapted = parameters->kind->block && parameters->workload->lora_rank > 0;
    /* Weights of all parts first, so that they are contiguous; then biases, A and B. */
    projection->weight = parameters->count;
    for (int32_t i = 0; i < parts; i++) {
        add_weights(parameters, module, spec, i);
    }
    projection->bias = spec->bias ? parameters->count : -1;
    for (int32_t i = 0; spec->bias && i < parts; i++) {
        char suffix[LONGEST_NAME];
        snprintf(suffix, sizeof suffix, "%s.bias", spec->parts[i]);
        yk_parameter_list_add_vector(parameters, module, suffix, spec->out[i],
                                     YK_PARAMETER_INIT_ZERO);
    }
    projection->a = adapted ? parameters->count : -1;
    for (int32_t i = 0; adapted && i < parts; i++) {
        add_adapter(parameters, module, spec, i, 'A');
    }
    projection->b = adapted ? parameters->count : -1;
    for (int32_t i = 0; adapted && i < parts; i++) {
        add_adapter(parameters, module, spec, i, 'B');
    }
}

void yk_parameter_list_add_projections(struct yk_parameter_list *parameters,
                                       const struct yk_projection_spec *specs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_projection(parameters, &specs[i]);
    }
}
