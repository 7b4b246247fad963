/*
 * Modules: the tree of a Hugging Face model's modules with the tensors each owns, as the framework
 * lists them: what Accelerate's rule walks over, and what a device_map names. A module stands
 * before those inside it, so that a module and all inside it are one range [module, end). Module 0
 * is the model itself, whose name is "". The tree lives in the arena it was made in and never
 * changes.
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
    struct yk_modules_growth *growth; /* while it is added to, else NULL */
};

/* The module tree of `config`'s architecture. */
yk_status yk_modules_list(const struct yk_model_config *config, struct yk_arena *arena,
                          const struct yk_modules **out) YK_MUST_USE;

/* The module of that full name, or YK_MODULE_NONE. */
int32_t yk_modules_find(const struct yk_modules *modules, const char *name);

/* The first module inside `module`, or YK_MODULE_NONE; and its next sibling. */
int32_t yk_modules_first_child(const struct yk_modules *modules, int32_t module);
int32_t yk_modules_next_sibling(const struct yk_modules *modules, int32_t module);

/*
 * For architectures, which add their modules in the order in which the framework visits them: a
 * module is opened, its own tensors and then the modules inside it are added, and it is closed.
 * Running out of memory is remembered and reported by yk_modules_list(). Sizes come from a checked
 * config, so their products do not overflow.
 */

/* A module inside the open one, which is open from now on until it is closed. */
void yk_modules_open(struct yk_modules *modules, const char *name);
void yk_modules_close(struct yk_modules *modules);

/* The open module may not be spread over devices. */
void yk_modules_set_unsplittable(struct yk_modules *modules);

/* Tensors of the open module; the number of the parameter, to tie another to it. */
int32_t yk_modules_add_parameter(struct yk_modules *modules, const char *name, int64_t elements);
void yk_modules_add_buffer(struct yk_modules *modules, const char *name,
                           enum yk_module_tensor_kind kind, int64_t elements);

/* The parameter is the same tensor as an earlier one. */
void yk_modules_tie(struct yk_modules *modules, int32_t parameter, int32_t earlier);

/* Whole modules without others inside: a product (in, out), (rows, width) of vectors, a norm, and
 * one without tensors, such as an activation. The first two return the number of their weight,
 * after which comes the bias, if there is one. */
int32_t yk_modules_add_linear(struct yk_modules *modules, const char *name, int64_t in, int64_t out,
                              bool bias);
int32_t yk_modules_add_embedding(struct yk_modules *modules, const char *name, int64_t rows,
                                 int64_t width);
void yk_modules_add_norm(struct yk_modules *modules, const char *name, int64_t width, bool bias);
void yk_modules_add_empty(struct yk_modules *modules, const char *name);

/* A module with `count` numbered ones inside, each listed by `list`. */
void yk_modules_add_blocks(struct yk_modules *modules, const char *name, int64_t count,
                           void (*list)(const struct yk_model_config *, struct yk_modules *),
                           const struct yk_model_config *config);

#endif
