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

#endif
