#include "tokenizer/jinja/lexer.h"

#include "tokenizer/jinja/literal.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/unicode.h"

#include "base/utf8.h"

#include <ctype.h>

enum {
    MAX_SOURCE_BYTES = 16 * 1024 * 1024,
    MAX_NESTED = 200, /* brackets in brackets */
    FIRST_TOKENS = 256
};

struct lexer {
    struct yk_arena *arena;
    const char *source; /* newlines are \n; terminated by a zero byte */
    size_t length;
    size_t at;
    int32_t line;
    bool line_starting; /* what was read last ended with a newline */
    char brackets[MAX_NESTED];
    int32_t bracket_count;
    struct yk_jinja_token *tokens;
    size_t count;
    size_t capacity;
};

static yk_status fail(const struct lexer *lexer, const char *what)
{
    return yk_fail(YK_ERROR_INPUT, "line %d: %s", (int)lexer->line, what);
}

static yk_status add_token(struct lexer *lexer, struct yk_jinja_token token)
{
    if (lexer->count == lexer->capacity) {
        struct yk_jinja_token *tokens = NULL;
        const size_t capacity = lexer->capacity > 0 ? lexer->capacity * 2 : FIRST_TOKENS;
        YK_TRY_NEW(lexer->arena, tokens, capacity);
        if (lexer->count > 0) {
            memcpy(tokens, lexer->tokens, lexer->count * sizeof *tokens);
        }
        lexer->tokens = tokens;
        lexer->capacity = capacity;
    }
    token.line = lexer->line;
    lexer->tokens[lexer->count++] = token;
    return YK_OK;
}

static int32_t count_lines(const char *bytes, size_t length)
{
    int32_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += bytes[i] == '\n';
    }
    return count;
}

/* Advances over `bytes` bytes that were read. */
static void advance(struct lexer *lexer, size_t bytes)
{
    const char *begin = lexer->source + lexer->at;
    lexer->line += count_lines(begin, bytes);
    lexer->at += bytes;
    lexer->line_starting = bytes > 0 && begin[bytes - 1] == '\n';
}

/* Returns the number of bytes of white space at `at`. */
static size_t space_length(const struct lexer *lexer, size_t at)
{
    const size_t begin = at;
    while (at < lexer->length) {
        uint32_t character = 0;
        const size_t used = yk_jinja_string_decode(lexer->source + at, &character);
        if (!yk_unicode_is_python_space(character)) {
            break;
        }
        at += used;
    }
    return at - begin;
}

static bool begins_with(const struct lexer *lexer, size_t at, const char *words)
{
    const size_t length = strlen(words);
    return at + length <= lexer->length && memcmp(lexer->source + at, words, length) == 0;
}

/* Returns the length of {% raw %} at `at`, or 0. */
static size_t raw_begin_length(const struct lexer *lexer, size_t at)
{
    const size_t begin = at;
    at += 2;
    at += lexer->source[at] == '-' || lexer->source[at] == '+';
    at += space_length(lexer, at);
    if (!begins_with(lexer, at, "raw")) {
        return 0;
    }
    at += strlen("raw");
    at += space_length(lexer, at);
    if (begins_with(lexer, at, "-%}")) {
        at += strlen("-%}");
        return at + space_length(lexer, at) - begin;
    }
    return begins_with(lexer, at, "%}") ? at + strlen("%}") - begin : 0;
}

/* Returns the length of what ends a block or a comment at `at` ("%}" or "#}"), with the white space
 * that belongs to it, or 0. */
static size_t end_length(const struct lexer *lexer, size_t at, const char *mark)
{
    if (begins_with(lexer, at, mark)) {
        return at + 2 < lexer->length && lexer->source[at + 2] == '\n' ? 3 : 2;
    }
    if (lexer->source[at] == '+' && begins_with(lexer, at + 1, mark)) {
        return 3;
    }
    return lexer->source[at] == '-' && begins_with(lexer, at + 1, mark)
               ? 3 + space_length(lexer, at + 3)
               : 0;
}

/* Returns the length of {% endraw %} at `at`, or 0. */
static size_t raw_end_length(const struct lexer *lexer, size_t at)
{
    const size_t begin = at;
    at += 2;
    at += lexer->source[at] == '-' || lexer->source[at] == '+';
    at += space_length(lexer, at);
    if (!begins_with(lexer, at, "endraw")) {
        return 0;
    }
    at += strlen("endraw");
    at += space_length(lexer, at);
    const size_t end = end_length(lexer, at, "%}");
    return end > 0 ? at + end - begin : 0;
}

static bool is_all_space(const char *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        at += yk_jinja_string_decode(bytes + at, &character);
        if (!yk_unicode_is_python_space(character)) {
            return false;
        }
    }
    return true;
}

/* Returns how much of the text before a tag remains. `sign` is the character behind {%, {# or {{.
 */
static size_t stripped_length(const struct lexer *lexer, const char *text, size_t length, char sign,
                              bool print)
{
    if (sign == '-') {
        while (length > 0) {
            const size_t before = yk_utf8_previous_character_start(text, length);
            if (!is_all_space(text + before, length - before)) {
                break;
            }
            length = before;
        }
        return length;
    }
    if (sign == '+' || print) {
        return length;
    }
    const char *newline = length > 0 ? memrchr(text, '\n', length) : NULL;
    const size_t line_begin = newline ? (size_t)(newline - text) + 1 : 0;
    const bool at_line_begin = newline || lexer->line_starting;
    return at_line_begin && is_all_space(text + line_begin, length - line_begin) ? line_begin
                                                                                 : length;
}

/* Adds the text from the current position to the tag at `end`. */
static yk_status add_text(struct lexer *lexer, size_t end, char sign, bool print)
{
    const char *text = lexer->source + lexer->at;
    const size_t length = stripped_length(lexer, text, end - lexer->at, sign, print);
    if (length > 0) {
        YK_TRY(add_token(lexer, (struct yk_jinja_token){
                                    .kind = YK_JINJA_TOKEN_TEXT, .bytes = text, .length = length}));
    }
    advance(lexer, end - lexer->at);
    return YK_OK;
}

static yk_status read_raw(struct lexer *lexer)
{
    advance(lexer, raw_begin_length(lexer, lexer->at));
    for (size_t at = lexer->at; at + 1 < lexer->length; at++) {
        if (lexer->source[at] != '{' || lexer->source[at + 1] != '%') {
            continue;
        }
        const size_t length = raw_end_length(lexer, at);
        if (length > 0) {
            YK_TRY(add_text(lexer, at, lexer->source[at + 2], false));
            advance(lexer, length);
            return YK_OK;
        }
    }
    /* jinja2 does not miss the end where nothing follows. */
    return lexer->at == lexer->length ? YK_OK : fail(lexer, "{% raw %} has no {% endraw %}");
}

static yk_status read_comment(struct lexer *lexer)
{
    /* the sign of "{#-" belongs to the beginning: "{#-#}" is a whole comment */
    size_t begin = lexer->at + 2;
    begin += lexer->source[begin] == '-' || lexer->source[begin] == '+';
    for (size_t at = begin; at < lexer->length; at++) {
        const size_t length = end_length(lexer, at, "#}");
        if (length > 0) {
            advance(lexer, at + length - lexer->at);
            return YK_OK;
        }
    }
    if (begin >= lexer->length) {
        advance(lexer, lexer->length - lexer->at); /* nothing follows */
        return YK_OK;
    }
    return fail(lexer, "a comment {# has no end #}");
}

static bool is_name_character(uint32_t character)
{
    if (character < 0x80) {
        return isalnum((int)character) || character == '_';
    }
    const char *category = yk_unicode_general_category(character);
    return category[0] == 'L' || category[0] == 'N' || strcmp(category, "Mn") == 0 ||
           strcmp(category, "Mc") == 0 || strcmp(category, "Pc") == 0;
}

static yk_status read_name(struct lexer *lexer, bool *found)
{
    const size_t begin = lexer->at;
    size_t end = begin;
    while (end < lexer->length) {
        uint32_t character = 0;
        const size_t used = yk_jinja_string_decode(lexer->source + end, &character);
        if (!is_name_character(character)) {
            break;
        }
        end += used;
    }
    *found = end > begin;
    if (!*found) {
        return YK_OK;
    }
    YK_TRY(add_token(lexer, (struct yk_jinja_token){.kind = YK_JINJA_TOKEN_NAME,
                                                    .bytes = lexer->source + begin,
                                                    .length = end - begin}));
    advance(lexer, end - begin);
    return YK_OK;
}

static yk_status read_number(struct lexer *lexer)
{
    const bool after_dot = lexer->at > 0 && lexer->source[lexer->at - 1] == '.';
    struct yk_jinja_token token = {.line = lexer->line};
    YK_TRY(
        yk_jinja_literal_read_number(lexer->source + lexer->at, after_dot, lexer->arena, &token));
    YK_TRY(add_token(lexer, token));
    advance(lexer, token.length);
    return YK_OK;
}

static yk_status read_string(struct lexer *lexer)
{
    const char quote = lexer->source[lexer->at];
    const char *bytes = lexer->source + lexer->at + 1;
    struct yk_jinja_token token = {.line = lexer->line};
    size_t length = 0;
    while (lexer->at + 1 + length < lexer->length && bytes[length] != quote) {
        length += bytes[length] == '\\' ? 2 : 1;
    }
    if (lexer->at + 1 + length >= lexer->length) {
        return fail(lexer, "a string has no end");
    }
    YK_TRY(yk_jinja_literal_read_string(bytes, length, lexer->arena, &token));
    YK_TRY(add_token(lexer, token));
    advance(lexer, length + 2);
    return YK_OK;
}

static yk_status check_bracket(struct lexer *lexer, char character)
{
    static const char opening[] = "([{";
    static const char closing[] = ")]}";
    const char *opens = strchr(opening, character);
    if (opens) {
        if (lexer->bracket_count == MAX_NESTED) {
            return fail(lexer, "brackets are nested too deeply");
        }
        lexer->brackets[lexer->bracket_count++] = closing[opens - opening];
    } else if (strchr(closing, character)) {
        if (lexer->bracket_count == 0 || lexer->brackets[--lexer->bracket_count] != character) {
            return fail(lexer, "a closing bracket has no opening bracket");
        }
    }
    return YK_OK;
}

static yk_status read_operator(struct lexer *lexer)
{
    static const char *const pairs[] = {"//", "**", "==", "!=", ">=", "<="};
    const char *bytes = lexer->source + lexer->at;
    struct yk_jinja_token token = {.kind = YK_JINJA_TOKEN_OPERATOR, .bytes = bytes};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (bytes[0] == pairs[i][0] && bytes[1] == pairs[i][1]) {
            token.length = 2;
            token.as.operator= YK_JINJA_OPERATOR_2(bytes[0], bytes[1]);
        }
    }
    if (token.length == 0 && bytes[0] != '\0' && strchr("+-/*%~[](){}><=.:|,;", bytes[0])) {
        token.length = 1;
        token.as.operator= YK_JINJA_OPERATOR_1(bytes[0]);
        YK_TRY(check_bracket(lexer, bytes[0]));
    }
    if (token.length == 0) {
        return fail(lexer, "a character that has no meaning inside {{ }} and {% %}");
    }
    YK_TRY(add_token(lexer, token));
    advance(lexer, token.length);
    return YK_OK;
}

/* Returns the length of the end of the tag at the current position, or 0. */
static size_t tag_end_length(const struct lexer *lexer, bool print)
{
    if (lexer->bracket_count > 0) {
        return 0;
    }
    if (!print) {
        return end_length(lexer, lexer->at, "%}");
    }
    if (begins_with(lexer, lexer->at, "}}")) {
        return 2;
    }
    return begins_with(lexer, lexer->at, "-}}") ? 3 + space_length(lexer, lexer->at + 3) : 0;
}

static yk_status read_inside_tag(struct lexer *lexer)
{
    bool found = false;
    const char first = lexer->source[lexer->at];
    if (isdigit((unsigned char)first)) {
        return read_number(lexer);
    }
    YK_TRY(read_name(lexer, &found));
    if (found) {
        return YK_OK;
    }
    return first == '\'' || first == '"' ? read_string(lexer) : read_operator(lexer);
}

static yk_status read_tag(struct lexer *lexer, bool print)
{
    const char sign = lexer->source[lexer->at + 2];
    size_t end = 0;
    YK_TRY(add_token(lexer, (struct yk_jinja_token){.kind = print ? YK_JINJA_TOKEN_PRINT_BEGIN
                                                                  : YK_JINJA_TOKEN_BLOCK_BEGIN}));
    advance(lexer, sign == '-' || sign == '+' ? 3 : 2);
    while ((end = tag_end_length(lexer, print)) == 0) {
        const size_t space = space_length(lexer, lexer->at);
        advance(lexer, space);
        if (lexer->at >= lexer->length) {
            return fail(lexer, print ? "{{ has no end }}" : "{% has no end %}");
        }
        if (space == 0) {
            YK_TRY(read_inside_tag(lexer));
        }
    }
    YK_TRY(add_token(lexer, (struct yk_jinja_token){.kind = print ? YK_JINJA_TOKEN_PRINT_END
                                                                  : YK_JINJA_TOKEN_BLOCK_END}));
    advance(lexer, end);
    return YK_OK;
}

static yk_status read_all(struct lexer *lexer)
{
    while (lexer->at < lexer->length) {
        size_t tag = lexer->at;
        while (tag < lexer->length &&
               (lexer->source[tag] != '{' || lexer->source[tag + 1] == '\0' ||
                !strchr("{%#", lexer->source[tag + 1]))) {
            tag++;
        }
        if (tag == lexer->length) {
            return add_text(lexer, tag, '+', false);
        }
        const char kind = lexer->source[tag + 1];
        YK_TRY(add_text(lexer, tag, lexer->source[tag + 2], kind == '{'));
        if (kind == '#') {
            YK_TRY(read_comment(lexer));
        } else if (kind == '%' && raw_begin_length(lexer, tag) > 0) {
            YK_TRY(read_raw(lexer));
        } else {
            YK_TRY(read_tag(lexer, kind == '{'));
        }
    }
    return YK_OK;
}

/* Copies the source with all newlines written as \n, without one at the end. */
static yk_status normalize(const char *source, size_t length, struct lexer *lexer)
{
    /* tokens are looked at up to two bytes ahead */
    char *copy = yk_arena_allocate(lexer->arena, length + 4, 1);
    YK_TRY_ALLOCATED(copy);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (source[i] == '\r') {
            copy[used++] = '\n';
            i += i + 1 < length && source[i + 1] == '\n';
        } else {
            copy[used++] = source[i];
        }
    }
    if (used > 0 && copy[used - 1] == '\n') {
        copy[--used] = '\0';
    }
    lexer->source = copy;
    lexer->length = used;
    return YK_OK;
}

yk_status yk_jinja_lexer_read(const char *source, size_t length, struct yk_arena *arena,
                              const struct yk_jinja_token **out)
{
    struct lexer lexer = {.arena = arena, .line = 1, .line_starting = true};
    if (length > MAX_SOURCE_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "the template has %zu bytes, where at most %d are allowed",
                       length, MAX_SOURCE_BYTES);
    }
    const size_t valid = yk_utf8_valid_prefix_length(source, length);
    if (valid < length) {
        return yk_fail(YK_ERROR_INPUT, "line %d: the template is not UTF-8 text",
                       (int)count_lines(source, valid) + 1);
    }
    YK_TRY(normalize(source, length, &lexer));
    YK_TRY(read_all(&lexer));
    YK_TRY(add_token(&lexer, (struct yk_jinja_token){.kind = YK_JINJA_TOKEN_END}));
    *out = lexer.tokens;
    return YK_OK;
}
