#include "tokenizer/jinja/parser.h"

#include "base/text.h"

enum {
    MAX_ENDS = 3, /* names that may end a body */
    MAX_BLOCK_NESTED = 100,
    MAX_PARAMETERS = 1000 /* of a macro; each is compared with all others */
};

/* The names of which one ends a body, such as else and endfor. */
struct ends {
    const char *names[MAX_ENDS];
};

/* A list of statements while it is read. */
struct statements {
    struct yk_jinja_statement *first;
    struct yk_jinja_statement **last; /* where the next statement is linked */
};

static yk_status read_body(struct yk_jinja_parser *parser, const struct ends *ends,
                           struct yk_jinja_statement **out);

static yk_status new_statement(struct yk_jinja_parser *parser, enum yk_jinja_statement_kind kind,
                               int32_t line, struct yk_jinja_statement **out)
{
    YK_TRY_NEW(parser->syntax->arena, *out, 1);
    (*out)->kind = kind;
    (*out)->line = line;
    return YK_OK;
}

static bool at_end(const struct yk_jinja_parser *parser, const struct ends *ends)
{
    for (int i = 0; i < MAX_ENDS && ends->names[i]; i++) {
        if (yk_jinja_parser_at_name(parser, ends->names[i])) {
            return true;
        }
    }
    return false;
}

static yk_status expect_block_end(struct yk_jinja_parser *parser)
{
    if (parser->token->kind != YK_JINJA_TOKEN_BLOCK_END) {
        return yk_jinja_parser_fail(parser, "%} is expected");
    }
    parser->token++;
    return YK_OK;
}

/* Reads the rest of a block and the body up to one of the names in `ends`. The parser is then at
 * this name. */
static yk_status read_block_body(struct yk_jinja_parser *parser, const struct ends *ends,
                                 struct yk_jinja_statement **out)
{
    (void)yk_jinja_parser_skip_operator(parser, ':');
    YK_TRY(expect_block_end(parser));
    return read_body(parser, ends, out);
}

/* Reads the body up to `end` and advances over it. */
static yk_status read_last_body(struct yk_jinja_parser *parser, const char *end,
                                struct yk_jinja_statement **out)
{
    YK_TRY(read_block_body(parser, &(struct ends){{end}}, out));
    parser->token++;
    return YK_OK;
}

static yk_status check_loop_target(const struct yk_jinja_expression *target)
{
    if (target->kind == YK_JINJA_NAME && target->name == YK_JINJA_NAME_LOOP) {
        return yk_fail(YK_ERROR_INPUT, "line %d: \"loop\" cannot be the variable of a loop",
                       (int)target->line);
    }
    for (int32_t i = 0; i < target->item_count; i++) {
        YK_TRY(check_loop_target(target->items[i]));
    }
    return YK_OK;
}

static yk_status read_for(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    statement->kind = YK_JINJA_FOR;
    YK_TRY(yk_jinja_operand_parser_read_target(parser, false, "in", &statement->target));
    YK_TRY(check_loop_target(statement->target));
    if (!yk_jinja_parser_skip_name(parser, "in")) {
        return yk_jinja_parser_fail(parser, "\"in\" is expected");
    }
    YK_TRY(yk_jinja_operand_parser_read_tuple(parser, false, "recursive", &statement->expression));
    if (yk_jinja_parser_skip_name(parser, "if")) {
        YK_TRY(yk_jinja_expression_parser_read(parser, true, &statement->condition));
    }
    statement->recursive = yk_jinja_parser_skip_name(parser, "recursive");
    YK_TRY(read_block_body(parser, &(struct ends){{"endfor", "else"}}, &statement->body));
    if (!yk_jinja_parser_skip_name(parser, "else")) {
        parser->token++;
        return YK_OK;
    }
    return read_last_body(parser, "endfor", &statement->otherwise);
}

static yk_status read_if(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    for (;;) {
        statement->kind = YK_JINJA_IF;
        YK_TRY(yk_jinja_operand_parser_read_tuple(parser, false, NULL, &statement->expression));
        YK_TRY(
            read_block_body(parser, &(struct ends){{"elif", "else", "endif"}}, &statement->body));
        if (!yk_jinja_parser_skip_name(parser, "elif")) {
            break;
        }
        YK_TRY(new_statement(parser, YK_JINJA_IF, parser->token->line, &statement->otherwise));
        statement = statement->otherwise;
    }
    if (yk_jinja_parser_skip_name(parser, "else")) {
        return read_last_body(parser, "endif", &statement->otherwise);
    }
    parser->token++;
    return YK_OK;
}

static yk_status read_set(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    YK_TRY(yk_jinja_operand_parser_read_target(parser, true, NULL, &statement->target));
    if (yk_jinja_parser_skip_operator(parser, '=')) {
        statement->kind = YK_JINJA_SET;
        return yk_jinja_operand_parser_read_tuple(parser, true, NULL, &statement->expression);
    }
    statement->kind = YK_JINJA_SET_BLOCK;
    YK_TRY(yk_jinja_operand_parser_read_filters(parser, false, &statement->expression));
    return read_last_body(parser, "endset", &statement->body);
}

static yk_status read_with(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    int32_t capacity = 0;
    statement->kind = YK_JINJA_WITH;
    while (parser->token->kind != YK_JINJA_TOKEN_BLOCK_END) {
        if (statement->count > 0) {
            YK_TRY(yk_jinja_parser_expect_operator(parser, ','));
        }
        if (statement->count == capacity) {
            struct yk_jinja_expression **targets = NULL;
            struct yk_jinja_expression **values = NULL;
            capacity = capacity > 0 ? capacity * 2 : 4;
            YK_TRY_NEW(parser->syntax->arena, targets, capacity);
            YK_TRY_NEW(parser->syntax->arena, values, capacity);
            for (int32_t i = 0; i < statement->count; i++) {
                targets[i] = statement->targets[i];
                values[i] = statement->values[i];
            }
            statement->targets = targets;
            statement->values = values;
        }
        const int32_t index = statement->count;
        YK_TRY(
            yk_jinja_operand_parser_read_target(parser, false, NULL, &statement->targets[index]));
        YK_TRY(yk_jinja_parser_expect_operator(parser, '='));
        YK_TRY(yk_jinja_expression_parser_read(parser, true, &statement->values[index]));
        statement->count++;
    }
    return read_last_body(parser, "endwith", &statement->body);
}

static yk_status add_parameter(struct yk_jinja_parser *parser, struct yk_jinja_macro *macro,
                               int32_t *capacity)
{
    if (macro->parameter_count >= MAX_PARAMETERS) {
        return yk_fail(YK_ERROR_INPUT, "line %d: a macro has more than %d parameters",
                       (int)parser->token->line, MAX_PARAMETERS);
    }
    if (macro->parameter_count == *capacity) {
        const struct yk_jinja_string **parameters = NULL;
        int32_t *names = NULL;
        struct yk_jinja_expression **defaults = NULL;
        *capacity = *capacity > 0 ? *capacity * 2 : 4;
        YK_TRY_NEW(parser->syntax->arena, parameters, *capacity);
        YK_TRY_NEW(parser->syntax->arena, names, *capacity);
        YK_TRY_NEW(parser->syntax->arena, defaults, *capacity);
        for (int32_t i = 0; i < macro->parameter_count; i++) {
            parameters[i] = macro->parameters[i];
            names[i] = macro->parameter_names[i];
            defaults[i] = macro->defaults[i];
        }
        macro->parameters = parameters;
        macro->parameter_names = names;
        macro->defaults = defaults;
    }
    const int32_t index = macro->parameter_count;
    YK_TRY(yk_jinja_parser_read_name(parser, &macro->parameters[index],
                                     &macro->parameter_names[index]));
    for (int32_t i = 0; i < index; i++) {
        if (macro->parameter_names[i] == macro->parameter_names[index]) {
            return yk_fail(YK_ERROR_INPUT, "line %d: a macro has two parameters with one name",
                           (int)parser->token->line);
        }
    }
    macro->parameter_count++;
    return YK_OK;
}

/* Reads the parameters of a macro in parentheses. */
static yk_status read_signature(struct yk_jinja_parser *parser, struct yk_jinja_macro *macro)
{
    int32_t capacity = 0;
    YK_TRY(yk_jinja_parser_expect_operator(parser, '('));
    while (!yk_jinja_parser_at_operator(parser, ')')) {
        if (macro->parameter_count > 0) {
            YK_TRY(yk_jinja_parser_expect_operator(parser, ','));
        }
        YK_TRY(add_parameter(parser, macro, &capacity));
        if (yk_jinja_parser_skip_operator(parser, '=')) {
            YK_TRY(yk_jinja_expression_parser_read(parser, true,
                                                   &macro->defaults[macro->default_count]));
            macro->default_count++;
        } else if (macro->default_count > 0) {
            return yk_jinja_parser_fail(parser,
                                        "a parameter behind one with a default needs a default");
        }
    }
    parser->token++;
    return YK_OK;
}

/* Reads the body of a macro and notes which of the special names it has. */
static yk_status read_macro_body(struct yk_jinja_parser *parser, const char *end,
                                 struct yk_jinja_macro *macro)
{
    const struct yk_jinja_parser outer = *parser;
    struct yk_jinja_statement *body = NULL;
    parser->uses_caller = false;
    parser->uses_kwargs = false;
    parser->uses_varargs = false;
    YK_TRY(read_last_body(parser, end, &body));
    macro->body = body;
    macro->uses_caller = parser->uses_caller;
    macro->uses_kwargs = parser->uses_kwargs;
    macro->uses_varargs = parser->uses_varargs;
    for (int32_t i = 0; i < macro->parameter_count; i++) {
        macro->uses_kwargs =
            macro->uses_kwargs && macro->parameter_names[i] != YK_JINJA_NAME_KWARGS;
        macro->uses_varargs =
            macro->uses_varargs && macro->parameter_names[i] != YK_JINJA_NAME_VARARGS;
    }
    parser->uses_caller = parser->uses_caller || outer.uses_caller;
    parser->uses_kwargs = parser->uses_kwargs || outer.uses_kwargs;
    parser->uses_varargs = parser->uses_varargs || outer.uses_varargs;
    return YK_OK;
}

static yk_status read_macro(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    statement->kind = YK_JINJA_MACRO;
    YK_TRY_NEW(parser->syntax->arena, statement->macro, 1);
    YK_TRY(yk_jinja_parser_read_name(parser, &statement->macro->name, &statement->name));
    YK_TRY(read_signature(parser, statement->macro));
    return read_macro_body(parser, "endmacro", statement->macro);
}

static yk_status read_call(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    statement->kind = YK_JINJA_CALL_BLOCK;
    YK_TRY_NEW(parser->syntax->arena, statement->macro, 1);
    if (yk_jinja_parser_at_operator(parser, '(')) {
        YK_TRY(read_signature(parser, statement->macro));
    }
    YK_TRY(yk_jinja_expression_parser_read(parser, true, &statement->expression));
    if (statement->expression->kind != YK_JINJA_CALL) {
        return yk_fail(YK_ERROR_INPUT, "line %d: {%% call %%} needs a call of a macro",
                       (int)statement->line);
    }
    return read_macro_body(parser, "endcall", statement->macro);
}

static yk_status read_filter(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    statement->kind = YK_JINJA_FILTER_BLOCK;
    YK_TRY(yk_jinja_operand_parser_read_filters(parser, true, &statement->expression));
    return read_last_body(parser, "endfilter", &statement->body);
}

static yk_status read_generation(struct yk_jinja_parser *parser,
                                 struct yk_jinja_statement *statement)
{
    statement->kind = YK_JINJA_GENERATION;
    parser->syntax->has_generation = true;
    return read_last_body(parser, "endgeneration", &statement->body);
}

/* Fails if there already is a block with this name. Names of blocks are kept with those of
 * variables, behind a character that variables do not have. */
static yk_status note_block(struct yk_jinja_parser *parser, const struct yk_jinja_token *name)
{
    struct yk_text key = {0};
    bool added = false;
    int32_t number = 0;
    yk_text_addf(&key, "%%%.*s", (int)name->length, name->bytes);
    yk_status status = yk_text_status(&key);
    YK_IF_OK(yk_name_index_add(parser->syntax->names, yk_text_chars(&key), &added, &number));
    yk_text_free(&key);
    YK_TRY(status);
    return added ? YK_OK
                 : yk_fail(YK_ERROR_INPUT, "line %d: there are two blocks with one name",
                           (int)name->line);
}

static yk_status read_named_block(struct yk_jinja_parser *parser,
                                  struct yk_jinja_statement *statement)
{
    const struct yk_jinja_token *name = parser->token;
    statement->kind = YK_JINJA_BLOCK;
    if (name->kind != YK_JINJA_TOKEN_NAME) {
        return yk_jinja_parser_fail(parser, "the name of a block is expected");
    }
    parser->token++;
    YK_TRY(note_block(parser, name));
    statement->scoped = yk_jinja_parser_skip_name(parser, "scoped");
    YK_TRY(read_last_body(parser, "endblock", &statement->body));
    if (parser->token->kind == YK_JINJA_TOKEN_NAME && parser->token->length == name->length &&
        memcmp(parser->token->bytes, name->bytes, name->length) == 0) {
        parser->token++;
    }
    return YK_OK;
}

/* {% print a, b %} prints several expressions. They become the items of a tuple without commas. */
static yk_status read_print(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    statement->kind = YK_JINJA_PRINT;
    for (bool first = true; parser->token->kind != YK_JINJA_TOKEN_BLOCK_END; first = false) {
        if (!first) {
            YK_TRY(yk_jinja_parser_expect_operator(parser, ','));
            YK_TRY(new_statement(parser, YK_JINJA_PRINT, statement->line, &statement->next));
            statement = statement->next;
        }
        YK_TRY(yk_jinja_expression_parser_read(parser, true, &statement->expression));
    }
    return YK_OK;
}

static yk_status read_break(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    (void)parser;
    statement->kind = YK_JINJA_BREAK;
    return YK_OK;
}

static yk_status read_continue(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement)
{
    (void)parser;
    statement->kind = YK_JINJA_CONTINUE;
    return YK_OK;
}

static const struct {
    const char *name;
    /* NULL: not supported */
    yk_status (*read)(struct yk_jinja_parser *parser, struct yk_jinja_statement *statement);
} keywords[] = {
    {"for", read_for},
    {"if", read_if},
    {"set", read_set},
    {"macro", read_macro},
    {"call", read_call},
    {"filter", read_filter},
    {"with", read_with},
    {"generation", read_generation},
    {"break", read_break},
    {"continue", read_continue},
    {"block", read_named_block},
    {"print", read_print},
    {"import", NULL},
    {"include", NULL},
    {"from", NULL},
    {"extends", NULL},
    {"autoescape", NULL},
};

static yk_status read_statement(struct yk_jinja_parser *parser, struct yk_jinja_statement **out)
{
    const int32_t line = parser->token->line;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (!yk_jinja_parser_at_name(parser, keywords[i].name)) {
            continue;
        }
        if (!keywords[i].read) {
            return yk_fail(YK_ERROR_INPUT, "line %d: {%% %s %%} is not supported in chat templates",
                           (int)line, keywords[i].name);
        }
        parser->token++;
        YK_TRY(new_statement(parser, YK_JINJA_TEXT, line, out));
        return keywords[i].read(parser, *out);
    }
    return yk_jinja_parser_fail(parser, "a known keyword is expected behind {%");
}

static void link_statement(struct statements *statements, struct yk_jinja_statement *statement)
{
    *statements->last = statement;
    while (*statements->last) { /* {% print %} makes several */
        statements->last = &(*statements->last)->next;
    }
}

static yk_status read_text(struct yk_jinja_parser *parser, struct statements *statements)
{
    const struct yk_jinja_token *token = parser->token;
    struct yk_jinja_statement *statement = NULL;
    YK_TRY(new_statement(parser, YK_JINJA_TEXT, token->line, &statement));
    YK_TRY(yk_jinja_parser_new_string(parser, token->bytes, token->length, &statement->text));
    parser->token++;
    link_statement(statements, statement);
    return YK_OK;
}

static yk_status read_output(struct yk_jinja_parser *parser, struct statements *statements)
{
    struct yk_jinja_statement *statement = NULL;
    YK_TRY(new_statement(parser, YK_JINJA_PRINT, parser->token->line, &statement));
    parser->token++;
    YK_TRY(yk_jinja_operand_parser_read_tuple(parser, true, NULL, &statement->expression));
    if (parser->token->kind != YK_JINJA_TOKEN_PRINT_END) {
        return yk_jinja_parser_fail(parser, "}} is expected");
    }
    parser->token++;
    link_statement(statements, statement);
    return YK_OK;
}

/* Reads statements up to a block that begins with one of the names in `ends`, or, if `ends` is
 * NULL, up to the end of the template. */
static yk_status read_statements(struct yk_jinja_parser *parser, const struct ends *ends,
                                 struct statements *statements)
{
    for (;;) {
        struct yk_jinja_statement *statement = NULL;
        switch (parser->token->kind) {
        case YK_JINJA_TOKEN_TEXT:
            YK_TRY(read_text(parser, statements));
            break;
        case YK_JINJA_TOKEN_PRINT_BEGIN:
            YK_TRY(read_output(parser, statements));
            break;
        case YK_JINJA_TOKEN_END:
            return ends ? yk_jinja_parser_fail(parser, "the end of a block is missing") : YK_OK;
        default:
            parser->token++; /* {% */
            if (ends && at_end(parser, ends)) {
                return YK_OK;
            }
            YK_TRY(read_statement(parser, &statement));
            YK_TRY(expect_block_end(parser));
            link_statement(statements, statement);
        }
    }
}

static yk_status read_body(struct yk_jinja_parser *parser, const struct ends *ends,
                           struct yk_jinja_statement **out)
{
    struct statements statements = {.last = &statements.first};
    if (parser->depth >= MAX_BLOCK_NESTED) {
        return yk_fail(YK_ERROR_INPUT, "line %d: blocks are nested too deeply",
                       (int)parser->token->line);
    }
    parser->depth++;
    const yk_status status = read_statements(parser, ends, &statements);
    parser->depth--;
    *out = statements.first;
    return status;
}

yk_status yk_jinja_statement_parser_read(const struct yk_jinja_token *tokens,
                                         const struct yk_jinja_library *library,
                                         struct yk_jinja_syntax *syntax)
{
    static const char *const known[YK_JINJA_KNOWN_NAME_COUNT] = {
        [YK_JINJA_NAME_LOOP] = "loop",
        [YK_JINJA_NAME_CALLER] = "caller",
        [YK_JINJA_NAME_KWARGS] = "kwargs",
        [YK_JINJA_NAME_VARARGS] = "varargs",
    };
    struct yk_jinja_parser parser = {.syntax = syntax,
                                     .library = library,
                                     .read = yk_jinja_expression_parser_read,
                                     .token = tokens};
    struct yk_jinja_statement *body = NULL;
    for (size_t i = 0; i < YK_JINJA_KNOWN_NAME_COUNT; i++) {
        bool added = false;
        int32_t number = 0;
        YK_TRY(yk_name_index_add(syntax->names, known[i], &added, &number));
    }
    YK_TRY(read_body(&parser, NULL, &body));
    syntax->body = body;
    return YK_OK;
}
