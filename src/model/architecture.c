#include "model/architecture.h"

const struct yk_architecture *const yk_architectures[] = {
    &yk_architecture_gpt2,
    &yk_architecture_llama,
    &yk_architecture_bert,
    &yk_architecture_transformer,
};
const size_t yk_architecture_count = sizeof yk_architectures / sizeof yk_architectures[0];
