#include "base/json_node.h"

#include <jansson.h>

/* A node is a json_t, as in base/json.c. */
static json_t *node_of(const struct yk_json *node)
{
    return (json_t *)node;
}

static struct yk_json *wrap(json_t *node)
{
    return (struct yk_json *)node;
}

struct yk_json *yk_json_node_new_object(void)
{
    return wrap(json_object());
}

struct yk_json *yk_json_node_new_array(void)
{
    return wrap(json_array());
}

struct yk_json *yk_json_node_new_string(const char *text, size_t length)
{
    return wrap(json_stringn(text, length));
}

struct yk_json *yk_json_node_new_bool(bool value)
{
    return wrap(json_boolean(value));
}

struct yk_json *yk_json_node_new_null(void)
{
    return wrap(json_null());
}

struct yk_json *yk_json_node_share(const struct yk_json *node)
{
    return wrap(json_incref(node_of(node)));
}

bool yk_json_node_set(struct yk_json *object, const char *key, const struct yk_json *value)
{
    return json_object_set(node_of(object), key, node_of(value)) == 0;
}

bool yk_json_node_set_new(struct yk_json *object, const char *key, struct yk_json *value)
{
    return json_object_set_new(node_of(object), key, node_of(value)) == 0;
}

bool yk_json_node_append(struct yk_json *array, const struct yk_json *value)
{
    return json_array_append(node_of(array), node_of(value)) == 0;
}

bool yk_json_node_append_new(struct yk_json *array, struct yk_json *value)
{
    return json_array_append_new(node_of(array), node_of(value)) == 0;
}

static int append_bytes(const char *bytes, size_t length, void *out)
{
    yk_text_add_bytes(out, bytes, length);
    return 0;
}

void yk_json_node_append_text(const struct yk_json *node, struct yk_text *out)
{
    if (json_dump_callback(node_of(node), append_bytes, out, JSON_INDENT(2) | JSON_ENCODE_ANY) !=
        0) {
        out->failed = true; /* the library has no memory */
    }
}
