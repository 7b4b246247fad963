#include "plan/module_map.h"

#include <stdbool.h>
#include <string.h>

/* The places in the making: of modules, then of tensors. */
struct places {
    const struct yk_modules *modules;
    int32_t *of_module;
    int32_t *of_tensor;
};

static yk_status place_by_name(struct places *places, const char *layer, const char *name,
                               int32_t device)
{
    const struct yk_modules *modules = places->modules;
    const int32_t module = yk_modules_find(modules, name);
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
    if (places->of_tensor[tensor] != YK_PLACE_NONE) {
        return true;
    }
    int32_t module = places->modules->tensors[tensor].module;
    while (module != YK_MODULE_NONE && places->of_module[module] == YK_PLACE_NONE) {
        module = places->modules->modules[module].parent;
    }
    return module != YK_MODULE_NONE;
}

/* A module without others inside is placed as one; beside others, the tensor is placed alone. */
static void place_the_rest(struct places *places, int32_t device)
{
    for (int32_t i = 0; i < places->modules->tensor_count; i++) {
        const int32_t module = places->modules->tensors[i].module;
        if (is_covered(places, i)) {
            continue;
        }
        if (yk_modules_first_child(places->modules, module) == YK_MODULE_NONE) {
            places->of_module[module] = device;
        } else {
            places->of_tensor[i] = device;
        }
    }
}

static void add_entry(struct yk_module_map_entry *entries, int32_t *count, const char *name,
                      int32_t place)
{
    if (place != YK_PLACE_NONE) {
        entries[(*count)++] = (struct yk_module_map_entry){name, place};
    }
}

static yk_status make_map(const struct places *places, struct yk_arena *arena,
                          struct yk_module_map **out)
{
    const struct yk_modules *modules = places->modules;
    struct yk_module_map_entry *entries = NULL;
    struct yk_module_map *map = NULL;
    YK_TRY_NEW(arena, map, 1);
    YK_TRY_NEW(arena, entries, modules->module_count + modules->tensor_count);
    for (int32_t i = 0; i < modules->module_count; i++) {
        const struct yk_module *module = &modules->modules[i];
        add_entry(entries, &map->count, module->name, places->of_module[i]);
        for (int32_t t = module->first_tensor; t < module->first_tensor + module->tensor_count;
             t++) {
            add_entry(entries, &map->count, modules->tensors[t].name, places->of_tensor[t]);
        }
    }
    map->entries = entries;
    *out = map;
    return YK_OK;
}

yk_status yk_module_map_of_layers(const struct yk_model *model, const int32_t *layer_devices,
                                  const struct yk_modules *modules, int32_t device_count,
                                  struct yk_arena *arena, const struct yk_module_map **out)
{
    struct places places = {.modules = modules};
    YK_TRY_NEW(arena, places.of_module, modules->module_count);
    YK_TRY_NEW(arena, places.of_tensor, modules->tensor_count);
    for (int32_t i = 0; i < modules->module_count; i++) {
        places.of_module[i] = YK_PLACE_NONE;
    }
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        places.of_tensor[i] = YK_PLACE_NONE;
    }
    for (int32_t i = 0; i < model->layer_count; i++) {
        const struct yk_layer *layer = &model->layers[i];
        for (int32_t m = 0; m < layer->module_count; m++) {
            YK_TRY(place_by_name(&places, layer->name, layer->modules[m], layer_devices[i]));
        }
    }
    place_the_rest(&places, layer_devices[0]);
    struct yk_module_map *map = NULL;
    YK_TRY(make_map(&places, arena, &map));
    YK_TRY(yk_module_map_check(map, modules, device_count));
    *out = map;
    return YK_OK;
}
