/*
 * Built-in models: models that are known by name, from builtin/models.json, which is part of the
 * program. They are read when the first of them is needed, live as long as the process, and never
 * change. Any thread may call these functions.
 */
#ifndef YK_MODEL_BUILTIN_H
#define YK_MODEL_BUILTIN_H

#include "model/config.h"

/* builtin/models.json, which the build embeds (tools/embed.cmake). */
extern const char yk_builtin_models_json[];

struct yk_builtin_model {
    const char *summary;
    const char *const *aliases;           /* other names of the model; ends with NULL */
    const struct yk_model_config *config; /* config->name is the name of the model */
};

/* Returns the built-in models, in the order in which they are listed. Fails only if there is no
 * memory. */
yk_status yk_builtin_models_get(const struct yk_builtin_model **out, size_t *count) YK_MUST_USE;

/* Frees the built-in models. Only for the end of a process, for a tool that looks for memory that
 * was not freed (tools/leak_check.c). */
void yk_builtin_models_free(void);

#endif
