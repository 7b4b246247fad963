/* Reading a model's weights: whose names differ, what may be missing, and what is left over. */
#include "base/log.h"
#include "base/text.h"
#include "nn/store/range.h"
#include "nn/weights/tensor.h"
#include "nn/weights/weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_NAMES = 4,  /* of one parameter */
    LISTED = 3,     /* names of tensors that are not used */
    CHUNK = 1 << 12 /* numbers compared at a time */
};

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

static bool ends_in(const char *name, const char *suffix)
{
    const size_t length = strlen(name);
    const size_t wanted = strlen(suffix);
    return length >= wanted && strcmp(name + length - wanted, suffix) == 0;
}

/* BERT was published with the norms of TensorFlow. NULL where there was no other name. */
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
            char *older = yk_arena_allocate(arena, strlen(name) + 1, 1);
            if (!older) {
                return yk_fail_out_of_memory();
            }
            (void)snprintf(older, strlen(name) + 1, "%.*s%s", (int)kept, name, suffixes[i].then);
            *out = older;
        }
    }
    return YK_OK;
}

/* Names a parameter may have in a file: its own first; NULL after the last. */
static yk_status list_names(const struct yk_parameter *parameter, struct yk_arena *arena,
                            const char *out[MAX_NAMES])
{
    const char *older = NULL;
    int32_t count = 0;
    YK_TRY(older_name(parameter->name, arena, &older));
    const char *const names[MAX_NAMES] = {parameter->name, short_name(parameter->name), older,
                                          older ? short_name(older) : NULL};
    for (int32_t i = 0; i < MAX_NAMES; i++) {
        out[i] = NULL;
        if (names[i]) {
            out[count++] = names[i];
        }
    }
    return YK_OK;
}

/* Copy `number` of a parameter that the net has once and the framework under several names; NULL
 * past the last. */
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
        if (strcmp(copies[i].of, parameter) == 0 && !yk_net_find(net, copies[i].name, NULL) &&
            number-- == 0) {
            return copies[i].name;
        }
    }
    return NULL;
}

/* Constants that the framework used to save with the weights. */
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

/* Where a parameter is: under its own name or an older one, else as a copy of a tied tensor; NULL
 * where it may be missing. */
static yk_status find(const struct yk_net *net, const struct yk_tensor_set *set,
                      const struct yk_parameter *parameter, struct yk_arena *arena,
                      const struct yk_tensor_location **out)
{
    const char *names[MAX_NAMES];
    const char *copy = NULL;
    *out = NULL;
    YK_TRY(list_names(parameter, arena, names));
    for (int32_t i = 0; !*out && i < MAX_NAMES && names[i]; i++) {
        *out = yk_tensor_set_find(set, names[i]);
    }
    for (int32_t i = 0; !*out && (copy = copy_name(net, parameter->name, i)); i++) {
        *out = yk_tensor_set_find(set, copy);
    }
    return *out || parameter->optional ? YK_OK : yk_tensor_set_require(set, parameter->name, out);
}

/* Such a number would spread to everything in the first step. */
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

/* They are trained as one tensor: a copy that differs would be lost. */
static yk_status check_copy(const struct yk_tensor_set *set, const struct yk_parameter *parameter,
                            const struct yk_tensor_location *place,
                            const struct yk_tensor_location *copy)
{
    float ours[CHUNK];
    float theirs[CHUNK];
    YK_TRY(yk_weights_check_tensor(copy, parameter));
    for (int64_t done = 0; done < parameter->count; done += CHUNK) {
        const int64_t length = parameter->count - done < CHUNK ? parameter->count - done : CHUNK;
        YK_TRY(yk_weights_read_tensor(place, done, length, ours));
        YK_TRY(yk_weights_read_tensor(copy, done, length, theirs));
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
        const struct yk_tensor_location *copy = yk_tensor_set_find(set, name);
        if (copy && copy != place) {
            YK_TRY(check_copy(set, parameter, place, copy));
        }
    }
    return YK_OK;
}

/* Of a trained parameter that is kept in part, that part alone is read. */
static yk_status load_numbers(struct yk_store *store, const struct yk_tensor_location *place,
                              int32_t layer, const struct yk_parameter *parameter, float *room)
{
    const struct yk_partition *partition = &store->layers[layer].partition;
    struct yk_parameter_range range = {0, parameter->count};
    if (partition->kind != YK_PARTITION_FULLY_SHARDED || !parameter->trained) {
        YK_TRY(yk_weights_read_tensor(place, 0, parameter->count, room));
        YK_TRY(check_finite(place, room, range));
        return yk_store_write_values(store, layer, parameter, room);
    }
    for (int32_t b = 0; b < yk_partition_range_count(partition); b++) {
        if (yk_partition_range(partition, b, store->net, layer, parameter, &range)) {
            YK_TRY(yk_weights_read_tensor(place, range.first, range.count, room));
            YK_TRY(check_finite(place, room, range));
            YK_TRY(yk_store_write_range(store, layer, parameter, YK_STATE_WEIGHTS, range, room));
        }
    }
    return YK_OK;
}

static yk_status load_parameter(struct yk_store *store, const struct yk_tensor_set *set,
                                int32_t layer, const struct yk_parameter *parameter,
                                struct yk_arena *arena, float *room)
{
    const struct yk_tensor_location *place = NULL;
    YK_TRY(find(store->net, set, parameter, arena, &place));
    if (!place) { /* as it starts: at 0 */
        memset(room, 0, (size_t)parameter->count * sizeof *room);
        return yk_store_write_values(store, layer, parameter, room);
    }
    YK_TRY(yk_weights_check_tensor(place, parameter));
    if (store->layers[layer].partition.kind == YK_PARTITION_ABSENT) {
        return YK_OK;
    }
    YK_TRY(check_copies(store->net, set, parameter, place));
    return load_numbers(store, place, layer, parameter, room);
}

static yk_status load_parameters(struct yk_store *store, const struct yk_tensor_set *set,
                                 struct yk_arena *arena, float *room)
{
    const struct yk_net *net = store->net;
    for (struct yk_net_cursor at = {0}; yk_net_next(net, &at);) {
        if (!at.parameter->adapter) {
            YK_TRY(load_parameter(store, set, at.layer, at.parameter, arena, room));
        }
    }
    return YK_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct names {
    const char **items;
    size_t count;
    size_t room;
};

static void add_name(struct names *names, const char *name)
{
    if (names->count < names->room) {
        names->items[names->count++] = name;
    }
}

static yk_status add_names(const struct yk_net *net, const struct yk_parameter *parameter,
                           struct yk_arena *arena, struct names *out)
{
    const char *own[MAX_NAMES];
    const char *copy = NULL;
    YK_TRY(list_names(parameter, arena, own));
    for (int32_t i = 0; i < MAX_NAMES && own[i]; i++) {
        add_name(out, own[i]);
    }
    for (int32_t i = 0; (copy = copy_name(net, parameter->name, i)); i++) {
        add_name(out, copy);
    }
    return YK_OK;
}

/* Every name under which a parameter may be kept, in order. */
static yk_status list_all_names(const struct yk_net *net, struct yk_arena *arena, struct names *out)
{
    *out = (struct names){.room = 8}; /* copies */
    for (int32_t l = 0; l < net->layer_count; l++) {
        out->room += MAX_NAMES * (size_t)net->layers[l].parameter_count;
    }
    YK_TRY_NEW(arena, out->items, out->room);
    for (struct yk_net_cursor at = {0}; yk_net_next(net, &at);) {
        YK_TRY(add_names(net, at.parameter, arena, out));
    }
    qsort(out->items, out->count, sizeof *out->items, by_name);
    return YK_OK;
}

static yk_status note_others(const struct yk_tensor_set *set, const struct yk_net *net,
                             struct yk_arena *arena)
{
    struct names names;
    struct yk_text listed = {0};
    int32_t others = 0;
    YK_TRY(list_all_names(net, arena, &names));
    for (int32_t i = 0; i < set->count; i++) {
        const char *name = set->locations[i].entry->name;
        if (is_buffer(name) ||
            bsearch(&name, names.items, names.count, sizeof *names.items, by_name)) {
            continue;
        }
        if (others++ < LISTED) {
            yk_text_addf(&listed, "%s%s", listed.length > 0 ? ", " : "", name);
        }
    }
    if (others > 0) {
        yk_log(YK_LOG_NOTE, "%s: %d tensors that the model does not have are left out: %s%s",
               set->path, others, yk_text_chars(&listed), others > LISTED ? " …" : "");
    }
    const yk_status status = yk_text_status(&listed);
    yk_text_free(&listed);
    return status;
}

yk_status yk_weights_load(struct yk_store *store, const char *path)
{
    struct yk_tensor_set *set = NULL;
    struct yk_arena *arena = NULL; /* names */
    float *room = NULL;
    YK_TRY(yk_tensor_set_open(path, &set));
    yk_status status = yk_weights_allocate_tensor(store->net, &room);
    YK_THEN(yk_arena_create(&arena));
    YK_THEN(load_parameters(store, set, arena, room));
    YK_THEN(note_others(set, store->net, arena));
    yk_arena_destroy(arena);
    free(room);
    yk_tensor_set_close(set);
    return status;
}
