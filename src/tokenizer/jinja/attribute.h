/*
 * Attribute: obj.name, obj[key], obj[start:stop:step] and `in`, with jinja2's rules: obj.name is an
 * attribute or method of Python's, else an item; obj[key] is an item, else an attribute; what is
 * missing is undefined.
 */
#ifndef YK_TOKENIZER_JINJA_ATTRIBUTE_H
#define YK_TOKENIZER_JINJA_ATTRIBUTE_H

#include "tokenizer/jinja/function.h"

/* `method` is the method with this name for the kind of `object`, or NULL. */
yk_status yk_jinja_attribute_get(struct yk_jinja_run *run, struct yk_jinja_value object,
                                 const struct yk_jinja_string *name,
                                 const struct yk_jinja_function *method,
                                 struct yk_jinja_value *out) YK_MUST_USE;

yk_status yk_jinja_attribute_get_item(struct yk_jinja_run *run, struct yk_jinja_value object,
                                      struct yk_jinja_value key,
                                      struct yk_jinja_value *out) YK_MUST_USE;

/* Sets `*out` to whether `container` contains `item`. */
yk_status yk_jinja_attribute_contains(struct yk_jinja_run *run, struct yk_jinja_value container,
                                      struct yk_jinja_value item, bool *out) YK_MUST_USE;

/* Makes the value of an attribute path such as "function.name" or 0, as filters have it. An item
 * that is undefined becomes `otherwise`, unless that is absent or none. */
yk_status yk_jinja_attribute_get_path(struct yk_jinja_run *run, struct yk_jinja_value object,
                                      struct yk_jinja_value path, struct yk_jinja_value otherwise,
                                      struct yk_jinja_value *out) YK_MUST_USE;

#endif
