/* Model layers: adds the layers of a described transformer to a model, with their costs. */
#ifndef YK_MODEL_MODEL_LAYERS_H
#define YK_MODEL_MODEL_LAYERS_H

#include "model/model_builder.h"

/* Adds every layer and edge of the model. */
void yk_model_layers_add(struct yk_model_builder *model);

#endif
