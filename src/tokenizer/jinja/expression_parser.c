#include "tokenizer/jinja/parser.h"

static yk_status read_unary(struct yk_jinja_parser *parser, bool filtered,
                            struct yk_jinja_expression **out);

static yk_status read_signed(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    const bool negative = yk_jinja_parser_at_operator(parser, '-');
    if (!negative && !yk_jinja_parser_at_operator(parser, '+')) {
        return yk_jinja_operand_parser_read_primary(parser, false, out);
    }
    struct yk_jinja_expression *operand = NULL;
    parser->token++;
    YK_TRY(read_unary(parser, false, &operand));
    YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_SIGN, line, operand, NULL, out));
    (*out)->as.negative = negative;
    return YK_OK;
}

static yk_status read_unary(struct yk_jinja_parser *parser, bool filtered,
                            struct yk_jinja_expression **out)
{
    YK_TRY(yk_jinja_parser_enter(parser));
    yk_status status = read_signed(parser, out);
    YK_IF_OK(yk_jinja_operand_parser_read_postfix(parser, out));
    if (filtered) {
        YK_IF_OK(yk_jinja_operand_parser_read_filters_and_tests(parser, out));
    }
    parser->depth--;
    return status;
}

static yk_status read_power(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const uint32_t power = YK_JINJA_OPERATOR_2('*', '*');
    YK_TRY(read_unary(parser, true, out));
    while (yk_jinja_parser_at_operator(parser, power)) {
        const int32_t line = parser->token->line;
        struct yk_jinja_expression *right = NULL;
        parser->token++;
        YK_TRY(read_unary(parser, true, &right));
        YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_ARITHMETIC, line, *out, right, out));
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
            yk_jinja_parser_at_operator(parser, operators[i].token)) {
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
        YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_ARITHMETIC, line, *out, right, out));
        (*out)->as.operator= operator;
    }
    return YK_OK;
}

static yk_status read_concatenation(struct yk_jinja_parser *parser,
                                    struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression_list list = {0};
    YK_TRY(read_product(parser, out));
    if (!yk_jinja_parser_at_operator(parser, '~')) {
        return YK_OK;
    }
    YK_TRY(yk_jinja_parser_append(parser, &list, *out));
    while (yk_jinja_parser_skip_operator(parser, '~')) {
        YK_TRY(read_product(parser, out));
        YK_TRY(yk_jinja_parser_append(parser, &list, *out));
    }
    return yk_jinja_parser_new_list(parser, YK_JINJA_CONCATENATION, line, &list, out);
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
        YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_ARITHMETIC, line, *out, right, out));
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
        if (yk_jinja_parser_skip_operator(parser, comparisons[i].token)) {
            *out = comparisons[i].comparison;
            return true;
        }
    }
    *out = YK_JINJA_COMPARE_IN;
    if (yk_jinja_parser_skip_name(parser, "in")) {
        return true;
    }
    struct yk_jinja_parser ahead = *parser;
    ahead.token++;
    *out = YK_JINJA_COMPARE_NOT_IN;
    if (yk_jinja_parser_at_name(parser, "not") && yk_jinja_parser_at_name(&ahead, "in")) {
        parser->token += 2;
        return true;
    }
    return false;
}

/* Adds a comparison to an array that grows as `list` does, before the item is added to it. */
static yk_status append_comparison(struct yk_jinja_parser *parser,
                                   const struct yk_jinja_expression_list *list,
                                   enum yk_jinja_comparison comparison,
                                   enum yk_jinja_comparison **array)
{
    if (list->count == list->capacity) {
        enum yk_jinja_comparison *more = NULL;
        YK_TRY_NEW(parser->syntax->arena, more, (size_t)list->count * 2 + 4);
        for (int32_t i = 0; *array && i < list->count; i++) {
            more[i] = (*array)[i];
        }
        *array = more;
    }
    (*array)[list->count] = comparison;
    return YK_OK;
}

/* a < b < c: the comparisons are as many as the items. */
static yk_status read_comparison(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression *first = NULL;
    struct yk_jinja_expression_list list = {0};
    enum yk_jinja_comparison *comparisons = NULL;
    enum yk_jinja_comparison comparison = YK_JINJA_COMPARE_EQUAL;
    YK_TRY(read_sum(parser, &first));
    *out = first;
    while (skip_comparison(parser, &comparison)) {
        struct yk_jinja_expression *item = NULL;
        YK_TRY(read_sum(parser, &item));
        YK_TRY(append_comparison(parser, &list, comparison, &comparisons));
        YK_TRY(yk_jinja_parser_append(parser, &list, item));
    }
    if (list.count == 0) {
        return YK_OK;
    }
    YK_TRY(yk_jinja_parser_new_list(parser, YK_JINJA_COMPARISON, line, &list, out));
    (*out)->first = first;
    (*out)->as.comparisons = comparisons;
    return yk_jinja_parser_check_depth(*out, first);
}

static yk_status read_not(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    const int32_t line = parser->token->line;
    struct yk_jinja_expression *operand = NULL;
    if (!yk_jinja_parser_skip_name(parser, "not")) {
        return read_comparison(parser, out);
    }
    YK_TRY(yk_jinja_parser_enter(parser));
    const yk_status status = read_not(parser, &operand);
    parser->depth--;
    YK_TRY(status);
    return yk_jinja_parser_new_parent(parser, YK_JINJA_NOT, line, operand, NULL, out);
}

static yk_status read_and(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    YK_TRY(read_not(parser, out));
    while (yk_jinja_parser_skip_name(parser, "and")) {
        struct yk_jinja_expression *right = NULL;
        YK_TRY(read_not(parser, &right));
        YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_AND, right->line, *out, right, out));
    }
    return YK_OK;
}

static yk_status read_or(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    YK_TRY(read_and(parser, out));
    while (yk_jinja_parser_skip_name(parser, "or")) {
        struct yk_jinja_expression *right = NULL;
        YK_TRY(read_and(parser, &right));
        YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_OR, right->line, *out, right, out));
    }
    return YK_OK;
}

static yk_status read_conditional(struct yk_jinja_parser *parser, struct yk_jinja_expression **out)
{
    YK_TRY(read_or(parser, out));
    while (yk_jinja_parser_skip_name(parser, "if")) {
        struct yk_jinja_expression *condition = NULL;
        struct yk_jinja_expression *otherwise = NULL;
        YK_TRY(read_or(parser, &condition));
        if (yk_jinja_parser_skip_name(parser, "else")) {
            YK_TRY(yk_jinja_expression_parser_read(parser, true, &otherwise));
        }
        YK_TRY(yk_jinja_parser_new_parent(parser, YK_JINJA_CONDITION, condition->line, *out,
                                          condition, out));
        (*out)->third = otherwise;
        YK_TRY(yk_jinja_parser_check_depth(*out, otherwise));
    }
    return YK_OK;
}

yk_status yk_jinja_expression_parser_read(struct yk_jinja_parser *parser, bool conditional,
                                          struct yk_jinja_expression **out)
{
    YK_TRY(yk_jinja_parser_enter(parser));
    const yk_status status = conditional ? read_conditional(parser, out) : read_or(parser, out);
    parser->depth--;
    return status;
}
