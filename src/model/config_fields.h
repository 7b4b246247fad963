/*
 * Config fields: how the numbers of a config.json become those of a config, as rows of a table.
 * Each architecture has such tables, since the same number goes by several names ("n_embd",
 * "hidden_size", "d_model"). Keys in none of the tables are ignored.
 */
#ifndef YK_MODEL_CONFIG_FIELDS_H
#define YK_MODEL_CONFIG_FIELDS_H

#include "base/json.h"
#include "base/status.h"
#include "model/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_FIELD_KEYS = 2,
    YK_FIELD_REQUIRED = 0, /* a preset: the key must be there */
    YK_FIELD_DERIVED =
        -1, /* a preset: 0 where the key is missing or null; the reader fills it in */
};

struct yk_config_field {
    const char *keys[YK_FIELD_KEYS]; /* its name, and the framework's alias, which goes before it */
    const char *what;                /* "the width of the model" */
    int64_t preset;                  /* where the key is missing or null, or one of the above */
    size_t offset;                   /* of an int64_t in the config */
};

struct yk_config_flag {
    const char *key;
    bool preset;   /* where the key is missing or null */
    size_t offset; /* of a bool in the config */
};

struct yk_config_field_table {
    const struct yk_config_field *fields;
    size_t field_count;
    const struct yk_config_flag *flags;
    size_t flag_count;
};

#define YK_CONFIG_OFFSET(member) offsetof(struct yk_model_config, member)

/* Rows for a member of the config; the keys are one or two strings. */
#define YK_FIELD(member, preset, what, ...)                                                        \
    {                                                                                              \
        {__VA_ARGS__}, what, preset, YK_CONFIG_OFFSET(member)                                      \
    }
#define YK_FLAG(member, key, preset)                                                               \
    {                                                                                              \
        key, preset, YK_CONFIG_OFFSET(member)                                                      \
    }

#define YK_FIELD_TABLE(field_rows, flag_rows)                                                      \
    {                                                                                              \
        field_rows, sizeof(field_rows) / sizeof((field_rows)[0]), flag_rows,                       \
            sizeof(flag_rows) / sizeof((flag_rows)[0])                                             \
    }

/* Sizes are whole numbers from 1 to 2^40. */
yk_status yk_config_fields_read(const struct yk_config_field_table *table,
                                const struct yk_json *json,
                                struct yk_model_config *config) YK_MUST_USE;

/* Whether the string at `key` is `name`; no where the key is missing or null. */
yk_status yk_config_fields_read_match(const struct yk_json *json, const char *key, const char *name,
                                      bool *out) YK_MUST_USE;

/*
 * The activation between the feed-forward's linears: sets `relu`, `gelu_erf` and `silu`, or
 * `not_trained` to `what` where it is none of those nor GELU by tanh. `preset` counts where the key
 * is missing or null.
 */
yk_status yk_config_fields_read_activation(const struct yk_json *json, const char *key,
                                           const char *preset, const char *what,
                                           struct yk_model_config *config) YK_MUST_USE;

/* The ids of tokens. Where a key is missing or null, or its number no token of all vocabularies,
 * the id is not known. */
yk_status yk_config_fields_read_token_ids(const struct yk_json *json,
                                          struct yk_model_config *config) YK_MUST_USE;

/* A flag, or `preset` where the key is missing or null. */
yk_status yk_config_fields_read_flag(const struct yk_json *json, const char *key, bool preset,
                                     bool *out) YK_MUST_USE;

/* A number above 0, or `preset` where the key is missing or null. */
yk_status yk_config_fields_read_number(const struct yk_json *json, const char *key, double preset,
                                       double *out) YK_MUST_USE;

/* Fails where `key` is true: "…" is true; `why`. */
yk_status yk_config_fields_refuse(const struct yk_json *json, const char *key,
                                  const char *why) YK_MUST_USE;

/*
 * Fails unless the size at offset `part` divides the one at offset `whole`; the message calls both
 * by the keys the file has for them.
 */
yk_status yk_config_fields_check_divides(const struct yk_config_field_table *table,
                                         const struct yk_json *json,
                                         const struct yk_model_config *config, size_t part,
                                         size_t whole) YK_MUST_USE;

#endif
