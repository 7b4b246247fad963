/*
 * Fuzz target of maps: device maps of a model's modules, or with FUZZ_TASKS maps of a graph's
 * tasks. A map that is accepted leaves nothing without a place.
 */
#include "fuzz/fuzz.h"

#include "graph/read.h"
#include "plan/device_map.h"
#include "sched/assignment.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#ifdef FUZZ_TASKS
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct yk_graph_read_options options = {0};
    struct yk_graph *graph = NULL;
    int32_t devices[16];
    if (yk_graph_read_text(yk_graph_heft_example_json, strlen(yk_graph_heft_example_json),
                           "example", &options, &graph) != YK_OK) {
        abort();
    }
    if (yk_assignment_read_devices((const char *)data, size, "fuzz", graph, devices) == YK_OK) {
        fuzz_accept();
        for (int32_t i = 0; i < graph->task_count; i++) {
            if (devices[i] < 0 || devices[i] >= graph->device_count) {
                abort();
            }
        }
    }
    yk_graph_destroy(graph);
    return 0;
}
#else
enum {
    DEVICES = 3
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct yk_model_config *config = NULL;
    const struct yk_module_tree *modules = NULL;
    const struct yk_device_map *map = NULL;
    struct yk_arena *arena = NULL;
    if (yk_arena_create(&arena) != YK_OK ||
        yk_model_config_find_builtin("gpt-nano", &config) != YK_OK ||
        yk_module_tree_build(config, arena, &modules) != YK_OK) {
        abort();
    }
    if (yk_device_map_parse((const char *)data, size, "fuzz", modules, DEVICES, arena, &map) ==
        YK_OK) {
        fuzz_accept();
        for (int32_t i = 0; i < modules->tensor_count; i++) {
            const int32_t place = yk_device_map_find_place(map, modules->tensors[i].name);
            if (place >= DEVICES || place == YK_DEVICE_MAP_UNASSIGNED) {
                abort();
            }
        }
    }
    yk_arena_destroy(arena);
    return 0;
}
#endif
