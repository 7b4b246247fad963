#include "plan/device_map.h"

#include "base/json.h"
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Whether `name` is `outer` or inside it. Everything is inside the whole model, "". */
static bool lies_in(const char *name, const char *outer)
{
    const size_t length = strlen(outer);
    return length == 0 ||
           (strncmp(name, outer, length) == 0 && (name[length] == '.' || name[length] == '\0'));
}

int32_t yk_device_map_find_place(const struct yk_device_map *map, const char *name)
{
    int32_t place = YK_DEVICE_MAP_UNASSIGNED;
    size_t longest = 0;
    for (int32_t i = 0; i < map->count; i++) {
        const struct yk_device_map_entry *entry = &map->entries[i];
        if (strlen(entry->module) >= longest && lies_in(name, entry->module)) {
            longest = strlen(entry->module);
            place = entry->place;
        }
    }
    return place;
}

static bool holds(const int32_t *places, int32_t count, int32_t place)
{
    for (int32_t i = 0; i < count; i++) {
        if (places[i] == place) {
            return true;
        }
    }
    return false;
}

int32_t yk_device_map_list_places(const struct yk_device_map *map, const char *module,
                                  int32_t capacity, int32_t *out)
{
    int32_t count = 0;
    const int32_t own = yk_device_map_find_place(map, module);
    if (own != YK_DEVICE_MAP_UNASSIGNED && capacity > 0) {
        out[count++] = own;
    }
    for (int32_t i = 0; i < map->count && count < capacity; i++) {
        const struct yk_device_map_entry *entry = &map->entries[i];
        if (lies_in(entry->module, module) && !holds(out, count, entry->place)) {
            out[count++] = entry->place;
        }
    }
    return count;
}

void yk_device_map_append_place_json(struct yk_text *text, int32_t place)
{
    if (place >= 0) {
        yk_text_addf(text, "%d", place);
    } else {
        yk_text_add(text, place == YK_DEVICE_MAP_CPU ? "\"cpu\"" : "\"disk\"");
    }
}

static const char *place_name(struct yk_text *text, int32_t place)
{
    text->length = 0;
    if (place >= 0) {
        yk_text_add(text, "device ");
    }
    yk_device_map_append_place_json(text, place);
    return yk_text_chars(text);
}

static yk_status check_places(const struct yk_device_map *map, int32_t device_count)
{
    for (int32_t i = 0; i < map->count; i++) {
        const char *name = map->entries[i].module;
        const int32_t place = map->entries[i].place;
        if (place >= device_count || place < YK_DEVICE_MAP_DISK) {
            return yk_fail(YK_ERROR_INPUT, "\"%s\" goes to device %d, but devices are 0 to %d",
                           name, place, device_count - 1);
        }
    }
    return YK_OK;
}

static yk_status check_cover(const struct yk_device_map *map, const struct yk_module_tree *modules)
{
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (yk_device_map_find_place(map, tensor->name) == YK_DEVICE_MAP_UNASSIGNED) {
            const char *module = modules->modules[tensor->module].name;
            return yk_fail(YK_ERROR_INPUT, "nothing says where \"%s\" goes; add it to the map",
                           *module ? module : tensor->name);
        }
    }
    return YK_OK;
}

static yk_status check_ties(const struct yk_device_map *map, const struct yk_module_tree *modules)
{
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (tensor->tied_to == YK_MODULE_NONE) {
            continue;
        }
        const struct yk_module_tensor *earlier = &modules->tensors[tensor->tied_to];
        const int32_t here = yk_device_map_find_place(map, tensor->name);
        const int32_t there = yk_device_map_find_place(map, earlier->name);
        if (here == there) {
            continue;
        }
        struct yk_text first = {0};
        struct yk_text second = {0};
        const yk_status status = yk_fail(
            YK_ERROR_INPUT,
            "\"%s\" and \"%s\" are one tensor, but go to %s and %s; give both one place",
            earlier->name, tensor->name, place_name(&first, there), place_name(&second, here));
        yk_text_free(&first);
        yk_text_free(&second);
        return status;
    }
    return YK_OK;
}

yk_status yk_device_map_check(const struct yk_device_map *map, const struct yk_module_tree *modules,
                              int32_t device_count)
{
    YK_TRY(check_places(map, device_count));
    YK_TRY(check_cover(map, modules));
    return check_ties(map, modules);
}

/* A map under construction. */
struct places {
    const struct yk_module_tree *modules;
    int32_t *of_module;
    int32_t *of_tensor;
};

static yk_status create_places(const struct yk_module_tree *modules, struct yk_arena *arena,
                               struct places *out)
{
    out->modules = modules;
    YK_TRY_NEW(arena, out->of_module, modules->module_count);
    YK_TRY_NEW(arena, out->of_tensor, modules->tensor_count);
    yk_number_fill_int32_array(out->of_module, modules->module_count, YK_DEVICE_MAP_UNASSIGNED);
    yk_number_fill_int32_array(out->of_tensor, modules->tensor_count, YK_DEVICE_MAP_UNASSIGNED);
    return YK_OK;
}

static yk_status place_by_name(struct places *places, const char *layer, const char *name,
                               int32_t device)
{
    const struct yk_module_tree *modules = places->modules;
    const int32_t module = yk_module_tree_find_module(modules, name);
    if (module != YK_MODULE_NONE) {
        places->of_module[module] = device;
        return YK_OK;
    }
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        if (strcmp(modules->tensors[i].name, name) == 0) {
            places->of_tensor[i] = device;
            return YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT, "layer \"%s\" is made of \"%s\", which the model does not have",
                   layer, name);
}

static bool is_covered(const struct places *places, int32_t tensor)
{
    if (places->of_tensor[tensor] != YK_DEVICE_MAP_UNASSIGNED) {
        return true;
    }
    int32_t module = places->modules->tensors[tensor].module;
    while (module != YK_MODULE_NONE && places->of_module[module] == YK_DEVICE_MAP_UNASSIGNED) {
        module = places->modules->modules[module].parent;
    }
    return module != YK_MODULE_NONE;
}

/* A leaf module is placed as a whole; tensors of other modules are placed one by one. */
static void place_the_rest(struct places *places, int32_t device)
{
    for (int32_t i = 0; i < places->modules->tensor_count; i++) {
        const int32_t module = places->modules->tensors[i].module;
        if (is_covered(places, i)) {
            continue;
        }
        if (yk_module_tree_first_child(places->modules, module) == YK_MODULE_NONE) {
            places->of_module[module] = device;
        } else {
            places->of_tensor[i] = device;
        }
    }
}

static void add_entry(struct yk_device_map_entry *entries, int32_t *count, const char *name,
                      int32_t place)
{
    if (place != YK_DEVICE_MAP_UNASSIGNED) {
        entries[(*count)++] = (struct yk_device_map_entry){name, place};
    }
}

yk_status yk_device_map_create_from_places(const struct yk_module_tree *modules,
                                           const int32_t *module_places,
                                           const int32_t *tensor_places, struct yk_arena *arena,
                                           struct yk_device_map **out)
{
    struct yk_device_map_entry *entries = NULL;
    struct yk_device_map *map = NULL;
    YK_TRY_NEW(arena, map, 1);
    YK_TRY_NEW(arena, entries, modules->module_count + modules->tensor_count);
    for (int32_t i = 0; i < modules->module_count; i++) {
        const struct yk_module *module = &modules->modules[i];
        add_entry(entries, &map->count, module->name, module_places[i]);
        for (int32_t t = module->first_tensor; t < module->first_tensor + module->tensor_count;
             t++) {
            add_entry(entries, &map->count, modules->tensors[t].name, tensor_places[t]);
        }
    }
    map->entries = entries;
    *out = map;
    return YK_OK;
}

static yk_status create_checked(const struct places *places, int32_t device_count,
                                struct yk_arena *arena, const struct yk_device_map **out)
{
    struct yk_device_map *map = NULL;
    YK_TRY(yk_device_map_create_from_places(places->modules, places->of_module, places->of_tensor,
                                            arena, &map));
    YK_TRY(yk_device_map_check(map, places->modules, device_count));
    *out = map;
    return YK_OK;
}

yk_status yk_device_map_create_from_layers(const struct yk_model *model,
                                           const int32_t *layer_devices,
                                           const struct yk_module_tree *modules,
                                           int32_t device_count, struct yk_arena *arena,
                                           const struct yk_device_map **out)
{
    struct places places = {0};
    YK_TRY(create_places(modules, arena, &places));
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        for (int32_t m = 0; m < layer->module_count; m++) {
            YK_TRY(place_by_name(&places, layer->name, layer->modules[m], layer_devices[i]));
        }
    }
    place_the_rest(&places, layer_devices[0]);
    return create_checked(&places, device_count, arena, out);
}

static yk_status read_place(const struct yk_json *root, const char *name, int32_t device_count,
                            int32_t *out)
{
    const struct yk_json *node = yk_json_get_member(root, name);
    const char *word = yk_json_string_value(node);
    double number = 0;
    if (!node) {
        *out = YK_DEVICE_MAP_UNASSIGNED;
    } else if (word && strcmp(word, "cpu") == 0) {
        *out = YK_DEVICE_MAP_CPU;
    } else if (word && strcmp(word, "disk") == 0) {
        *out = YK_DEVICE_MAP_DISK;
    } else if (yk_json_number_value(node, &number) && number >= 0 && floor(number) == number) {
        /* yk_device_map_check() refuses a number beyond the last device. */
        *out = number < INT32_MAX ? (int32_t)number : INT32_MAX;
    } else {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must go to a device, 0 to %d, \"cpu\" or \"disk\"",
                       name, (int)device_count - 1);
    }
    return YK_OK;
}

static yk_status check_names(const struct yk_json *root, const struct yk_module_tree *modules,
                             struct yk_arena *arena)
{
    const char **known = NULL;
    size_t count = 0;
    YK_TRY_NEW(arena, known, modules->module_count + modules->tensor_count);
    for (int32_t i = 0; i < modules->module_count; i++) {
        known[count++] = modules->modules[i].name;
    }
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        known[count++] = modules->tensors[i].name;
    }
    return yk_json_check_keys(root, known, count);
}

/* Looks up the model's names in turn, so that entries are in model order. */
static yk_status read_map(const struct yk_json *root, const struct yk_module_tree *modules,
                          int32_t device_count, struct yk_arena *arena,
                          const struct yk_device_map **out)
{
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT,
                       "a device map is an object of module names and devices, not %s",
                       yk_json_type_name(root));
    }
    YK_TRY(check_names(root, modules, arena));
    struct places places = {0};
    YK_TRY(create_places(modules, arena, &places));
    for (int32_t i = 0; i < modules->module_count; i++) {
        const struct yk_module *module = &modules->modules[i];
        YK_TRY(read_place(root, module->name, device_count, &places.of_module[i]));
        for (int32_t t = module->first_tensor; t < module->first_tensor + module->tensor_count;
             t++) {
            YK_TRY(read_place(root, modules->tensors[t].name, device_count, &places.of_tensor[t]));
        }
    }
    return create_checked(&places, device_count, arena, out);
}

yk_status yk_device_map_parse(const char *text, size_t length, const char *source,
                              const struct yk_module_tree *modules, int32_t device_count,
                              struct yk_arena *arena, const struct yk_device_map **out)
{
    YK_TRY_WITH_PARSED_JSON(root, text, length, source,
                            read_map(root, modules, device_count, arena, out));
    return YK_OK;
}
