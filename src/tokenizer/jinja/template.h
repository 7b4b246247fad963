/*
 * Jinja template: a chat template of a Hugging Face model, parsed once and rendered for any number
 * of conversations. The output equals that of transformers' apply_chat_template(), whose
 * environment is jinja2's immutable sandbox with trim_blocks, lstrip_blocks, {% break %},
 * {% continue %}, {% generation %}, raise_exception(), strftime_now() and a tojson filter that does
 * not escape HTML. import, include and extends are not supported.
 *
 * A template comes from a file that nobody has checked: steps, depth, output and memory of a
 * rendering are limited, and so is the depth of what is parsed.
 *
 * Files of this folder, each uses only those above it:
 *
 *   output             what a template writes
 *   run                memory and limits of one rendering
 *   value, dict        values: numbers, strings, lists, ordered dictionaries …
 *   value_compare      Python's ==, <, truth and sorted()
 *   string             Python's strings: slices, search, split; string_case: upper, title …
 *   value_text         Python's str() and repr(); value_json: JSON to values and back
 *   iterator           iteration over any value, generators
 *   function           functions with named parameters: filters, tests, methods, globals
 *   loop               the variable of {% for %}
 *   attribute          attributes, items, slices, in
 *   operation          operators
 *   string_format      % and str.format(); format_spec: how they write one value
 *   library            tables of functions: *_filters, *_methods, tests, globals
 *   syntax             the syntax tree
 *   lexer, literal     from text to tokens
 *   parser             from tokens to the syntax tree
 *   template_analysis  what jinja2 decides when it compiles a template
 *   interpreter        variables (scope), expressions (evaluator), statements (executor)
 *   template           this interface
 */
#ifndef YK_TOKENIZER_JINJA_TEMPLATE_H
#define YK_TOKENIZER_JINJA_TEMPLATE_H

#include "tokenizer/jinja/output.h"

#include "base/json.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_jinja_template; /* immutable: any number of threads may share it */

/* Parses a template. Error messages begin with "NAME: line 3: ". */
yk_status yk_jinja_template_parse(const char *source, size_t length, const char *name,
                                  struct yk_jinja_template **out) YK_MUST_USE;
void yk_jinja_template_destroy(struct yk_jinja_template *parsed);

/* Returns whether the template has a {% generation %} block. */
bool yk_jinja_template_has_generation(const struct yk_jinja_template *parsed);

/* Returns whether the template reads a variable with this name. */
bool yk_jinja_template_has_variable(const struct yk_jinja_template *parsed, const char *name);

/* The limits of a rendering. 0 means: the default. */
struct yk_jinja_limits {
    int64_t max_steps;       /* expressions and statements; long strings count more. 50 million */
    int32_t max_depth;       /* nested expressions, statements and calls of macros. 2000 */
    size_t max_output_bytes; /* 64 MiB */
    size_t max_memory_bytes; /* of all values that the template makes. 512 MiB */
};

enum {
    YK_JINJA_MAX_LAYERS = 4
};

/* The variables of a rendering: the members of JSON objects. If several objects have a member with
 * the same name, the last object counts. Objects may be NULL. They must exist until the rendering
 * has ended. */
struct yk_jinja_variables {
    const struct yk_json *objects[YK_JINJA_MAX_LAYERS];
    int64_t unix_time_s; /* for strftime_now(), shown in the local time zone; 0: the current time */
};

/* Renders the template. `limits` may be NULL. Fails with YK_ERROR_INPUT if the template calls
 * raise_exception(), whose message is then part of the error message, if it does what jinja2
 * refuses, or if it exceeds a limit. Error messages begin with "NAME: line 3: ". */
yk_status yk_jinja_template_render(const struct yk_jinja_template *parsed,
                                   const struct yk_jinja_variables *variables,
                                   const struct yk_jinja_limits *limits,
                                   struct yk_jinja_output *out) YK_MUST_USE;

#endif
