/* Output: what a template has written, and which parts of it {% generation %} blocks wrote. */
#ifndef YK_TOKENIZER_JINJA_OUTPUT_H
#define YK_TOKENIZER_JINJA_OUTPUT_H

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/* A part of the output, in bytes. */
struct yk_jinja_span {
    size_t begin;
    size_t end;
};

/* Initialize with {0} and free with yk_jinja_output_free(). A second rendering into the same output
 * replaces the first. */
struct yk_jinja_output {
    struct yk_text text;
    struct yk_jinja_span *generations; /* what {% generation %} blocks wrote, in that order */
    int64_t generation_count;
    int64_t generation_capacity;
    int64_t steps; /* that the rendering has taken, as its limit counts them; also if it failed */
};

void yk_jinja_output_free(struct yk_jinja_output *output);

/* Notes that a generation of `characters` characters begins at the current end of the text. Its end
 * is not known before yk_jinja_output_finish(): inside a macro the text does not grow yet. */
yk_status yk_jinja_output_add_generation(struct yk_jinja_output *output,
                                         int64_t characters) YK_MUST_USE;

/* Finds the ends of the generations, in bytes. */
void yk_jinja_output_finish(struct yk_jinja_output *output);

#endif
