#include "model/module_tree.h"

#include "model/architecture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 64
};

struct yk_module_tree_growth {
    struct yk_arena *arena;
    int32_t open;
    int32_t module_capacity;
    int32_t tensor_capacity;
    bool failed;
};

/* Makes space for one more element. The old array stays in the arena. */
static void *grow(struct yk_module_tree_growth *growth, void *array, int32_t count,
                  int32_t *capacity, size_t size)
{
    if (count < *capacity) {
        return array;
    }
    const int32_t wanted = *capacity > 0 ? *capacity * 2 : FIRST_CAPACITY;
    void *larger = wanted > 0 ? yk_arena_allocate(growth->arena, (size_t)wanted, size) : NULL;
    if (!larger) {
        growth->failed = true;
        return array;
    }
    if (count > 0) {
        memcpy(larger, array, (size_t)count * size);
    }
    *capacity = wanted;
    return larger;
}

/* "parent.name" */
static const char *full_name(struct yk_module_tree *modules, const char *name)
{
    struct yk_module_tree_growth *growth = modules->growth;
    const char *parent = growth->open >= 0 ? modules->modules[growth->open].name : "";
    const char *full = yk_arena_format(growth->arena, "%s%s%s", parent, parent[0] ? "." : "", name);
    growth->failed = growth->failed || !full;
    return full ? full : "";
}

void yk_module_tree_open_module(struct yk_module_tree *modules, const char *name)
{
    struct yk_module_tree_growth *growth = modules->growth;
    const char *full = full_name(modules, name);
    modules->modules = grow(growth, modules->modules, modules->module_count,
                            &growth->module_capacity, sizeof *modules->modules);
    if (growth->failed) {
        return;
    }
    modules->modules[modules->module_count] = (struct yk_module){
        .name = full,
        .parent = growth->open,
        .first_tensor = modules->tensor_count,
    };
    growth->open = modules->module_count++;
}

void yk_module_tree_close_module(struct yk_module_tree *modules)
{
    struct yk_module_tree_growth *growth = modules->growth;
    if (growth->failed) {
        return;
    }
    struct yk_module *module = &modules->modules[growth->open];
    module->end = modules->module_count;
    growth->open = module->parent;
}

void yk_module_tree_set_unsplittable(struct yk_module_tree *modules)
{
    if (!modules->growth->failed) {
        modules->modules[modules->growth->open].unsplittable = true;
    }
}

static int32_t add_tensor(struct yk_module_tree *modules, const char *name,
                          struct yk_module_tensor tensor)
{
    struct yk_module_tree_growth *growth = modules->growth;
    tensor.name = full_name(modules, name);
    tensor.module = growth->open;
    tensor.tied_to = YK_MODULE_NONE;
    modules->tensors = grow(growth, modules->tensors, modules->tensor_count,
                            &growth->tensor_capacity, sizeof *modules->tensors);
    if (growth->failed) {
        return 0;
    }
    modules->tensors[modules->tensor_count] = tensor;
    modules->modules[growth->open].tensor_count++;
    return modules->tensor_count++;
}

int32_t yk_module_tree_add_parameter(struct yk_module_tree *modules, const char *name,
                                     int64_t elements)
{
    return add_tensor(
        modules, name,
        (struct yk_module_tensor){.kind = YK_MODULE_TENSOR_FLOAT, .elements = elements});
}

void yk_module_tree_add_buffer(struct yk_module_tree *modules, const char *name,
                               enum yk_module_tensor_type kind, int64_t elements)
{
    (void)add_tensor(modules, name,
                     (struct yk_module_tensor){.kind = kind, .buffer = true, .elements = elements});
}

void yk_module_tree_tie_parameters(struct yk_module_tree *modules, int32_t parameter,
                                   int32_t earlier)
{
    if (!modules->growth->failed) {
        modules->tensors[parameter].tied_to = earlier;
    }
}

int32_t yk_module_tree_add_linear(struct yk_module_tree *modules, const char *name, int64_t in,
                                  int64_t out, bool bias)
{
    yk_module_tree_open_module(modules, name);
    const int32_t weight = yk_module_tree_add_parameter(modules, "weight", in * out);
    if (bias) {
        (void)yk_module_tree_add_parameter(modules, "bias", out);
    }
    yk_module_tree_close_module(modules);
    return weight;
}

int32_t yk_module_tree_add_embedding(struct yk_module_tree *modules, const char *name, int64_t rows,
                                     int64_t width)
{
    return yk_module_tree_add_linear(modules, name, rows, width, false);
}

void yk_module_tree_add_norm(struct yk_module_tree *modules, const char *name, int64_t width,
                             bool bias)
{
    (void)yk_module_tree_add_linear(modules, name, 1, width, bias);
}

void yk_module_tree_add_empty_module(struct yk_module_tree *modules, const char *name)
{
    yk_module_tree_open_module(modules, name);
    yk_module_tree_close_module(modules);
}

void yk_module_tree_add_numbered_blocks(struct yk_module_tree *modules, const char *name,
                                        int64_t count,
                                        void (*list)(const struct yk_model_config *,
                                                     struct yk_module_tree *),
                                        const struct yk_model_config *config)
{
    yk_module_tree_open_module(modules, name);
    for (int64_t i = 0; i < count; i++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%" PRId64, i);
        yk_module_tree_open_module(modules, number);
        list(config, modules);
        yk_module_tree_close_module(modules);
    }
    yk_module_tree_close_module(modules);
}

yk_status yk_module_tree_build(const struct yk_model_config *config, struct yk_arena *arena,
                               const struct yk_module_tree **out)
{
    struct yk_module_tree *modules = NULL;
    YK_TRY_NEW(arena, modules, 1);
    struct yk_module_tree_growth growth = {.arena = arena, .open = YK_MODULE_NONE};
    modules->growth = &growth;
    yk_module_tree_open_module(modules, "");
    config->architecture->list_modules(config, modules);
    yk_module_tree_close_module(modules);
    modules->growth = NULL;
    if (growth.failed) {
        return yk_fail_out_of_memory();
    }
    *out = modules;
    return YK_OK;
}

int32_t yk_module_tree_find_module(const struct yk_module_tree *modules, const char *name)
{
    for (int32_t i = 0; i < modules->module_count; i++) {
        if (strcmp(modules->modules[i].name, name) == 0) {
            return i;
        }
    }
    return YK_MODULE_NONE;
}

int32_t yk_module_tree_first_child(const struct yk_module_tree *modules, int32_t module)
{
    return module + 1 < modules->modules[module].end ? module + 1 : YK_MODULE_NONE;
}

int32_t yk_module_tree_next_sibling(const struct yk_module_tree *modules, int32_t module)
{
    const struct yk_module *here = &modules->modules[module];
    const bool last = here->parent < 0 || here->end >= modules->modules[here->parent].end;
    return last ? YK_MODULE_NONE : here->end;
}
