/*
 * Config fields: tables that map the keys of a config.json to the members of a config. Each
 * architecture has its own table, because the keys differ between architectures ("n_embd",
 * "hidden_size", "d_model"). Keys that are not in a table are ignored.
 */
#ifndef YK_MODEL_CONFIG_FIELDS_H
#define YK_MODEL_CONFIG_FIELDS_H

#include "base/json.h"
#include "base/json_write.h"
#include "base/status.h"
#include "model/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yk_config_field_kind {
    YK_CONFIG_FIELD_SIZE,            /* int64_t from 1 to 2^40 */
    YK_CONFIG_FIELD_OPTIONAL_SIZE,   /* the same, or null, which is 0 */
    YK_CONFIG_FIELD_SIZE_OR_ZERO,    /* the same, or null or 0 */
    YK_CONFIG_FIELD_FLAG,            /* bool */
    YK_CONFIG_FIELD_NUMBER,          /* double above 0 */
    YK_CONFIG_FIELD_OPTIONAL_NUMBER, /* the same, or null, which is 0 */
};

enum {
    YK_CONFIG_FIELD_MAX_KEYS = 2,
    /* Special presets of sizes: */
    YK_CONFIG_FIELD_REQUIRED = 0, /* the key must be present */
    YK_CONFIG_FIELD_DERIVED = -1, /* if the key is missing, the architecture computes the size */
};

struct yk_config_field {
    enum yk_config_field_kind kind;
    size_t offset;    /* offset of the member in the config */
    double preset;    /* default if the key is missing; also if it is null, unless that means 0 */
    const char *what; /* description for messages: "the width of the model" */
    const char *keys[YK_CONFIG_FIELD_MAX_KEYS]; /* the key and its alias; the alias may be NULL. If
                                                   a file has both, the alias is used */
};

#define YK_MODEL_CONFIG_OFFSETOF(member) offsetof(struct yk_model_config, member)

/* Rows of the tables, each for one member of the config. The variable arguments are the key and, if
 * there is one, its alias. */
#define YK_CONFIG_SIZE(member, preset, what, ...)                                                  \
    {                                                                                              \
        YK_CONFIG_FIELD_SIZE, YK_MODEL_CONFIG_OFFSETOF(member), preset, what,                      \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define YK_CONFIG_OPTIONAL_SIZE(member, preset, what, key)                                         \
    {                                                                                              \
        YK_CONFIG_FIELD_OPTIONAL_SIZE, YK_MODEL_CONFIG_OFFSETOF(member), preset, what,             \
        {                                                                                          \
            key                                                                                    \
        }                                                                                          \
    }
#define YK_CONFIG_SIZE_OR_ZERO(member, preset, what, key)                                          \
    {                                                                                              \
        YK_CONFIG_FIELD_SIZE_OR_ZERO, YK_MODEL_CONFIG_OFFSETOF(member), preset, what,              \
        {                                                                                          \
            key                                                                                    \
        }                                                                                          \
    }
#define YK_CONFIG_FLAG(member, preset, key)                                                        \
    {                                                                                              \
        YK_CONFIG_FIELD_FLAG, YK_MODEL_CONFIG_OFFSETOF(member), preset, "",                        \
        {                                                                                          \
            key                                                                                    \
        }                                                                                          \
    }
#define YK_CONFIG_NUMBER(member, preset, key)                                                      \
    {                                                                                              \
        YK_CONFIG_FIELD_NUMBER, YK_MODEL_CONFIG_OFFSETOF(member), preset, "",                      \
        {                                                                                          \
            key                                                                                    \
        }                                                                                          \
    }
#define YK_CONFIG_OPTIONAL_NUMBER(member, preset, key)                                             \
    {                                                                                              \
        YK_CONFIG_FIELD_OPTIONAL_NUMBER, YK_MODEL_CONFIG_OFFSETOF(member), preset, "",             \
        {                                                                                          \
            key                                                                                    \
        }                                                                                          \
    }
#define YK_CONFIG_END                                                                              \
    {                                                                                              \
        .keys = { NULL }                                                                           \
    }

/* Sets the members of a config from a config.json. `fields` ends with a field without a key. */
yk_status yk_config_fields_read(const struct yk_config_field *fields, const struct yk_json *json,
                                struct yk_model_config *config) YK_MUST_USE;

/* Writes the first key of every field, with the value of its member. If several fields have the
 * same key, only the first of them is written. */
void yk_config_fields_write(const struct yk_config_field *fields,
                            const struct yk_model_config *config, struct yk_json_writer *json);

/* Writes a number with a point or an exponent, because 8 is an int in Python. */
void yk_config_fields_write_number(struct yk_json_writer *json, const char *key, double value);

/* Sets `*out` to whether the string at `key` equals `name`. A missing or null string equals no
 * name. */
yk_status yk_config_fields_string_equals(const struct yk_json *json, const char *key,
                                         const char *name, bool *out) YK_MUST_USE;

/* Reads the name of an activation. If it is missing or null, `*out` does not change. If it is
 * unknown, sets `*known` to false. */
yk_status yk_config_fields_read_activation(const struct yk_json *json, const char *key,
                                           enum yk_activation *out, bool *known) YK_MUST_USE;

/* Returns the name of an activation in config.json. */
const char *yk_config_fields_activation_name(enum yk_activation activation);

/* Reads the ids of special tokens. `ids` has the ids of the family, which a token has whose key is
 * missing. An id is unknown if it is null, negative, or not less than the size of the vocabulary.
 * In an encoder–decoder, this is the smaller of both vocabularies; for decoder_start, it is the
 * target vocabulary. */
yk_status yk_config_fields_read_token_ids(const struct yk_json *json,
                                          struct yk_model_config *config) YK_MUST_USE;

/* Reads a flag. `preset` is the default. */
yk_status yk_config_fields_read_flag(const struct yk_json *json, const char *key, bool preset,
                                     bool *out) YK_MUST_USE;

/* Reads a positive number. `preset` is the default. */
yk_status yk_config_fields_read_number(const struct yk_json *json, const char *key, double preset,
                                       double *out) YK_MUST_USE;

/* Reads a whole number, 1 or more. `preset` is the default; `what` describes the number in
 * messages. */
yk_status yk_config_fields_read_size(const struct yk_json *json, const char *key, int64_t preset,
                                     const char *what, int64_t *out) YK_MUST_USE;

/* Fails if the flag `key` is true. `why` is the end of the error message. */
yk_status yk_config_fields_check_flag_is_false(const struct yk_json *json, const char *key,
                                               const char *why) YK_MUST_USE;

/* Fails unless the size at offset `part` divides the size at offset `whole`. The error message
 * contains the keys that the file uses for both sizes. */
yk_status yk_config_fields_check_divisible(const struct yk_config_field *fields,
                                           const struct yk_json *json,
                                           const struct yk_model_config *config, size_t part,
                                           size_t whole) YK_MUST_USE;

#endif
