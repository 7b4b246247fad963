/* String format: the two ways in which Python formats strings, "%s" % value and "{}".format(). */
#ifndef YK_TOKENIZER_JINJA_STRING_FORMAT_H
#define YK_TOKENIZER_JINJA_STRING_FORMAT_H

#include "tokenizer/jinja/value.h"

/* Formats with % a tuple of values, a dict of named values, or one value. */
yk_status yk_jinja_string_format_percent(struct yk_jinja_run *run,
                                         const struct yk_jinja_string *format,
                                         struct yk_jinja_value values,
                                         struct yk_jinja_value *out) YK_MUST_USE;

/* Formats with {} the arguments of str.format(). */
yk_status yk_jinja_string_format_braces(struct yk_jinja_run *run,
                                        const struct yk_jinja_string *format,
                                        const struct yk_jinja_arguments *arguments,
                                        struct yk_jinja_value *out) YK_MUST_USE;

#endif
