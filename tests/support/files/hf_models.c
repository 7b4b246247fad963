#include "support/files/hf_models.h"

#include "model/architecture.h"
#include "support/support.h"

#include <string.h>

#define MODEL(name_, architecture_, ...)                                                           \
    {.name = (name_), .architecture = &yk_architecture_##architecture_, __VA_ARGS__},

static const struct yk_model_config configs[] = {
#include "planner/auto_cases.inc"
};

const struct yk_model_config *support_hf_config(const char *name)
{
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        if (strcmp(configs[i].name, name) == 0) {
            return &configs[i];
        }
    }
    print_error("no model \"%s\" was recorded\n", name);
    fail();
    return NULL;
}

const struct yk_module_tree *support_hf_modules(const char *name, struct yk_arena *arena)
{
    const struct yk_module_tree *modules = NULL;
    assert_ok(yk_module_tree_build(support_hf_config(name), arena, &modules));
    return modules;
}
