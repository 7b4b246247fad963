/*
 * Module map: which place each Hugging Face module goes to, as `device_map` says it.
 *
 * An entry names a module (or a tensor that stands outside the modules below it), and speaks for
 * all inside it that no longer name speaks for. "" is the whole model. Entries stand in the order
 * of the model. A map lives in the arena it was made in and never changes.
 */
#ifndef YK_PLAN_MODULE_MAP_H
#define YK_PLAN_MODULE_MAP_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "model/model.h"
#include "model/modules.h"

#include <stddef.h>
#include <stdint.h>

/* Places that are no device; devices are 0, 1, 2 … */
enum {
    YK_PLACE_CPU = -1,  /* kept in the host's memory, brought in when needed */
    YK_PLACE_DISK = -2, /* kept on disk, brought in when needed */
    YK_PLACE_NONE = -3, /* not said */
};

struct yk_module_map_entry {
    const char *module;
    int32_t place;
};

struct yk_module_map {
    const struct yk_module_map_entry *entries;
    int32_t count;
};

/* The place of a module or tensor, by the longest entry that speaks for it; YK_PLACE_NONE for one
 * that nobody speaks for as a whole, such as a module that is spread. */
int32_t yk_module_map_find(const struct yk_module_map *map, const char *name);

/* Writes the places that `module` and all inside it are spread over, each once, in order of their
 * first appearance, at most `capacity` of them; returns how many it wrote. */
int32_t yk_module_map_spread(const struct yk_module_map *map, const char *module, int32_t capacity,
                             int32_t *out);

/*
 * Refuses a map that names what the model does not have, a device past `device_count`, leaves a
 * tensor without a place, or puts tensors that are one and the same on two places.
 */
yk_status yk_module_map_check(const struct yk_module_map *map, const struct yk_modules *modules,
                              int32_t device_count) YK_MUST_USE;

/*
 * Reads a device_map.json, one object of module name → device number, "cpu" or "disk", and checks
 * it. `source`, the name the user knows it by, begins every message.
 */
yk_status yk_module_map_read(const char *text, size_t length, const char *source,
                             const struct yk_modules *modules, int32_t device_count,
                             struct yk_arena *arena, const struct yk_module_map **out) YK_MUST_USE;

/*
 * The map that puts each layer of `model` on the device of its number in `layer_devices`. Modules
 * that belong to no layer and hold something go to the first layer's device, where the inputs are.
 */
yk_status yk_module_map_of_layers(const struct yk_model *model, const int32_t *layer_devices,
                                  const struct yk_modules *modules, int32_t device_count,
                                  struct yk_arena *arena,
                                  const struct yk_module_map **out) YK_MUST_USE;

/* "cpu" and "disk" as JSON strings, a device as its number. */
void yk_module_map_add_place(struct yk_text *text, int32_t place);

#endif
