/*
 * Modules tree: what architectures say their modules with. The tree is added to in the order in
 * which the framework visits it: a module is opened, its own tensors and then the modules inside it
 * are added, and it is closed.
 *
 * Running out of memory is remembered and reported by yk_modules_list(), so that listing a model
 * reads like the model. Sizes come from a checked config, so their products do not overflow.
 */
#ifndef YK_MODEL_MODULES_TREE_H
#define YK_MODEL_MODULES_TREE_H

#include "model/modules.h"

#include <stdbool.h>
#include <stdint.h>

/* A module inside the open one, which is open from now on until it is closed. */
void yk_modules_open(struct yk_modules *modules, const char *name);
void yk_modules_open_numbered(struct yk_modules *modules, int64_t number);
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

#endif
