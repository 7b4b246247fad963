#include "tokenizer/jinja/template.h"

#include "tokenizer/jinja/interpreter.h"
#include "tokenizer/jinja/lexer.h"
#include "tokenizer/jinja/library.h"
#include "tokenizer/jinja/parser.h"
#include "tokenizer/jinja/value_json.h"

#include <stdio.h>

enum {
    DEFAULT_STEPS = 50 * 1000 * 1000,
    DEFAULT_DEPTH = 2000
};

#define DEFAULT_OUTPUT_BYTES ((size_t)64 << 20)
#define DEFAULT_MEMORY_BYTES ((size_t)512 << 20)

struct yk_jinja_template {
    struct yk_arena *arena;
    struct yk_jinja_syntax syntax;
};

static yk_status parse(const char *source, size_t length, struct yk_jinja_template *parsed)
{
    const struct yk_jinja_token *tokens = NULL;
    YK_TRY(yk_name_index_create(&parsed->syntax.names));
    YK_TRY(yk_jinja_lexer_read(source, length, parsed->arena, &tokens));
    YK_TRY(yk_jinja_statement_parser_read(tokens, &yk_jinja_library, &parsed->syntax));
    YK_TRY(yk_jinja_template_analysis_check(&parsed->syntax));
    return yk_jinja_template_analysis_find_hidden(&parsed->syntax);
}

yk_status yk_jinja_template_parse(const char *source, size_t length, const char *name,
                                  struct yk_jinja_template **out)
{
    struct yk_jinja_template *parsed = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(parsed);
    parsed->syntax.arena = parsed->arena;
    yk_status status = yk_arena_strdup(parsed->arena, name, &parsed->syntax.source_name);
    YK_IF_OK(yk_status_prefix_message(parse(source, length, parsed), name));
    YK_TRY_OR_CLEAN_UP(status, yk_jinja_template_destroy(parsed));
    *out = parsed;
    return YK_OK;
}

void yk_jinja_template_destroy(struct yk_jinja_template *parsed)
{
    if (parsed) {
        yk_name_index_destroy(parsed->syntax.names);
        yk_arena_destroy(parsed->arena);
    }
}

bool yk_jinja_template_has_generation(const struct yk_jinja_template *parsed)
{
    return parsed->syntax.has_generation;
}

bool yk_jinja_template_has_variable(const struct yk_jinja_template *parsed, const char *name)
{
    return yk_name_index_find(parsed->syntax.names, name) >= 0;
}

/* Variables that the template has no name for are not converted. */
static yk_status set_variables(struct yk_jinja_interpreter *interpreter,
                               const struct yk_json *object)
{
    struct yk_json_member_iterator member = {0};
    while (yk_json_next_member(object, &member)) {
        const int32_t name = yk_name_index_find(interpreter->syntax->names, member.name);
        if (name >= 0 && !interpreter->syntax->hidden[name]) {
            YK_TRY(yk_jinja_value_json_read(&interpreter->run, member.value,
                                            &interpreter->variables[name]));
        }
    }
    return YK_OK;
}

static yk_status render(struct yk_jinja_interpreter *interpreter,
                        const struct yk_jinja_variables *variables)
{
    const struct yk_jinja_syntax *syntax = interpreter->syntax;
    YK_JINJA_TRY_NEW(&interpreter->run, interpreter->variables, yk_name_index_count(syntax->names));
    YK_TRY(yk_jinja_globals_set(&interpreter->run, syntax->names, syntax->hidden,
                                interpreter->variables));
    for (int i = 0; i < YK_JINJA_MAX_LAYERS; i++) {
        if (variables->objects[i]) {
            YK_TRY(set_variables(interpreter, variables->objects[i]));
        }
    }
    YK_TRY(yk_jinja_executor_run(interpreter, syntax->body));
    return yk_text_status(&interpreter->output->text);
}

static void set_limits(const struct yk_jinja_limits *limits,
                       struct yk_jinja_interpreter *interpreter)
{
    const struct yk_jinja_limits given = limits ? *limits : (struct yk_jinja_limits){0};
    struct yk_jinja_run *run = &interpreter->run;
    run->step_limit = given.max_steps > 0 ? given.max_steps : DEFAULT_STEPS;
    run->steps_left = run->step_limit;
    run->depth_limit = given.max_depth > 0 ? given.max_depth : DEFAULT_DEPTH;
    run->depth_left = run->depth_limit;
    run->memory_limit = given.max_memory_bytes > 0 ? given.max_memory_bytes : DEFAULT_MEMORY_BYTES;
    run->memory_left = run->memory_limit;
    interpreter->max_output_bytes =
        given.max_output_bytes > 0 ? given.max_output_bytes : DEFAULT_OUTPUT_BYTES;
}

yk_status yk_jinja_template_render(const struct yk_jinja_template *parsed,
                                   const struct yk_jinja_variables *variables,
                                   const struct yk_jinja_limits *limits,
                                   struct yk_jinja_output *out)
{
    struct yk_jinja_interpreter interpreter = {
        .run = {.library = &yk_jinja_library, .unix_time_s = variables->unix_time_s},
        .syntax = &parsed->syntax,
        .out = &out->text,
        .output = out,
    };
    out->text.length = 0;
    out->generation_count = 0;
    out->steps = 0;
    set_limits(limits, &interpreter);
    YK_TRY(yk_arena_create(&interpreter.run.arena));
    yk_status status = render(&interpreter, variables);
    yk_arena_destroy(interpreter.run.arena);
    out->steps = interpreter.run.step_limit - interpreter.run.steps_left;
    if (status == YK_OK) {
        yk_jinja_output_finish(out);
        return YK_OK;
    }
    if (interpreter.error_line > 0) {
        char place[40];
        (void)snprintf(place, sizeof place, "line %d", (int)interpreter.error_line);
        status = yk_status_prefix_message(status, place);
    }
    return yk_status_prefix_message(status, parsed->syntax.source_name);
}
