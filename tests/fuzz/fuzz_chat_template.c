/*
 * Fuzz target of chat templates: the bytes up to the first zero are a template, those behind it the
 * JSON object of its variables. Limits are small, so that every input ends soon.
 */
#include "fuzz/fuzz.h"

#include "base/json.h"
#include "base/utf8.h"
#include "tokenizer/jinja/template.h"

#include <string.h>

enum {
    MAX_OUTPUT_BYTES = 1 << 20
};

static void check_output(const struct yk_jinja_output *output)
{
    const char *bytes = yk_text_chars(&output->text);
    fuzz_expect(output->text.length <= MAX_OUTPUT_BYTES, "the output is limited");
    for (size_t at = 0; at < output->text.length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(bytes + at, output->text.length - at, &character);
        fuzz_expect(used > 0, "the output is UTF-8");
        at += used;
    }
    for (int64_t i = 0; i < output->generation_count; i++) {
        fuzz_expect(output->generations[i].begin <= output->generations[i].end &&
                        output->generations[i].end <= output->text.length,
                    "generations are parts of the output");
    }
}

static void check_template(const struct yk_jinja_template *parsed, const struct yk_json *object)
{
    const struct yk_jinja_limits limits = {.max_steps = 200000,
                                           .max_output_bytes = MAX_OUTPUT_BYTES,
                                           .max_memory_bytes = (size_t)16 << 20};
    const struct yk_jinja_variables variables = {.objects = {object}, .unix_time_s = 1750000000};
    struct yk_jinja_output first = {0};
    struct yk_jinja_output second = {0};
    const yk_status status = yk_jinja_template_render(parsed, &variables, &limits, &first);
    fuzz_expect(status == yk_jinja_template_render(parsed, &variables, &limits, &second),
                "the second time is like the first");
    if (status == YK_OK) {
        check_output(&first);
        fuzz_expect(first.text.length == second.text.length &&
                        memcmp(yk_text_chars(&first.text), yk_text_chars(&second.text),
                               first.text.length) == 0,
                    "the second time gives the same text");
    }
    yk_jinja_output_free(&first);
    yk_jinja_output_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const size_t length = strnlen(bytes, size);
    struct yk_jinja_template *parsed = NULL;
    struct yk_json *object = NULL;
    if (length < size && yk_json_parse(bytes + length + 1, size - length - 1, &object) != YK_OK) {
        object = NULL;
    }
    if (yk_jinja_template_parse(bytes, length, "template", &parsed) == YK_OK) {
        fuzz_accept();
        check_template(parsed, object);
        yk_jinja_template_destroy(parsed);
    }
    yk_json_destroy(object);
    return 0;
}
