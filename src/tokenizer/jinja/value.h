/*
 * Value: what a template computes with. Values have the meaning of Python's: strings are sequences
 * of code points, dicts keep the order of insertion, lists and dicts cannot be changed. A value is
 * small and is passed by value; what it points to belongs to the arena of a run or of a template.
 */
#ifndef YK_TOKENIZER_JINJA_VALUE_H
#define YK_TOKENIZER_JINJA_VALUE_H

#include "tokenizer/jinja/run.h"

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum yk_jinja_kind {
    YK_JINJA_ABSENT, /* no value: an argument that is not given, a name that is not set */
    YK_JINJA_UNDEFINED,
    YK_JINJA_NONE,
    YK_JINJA_BOOL,
    YK_JINJA_INT,
    YK_JINJA_FLOAT,
    YK_JINJA_STRING,
    YK_JINJA_LIST,
    YK_JINJA_TUPLE,
    YK_JINJA_DICT,
    YK_JINJA_VIEW, /* dict.keys(), dict.values(), dict.items() */
    YK_JINJA_RANGE,
    YK_JINJA_SLICE,    /* start:stop:step between brackets */
    YK_JINJA_ITERATOR, /* a generator or a reversed list */
    YK_JINJA_NAMESPACE,
    YK_JINJA_LOOP,
    YK_JINJA_CALLABLE, /* a macro, a method of a value, or a global function */
    YK_JINJA_CYCLER,
    YK_JINJA_JOINER,
    YK_JINJA_KIND_COUNT
};

/* Memory to which strings are appended. */
struct yk_jinja_buffer {
    size_t used;
    size_t capacity;
    char bytes[];
};

/* A string: valid UTF-8, which may contain zero bytes. */
struct yk_jinja_string {
    const char *bytes;
    size_t length;
    int64_t characters; /* -1: not counted yet */
    uint64_t hash;      /* 0: not computed yet */
    /* NULL: none. If the string ends where the used part of the buffer ends, it can be extended in
     * place, so that appending to a string takes time proportional to what is appended. */
    struct yk_jinja_buffer *buffer;
    bool markup; /* marked as safe HTML: what is appended is escaped */
};

struct yk_jinja_value {
    enum yk_jinja_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double number;
        const struct yk_jinja_string *string;
        const struct yk_jinja_list *list; /* LIST and TUPLE */
        struct yk_jinja_dict *dict;       /* DICT and NAMESPACE */
        const struct yk_jinja_view *view;
        const struct yk_jinja_range *range;
        const struct yk_jinja_slice *slice;
        struct yk_jinja_iterator *iterator;
        struct yk_jinja_loop *loop;
        const struct yk_jinja_callable *callable;
        struct yk_jinja_cycler *cycler;
        const struct yk_jinja_undefined *undefined; /* NULL: no name is known */
    } as;
};

struct yk_jinja_list {
    struct yk_jinja_value *items;
    int64_t count;
    bool group; /* a tuple of the filter groupby, with the attributes grouper and list */
};

/* Why a value is undefined, for the message of what uses it. */
struct yk_jinja_undefined {
    const char *hint;  /* a sentence, or NULL */
    const char *owner; /* the type of the value whose attribute is missing, or NULL */
    const char *name;  /* of the variable or the attribute */
    size_t name_length;
};

enum yk_jinja_view_kind {
    YK_JINJA_VIEW_KEYS,
    YK_JINJA_VIEW_VALUES,
    YK_JINJA_VIEW_ITEMS
};

struct yk_jinja_view {
    enum yk_jinja_view_kind kind;
    struct yk_jinja_dict *dict;
};

struct yk_jinja_range {
    int64_t start;
    int64_t stop;
    int64_t step;
    int64_t count;
};

struct yk_jinja_slice {
    struct yk_jinja_value start;
    struct yk_jinja_value stop;
    struct yk_jinja_value step;
};

struct yk_jinja_cycler {
    const struct yk_jinja_list *items; /* for a joiner: one item, the separator */
    int64_t position;
};

/* The named arguments of a call come behind the positional ones. */
struct yk_jinja_arguments {
    const struct yk_jinja_value *values;
    const struct yk_jinja_string *const *names; /* of the values from `positional` on */
    int64_t positional;
    int64_t named;
};

/* Something that can be called. `self` is what `call` needs: a macro, the object of a method. */
struct yk_jinja_callable {
    yk_status (*call)(struct yk_jinja_run *run, const struct yk_jinja_callable *callable,
                      const struct yk_jinja_arguments *arguments, struct yk_jinja_value *out);
    const char *name;
    bool is_macro;
    struct yk_jinja_value self; /* of a macro: its name, or none */
    const void *data;
};

static inline struct yk_jinja_value yk_jinja_value_none(void)
{
    return (struct yk_jinja_value){.kind = YK_JINJA_NONE};
}

static inline struct yk_jinja_value yk_jinja_value_bool(bool boolean)
{
    return (struct yk_jinja_value){.kind = YK_JINJA_BOOL, .as.boolean = boolean};
}

static inline struct yk_jinja_value yk_jinja_value_int(int64_t integer)
{
    return (struct yk_jinja_value){.kind = YK_JINJA_INT, .as.integer = integer};
}

static inline struct yk_jinja_value yk_jinja_value_float(double number)
{
    return (struct yk_jinja_value){.kind = YK_JINJA_FLOAT, .as.number = number};
}

static inline struct yk_jinja_value yk_jinja_value_string(const struct yk_jinja_string *string)
{
    return (struct yk_jinja_value){.kind = YK_JINJA_STRING, .as.string = string};
}

static inline bool yk_jinja_value_is_string(struct yk_jinja_value value, const char *expected)
{
    return value.kind == YK_JINJA_STRING && value.as.string->length == strlen(expected) &&
           memcmp(value.as.string->bytes, expected, value.as.string->length) == 0;
}

/* Returns whether two strings consist of the same bytes. */
static inline bool yk_jinja_value_same_string(const struct yk_jinja_string *a,
                                              const struct yk_jinja_string *b)
{
    return a == b || (a->length == b->length &&
                      (a->bytes == b->bytes || memcmp(a->bytes, b->bytes, a->length) == 0));
}

/* Sets `*out` to whether two strings consist of the same bytes, and counts the steps of this. */
static inline yk_status yk_jinja_value_compare_strings(struct yk_jinja_run *run,
                                                       const struct yk_jinja_string *a,
                                                       const struct yk_jinja_string *b, bool *out)
{
    *out = yk_jinja_value_same_string(a, b);
    return a->length == b->length ? yk_jinja_run_charge_bytes(run, a->length) : YK_OK;
}

/* Returns the number of characters, and remembers it in strings of a run. */
int64_t yk_jinja_value_count_characters(const struct yk_jinja_string *string);

/* Returns the name of the type as Python has it, for messages: "str", "dict" … */
const char *yk_jinja_value_type_name(struct yk_jinja_value value);

/* Makes a string of bytes that are not copied. Counts the steps of counting its characters, which
 * happens at most once. */
yk_status yk_jinja_value_new_string(struct yk_jinja_run *run, const char *bytes, size_t length,
                                    struct yk_jinja_value *out) YK_MUST_USE;

/* Makes a string of a copy of the bytes. */
yk_status yk_jinja_value_copy_string(struct yk_jinja_run *run, const char *bytes, size_t length,
                                     struct yk_jinja_value *out) YK_MUST_USE;

/* Makes a string of `length` bytes that the caller writes to `*bytes`. */
yk_status yk_jinja_value_reserve_string(struct yk_jinja_run *run, size_t length, char **bytes,
                                        struct yk_jinja_value *out) YK_MUST_USE;

/* Appends `b` to `a`; `a` itself stays as it is. The characters of the result are counted. */
yk_status yk_jinja_value_concatenate(struct yk_jinja_run *run, const struct yk_jinja_string *a,
                                     const struct yk_jinja_string *b,
                                     struct yk_jinja_value *out) YK_MUST_USE;

/* Makes a list or a tuple of `count` items, which are absent until the caller sets them. */
yk_status yk_jinja_value_new_list(struct yk_jinja_run *run, enum yk_jinja_kind kind, int64_t count,
                                  struct yk_jinja_value **items,
                                  struct yk_jinja_value *out) YK_MUST_USE;

/* Makes a tuple of two values. */
yk_status yk_jinja_value_new_pair(struct yk_jinja_run *run, struct yk_jinja_value first,
                                  struct yk_jinja_value second,
                                  struct yk_jinja_value *out) YK_MUST_USE;

/* A list while it is built. Initialize with {0}. */
struct yk_jinja_list_builder {
    struct yk_jinja_value *items;
    int64_t count;
    int64_t capacity;
};

yk_status yk_jinja_value_append(struct yk_jinja_run *run, struct yk_jinja_list_builder *builder,
                                struct yk_jinja_value item) YK_MUST_USE;
yk_status yk_jinja_value_finish_list(struct yk_jinja_run *run,
                                     const struct yk_jinja_list_builder *builder,
                                     enum yk_jinja_kind kind,
                                     struct yk_jinja_value *out) YK_MUST_USE;

/* Makes the undefined value of a missing attribute, or of an error that `hint` describes. */
yk_status yk_jinja_value_new_undefined(struct yk_jinja_run *run,
                                       struct yk_jinja_undefined undefined,
                                       struct yk_jinja_value *out) YK_MUST_USE;

/* Fails because an undefined value is used. */
yk_status yk_jinja_value_fail_undefined(struct yk_jinja_value value) YK_MUST_USE;

/* Returns the integer of an integer or a boolean. */
static inline bool yk_jinja_value_get_integer(struct yk_jinja_value value, int64_t *out)
{
    if (value.kind == YK_JINJA_INT) {
        *out = value.as.integer;
        return true;
    }
    if (value.kind == YK_JINJA_BOOL) {
        *out = value.as.boolean;
        return true;
    }
    return false;
}

/* Returns the number of an integer, a boolean or a float. */
static inline bool yk_jinja_value_get_number(struct yk_jinja_value value, double *out)
{
    int64_t integer = 0;
    if (value.kind == YK_JINJA_FLOAT) {
        *out = value.as.number;
        return true;
    }
    if (yk_jinja_value_get_integer(value, &integer)) {
        *out = (double)integer;
        return true;
    }
    return false;
}

#endif
