/* Loads a model's weights: alternative names, optional tensors, and tensors that are not used. */
#include "base/log.h"
#include "base/name_index.h"
#include "base/text.h"
#include "model/architecture.h"
#include "model/module_tree.h"
#include "nn/store/parameter_store.h"
#include "nn/weights/weights.h"
#include "nn/weights/weights_tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_NAMES = 16, /* of one parameter, with the NULL after the last */
    LISTED = 3,     /* maximum names of unused tensors in the note */
    CHUNK = 1 << 12 /* numbers compared at a time */
};

/* What the names of a net's parameters in files depend on. */
struct naming {
    const struct yk_net *net;
    struct yk_arena *arena;
    const struct yk_module_tree *modules;
    const char *head; /* the module that computes logits; NULL means: none */
};

static yk_status open_naming(const struct yk_net *net, struct yk_arena *arena, struct naming *out)
{
    *out = (struct naming){.net = net, .arena = arena};
    out->head = yk_architecture_module_name(net->config, YK_MODULE_HEAD, arena);
    return yk_module_tree_build(net->config, arena, &out->modules);
}

/* Returns what follows "MODULE." in a name, or NULL. */
static const char *after_module(const char *name, const char *module)
{
    const size_t length = module ? strlen(module) : 0;
    return length > 0 && strncmp(name, module, length) == 0 && name[length] == '.'
               ? name + length + 1
               : NULL;
}

/* The name without the prefix of the base model: GPT-2 was published without it, and models saved
 * without a head lack it. NULL: the name has no such prefix. */
static const char *short_name(const struct naming *naming, const char *name)
{
    return after_module(name, naming->net->config->architecture->base);
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

/* The first of all tensors that use the same memory. */
static int32_t original_of(const struct yk_module_tree *modules, int32_t tensor)
{
    while (modules->tensors[tensor].tied_to != YK_MODULE_NONE) {
        tensor = modules->tensors[tensor].tied_to;
    }
    return tensor;
}

/* The first of all tensors that use the same memory as a tied parameter; YK_MODULE_NONE: the
 * parameter is not tied. */
static int32_t find_original(const struct yk_module_tree *modules, const char *parameter)
{
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        if (modules->tensors[i].tied_to != YK_MODULE_NONE) {
            const int32_t original = original_of(modules, i);
            if (strcmp(modules->tensors[i].name, parameter) == 0 ||
                strcmp(modules->tensors[original].name, parameter) == 0) {
                return original;
            }
        }
    }
    return YK_MODULE_NONE;
}

/* The name that a parameter also has in files, because the base model or the head has another
 * there; NULL: there is none. */
static yk_status alias_of(const struct naming *naming, const char *name, const char **out)
{
    const struct yk_architecture *row = naming->net->config->architecture;
    const char *in_base = row->base_alias ? after_module(name, row->base) : NULL;
    const char *alias = in_base ? row->base_alias : row->head_alias;
    const char *rest = in_base ? in_base : alias ? after_module(name, naming->head) : NULL;
    *out = NULL;
    if (rest) {
        *out = yk_arena_format(naming->arena, "%s.%s", alias, rest);
        YK_TRY_ALLOCATED(*out);
    }
    return YK_OK;
}

/* A list of names that ends with NULL. */
struct names {
    const char *items[MAX_NAMES];
    int32_t count;
};

static void add_name(struct names *names, const char *name)
{
    if (name && names->count + 1 < MAX_NAMES) {
        names->items[names->count++] = name;
    }
}

/* Lists the names of the copies of a tied parameter, which Hugging Face stores under several
 * names. */
static yk_status list_copies(const struct naming *naming, const struct yk_parameter *parameter,
                             struct names *out)
{
    const struct yk_module_tree *modules = naming->modules;
    const int32_t original = find_original(modules, parameter->name);
    for (int32_t i = 0; original != YK_MODULE_NONE && i < modules->tensor_count; i++) {
        const char *name = modules->tensors[i].name;
        const char *alias = NULL;
        if (original_of(modules, i) == original && strcmp(name, parameter->name) != 0 &&
            !yk_net_find_parameter(naming->net, name, NULL)) {
            YK_TRY(alias_of(naming, name, &alias));
            add_name(out, name);
            add_name(out, alias);
        }
    }
    return YK_OK;
}

/* The name that files use instead of that of the module; NULL: there is none. */
static yk_status name_in_files(const struct naming *naming, const char *name, const char **out)
{
    const struct yk_architecture *row = naming->net->config->architecture;
    char buffer[YK_WEIGHTS_NAME_SIZE];
    *out = NULL;
    return row->file_names
               ? yk_arena_strdup(naming->arena,
                                 yk_architecture_file_name(row, name, buffer, sizeof buffer), out)
               : YK_OK;
}

/* Lists the names that a parameter may have in a file, its own first, those of copies last. */
static yk_status list_names(const struct naming *naming, const struct yk_parameter *parameter,
                            struct names *out)
{
    const char *older = NULL;
    const char *alias = NULL;
    const char *in_files = NULL;
    *out = (struct names){0};
    YK_TRY(name_in_files(naming, parameter->name, &in_files));
    add_name(out, in_files);
    add_name(out, in_files ? short_name(naming, in_files) : NULL);
    YK_TRY(older_name(parameter->name, naming->arena, &older));
    YK_TRY(alias_of(naming, parameter->name, &alias));
    add_name(out, parameter->name);
    add_name(out, short_name(naming, parameter->name));
    add_name(out, older);
    add_name(out, older ? short_name(naming, older) : NULL);
    add_name(out, alias);
    return list_copies(naming, parameter, out);
}

/* Constants that older versions of transformers saved with the weights. */
static bool is_buffer(const char *name)
{
    static const char *const suffixes[] = {
        ".attn.bias",           ".attn.masked_bias",
        ".attention.bias",      ".attention.masked_bias",
        ".rotary_emb.inv_freq", "embed_positions.weight",
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
static yk_status find(const struct naming *naming, const struct yk_tensor_set *set,
                      const struct yk_parameter *parameter, const struct yk_tensor_location **out)
{
    struct names names;
    *out = NULL;
    YK_TRY(list_names(naming, parameter, &names));
    for (int32_t i = 0; !*out && names.items[i]; i++) {
        *out = yk_tensor_set_find_tensor(set, names.items[i]);
    }
    return *out || parameter->optional || parameter->saved_with_adapter
               ? YK_OK
               : yk_tensor_set_find_tensor_or_fail(set, names.items[0], out);
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

static yk_status check_copies(const struct naming *naming, const struct yk_tensor_set *set,
                              const struct yk_parameter *parameter,
                              const struct yk_tensor_location *place)
{
    struct names copies = {0};
    YK_TRY(list_copies(naming, parameter, &copies));
    for (int32_t i = 0; copies.items[i]; i++) {
        const struct yk_tensor_location *copy = yk_tensor_set_find_tensor(set, copies.items[i]);
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
                                const struct naming *naming, int32_t layer,
                                const struct yk_parameter *parameter, float *scratch)
{
    const struct yk_tensor_location *place = NULL;
    YK_TRY(find(naming, set, parameter, &place));
    if (place && parameter->saved_with_adapter && !yk_weights_tensor_has_shape(place, parameter)) {
        place = NULL; /* the base model has other classes */
    }
    if (!place) { /* its initial value is 0 */
        memset(scratch, 0, (size_t)parameter->count * sizeof *scratch);
        return yk_parameter_store_write_values(store, layer, parameter, scratch);
    }
    YK_TRY(yk_weights_check_tensor_shape(place, parameter));
    if (store->layers[layer].partition.kind == YK_LAYER_PARTITION_ABSENT) {
        return YK_OK;
    }
    YK_TRY(check_copies(naming, set, parameter, place));
    return load_numbers(store, place, layer, parameter, scratch);
}

static yk_status load_parameters(struct yk_parameter_store *store, const struct yk_tensor_set *set,
                                 const struct naming *naming, float *scratch)
{
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(store->net, &at);) {
        if (!at.parameter->adapter && !at.parameter->fresh) {
            YK_TRY(load_parameter(store, set, naming, at.layer, at.parameter, scratch));
        }
    }
    return YK_OK;
}

/* Adds every name that a parameter may have. */
static yk_status add_names(const struct naming *naming, const struct yk_parameter *parameter,
                           struct yk_name_index *out)
{
    struct names names;
    bool added = false;
    int32_t number = 0;
    YK_TRY(list_names(naming, parameter, &names));
    for (int32_t i = 0; names.items[i]; i++) {
        YK_TRY(yk_name_index_add(out, names.items[i], &added, &number));
    }
    return YK_OK;
}

/* Logs a note about the tensors that belong to no parameter of the net. */
static yk_status note_others(const struct yk_tensor_set *set, const struct naming *naming)
{
    struct yk_name_index *names = NULL;
    struct yk_text listed = {0};
    int32_t others = 0;
    yk_status status = yk_name_index_create(&names);
    for (struct yk_net_parameter_cursor at = {0};
         status == YK_OK && yk_net_next_parameter(naming->net, &at);) {
        status = add_names(naming, at.parameter, names);
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
    struct naming naming = {0};
    float *scratch = NULL;
    YK_TRY(yk_tensor_set_open(path, &set));
    yk_status status = yk_weights_allocate_largest_tensor(store->net, &scratch);
    YK_IF_OK(yk_arena_create(&arena));
    YK_IF_OK(open_naming(store->net, arena, &naming));
    YK_IF_OK(load_parameters(store, set, &naming, scratch));
    YK_IF_OK(note_others(set, &naming));
    yk_arena_destroy(arena);
    free(scratch);
    yk_tensor_set_close(set);
    return status;
}
