#include "model/architecture.h"

#include <stdio.h>
#include <string.h>

bool yk_architecture_has_module(const struct yk_model_config *config, enum yk_module_role role)
{
    const enum yk_norm_placement placement = config->norm_placement;
    switch (role) {
    case YK_MODULE_SHARED_EMBEDDING:
        return config->shared;
    case YK_MODULE_POOLER:
    case YK_MODULE_POOLER_ACTIVATION:
        return config->pooler;
    case YK_MODULE_HEAD_BIAS:
    case YK_MODULE_TRANSFORM:
    case YK_MODULE_HEAD_ACTIVATION:
    case YK_MODULE_TRANSFORM_NORM:
        return config->masked_head;
    case YK_MODULE_HEAD:
        return !config->bidirectional || config->masked_head || config->classifier;
    case YK_MODULE_SENTENCE_HEAD:
        return config->masked_head && config->pooler;
    case YK_MODULE_Q_NORM:
    case YK_MODULE_K_NORM:
        return config->qk_norm != YK_QK_NORM_NONE;
    case YK_MODULE_ATTENTION_NORM:
    case YK_MODULE_MLP_NORM:
        return placement != YK_NORM_AFTER;
    case YK_MODULE_ATTENTION_POST_NORM:
    case YK_MODULE_MLP_POST_NORM:
        return placement == YK_NORM_AFTER || placement == YK_NORM_BEFORE_AND_AFTER;
    default:
        return true;
    }
}

static const struct yk_module_entry *find(const struct yk_module_entry *entries,
                                          enum yk_module_role role)
{
    while (entries && entries->role != YK_MODULE_END && entries->role != role) {
        entries++;
    }
    return entries && entries->role == role ? entries : NULL;
}

const char *yk_architecture_base(const struct yk_model_config *config)
{
    return yk_architecture_has_module(config, YK_MODULE_HEAD) ? config->architecture->base : "";
}

const struct yk_architecture *yk_architecture_get_saved_family(const struct yk_architecture *row)
{
    for (size_t i = 0; row->text_family && i < yk_architecture_count; i++) {
        if (strcmp(yk_architectures[i].name, row->text_family) == 0) {
            return &yk_architectures[i];
        }
    }
    return row;
}

const char *yk_architecture_file_name(const struct yk_architecture *row, const char *name,
                                      char *buffer, size_t size)
{
    const char *rest = name;
    size_t length = 0;
    if (!row->file_names) {
        return name;
    }
    buffer[0] = '\0';
    for (int32_t i = 0; row->file_names[i][0] && length < size; i++) {
        const char *const *pair = row->file_names[i];
        const char *found = strstr(rest, pair[0]);
        if (found) { /* the pairs are in the order of their places in a name */
            length += (size_t)snprintf(buffer + length, size - length, "%.*s%s",
                                       (int)(found - rest), rest, pair[1]);
            rest = found + strlen(pair[0]);
        }
    }
    if (length < size) {
        (void)snprintf(buffer + length, size - length, "%s", rest);
    }
    return buffer;
}

const char *yk_architecture_module_name(const struct yk_model_config *config,
                                        enum yk_module_role role, struct yk_arena *arena)
{
    const struct yk_module_entry *entry = find(config->architecture->modules, role);
    if (!entry || !yk_architecture_has_module(config, role)) {
        return NULL;
    }
    const char *base = entry->outside ? "" : yk_architecture_base(config);
    return yk_arena_format(arena, "%s%s%s", base, base[0] ? "." : "", entry->name);
}

const char *yk_architecture_outer_module_name(const struct yk_model_config *config,
                                              enum yk_module_role role)
{
    const struct yk_module_entry *entry = find(config->architecture->modules, role);
    return entry && entry->outside && yk_architecture_has_module(config, role) ? entry->name : NULL;
}

const char *yk_architecture_block_module_name(const struct yk_model_config *config, bool encoder,
                                              enum yk_module_role role)
{
    const struct yk_architecture *architecture = config->architecture;
    const struct yk_module_entry *entry =
        find(encoder ? architecture->encoder_block : architecture->block, role);
    return entry && yk_architecture_has_module(config, role) ? entry->name : NULL;
}

/* The layer to which a module outside blocks belongs. `blocks` is the number of lists of blocks
 * before the module. */
static bool belongs_to(const struct yk_module_entry *entry, int32_t blocks, enum yk_layer_role role,
                       bool encoder)
{
    switch (entry->role) {
    case YK_MODULE_FINAL_NORM:
        return role == YK_LAYER_ROLE_NORM;
    case YK_MODULE_POOLER:
    case YK_MODULE_POOLER_ACTIVATION:
        return role == YK_LAYER_ROLE_POOLER;
    case YK_MODULE_HEAD_BIAS:
    case YK_MODULE_TRANSFORM:
    case YK_MODULE_HEAD_ACTIVATION:
    case YK_MODULE_TRANSFORM_NORM:
    case YK_MODULE_HEAD:
    case YK_MODULE_SENTENCE_HEAD:
        return role == YK_LAYER_ROLE_HEAD;
    case YK_MODULE_LOGITS_BUFFER:
    case YK_MODULE_ENCODER_BLOCKS:
    case YK_MODULE_BLOCKS:
        return false;
    case YK_MODULE_ROTARY:
        return role == YK_LAYER_ROLE_EMBEDDING;
    default:
        return role == YK_LAYER_ROLE_EMBEDDING && (blocks == 0) == encoder;
    }
}

/* Whether the first `length` characters of a name are a module that contains blocks. */
static bool contains_blocks(const struct yk_architecture *architecture, const char *name,
                            size_t length)
{
    for (const struct yk_module_entry *entry = architecture->modules; entry->role != YK_MODULE_END;
         entry++) {
        const bool blocks =
            entry->role == YK_MODULE_BLOCKS || entry->role == YK_MODULE_ENCODER_BLOCKS;
        if (blocks && strncmp(entry->name, name, length) == 0 && entry->name[length] == '.') {
            return true;
        }
    }
    return false;
}

/* The name of the largest module that contains this one but no block, in the arena. */
static const char *largest_module(const struct yk_model_config *config,
                                  const struct yk_module_entry *entry, struct yk_arena *arena)
{
    const char *base = entry->outside ? "" : yk_architecture_base(config);
    size_t length = strcspn(entry->name, ".");
    while (entry->name[length] == '.' &&
           contains_blocks(config->architecture, entry->name, length)) {
        length += 1 + strcspn(entry->name + length + 1, ".");
    }
    return yk_arena_format(arena, "%s%s%.*s", base, base[0] ? "." : "", (int)length, entry->name);
}

bool yk_architecture_list_layer_modules(const struct yk_model_config *config,
                                        enum yk_layer_role role, bool encoder,
                                        struct yk_arena *arena, const char **out, int32_t max)
{
    const bool first = encoder || config->encoder_layers == 0; /* the first embedding */
    int32_t blocks = 0;
    int32_t count = 0;
    for (const struct yk_module_entry *entry = config->architecture->modules;
         entry->role != YK_MODULE_END; entry++) {
        blocks += entry->role == YK_MODULE_BLOCKS || entry->role == YK_MODULE_ENCODER_BLOCKS;
        if (!belongs_to(entry, blocks, role, first) ||
            !yk_architecture_has_module(config, entry->role)) {
            continue;
        }
        const char *name = largest_module(config, entry, arena);
        if (!name) {
            return false;
        }
        const bool again = count > 0 && strcmp(out[count - 1], name) == 0;
        if (!again && count + 1 < max) {
            out[count++] = name;
        }
    }
    out[count] = NULL;
    return true;
}
