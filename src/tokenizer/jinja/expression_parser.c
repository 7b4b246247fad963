#include "tokenizer/jinja/expression_parser.h"

#include "tokenizer/jinja/string.h"

#include "base/hash.h"
#include "base/text.h"

enum {
    MAX_NESTED = 1000, /* calls of functions that call themselves */
    SHOWN_BYTES = 60
};

/* A list of expressions while it is read. */
struct list {
    struct yk_jinja_expression **items;
    int32_t count;
    int32_t capacity;
};

static yk_status read_or(struct yk_jinja_parser *parser, struct yk_jinja_expression **out);
static yk_status read_unary(struct yk_jinja_parser *parser, bool filtered,
                            struct yk_jinja_expression **out);

yk_status yk_jinja_expression_parser_fail(const struct yk_jinja_parser *parser, const char *what)
{
    const struct yk_jinja_token *token = parser->token;
    const int line = (int)token->line;
    const int shown = token->length < SHOWN_BYTES ? (int)token->length : SHOWN_BYTES;
    switch (token->kind) {
    case YK_JINJA_TOKEN_END:
        return yk_fail(YK_ERROR_INPUT, "line %d: %s, but the template ends", line, what);
    case YK_JINJA_TOKEN_BLOCK_END:
    case YK_JINJA_TOKEN_PRINT_END:
        return yk_fail(YK_ERROR_INPUT, "line %d: %s, but here ends the %s", line, what,
                       token->kind == YK_JINJA_TOKEN_BLOCK_END ? "block %}" : "expression }}");
    default:
        return yk_fail(YK_ERROR_INPUT, "line %d: %s, not \"%.*s\"", line, what, shown,
                       token->bytes ? token->bytes : "");
    }
}

yk_status yk_jinja_expression_parser_enter(struct yk_jinja_parser *parser)
{
    if (parser->depth >= MAX_NESTED) {
        return yk_fail(YK_ERROR_INPUT, "line %d: the template is nested too deeply",
                       (int)parser->token->line);
    }
    parser->depth++;
    return YK_OK;
}

bool yk_jinja_expression_parser_at_name(const struct yk_jinja_parser *parser, const char *name)
{
    const struct yk_jinja_token *token = parser->token;
    return token->kind == YK_JINJA_TOKEN_NAME && token->length == strlen(name) &&
           memcmp(token->bytes, name, token->length) == 0;
}

bool yk_jinja_expression_parser_at_operator(const struct yk_jinja_parser *parser, uint32_t operator)
{
    return parser->token->kind == YK_JINJA_TOKEN_OPERATOR && parser->token->as.operator== operator;
}

bool yk_jinja_expression_parser_skip_name(struct yk_jinja_parser *parser, const char *name)
{
    const bool found = yk_jinja_expression_parser_at_name(parser, name);
    parser->token += found;
    return found;
}

bool yk_jinja_expression_parser_skip_operator(struct yk_jinja_parser *parser, uint32_t operator)
{
    const bool found = yk_jinja_expression_parser_at_operator(parser, operator);
    parser->token += found;
    return found;
}

yk_status yk_jinja_expression_parser_expect_operator(struct yk_jinja_parser *parser,
                                                     uint32_t operator)
{
    if (yk_jinja_expression_parser_skip_operator(parser, operator)) {
        return YK_OK;
    }
    const char what[] = {
        '"', (char)operator, '"', ' ', 'i', 's', ' ', 'e', 'x', 'p', 'e', 'c', 't', 'e', 'd', '\0'};
    return yk_jinja_expression_parser_fail(parser, what);
}

yk_status yk_jinja_expression_parser_new_string(struct yk_jinja_parser *parser, const char *bytes,
                                                size_t length, const struct yk_jinja_string **out)
{
    struct yk_jinja_string *string = NULL;
    YK_TRY_NEW(parser->syntax->arena, string, 1);
    string->bytes = bytes;
    string->length = length;
    string->characters = -1;
    /* Threads share the string: both are computed now. */
    (void)yk_jinja_string_length(string);
    string->hash = yk_hash_bytes(bytes, length);
    *out = string;
    return YK_OK;
}

static void note_special_name(struct yk_jinja_parser *parser, int32_t number)
{
    parser->uses_caller = parser->uses_caller || number == YK_JINJA_NAME_CALLER;
    parser->uses_kwargs = parser->uses_kwargs || number == YK_JINJA_NAME_KWARGS;
    parser->uses_varargs = parser->uses_varargs || number == YK_JINJA_NAME_VARARGS;
}

yk_status yk_jinja_expression_parser_read_name(struct yk_jinja_parser *parser,
                                               const struct yk_jinja_string **out, int32_t *number)
{
    const struct yk_jinja_token *token = parser->token;
    bool added = false;
    if (token->kind != YK_JINJA_TOKEN_NAME) {
        return yk_jinja_expression_parser_fail(parser, "a name is expected");
    }
    YK_TRY(yk_jinja_expression_parser_new_string(parser, token->bytes, token->length, out));
    YK_TRY(yk_name_index_add_bytes(parser->syntax->names, token->bytes, token->length, &added,
                                   number));
    parser->token++;
    return YK_OK;
}

static yk_status new_expression(struct yk_jinja_parser *parser, enum yk_jinja_expression_kind kind,
                                int32_t line, struct yk_jinja_expression **out)
{
    YK_TRY_NEW(parser->syntax->arena, *out, 1);
    (*out)->kind = kind;
    (*out)->line = line;
    (*out)->depth = 1;
    return YK_OK;
}

static yk_status check_depth(struct yk_jinja_expression *parent,
                             const struct yk_jinja_expression *child)
{
    if (child && child->depth >= parent->depth) {
        parent->depth = child->depth + 1;
    }
    return parent->depth <= YK_JINJA_MAX_SYNTAX_DEPTH
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "line %d: an expression is nested too deeply",
                         (int)parent->line);
}

/* Makes an expression with up to three operands. */
static yk_status new_parent(struct yk_jinja_parser *parser, enum yk_jinja_expression_kind kind,
                            int32_t line, struct yk_jinja_expression *first,
                            struct yk_jinja_expression *second, struct yk_jinja_expression **out)
{
    struct yk_jinja_expression *made = NULL;
    YK_TRY(new_expression(parser, kind, line, &made));
    made->first = first;
    made->second = second;
    YK_TRY(check_depth(made, first));
    YK_TRY(check_depth(made, second));
    *out = made;
    return YK_OK;
}

static yk_status append(struct yk_jinja_parser *parser, struct list *list,
                        struct yk_jinja_expression *item)
{
    if (list->count == list->capacity) {
        struct yk_jinja_expression **items = NULL;
        const int32_t capacity = list->capacity > 0 ? list->capacity * 2 : 4;
        YK_TRY_NEW(parser->syntax->arena, items, capacity);
        for (int32_t i = 0; i < list->count; i++) {
            items[i] = list->items[i];
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return YK_OK;
}

static yk_status new_list(struct yk_jinja_parser *parser, enum yk_jinja_expression_kind kind,
                          int32_t line, const struct list *list, struct yk_jinja_expression **out)
{
    YK_TRY(new_expression(parser, kind, line, out));
    (*out)->items = list->items;
    (*out)->item_count = list->count;
    for (int32_t i = 0; i < list->count; i++) {
        YK_TRY(check_depth(*out, list->items[i]));
    }
    return YK_OK;
}

static yk_status new_constant(struct yk_jinja_parser *parser, int32_t line,
                              struct yk_jinja_value value, struct yk_jinja_expression **out)
{
    YK_TRY(new_expression(parser, YK_JINJA_CONSTANT, line, out));
    (*out)->as.constant = value;
    return YK_OK;
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
        if (yk_jinja_expression_parser_at_name(parser, keywords[i].name)) {
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
        return new_constant(parser, line, value, out);
    }
    YK_TRY(yk_jinja_expression_parser_read_name(parser, &name, &number));
    YK_TRY(new_expression(parser, YK_JINJA_NAME, line, out));
    (*out)->name = number;
    (*out)->attribute = name;
    note_special_name(parser, number);
    if (attributes && yk_jinja_expression_parser_skip_operator(parser, YK_JINJA_OPERATOR_1('.'))) {
        int32_t unused = 0;
        (*out)->kind = YK_JINJA_NAMESPACE_REFERENCE;
        YK_TRY(yk_jinja_expression_parser_read_name(parser, &(*out)->attribute, &unused));
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
    YK_TRY(yk_jinja_expression_parser_new_string(parser, bytes, length, &string));
    return new_constant(parser, first->line, yk_jinja_value_string(string), out);
}

static yk_status read_list(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct list list = {0};
    parser->token++;
    while (!yk_jinja_expression_parser_at_operator(parser, ']')) {
        struct yk_jinja_expression *item = NULL;
        if (list.count > 0) {
            YK_TRY(yk_jinja_expression_parser_expect_operator(parser, ','));
        }
        if (yk_jinja_expression_parser_at_operator(parser, ']')) {
            break;
        }
        YK_TRY(yk_jinja_expression_parser_read(parser, &item));
        YK_TRY(append(parser, &list, item));
    }
    parser->token++;
    return new_list(parser, YK_JINJA_LIST_DISPLAY, line, &list, out);
}

static yk_status read_dict(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct list list = {0};
    parser->token++;
    while (!yk_jinja_expression_parser_at_operator(parser, '}')) {
        struct yk_jinja_expression *item = NULL;
        if (list.count > 0) {
            YK_TRY(yk_jinja_expression_parser_expect_operator(parser, ','));
        }
        if (yk_jinja_expression_parser_at_operator(parser, '}')) {
            break;
        }
        YK_TRY(yk_jinja_expression_parser_read(parser, &item));
        YK_TRY(append(parser, &list, item));
        YK_TRY(yk_jinja_expression_parser_expect_operator(parser, ':'));
        YK_TRY(yk_jinja_expression_parser_read(parser, &item));
        YK_TRY(append(parser, &list, item));
    }
    parser->token++;
    return new_list(parser, YK_JINJA_DICT_DISPLAY, line, &list, out);
}

static bool at_tuple_end(const struct yk_jinja_parser *parser, const char *end)
{
    return parser->token->kind == YK_JINJA_TOKEN_PRINT_END ||
           parser->token->kind == YK_JINJA_TOKEN_BLOCK_END ||
           yk_jinja_expression_parser_at_operator(parser, ')') ||
           (end && yk_jinja_expression_parser_at_name(parser, end));
}

static yk_status read_primary(struct yk_jinja_parser *parser, bool attributes,
                              struct yk_jinja_expression **out);

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
        return yk_jinja_expression_parser_read(parser, out);
    case ELEMENT_UNCONDITIONAL:
        return read_or(parser, out);
    default:
        return read_primary(parser, element == ELEMENT_TARGET_OR_ATTRIBUTE, out);
    }
}

static yk_status read_tuple(struct yk_jinja_parser *parser, enum element element, bool parentheses,
                            const char *end, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct list list = {0};
    bool is_tuple = false;
    for (;;) {
        struct yk_jinja_expression *item = NULL;
        if (list.count > 0) {
            YK_TRY(yk_jinja_expression_parser_expect_operator(parser, ','));
        }
        if (at_tuple_end(parser, end)) {
            break;
        }
        YK_TRY(read_element(parser, element, &item));
        YK_TRY(append(parser, &list, item));
        if (!yk_jinja_expression_parser_at_operator(parser, ',')) {
            break;
        }
        is_tuple = true;
    }
    if (!is_tuple && list.count > 0) {
        *out = list.items[0];
        return YK_OK;
    }
    if (!is_tuple && !parentheses) {
        return yk_jinja_expression_parser_fail(parser, "an expression is expected");
    }
    return new_list(parser, YK_JINJA_TUPLE_DISPLAY, line, &list, out);
}

yk_status yk_jinja_expression_parser_read_tuple(struct yk_jinja_parser *parser, bool conditional,
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

yk_status yk_jinja_expression_parser_read_target(struct yk_jinja_parser *parser, bool attributes,
                                                 const char *end, struct yk_jinja_expression **out)
{
    YK_TRY(read_tuple(parser, attributes ? ELEMENT_TARGET_OR_ATTRIBUTE : ELEMENT_TARGET, false, end,
                      out));
    return check_target(parser, *out);
}

static yk_status read_primary(struct yk_jinja_parser *parser, bool attributes,
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
        return new_constant(parser, token->line, yk_jinja_value_int(token->as.integer), out);
    case YK_JINJA_TOKEN_FLOAT:
        parser->token++;
        return new_constant(parser, token->line, yk_jinja_value_float(token->as.number), out);
    default:
        break;
    }
    if (yk_jinja_expression_parser_skip_operator(parser, '(')) {
        YK_TRY(read_tuple(parser, ELEMENT_EXPRESSION, true, NULL, out));
        return yk_jinja_expression_parser_expect_operator(parser, ')');
    }
    if (yk_jinja_expression_parser_at_operator(parser, '[')) {
        return read_list(parser, out);
    }
    if (yk_jinja_expression_parser_at_operator(parser, '{')) {
        return read_dict(parser, out);
    }
    return yk_jinja_expression_parser_fail(parser, "an expression is expected");
}

static yk_status read_slice_part(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    *out = NULL;
    if (yk_jinja_expression_parser_at_operator(parser, ':') ||
        yk_jinja_expression_parser_at_operator(parser, ']') ||
        yk_jinja_expression_parser_at_operator(parser, ',')) {
        return YK_OK;
    }
    return yk_jinja_expression_parser_read(parser, out);
}

static yk_status read_subscript(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression *parts[3] = {NULL, NULL, NULL};
    if (!yk_jinja_expression_parser_at_operator(parser, ':')) {
        YK_TRY(yk_jinja_expression_parser_read(parser, &parts[0]));
        if (!yk_jinja_expression_parser_at_operator(parser, ':')) {
            *out = parts[0];
            return YK_OK;
        }
    }
    parser->token++;
    YK_TRY(read_slice_part(parser, &parts[1]));
    if (yk_jinja_expression_parser_skip_operator(parser, ':')) {
        YK_TRY(read_slice_part(parser, &parts[2]));
    }
    YK_TRY(new_parent(parser, YK_JINJA_SLICE_DISPLAY, line, parts[0], parts[1], out));
    (*out)->third = parts[2];
    return check_depth(*out, parts[2]);
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
        YK_TRY(new_constant(parser, token->line, yk_jinja_value_int(token->as.integer), &index));
        return new_parent(parser, YK_JINJA_ITEM, token->line, *out, index, out);
    }
    if (token->kind != YK_JINJA_TOKEN_NAME) {
        return yk_jinja_expression_parser_fail(parser, "a name is expected behind \".\"");
    }
    parser->token++;
    YK_TRY(new_parent(parser, YK_JINJA_ATTRIBUTE, token->line, *out, NULL, out));
    YK_TRY(yk_jinja_expression_parser_new_string(parser, token->bytes, token->length,
                                                 &(*out)->attribute));
    return find_methods(parser, (*out)->attribute, &(*out)->as.methods);
}

static yk_status read_item(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct list list = {0};
    struct yk_jinja_expression *key = NULL;
    while (!yk_jinja_expression_parser_at_operator(parser, ']')) {
        if (list.count > 0) {
            YK_TRY(yk_jinja_expression_parser_expect_operator(parser, ','));
        }
        YK_TRY(read_subscript(parser, &key));
        YK_TRY(append(parser, &list, key));
    }
    parser->token++;
    if (list.count != 1) {
        YK_TRY(new_list(parser, YK_JINJA_TUPLE_DISPLAY, line, &list, &key));
    }
    return new_parent(parser, YK_JINJA_ITEM, line, *out, key, out);
}

/* The arguments of a call while they are read. */
struct argument_reader {
    struct list positional;
    struct list named;
    const struct yk_jinja_string **names;
    int32_t name_capacity;
    struct yk_jinja_argument_list *list;
};

static yk_status read_named_argument(struct yk_jinja_parser *parser, struct argument_reader *reader)
{
    const struct yk_jinja_string *name = NULL;
    struct yk_jinja_expression *value = NULL;
    YK_TRY(yk_jinja_expression_parser_new_string(parser, parser->token->bytes,
                                                 parser->token->length, &name));
    parser->token += 2;
    YK_TRY(yk_jinja_expression_parser_read(parser, &value));
    if (reader->named.count == reader->name_capacity) {
        const struct yk_jinja_string **names = NULL;
        reader->name_capacity = reader->name_capacity > 0 ? reader->name_capacity * 2 : 4;
        YK_TRY_NEW(parser->syntax->arena, names, reader->name_capacity);
        for (int32_t i = 0; i < reader->named.count; i++) {
            names[i] = reader->names[i];
        }
        reader->names = names;
    }
    for (int32_t i = 0; i < reader->named.count; i++) {
        if (yk_jinja_value_same_string(reader->names[i], name)) {
            return yk_fail(YK_ERROR_INPUT, "line %d: a call has two arguments with one name",
                           (int)parser->token->line);
        }
    }
    reader->names[reader->named.count] = name;
    return append(parser, &reader->named, value);
}

static yk_status read_argument(struct yk_jinja_parser *parser, struct argument_reader *reader)
{
    struct yk_jinja_argument_list *list = reader->list;
    struct yk_jinja_expression *value = NULL;
    const struct yk_jinja_token *next = parser->token + 1;
    const bool is_named = parser->token->kind == YK_JINJA_TOKEN_NAME &&
                          next->kind == YK_JINJA_TOKEN_OPERATOR && next->as.operator== '=';
    const bool no_more = !list->more_positional && !list->more_named;
    if (no_more && yk_jinja_expression_parser_skip_operator(parser, '*')) {
        return yk_jinja_expression_parser_read(parser, &list->more_positional);
    }
    if (!list->more_named &&
        yk_jinja_expression_parser_skip_operator(parser, YK_JINJA_OPERATOR_2('*', '*'))) {
        return yk_jinja_expression_parser_read(parser, &list->more_named);
    }
    if (is_named && !list->more_named) {
        return read_named_argument(parser, reader);
    }
    if (!no_more || is_named || reader->named.count > 0) {
        return yk_jinja_expression_parser_fail(parser, "an argument of a call is misplaced");
    }
    YK_TRY(yk_jinja_expression_parser_read(parser, &value));
    return append(parser, &reader->positional, value);
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
        YK_TRY(check_depth(call, list->values[i]));
    }
    YK_TRY(check_depth(call, list->more_positional));
    YK_TRY(check_depth(call, list->more_named));
    call->arguments = list;
    return YK_OK;
}

/* Reads the arguments of `call` in parentheses, if there are any. */
static yk_status read_arguments(struct yk_jinja_parser *parser, struct yk_jinja_expression *call)
{
    struct argument_reader reader = {0};
    YK_TRY_NEW(parser->syntax->arena, reader.list, 1);
    if (yk_jinja_expression_parser_skip_operator(parser, '(')) {
        bool first = true;
        while (!yk_jinja_expression_parser_at_operator(parser, ')')) {
            if (!first) {
                YK_TRY(yk_jinja_expression_parser_expect_operator(parser, ','));
                if (yk_jinja_expression_parser_at_operator(parser, ')')) {
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
    YK_TRY(new_parent(parser, YK_JINJA_CALL, parser->token->line, *out, NULL, out));
    return read_arguments(parser, *out);
}

static yk_status read_postfix(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    for (;;) {
        if (yk_jinja_expression_parser_skip_operator(parser, '.')) {
            YK_TRY(read_attribute(parser, out));
        } else if (yk_jinja_expression_parser_skip_operator(parser, '[')) {
            YK_TRY(read_item(parser, out));
        } else if (yk_jinja_expression_parser_at_operator(parser, '(')) {
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
            return yk_jinja_expression_parser_fail(parser, "a name is expected");
        }
        yk_text_add(&text, text.length > 0 ? "." : "");
        yk_text_add_bytes(&text, parser->token->bytes, parser->token->length);
        parser->token++;
    } while (yk_jinja_expression_parser_skip_operator(parser, '.'));
    const size_t length = text.length;
    YK_TRY(yk_text_move_to_arena(&text, parser->syntax->arena, &bytes));
    return yk_jinja_expression_parser_new_string(parser, bytes, length, out);
}

static yk_status read_filter(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const struct yk_jinja_string *name = NULL;
    const int32_t line = parser->token->line;
    YK_TRY(read_function_name(parser, &name));
    YK_TRY(new_parent(parser, YK_JINJA_FILTER, line, *out, NULL, out));
    (*out)->attribute = name;
    (*out)->as.function = parser->library->find_filter(name->bytes, name->length);
    return read_arguments(parser, *out);
}

yk_status yk_jinja_expression_parser_read_filters(struct yk_jinja_parser *parser, bool at_name,
                                                  struct yk_jinja_expression **out)
{
    *out = NULL;
    if (at_name) {
        YK_TRY(read_filter(parser, out));
    }
    while (yk_jinja_expression_parser_skip_operator(parser, '|')) {
        YK_TRY(read_filter(parser, out));
    }
    return YK_OK;
}

/* A test may have one argument that is not in parentheses: x is divisibleby 3 */
static bool at_bare_argument(const struct yk_jinja_parser *parser)
{
    switch (parser->token->kind) {
    case YK_JINJA_TOKEN_NAME:
        return !yk_jinja_expression_parser_at_name(parser, "else") &&
               !yk_jinja_expression_parser_at_name(parser, "or") &&
               !yk_jinja_expression_parser_at_name(parser, "and");
    case YK_JINJA_TOKEN_STRING:
    case YK_JINJA_TOKEN_INTEGER:
    case YK_JINJA_TOKEN_FLOAT:
        return true;
    default:
        return yk_jinja_expression_parser_at_operator(parser, '[') ||
               yk_jinja_expression_parser_at_operator(parser, '{');
    }
}

static yk_status read_test(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    const bool negated = yk_jinja_expression_parser_skip_name(parser, "not");
    const struct yk_jinja_string *name = NULL;
    YK_TRY(read_function_name(parser, &name));
    YK_TRY(new_parent(parser, YK_JINJA_TEST, line, *out, NULL, out));
    struct yk_jinja_expression *test = *out;
    test->attribute = name;
    test->as.function = parser->library->find_test(name->bytes, name->length);
    if (!yk_jinja_expression_parser_at_operator(parser, '(') && at_bare_argument(parser)) {
        struct argument_reader reader = {0};
        struct yk_jinja_expression *argument = NULL;
        if (yk_jinja_expression_parser_at_name(parser, "is")) {
            return yk_jinja_expression_parser_fail(parser, "two tests with \"is\" need an \"and\"");
        }
        YK_TRY_NEW(parser->syntax->arena, reader.list, 1);
        YK_TRY(read_primary(parser, false, &argument));
        YK_TRY(read_postfix(parser, &argument));
        YK_TRY(append(parser, &reader.positional, argument));
        YK_TRY(finish_arguments(parser, &reader, test));
    } else {
        YK_TRY(read_arguments(parser, test));
    }
    return negated ? new_parent(parser, YK_JINJA_NOT, line, test, NULL, out) : YK_OK;
}

static yk_status read_filters_and_tests(struct yk_jinja_parser *parser,
                                        struct yk_jinja_expression **out)
{
    for (;;) {
        if (yk_jinja_expression_parser_skip_operator(parser, '|')) {
            YK_TRY(read_filter(parser, out));
        } else if (yk_jinja_expression_parser_skip_name(parser, "is")) {
            YK_TRY(read_test(parser, out));
        } else if (yk_jinja_expression_parser_at_operator(parser, '(')) {
            YK_TRY(read_call(parser, out));
        } else {
            return YK_OK;
        }
    }
}

static yk_status read_signed(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    const bool negative = yk_jinja_expression_parser_at_operator(parser, '-');
    if (!negative && !yk_jinja_expression_parser_at_operator(parser, '+')) {
        return read_primary(parser, false, out);
    }
    struct yk_jinja_expression *operand = NULL;
    parser->token++;
    YK_TRY(read_unary(parser, false, &operand));
    YK_TRY(new_parent(parser, YK_JINJA_SIGN, line, operand, NULL, out));
    (*out)->as.negative = negative;
    return YK_OK;
}

static yk_status read_unary(struct yk_jinja_parser *parser, bool filtered,
                            struct yk_jinja_expression **out)
{
    YK_TRY(yk_jinja_expression_parser_enter(parser));
    yk_status status = read_signed(parser, out);
    YK_IF_OK(read_postfix(parser, out));
    if (filtered) {
        YK_IF_OK(read_filters_and_tests(parser, out));
    }
    parser->depth--;
    return status;
}

static yk_status read_power(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const uint32_t power = YK_JINJA_OPERATOR_2('*', '*');
    YK_TRY(read_unary(parser, true, out));
    while (yk_jinja_expression_parser_at_operator(parser, power)) {
        const int32_t line = parser->token->line;
        struct yk_jinja_expression *right = NULL;
        parser->token++;
        YK_TRY(read_unary(parser, true, &right));
        YK_TRY(new_parent(parser, YK_JINJA_ARITHMETIC, line, *out, right, out));
        (*out)->as.operator= YK_JINJA_POWER;
    }
    return YK_OK;
}

static bool find_operator(const struct yk_jinja_parser *parser, bool product,
                          enum yk_jinja_operator *out)
{
    static const struct {
        uint32_t token;
        bool product;
        enum yk_jinja_operator operator;
    } operators[] = {
        {'+', false, YK_JINJA_ADD},
        {'-', false, YK_JINJA_SUBTRACT},
        {'*', true, YK_JINJA_MULTIPLY},
        {'/', true, YK_JINJA_DIVIDE},
        {YK_JINJA_OPERATOR_2('/', '/'), true, YK_JINJA_FLOOR_DIVIDE},
        {'%', true, YK_JINJA_MODULO},
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].product == product &&
            yk_jinja_expression_parser_at_operator(parser, operators[i].token)) {
            *out = operators[i].operator;
            return true;
        }
    }
    return false;
}

static yk_status read_product(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    enum yk_jinja_operator operator= YK_JINJA_MULTIPLY;
    YK_TRY(read_power(parser, out));
    while (find_operator(parser, true, &operator)) {
        const int32_t line = parser->token->line;
        struct yk_jinja_expression *right = NULL;
        parser->token++;
        YK_TRY(read_power(parser, &right));
        YK_TRY(new_parent(parser, YK_JINJA_ARITHMETIC, line, *out, right, out));
        (*out)->as.operator= operator;
    }
    return YK_OK;
}

static yk_status read_concatenation(struct yk_jinja_parser *parser,
                                    struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct list list = {0};
    YK_TRY(read_product(parser, out));
    if (!yk_jinja_expression_parser_at_operator(parser, '~')) {
        return YK_OK;
    }
    YK_TRY(append(parser, &list, *out));
    while (yk_jinja_expression_parser_skip_operator(parser, '~')) {
        YK_TRY(read_product(parser, out));
        YK_TRY(append(parser, &list, *out));
    }
    return new_list(parser, YK_JINJA_CONCATENATION, line, &list, out);
}

static yk_status read_sum(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    enum yk_jinja_operator operator= YK_JINJA_ADD;
    YK_TRY(read_concatenation(parser, out));
    while (find_operator(parser, false, &operator)) {
        const int32_t line = parser->token->line;
        struct yk_jinja_expression *right = NULL;
        parser->token++;
        YK_TRY(read_concatenation(parser, &right));
        YK_TRY(new_parent(parser, YK_JINJA_ARITHMETIC, line, *out, right, out));
        (*out)->as.operator= operator;
    }
    return YK_OK;
}

/* Advances over a comparison operator. */
static bool skip_comparison(struct yk_jinja_parser *parser, enum yk_jinja_comparison *out)
{
    static const struct {
        uint32_t token;
        enum yk_jinja_comparison comparison;
    } comparisons[] = {
        {'<', YK_JINJA_COMPARE_LESS},
        {'>', YK_JINJA_COMPARE_GREATER},
        {YK_JINJA_OPERATOR_2('<', '='), YK_JINJA_COMPARE_LESS_OR_EQUAL},
        {YK_JINJA_OPERATOR_2('>', '='), YK_JINJA_COMPARE_GREATER_OR_EQUAL},
        {YK_JINJA_OPERATOR_2('=', '='), YK_JINJA_COMPARE_EQUAL},
        {YK_JINJA_OPERATOR_2('!', '='), YK_JINJA_COMPARE_NOT_EQUAL},
    };
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (yk_jinja_expression_parser_skip_operator(parser, comparisons[i].token)) {
            *out = comparisons[i].comparison;
            return true;
        }
    }
    *out = YK_JINJA_COMPARE_IN;
    if (yk_jinja_expression_parser_skip_name(parser, "in")) {
        return true;
    }
    struct yk_jinja_parser ahead = *parser;
    ahead.token++;
    *out = YK_JINJA_COMPARE_NOT_IN;
    if (yk_jinja_expression_parser_at_name(parser, "not") &&
        yk_jinja_expression_parser_at_name(&ahead, "in")) {
        parser->token += 2;
        return true;
    }
    return false;
}

/* a < b < c: the comparisons are as many as the items. */
static yk_status read_comparison(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression *first = NULL;
    struct list list = {0};
    enum yk_jinja_comparison *comparisons = NULL;
    enum yk_jinja_comparison comparison = YK_JINJA_COMPARE_EQUAL;
    YK_TRY(read_sum(parser, &first));
    *out = first;
    while (skip_comparison(parser, &comparison)) {
        struct yk_jinja_expression *item = NULL;
        enum yk_jinja_comparison *more = NULL;
        YK_TRY(read_sum(parser, &item));
        YK_TRY(append(parser, &list, item));
        if (list.count == 1 || (list.count & (list.count - 1)) == 0) {
            YK_TRY_NEW(parser->syntax->arena, more, (size_t)list.count * 2);
            for (int32_t i = 0; i + 1 < list.count; i++) {
                more[i] = comparisons[i];
            }
            comparisons = more;
        }
        comparisons[list.count - 1] = comparison;
    }
    if (list.count == 0) {
        return YK_OK;
    }
    YK_TRY(new_list(parser, YK_JINJA_COMPARISON, line, &list, out));
    (*out)->first = first;
    (*out)->as.comparisons = comparisons;
    return check_depth(*out, first);
}

static yk_status read_not(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression *operand = NULL;
    if (!yk_jinja_expression_parser_skip_name(parser, "not")) {
        return read_comparison(parser, out);
    }
    YK_TRY(yk_jinja_expression_parser_enter(parser));
    const yk_status status = read_not(parser, &operand);
    parser->depth--;
    YK_TRY(status);
    return new_parent(parser, YK_JINJA_NOT, line, operand, NULL, out);
}

static yk_status read_and(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    YK_TRY(read_not(parser, out));
    while (yk_jinja_expression_parser_skip_name(parser, "and")) {
        struct yk_jinja_expression *right = NULL;
        YK_TRY(read_not(parser, &right));
        YK_TRY(new_parent(parser, YK_JINJA_AND, right->line, *out, right, out));
    }
    return YK_OK;
}

static yk_status read_or(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    YK_TRY(read_and(parser, out));
    while (yk_jinja_expression_parser_skip_name(parser, "or")) {
        struct yk_jinja_expression *right = NULL;
        YK_TRY(read_and(parser, &right));
        YK_TRY(new_parent(parser, YK_JINJA_OR, right->line, *out, right, out));
    }
    return YK_OK;
}

static yk_status read_conditional(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    YK_TRY(read_or(parser, out));
    while (yk_jinja_expression_parser_skip_name(parser, "if")) {
        struct yk_jinja_expression *condition = NULL;
        struct yk_jinja_expression *otherwise = NULL;
        YK_TRY(read_or(parser, &condition));
        if (yk_jinja_expression_parser_skip_name(parser, "else")) {
            YK_TRY(yk_jinja_expression_parser_read(parser, &otherwise));
        }
        YK_TRY(new_parent(parser, YK_JINJA_CONDITION, condition->line, *out, condition, out));
        (*out)->third = otherwise;
        YK_TRY(check_depth(*out, otherwise));
    }
    return YK_OK;
}

yk_status yk_jinja_expression_parser_read(struct yk_jinja_parser *parser,
                                          struct yk_jinja_expression **out)
{
    YK_TRY(yk_jinja_expression_parser_enter(parser));
    const yk_status status = read_conditional(parser, out);
    parser->depth--;
    return status;
}
