/*
 * Function: filters, tests, methods of values and global functions are entries of tables, with the
 * names of their parameters. A call binds positional and named arguments to parameters as Python
 * does.
 */
#ifndef YK_TOKENIZER_JINJA_FUNCTION_H
#define YK_TOKENIZER_JINJA_FUNCTION_H

#include "tokenizer/jinja/value.h"

enum {
    YK_JINJA_MAX_PARAMETERS = 6
};

struct yk_jinja_call {
    struct yk_jinja_run *run;
    struct yk_jinja_value subject; /* what is filtered, what is tested, the object of a method */
    struct yk_jinja_value values[YK_JINJA_MAX_PARAMETERS]; /* absent: not given */
    const struct yk_jinja_arguments *arguments;            /* for functions with any arguments */
};

struct yk_jinja_function {
    const char *name;
    /* NULL: Python or jinja2 has it, but it is not supported. */
    yk_status (*call)(struct yk_jinja_call *call, struct yk_jinja_value *out);
    const char *parameters[YK_JINJA_MAX_PARAMETERS];
    int32_t required; /* so many of the parameters must be given */
    bool any;         /* has any arguments: `arguments` is used instead of `values` */
    bool unsafe;      /* would change its object, which the sandbox of jinja2 refuses */
    bool no_names;    /* arguments cannot be given by name */
    bool is_value;    /* no method but a value, which is not supported: reading it fails */
};

struct yk_jinja_function_table {
    const struct yk_jinja_function *functions;
    size_t count;
};

#define YK_JINJA_FUNCTION_TABLE(array)                                                             \
    {                                                                                              \
        .functions = (array), .count = sizeof(array) / sizeof *(array)                             \
    }

/* The tables that filters such as map, and attributes of values, look up names in. */
struct yk_jinja_library {
    const struct yk_jinja_function *(*find_filter)(const char *name, size_t length);
    const struct yk_jinja_function *(*find_test)(const char *name, size_t length);
    const struct yk_jinja_function *(*find_method)(enum yk_jinja_kind kind, const char *name,
                                                   size_t length);
};

/* Returns the function with this name, or NULL. */
const struct yk_jinja_function *yk_jinja_function_find(const struct yk_jinja_function_table *table,
                                                       const char *name, size_t length);

/* Calls a function for `subject` with arguments. */
yk_status yk_jinja_function_call(struct yk_jinja_run *run, const struct yk_jinja_function *function,
                                 struct yk_jinja_value subject,
                                 const struct yk_jinja_arguments *arguments,
                                 struct yk_jinja_value *out) YK_MUST_USE;

/* Makes a value of a function and its object. */
yk_status yk_jinja_function_bind(struct yk_jinja_run *run, const struct yk_jinja_function *function,
                                 struct yk_jinja_value object,
                                 struct yk_jinja_value *out) YK_MUST_USE;

/* Read a bound argument. If it was not given, `*out` is not changed. Fail if it has another type.
 * yk_jinja_function_get_string() sets `*out` to NULL for none. */
yk_status yk_jinja_function_get_integer(const struct yk_jinja_call *call, int index,
                                        int64_t *out) YK_MUST_USE;
yk_status yk_jinja_function_get_string(const struct yk_jinja_call *call, int index,
                                       const struct yk_jinja_string **out) YK_MUST_USE;
/* Reads the truth of an argument. */
bool yk_jinja_function_get_truth(const struct yk_jinja_call *call, int index, bool otherwise);

#endif
