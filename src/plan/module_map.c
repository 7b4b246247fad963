#include "plan/module_map.h"

#include "base/names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* `name` is `outer` or lies inside it; the whole model, "", holds everything. */
static bool lies_in(const char *name, const char *outer)
{
    const size_t length = strlen(outer);
    return length == 0 ||
           (strncmp(name, outer, length) == 0 && (name[length] == '.' || name[length] == '\0'));
}

int32_t yk_module_map_find(const struct yk_module_map *map, const char *name)
{
    int32_t place = YK_PLACE_NONE;
    size_t longest = 0;
    for (int32_t i = 0; i < map->count; i++) {
        const struct yk_module_map_entry *entry = &map->entries[i];
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

int32_t yk_module_map_spread(const struct yk_module_map *map, const char *module, int32_t capacity,
                             int32_t *out)
{
    int32_t count = 0;
    const int32_t own = yk_module_map_find(map, module);
    if (own != YK_PLACE_NONE && capacity > 0) {
        out[count++] = own;
    }
    for (int32_t i = 0; i < map->count && count < capacity; i++) {
        const struct yk_module_map_entry *entry = &map->entries[i];
        if (lies_in(entry->module, module) && !holds(out, count, entry->place)) {
            out[count++] = entry->place;
        }
    }
    return count;
}

void yk_module_map_add_place(struct yk_text *text, int32_t place)
{
    if (place >= 0) {
        yk_text_addf(text, "%" PRId32, place);
    } else {
        yk_text_add(text, place == YK_PLACE_CPU ? "\"cpu\"" : "\"disk\"");
    }
}

static const char *place_name(struct yk_text *text, int32_t place)
{
    text->length = 0;
    if (place >= 0) {
        yk_text_add(text, "device ");
    }
    yk_module_map_add_place(text, place);
    return yk_text_chars(text);
}

static yk_status add_known_names(const struct yk_modules *modules, struct yk_names *names)
{
    bool added = false;
    int32_t number = 0;
    for (int32_t i = 0; i < modules->module_count; i++) {
        YK_TRY(yk_names_add(names, modules->modules[i].name, &added, &number));
    }
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        YK_TRY(yk_names_add(names, modules->tensors[i].name, &added, &number));
    }
    return YK_OK;
}

static yk_status check_entries(const struct yk_module_map *map, const struct yk_names *known,
                               int32_t device_count)
{
    for (int32_t i = 0; i < map->count; i++) {
        const char *name = map->entries[i].module;
        const int32_t place = map->entries[i].place;
        if (yk_names_find(known, name) < 0) {
            const char *meant = yk_names_nearest(known, name);
            return yk_fail(YK_ERROR_INPUT, "the model has no module \"%s\"%s%s%s", name,
                           meant ? "; did you mean \"" : "", meant ? meant : "",
                           meant ? "\"?" : "");
        }
        if (place >= device_count || place < YK_PLACE_DISK) {
            return yk_fail(YK_ERROR_INPUT,
                           "\"%s\" goes to device %" PRId32 ", but devices are 0 to %" PRId32, name,
                           place, device_count - 1);
        }
    }
    return YK_OK;
}

static yk_status check_cover(const struct yk_module_map *map, const struct yk_modules *modules)
{
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (yk_module_map_find(map, tensor->name) == YK_PLACE_NONE) {
            const char *module = modules->modules[tensor->module].name;
            return yk_fail(YK_ERROR_INPUT, "nothing says where \"%s\" goes; add it to the map",
                           *module ? module : tensor->name);
        }
    }
    return YK_OK;
}

static yk_status check_ties(const struct yk_module_map *map, const struct yk_modules *modules)
{
    for (int32_t i = 0; i < modules->tensor_count; i++) {
        const struct yk_module_tensor *tensor = &modules->tensors[i];
        if (tensor->tied_to == YK_MODULE_NONE) {
            continue;
        }
        const struct yk_module_tensor *earlier = &modules->tensors[tensor->tied_to];
        const int32_t here = yk_module_map_find(map, tensor->name);
        const int32_t there = yk_module_map_find(map, earlier->name);
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

yk_status yk_module_map_check(const struct yk_module_map *map, const struct yk_modules *modules,
                              int32_t device_count)
{
    struct yk_names *known = NULL;
    YK_TRY(yk_names_create(&known));
    yk_status status = YK_OK;
    YK_TRY_GOTO(add_known_names(modules, known), done);
    YK_TRY_GOTO(check_entries(map, known, device_count), done);
    YK_TRY_GOTO(check_cover(map, modules), done);
    YK_TRY_GOTO(check_ties(map, modules), done);
done:
    yk_names_destroy(known);
    return status;
}
