/* Format spec: how Python writes one value in a format, such as the "8.2f" of "%8.2f" and
 * "{:8.2f}". */
#ifndef YK_TOKENIZER_JINJA_FORMAT_SPEC_H
#define YK_TOKENIZER_JINJA_FORMAT_SPEC_H

#include "tokenizer/jinja/value.h"

#include "base/text.h"
#include "base/utf8.h"

struct yk_jinja_format_spec {
    char fill[YK_UTF8_MAX_BYTES];
    size_t fill_length;
    char align; /* '<', '>', '^', '=' or '\0' */
    char sign;  /* '+', ' ' or '-' */
    bool alternate;
    bool grouped; /* with commas */
    int64_t width;
    int64_t precision; /* -1: none */
    char type;         /* '\0': none */
};

/* Appends a value. `percent` says whether the format is that of %, which is less strict about types
 * than that of {}. */
yk_status yk_jinja_format_spec_write(struct yk_jinja_run *run,
                                     const struct yk_jinja_format_spec *spec,
                                     struct yk_jinja_value value, bool percent,
                                     struct yk_text *out) YK_MUST_USE;

/* The errors of a format: it is broken, or it cannot write a value of this type. */
yk_status yk_jinja_format_spec_fail(void) YK_MUST_USE;
yk_status yk_jinja_format_spec_fail_type(char type, struct yk_jinja_value value) YK_MUST_USE;

#endif
