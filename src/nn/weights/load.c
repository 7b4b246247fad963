/* Reading a model's weights: whose names differ, what may be missing, and what is left over. */
#include "base/log.h"
#include "base/text.h"
#include "nn/store/range.h"
#include "nn/weights/names.h"
#include "nn/weights/tensor.h"
#include "nn/weights/weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LISTED = 3,     /* names of tensors that are not used */
    CHUNK = 1 << 12 /* numbers compared at a time */
};

/* Where a parameter is: under its own name or an older one, else as a copy of a tied tensor; NULL
 * where it may be missing. */
static yk_status find(const struct yk_net *net, const struct yk_tensor_set *set,
                      const struct yk_parameter *parameter, struct yk_arena *arena,
                      const struct yk_tensor_location **out)
{
    struct yk_weights_names names;
    const char *copy = NULL;
    *out = NULL;
    YK_TRY(yk_weights_list_names(parameter, arena, &names));
    for (int32_t i = 0; !*out && i < YK_WEIGHTS_MAX_NAMES && names.names[i]; i++) {
        *out = yk_tensor_set_find(set, names.names[i]);
    }
    for (int32_t i = 0; !*out && (copy = yk_weights_copy_name(net, parameter->name, i)); i++) {
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
                           yk_safetensors_path(place->file), range.first + i, place->entry->name,
                           (double)numbers[i]);
        }
    }
    return YK_OK;
}

/* Trained as one tensor, they cannot be told apart afterwards: a copy that differs would be lost.
 */
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
                           yk_tensor_set_path(set), copy->entry->name, place->entry->name);
        }
    }
    return YK_OK;
}

static yk_status check_copies(const struct yk_net *net, const struct yk_tensor_set *set,
                              const struct yk_parameter *parameter,
                              const struct yk_tensor_location *place)
{
    const char *name = NULL;
    for (int32_t i = 0; (name = yk_weights_copy_name(net, parameter->name, i)); i++) {
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
    for (int32_t l = 0; l < net->layer_count; l++) {
        for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
            const struct yk_parameter *parameter = &net->layers[l].parameters[i];
            if (!parameter->adapter) {
                YK_TRY(load_parameter(store, set, l, parameter, arena, room));
            }
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
    struct yk_weights_names own;
    const char *copy = NULL;
    YK_TRY(yk_weights_list_names(parameter, arena, &own));
    for (int32_t i = 0; i < YK_WEIGHTS_MAX_NAMES && own.names[i]; i++) {
        add_name(out, own.names[i]);
    }
    for (int32_t i = 0; (copy = yk_weights_copy_name(net, parameter->name, i)); i++) {
        add_name(out, copy);
    }
    return YK_OK;
}

/* Every name under which a parameter may be kept, in order. */
static yk_status list_names(const struct yk_net *net, struct yk_arena *arena, struct names *out)
{
    *out = (struct names){.room = 8}; /* copies */
    for (int32_t l = 0; l < net->layer_count; l++) {
        out->room += YK_WEIGHTS_MAX_NAMES * (size_t)net->layers[l].parameter_count;
    }
    YK_TRY_NEW(arena, out->items, out->room);
    for (int32_t l = 0; l < net->layer_count; l++) {
        for (int32_t i = 0; i < net->layers[l].parameter_count; i++) {
            YK_TRY(add_names(net, &net->layers[l].parameters[i], arena, out));
        }
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
    YK_TRY(list_names(net, arena, &names));
    for (int32_t i = 0; i < yk_tensor_set_count(set); i++) {
        const char *name = yk_tensor_set_at(set, i)->entry->name;
        if (yk_weights_is_buffer_name(name) ||
            bsearch(&name, names.items, names.count, sizeof *names.items, by_name)) {
            continue;
        }
        if (others++ < LISTED) {
            yk_text_addf(&listed, "%s%s", listed.length > 0 ? ", " : "", name);
        }
    }
    if (others > 0) {
        yk_log(YK_LOG_NOTE, "%s: %d tensors that the model does not have are left out: %s%s",
               yk_tensor_set_path(set), others, yk_text_chars(&listed),
               others > LISTED ? " …" : "");
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
    if (status == YK_OK) {
        status = yk_arena_create(&arena);
    }
    if (status == YK_OK) {
        status = load_parameters(store, set, arena, room);
    }
    if (status == YK_OK) {
        status = note_others(set, store->net, arena);
    }
    yk_arena_destroy(arena);
    free(room);
    yk_tensor_set_close(set);
    return status;
}
