/*
 * Lexer: cuts the source of a template into tokens, with the white space rules of trim_blocks and
 * lstrip_blocks: one newline directly behind a block or comment is removed, and so are spaces
 * between the beginning of a line and a block or comment.
 */
#ifndef YK_TOKENIZER_JINJA_LEXER_H
#define YK_TOKENIZER_JINJA_LEXER_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum yk_jinja_token_kind {
    YK_JINJA_TOKEN_TEXT,
    YK_JINJA_TOKEN_PRINT_BEGIN, /* {{ */
    YK_JINJA_TOKEN_PRINT_END,
    YK_JINJA_TOKEN_BLOCK_BEGIN, /* {% */
    YK_JINJA_TOKEN_BLOCK_END,
    YK_JINJA_TOKEN_NAME,
    YK_JINJA_TOKEN_STRING, /* its escapes are resolved */
    YK_JINJA_TOKEN_INTEGER,
    YK_JINJA_TOKEN_FLOAT,
    YK_JINJA_TOKEN_OPERATOR,
    YK_JINJA_TOKEN_END /* of the template */
};

struct yk_jinja_token {
    enum yk_jinja_token_kind kind;
    int32_t line;
    const char *bytes;
    size_t length;
    union {
        int64_t integer;
        double number;
        uint32_t operator; /* the characters of the operator, the last in the lowest byte */
    } as;
};

/* The code of an operator of one or two characters. */
#define YK_JINJA_OPERATOR_1(a) ((uint32_t)(unsigned char)(a))
#define YK_JINJA_OPERATOR_2(a, b) (YK_JINJA_OPERATOR_1(a) << 8 | YK_JINJA_OPERATOR_1(b))

/* Cuts a template into tokens, of which the last is YK_JINJA_TOKEN_END. The tokens and their bytes
 * belong to the arena. Error messages begin with "line 3: ". */
yk_status yk_jinja_lexer_read(const char *source, size_t length, struct yk_arena *arena,
                              const struct yk_jinja_token **out) YK_MUST_USE;

#endif
