#include "nn/parameter_list.h"

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

/* Returns its number. */
static int32_t add(struct yk_parameter_list *parameters, const char *name,
                   struct yk_parameter parameter)
{
    assert(parameters->count < YK_PARAMETER_LIST_MAX);
    parameter.name = keep_name(parameters, name);
    parameter.count = parameter.shape[0] * (parameter.rank > 1 ? parameter.shape[1] : 1);
    parameter.decayed = parameter.rank > 1;
    parameters->items[parameters->count] = parameter;
    return parameters->count++;
}

static bool trains_all(const struct yk_parameter_list *parameters)
{
    return parameters->workload->lora_rank == 0;
}

/* What is neither a block's linear nor an adapter: fp32 next to NF4. */
static enum yk_parameter_format outer_form(const struct yk_parameter_list *parameters)
{
    return parameters->workload->nf4 ? YK_PARAMETER_FP32 : YK_PARAMETER_PLAIN;
}

void yk_parameter_list_add_vector(struct yk_parameter_list *parameters, const char *module,
                                  const char *suffix, int64_t size, enum yk_parameter_init start)
{
    char name[LONGEST_NAME];
    snprintf(name, sizeof name, "%s.%s", module, suffix);
    (void)add(parameters, name,
              (struct yk_parameter){
                  .rank = 1,
                  .shape = {size, 1},
                  .format = outer_form(parameters),
                  .trained = trains_all(parameters),
                  .start = start,
              });
}

void yk_parameter_list_add_norm(struct yk_parameter_list *parameters, const char *module,
                                const char *suffix)
{
    char name[LONGEST_NAME];
    const char *point = suffix[0] ? "." : "";
    const int64_t C = parameters->config->width;
    snprintf(name, sizeof name, "%s%sweight", suffix, point);
    yk_parameter_list_add_vector(parameters, module, name, C, YK_INIT_ONE);
    if (!parameters->config->rms_norm) {
        snprintf(name, sizeof name, "%s%sbias", suffix, point);
        yk_parameter_list_add_vector(parameters, module, name, C, YK_INIT_ZERO);
    }
}

void yk_parameter_list_add_buffer(struct yk_parameter_list *parameters, const char *name,
                                  int64_t rows, int64_t columns)
{
    (void)add(parameters, name,
              (struct yk_parameter){
                  .rank = rows > 0 ? 2 : 1,
                  .shape = {rows > 0 ? rows : columns, rows > 0 ? columns : 1},
                  .format = outer_form(parameters),
                  .optional = true,
                  .start = YK_INIT_ZERO,
              });
}

void yk_parameter_list_add_embedding(struct yk_parameter_list *parameters, const char *module,
                                     int64_t rows, int64_t columns)
{
    char name[LONGEST_NAME];
    snprintf(name, sizeof name, "%s.weight", module);
    (void)add(parameters, name,
              (struct yk_parameter){
                  .rank = 2,
                  .shape = {rows, columns},
                  .format = outer_form(parameters),
                  .trained = trains_all(parameters),
                  .start = YK_INIT_NORMAL,
                  .spread = parameters->config->spread,
              });
}

static int32_t add_weights(struct yk_parameter_list *parameters, const char *module,
                           const struct yk_projection_spec *names, int32_t part)
{
    char name[LONGEST_NAME];
    const bool quantised = parameters->workload->nf4 && parameters->block;
    const int64_t out = names->out[part];
    snprintf(name, sizeof name, "%s%s%s.weight", module, names->parts[part][0] ? "." : "",
             names->parts[part]);
    return add(
        parameters, name,
        (struct yk_parameter){
            .rank = 2,
            .shape = {names->transposed ? names->in : out, names->transposed ? out : names->in},
            .format = quantised ? YK_PARAMETER_NF4 : outer_form(parameters),
            .trained = trains_all(parameters),
            .start = YK_INIT_NORMAL,
            .spread = names->spread,
        });
}

static int32_t add_bias(struct yk_parameter_list *parameters, const char *module,
                        const struct yk_projection_spec *names, int32_t part)
{
    char suffix[LONGEST_NAME];
    snprintf(suffix, sizeof suffix, "%s.bias", names->parts[part]);
    yk_parameter_list_add_vector(parameters, module, suffix, names->out[part], YK_INIT_ZERO);
    return parameters->count - 1;
}

/* PEFT's names. A starts as a linear of PyTorch does, B at 0, so that adapters start as nothing. */
static int32_t add_adapter(struct yk_parameter_list *parameters, const char *module,
                           const struct yk_projection_spec *names, int32_t part, char which)
{
    char name[LONGEST_NAME];
    const int64_t rank = parameters->workload->lora_rank;
    const bool a = which == 'A';
    snprintf(name, sizeof name, "base_model.model.%s.%s.lora_%c.weight", module, names->parts[part],
             which);
    return add(parameters, name,
               (struct yk_parameter){
                   .rank = 2,
                   .shape = {a ? rank : names->out[part], a ? names->in : rank},
                   .format = YK_PARAMETER_PLAIN,
                   .trained = true,
                   .adapter = true,
                   .start = a ? YK_INIT_UNIFORM : YK_INIT_ZERO,
                   .spread = a ? 1 / sqrt((double)names->in) : 0,
               });
}

void yk_parameter_list_add_projection(struct yk_parameter_list *parameters, const char *module,
                                      const struct yk_projection_spec *names)
{
    assert(parameters->projection_count < YK_LAYER_PROJECTIONS);
    struct yk_projection *projection = &parameters->projections[parameters->projection_count++];
    *projection = (struct yk_projection){.in = names->in,
                                         .transposed = names->transposed,
                                         .weight = -1,
                                         .bias = -1,
                                         .a = -1,
                                         .b = -1};
    while (projection->parts < YK_PROJECTION_PARTS && names->parts[projection->parts]) {
        projection->part_out[projection->parts] = names->out[projection->parts];
        projection->out += names->out[projection->parts++];
    }
    const bool adapted = parameters->block && parameters->workload->lora_rank > 0;
    /* By role, so that the parts of one role lie side by side. */
    for (int32_t i = 0; i < projection->parts; i++) {
        const int32_t number = add_weights(parameters, module, names, i);
        projection->weight = i == 0 ? number : projection->weight;
    }
    for (int32_t i = 0; names->bias && i < projection->parts; i++) {
        const int32_t number = add_bias(parameters, module, names, i);
        projection->bias = i == 0 ? number : projection->bias;
    }
    for (int32_t i = 0; adapted && i < projection->parts; i++) {
        const int32_t number = add_adapter(parameters, module, names, i, 'A');
        projection->a = i == 0 ? number : projection->a;
    }
    for (int32_t i = 0; adapted && i < projection->parts; i++) {
        const int32_t number = add_adapter(parameters, module, names, i, 'B');
        projection->b = i == 0 ? number : projection->b;
    }
}
