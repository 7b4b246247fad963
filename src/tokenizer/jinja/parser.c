#include "tokenizer/jinja/parser.h"

#include "tokenizer/jinja/string.h"

#include "base/hash.h"

enum {
    MAX_NESTED = 1000, /* calls of functions that call themselves */
    SHOWN_BYTES = 60
};

yk_status yk_jinja_parser_fail(const struct yk_jinja_parser *parser, const char *what)
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

yk_status yk_jinja_parser_enter(struct yk_jinja_parser *parser)
{
    if (parser->depth >= MAX_NESTED) {
        return yk_fail(YK_ERROR_INPUT, "line %d: the template is nested too deeply",
                       (int)parser->token->line);
    }
    parser->depth++;
    return YK_OK;
}

bool yk_jinja_parser_at_name(const struct yk_jinja_parser *parser, const char *name)
{
    const struct yk_jinja_token *token = parser->token;
    return token->kind == YK_JINJA_TOKEN_NAME && token->length == strlen(name) &&
           memcmp(token->bytes, name, token->length) == 0;
}

bool yk_jinja_parser_at_operator(const struct yk_jinja_parser *parser, uint32_t operator)
{
    return parser->token->kind == YK_JINJA_TOKEN_OPERATOR && parser->token->as.operator== operator;
}

bool yk_jinja_parser_skip_name(struct yk_jinja_parser *parser, const char *name)
{
    const bool found = yk_jinja_parser_at_name(parser, name);
    parser->token += found;
    return found;
}

bool yk_jinja_parser_skip_operator(struct yk_jinja_parser *parser, uint32_t operator)
{
    const bool found = yk_jinja_parser_at_operator(parser, operator);
    parser->token += found;
    return found;
}

yk_status yk_jinja_parser_expect_operator(struct yk_jinja_parser *parser, uint32_t operator)
{
    if (yk_jinja_parser_skip_operator(parser, operator)) {
        return YK_OK;
    }
    const char what[] = {
        '"', (char)operator, '"', ' ', 'i', 's', ' ', 'e', 'x', 'p', 'e', 'c', 't', 'e', 'd', '\0'};
    return yk_jinja_parser_fail(parser, what);
}

yk_status yk_jinja_parser_new_string(struct yk_jinja_parser *parser, const char *bytes,
                                     size_t length, const struct yk_jinja_string **out)
{
    struct yk_jinja_string *string = NULL;
    YK_TRY_NEW(parser->syntax->arena, string, 1);
    string->bytes = bytes;
    string->length = length;
    string->characters = -1;
    /* Threads share the string: both are computed now. */
    (void)yk_jinja_value_count_characters(string);
    string->hash = yk_hash_bytes(bytes, length);
    *out = string;
    return YK_OK;
}

yk_status yk_jinja_parser_read_name(struct yk_jinja_parser *parser,
                                    const struct yk_jinja_string **out, int32_t *number)
{
    const struct yk_jinja_token *token = parser->token;
    bool added = false;
    if (token->kind != YK_JINJA_TOKEN_NAME) {
        return yk_jinja_parser_fail(parser, "a name is expected");
    }
    YK_TRY(yk_jinja_parser_new_string(parser, token->bytes, token->length, out));
    YK_TRY(yk_name_index_add_bytes(parser->syntax->names, token->bytes, token->length, &added,
                                   number));
    parser->token++;
    return YK_OK;
}

yk_status yk_jinja_parser_new_expression(struct yk_jinja_parser *parser,
                                         enum yk_jinja_expression_kind kind, int32_t line,
                                         struct yk_jinja_expression **out)
{
    YK_TRY_NEW(parser->syntax->arena, *out, 1);
    (*out)->kind = kind;
    (*out)->line = line;
    (*out)->depth = 1;
    return YK_OK;
}

yk_status yk_jinja_parser_check_depth(struct yk_jinja_expression *parent,
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

yk_status yk_jinja_parser_new_parent(struct yk_jinja_parser *parser,
                                     enum yk_jinja_expression_kind kind, int32_t line,
                                     struct yk_jinja_expression *first,
                                     struct yk_jinja_expression *second,
                                     struct yk_jinja_expression **out)
{
    struct yk_jinja_expression *made = NULL;
    YK_TRY(yk_jinja_parser_new_expression(parser, kind, line, &made));
    made->first = first;
    made->second = second;
    YK_TRY(yk_jinja_parser_check_depth(made, first));
    YK_TRY(yk_jinja_parser_check_depth(made, second));
    *out = made;
    return YK_OK;
}

yk_status yk_jinja_parser_append(struct yk_jinja_parser *parser,
                                 struct yk_jinja_expression_list *list,
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

yk_status yk_jinja_parser_new_list(struct yk_jinja_parser *parser,
                                   enum yk_jinja_expression_kind kind, int32_t line,
                                   const struct yk_jinja_expression_list *list,
                                   struct yk_jinja_expression **out)
{
    YK_TRY(yk_jinja_parser_new_expression(parser, kind, line, out));
    (*out)->items = list->items;
    (*out)->item_count = list->count;
    for (int32_t i = 0; i < list->count; i++) {
        YK_TRY(yk_jinja_parser_check_depth(*out, list->items[i]));
    }
    return YK_OK;
}

yk_status yk_jinja_parser_new_constant(struct yk_jinja_parser *parser, int32_t line,
                                       struct yk_jinja_value value,
                                       struct yk_jinja_expression **out)
{
    YK_TRY(yk_jinja_parser_new_expression(parser, YK_JINJA_CONSTANT, line, out));
    (*out)->as.constant = value;
    return YK_OK;
}
