#include "tokenizer/regex/regex_syntax.h"

#include "tokenizer/regex/regex_class.h"
#include "tokenizer/regex/regex_reader.h"
#include "tokenizer/regex/regex_set.h"

#include <stdint.h>
#include <string.h>

enum {
    MAX_DEPTH = 100,     /* of groups inside each other, and of quantifiers after each other */
    MAX_REPEATS = 65535, /* in a quantifier, as in PCRE2 */
    UNLIMITED = -1
};

#define WORD "[" YK_REGEX_CLASS_WORD "]"

/* Escapes and characters outside of brackets that stand for more than a character. */
static const struct assertion {
    const char *pattern;
    const char *translation;
    bool repeatable;
    bool outside_groups;
} assertions[] = {
    {"^", "^", false, false},
    {"$", "$", false, false},
    {"\\A", "\\A", false, false},
    {"\\z", "\\z", false, false},
    {"\\Z", "\\Z", false, false},
    {"\\b", "(?:(?<=" WORD ")(?!" WORD ")|(?<!" WORD ")(?=" WORD "))", false, false},
    {"\\B", "(?:(?<=" WORD ")(?=" WORD ")|(?<!" WORD ")(?!" WORD "))", false, false},
    {"\\K", "\\K", false, true},
    {"\\R", "(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])", true, false},
    {".", ".", true, false},
};

/* Groups. Nothing can refer to one, therefore none keeps what it matched. */
enum group_kind {
    GROUP,
    ATOMIC_GROUP,
    LOOKAROUND,
    NAMED_GROUP,
    OPTIONS
};

static const struct group {
    const char *opening;
    enum group_kind kind;
} groups[] = {
    {"(?:", GROUP},       {"(?>", ATOMIC_GROUP}, {"(?=", LOOKAROUND},
    {"(?!", LOOKAROUND},  {"(?<=", LOOKAROUND},  {"(?<!", LOOKAROUND},
    {"(?<", NAMED_GROUP}, {"(?", OPTIONS},       {"(", GROUP},
};

struct options {
    bool ignore_case; /* (?i) */
    bool dot_all;     /* (?m), which is (?s) in PCRE2 */
    bool extended;    /* (?x): spaces and comments are skipped */
};

struct parser {
    struct yk_regex_reader reader;
    struct options options;
    int depth;
    bool may_be_empty;    /* the match of what was read last: a branch or alternatives */
    uint32_t last_letter; /* directly before the place, if (?i) applies, or 0 */
    struct yk_text *out;
};

/* The beginning of what a quantifier may follow. */
struct item {
    size_t begin; /* in the translation */
    bool repeatable;
    bool may_be_empty; /* its match */
};

struct quantifier {
    int32_t lower;
    int32_t upper; /* or UNLIMITED */
    bool interval; /* {n,m} */
    char suffix;   /* '?' for lazy, '+' for possessive or '\0' */
};

static yk_status refuse(const struct parser *parser, const char *reason)
{
    return yk_regex_reader_refuse(&parser->reader, reason);
}

static bool skip(struct parser *parser, const char *words)
{
    return yk_regex_reader_skip(&parser->reader, words);
}

static bool is_at(const struct parser *parser, const char *words)
{
    return yk_regex_reader_is_at(&parser->reader, words);
}

static bool is_at_end(const struct parser *parser)
{
    return parser->reader.at == parser->reader.length;
}

/* The next byte, or 0 at the end. */
static char next(const struct parser *parser)
{
    if (is_at_end(parser)) {
        return '\0';
    }
    return parser->reader.pattern[parser->reader.at];
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

/* Skips "(?#…)". A backslash protects a closing parenthesis. */
static yk_status skip_comment(struct parser *parser)
{
    while (!is_at_end(parser) && next(parser) != ')') {
        parser->reader.at += next(parser) == '\\' ? 1 : 0;
        parser->reader.at += is_at_end(parser) ? 0 : 1;
    }
    return skip(parser, ")") ? YK_OK : refuse(parser, "a comment has no end");
}

/* Skips comments and, if (?x) applies, spaces. */
static yk_status skip_ignored(struct parser *parser)
{
    for (;;) {
        if (skip(parser, "(?#")) {
            YK_TRY(skip_comment(parser));
        } else if (parser->options.extended && skip(parser, "#")) {
            while (!is_at_end(parser) && !skip(parser, "\n")) {
                parser->reader.at++;
            }
        } else if (parser->options.extended && next(parser) != '\0' &&
                   strchr(" \t\n\r\f", next(parser))) {
            parser->reader.at++;
        } else {
            return YK_OK;
        }
    }
}

/* Reads a number and returns whether there is one. Larger ones than MAX_REPEATS become that + 1. */
static bool read_number(struct parser *parser, int32_t *out)
{
    const size_t begin = parser->reader.at;
    *out = 0;
    for (; is_digit(next(parser)); parser->reader.at++) {
        *out = *out * 10 + (next(parser) - '0');
        *out = *out > MAX_REPEATS ? MAX_REPEATS + 1 : *out;
    }
    return parser->reader.at > begin;
}

/* Reads "{2}", "{2,}", "{2,3}" or "{,3}". Anything else is a brace that stands for itself. */
static bool read_interval(struct parser *parser, struct quantifier *out)
{
    const size_t begin = parser->reader.at;
    parser->reader.at++;
    const bool has_lower = read_number(parser, &out->lower);
    bool fixed = true;
    bool has_upper = false;
    out->interval = true;
    out->upper = out->lower;
    if (skip(parser, ",")) {
        fixed = false;
        has_upper = read_number(parser, &out->upper);
        out->upper = has_upper ? out->upper : UNLIMITED;
    }
    if (!(has_lower || has_upper) || !skip(parser, "}")) {
        parser->reader.at = begin;
        return false;
    }
    /* {2}? is optional, not lazy, and {2,3}+ repeats: the second sign is another quantifier. */
    out->suffix = !fixed && skip(parser, "?") ? '?' : '\0';
    return true;
}

/* Reads the quantifier that comes next, if there is one. */
static bool read_quantifier(struct parser *parser, struct quantifier *out)
{
    const char sign = next(parser);
    *out = (struct quantifier){0};
    if (sign == '{') {
        return read_interval(parser, out);
    }
    if (sign != '*' && sign != '+' && sign != '?') {
        return false;
    }
    parser->reader.at++;
    out->lower = sign == '+';
    out->upper = sign == '?' ? 1 : UNLIMITED;
    if (skip(parser, "?")) {
        out->suffix = '?';
    } else if (skip(parser, "+")) {
        out->suffix = '+';
    }
    return true;
}

static void add_quantifier(const struct quantifier *quantifier, struct yk_text *out)
{
    if (!quantifier->interval) {
        yk_text_add(out, quantifier->upper == 1 ? "?" : quantifier->lower == 1 ? "+" : "*");
    } else if (quantifier->upper == UNLIMITED) {
        yk_text_addf(out, "{%d,}", (int)quantifier->lower);
    } else if (quantifier->upper == quantifier->lower && !quantifier->suffix) {
        yk_text_addf(out, "{%d}", (int)quantifier->lower);
    } else {
        yk_text_addf(out, "{%d,%d}", (int)quantifier->lower, (int)quantifier->upper);
    }
    if (quantifier->suffix) {
        yk_text_add_bytes(out, &quantifier->suffix, 1);
    }
}

/* Makes what was added from `begin` on a group, so that another quantifier can follow. */
static void add_group_around(size_t begin, struct yk_text *out)
{
    static const char opening[] = "(?:";
    const size_t moved = out->length - begin;
    yk_text_add(out, opening);
    if (!out->failed) {
        memmove(out->bytes + begin + strlen(opening), out->bytes + begin, moved);
        memcpy(out->bytes + begin, opening, strlen(opening));
    }
    yk_text_add(out, ")");
}

static yk_status check_quantifier(const struct parser *parser, const struct item *item,
                                  const struct quantifier *quantifier, int quantifiers)
{
    if (!item->repeatable) {
        return refuse(parser, "a quantifier follows something that cannot be repeated");
    }
    if (quantifiers == MAX_DEPTH) {
        return refuse(parser, "it has too many quantifiers after each other");
    }
    if (quantifier->lower > MAX_REPEATS || quantifier->upper > MAX_REPEATS) {
        return refuse(parser, "a quantifier has too large a number");
    }
    if (quantifier->upper != UNLIMITED && quantifier->lower > quantifier->upper) {
        return refuse(parser, "a quantifier's first number is larger than its second");
    }
    if (quantifier->upper == 0) {
        return refuse(parser, "a quantifier repeats something no times");
    }
    /* After an empty match, Oniguruma does not try to repeat it. PCRE2 does if there is a count. */
    if (item->may_be_empty && (quantifier->lower > 1 || quantifier->upper > 1)) {
        return refuse(parser, "something that may be empty is repeated a number of times");
    }
    return YK_OK;
}

/* Reads the quantifiers of an item that was just added. */
static yk_status read_quantifiers(struct parser *parser, struct item *item)
{
    struct quantifier quantifier;
    bool once = false;
    YK_TRY(skip_ignored(parser));
    for (int count = 0; read_quantifier(parser, &quantifier); count++) {
        YK_TRY(check_quantifier(parser, item, &quantifier, count));
        /* Oniguruma takes {1} away, and the next quantifier applies to the last character. */
        if (once) {
            return refuse(parser, "a quantifier follows {1}");
        }
        once = quantifier.lower == 1 && quantifier.upper == 1;
        if (count > 0) {
            add_group_around(item->begin, parser->out);
        }
        add_quantifier(&quantifier, parser->out);
        item->may_be_empty = item->may_be_empty || quantifier.lower == 0;
        parser->last_letter = 0;
        YK_TRY(skip_ignored(parser));
    }
    return YK_OK;
}

/* Without regard to case, Oniguruma matches some pairs of letters with one character. */
static yk_status check_pair(const struct parser *parser, uint32_t character)
{
    static const char pairs[][2] = {{'f', 'f'}, {'f', 'i'}, {'f', 'l'}, {'s', 's'}, {'s', 't'}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if ((parser->last_letter | 0x20) == (uint32_t)pairs[i][0] &&
            (character | 0x20) == (uint32_t)pairs[i][1]) {
            return refuse(parser,
                          "(?i) applies to letters that one character can stand for, as ß for ss");
        }
    }
    return YK_OK;
}

static yk_status add_character(struct parser *parser, uint32_t character)
{
    YK_TRY(yk_regex_class_check_case(&parser->reader, character));
    if (parser->options.ignore_case) {
        YK_TRY(check_pair(parser, character));
    }
    parser->last_letter = parser->options.ignore_case ? character : 0;
    yk_regex_class_add_literal(character, parser->out);
    return YK_OK;
}

/* Reads a class, if one comes next. */
static yk_status read_class(struct parser *parser, bool *found)
{
    struct yk_regex_class class;
    YK_TRY(yk_regex_class_read(&parser->reader, false, found, &class));
    if (!*found) {
        return YK_OK;
    }
    if (parser->options.ignore_case && class.other_cases == YK_REGEX_CASE_DIFFERS) {
        return refuse(parser, "(?i) applies to a class of capital or small letters");
    }
    yk_regex_class_add(&class, parser->out);
    return YK_OK;
}

static yk_status read_group(struct parser *parser, struct item *item);

/* Reads an anchor or "\R" or ".", if one comes next. \K in a group is not known. */
static bool read_assertion(struct parser *parser, struct item *item)
{
    for (size_t i = 0; i < sizeof assertions / sizeof *assertions; i++) {
        if ((parser->depth == 1 || !assertions[i].outside_groups) &&
            skip(parser, assertions[i].pattern)) {
            yk_text_add(parser->out, assertions[i].translation);
            item->repeatable = assertions[i].repeatable;
            item->may_be_empty = !assertions[i].repeatable;
            return true;
        }
    }
    return false;
}

/* Reads something that a quantifier may follow. */
static yk_status read_atom(struct parser *parser, struct item *item)
{
    bool found = false;
    uint32_t character = 0;
    if (next(parser) == '(') {
        return read_group(parser, item);
    }
    item->repeatable = true;
    YK_TRY(read_class(parser, &found));
    found = found || read_assertion(parser, item);
    if (found || next(parser) == '[') {
        parser->last_letter = 0;
        return found ? YK_OK : yk_regex_set_translate(&parser->reader, parser->out);
    }
    if (!skip(parser, "\\")) {
        YK_TRY(yk_regex_reader_character(&parser->reader, &character));
    } else {
        YK_TRY(yk_regex_class_read_escaped(&parser->reader, &character));
    }
    return add_character(parser, character);
}

/* Reads what comes up to the next "|", the next closing parenthesis or the end. */
static yk_status read_branch(struct parser *parser)
{
    struct quantifier quantifier;
    YK_TRY(skip_ignored(parser));
    if (read_quantifier(parser, &quantifier)) {
        return refuse(parser, "a quantifier has nothing to repeat");
    }
    bool may_be_empty = true;
    while (!is_at_end(parser) && next(parser) != '|' && next(parser) != ')') {
        struct item item = {.begin = parser->out->length};
        YK_TRY(read_atom(parser, &item));
        YK_TRY(read_quantifiers(parser, &item));
        may_be_empty = may_be_empty && item.may_be_empty;
    }
    parser->may_be_empty = may_be_empty;
    return YK_OK;
}

/* Reads alternatives, up to a closing parenthesis or the end. */
static yk_status read_alternatives(struct parser *parser)
{
    if (++parser->depth > MAX_DEPTH) {
        return refuse(parser, "it has too many groups inside each other");
    }
    YK_TRY(read_branch(parser));
    bool may_be_empty = parser->may_be_empty;
    while (skip(parser, "|")) {
        yk_text_add(parser->out, "|");
        parser->last_letter = 0;
        YK_TRY(read_branch(parser));
        may_be_empty = may_be_empty || parser->may_be_empty;
    }
    parser->may_be_empty = may_be_empty;
    parser->depth--;
    return YK_OK;
}

static yk_status read_closing(struct parser *parser)
{
    yk_text_add(parser->out, ")");
    return skip(parser, ")") ? YK_OK : refuse(parser, "a group has no closing parenthesis");
}

/* Reads letters such as "i-m", up to ":" or ")". */
static yk_status read_option_letters(struct parser *parser, struct options *out)
{
    bool on = true;
    for (; next(parser) != ':' && next(parser) != ')'; parser->reader.at++) {
        switch (next(parser)) {
        case '-':
            on = false;
            break;
        case 'i':
            out->ignore_case = on;
            break;
        case 'm':
            out->dot_all = on;
            break;
        case 'x':
            out->extended = on;
            break;
        default:
            return refuse(parser, "it has a group or option that is not known");
        }
    }
    return YK_OK;
}

static void set_options(struct parser *parser, const struct options *options)
{
    parser->options = *options;
    parser->reader.ignore_case = options->ignore_case;
}

static void add_options(const struct options *before, const struct options *after,
                        struct yk_text *out)
{
    const bool case_changes = before->ignore_case != after->ignore_case;
    const bool dot_changes = before->dot_all != after->dot_all;
    yk_text_add(out, "(?");
    yk_text_add(out, case_changes && after->ignore_case ? "i" : "");
    yk_text_add(out, dot_changes && after->dot_all ? "s" : "");
    yk_text_add(
        out, (case_changes && before->ignore_case) || (dot_changes && before->dot_all) ? "-" : "");
    yk_text_add(out, case_changes && before->ignore_case ? "i" : "");
    yk_text_add(out, dot_changes && before->dot_all ? "s" : "");
    yk_text_add(out, ":");
}

/* Reads "i:…)" of "(?i:…)", or "i)" of "(?i)" and the rest of the group around it: all its
 * alternatives, so that "a(?i)b|c" is "a(?i:b|c)". */
static yk_status read_options(struct parser *parser)
{
    const struct options before = parser->options;
    struct options after = before;
    if (is_at(parser, ")") || is_at(parser, ":")) {
        return refuse(parser, "it has a group or option that is not known");
    }
    YK_TRY(read_option_letters(parser, &after));
    const bool isolated = next(parser) == ')';
    parser->reader.at++;
    add_options(&before, &after, parser->out);
    set_options(parser, &after);
    YK_TRY(read_alternatives(parser));
    set_options(parser, &before);
    if (isolated) {
        yk_text_add(parser->out, ")");
        return YK_OK;
    }
    return read_closing(parser);
}

/* Skips "name>" of "(?<name>…)". */
static yk_status skip_name(struct parser *parser)
{
    const size_t begin = parser->reader.at;
    while (next(parser) == '_' || is_digit(next(parser)) ||
           (next(parser) >= 'A' && next(parser) <= 'Z') ||
           (next(parser) >= 'a' && next(parser) <= 'z')) {
        parser->reader.at++;
    }
    if (parser->reader.at == begin || is_digit(parser->reader.pattern[begin]) ||
        !skip(parser, ">")) {
        return refuse(parser, "a group has a name that is not understood");
    }
    return YK_OK;
}

static yk_status read_group(struct parser *parser, struct item *item)
{
    const struct group *group = groups;
    while (!skip(parser, group->opening)) {
        group++; /* the last one begins every group */
    }
    if (group->kind == OPTIONS) {
        YK_TRY(read_options(parser));
    } else {
        const bool plain = group->kind == GROUP || group->kind == NAMED_GROUP;
        YK_TRY(group->kind == NAMED_GROUP ? skip_name(parser) : YK_OK);
        yk_text_add(parser->out, plain ? "(?:" : group->opening);
        YK_TRY(read_alternatives(parser));
        YK_TRY(read_closing(parser));
    }
    /* The machine code of PCRE2 10.42 tries such a group again, as in "b(?>[^a]*|)b". */
    if (group->kind == ATOMIC_GROUP && parser->may_be_empty) {
        return refuse(parser, "what is in (?> and ) may be empty");
    }
    item->repeatable = group->kind != LOOKAROUND;
    item->may_be_empty = parser->may_be_empty || group->kind == LOOKAROUND;
    return YK_OK;
}

yk_status yk_regex_syntax_translate(const char *pattern, size_t length,
                                    yk_regex_is_script *is_script, struct yk_text *out)
{
    struct parser parser = {
        .reader = {.pattern = pattern, .length = length, .is_script = is_script},
        .out = out,
    };
    YK_TRY(read_alternatives(&parser));
    if (!is_at_end(&parser)) {
        return refuse(&parser, "a closing parenthesis has no opening one");
    }
    return yk_text_status(out);
}
