/* Loads a model's weights: alternative names, optional tensors, and tensors that are not used. */
#include "base/log.h"
#include "base/name_index.h"
#include "base/text.h"
#include "nn/store/parameter_store.h"
#include "nn/weights/weights.h"
#include "nn/weights/weights_tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_NAMES = 8,  /* of one parameter, with the NULL after the last */
    LISTED = 3,     /* maximum names of unused tensors in the note */
    CHUNK = 1 << 12 /* numbers compared at a time */
};

/* The name without the prefix of the base model: GPT-2 was published without it, and models saved
 * without a head lack it. NULL: the name has no such prefix. */
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

static bool ends_in(const char *name, const char *suffix)
{
    const size_t length = strlen(name);
    const size_t wanted = strlen(suffix);
    return length >= wanted && strcmp(name + length - wanted, suffix) == 0;
}

/* The TensorFlow name of a norm's parameter, with which BERT was published. NULL: there is none. */
static yk_status older_name(const char *name, struct yk_arena *arena, const char **out)
{
    static const struct {
        const char *now;
        const char *then;
    } suffixes[] = {{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}};
    *out = NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (ends_in(name, suffixes[i].now)) {
            const size_t kept = strlen(name) - strlen(suffixes[i].now);
            *out = yk_arena_format(arena, "%.*s%s", (int)kept, name, suffixes[i].then);
            YK_TRY_ALLOCATED(*out);
        }
    }
    return YK_OK;
}

/* The name of copy `number` of a tied parameter, which Hugging Face stores under several names;
 * NULL after the last. */
static const char *copy_name(const struct yk_net *net, const char *parameter, int32_t number)
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
        if (strcmp(copies[i].of, parameter) == 0 &&
            !yk_net_find_parameter(net, copies[i].name, NULL) && number-- == 0) {
            return copies[i].name;
        }
    }
    return NULL;
}

/* The names that a parameter may have in a file, its own first, those of copies last; NULL after
 * the last. */
static yk_status list_names(const struct yk_net *net, const struct yk_parameter *parameter,
                            struct yk_arena *arena, const char *out[MAX_NAMES])
{
    const char *older = NULL;
    const char *copy = NULL;
    int32_t count = 0;
    YK_TRY(older_name(parameter->name, arena, &older));
    const char *const own[] = {parameter->name, short_name(parameter->name), older,
                               older ? short_name(older) : NULL};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (own[i]) {
            out[count++] = own[i];
        }
    }
    for (int32_t i = 0; (copy = copy_name(net, parameter->name, i)); i++) {
        out[count++] = copy;
    }
    out[count] = NULL;
    return YK_OK;
}

/* Constants that older versions of transformers saved with the weights. */
static bool is_buffer(const char *name)
{
    static const char *const suffixes[] = {
        ".attn.bias",    ".attn.masked_bias", ".rotary_emb.inv_freq", "embed_positions.weight",
        ".position_ids",
    };
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (ends_in(name, suffixes[i])) {
            return true;
        }
    }
    return false;
}

/* Finds a parameter under one of its names, or a copy of a tied parameter. NULL: an optional
 * parameter is missing. */
static yk_status find(const struct yk_net *net, const struct yk_tensor_set *set,
                      const struct yk_parameter *parameter, struct yk_arena *arena,
                      const struct yk_tensor_location **out)
{
    const char *names[MAX_NAMES];
    *out = NULL;
    YK_TRY(list_names(net, parameter, arena, names));
    for (int32_t i = 0; !*out && names[i]; i++) {
        *out = yk_tensor_set_find_tensor(set, names[i]);
    }
    return *out || parameter->optional
               ? YK_OK
               : yk_tensor_set_find_tensor_or_fail(set, parameter->name, out);
}

/* A non-finite number would spread to all weights in the first step. */
static yk_status check_finite(const struct yk_tensor_location *place, const float *numbers,
                              struct yk_parameter_range range)
{
    for (int64_t i = 0; i < range.count; i++) {
        if (!isfinite(numbers[i])) {
            return yk_fail(YK_ERROR_NUMBERS, "%s: number %" PRId64 " of \"%s\" is %g",
                           place->file->path, range.first + i, place->entry->name,
                           (double)numbers[i]);
        }
    }
    return YK_OK;
}

/* Tied tensors are trained as one, so a copy that differs would be lost. */
static yk_status check_copy(const struct yk_tensor_set *set, const struct yk_parameter *parameter,
                            const struct yk_tensor_location *place,
                            const struct yk_tensor_location *copy)
{
    float ours[CHUNK];
    float theirs[CHUNK];
    YK_TRY(yk_weights_check_tensor_shape(copy, parameter));
    for (int64_t done = 0; done < parameter->count; done += CHUNK) {
        const int64_t length = parameter->count - done < CHUNK ? parameter->count - done : CHUNK;
        YK_TRY(yk_weights_read_tensor_range(place, done, length, ours));
        YK_TRY(yk_weights_read_tensor_range(copy, done, length, theirs));
        if (memcmp(ours, theirs, (size_t)length * sizeof *ours) != 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: \"%s\" and \"%s\" differ, but the config ties them; set "
                           "\"tie_word_embeddings\" to false to keep both",
                           set->path, copy->entry->name, place->entry->name);
        }
    }
    return YK_OK;
}

static yk_status check_copies(const struct yk_net *net, const struct yk_tensor_set *set,
                              const struct yk_parameter *parameter,
                              const struct yk_tensor_location *place)
{
    const char *name = NULL;
    for (int32_t i = 0; (name = copy_name(net, parameter->name, i)); i++) {
        const struct yk_tensor_location *copy = yk_tensor_set_find_tensor(set, name);
        if (copy && copy != place) {
            YK_TRY(check_copy(set, parameter, place, copy));
        }
    }
    return YK_OK;
}

/* Reads only the kept part of a sharded trained parameter. */
static yk_status load_numbers(struct yk_parameter_store *store,
                              const struct yk_tensor_location *place, int32_t layer,
                              const struct yk_parameter *parameter, float *scratch)
{
    const struct yk_layer_partition *partition = &store->layers[layer].partition;
    struct yk_parameter_range range = {0, parameter->count};
    if (partition->kind != YK_LAYER_PARTITION_FULLY_SHARDED || !parameter->trained) {
        YK_TRY(yk_weights_read_tensor_range(place, 0, parameter->count, scratch));
        YK_TRY(check_finite(place, scratch, range));
        return yk_parameter_store_write_values(store, layer, parameter, scratch);
    }
    for (int32_t b = 0;
         yk_layer_partition_next_kept_range(partition, store->net, layer, parameter, &b, &range);) {
        YK_TRY(yk_weights_read_tensor_range(place, range.first, range.count, scratch));
        YK_TRY(check_finite(place, scratch, range));
        YK_TRY(yk_parameter_store_write_range(store, layer, parameter, YK_STATE_WEIGHTS, range,
                                              scratch));
    }
    return YK_OK;
}

static yk_status load_parameter(struct yk_parameter_store *store, const struct yk_tensor_set *set,
                                int32_t layer, const struct yk_parameter *parameter,
                                struct yk_arena *arena, float *scratch)
{
    const struct yk_tensor_location *place = NULL;
    YK_TRY(find(store->net, set, parameter, arena, &place));
    if (!place) { /* its initial value is 0 */
        memset(scratch, 0, (size_t)parameter->count * sizeof *scratch);
        return yk_parameter_store_write_values(store, layer, parameter, scratch);
    }
    YK_TRY(yk_weights_check_tensor_shape(place, parameter));
    if (store->layers[layer].partition.kind == YK_LAYER_PARTITION_ABSENT) {
        return YK_OK;
    }
    YK_TRY(check_copies(store->net, set, parameter, place));
    return load_numbers(store, place, layer, parameter, scratch);
}

static yk_status load_parameters(struct yk_parameter_store *store, const struct yk_tensor_set *set,
                                 struct yk_arena *arena, float *scratch)
{
    const struct yk_net *net = store->net;
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        if (!at.parameter->adapter) {
            YK_TRY(load_parameter(store, set, at.layer, at.parameter, arena, scratch));
        }
    }
    return YK_OK;
}

/* Adds every name that a parameter may have. */
static yk_status add_names(const struct yk_net *net, const struct yk_parameter *parameter,
                           struct yk_arena *arena, struct yk_name_index *out)
{
    const char *names[MAX_NAMES];
    bool added = false;
    int32_t number = 0;
    YK_TRY(list_names(net, parameter, arena, names));
    for (int32_t i = 0; names[i]; i++) {
        YK_TRY(yk_name_index_add(out, names[i], &added, &number));
    }
    return YK_OK;
}

/* Logs a note about the tensors that belong to no parameter of the net. */
static yk_status note_others(const struct yk_tensor_set *set, const struct yk_net *net,
                             struct yk_arena *arena)
{
    struct yk_name_index *names = NULL;
    struct yk_text listed = {0};
    int32_t others = 0;
    yk_status status = yk_name_index_create(&names);
    for (struct yk_net_parameter_cursor at = {0};
         status == YK_OK && yk_net_next_parameter(net, &at);) {
        status = add_names(net, at.parameter, arena, names);
    }
    for (int32_t i = 0; status == YK_OK && i < set->count; i++) {
        const char *name = set->locations[i].entry->name;
        if (!is_buffer(name) && yk_name_index_find(names, name) < 0 && others++ < LISTED) {
            yk_text_addf(&listed, "%s%s", listed.length > 0 ? ", " : "", name);
        }
    }
    if (others > 0) {
        yk_log(YK_LOG_NOTE, "%s: %d tensors that the model does not have are left out: %s%s",
               set->path, others, yk_text_chars(&listed), others > LISTED ? " …" : "");
    }
    YK_IF_OK(yk_text_status(&listed));
    yk_text_free(&listed);
    yk_name_index_destroy(names);
    return status;
}

yk_status yk_weights_load(struct yk_parameter_store *store, const char *path)
{
    struct yk_tensor_set *set = NULL;
    struct yk_arena *arena = NULL; /* names */
    float *scratch = NULL;
    YK_TRY(yk_tensor_set_open(path, &set));
    yk_status status = yk_weights_allocate_largest_tensor(store->net, &scratch);
    YK_IF_OK(yk_arena_create(&arena));
    YK_IF_OK(load_parameters(store, set, arena, scratch));
    YK_IF_OK(note_others(set, store->net, arena));
    yk_arena_destroy(arena);
    free(scratch);
    yk_tensor_set_close(set);
    return status;
}
