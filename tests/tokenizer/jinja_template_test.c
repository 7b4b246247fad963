/* What transformers' Jinja environment makes of small templates, recorded by
 * tests/oracle/make_template_cases.py, and what limits do to hostile ones. */
#include "support/support.h"

#include "support/files/recorded.h"
#include "tokenizer/jinja/template.h"

#include <stdlib.h>
#include <string.h>

struct rendering {
    struct yk_jinja_output output;
    yk_status status;
};

static struct rendering render_with(const char *source, const struct yk_jinja_variables *variables,
                                    const struct yk_jinja_limits *limits)
{
    struct rendering result = {0};
    struct yk_jinja_template *parsed = NULL;
    result.status = yk_jinja_template_parse(source, strlen(source), "chat.jinja", &parsed);
    if (result.status == YK_OK) {
        result.status = yk_jinja_template_render(parsed, variables, limits, &result.output);
    }
    yk_jinja_template_destroy(parsed);
    return result;
}

static void expect_failure(const char *source, const char *message)
{
    const struct yk_jinja_variables none = {0};
    struct rendering result = render_with(source, &none, NULL);
    assert_int_equal(result.status, YK_ERROR_INPUT);
    assert_string_equal(yk_status_message(), message);
    yk_jinja_output_free(&result.output);
}

static void check_generations(const struct yk_json *expected, const struct yk_jinja_output *output,
                              const char *source)
{
    if ((int64_t)yk_json_array_count(expected) != output->generation_count) {
        fail_msg("%s: %d generations", source, (int)output->generation_count);
    }
    for (int64_t i = 0; i < output->generation_count; i++) {
        const struct yk_json *span = yk_json_array_at(expected, (size_t)i);
        int64_t begin = 0;
        int64_t end = 0;
        assert_true(yk_json_integer_value(yk_json_array_at(span, 0), &begin));
        assert_true(yk_json_integer_value(yk_json_array_at(span, 1), &end));
        assert_int_equal(output->generations[i].begin, begin);
        assert_int_equal(output->generations[i].end, end);
    }
}

static void check_case(const struct yk_json *recorded, const struct yk_jinja_variables *variables)
{
    const char *source = yk_json_string_value(recorded_get(recorded, "template"));
    const struct yk_json *text = yk_json_get_member(recorded, "text");
    struct rendering result = render_with(source, variables, NULL);
    if (!text && result.status == YK_OK) {
        fail_msg("%s gives \"%s\", expected an error", source, yk_text_chars(&result.output.text));
    }
    if (text && result.status != YK_OK) {
        fail_msg("%s: %s", source, yk_status_message());
    }
    if (!text) {
        assert_int_equal(result.status, YK_ERROR_INPUT);
    } else {
        if (strcmp(yk_text_chars(&result.output.text), yk_json_string_value(text)) != 0) {
            fail_msg("%s gives \"%s\", expected \"%s\"", source, yk_text_chars(&result.output.text),
                     yk_json_string_value(text));
        }
        check_generations(yk_json_get_member(recorded, "generations"), &result.output, source);
    }
    yk_jinja_output_free(&result.output);
}

static void recorded_templates_are_rendered_as_by_transformers(void **state)
{
    (void)state;
    struct yk_json *file = recorded_read("tokenizer/fixtures/templates.json");
    const struct yk_json *cases = recorded_get(file, "cases");
    struct yk_jinja_variables variables = {.objects = {recorded_get(file, "variables")}};
    assert_true(yk_json_integer_value(recorded_get(file, "time"), &variables.unix_time_s));
    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    assert_true(yk_json_array_count(cases) > 1000);
    for (size_t i = 0; i < yk_json_array_count(cases); i++) {
        check_case(yk_json_array_at(cases, i), &variables);
    }
    yk_json_destroy(file);
}

static void later_objects_hide_variables_of_earlier_ones(void **state)
{
    (void)state;
    static const char first[] = "{\"a\": 1, \"b\": 2}";
    static const char second[] = "{\"b\": 3}";
    struct yk_json *objects[2] = {NULL, NULL};
    assert_ok(yk_json_parse(first, strlen(first), &objects[0]));
    assert_ok(yk_json_parse(second, strlen(second), &objects[1]));
    const struct yk_jinja_variables variables = {.objects = {objects[0], objects[1]}};
    struct rendering result = render_with("{{ a }}{{ b }}", &variables, NULL);
    assert_ok(result.status);
    assert_string_equal(yk_text_chars(&result.output.text), "13");
    yk_jinja_output_free(&result.output);
    yk_json_destroy(objects[0]);
    yk_json_destroy(objects[1]);
}

static void a_template_says_which_variables_and_generations_it_has(void **state)
{
    (void)state;
    static const char source[] = "{{ messages }}{% generation %}{% endgeneration %}";
    struct yk_jinja_template *parsed = NULL;
    assert_ok(yk_jinja_template_parse(source, strlen(source), "t", &parsed));
    assert_true(yk_jinja_template_has_generation(parsed));
    assert_true(yk_jinja_template_has_variable(parsed, "messages"));
    assert_false(yk_jinja_template_has_variable(parsed, "tools"));
    yk_jinja_template_destroy(parsed);
    assert_ok(yk_jinja_template_parse("a", 1, "t", &parsed));
    assert_false(yk_jinja_template_has_generation(parsed));
    yk_jinja_template_destroy(parsed);
}

static void errors_name_the_line_of_the_template(void **state)
{
    (void)state;
    expect_failure("a\n{% if x %}\n{{ 1 +", "chat.jinja: line 3: {{ has no end }}");
    expect_failure("\n\n{{ x.y }}", "chat.jinja: line 3: \"x\" is undefined");
    expect_failure(
        "\n{{ raise_exception('roles must alternate') }}",
        "chat.jinja: line 2: the template refuses the conversation: roles must alternate");
    expect_failure("{% include 'a' %}",
                   "chat.jinja: line 1: {% include %} is not supported in chat templates");
    expect_failure("{{ 'a' | wordwrap }}",
                   "chat.jinja: line 1: \"wordwrap\" is not supported for a value of type str");
    expect_failure("{{ (3).real }}",
                   "chat.jinja: line 1: \"real\" is not supported for a value of type int");
    expect_failure("{{ 2.5.imag is defined }}",
                   "chat.jinja: line 1: \"imag\" is not supported for a value of type float");
    expect_failure("{{ 'a &amp; b' | striptags }}",
                   "chat.jinja: line 1: striptags does not support character references such as "
                   "&amp;");
    expect_failure("{{ [].append(1) }}", "chat.jinja: line 1: the method append() would change a "
                                         "value of type list, which templates may not");
}

/* Each of these would need years or more memory than there is. */
static void hostile_templates_end_with_a_sentence(void **state)
{
    (void)state;
    static const char memory[] =
        "chat.jinja: line 1: the template needs more than the allowed 536870912 bytes of memory";
    static const char depth[] = "chat.jinja: line 1: the template nests more than the allowed 2000 "
                                "levels; does a macro call itself for ever?";
    static const char steps[] = "chat.jinja: line 1: the template runs for more than the allowed "
                                "50000000 steps; does it loop for ever?";
    expect_failure("{{ 'a' * 1000000000000 }}", memory);
    expect_failure("{{ [1] * 1000000000000 }}", memory);
    expect_failure("{% set n = namespace(x='a') %}{% for i in range(99) %}"
                   "{% set n.x = n.x + n.x %}{% endfor %}",
                   memory);
    expect_failure("{{ ('a' * 100000).replace('a', 'b' * 100000) }}", memory);
    expect_failure("{{ range(1000000000000) }}",
                   "chat.jinja: line 1: range() has more than 100000 items");
    expect_failure("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", depth);
    expect_failure("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", depth);
    expect_failure("{% set n = namespace(x=[]) %}{% for i in range(9999) %}"
                   "{% set n.x = [n.x] %}{% endfor %}{{ n.x }}",
                   depth);
    expect_failure("{% set r = range(99999) %}{% for i in r %}{% for j in r %}{% for k in r %}"
                   "{% endfor %}{% endfor %}{% endfor %}",
                   steps);
    expect_failure("{% for i in range(99999) %}{{ 'a' * 1000 }}{% endfor %}",
                   "chat.jinja: line 1: the template writes more than the allowed 67108864 bytes");
}

static void limits_of_the_caller_hold(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        struct yk_jinja_limits limits;
        const char *message;
    } cases[] = {
        {"{{ 1 + 1 + 1 }}",
         {.max_steps = 3},
         "chat.jinja: line 1: the template runs for more than the allowed 3 steps; does it loop "
         "for ever?"},
        {"{{ ((((1)))) + (1 + (1 + (1 + 1))) }}",
         {.max_depth = 3},
         "chat.jinja: line 1: the template nests more than the allowed 3 levels; does a macro call "
         "itself for ever?"},
        {"abcdef",
         {.max_output_bytes = 5},
         "chat.jinja: line 1: the template writes more than the allowed 5 bytes"},
        {"{{ 'a' * 2000 }}",
         {.max_memory_bytes = 1000},
         "chat.jinja: line 1: the template needs more than the allowed 1000 bytes of memory"},
    };
    const struct yk_jinja_variables none = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rendering result = render_with(cases[i].source, &none, &cases[i].limits);
        assert_int_equal(result.status, YK_ERROR_INPUT);
        assert_string_equal(yk_status_message(), cases[i].message);
        yk_jinja_output_free(&result.output);
        result = render_with(cases[i].source, &none, NULL);
        assert_ok(result.status);
        yk_jinja_output_free(&result.output);
    }
}

#define DOUBLED(first, second, times)                                                              \
    "{% set n = namespace(a=" first ", b=" first ") %}{% for i in range(" times ") %}"             \
    "{% set n.a = " second("n.a") " %}{% set n.b = " second("n.b") " %}{% endfor %}"
#define PAIR(item) "(" item ", " item ")"
#define LIST_OF_TWO(item) "[" item ", " item "]"
#define MANY "{% for i in range(99999) %}"

/* Templates that would take minutes or years if only their expressions and statements counted. */
static const char *const slow_templates[] = {
    /* Items are shared: visiting all takes exponential time. */
    DOUBLED("(1, 1)", PAIR, "40") "{{ {n.a: 1} | length }}",
    DOUBLED("(1, 1)", PAIR, "40") "{{ n.a in {1: 2} }}",
    DOUBLED("(1, 1)", PAIR, "40") "{{ n.a == n.b }}",
    DOUBLED("[1, 1]", LIST_OF_TWO, "40") "{{ n.a < n.b }}",
    DOUBLED("[1, 1]", LIST_OF_TWO, "40") "{{ n.a in [n.b] }}",
    DOUBLED("[1, 1]", LIST_OF_TWO, "40") "{{ n.a | tojson }}",
    DOUBLED("[1, 1]", LIST_OF_TWO, "40") "{{ n.a | string | length }}",
    /* The keys of a dict are hashed and compared, and have equal hashes. */
    "{% set s = 'a' * 1000000 %}{% set d = dict(range(20) | batch(2)) %}" MANY
    "{{ s in d }}{% endfor %}",
    "{% set d = {'a' * 1000000: 1} %}{% set s = 'a' * 1000000 %}" MANY "{{ s in d }}{% endfor %}",
    "{% macro f() %}{{ kwargs | length }}{% endmacro %}{% set d = dict(pairs) %}" MANY
    "{{ f(**d) }}{% endfor %}",
    /* Texts are compared and searched. */
    "{% set s = 'a' * 1000000 %}{% set t = 'a' * 999999 ~ 'b' %}" MANY
    "{{ s.removeprefix(t) | length }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}{% set t = 'b' ~ 'a' * 999999 %}" MANY
    "{{ s.removesuffix(t) | length }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}{% set t = 'a' * 999999 ~ 'b' %}" MANY
    "{{ s.startswith((t, t)) }}{% endfor %}",
    "{% set t = ('b',) * 90000 %}" MANY "{{ 'a'.startswith(t) }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}{% set t = 'a' * 999999 ~ 'b' %}" MANY "{{ s == t }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}{% set t = 'a' * 999999 ~ 'b' %}" MANY
    "{{ s is sameas t }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}" MANY "{{ s.find('baaaaaaaaaaaaaa') }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}" MANY "{{ s.rfind('ab') }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}" MANY "{{ s.count('b') }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}" MANY "{{ 'b' in s }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}" MANY "{{ s.replace('b', '') | length }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}" MANY "{{ s.split('b') | length }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}" MANY "{{ s.strip('bcdefghijklmnopqa') }}{% endfor %}",
    "{% set s = 'a' * 1000000 %}" MANY "{{ s.isalpha() }}{% endfor %}",
    "{% set s = ' ' * 1000000 %}" MANY "{{ s | int }}{% endfor %}",
    "{% set s = '\u00e9' * 100000 %}" MANY "{{ s.removeprefix('\u00e9') | length }}{% endfor %}",
    "{% set s = '<!-- ' * 200000 %}" MANY "{{ s | striptags | length }}{% endfor %}",
    /* Numbers are written with many digits. */
    MANY "{{ 1.1 | round(300) }}{% endfor %}",
    MANY "{{ '%.400f' % 1e300 }}{% endfor %}",
    MANY "{{ 1.2345678901234567e300 ~ '' }}{% endfor %}",
    MANY "{{ strftime_now('%c%c%c%c') }}{% endfor %}",
    /* A namespace contains itself, so that a path in it may have any length. */
    "{% set n = namespace() %}{% set n.a = n %}{{ [n] | map(attribute='a.' * 99999 ~ 'a') | first "
    "is "
    "defined }}",
};

static void slow_templates_exceed_the_step_limit(void **state)
{
    (void)state;
    const struct yk_jinja_limits limits = {.max_steps = 100000};
    struct yk_text json = {0};
    struct yk_json *object = NULL;
    yk_text_add(&json, "{\"pairs\": [[\"k\", 0]");
    for (int i = 0; i < 500; i++) {
        yk_text_addf(&json, ", [\"k%d\", 0]", i);
    }
    yk_text_add(&json, "]}");
    assert_ok(yk_json_parse(yk_text_chars(&json), json.length, &object));
    const struct yk_jinja_variables variables = {.objects = {object}};
    for (size_t i = 0; i < sizeof slow_templates / sizeof *slow_templates; i++) {
        struct rendering result = render_with(slow_templates[i], &variables, &limits);
        if (result.status != YK_ERROR_INPUT || !strstr(yk_status_message(), "100000 steps")) {
            fail_msg("%s: %s", slow_templates[i],
                     result.status == YK_OK ? "no error" : yk_status_message());
        }
        yk_jinja_output_free(&result.output);
    }
    yk_json_destroy(object);
    yk_text_free(&json);
}

/* 2000 variables are set in the body of a loop, and the first one is read again and again. */
static void searching_many_variables_counts(void **state)
{
    (void)state;
    const struct yk_jinja_variables none = {0};
    const struct yk_jinja_limits limits = {.max_steps = 1000000};
    struct yk_text source = {0};
    yk_text_add(&source, "{% for i in [1] %}");
    for (int i = 0; i < 2000; i++) {
        yk_text_addf(&source, "{%% set v%d = 1 %%}", i);
    }
    yk_text_add(&source, MANY "{{ v0 }}{% endfor %}{% endfor %}");
    struct rendering result = render_with(yk_text_chars(&source), &none, &limits);
    assert_int_equal(result.status, YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "1000000 steps"));
    yk_jinja_output_free(&result.output);
    yk_text_free(&source);
}

/* Texts are written before they become values: what is written must not exceed the limit. */
static void texts_count_as_memory_while_they_are_written(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "{% set l = [1111111111111111111] * 1000 %}{{ ([l] * 1000) | string | length }}",
        "{% set l = [1111111111111111111] * 1000 %}{{ ([l] * 1000) | tojson | length }}",
        "{{ ['\\x01' * 1000000] | string | length }}",
        "{{ ['\\x01' * 1000000] | tojson | length }}",
        "{{ ('<' * 1000000) | e | length }}",
        "{{ ('/' * 1000000) | urlencode | length }}",
        "{{ '%s%s%s%s%s' | format(*(['a' * 600000] * 5)) | length }}",
        "{% set s = 'a' * 600000 %}{% set x %}" MANY "{{ s }}{% endfor %}{% endset %}",
        "{% set s = 'a' * 600000 %}{% macro f(n) %}{{ s }}{{ f(n - 1) if n }}{% endmacro %}"
        "{{ f(20) | length }}",
    };
    const struct yk_jinja_variables none = {0};
    const struct yk_jinja_limits limits = {.max_memory_bytes = 4000000};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct rendering result = render_with(sources[i], &none, &limits);
        if (result.status != YK_ERROR_INPUT || !strstr(yk_status_message(), "4000000 bytes")) {
            fail_msg("%s: %s", sources[i], result.status == YK_OK ? "ok" : yk_status_message());
        }
        yk_jinja_output_free(&result.output);
    }
}

static void tags_that_never_end_are_searched_once(void **state)
{
    (void)state;
    const struct yk_jinja_variables none = {0};
    const struct yk_jinja_limits limits = {.max_steps = 2000000};
    struct rendering result =
        render_with("{{ ('<' * 2000000) | striptags | length }}", &none, &limits);
    assert_ok(result.status);
    assert_string_equal(yk_text_chars(&result.output.text), "2000000");
    yk_jinja_output_free(&result.output);
}

/* Templates whose syntax is nested deeper than the stack would bear. */
static void deeply_nested_syntax_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *begin;
        const char *repeated;
        const char *message;
    } cases[] = {
        {"{{ ", "(", "chat.jinja: line 1: brackets are nested too deeply"},
        {"{{ ", "[", "chat.jinja: line 1: brackets are nested too deeply"},
        {"{{ ", "-", "chat.jinja: line 1: the template is nested too deeply"},
        {"{{ ", "not ", "chat.jinja: line 1: the template is nested too deeply"},
        {"{{ 1", "+1", "chat.jinja: line 1: an expression is nested too deeply"},
        {"{{ 1", " if 1 else 1", "chat.jinja: line 1: the template is nested too deeply"},
        {"{{ a", ".b", "chat.jinja: line 1: an expression is nested too deeply"},
        {"", "{% if 1 %}", "chat.jinja: line 1: blocks are nested too deeply"},
        {"", "{% macro f() %}", "chat.jinja: line 1: blocks are nested too deeply"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct yk_text source = {0};
        yk_text_add(&source, cases[i].begin);
        yk_text_add_repeated(&source, cases[i].repeated, 20000);
        yk_text_add(&source, cases[i].begin[0] ? " }}" : "");
        expect_failure(yk_text_chars(&source), cases[i].message);
        yk_text_free(&source);
    }
}

/* 20000 times appended, a text of 20 MB would be copied 10000 times over otherwise. */
static void appending_to_a_text_is_not_quadratic(void **state)
{
    (void)state;
    const struct yk_jinja_variables none = {0};
    const struct yk_jinja_limits limits = {.max_steps = 5000000};
    struct rendering result =
        render_with("{% set n = namespace(x='') %}{% for i in range(20000) %}"
                    "{% set n.x = n.x + 'a' * 1000 %}{% endfor %}{{ n.x | length }}",
                    &none, &limits);
    assert_ok(result.status);
    assert_string_equal(yk_text_chars(&result.output.text), "20000000");
    yk_jinja_output_free(&result.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_templates_are_rendered_as_by_transformers),
        cmocka_unit_test(later_objects_hide_variables_of_earlier_ones),
        cmocka_unit_test(a_template_says_which_variables_and_generations_it_has),
        cmocka_unit_test(errors_name_the_line_of_the_template),
        cmocka_unit_test(hostile_templates_end_with_a_sentence),
        cmocka_unit_test(limits_of_the_caller_hold),
        cmocka_unit_test(slow_templates_exceed_the_step_limit),
        cmocka_unit_test(searching_many_variables_counts),
        cmocka_unit_test(texts_count_as_memory_while_they_are_written),
        cmocka_unit_test(tags_that_never_end_are_searched_once),
        cmocka_unit_test(deeply_nested_syntax_is_refused),
        cmocka_unit_test(appending_to_a_text_is_not_quadratic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
