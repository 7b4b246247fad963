/*
 * Module tree: the modules of a Hugging Face model, with the tensors that each module owns, in the
 * order of named_modules(). Accelerate's placement rule walks over this tree, and the keys of a
 * device_map are names of its modules. The descendants of a module follow it directly: they are the
 * modules from module + 1 to end − 1. Module 0 is the model itself; its name is "". The tree is in
 * the caller's arena and never changes after it was built.
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

/* The element type of a tensor. Floating-point tensors get the dtype with which the model is
 * loaded. */
enum yk_module_tensor_type {
    YK_MODULE_TENSOR_FLOAT,
    YK_MODULE_TENSOR_INT64,
};

struct yk_module_tensor {
    const char *name; /* full name: "model.norm.weight" */
    int32_t module;   /* the module that owns the tensor */
    enum yk_module_tensor_type kind;
    bool buffer;     /* the tensor is a buffer, not a parameter */
    int32_t tied_to; /* number of the earlier tensor that uses the same memory, or YK_MODULE_NONE */
    int64_t elements;
};

struct yk_module {
    const char *name;     /* full name: "model.layers.0.mlp" */
    int32_t parent;       /* YK_MODULE_NONE for the model itself */
    int32_t end;          /* number of the first module that follows its descendants */
    bool unsplittable;    /* the whole module must be on one device (`_no_split_modules`) */
    int32_t first_tensor; /* number of the first tensor that the module owns; parameters come before
                             buffers */
    int32_t tensor_count;
};

struct yk_module_tree {
    struct yk_module *modules;
    struct yk_module_tensor *tensors;
    int32_t module_count;
    int32_t tensor_count;
    struct yk_module_tree_growth *growth; /* NULL when the tree is finished */
};

/* Builds the module tree of a config. */
yk_status yk_module_tree_build(const struct yk_model_config *config, struct yk_arena *arena,
                               const struct yk_module_tree **out) YK_MUST_USE;

/* Returns the module with this full name, or YK_MODULE_NONE. */
int32_t yk_module_tree_find_module(const struct yk_module_tree *modules, const char *name);

/* These functions return the first child or the next sibling of a module, or YK_MODULE_NONE. */
int32_t yk_module_tree_first_child(const struct yk_module_tree *modules, int32_t module);
int32_t yk_module_tree_next_sibling(const struct yk_module_tree *modules, int32_t module);

/*
 * All functions below are for architectures. An architecture opens a module, adds the module's own
 * tensors, then its children, and closes the module. If an allocation fails, yk_module_tree_build()
 * returns the failure. Sizes come from a valid config, so their products do not overflow.
 */

/* Opens a child of the module that is currently open. */
void yk_module_tree_open_module(struct yk_module_tree *modules, const char *name);
void yk_module_tree_close_module(struct yk_module_tree *modules);

/* Marks the open module as unsplittable. */
void yk_module_tree_set_unsplittable(struct yk_module_tree *modules);

/* These functions add tensors to the open module. yk_module_tree_add_parameter() returns the number
 * of the parameter among all tensors. */
int32_t yk_module_tree_add_parameter(struct yk_module_tree *modules, const char *name,
                                     int64_t elements);
void yk_module_tree_add_buffer(struct yk_module_tree *modules, const char *name,
                               enum yk_module_tensor_type kind, int64_t elements);

/* Ties a parameter to an earlier parameter: they use the same memory. */
void yk_module_tree_tie_parameters(struct yk_module_tree *modules, int32_t parameter,
                                   int32_t earlier);

/* These functions add a module without children: a linear, an embedding, a norm, or a module
 * without tensors, such as an activation. yk_module_tree_add_linear() and
 * yk_module_tree_add_embedding() return the number of the weight among all tensors. The number of a
 * bias is that number plus 1. */
int32_t yk_module_tree_add_linear(struct yk_module_tree *modules, const char *name, int64_t in,
                                  int64_t out, bool bias);
int32_t yk_module_tree_add_embedding(struct yk_module_tree *modules, const char *name, int64_t rows,
                                     int64_t width);
void yk_module_tree_add_norm(struct yk_module_tree *modules, const char *name, int64_t width,
                             bool bias);
void yk_module_tree_add_empty_module(struct yk_module_tree *modules, const char *name);

/* Adds a module with `count` numbered children. Calls `list` to add the contents of each child. */
void yk_module_tree_add_numbered_blocks(struct yk_module_tree *modules, const char *name,
                                        int64_t count,
                                        void (*list)(const struct yk_model_config *,
                                                     struct yk_module_tree *),
                                        const struct yk_model_config *config);

#endif
