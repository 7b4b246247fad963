#include "nn/layers/layer.h"

const struct yk_layer_kind *yk_layer_kind_of_role(enum yk_layer_role role, bool images)
{
    switch (role) {
    case YK_LAYER_ROLE_EMBEDDING:
        return images ? &yk_layer_kind_patch_embedding : &yk_layer_kind_embedding;
    case YK_LAYER_ROLE_BLOCK:
        return &yk_layer_kind_block;
    case YK_LAYER_ROLE_NORM:
        return &yk_layer_kind_norm;
    case YK_LAYER_ROLE_HEAD:
        return &yk_layer_kind_head;
    case YK_LAYER_ROLE_POOLER:
        break;
    }
    return NULL;
}
