#include "tokenizer/jinja/interpreter.h"

#include "tokenizer/jinja/dict.h"
#include "tokenizer/jinja/loop.h"
#include "tokenizer/jinja/output.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/value_compare.h"
#include "tokenizer/jinja/value_text.h"

#define compute yk_jinja_evaluator_compute

/* A macro with the scope in which it was defined. */
struct closure {
    struct yk_jinja_interpreter *interpreter;
    const struct yk_jinja_macro *macro;
    struct yk_jinja_scope *scope;
};

/* A for statement, as loop() needs it to begin anew. */
struct recursion {
    struct yk_jinja_interpreter *interpreter;
    const struct yk_jinja_statement *statement;
    struct yk_jinja_scope *scope;
    int64_t depth0;
};

/* The items of a loop for which a condition holds. */
struct selection {
    struct yk_jinja_interpreter *interpreter;
    const struct yk_jinja_statement *statement;
    struct yk_jinja_scope *scope; /* for the condition */
    struct yk_jinja_iterator items;
};

static yk_status run_loop(struct yk_jinja_interpreter *interpreter,
                          const struct yk_jinja_statement *statement, struct yk_jinja_value items,
                          int64_t depth0);

/* Fails unless `more` bytes can be written. */
static yk_status check_output(const struct yk_jinja_interpreter *interpreter, size_t more)
{
    YK_TRY(yk_text_status(interpreter->out));
    return interpreter->out->length + more <= interpreter->max_output_bytes
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "the template writes more than the allowed %zu bytes",
                         interpreter->max_output_bytes);
}

/* The output has a limit of its own; the texts of blocks and macros count as memory. */
static yk_status write_string(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_string *string)
{
    struct yk_jinja_run *run = &interpreter->run;
    YK_TRY(check_output(interpreter, string->length));
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length));
    if (interpreter->out != &interpreter->output->text) {
        YK_TRY(yk_jinja_run_charge_memory(run, string->length));
    }
    yk_text_add_bytes(interpreter->out, string->bytes, string->length);
    return YK_OK;
}

static yk_status write_value(struct yk_jinja_interpreter *interpreter, struct yk_jinja_value value)
{
    if (value.kind == YK_JINJA_STRING) {
        return write_string(interpreter, value.as.string);
    }
    YK_TRY(yk_jinja_value_text_add(&interpreter->run, value, interpreter->out));
    return check_output(interpreter, 0);
}

/* Runs statements in a scope of their own. */
static yk_status run_in_scope(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_statement *statements)
{
    struct yk_jinja_scope *outer = interpreter->scope;
    YK_TRY(yk_jinja_scope_open(interpreter, outer));
    const yk_status status = yk_jinja_executor_run(interpreter, statements);
    interpreter->scope = outer;
    return status;
}

/* Runs `statements` in the innermost scope, and makes a string of what they write. */
static yk_status capture(struct yk_jinja_interpreter *interpreter,
                         const struct yk_jinja_statement *statements, struct yk_jinja_value *out)
{
    struct yk_text text = {0};
    struct yk_text *outer = interpreter->out;
    interpreter->out = &text;
    const yk_status status = yk_jinja_executor_run(interpreter, statements);
    interpreter->out = outer;
    YK_TRY_OR_CLEAN_UP(status, yk_text_free(&text));
    return yk_jinja_string_from_text(&interpreter->run, &text, out);
}

static yk_status capture_in_scope(struct yk_jinja_interpreter *interpreter,
                                  const struct yk_jinja_statement *statements,
                                  struct yk_jinja_value *out)
{
    struct yk_jinja_scope *outer = interpreter->scope;
    YK_TRY(yk_jinja_scope_open(interpreter, outer));
    const yk_status status = capture(interpreter, statements, out);
    interpreter->scope = outer;
    return status;
}

static yk_status run_text(struct yk_jinja_interpreter *interpreter,
                          const struct yk_jinja_statement *statement)
{
    return write_string(interpreter, statement->text);
}

static yk_status run_print(struct yk_jinja_interpreter *interpreter,
                           const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value value = {0};
    YK_TRY(compute(interpreter, statement->expression, &value));
    return write_value(interpreter, value);
}

static yk_status run_if(struct yk_jinja_interpreter *interpreter,
                        const struct yk_jinja_statement *statement)
{
    for (;;) {
        struct yk_jinja_value condition = {0};
        YK_TRY(compute(interpreter, statement->expression, &condition));
        if (yk_jinja_value_compare_truth(condition)) {
            return yk_jinja_executor_run(interpreter, statement->body);
        }
        const struct yk_jinja_statement *otherwise = statement->otherwise;
        /* "elif" is an "if" alone in the "else". */
        if (!otherwise || otherwise->kind != YK_JINJA_IF || otherwise->next) {
            return yk_jinja_executor_run(interpreter, otherwise);
        }
        statement = otherwise;
    }
}

static yk_status run_set(struct yk_jinja_interpreter *interpreter,
                         const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value value = {0};
    YK_TRY(compute(interpreter, statement->expression, &value));
    return yk_jinja_scope_assign(interpreter, statement->target, value);
}

static yk_status run_set_block(struct yk_jinja_interpreter *interpreter,
                               const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value value = {0};
    YK_TRY(capture_in_scope(interpreter, statement->body, &value));
    if (statement->expression) {
        YK_TRY(yk_jinja_evaluator_apply_filters(interpreter, statement->expression, value, &value));
    }
    return yk_jinja_scope_assign(interpreter, statement->target, value);
}

static yk_status run_filter_block(struct yk_jinja_interpreter *interpreter,
                                  const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value value = {0};
    YK_TRY(capture_in_scope(interpreter, statement->body, &value));
    YK_TRY(yk_jinja_evaluator_apply_filters(interpreter, statement->expression, value, &value));
    return write_value(interpreter, value);
}

static yk_status assign_with(struct yk_jinja_interpreter *interpreter,
                             const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value *values = NULL;
    YK_JINJA_TRY_NEW(&interpreter->run, values, statement->count);
    for (int32_t i = 0; i < statement->count; i++) {
        YK_TRY(compute(interpreter, statement->values[i], &values[i]));
    }
    YK_TRY(yk_jinja_scope_open(interpreter, interpreter->scope));
    for (int32_t i = 0; i < statement->count; i++) {
        YK_TRY(yk_jinja_scope_assign(interpreter, statement->targets[i], values[i]));
    }
    return YK_OK;
}

static yk_status run_with(struct yk_jinja_interpreter *interpreter,
                          const struct yk_jinja_statement *statement)
{
    struct yk_jinja_scope *outer = interpreter->scope;
    yk_status status = assign_with(interpreter, statement);
    YK_IF_OK(yk_jinja_executor_run(interpreter, statement->body));
    interpreter->scope = outer;
    return status;
}

static yk_status run_block(struct yk_jinja_interpreter *interpreter,
                           const struct yk_jinja_statement *statement)
{
    struct yk_jinja_scope *outer = interpreter->scope;
    YK_TRY(yk_jinja_scope_open(interpreter, statement->scoped ? outer : NULL));
    const yk_status status = yk_jinja_executor_run(interpreter, statement->body);
    interpreter->scope = outer;
    return status;
}

static yk_status run_generation(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value value = {0};
    YK_TRY(capture_in_scope(interpreter, statement->body, &value));
    YK_TRY(yk_jinja_run_charge_memory(&interpreter->run, sizeof(struct yk_jinja_span)));
    YK_TRY(yk_jinja_output_add_generation(interpreter->output,
                                          yk_jinja_value_count_characters(value.as.string)));
    return write_string(interpreter, value.as.string);
}

static yk_status run_break(struct yk_jinja_interpreter *interpreter,
                           const struct yk_jinja_statement *statement)
{
    (void)statement;
    interpreter->flow = YK_JINJA_FLOW_BREAK;
    return YK_OK;
}

static yk_status run_continue(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_statement *statement)
{
    (void)statement;
    interpreter->flow = YK_JINJA_FLOW_CONTINUE;
    return YK_OK;
}

static yk_status next_selected(struct yk_jinja_run *run, struct yk_jinja_iterator *iterator,
                               struct yk_jinja_value *out, bool *found)
{
    struct selection *selection = iterator->state;
    struct yk_jinja_interpreter *interpreter = selection->interpreter;
    struct yk_jinja_value condition = {0};
    do {
        YK_TRY(selection->items.next(run, &selection->items, out, found));
        if (!*found) {
            return YK_OK;
        }
        struct yk_jinja_scope *outer = interpreter->scope;
        interpreter->scope = selection->scope;
        selection->scope->count = 0;
        yk_status status = yk_jinja_scope_assign(interpreter, selection->statement->target, *out);
        YK_IF_OK(compute(interpreter, selection->statement->condition, &condition));
        interpreter->scope = outer;
        YK_TRY(status);
    } while (!yk_jinja_value_compare_truth(condition));
    return YK_OK;
}

/* Makes the loop go through the items for which the condition holds. */
static yk_status select_items(struct yk_jinja_interpreter *interpreter,
                              const struct yk_jinja_statement *statement,
                              struct yk_jinja_loop *loop)
{
    struct selection *selection = NULL;
    struct yk_jinja_scope *outer = interpreter->scope;
    YK_JINJA_TRY_NEW(&interpreter->run, selection, 1);
    YK_TRY(yk_jinja_scope_open(interpreter, outer));
    selection->interpreter = interpreter;
    selection->statement = statement;
    selection->scope = interpreter->scope;
    selection->items = loop->iterator;
    interpreter->scope = outer;
    loop->iterator = (struct yk_jinja_iterator){.next = next_selected, .state = selection};
    return YK_OK;
}

/* loop(items): runs the loop for other items, and returns what it writes. */
static yk_status recurse(struct yk_jinja_run *run, const struct yk_jinja_callable *callable,
                         const struct yk_jinja_arguments *arguments, struct yk_jinja_value *out)
{
    const struct recursion *recursion = callable->data;
    struct yk_jinja_interpreter *interpreter = recursion->interpreter;
    struct yk_jinja_scope *outer_scope = interpreter->scope;
    struct yk_text *outer = interpreter->out;
    struct yk_text text = {0};
    if (arguments->positional != 1 || arguments->named > 0) {
        return yk_fail(YK_ERROR_INPUT, "loop() needs one argument, the items");
    }
    interpreter->scope = recursion->scope;
    interpreter->out = &text;
    const yk_status status =
        run_loop(interpreter, recursion->statement, arguments->values[0], recursion->depth0 + 1);
    interpreter->out = outer;
    interpreter->scope = outer_scope;
    YK_TRY_OR_CLEAN_UP(status, yk_text_free(&text));
    return yk_jinja_string_from_text(run, &text, out);
}

static yk_status make_recursive(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_statement *statement,
                                struct yk_jinja_loop *loop)
{
    struct recursion *recursion = NULL;
    struct yk_jinja_callable *callable = NULL;
    YK_JINJA_TRY_NEW(&interpreter->run, recursion, 1);
    YK_JINJA_TRY_NEW(&interpreter->run, callable, 1);
    *recursion = (struct recursion){.interpreter = interpreter,
                                    .statement = statement,
                                    .scope = interpreter->scope,
                                    .depth0 = loop->depth0};
    *callable = (struct yk_jinja_callable){.call = recurse, .name = "loop", .data = recursion};
    loop->recurse = callable;
    return YK_OK;
}

/* Runs the body for each item. The scope is the same for all, but empty at the beginning. Sets
 * `*completed` to whether a body ran to its end, without {% break %} and {% continue %}. */
static yk_status run_items(struct yk_jinja_interpreter *interpreter,
                           const struct yk_jinja_statement *statement, struct yk_jinja_loop *loop,
                           bool *completed)
{
    struct yk_jinja_scope *scope = interpreter->scope;
    const struct yk_jinja_value variable = {.kind = YK_JINJA_LOOP, .as.loop = loop};
    *completed = false;
    for (;;) {
        struct yk_jinja_value item = {0};
        bool found = false;
        interpreter->scope = scope->parent; /* where the condition is computed */
        YK_TRY(yk_jinja_loop_next(&interpreter->run, loop, &item, &found));
        interpreter->scope = scope;
        if (!found) {
            return YK_OK;
        }
        scope->count = 0;
        YK_TRY(yk_jinja_scope_assign(interpreter, statement->target, item));
        YK_TRY(yk_jinja_scope_set(interpreter, YK_JINJA_NAME_LOOP, variable));
        YK_TRY(yk_jinja_executor_run(interpreter, statement->body));
        const enum yk_jinja_flow flow = interpreter->flow;
        interpreter->flow = YK_JINJA_FLOW_NEXT;
        *completed = *completed || flow == YK_JINJA_FLOW_NEXT;
        if (flow == YK_JINJA_FLOW_BREAK) {
            return YK_OK;
        }
    }
}

static yk_status run_loop(struct yk_jinja_interpreter *interpreter,
                          const struct yk_jinja_statement *statement, struct yk_jinja_value items,
                          int64_t depth0)
{
    struct yk_jinja_loop *loop = NULL;
    struct yk_jinja_scope *outer = interpreter->scope;
    bool completed = false;
    YK_JINJA_TRY_NEW(&interpreter->run, loop, 1);
    YK_TRY(yk_jinja_loop_open(items, loop));
    loop->depth0 = depth0;
    if (statement->condition) {
        YK_TRY(select_items(interpreter, statement, loop));
    }
    if (statement->recursive) {
        YK_TRY(make_recursive(interpreter, statement, loop));
    }
    YK_TRY(yk_jinja_scope_open(interpreter, outer));
    yk_status status = run_items(interpreter, statement, loop, &completed);
    interpreter->scope = outer;
    if (!completed && statement->otherwise) {
        YK_IF_OK(run_in_scope(interpreter, statement->otherwise));
    }
    return status;
}

static yk_status run_for(struct yk_jinja_interpreter *interpreter,
                         const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value items = {0};
    YK_TRY(compute(interpreter, statement->expression, &items));
    return run_loop(interpreter, statement, items, 0);
}

/* Sets `*out` to the index of the named argument, or to -1. */
static yk_status find_argument(struct yk_jinja_run *run, const struct yk_jinja_arguments *arguments,
                               const struct yk_jinja_string *name, int64_t *out)
{
    *out = -1;
    for (int64_t i = 0; i < arguments->named && *out < 0; i++) {
        bool same = false;
        YK_TRY(yk_jinja_run_step(run, 1));
        YK_TRY(yk_jinja_value_compare_strings(run, arguments->names[i], name, &same));
        *out = same ? i : -1;
    }
    return YK_OK;
}

/* The call of a macro while its arguments are bound. */
struct binding {
    struct yk_jinja_interpreter *interpreter;
    const struct yk_jinja_macro *macro;
    const struct yk_jinja_arguments *arguments;
    bool *used; /* by named argument */
};

static yk_status bind_parameter(struct binding *binding, int32_t index)
{
    const struct yk_jinja_macro *macro = binding->macro;
    const struct yk_jinja_arguments *arguments = binding->arguments;
    struct yk_jinja_interpreter *interpreter = binding->interpreter;
    const int32_t first_default = macro->parameter_count - macro->default_count;
    struct yk_jinja_value value = {0};
    int64_t named = -1;
    if (index >= arguments->positional) {
        YK_TRY(find_argument(&interpreter->run, arguments, macro->parameters[index], &named));
    }
    if (index < arguments->positional) {
        value = arguments->values[index];
    } else if (named >= 0) {
        value = arguments->values[arguments->positional + named];
        binding->used[named] = true;
    } else if (index >= first_default) {
        YK_TRY(compute(interpreter, macro->defaults[index - first_default], &value));
    } else {
        const struct yk_jinja_undefined reason = {.name = macro->parameters[index]->bytes,
                                                  .name_length = macro->parameters[index]->length};
        YK_TRY(yk_jinja_value_new_undefined(&interpreter->run, reason, &value));
    }
    return yk_jinja_scope_set(interpreter, macro->parameter_names[index], value);
}

static yk_status bind_caller(struct binding *binding)
{
    static const struct yk_jinja_string name = {.bytes = "caller", .length = 6, .characters = 6};
    struct yk_jinja_interpreter *interpreter = binding->interpreter;
    struct yk_jinja_value value = {0};
    int64_t named = -1;
    YK_TRY(find_argument(&interpreter->run, binding->arguments, &name, &named));
    for (int32_t i = 0; i < binding->macro->parameter_count; i++) {
        if (binding->macro->parameter_names[i] == YK_JINJA_NAME_CALLER) {
            return YK_OK;
        }
    }
    if (named >= 0) {
        value = binding->arguments->values[binding->arguments->positional + named];
        binding->used[named] = true;
    } else {
        const struct yk_jinja_undefined reason = {
            .hint = "caller() is used in a macro that was not called by {% call %}"};
        YK_TRY(yk_jinja_value_new_undefined(&interpreter->run, reason, &value));
    }
    return yk_jinja_scope_set(interpreter, YK_JINJA_NAME_CALLER, value);
}

static yk_status bind_kwargs(struct binding *binding)
{
    struct yk_jinja_interpreter *interpreter = binding->interpreter;
    const struct yk_jinja_arguments *arguments = binding->arguments;
    struct yk_jinja_dict *dict = NULL;
    YK_TRY(yk_jinja_dict_new(&interpreter->run, arguments->named, &dict));
    for (int64_t i = 0; i < arguments->named; i++) {
        if (!binding->used[i]) {
            YK_TRY(yk_jinja_dict_set(&interpreter->run, dict,
                                     yk_jinja_value_string(arguments->names[i]),
                                     arguments->values[arguments->positional + i]));
        }
    }
    const struct yk_jinja_value value = {.kind = YK_JINJA_DICT, .as.dict = dict};
    return yk_jinja_scope_set(interpreter, YK_JINJA_NAME_KWARGS, value);
}

static yk_status bind_varargs(struct binding *binding)
{
    struct yk_jinja_interpreter *interpreter = binding->interpreter;
    const struct yk_jinja_arguments *arguments = binding->arguments;
    const int64_t bound = binding->macro->parameter_count;
    const int64_t count = arguments->positional > bound ? arguments->positional - bound : 0;
    struct yk_jinja_value *items = NULL;
    struct yk_jinja_value value = {0};
    YK_TRY(yk_jinja_value_new_list(&interpreter->run, YK_JINJA_TUPLE, count, &items, &value));
    for (int64_t i = 0; i < count; i++) {
        items[i] = arguments->values[bound + i];
    }
    return yk_jinja_scope_set(interpreter, YK_JINJA_NAME_VARARGS, value);
}

static yk_status fail_arguments(const struct binding *binding, const char *what)
{
    const struct yk_jinja_string *name = binding->macro->name;
    return yk_fail(YK_ERROR_INPUT, "the macro \"%.*s\" is called with %s",
                   name ? (int)name->length : 6, name ? name->bytes : "caller", what);
}

static yk_status bind_arguments(struct binding *binding)
{
    const struct yk_jinja_macro *macro = binding->macro;
    const struct yk_jinja_arguments *arguments = binding->arguments;
    YK_JINJA_TRY_NEW(&binding->interpreter->run, binding->used, arguments->named + 1);
    if (!macro->uses_varargs && arguments->positional > macro->parameter_count) {
        return fail_arguments(binding, "too many arguments");
    }
    for (int32_t i = 0; i < macro->parameter_count; i++) {
        YK_TRY(bind_parameter(binding, i));
    }
    if (macro->uses_caller) {
        YK_TRY(bind_caller(binding));
    }
    if (macro->uses_kwargs) {
        YK_TRY(bind_kwargs(binding));
    } else {
        for (int64_t i = 0; i < arguments->named; i++) {
            if (!binding->used[i]) {
                return fail_arguments(binding, "a named argument that it does not have");
            }
        }
    }
    return macro->uses_varargs ? bind_varargs(binding) : YK_OK;
}

static yk_status call_macro(struct yk_jinja_run *run, const struct yk_jinja_callable *callable,
                            const struct yk_jinja_arguments *arguments, struct yk_jinja_value *out)
{
    const struct closure *closure = callable->data;
    struct yk_jinja_interpreter *interpreter = closure->interpreter;
    struct yk_jinja_scope *outer = interpreter->scope;
    struct binding binding = {
        .interpreter = interpreter, .macro = closure->macro, .arguments = arguments};
    YK_TRY(yk_jinja_run_enter(run));
    yk_status status = yk_jinja_scope_open(interpreter, closure->scope);
    YK_IF_OK(bind_arguments(&binding));
    YK_IF_OK(capture(interpreter, closure->macro->body, out));
    interpreter->scope = outer;
    yk_jinja_run_leave(run);
    return status;
}

static yk_status make_macro(struct yk_jinja_interpreter *interpreter,
                            const struct yk_jinja_macro *macro, struct yk_jinja_value *out)
{
    struct closure *closure = NULL;
    struct yk_jinja_callable *callable = NULL;
    YK_JINJA_TRY_NEW(&interpreter->run, closure, 1);
    YK_JINJA_TRY_NEW(&interpreter->run, callable, 1);
    *closure =
        (struct closure){.interpreter = interpreter, .macro = macro, .scope = interpreter->scope};
    *callable = (struct yk_jinja_callable){
        .call = call_macro, .name = "macro", .is_macro = true, .data = closure};
    callable->self = macro->name ? yk_jinja_value_string(macro->name) : yk_jinja_value_none();
    *out = (struct yk_jinja_value){.kind = YK_JINJA_CALLABLE, .as.callable = callable};
    return YK_OK;
}

static yk_status run_macro(struct yk_jinja_interpreter *interpreter,
                           const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value value = {0};
    YK_TRY(make_macro(interpreter, statement->macro, &value));
    return yk_jinja_scope_set(interpreter, statement->name, value);
}

static yk_status run_call_block(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_statement *statement)
{
    struct yk_jinja_value caller = {0};
    struct yk_jinja_value value = {0};
    YK_TRY(make_macro(interpreter, statement->macro, &caller));
    YK_TRY(yk_jinja_evaluator_call_with_caller(interpreter, statement->expression, caller, &value));
    return write_value(interpreter, value);
}

static yk_status (*const runners[YK_JINJA_STATEMENT_KIND_COUNT])(
    struct yk_jinja_interpreter *interpreter, const struct yk_jinja_statement *statement) = {
    [YK_JINJA_TEXT] = run_text,
    [YK_JINJA_PRINT] = run_print,
    [YK_JINJA_FOR] = run_for,
    [YK_JINJA_IF] = run_if,
    [YK_JINJA_SET] = run_set,
    [YK_JINJA_SET_BLOCK] = run_set_block,
    [YK_JINJA_MACRO] = run_macro,
    [YK_JINJA_CALL_BLOCK] = run_call_block,
    [YK_JINJA_FILTER_BLOCK] = run_filter_block,
    [YK_JINJA_WITH] = run_with,
    [YK_JINJA_GENERATION] = run_generation,
    [YK_JINJA_BLOCK] = run_block,
    [YK_JINJA_BREAK] = run_break,
    [YK_JINJA_CONTINUE] = run_continue,
};

static yk_status run_statements(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_statement *statements)
{
    for (const struct yk_jinja_statement *statement = statements;
         statement && interpreter->flow == YK_JINJA_FLOW_NEXT; statement = statement->next) {
        yk_status status = yk_jinja_run_step(&interpreter->run, 1);
        YK_IF_OK(runners[statement->kind](interpreter, statement));
        if (status != YK_OK) {
            interpreter->error_line =
                interpreter->error_line > 0 ? interpreter->error_line : statement->line;
            return status;
        }
    }
    return YK_OK;
}

yk_status yk_jinja_executor_run(struct yk_jinja_interpreter *interpreter,
                                const struct yk_jinja_statement *statements)
{
    YK_TRY(yk_jinja_run_enter(&interpreter->run));
    const yk_status status = run_statements(interpreter, statements);
    yk_jinja_run_leave(&interpreter->run);
    return status;
}
