#include "tokenizer/jinja/template_names.h"

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

yk_status yk_jinja_template_names_find_hidden(struct yk_jinja_syntax *syntax)
{
    struct names names = {0};
    const int32_t count = yk_name_index_count(syntax->names);
    YK_TRY_NEW(syntax->arena, names.met, count);
    YK_TRY_NEW(syntax->arena, names.hidden, count);
    visit_statements(&names, syntax->body, false);
    syntax->hidden = names.hidden;
    return YK_OK;
}
