/*
 * Renders templates for compare_templates.py and make_template_cases.py: each line of stdin is a
 * JSON object {"template": …, "variables": …, "time": …}; for each, a line of JSON is written:
 * {"text": …, "generations": [[begin, end], …]}, in bytes, or {"error": …}. With an argument N,
 * each template is rendered N times, and the seconds that one rendering took are added.
 */
#include "support/support.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "tokenizer/jinja/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_string(struct yk_text *line, const char *bytes, size_t length)
{
    yk_text_add(line, "\"");
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        if (byte < ' ' || byte == '"' || byte == '\\') {
            yk_text_addf(line, "\\u%04x", (unsigned)byte);
        } else {
            yk_text_add_bytes(line, bytes + i, 1);
        }
    }
    yk_text_add(line, "\"");
}

static void write_result(const struct yk_jinja_output *output, double seconds, struct yk_text *line)
{
    yk_text_add(line, "{\"text\": ");
    write_string(line, yk_text_chars(&output->text), output->text.length);
    yk_text_add(line, ", \"generations\": [");
    for (int64_t i = 0; i < output->generation_count; i++) {
        yk_text_addf(line, "%s[%zu, %zu]", i > 0 ? ", " : "", output->generations[i].begin,
                     output->generations[i].end);
    }
    yk_text_addf(line, "], \"seconds\": %.9f}\n", seconds);
}

static yk_status render(const struct yk_json *request, int repeats, struct yk_jinja_output *output,
                        double *seconds)
{
    const char *source = yk_json_string_value(yk_json_get_member(request, "template"));
    struct yk_jinja_variables variables = {{yk_json_get_member(request, "variables")}, 0};
    struct yk_jinja_template *parsed = NULL;
    (void)yk_json_integer_value(yk_json_get_member(request, "time"), &variables.unix_time_s);
    YK_TRY(yk_jinja_template_parse(source, strlen(source), "template", &parsed));
    const double begin = yk_clock_now_s();
    yk_status status = YK_OK;
    for (int i = 0; i < repeats; i++) {
        YK_IF_OK(yk_jinja_template_render(parsed, &variables, NULL, output));
    }
    *seconds = (yk_clock_now_s() - begin) / repeats;
    yk_jinja_template_destroy(parsed);
    return status;
}

int main(int argc, char **argv)
{
    const int repeats = argc > 1 ? atoi(argv[1]) : 1; // NOLINT(cert-err34-c): a number of ours
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        struct yk_json *request = NULL;
        struct yk_jinja_output output = {0};
        struct yk_text out = {0};
        double seconds = 0;
        yk_status status = yk_json_parse(line, (size_t)length, &request);
        YK_IF_OK(render(request, repeats, &output, &seconds));
        if (status == YK_OK) {
            write_result(&output, seconds, &out);
        } else {
            yk_text_add(&out, "{\"error\": ");
            write_string(&out, yk_status_message(), strlen(yk_status_message()));
            yk_text_add(&out, "}\n");
        }
        (void)fputs(yk_text_chars(&out), stdout);
        (void)fflush(stdout);
        yk_text_free(&out);
        yk_jinja_output_free(&output);
        yk_json_destroy(request);
    }
    free(line);
    return 0;
}
