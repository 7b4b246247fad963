#include "nn/layer.h"

#include <math.h>
#include <string.h>

const struct yk_layer_kind *const yk_layer_kinds[] = {
    &yk_layer_embed, &yk_layer_gpt_block, &yk_layer_llama_block, &yk_layer_norm, &yk_layer_head,
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

/*
 * Llama 3 stretches what turns slowly: wavelengths longer than rope_positions / rope_low by the
 * whole factor, those shorter than rope_positions / rope_high not at all, and between the two a
 * mixture that is linear in the number of turns.
 */
static double stretch(const struct yk_model_config *config, double frequency)
{
    if (config->rope_factor == 0) {
        return frequency;
    }
    const double turns = (double)config->rope_positions * frequency / (2 * M_PI);
    const double kept = (turns - config->rope_low) / (config->rope_high - config->rope_low);
    const double smooth = fmin(1, fmax(0, kept));
    return smooth * frequency + (1 - smooth) * frequency / config->rope_factor;
}

void yk_layer_turns(const struct yk_model_config *config, int64_t sequence, float *out)
{
    const int64_t half = config->head_size / 2;
    for (int64_t i = 0; i < half; i++) {
        const double power = 2 * (double)i / (double)config->head_size;
        const double frequency = stretch(config, pow(config->rope_theta, -power));
        for (int64_t t = 0; t < sequence; t++) {
            /* The frameworks take the angle in fp32. */
            const float angle = (float)t * (float)frequency;
            out[(t * half + i) * 2] = cosf(angle);
            out[(t * half + i) * 2 + 1] = sinf(angle);
        }
    }
}
