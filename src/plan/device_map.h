/*
 * Device map: says where each module of a model is placed, like the `device_map` of Hugging Face.
 *
 * An entry gives the place of a module or of a single tensor. An entry of a module applies to
 * everything inside the module, except where an entry with a longer name applies. The name "" means
 * the whole model. Entries are in the order of the model's modules. A map is immutable. Its memory
 * belongs to the arena in which it was created.
 */
#ifndef YK_PLAN_DEVICE_MAP_H
#define YK_PLAN_DEVICE_MAP_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "model/model.h"
#include "model/module_tree.h"

#include <stddef.h>
#include <stdint.h>

/* A place is the index of a device or one of these values. */
enum {
    YK_DEVICE_MAP_CPU = -1,        /* offloaded to host memory */
    YK_DEVICE_MAP_DISK = -2,       /* offloaded to disk */
    YK_DEVICE_MAP_UNASSIGNED = -3, /* unknown */
};

struct yk_device_map_entry {
    const char *module;
    int32_t place;
};

struct yk_device_map {
    const struct yk_device_map_entry *entries;
    int32_t count;
};

/* Returns the place of a module or tensor, from its own entry or from the entry of the smallest
 * module that contains it. Entries of its parts are ignored. Returns YK_DEVICE_MAP_UNASSIGNED if
 * there is no such entry, for example if only its parts have entries. */
int32_t yk_device_map_find_place(const struct yk_device_map *map, const char *name);

/* Lists the distinct places of `module` and of everything inside it. The place of `module` itself
 * comes first, if it has one; the others are in the order of the map. Writes at most `capacity`
 * places and returns the number of places written. */
int32_t yk_device_map_list_places(const struct yk_device_map *map, const char *module,
                                  int32_t capacity, int32_t *out);

/*
 * Fails if an entry has a device index that is not less than `device_count`, if a tensor of
 * `modules` has no place, or if tied tensors have different places.
 */
yk_status yk_device_map_check(const struct yk_device_map *map, const struct yk_module_tree *modules,
                              int32_t device_count) YK_MUST_USE;

/*
 * Reads and checks a device_map.json: a JSON object whose keys are module names and whose values
 * are device indices, "cpu" or "disk". `source` is the name of the file. Every error message begins
 * with this name.
 */
yk_status yk_device_map_parse(const char *text, size_t length, const char *source,
                              const struct yk_module_tree *modules, int32_t device_count,
                              struct yk_arena *arena, const struct yk_device_map **out) YK_MUST_USE;

/*
 * Creates the map that places each layer l of `model` on device layer_devices[l]. Tensors that
 * belong to no layer are placed on the device of the first layer.
 */
yk_status yk_device_map_create_from_layers(const struct yk_model *model,
                                           const int32_t *layer_devices,
                                           const struct yk_module_tree *modules,
                                           int32_t device_count, struct yk_arena *arena,
                                           const struct yk_device_map **out) YK_MUST_USE;

/*
 * Creates a map in `arena`. module_places[m] is the place of module m, and tensor_places[t] is the
 * place of tensor t. A module or tensor with the place YK_DEVICE_MAP_UNASSIGNED gets no entry.
 */
yk_status yk_device_map_create_from_places(const struct yk_module_tree *modules,
                                           const int32_t *module_places,
                                           const int32_t *tensor_places, struct yk_arena *arena,
                                           struct yk_device_map **out) YK_MUST_USE;

/* Writes a place as JSON: "cpu", "disk" or the index of a device. */
void yk_device_map_append_place_json(struct yk_text *text, int32_t place);

#endif
