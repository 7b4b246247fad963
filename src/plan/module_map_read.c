#include "base/json.h"
#include "plan/module_map.h"

#include <math.h>
#include <string.h>

static yk_status read_place(const struct yk_json *node, const char *name, int32_t device_count,
                            int32_t *out)
{
    const char *word = yk_json_string(node);
    double number = 0;
    if (word && strcmp(word, "cpu") == 0) {
        *out = YK_PLACE_CPU;
    } else if (word && strcmp(word, "disk") == 0) {
        *out = YK_PLACE_DISK;
    } else if (yk_json_number(node, &number) && number >= 0 && floor(number) == number) {
        /* A number past every device is refused, by the check, as the device it asks for. */
        *out = number < INT32_MAX ? (int32_t)number : INT32_MAX;
    } else {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" must go to a device, 0 to %d, \"cpu\" or \"disk\"",
                       name, (int)device_count - 1);
    }
    return YK_OK;
}

static yk_status add_entry(const struct yk_json *root, const char *name, int32_t device_count,
                           struct yk_module_map_entry *entries, int32_t *count)
{
    const struct yk_json *node = yk_json_get(root, name);
    if (!node) {
        return YK_OK;
    }
    entries[*count].module = name;
    YK_TRY(read_place(node, name, device_count, &entries[*count].place));
    (*count)++;
    return YK_OK;
}

static yk_status check_names(const struct yk_json *root, const struct yk_modules *modules,
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

/* The model is asked for its names in turn, so that entries stand in the model's order. */
static yk_status read_map(const struct yk_json *root, const struct yk_modules *modules,
                          int32_t device_count, struct yk_arena *arena,
                          const struct yk_module_map **out)
{
    if (!yk_json_is_object(root)) {
        return yk_fail(YK_ERROR_INPUT,
                       "a device map is an object of module names and devices, not %s",
                       yk_json_kind(root));
    }
    YK_TRY(check_names(root, modules, arena));
    struct yk_module_map_entry *entries = NULL;
    struct yk_module_map *map = NULL;
    YK_TRY_NEW(arena, map, 1);
    YK_TRY_NEW(arena, entries, modules->module_count + modules->tensor_count);
    map->entries = entries;
    for (int32_t i = 0; i < modules->module_count; i++) {
        const struct yk_module *module = &modules->modules[i];
        YK_TRY(add_entry(root, module->name, device_count, entries, &map->count));
        for (int32_t t = 0; t < module->tensor_count; t++) {
            const char *name = modules->tensors[module->first_tensor + t].name;
            YK_TRY(add_entry(root, name, device_count, entries, &map->count));
        }
    }
    YK_TRY(yk_module_map_check(map, modules, device_count));
    *out = map;
    return YK_OK;
}

yk_status yk_module_map_read(const char *text, size_t length, const char *source,
                             const struct yk_modules *modules, int32_t device_count,
                             struct yk_arena *arena, const struct yk_module_map **out)
{
    YK_TRY_JSON(root, text, length, source, read_map(root, modules, device_count, arena, out));
    return YK_OK;
}
