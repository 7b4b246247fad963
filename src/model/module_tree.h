/*
 * Module tree: the modules of a Hugging Face model, with the tensors that each owns, in the order
 * of named_modules(). Accelerate's placement rule walks over this tree, and a device_map names its
 * modules. A module comes before its descendants, so that a module and its descendants are the
 * range [module, end). Module 0 is the model itself; its name is "". The tree is in the caller's
 * arena and never changes.
 */
#ifndef YK_MODEL_MODULE_TREE_H
#define YK_MODEL_MODULE_TREE_H

#include "base/arena.h"
#include "base/status.h"
#include "model/config.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_MODULE_NONE = -1
};

/* The element type of a tensor. Floating-point tensors get the dtype in which the model is loaded.
 */
enum yk_module_tensor_kind {
    YK_MODULE_TENSOR_FLOAT,
    YK_MODULE_TENSOR_INT64,
};

struct yk_module_tensor {
    const char *name; /* full name: "model.norm.weight" */
    int32_t module;   /* the module that owns it */
    enum yk_module_tensor_kind kind;
    bool buffer;     /* not a parameter */
    int32_t tied_to; /* the earlier tensor with which it shares memory, or YK_MODULE_NONE */
    int64_t elements;
};

struct yk_module {
    const char *name;     /* full name: "model.layers.0.mlp" */
    int32_t parent;       /* YK_MODULE_NONE for the model itself */
    int32_t end;          /* one past its last descendant */
    bool unsplittable;    /* must be on one device (`_no_split_modules`) */
    int32_t first_tensor; /* its own tensors; parameters come before buffers */
    int32_t tensor_count;
};

struct yk_module_tree {
    struct yk_module *modules;
    struct yk_module_tensor *tensors;
    int32_t module_count;
    int32_t tensor_count;
    struct yk_module_tree_growth *growth; /* while modules are added; else NULL */
};

/* Builds the module tree of a config. */
yk_status yk_module_tree_build(const struct yk_model_config *config, struct yk_arena *arena,
                               const struct yk_module_tree **out) YK_MUST_USE;

/* The module with that full name, or YK_MODULE_NONE. */
int32_t yk_module_tree_find(const struct yk_module_tree *modules, const char *name);

/* The first child or the next sibling of a module, or YK_MODULE_NONE. */
int32_t yk_module_tree_first_child(const struct yk_module_tree *modules, int32_t module);
int32_t yk_module_tree_next_sibling(const struct yk_module_tree *modules, int32_t module);

/*
 * The following functions are for architectures. They open a module, add its own tensors, then its
 * children, and close it. yk_module_tree_build() reports failed allocations. Sizes come from a
 * valid config, so their products do not overflow.
 */

/* Opens a child of the module that is currently open. */
void yk_module_tree_open_module(struct yk_module_tree *modules, const char *name);
void yk_module_tree_close_module(struct yk_module_tree *modules);

/* Marks the open module as unsplittable. */
void yk_module_tree_set_unsplittable(struct yk_module_tree *modules);

/* Add tensors to the open module. yk_module_tree_add_parameter() returns the parameter's number. */
int32_t yk_module_tree_add_parameter(struct yk_module_tree *modules, const char *name,
                                     int64_t elements);
void yk_module_tree_add_buffer(struct yk_module_tree *modules, const char *name,
                               enum yk_module_tensor_kind kind, int64_t elements);

/* Ties a parameter to an earlier one. */
void yk_module_tree_tie_parameters(struct yk_module_tree *modules, int32_t parameter,
                                   int32_t earlier);

/* Add a module without children: a linear, an embedding, a norm, or a module without tensors, such
 * as an activation. The first two return the number of their weight; a bias has the next number. */
int32_t yk_module_tree_add_linear(struct yk_module_tree *modules, const char *name, int64_t in,
                                  int64_t out, bool bias);
int32_t yk_module_tree_add_embedding(struct yk_module_tree *modules, const char *name, int64_t rows,
                                     int64_t width);
void yk_module_tree_add_norm(struct yk_module_tree *modules, const char *name, int64_t width,
                             bool bias);
void yk_module_tree_add_empty_module(struct yk_module_tree *modules, const char *name);

/* Adds a module with `count` numbered children. `list` adds the contents of each. */
void yk_module_tree_add_blocks(struct yk_module_tree *modules, const char *name, int64_t count,
                               void (*list)(const struct yk_model_config *,
                                            struct yk_module_tree *),
                               const struct yk_model_config *config);

#endif
