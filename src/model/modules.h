/*
 * Modules: the tree of a Hugging Face model's modules with the tensors each owns, as the framework
 * lists them. What Accelerate's rule walks over, and what a device_map names.
 *
 * Modules and tensors stand in the order in which the framework visits them: a module before those
 * inside it, so that a module and all inside it are one range [module, end). Module 0 is the model
 * itself, whose name is "". The tree lives in the arena it was made in and never changes.
 */
#ifndef YK_MODEL_MODULES_H
#define YK_MODEL_MODULES_H

#include "base/arena.h"
#include "base/status.h"
#include "model/config.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_MODULE_NONE = -1
};

/* What a tensor's elements are. Floating point takes the type a model is loaded in; the others stay
 * as they are. */
enum yk_module_tensor_kind {
    YK_MODULE_TENSOR_FLOAT,
    YK_MODULE_TENSOR_INT64,
};

struct yk_module_tensor {
    const char *name; /* in full: "model.norm.weight" */
    int32_t module;   /* the module that owns it */
    enum yk_module_tensor_kind kind;
    bool buffer;      /* not a parameter */
    int32_t tied_to;  /* the earlier tensor that it is the same as, or YK_MODULE_NONE */
    int64_t elements; /* of a tied tensor, those of the one it is the same as */
};

struct yk_module {
    const char *name;  /* in full: "model.layers.0.mlp"; a part of it is a device_map's key */
    int32_t parent;    /* YK_MODULE_NONE for the model itself */
    int32_t end;       /* one past the last module inside it; the next sibling, if there is one */
    bool unsplittable; /* its class may not be spread over devices (`_no_split_modules`) */
    int32_t first_tensor; /* its own tensors, parameters before buffers */
    int32_t tensor_count;
};

struct yk_modules {
    struct yk_module *modules;
    struct yk_module_tensor *tensors;
    int32_t module_count;
    int32_t tensor_count;
    struct yk_modules_growth *growth; /* while it is added to (modules_tree.h), else NULL */
};

/* The module tree of `config`'s architecture. */
yk_status yk_modules_list(const struct yk_model_config *config, struct yk_arena *arena,
                          const struct yk_modules **out) YK_MUST_USE;

/* The module of that full name, or YK_MODULE_NONE. */
int32_t yk_modules_find(const struct yk_modules *modules, const char *name);

/* The first module inside `module`, or YK_MODULE_NONE; and the next one beside it. */
int32_t yk_modules_first_child(const struct yk_modules *modules, int32_t module);
int32_t yk_modules_next_sibling(const struct yk_modules *modules, int32_t module);

/*
 * `list_modules` of the architectures: each adds all of its modules. GPT-2 and Llama are the models
 * with a language-modelling head, BERT is the bare encoder or the one with heads, and the
 * encoder–decoder Transformer is Marian's.
 */
void yk_modules_gpt2(const struct yk_model_config *config, struct yk_modules *modules);
void yk_modules_llama(const struct yk_model_config *config, struct yk_modules *modules);
void yk_modules_bert(const struct yk_model_config *config, struct yk_modules *modules);
void yk_modules_transformer(const struct yk_model_config *config, struct yk_modules *modules);

#endif
