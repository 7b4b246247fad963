/* Built-in: the models that yoke knows by name. */
#ifndef YK_MODEL_BUILTIN_H
#define YK_MODEL_BUILTIN_H

#include "model/config.h"

#include <stddef.h>

enum {
    YK_BUILTIN_ALIASES = 3
};

struct yk_builtin_model {
    struct yk_model_config config;
    const char *summary;
    const char *aliases[YK_BUILTIN_ALIASES]; /* besides its name; up to the first NULL */
};

extern const struct yk_builtin_model yk_builtin_models[];
extern const size_t yk_builtin_model_count;

#endif
