/*
 * Architecture: a family of transformers, as an entry of one table. To add one: write
 * src/model/architecture_NAME.c with its `const struct yk_architecture`, declare it here and add it
 * to the table in architecture.c. Reading a config.json, describing the layers and listing the
 * modules follow the table.
 */
#ifndef YK_MODEL_ARCHITECTURE_H
#define YK_MODEL_ARCHITECTURE_H

#include "base/json.h"
#include "model/config.h"
#include "model/model_builder.h"
#include "model/modules.h"

struct yk_architecture {
    const char *name;               /* "gpt2", "llama", "bert", "transformer" */
    const char *const *model_types; /* "model_type" of config.json; ended by NULL */
    const char *const *classes;     /* "architectures" of config.json; ended by NULL */
    bool learned_positions;         /* sequences cannot be longer than `positions` */
    bool position_table;            /* `positions` rows are kept, learned or computed */
    /* Fills all but `name` and `architecture` from a config.json; the caller checks the sizes. */
    yk_status (*read)(const struct yk_json *json, struct yk_model_config *config);
    /* Adds every layer and edge of the model. */
    void (*describe)(struct yk_model_builder *model);
    /* Adds every Hugging Face module, in the order the framework lists them. */
    void (*list_modules)(const struct yk_model_config *config, struct yk_modules *modules);
};

extern const struct yk_architecture yk_architecture_gpt2;
extern const struct yk_architecture yk_architecture_llama;
extern const struct yk_architecture yk_architecture_bert;
extern const struct yk_architecture yk_architecture_transformer;

extern const struct yk_architecture *const yk_architectures[];
extern const size_t yk_architecture_count;

#endif
