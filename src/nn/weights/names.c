#include "nn/weights/names.h"

#include <stdio.h>
#include <string.h>

/* The name below the model's own module: GPT-2 was published without it, as is any model that was
 * saved without its head. NULL where there is none. */
static const char *short_name(const char *name)
{
    static const char *const prefixes[] = {"transformer.", "model.", "bert."};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0) {
            return name + length;
        }
    }
    return NULL;
}

static bool ends_in(const char *name, const char *ending)
{
    const size_t length = strlen(name);
    const size_t wanted = strlen(ending);
    return length >= wanted && strcmp(name + length - wanted, ending) == 0;
}

/* BERT was published with the norms of TensorFlow. NULL where there was no other name. */
static yk_status older_name(const char *name, struct yk_arena *arena, const char **out)
{
    static const struct {
        const char *now;
        const char *then;
    } endings[] = {{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}};
    *out = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_in(name, endings[i].now)) {
            const size_t kept = strlen(name) - strlen(endings[i].now);
            char *older = yk_arena_allocate(arena, strlen(name) + 1, 1);
            if (!older) {
                return yk_fail_out_of_memory();
            }
            (void)snprintf(older, strlen(name) + 1, "%.*s%s", (int)kept, name, endings[i].then);
            *out = older;
        }
    }
    return YK_OK;
}

yk_status yk_weights_list_names(const struct yk_parameter *parameter, struct yk_arena *arena,
                                struct yk_weights_names *out)
{
    const char *older = NULL;
    int32_t count = 0;
    YK_TRY(older_name(parameter->name, arena, &older));
    const char *const names[YK_WEIGHTS_MAX_NAMES] = {parameter->name, short_name(parameter->name),
                                                     older, older ? short_name(older) : NULL};
    *out = (struct yk_weights_names){0};
    for (int32_t i = 0; i < YK_WEIGHTS_MAX_NAMES; i++) {
        if (names[i]) {
            out->names[count++] = names[i];
        }
    }
    return YK_OK;
}

const char *yk_weights_copy_name(const struct yk_net *net, const char *parameter, int32_t number)
{
    static const struct {
        const char *of;
        const char *name;
    } copies[] = {
        {"transformer.wte.weight", "lm_head.weight"},
        {"model.embed_tokens.weight", "lm_head.weight"},
        {"bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
        {"cls.predictions.bias", "cls.predictions.decoder.bias"},
        {"model.shared.weight", "lm_head.weight"},
        {"model.shared.weight", "model.encoder.embed_tokens.weight"},
        {"model.shared.weight", "model.decoder.embed_tokens.weight"},
        {"model.decoder.embed_tokens.weight", "lm_head.weight"},
    };
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        if (strcmp(copies[i].of, parameter) == 0 && !yk_net_find(net, copies[i].name, NULL) &&
            number-- == 0) {
            return copies[i].name;
        }
    }
    return NULL;
}

bool yk_weights_is_buffer_name(const char *name)
{
    static const char *const endings[] = {
        ".attn.bias",    ".attn.masked_bias", ".rotary_emb.inv_freq", "embed_positions.weight",
        ".position_ids",
    };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_in(name, endings[i])) {
            return true;
        }
    }
    return false;
}
