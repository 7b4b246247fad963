/*
 * Syntax: the tree of a parsed template. It belongs to the arena of the template and is never
 * changed after parsing, so that threads can share it.
 */
#ifndef YK_TOKENIZER_JINJA_SYNTAX_H
#define YK_TOKENIZER_JINJA_SYNTAX_H

#include "tokenizer/jinja/function.h"
#include "tokenizer/jinja/operation.h"

#include "base/name_index.h"

enum yk_jinja_expression_kind {
    YK_JINJA_CONSTANT,
    YK_JINJA_NAME,          /* name */
    YK_JINJA_LIST_DISPLAY,  /* items */
    YK_JINJA_TUPLE_DISPLAY, /* items */
    YK_JINJA_DICT_DISPLAY,  /* items: key, value, key, value … */
    YK_JINJA_CONDITION,     /* first if second else third; third may be NULL */
    YK_JINJA_OR,            /* first, second */
    YK_JINJA_AND,
    YK_JINJA_NOT,           /* first */
    YK_JINJA_COMPARISON,    /* first; items with comparisons */
    YK_JINJA_ARITHMETIC,    /* first, second, operator */
    YK_JINJA_CONCATENATION, /* items */
    YK_JINJA_SIGN,          /* first; negative */
    YK_JINJA_ATTRIBUTE,     /* first; attribute, methods */
    YK_JINJA_ITEM,          /* first, second */
    YK_JINJA_SLICE_DISPLAY, /* first, second, third; each may be NULL */
    YK_JINJA_CALL,          /* first; arguments */
    YK_JINJA_FILTER,        /* first (NULL: the text of a block); function, attribute, arguments */
    YK_JINJA_TEST,          /* first; function, attribute, arguments */
    YK_JINJA_NAMESPACE_REFERENCE, /* name, attribute; only as a target */
    YK_JINJA_EXPRESSION_KIND_COUNT
};

enum yk_jinja_comparison {
    YK_JINJA_COMPARE_LESS,
    YK_JINJA_COMPARE_LESS_OR_EQUAL,
    YK_JINJA_COMPARE_GREATER,
    YK_JINJA_COMPARE_GREATER_OR_EQUAL,
    YK_JINJA_COMPARE_EQUAL,
    YK_JINJA_COMPARE_NOT_EQUAL,
    YK_JINJA_COMPARE_IN,
    YK_JINJA_COMPARE_NOT_IN
};

struct yk_jinja_argument_list {
    struct yk_jinja_expression **values; /* positional, then named */
    const struct yk_jinja_string **names;
    int32_t positional;
    int32_t named;
    struct yk_jinja_expression *more_positional; /* *expression, or NULL */
    struct yk_jinja_expression *more_named;      /* **expression, or NULL */
};

struct yk_jinja_expression {
    enum yk_jinja_expression_kind kind;
    int32_t line;
    int32_t depth; /* of the tree below */
    int32_t name;  /* number in the names of the template */
    union {
        enum yk_jinja_operator operator;
        bool negative;
        enum yk_jinja_comparison *comparisons;
        struct yk_jinja_value constant;
        const struct yk_jinja_function *function; /* NULL: unknown */
        const struct yk_jinja_function **methods; /* by kind of the object; NULL: none */
    } as;
    const struct yk_jinja_string *attribute; /* also the name of a filter or test */
    struct yk_jinja_expression *first;
    struct yk_jinja_expression *second;
    struct yk_jinja_expression *third;
    struct yk_jinja_expression **items;
    int32_t item_count;
    const struct yk_jinja_argument_list *arguments;
};

enum yk_jinja_statement_kind {
    YK_JINJA_TEXT,         /* text */
    YK_JINJA_PRINT,        /* expression */
    YK_JINJA_FOR,          /* target, expression, condition, body, otherwise */
    YK_JINJA_IF,           /* expression, body, otherwise */
    YK_JINJA_SET,          /* target, expression */
    YK_JINJA_SET_BLOCK,    /* target, expression (filters, or NULL), body */
    YK_JINJA_MACRO,        /* name, macro */
    YK_JINJA_CALL_BLOCK,   /* expression (a call), macro */
    YK_JINJA_FILTER_BLOCK, /* expression (filters), body */
    YK_JINJA_WITH,         /* targets, values, body */
    YK_JINJA_GENERATION,   /* body */
    YK_JINJA_BLOCK,        /* body */
    YK_JINJA_BREAK,
    YK_JINJA_CONTINUE,
    YK_JINJA_STATEMENT_KIND_COUNT
};

struct yk_jinja_macro {
    const struct yk_jinja_string *name; /* NULL: the body of {% call %} */
    const struct yk_jinja_string **parameters;
    int32_t *parameter_names; /* their numbers in the names of the template */
    int32_t parameter_count;
    struct yk_jinja_expression **defaults; /* of the last parameters */
    int32_t default_count;
    bool uses_caller; /* the body has these names */
    bool uses_kwargs;
    bool uses_varargs;
    const struct yk_jinja_statement *body;
};

struct yk_jinja_statement {
    enum yk_jinja_statement_kind kind;
    int32_t line;
    struct yk_jinja_statement *next;
    struct yk_jinja_statement *body;
    struct yk_jinja_statement *otherwise; /* else, elif */
    const struct yk_jinja_string *text;
    struct yk_jinja_expression *target;
    struct yk_jinja_expression *expression;
    struct yk_jinja_expression *condition;
    struct yk_jinja_macro *macro;
    struct yk_jinja_expression **targets;
    struct yk_jinja_expression **values;
    int32_t count; /* of targets and values */
    int32_t name;
    bool recursive; /* for */
    bool scoped;    /* block */
};

/* The names that have a meaning of their own. */
enum yk_jinja_known_name {
    YK_JINJA_NAME_LOOP,
    YK_JINJA_NAME_CALLER,
    YK_JINJA_NAME_KWARGS,
    YK_JINJA_NAME_VARARGS,
    YK_JINJA_KNOWN_NAME_COUNT
};

struct yk_jinja_syntax {
    struct yk_arena *arena; /* not owned */
    const char *source_name;
    struct yk_name_index *names; /* of variables; the first are the known names */
    const struct yk_jinja_statement *body;
    const bool *hidden; /* by name: undefined until the template sets it */
    bool has_generation;
};

enum {
    YK_JINJA_MAX_SYNTAX_DEPTH = 500 /* of expressions */
};

#endif
