/*
 * Hugging Face models for tests: the configs whose module trees and device maps were recorded from
 * the framework (tests/oracle/accelerate_maps.py), so that the two sides cannot drift apart.
 */
#ifndef YK_TESTS_SUPPORT_FILES_HF_MODELS_H
#define YK_TESTS_SUPPORT_FILES_HF_MODELS_H

#include "base/arena.h"
#include "model/config.h"
#include "model/module_tree.h"

/* The config of that name; fails the test when there is none. */
const struct yk_model_config *support_hf_config(const char *name);

/* Its modules, in `arena`. */
const struct yk_module_tree *support_hf_modules(const char *name, struct yk_arena *arena);

#endif
