/*
 * Modules: the tree of a Hugging Face model's modules with the tensors each owns, as the framework
 * lists them. What Accelerate's rule walks over, and what a device_map names.
 */
#ifndef YK_MODEL_MODULES_H
#define YK_MODEL_MODULES_H

#include "base/arena.h"
#include "base/status.h"
#include "model/config.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_modules;

#endif
