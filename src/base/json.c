#include "base/json.h"

#include "base/nearest.h"

#include <jansson.h>
#include <string.h>

/* struct yk_json is never defined: a node is a json_t behind another name, so that no other file
 * depends on the JSON library. */
static json_t *node_of(const struct yk_json *node)
{
    return (json_t *)node;
}

static const struct yk_json *wrap(const json_t *node)
{
    return (const struct yk_json *)node;
}

/* What is wrong, without the library's own names and without what stands there: the file may be one
 * that somebody else's file named, and no message hands its content on. */
static const char *fault_of(json_error_t *error)
{
    char *quotation = strstr(error->text, " near '");
    switch (json_error_code(error)) {
    case json_error_null_character:
        return "\\u0000 is not allowed in a string";
    case json_error_null_byte_in_key:
        return "\\u0000 is not allowed in a name";
    default:
        if (quotation) {
            *quotation = '\0';
        }
        return error->text;
    }
}

yk_status yk_json_parse(const char *bytes, size_t length, struct yk_json **out)
{
    json_error_t error;
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    if (root) {
        *out = (struct yk_json *)root;
        return YK_OK;
    }
    /* The library does not say when it runs out of memory, but then it has no line either. */
    if (json_error_code(&error) == json_error_out_of_memory || error.line < 0) {
        return yk_fail_out_of_memory();
    }
    return yk_fail(YK_ERROR_INPUT, "line %d, column %d: broken JSON: %s", error.line, error.column,
                   fault_of(&error));
}

void yk_json_destroy(struct yk_json *root)
{
    json_decref(node_of(root));
}

const char *yk_json_kind(const struct yk_json *node)
{
    if (!node) {
        return "nothing";
    }
    switch (json_typeof(node_of(node))) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "nothing";
}

bool yk_json_is_object(const struct yk_json *node)
{
    return json_is_object(node_of(node));
}

bool yk_json_is_array(const struct yk_json *node)
{
    return json_is_array(node_of(node));
}

bool yk_json_is_null(const struct yk_json *node)
{
    return json_is_null(node_of(node));
}

const struct yk_json *yk_json_get(const struct yk_json *node, const char *key)
{
    return wrap(json_object_get(node_of(node), key));
}

bool yk_json_next_member(const struct yk_json *object, struct yk_json_member *member)
{
    json_t *node = node_of(object);
    void *place =
        member->place ? json_object_iter_next(node, member->place) : json_object_iter(node);
    if (!place) {
        return false;
    }
    *member = (struct yk_json_member){.name = json_object_iter_key(place),
                                      .value = wrap(json_object_iter_value(place)),
                                      .place = place};
    return true;
}

size_t yk_json_member_count(const struct yk_json *object)
{
    return json_object_size(node_of(object));
}

size_t yk_json_count(const struct yk_json *node)
{
    return json_array_size(node_of(node));
}

const struct yk_json *yk_json_at(const struct yk_json *node, size_t index)
{
    return wrap(json_array_get(node_of(node), index));
}

const char *yk_json_string(const struct yk_json *node)
{
    return json_string_value(node_of(node));
}

bool yk_json_number(const struct yk_json *node, double *out)
{
    if (!json_is_number(node_of(node))) {
        return false;
    }
    *out = json_number_value(node_of(node));
    return true;
}

bool yk_json_boolean(const struct yk_json *node, bool *out)
{
    if (!json_is_boolean(node_of(node))) {
        return false;
    }
    *out = json_is_true(node_of(node));
    return true;
}

yk_status yk_json_check_keys(const struct yk_json *object, const char *const *known, size_t count)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(node_of(object), key, value)
    {
        size_t i = 0;
        while (i < count && strcmp(known[i], key) != 0) {
            i++;
        }
        if (i < count) {
            continue;
        }
        const char *nearest = yk_nearest(key, known, count);
        if (nearest) {
            return yk_fail(YK_ERROR_INPUT, "unknown key \"%s\"; did you mean \"%s\"?", key,
                           nearest);
        }
        return yk_fail(YK_ERROR_INPUT, "unknown key \"%s\"", key);
    }
    return YK_OK;
}
