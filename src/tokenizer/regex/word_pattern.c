#include "tokenizer/regex/word_pattern.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

const char yk_word_pattern_gpt2[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const char yk_word_pattern_llama3[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const char yk_word_pattern_qwen2[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const char yk_word_pattern_gpt4o[] =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

enum contractions {
    CONTRACTIONS_ARE_WORDS,          /* 's, 't, 're, 've, 'm, 'll and 'd are words */
    CONTRACTIONS_ARE_WORDS_ANY_CASE, /* also in uppercase */
    CONTRACTIONS_END_WORDS           /* they belong to the word before them, also in uppercase */
};

/* How the patterns differ. */
struct yk_word_pattern {
    const char *expression;
    size_t max_digits; /* in a word; 0: unlimited, with an optional space before them */
    enum contractions contractions;
    bool any_prefix; /* each character but newlines may precede letters; otherwise only a space */
    bool cased;      /* an uppercase letter after a lowercase one begins a word */
    bool newlines;   /* newlines end white space, and belong to the symbols before them */
    bool slash;      /* "/" belongs to the newlines after symbols */
};

static const struct yk_word_pattern patterns[] = {
    {.expression = yk_word_pattern_gpt2, .contractions = CONTRACTIONS_ARE_WORDS},
    {.expression = yk_word_pattern_llama3,
     .contractions = CONTRACTIONS_ARE_WORDS_ANY_CASE,
     .any_prefix = true,
     .max_digits = 3,
     .newlines = true},
    {.expression = yk_word_pattern_qwen2,
     .contractions = CONTRACTIONS_ARE_WORDS_ANY_CASE,
     .any_prefix = true,
     .max_digits = 1,
     .newlines = true},
    {.expression = yk_word_pattern_gpt4o,
     .contractions = CONTRACTIONS_END_WORDS,
     .any_prefix = true,
     .cased = true,
     .max_digits = 3,
     .newlines = true,
     .slash = true},
};

const struct yk_word_pattern *yk_word_pattern_find(const char *expression, size_t length)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (strlen(patterns[i].expression) == length &&
            memcmp(patterns[i].expression, expression, length) == 0) {
            return &patterns[i];
        }
    }
    return NULL;
}

enum kind {
    SYMBOL, /* everything else */
    UPPERCASE,
    LOWERCASE,
    DIGIT,
    BLANK, /* white space that is no newline */
    NEWLINE,
    NON_ASCII /* part of a character that is not ASCII */
};

/* Sets of kinds. */
enum {
    UPPERCASES = 1 << UPPERCASE,
    LOWERCASES = 1 << LOWERCASE,
    LETTERS = UPPERCASES | LOWERCASES,
    DIGITS = 1 << DIGIT,
    BLANKS = 1 << BLANK,
    NEWLINES = 1 << NEWLINE,
    SYMBOLS = 1 << SYMBOL
};

static const unsigned char kinds[UINT8_MAX + 1] = {
    ['\t'] = BLANK,
    ['\n'] = NEWLINE,
    ['\v' ... '\f'] = BLANK,
    ['\r'] = NEWLINE,
    [' '] = BLANK,
    ['0' ... '9'] = DIGIT,
    ['A' ... 'Z'] = UPPERCASE,
    ['a' ... 'z'] = LOWERCASE,
    [0x80 ... UINT8_MAX] = NON_ASCII,
};

struct scan {
    const struct yk_word_pattern *pattern;
    const char *text;
    size_t length;
    bool saw_non_ascii; /* a character that is not ASCII was looked at */
};

static bool is_in(struct scan *scan, size_t at, int set)
{
    if (at >= scan->length) {
        return false;
    }
    const int kind = kinds[(unsigned char)scan->text[at]];
    scan->saw_non_ascii |= kind == NON_ASCII;
    return (1 << kind & set) != 0;
}

static bool is_byte(const struct scan *scan, size_t at, char byte)
{
    return at < scan->length && scan->text[at] == byte;
}

/* The end of the characters of a set from `at` on. */
static size_t skip(struct scan *scan, size_t at, int set)
{
    while (is_in(scan, at, set)) {
        at++;
    }
    return at;
}

/* The end of a contraction, or `at` if there is none. */
static size_t skip_contraction(struct scan *scan, size_t at)
{
    static const char *const suffixes[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    const char lower = scan->pattern->contractions == CONTRACTIONS_ARE_WORDS ? 0 : 'a' - 'A';
    if (!is_byte(scan, at, '\'') || !is_in(scan, at + 1, LETTERS)) {
        return at;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t end = at + 1;
        const char *suffix = suffixes[i];
        while (*suffix && is_in(scan, end, LETTERS) && (scan->text[end] | lower) == *suffix) {
            end++;
            suffix++;
        }
        if (*suffix == '\0') {
            return end;
        }
    }
    return at;
}

/* The end of a word of letters, or `at`. */
static size_t skip_letters(struct scan *scan, size_t at)
{
    const struct yk_word_pattern *pattern = scan->pattern;
    const bool prefixed =
        pattern->any_prefix ? is_in(scan, at, BLANKS | SYMBOLS) : is_byte(scan, at, ' ');
    const size_t begin = at + prefixed;
    const size_t end = pattern->cased ? skip(scan, skip(scan, begin, UPPERCASES), LOWERCASES)
                                      : skip(scan, begin, LETTERS);
    if (end == begin) {
        return at;
    }
    return pattern->contractions == CONTRACTIONS_END_WORDS ? skip_contraction(scan, end) : end;
}

/* The end of a word of digits, or `at`. */
static size_t skip_digits(struct scan *scan, size_t at)
{
    const size_t max = scan->pattern->max_digits;
    const size_t begin = at + (max == 0 && is_byte(scan, at, ' '));
    size_t end = begin;
    while ((max == 0 || end < begin + max) && is_in(scan, end, DIGITS)) {
        end++;
    }
    return end > begin ? end : at;
}

/* The end of a word of symbols, or `at`. */
static size_t skip_symbols(struct scan *scan, size_t at)
{
    const size_t begin = at + is_byte(scan, at, ' ');
    size_t end = skip(scan, begin, SYMBOLS);
    if (end == begin) {
        return at;
    }
    while (scan->pattern->newlines &&
           (is_in(scan, end, NEWLINES) || (scan->pattern->slash && is_byte(scan, end, '/')))) {
        end++;
    }
    return end;
}

/* The end of white space that is a word. The last one of several belongs to the next word. */
static size_t skip_spaces(struct scan *scan, size_t at)
{
    const size_t end = skip(scan, at, BLANKS | NEWLINES);
    size_t line = end;
    while (scan->pattern->newlines && line > at && !is_in(scan, line - 1, NEWLINES)) {
        line--;
    }
    if (scan->pattern->newlines && line > at) {
        return line;
    }
    return end < scan->length && end > at + 1 ? end - 1 : end;
}

size_t yk_word_pattern_match(const struct yk_word_pattern *pattern, const char *text, size_t length,
                             size_t from)
{
    static size_t (*const alternatives[])(struct scan *, size_t) = {
        skip_contraction, skip_letters, skip_digits, skip_symbols, skip_spaces};
    struct scan scan = {.pattern = pattern, .text = text, .length = length};
    /* Most words that are not ASCII show it here. */
    if (is_in(&scan, from + is_byte(&scan, from, ' '), 1 << NON_ASCII)) {
        return 0;
    }
    size_t end = from;
    for (size_t i = pattern->contractions == CONTRACTIONS_END_WORDS ? 1 : 0;
         i < sizeof alternatives / sizeof *alternatives && end == from && !scan.saw_non_ascii;
         i++) {
        end = alternatives[i](&scan, from);
    }
    return scan.saw_non_ascii ? 0 : end;
}
