#include "tokenizer/jinja/parser.h"

#include "base/text.h"

enum {
    MAX_NAMED_ARGUMENTS = 1000 /* of a call; each is compared with all others */
};

static void note_special_name(struct yk_jinja_parser *parser, int32_t number)
{
    parser->uses_caller = parser->uses_caller || number == YK_JINJA_NAME_CALLER;
    parser->uses_kwargs = parser->uses_kwargs || number == YK_JINJA_NAME_KWARGS;
    parser->uses_varargs = parser->uses_varargs || number == YK_JINJA_NAME_VARARGS;
}

static bool find_keyword(const struct yk_jinja_parser *parser, struct yk_jinja_value *out)
{
    static const struct {
        const char *name;
        enum yk_jinja_kind kind;
        bool value;
    } keywords[] = {
        {"true", YK_JINJA_BOOL, true},   {"True", YK_JINJA_BOOL, true},
        {"false", YK_JINJA_BOOL, false}, {"False", YK_JINJA_BOOL, false},
        {"none", YK_JINJA_NONE, false},  {"None", YK_JINJA_NONE, false},
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (yk_jinja_parser_at_name(parser, keywords[i].name)) {
            *out =
                (struct yk_jinja_value){.kind = keywords[i].kind, .as.boolean = keywords[i].value};
            return true;
        }
    }
    return false;
}

static yk_status read_name_or_keyword(struct yk_jinja_parser *parser, bool attributes,
                                      struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_value value = {0};
    const struct yk_jinja_string *name = NULL;
    int32_t number = 0;
    if (find_keyword(parser, &value)) {
        parser->token++;
        return yk_jinja_parser_new_constant(parser, line, value, out);
    }
    YK_TRY(yk_jinja_parser_read_name(parser, &name, &number));
    YK_TRY(yk_jinja_parser_new_expression(parser, YK_JINJA_NAME, line, out));
    (*out)->name = number;
    (*out)->attribute = name;
    note_special_name(parser, number);
    if (attributes && yk_jinja_parser_skip_operator(parser, YK_JINJA_OPERATOR_1('.'))) {
        int32_t unused = 0;
        (*out)->kind = YK_JINJA_NAMESPACE_REFERENCE;
        YK_TRY(yk_jinja_parser_read_name(parser, &(*out)->attribute, &unused));
    }
    return YK_OK;
}

/* Strings that follow each other are one string. */
static yk_status read_strings(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const struct yk_jinja_token *first = parser->token;
    const struct yk_jinja_string *string = NULL;
    struct yk_text text = {0};
    const char *bytes = first->bytes;
    size_t length = first->length;
    parser->token++;
    if (parser->token->kind == YK_JINJA_TOKEN_STRING) {
        yk_text_add_bytes(&text, first->bytes, first->length);
        for (; parser->token->kind == YK_JINJA_TOKEN_STRING; parser->token++) {
            yk_text_add_bytes(&text, parser->token->bytes, parser->token->length);
        }
        length = text.length;
        YK_TRY(yk_text_move_to_arena(&text, parser->syntax->arena, &bytes));
    }
    YK_TRY(yk_jinja_parser_new_string(parser, bytes, length, &string));
    return yk_jinja_parser_new_constant(parser, first->line, yk_jinja_value_string(string), out);
}

static yk_status read_list(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression_list list = {0};
    parser->token++;
    while (!yk_jinja_parser_at_operator(parser, ']')) {
        struct yk_jinja_expression *item = NULL;
        if (list.count > 0) {
            YK_TRY(yk_jinja_parser_expect_operator(parser, ','));
        }
        if (yk_jinja_parser_at_operator(parser, ']')) {
            break;
        }
        YK_TRY(parser->read(parser, true, &item));
        YK_TRY(yk_jinja_parser_append(parser, &list, item));
    }
    parser->token++;
    return yk_jinja_parser_new_list(parser, YK_JINJA_LIST_DISPLAY, line, &list, out);
}

static yk_status read_dict(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression_list list = {0};
    parser->token++;
    while (!yk_jinja_parser_at_operator(parser, '}')) {
        struct yk_jinja_expression *item = NULL;
        if (list.count > 0) {
            YK_TRY(yk_jinja_parser_expect_operator(parser, ','));
        }
        if (yk_jinja_parser_at_operator(parser, '}')) {
            break;
        }
        YK_TRY(parser->read(parser, true, &item));
        YK_TRY(yk_jinja_parser_append(parser, &list, item));
        YK_TRY(yk_jinja_parser_expect_operator(parser, ':'));
        YK_TRY(parser->read(parser, true, &item));
        YK_TRY(yk_jinja_parser_append(parser, &list, item));
    }
    parser->token++;
    return yk_jinja_parser_new_list(parser, YK_JINJA_DICT_DISPLAY, line, &list, out);
}

static bool at_tuple_end(const struct yk_jinja_parser *parser, const char *end)
{
    return parser->token->kind == YK_JINJA_TOKEN_PRINT_END ||
           parser->token->kind == YK_JINJA_TOKEN_BLOCK_END ||
           yk_jinja_parser_at_operator(parser, ')') ||
           (end && yk_jinja_parser_at_name(parser, end));
}

/* The elements of a tuple are expressions, or targets of an assignment. */
enum element {
    ELEMENT_EXPRESSION,
    ELEMENT_UNCONDITIONAL,
    ELEMENT_TARGET,
    ELEMENT_TARGET_OR_ATTRIBUTE
};

static yk_status read_element(struct yk_jinja_parser *parser, enum element element,
                              struct yk_jinja_expression **out)
{
    switch (element) {
    case ELEMENT_EXPRESSION:
        return parser->read(parser, true, out);
    case ELEMENT_UNCONDITIONAL:
        return parser->read(parser, false, out);
    default:
        return yk_jinja_operand_parser_read_primary(parser, element == ELEMENT_TARGET_OR_ATTRIBUTE,
                                                    out);
    }
}

static yk_status read_tuple(struct yk_jinja_parser *parser, enum element element, bool parentheses,
                            const char *end, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression_list list = {0};
    bool is_tuple = false;
    for (;;) {
        struct yk_jinja_expression *item = NULL;
        if (list.count > 0) {
            YK_TRY(yk_jinja_parser_expect_operator(parser, ','));
        }
        if (at_tuple_end(parser, end)) {
            break;
        }
        YK_TRY(read_element(parser, element, &item));
        YK_TRY(yk_jinja_parser_append(parser, &list, item));
        if (!yk_jinja_parser_at_operator(parser, ',')) {
            break;
        }
        is_tuple = true;
    }
    if (!is_tuple && list.count > 0) {
        *out = list.items[0];
        return YK_OK;
    }
    if (!is_tuple && !parentheses) {
        return yk_jinja_parser_fail(parser, "an expression is expected");
    }
    return yk_jinja_parser_new_list(parser, YK_JINJA_TUPLE_DISPLAY, line, &list, out);
}

yk_status yk_jinja_operand_parser_read_tuple(struct yk_jinja_parser *parser, bool conditional,
                                             const char *end, struct yk_jinja_expression **out)
{
    return read_tuple(parser, conditional ? ELEMENT_EXPRESSION : ELEMENT_UNCONDITIONAL, false, end,
                      out);
}

static yk_status check_target(const struct yk_jinja_parser *parser,
                              const struct yk_jinja_expression *target)
{
    if (target->kind == YK_JINJA_NAME || target->kind == YK_JINJA_NAMESPACE_REFERENCE) {
        return YK_OK;
    }
    if (target->kind != YK_JINJA_TUPLE_DISPLAY) {
        return yk_fail(YK_ERROR_INPUT, "line %d: nothing can be assigned to this expression",
                       (int)target->line);
    }
    for (int32_t i = 0; i < target->item_count; i++) {
        YK_TRY(check_target(parser, target->items[i]));
    }
    return YK_OK;
}

yk_status yk_jinja_operand_parser_read_target(struct yk_jinja_parser *parser, bool attributes,
                                              const char *end, struct yk_jinja_expression **out)
{
    YK_TRY(read_tuple(parser, attributes ? ELEMENT_TARGET_OR_ATTRIBUTE : ELEMENT_TARGET, false, end,
                      out));
    return check_target(parser, *out);
}

yk_status yk_jinja_operand_parser_read_primary(struct yk_jinja_parser *parser, bool attributes,
                                               struct yk_jinja_expression **out)
{
    const struct yk_jinja_token *token = parser->token;
    switch (token->kind) {
    case YK_JINJA_TOKEN_NAME:
        return read_name_or_keyword(parser, attributes, out);
    case YK_JINJA_TOKEN_STRING:
        return read_strings(parser, out);
    case YK_JINJA_TOKEN_INTEGER:
        parser->token++;
        return yk_jinja_parser_new_constant(parser, token->line,
                                            yk_jinja_value_int(token->as.integer), out);
    case YK_JINJA_TOKEN_FLOAT:
        parser->token++;
        return yk_jinja_parser_new_constant(parser, token->line,
                                            yk_jinja_value_float(token->as.number), out);
    default:
        break;
    }
    if (yk_jinja_parser_skip_operator(parser, '(')) {
        YK_TRY(read_tuple(parser, ELEMENT_EXPRESSION, true, NULL, out));
        return yk_jinja_parser_expect_operator(parser, ')');
    }
    if (yk_jinja_parser_at_operator(parser, '[')) {
        return read_list(parser, out);
    }
    if (yk_jinja_parser_at_operator(parser, '{')) {
        return read_dict(parser, out);
    }
    return yk_jinja_parser_fail(parser, "an expression is expected");
}

static yk_status read_slice_part(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    *out = NULL;
    if (yk_jinja_parser_at_operator(parser, ':') || yk_jinja_parser_at_operator(parser, ']') ||
        yk_jinja_parser_at_operator(parser, ',')) {
        return YK_OK;
    }
    return parser->read(parser, true, out);
}

static yk_status read_subscript(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression *parts[3] = {NULL, NULL, NULL};
    if (!yk_jinja_parser_at_operator(parser, ':')) {
        YK_TRY(parser->read(parser, true, &parts[0]));
        if (!yk_jinja_parser_at_operator(parser, ':')) {
            *out = parts[0];
            return YK_OK;
        }
    }
    parser->token++;
    YK_TRY(read_slice_part(parser, &parts[1]));
    if (yk_jinja_parser_skip_operator(parser, ':')) {
        YK_TRY(read_slice_part(parser, &parts[2]));
    }
    YK_TRY(
        yk_jinja_parser_new_parent(parser, YK_JINJA_SLICE_DISPLAY, line, parts[0], parts[1], out));
    (*out)->third = parts[2];
    return yk_jinja_parser_check_depth(*out, parts[2]);
}

static yk_status find_methods(struct yk_jinja_parser *parser, const struct yk_jinja_string *name,
                              const struct yk_jinja_function ***out)
{
    for (int kind = 0; kind < YK_JINJA_KIND_COUNT; kind++) {
        const struct yk_jinja_function *method =
            parser->library->find_method((enum yk_jinja_kind)kind, name->bytes, name->length);
        if (method && !*out) {
            YK_TRY_NEW(parser->syntax->arena, *out, YK_JINJA_KIND_COUNT);
        }
        if (method) {
            (*out)[kind] = method;
        }
    }
    return YK_OK;
}

/* Reads the attribute behind a dot. A number is an item: items.0 */
static yk_status read_attribute(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const struct yk_jinja_token *token = parser->token;
    struct yk_jinja_expression *index = NULL;
    if (token->kind == YK_JINJA_TOKEN_INTEGER) {
        parser->token++;
        YK_TRY(yk_jinja_parser_new_constant(parser, token->line,
                                            yk_jinja_value_int(token->as.integer), &index));
        return yk_jinja_parser_new_parent(parser, YK_JINJA_ITEM, token->line, *out, index, out);
    }
    if (token->kind != YK_JINJA_TOKEN_NAME) {
        return yk_jinja_parser_fail(parser, "a name is expected behind \".\"");
    }
    parser->token++;
    YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_ATTRIBUTE, token->line, *out, NULL, out));
    YK_TRY(yk_jinja_parser_new_string(parser, token->bytes, token->length, &(*out)->attribute));
    return find_methods(parser, (*out)->attribute, &(*out)->as.methods);
}

static yk_status read_item(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression_list list = {0};
    struct yk_jinja_expression *key = NULL;
    while (!yk_jinja_parser_at_operator(parser, ']')) {
        if (list.count > 0) {
            YK_TRY(yk_jinja_parser_expect_operator(parser, ','));
        }
        YK_TRY(read_subscript(parser, &key));
        YK_TRY(yk_jinja_parser_append(parser, &list, key));
    }
    parser->token++;
    if (list.count != 1) {
        YK_TRY(yk_jinja_parser_new_list(parser, YK_JINJA_TUPLE_DISPLAY, line, &list, &key));
    }
    return yk_jinja_parser_new_parent(parser, YK_JINJA_ITEM, line, *out, key, out);
}

/* The arguments of a call while they are read. */
struct argument_reader {
    struct yk_jinja_expression_list positional;
    struct yk_jinja_expression_list named;
    const struct yk_jinja_string **names;
    int32_t name_capacity;
    struct yk_jinja_argument_list *list;
};

static yk_status read_named_argument(struct yk_jinja_parser *parser, struct argument_reader *reader)
{
    const struct yk_jinja_string *name = NULL;
    struct yk_jinja_expression *value = NULL;
    YK_TRY(yk_jinja_parser_new_string(parser, parser->token->bytes, parser->token->length, &name));
    parser->token += 2;
    YK_TRY(parser->read(parser, true, &value));
    if (reader->named.count == reader->name_capacity) {
        const struct yk_jinja_string **names = NULL;
        reader->name_capacity = reader->name_capacity > 0 ? reader->name_capacity * 2 : 4;
        YK_TRY_NEW(parser->syntax->arena, names, reader->name_capacity);
        for (int32_t i = 0; i < reader->named.count; i++) {
            names[i] = reader->names[i];
        }
        reader->names = names;
    }
    if (reader->named.count >= MAX_NAMED_ARGUMENTS) {
        return yk_fail(YK_ERROR_INPUT, "line %d: a call has more than %d named arguments",
                       (int)parser->token->line, MAX_NAMED_ARGUMENTS);
    }
    for (int32_t i = 0; i < reader->named.count; i++) {
        if (yk_jinja_value_same_string(reader->names[i], name)) {
            return yk_fail(YK_ERROR_INPUT, "line %d: a call has two arguments with one name",
                           (int)parser->token->line);
        }
    }
    reader->names[reader->named.count] = name;
    return yk_jinja_parser_append(parser, &reader->named, value);
}

static yk_status read_argument(struct yk_jinja_parser *parser, struct argument_reader *reader)
{
    struct yk_jinja_argument_list *list = reader->list;
    struct yk_jinja_expression *value = NULL;
    const struct yk_jinja_token *next = parser->token + 1;
    const bool is_named = parser->token->kind == YK_JINJA_TOKEN_NAME &&
                          next->kind == YK_JINJA_TOKEN_OPERATOR && next->as.operator== '=';
    const bool no_more = !list->more_positional && !list->more_named;
    if (no_more && yk_jinja_parser_skip_operator(parser, '*')) {
        return parser->read(parser, true, &list->more_positional);
    }
    if (!list->more_named && yk_jinja_parser_skip_operator(parser, YK_JINJA_OPERATOR_2('*', '*'))) {
        return parser->read(parser, true, &list->more_named);
    }
    if (is_named && !list->more_named) {
        return read_named_argument(parser, reader);
    }
    if (!no_more || is_named || reader->named.count > 0) {
        return yk_jinja_parser_fail(parser, "an argument of a call is misplaced");
    }
    YK_TRY(parser->read(parser, true, &value));
    return yk_jinja_parser_append(parser, &reader->positional, value);
}

static yk_status finish_arguments(struct yk_jinja_parser *parser,
                                  const struct argument_reader *reader,
                                  struct yk_jinja_expression *call)
{
    struct yk_jinja_argument_list *list = reader->list;
    list->positional = reader->positional.count;
    list->named = reader->named.count;
    list->names = reader->names;
    YK_TRY_NEW(parser->syntax->arena, list->values, list->positional + list->named + 1);
    for (int32_t i = 0; i < list->positional + list->named; i++) {
        list->values[i] = i < list->positional ? reader->positional.items[i]
                                               : reader->named.items[i - list->positional];
        YK_TRY(yk_jinja_parser_check_depth(call, list->values[i]));
    }
    YK_TRY(yk_jinja_parser_check_depth(call, list->more_positional));
    YK_TRY(yk_jinja_parser_check_depth(call, list->more_named));
    call->arguments = list;
    return YK_OK;
}

/* Reads the arguments of `call` in parentheses, if there are any. */
static yk_status read_arguments(struct yk_jinja_parser *parser, struct yk_jinja_expression *call)
{
    struct argument_reader reader = {0};
    YK_TRY_NEW(parser->syntax->arena, reader.list, 1);
    if (yk_jinja_parser_skip_operator(parser, '(')) {
        bool first = true;
        while (!yk_jinja_parser_at_operator(parser, ')')) {
            if (!first) {
                YK_TRY(yk_jinja_parser_expect_operator(parser, ','));
                if (yk_jinja_parser_at_operator(parser, ')')) {
                    break;
                }
            }
            YK_TRY(read_argument(parser, &reader));
            first = false;
        }
        parser->token++;
    }
    return finish_arguments(parser, &reader, call);
}

static yk_status read_call(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_CALL, parser->token->line, *out, NULL, out));
    return read_arguments(parser, *out);
}

yk_status yk_jinja_operand_parser_read_postfix(struct yk_jinja_parser *parser,
                                               struct yk_jinja_expression **out)
{
    for (;;) {
        if (yk_jinja_parser_skip_operator(parser, '.')) {
            YK_TRY(read_attribute(parser, out));
        } else if (yk_jinja_parser_skip_operator(parser, '[')) {
            YK_TRY(read_item(parser, out));
        } else if (yk_jinja_parser_at_operator(parser, '(')) {
            YK_TRY(read_call(parser, out));
        } else {
            return YK_OK;
        }
    }
}

/* Reads the name of a filter or test, which may have dots. */
static yk_status read_function_name(struct yk_jinja_parser *parser,
                                    const struct yk_jinja_string **out)
{
    struct yk_text text = {0};
    const char *bytes = NULL;
    do {
        if (parser->token->kind != YK_JINJA_TOKEN_NAME) {
            yk_text_free(&text);
            return yk_jinja_parser_fail(parser, "a name is expected");
        }
        yk_text_add(&text, text.length > 0 ? "." : "");
        yk_text_add_bytes(&text, parser->token->bytes, parser->token->length);
        parser->token++;
    } while (yk_jinja_parser_skip_operator(parser, '.'));
    const size_t length = text.length;
    YK_TRY(yk_text_move_to_arena(&text, parser->syntax->arena, &bytes));
    return yk_jinja_parser_new_string(parser, bytes, length, out);
}

static yk_status read_filter(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_FILTER, line, *out, NULL, out));
    YK_TRY(read_function_name(parser, &(*out)->attribute));
    const struct yk_jinja_string *name = (*out)->attribute;
    (*out)->as.function = parser->library->find_filter(name->bytes, name->length);
    return read_arguments(parser, *out);
}

yk_status yk_jinja_operand_parser_read_filters(struct yk_jinja_parser *parser, bool at_name,
                                               struct yk_jinja_expression **out)
{
    *out = NULL;
    if (at_name) {
        YK_TRY(read_filter(parser, out));
    }
    while (yk_jinja_parser_skip_operator(parser, '|')) {
        YK_TRY(read_filter(parser, out));
    }
    return YK_OK;
}

/* A test may have one argument that is not in parentheses: x is divisibleby 3 */
static bool at_bare_argument(const struct yk_jinja_parser *parser)
{
    switch (parser->token->kind) {
    case YK_JINJA_TOKEN_NAME:
        return !yk_jinja_parser_at_name(parser, "else") && !yk_jinja_parser_at_name(parser, "or") &&
               !yk_jinja_parser_at_name(parser, "and");
    case YK_JINJA_TOKEN_STRING:
    case YK_JINJA_TOKEN_INTEGER:
    case YK_JINJA_TOKEN_FLOAT:
        return true;
    default:
        return yk_jinja_parser_at_operator(parser, '[') || yk_jinja_parser_at_operator(parser, '{');
    }
}

static yk_status read_test(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    const bool negated = yk_jinja_parser_skip_name(parser, "not");
    YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_TEST, line, *out, NULL, out));
    struct yk_jinja_expression *test = *out;
    YK_TRY(read_function_name(parser, &test->attribute));
    const struct yk_jinja_string *name = test->attribute;
    test->as.function = parser->library->find_test(name->bytes, name->length);
    if (!yk_jinja_parser_at_operator(parser, '(') && at_bare_argument(parser)) {
        struct argument_reader reader = {0};
        struct yk_jinja_expression *argument = NULL;
        if (yk_jinja_parser_at_name(parser, "is")) {
            return yk_jinja_parser_fail(parser, "two tests with \"is\" need an \"and\"");
        }
        YK_TRY_NEW(parser->syntax->arena, reader.list, 1);
        YK_TRY(yk_jinja_operand_parser_read_primary(parser, false, &argument));
        YK_TRY(yk_jinja_operand_parser_read_postfix(parser, &argument));
        YK_TRY(yk_jinja_parser_append(parser, &reader.positional, argument));
        YK_TRY(finish_arguments(parser, &reader, test));
    } else {
        YK_TRY(read_arguments(parser, test));
    }
    return negated ? yk_jinja_parser_new_parent(parser, YK_JINJA_NOT, line, test, NULL, out)
                   : YK_OK;
}

yk_status yk_jinja_operand_parser_read_filters_and_tests(struct yk_jinja_parser *parser,
                                                         struct yk_jinja_expression **out)
{
    for (;;) {
        if (yk_jinja_parser_skip_operator(parser, '|')) {
            YK_TRY(read_filter(parser, out));
        } else if (yk_jinja_parser_skip_name(parser, "is")) {
            YK_TRY(read_test(parser, out));
        } else if (yk_jinja_parser_at_operator(parser, '(')) {
            YK_TRY(read_call(parser, out));
        } else {
            return YK_OK;
        }
    }
}
