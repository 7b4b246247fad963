/*
 * Config fields: tables that map the keys of a config.json to the members of a config. Each
 * architecture has its own tables, because the keys differ between architectures ("n_embd",
 * "hidden_size", "d_model"). Keys that are not in a table are ignored.
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
    YK_CONFIG_FIELD_MAX_KEYS = 2,
    /* Special values of `preset`: */
    YK_CONFIG_FIELD_REQUIRED = 0, /* the key must be present */
    YK_CONFIG_FIELD_DERIVED = -1, /* if the key is missing, the architecture computes the size */
};

struct yk_config_field {
    const char *keys[YK_CONFIG_FIELD_MAX_KEYS]; /* the key and its alias; the alias may be
                                                   NULL. If a file has both, the alias is used */
    const char *what; /* description for messages: "the width of the model" */
    int64_t preset; /* default if the key is missing or null, or one of the special values above */
    size_t offset;  /* offset of an int64_t member in the config */
};

struct yk_config_flag {
    const char *key;
    bool preset;   /* default if the key is missing or null */
    size_t offset; /* offset of a bool member in the config */
};

struct yk_config_field_table {
    const struct yk_config_field *fields;
    size_t field_count;
    const struct yk_config_flag *flags;
    size_t flag_count;
};

#define YK_MODEL_CONFIG_OFFSETOF(member) offsetof(struct yk_model_config, member)

/* Rows of the tables, each for one member of the config. The variable arguments are the key and, if
 * there is one, its alias. */
#define YK_CONFIG_FIELD_ROW(member, preset, what, ...)                                             \
    {                                                                                              \
        {__VA_ARGS__}, what, preset, YK_MODEL_CONFIG_OFFSETOF(member)                              \
    }
#define YK_CONFIG_FLAG_ROW(member, key, preset)                                                    \
    {                                                                                              \
        key, preset, YK_MODEL_CONFIG_OFFSETOF(member)                                              \
    }

#define YK_CONFIG_FIELD_TABLE(field_rows, flag_rows)                                               \
    {                                                                                              \
        field_rows, sizeof(field_rows) / sizeof((field_rows)[0]), flag_rows,                       \
            sizeof(flag_rows) / sizeof((flag_rows)[0])                                             \
    }

/* Sets the members of a config from a config.json. Sizes must be integers from 1 to 2^40. */
yk_status yk_config_fields_read(const struct yk_config_field_table *table,
                                const struct yk_json *json,
                                struct yk_model_config *config) YK_MUST_USE;

/* Returns whether `name` is one of `names`. `names` ends with NULL. Returns false if `name` is
 * NULL. */
bool yk_config_fields_names_contain(const char *name, const char *const *names);

/* Sets `*out` to whether the string at `key` equals `name`. A missing or null string equals no
 * name. */
yk_status yk_config_fields_string_equals(const struct yk_json *json, const char *key,
                                         const char *name, bool *out) YK_MUST_USE;

/*
 * Reads the activation of the feed-forward and sets `relu`, `gelu_erf` and `silu`. If the
 * activation is not supported, sets `not_trained` to `what`. `preset` is the name of the default
 * activation.
 */
yk_status yk_config_fields_read_activation(const struct yk_json *json, const char *key,
                                           const char *preset, const char *what,
                                           struct yk_model_config *config) YK_MUST_USE;

/* Reads the ids of special tokens. An id is unknown if it is missing, null, negative, or not less
 * than the size of the vocabulary. In an encoder–decoder, this is the smaller of both vocabularies;
 * for decoder_start, it is the target vocabulary. */
yk_status yk_config_fields_read_token_ids(const struct yk_json *json,
                                          struct yk_model_config *config) YK_MUST_USE;

/* Reads a flag. `preset` is the default. */
yk_status yk_config_fields_read_flag(const struct yk_json *json, const char *key, bool preset,
                                     bool *out) YK_MUST_USE;

/* Reads a positive number. `preset` is the default. */
yk_status yk_config_fields_read_number(const struct yk_json *json, const char *key, double preset,
                                       double *out) YK_MUST_USE;

/* Fails if the flag `key` is true. `why` is the end of the error message. */
yk_status yk_config_fields_check_flag_is_false(const struct yk_json *json, const char *key,
                                               const char *why) YK_MUST_USE;

/* Fails unless the size at offset `part` divides the size at offset `whole`. The error message
 * contains the keys that the file uses for both sizes. */
yk_status yk_config_fields_check_divisible(const struct yk_config_field_table *table,
                                           const struct yk_json *json,
                                           const struct yk_model_config *config, size_t part,
                                           size_t whole) YK_MUST_USE;

#endif
