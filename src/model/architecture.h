/*
 * Architecture: a family of transformers. One table contains all architectures. To add an
 * architecture, write src/model/architecture_NAME.c with its `const struct yk_architecture`,
 * declare it here, and add it to the table in architecture.c.
 */
#ifndef YK_MODEL_ARCHITECTURE_H
#define YK_MODEL_ARCHITECTURE_H

#include "base/json.h"
#include "model/config.h"
#include "model/model_builder.h"
#include "model/module_tree.h"

struct yk_architecture {
    const char *name;               /* "gpt2", "llama", "bert", "transformer" */
    const char *const *model_types; /* values of "model_type" in config.json; ends with NULL */
    const char *const *classes;     /* values of "architectures" in config.json; ends with NULL */
    /* Positions are learned: a sequence can have at most config->positions tokens. */
    bool learned_positions;
    bool position_table; /* the model has a table of positions, learned or computed */
    /* Sets all members of a config except `name` and `architecture`. The caller then checks that
     * the number of parameters does not overflow. */
    yk_status (*read_config)(const struct yk_json *json, struct yk_model_config *config);
    /* Adds every layer and edge of the model. */
    void (*add_layers)(struct yk_model_builder *model);
    /* Adds every Hugging Face module, in the order of named_modules(). */
    void (*list_modules)(const struct yk_model_config *config, struct yk_module_tree *modules);
};

extern const struct yk_architecture yk_architecture_gpt2;
extern const struct yk_architecture yk_architecture_llama;
extern const struct yk_architecture yk_architecture_bert;
extern const struct yk_architecture yk_architecture_transformer;

extern const struct yk_architecture *const yk_architectures[];
extern const size_t yk_architecture_count;

#endif
