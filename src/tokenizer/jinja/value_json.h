/* Value JSON: values from JSON documents, and json.dumps() of Python. */
#ifndef YK_TOKENIZER_JINJA_VALUE_JSON_H
#define YK_TOKENIZER_JINJA_VALUE_JSON_H

#include "tokenizer/jinja/value.h"

#include "base/json.h"
#include "base/text.h"

/* Makes the value of a JSON node. Strings are not copied: the document must outlive the run. */
yk_status yk_jinja_value_json_read(struct yk_jinja_run *run, const struct yk_json *node,
                                   struct yk_jinja_value *out) YK_MUST_USE;

struct yk_jinja_json_style {
    bool escape_non_ascii;
    bool sort_keys;
    const struct yk_jinja_string *indent; /* NULL: all in one line */
    const struct yk_jinja_string *item_separator;
    const struct yk_jinja_string *key_separator;
};

/* Appends the value as JSON. Fails if the value, or a key of a dict, has no form in JSON. */
yk_status yk_jinja_value_json_write(struct yk_jinja_run *run, struct yk_jinja_value value,
                                    const struct yk_jinja_json_style *style,
                                    struct yk_text *out) YK_MUST_USE;

#endif
