/*
 * Layers: a model in the making. Architectures add their layers here; sizes have been checked, so
 * adding cannot overflow, and running out of memory is remembered and reported at the end.
 */
#ifndef YK_MODEL_LAYERS_H
#define YK_MODEL_LAYERS_H

#include "model/model.h"

struct yk_layers;

#endif
