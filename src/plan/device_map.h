/*
 * Device map: where each module of a model is placed, as in the `device_map` of Hugging Face.
 *
 * An entry names a module, or a single tensor, and its place. It applies to everything inside the
 * module unless an entry with a longer name applies. "" names the whole model. Entries are in model
 * order. A map is immutable and lives in the arena it was created in.
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

/* A place is the index of a device, or one of these. */
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

/* The place of a module or tensor. YK_DEVICE_MAP_UNASSIGNED if no entry applies to all of it, for
 * example because the module is split across devices. */
int32_t yk_device_map_find(const struct yk_device_map *map, const char *name);

/* Lists the distinct places of `module` and everything inside it, in map order. Writes at most
 * `capacity` of them and returns the number written. */
int32_t yk_device_map_list_places(const struct yk_device_map *map, const char *module,
                                  int32_t capacity, int32_t *out);

/*
 * Fails if an entry names an unknown module or a device beyond `device_count`, if a tensor has no
 * place, or if tied tensors have different places.
 */
yk_status yk_device_map_check(const struct yk_device_map *map, const struct yk_module_tree *modules,
                              int32_t device_count) YK_MUST_USE;

/*
 * Reads and checks a device_map.json: an object from module names to device indices, "cpu" or
 * "disk". `source` is the file's name; it begins every message.
 */
yk_status yk_device_map_read(const char *text, size_t length, const char *source,
                             const struct yk_module_tree *modules, int32_t device_count,
                             struct yk_arena *arena, const struct yk_device_map **out) YK_MUST_USE;

/*
 * Creates the map that places every layer of `model` on its device in `layer_devices`. Tensors that
 * belong to no layer are placed on the device of the first layer.
 */
yk_status yk_device_map_from_layers(const struct yk_model *model, const int32_t *layer_devices,
                                    const struct yk_module_tree *modules, int32_t device_count,
                                    struct yk_arena *arena,
                                    const struct yk_device_map **out) YK_MUST_USE;

/*
 * Creates a map, in `arena`, of the modules and tensors that have a place in `module_places`
 * (modules) or `tensor_places` (tensors); the others have YK_DEVICE_MAP_UNASSIGNED.
 */
yk_status yk_device_map_create(const struct yk_module_tree *modules, const int32_t *module_places,
                               const int32_t *tensor_places, struct yk_arena *arena,
                               struct yk_device_map **out) YK_MUST_USE;

/* Writes a place as JSON: "cpu", "disk" or the index of a device. */
void yk_device_map_write_place(struct yk_text *text, int32_t place);

#endif
