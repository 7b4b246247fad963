#include "nn/layers/layer.h"

#include <string.h>

const struct yk_layer_kind *const yk_layer_kinds[] = {
    &yk_layer_embedding,  &yk_layer_bert_embedding, &yk_layer_gpt_block,     &yk_layer_llama_block,
    &yk_layer_bert_block, &yk_layer_encoder_block,  &yk_layer_decoder_block, &yk_layer_norm,
    &yk_layer_head,       &yk_layer_bert_head,
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
