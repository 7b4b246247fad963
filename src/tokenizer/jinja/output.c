#include "tokenizer/jinja/output.h"

#include "base/utf8.h"

#include <stdlib.h>

void yk_jinja_output_free(struct yk_jinja_output *output)
{
    yk_text_free(&output->text);
    free(output->generations);
    *output = (struct yk_jinja_output){0};
}

yk_status yk_jinja_output_add_generation(struct yk_jinja_output *output, int64_t characters)
{
    if (output->generation_count == output->generation_capacity) {
        const int64_t capacity =
            output->generation_capacity > 0 ? output->generation_capacity * 2 : 16;
        struct yk_jinja_span *spans =
            realloc(output->generations, (size_t)capacity * sizeof *spans);
        YK_TRY_ALLOCATED(spans);
        output->generations = spans;
        output->generation_capacity = capacity;
    }
    output->generations[output->generation_count++] =
        (struct yk_jinja_span){.begin = output->text.length, .end = (size_t)characters};
    return YK_OK;
}

void yk_jinja_output_finish(struct yk_jinja_output *output)
{
    const char *bytes = yk_text_chars(&output->text);
    for (int64_t i = 0; i < output->generation_count; i++) {
        struct yk_jinja_span *span = &output->generations[i];
        size_t end = span->begin;
        for (size_t left = span->end; left > 0 && end < output->text.length; left--) {
            uint32_t character = 0;
            const size_t used = yk_utf8_decode(bytes + end, output->text.length - end, &character);
            end += used > 0 ? used : 1;
        }
        span->end = end;
    }
}
