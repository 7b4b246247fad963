#include "nn/layers/layer.h"

#include <string.h>

const struct yk_layer_kind *const yk_layer_kinds[] = {
    &yk_layer_kind_embedding,     &yk_layer_kind_bert_embedding, &yk_layer_kind_gpt_block,
    &yk_layer_kind_llama_block,   &yk_layer_kind_bert_block,     &yk_layer_kind_encoder_block,
    &yk_layer_kind_decoder_block, &yk_layer_kind_norm,           &yk_layer_kind_head,
    &yk_layer_kind_bert_head,
};
const size_t yk_layer_kind_count = sizeof yk_layer_kinds / sizeof yk_layer_kinds[0];

const struct yk_layer_kind *yk_layer_kind_find(const char *name)
{
    for (size_t i = 0; i < yk_layer_kind_count; i++) {
        if (strcmp(yk_layer_kinds[i]->name, name) == 0) {
            return yk_layer_kinds[i];
        }
    }
    return NULL;
}
