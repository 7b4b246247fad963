#include "model/modules.h"

#include "model/architecture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 64
};

struct yk_modules_growth {
    struct yk_arena *arena;
    int32_t open;
    int32_t module_capacity;
    int32_t tensor_capacity;
    bool failed;
};

/* Makes space for one more element. The old array stays in the arena. */
static void *grow(struct yk_modules_growth *growth, void *array, int32_t count, int32_t *capacity,
                  size_t size)
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
static const char *full_name(struct yk_modules *modules, const char *name)
{
    struct yk_modules_growth *growth = modules->growth;
    const char *parent = growth->open >= 0 ? modules->modules[growth->open].name : "";
    const size_t parent_length = strlen(parent);
    const size_t length = parent_length + (parent_length > 0) + strlen(name);
    char *full = yk_arena_allocate(growth->arena, length + 1, 1);
    if (!full) {
        growth->failed = true;
        return "";
    }
    (void)snprintf(full, length + 1, "%s%s%s", parent, parent_length > 0 ? "." : "", name);
    return full;
}

void yk_modules_open(struct yk_modules *modules, const char *name)
{
    struct yk_modules_growth *growth = modules->growth;
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

void yk_modules_close(struct yk_modules *modules)
{
    struct yk_modules_growth *growth = modules->growth;
    if (growth->failed) {
        return;
    }
    struct yk_module *module = &modules->modules[growth->open];
    module->end = modules->module_count;
    growth->open = module->parent;
}

void yk_modules_set_unsplittable(struct yk_modules *modules)
{
    if (!modules->growth->failed) {
        modules->modules[modules->growth->open].unsplittable = true;
    }
}

static int32_t add_tensor(struct yk_modules *modules, const char *name,
                          struct yk_module_tensor tensor)
{
    struct yk_modules_growth *growth = modules->growth;
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

int32_t yk_modules_add_parameter(struct yk_modules *modules, const char *name, int64_t elements)
{
    return add_tensor(
        modules, name,
        (struct yk_module_tensor){.kind = YK_MODULE_TENSOR_FLOAT, .elements = elements});
}

void yk_modules_add_buffer(struct yk_modules *modules, const char *name,
                           enum yk_module_tensor_kind kind, int64_t elements)
{
    (void)add_tensor(modules, name,
                     (struct yk_module_tensor){.kind = kind, .buffer = true, .elements = elements});
}

void yk_modules_tie(struct yk_modules *modules, int32_t parameter, int32_t earlier)
{
    if (!modules->growth->failed) {
        modules->tensors[parameter].tied_to = earlier;
    }
}

int32_t yk_modules_add_linear(struct yk_modules *modules, const char *name, int64_t in, int64_t out,
                              bool bias)
{
    yk_modules_open(modules, name);
    const int32_t weight = yk_modules_add_parameter(modules, "weight", in * out);
    if (bias) {
        (void)yk_modules_add_parameter(modules, "bias", out);
    }
    yk_modules_close(modules);
    return weight;
}

int32_t yk_modules_add_embedding(struct yk_modules *modules, const char *name, int64_t rows,
                                 int64_t width)
{
    return yk_modules_add_linear(modules, name, rows, width, false);
}

void yk_modules_add_norm(struct yk_modules *modules, const char *name, int64_t width, bool bias)
{
    (void)yk_modules_add_linear(modules, name, 1, width, bias);
}

void yk_modules_add_empty(struct yk_modules *modules, const char *name)
{
    yk_modules_open(modules, name);
    yk_modules_close(modules);
}

void yk_modules_add_blocks(struct yk_modules *modules, const char *name, int64_t count,
                           void (*list)(const struct yk_model_config *, struct yk_modules *),
                           const struct yk_model_config *config)
{
    yk_modules_open(modules, name);
    for (int64_t i = 0; i < count; i++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%" PRId64, i);
        yk_modules_open(modules, number);
        list(config, modules);
        yk_modules_close(modules);
    }
    yk_modules_close(modules);
}

yk_status yk_modules_list(const struct yk_model_config *config, struct yk_arena *arena,
                          const struct yk_modules **out)
{
    struct yk_modules *modules = NULL;
    YK_TRY_NEW(arena, modules, 1);
    struct yk_modules_growth growth = {.arena = arena, .open = YK_MODULE_NONE};
    modules->growth = &growth;
    yk_modules_open(modules, "");
    config->architecture->list_modules(config, modules);
    yk_modules_close(modules);
    modules->growth = NULL;
    if (growth.failed) {
        return yk_fail_out_of_memory();
    }
    *out = modules;
    return YK_OK;
}

int32_t yk_modules_find(const struct yk_modules *modules, const char *name)
{
    for (int32_t i = 0; i < modules->module_count; i++) {
        if (strcmp(modules->modules[i].name, name) == 0) {
            return i;
        }
    }
    return YK_MODULE_NONE;
}

int32_t yk_modules_first_child(const struct yk_modules *modules, int32_t module)
{
    return module + 1 < modules->modules[module].end ? module + 1 : YK_MODULE_NONE;
}

int32_t yk_modules_next_sibling(const struct yk_modules *modules, int32_t module)
{
    const struct yk_module *here = &modules->modules[module];
    const bool last = here->parent < 0 || here->end >= modules->modules[here->parent].end;
    return last ? YK_MODULE_NONE : here->end;
}
