#include "tokenizer/jinja/parser.h"

/* Where an expression or a statement is. */
struct place {
    bool optional; /* in an "if": unknown filters are an error only when they are used */
    bool in_loop;
    bool has_loop; /* in a loop, perhaps in a macro in it: "loop" cannot be assigned to */
};

static yk_status check_statements(const struct yk_jinja_statement *statements, struct place place);

static yk_status check_expression(const struct yk_jinja_expression *expression, bool optional);

static yk_status check_arguments(const struct yk_jinja_argument_list *arguments, bool optional)
{
    for (int32_t i = 0; arguments && i < arguments->positional + arguments->named; i++) {
        YK_TRY(check_expression(arguments->values[i], optional));
    }
    if (arguments) {
        YK_TRY(check_expression(arguments->more_positional, optional));
        YK_TRY(check_expression(arguments->more_named, optional));
    }
    return YK_OK;
}

/* The depth of expressions is limited by the parser. */
static yk_status check_expression(const struct yk_jinja_expression *expression, bool optional)
{
    if (!expression) {
        return YK_OK;
    }
    const bool inside = optional || expression->kind == YK_JINJA_CONDITION;
    const bool named = expression->kind == YK_JINJA_FILTER || expression->kind == YK_JINJA_TEST;
    if (named && !optional && !expression->as.function) {
        return yk_fail(YK_ERROR_INPUT, "line %d: there is no %s \"%.*s\"", (int)expression->line,
                       expression->kind == YK_JINJA_FILTER ? "filter" : "test",
                       (int)expression->attribute->length, expression->attribute->bytes);
    }
    YK_TRY(check_expression(expression->first, inside));
    YK_TRY(check_expression(expression->second, inside));
    YK_TRY(check_expression(expression->third, inside));
    for (int32_t i = 0; i < expression->item_count; i++) {
        YK_TRY(check_expression(expression->items[i], inside));
    }
    return check_arguments(expression->arguments, inside);
}

static yk_status check_target(const struct yk_jinja_expression *target, struct place place)
{
    if (target && place.has_loop && target->kind == YK_JINJA_NAME &&
        target->name == YK_JINJA_NAME_LOOP) {
        return yk_fail(YK_ERROR_INPUT, "line %d: \"loop\" cannot be assigned to in a loop",
                       (int)target->line);
    }
    for (int32_t i = 0; target && i < target->item_count; i++) {
        YK_TRY(check_target(target->items[i], place));
    }
    return YK_OK;
}

static yk_status check_macro(const struct yk_jinja_macro *macro, struct place place)
{
    if (!macro) {
        return YK_OK;
    }
    for (int32_t i = 0; i < macro->default_count; i++) {
        YK_TRY(check_expression(macro->defaults[i], false));
    }
    return check_statements(macro->body, (struct place){.has_loop = place.has_loop});
}

/* Bodies that jinja2 compiles to functions of their own leave the loop around them. */
static struct place place_of_body(const struct yk_jinja_statement *statement, struct place place)
{
    switch (statement->kind) {
    case YK_JINJA_IF:
        return (struct place){true, place.in_loop, place.has_loop};
    case YK_JINJA_FOR:
        return (struct place){.in_loop = true, .has_loop = true};
    case YK_JINJA_GENERATION:
    case YK_JINJA_BLOCK:
        return (struct place){.has_loop = place.has_loop};
    default:
        return (struct place){.in_loop = place.in_loop, .has_loop = place.has_loop};
    }
}

static yk_status check_statement(const struct yk_jinja_statement *statement, struct place place)
{
    const bool control = statement->kind == YK_JINJA_BREAK || statement->kind == YK_JINJA_CONTINUE;
    const bool is_if = statement->kind == YK_JINJA_IF;
    if (control && !place.in_loop) {
        return yk_fail(YK_ERROR_INPUT, "line %d: {%% %s %%} is outside of a loop",
                       (int)statement->line,
                       statement->kind == YK_JINJA_BREAK ? "break" : "continue");
    }
    YK_TRY(check_expression(statement->expression, place.optional || is_if));
    YK_TRY(check_expression(statement->condition, false));
    YK_TRY(check_target(statement->target, place));
    for (int32_t i = 0; i < statement->count; i++) {
        YK_TRY(check_expression(statement->values[i], place.optional));
        YK_TRY(check_target(statement->targets[i], place));
    }
    YK_TRY(check_statements(statement->body, place_of_body(statement, place)));
    return check_macro(statement->macro, place);
}

static yk_status check_statements(const struct yk_jinja_statement *statements, struct place place)
{
    for (const struct yk_jinja_statement *statement = statements; statement;
         statement = statement->next) {
        /* A long chain of "elif" is not recursive. */
        const struct yk_jinja_statement *current = statement;
        YK_TRY(check_statement(current, place));
        while (current->kind == YK_JINJA_IF && current->otherwise &&
               current->otherwise->kind == YK_JINJA_IF && !current->otherwise->next) {
            current = current->otherwise;
            YK_TRY(check_statement(current, (struct place){true, place.in_loop, place.has_loop}));
        }
        const struct place otherwise = {.optional = current->kind == YK_JINJA_IF,
                                        .in_loop = place.in_loop,
                                        .has_loop =
                                            place.has_loop || current->kind == YK_JINJA_FOR};
        YK_TRY(check_statements(current->otherwise, otherwise));
    }
    return YK_OK;
}

yk_status yk_jinja_template_analysis_check(const struct yk_jinja_syntax *syntax)
{
    return check_statements(syntax->body, (struct place){0});
}

/* The names that were met so far, in the order in which jinja2 looks at a template. */
struct names {
    bool *met;
    bool *hidden;
};

static void meet(struct names *names, int32_t name, bool hides)
{
    names->hidden[name] = names->hidden[name] || (hides && !names->met[name]);
    names->met[name] = true;
}

static void visit_expression(struct names *names, const struct yk_jinja_expression *expression)
{
    if (!expression) {
        return;
    }
    if (expression->kind == YK_JINJA_NAME) {
        meet(names, expression->name, false);
    }
    visit_expression(names, expression->first);
    visit_expression(names, expression->second);
    visit_expression(names, expression->third);
    for (int32_t i = 0; i < expression->item_count; i++) {
        visit_expression(names, expression->items[i]);
    }
    const struct yk_jinja_argument_list *arguments = expression->arguments;
    for (int32_t i = 0; arguments && i < arguments->positional + arguments->named; i++) {
        visit_expression(names, arguments->values[i]);
    }
    if (arguments) {
        visit_expression(names, arguments->more_positional);
        visit_expression(names, arguments->more_named);
    }
}

/* A name that is set only in an "if" has the value of the caller otherwise. */
static void visit_target(struct names *names, const struct yk_jinja_expression *target,
                         bool conditional)
{
    if (target->kind == YK_JINJA_NAME) {
        meet(names, target->name, !conditional);
    } else if (target->kind == YK_JINJA_NAMESPACE_REFERENCE) {
        meet(names, target->name, false);
    }
    for (int32_t i = 0; i < target->item_count; i++) {
        visit_target(names, target->items[i], conditional);
    }
}

static void visit_statements(struct names *names, const struct yk_jinja_statement *statements,
                             bool conditional);

/* The bodies of loops, macros and blocks have names of their own. */
static void visit_statement(struct names *names, const struct yk_jinja_statement *statement,
                            bool conditional)
{
    if (statement->kind != YK_JINJA_SET_BLOCK) {
        visit_expression(names, statement->expression);
    }
    for (int32_t i = 0; i < statement->count; i++) {
        visit_expression(names, statement->values[i]);
    }
    if (statement->kind == YK_JINJA_SET || statement->kind == YK_JINJA_SET_BLOCK) {
        visit_target(names, statement->target, conditional);
    } else if (statement->kind == YK_JINJA_MACRO) {
        meet(names, statement->name, !conditional);
    } else if (statement->kind == YK_JINJA_IF) {
        visit_statements(names, statement->body, true);
    }
}

static void visit_statements(struct names *names, const struct yk_jinja_statement *statements,
                             bool conditional)
{
    for (const struct yk_jinja_statement *statement = statements; statement;
         statement = statement->next) {
        const struct yk_jinja_statement *current = statement;
        visit_statement(names, current, conditional);
        /* A long chain of "elif" is not recursive. */
        while (current->kind == YK_JINJA_IF && current->otherwise &&
               current->otherwise->kind == YK_JINJA_IF && !current->otherwise->next) {
            current = current->otherwise;
            visit_statement(names, current, true);
        }
        if (current->kind == YK_JINJA_IF) {
            visit_statements(names, current->otherwise, true);
        }
    }
}

yk_status yk_jinja_template_analysis_find_hidden(struct yk_jinja_syntax *syntax)
{
    struct names names = {0};
    const int32_t count = yk_name_index_count(syntax->names);
    YK_TRY_NEW(syntax->arena, names.met, count);
    YK_TRY_NEW(syntax->arena, names.hidden, count);
    visit_statements(&names, syntax->body, false);
    syntax->hidden = names.hidden;
    return YK_OK;
}
