#include "tokenizer/regex_syntax.h"

#include <stdint.h>
#include <string.h>

enum {
    MAX_SET_DEPTH = 16, /* of sets inside each other */
    SHOWN_BYTES = 100   /* of a pattern in messages */
};

#define WORD_MEMBERS "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
/* Oniguruma also counts the superscripts and fractions of Latin-1, but not inside brackets. */
#define WORD "[" WORD_MEMBERS "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}]"
#define NO_WORD "[^" WORD_MEMBERS "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}]"

/* Escapes with other meanings in Oniguruma than in PCRE2. `inside` brackets: NULL means that it is
 * a set of its own there. */
static const struct {
    char letter;
    const char *outside;
    const char *inside;
    const char *inside_set;
} classes[] = {
    {'s', "\\p{White_Space}", "\\p{White_Space}", NULL},
    {'S', "\\P{White_Space}", "\\P{White_Space}", NULL},
    {'w', WORD, WORD_MEMBERS, NULL},
    {'W', NO_WORD, NULL, "[^" WORD_MEMBERS "]"},
    {'h', "[0-9a-fA-F]", "0-9a-fA-F", NULL},
    {'H', "[^0-9a-fA-F]", NULL, "[^0-9a-fA-F]"},
    {'b', "(?:(?<=" WORD ")(?!" WORD ")|(?<!" WORD ")(?=" WORD "))", "\\x08", NULL},
    {'B', "(?:(?<=" WORD ")(?=" WORD ")|(?<!" WORD ")(?!" WORD "))", "B", NULL},
};

/* The listed characters got these properties in Unicode 15.1 and 16, which PCRE2 may not know yet.
 */
#define ALPHABETIC                                                                                 \
    "\\p{Alphabetic}\\x{363}-\\x{36f}\\x{c04}\\x{f82}\\x{f83}\\x{1dd3}-\\x{1de6}\\x{11080}\\x{"    \
    "11081}"
#define LOWERCASE "\\p{Lowercase}\\x{10fc}\\x{a7f2}-\\x{a7f4}\\x{ab69}"
/* All characters but white space, control characters and those that are not assigned. */
#define GRAPHIC "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}"

/* POSIX classes, which stand inside brackets. */
static const struct {
    const char *name;
    const char *members;
} posix_classes[] = {
    {"alnum", ALPHABETIC "\\p{Nd}"},
    {"alpha", ALPHABETIC},
    {"ascii", "\\x00-\\x7f"},
    {"blank", "\\p{Zs}\\t"},
    {"cntrl", "\\p{Cc}"},
    {"digit", "\\p{Nd}"},
    {"graph", GRAPHIC},
    {"lower", LOWERCASE},
    {"print", GRAPHIC "\\p{Zs}"},
    {"punct", "\\p{P}\\p{S}"},
    {"space", "\\p{White_Space}"},
    {"upper", "\\p{Uppercase}"},
    {"word", WORD_MEMBERS},
    {"xdigit", "0-9a-fA-F"},
};

/* Adds the translation of a backslash and `letter` outside brackets. */
static void add_escape(char letter, struct yk_text *out)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (classes[i].letter == letter) {
            yk_text_add(out, classes[i].outside);
            return;
        }
    }
    const char escape[] = {'\\', letter};
    yk_text_add_bytes(out, escape, sizeof escape);
}

/* Adds the \p{…} or \P{…} at the beginning of `pattern` and returns its length. A script in
 * Oniguruma contains its own characters only; in PCRE2 it also contains characters that it shares
 * with other scripts. */
static size_t add_property(const char *pattern, size_t length, yk_regex_is_script *is_script,
                           struct yk_text *out)
{
    const char *close = memchr(pattern, '}', length);
    if (length < 3 || pattern[2] != '{' || !close) {
        yk_text_add_bytes(out, pattern, length < 2 ? length : 2);
        return length < 2 ? length : 2;
    }
    const char *name = pattern + 3 + (pattern[3] == '^');
    const size_t name_length = (size_t)(close - name);
    /* Names of categories have one or two letters. */
    const bool script = name_length > 2 && name_length <= YK_REGEX_SYNTAX_MAX_NAME_BYTES &&
                        is_script(name, name_length);
    yk_text_add_bytes(out, pattern, (size_t)(name - pattern));
    yk_text_add(out, script ? "sc:" : "");
    yk_text_add_bytes(out, name, name_length + 1);
    return (size_t)(close - pattern) + 1;
}

/*
 * A set in brackets. Oniguruma also has sets inside sets, and intersections (&&), which PCRE2 has
 * not: they become groups that match one character.
 */
struct set {
    yk_regex_is_script *is_script;
    bool negated;
    struct yk_text plain;  /* members in PCRE2's syntax, without brackets */
    struct yk_text others; /* other members: "|" and a group, again and again */
    struct yk_text before; /* the parts before "&&", as lookaheads */
    bool has_before;
};

static void free_set(struct set *set)
{
    yk_text_free(&set->plain);
    yk_text_free(&set->others);
    yk_text_free(&set->before);
}

static bool is_simple(const struct set *set)
{
    return set->others.length == 0 && !set->has_before;
}

/* Adds what matches a character of the members since the last "&&". */
static void add_members(const struct set *set, bool negated, struct yk_text *out)
{
    const char *others = yk_text_chars(&set->others);
    if (set->others.length == 0 && set->plain.length > 0) {
        yk_text_addf(out, "[%s", negated ? "^" : "");
        yk_text_add_bytes(out, yk_text_chars(&set->plain), set->plain.length);
        yk_text_add(out, "]");
        return;
    }
    yk_text_add(out, negated ? "(?:(?!" : "(?:");
    if (set->plain.length > 0) {
        yk_text_add(out, "[");
        yk_text_add_bytes(out, yk_text_chars(&set->plain), set->plain.length);
        yk_text_add(out, "]");
        yk_text_add(out, others);
    } else {
        /* No member at all matches nothing. */
        yk_text_add(out, set->others.length > 0 ? others + 1 : "(?!)");
    }
    yk_text_add(out, negated ? ")(?s:.))" : ")");
}

/* Adds the whole set as something that matches one character. */
static void add_set(const struct set *set, struct yk_text *out)
{
    if (!set->has_before) {
        add_members(set, set->negated, out);
        return;
    }
    yk_text_add(out, set->negated ? "(?:(?!" : "(?:");
    yk_text_add_bytes(out, yk_text_chars(&set->before), set->before.length);
    add_members(set, false, out);
    yk_text_add(out, set->negated ? ")(?s:.))" : ")");
}

static void end_part(struct set *set)
{
    yk_text_add(&set->before, "(?=");
    add_members(set, false, &set->before);
    yk_text_add(&set->before, ")");
    set->plain.length = 0;
    set->others.length = 0;
    set->has_before = true;
}

/* Adds an escape that begins at `pattern` and returns its length. */
static size_t add_set_escape(const char *pattern, size_t length, struct set *set)
{
    if (length < 2 || pattern[1] == 'p' || pattern[1] == 'P') {
        return add_property(pattern, length, set->is_script, &set->plain);
    }
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (classes[i].letter == pattern[1]) {
            if (classes[i].inside) {
                yk_text_add(&set->plain, classes[i].inside);
            } else {
                yk_text_addf(&set->others, "|%s", classes[i].inside_set);
            }
            return 2;
        }
    }
    yk_text_add_bytes(&set->plain, pattern, 2);
    return 2;
}

static yk_status read_set(const char *pattern, size_t length, int depth, struct set *out,
                          size_t *used);

/* Adds a set inside a set. */
static yk_status add_inner_set(const char *pattern, size_t length, int depth, struct set *set,
                               size_t *used)
{
    struct set inner = {.is_script = set->is_script};
    YK_TRY_OR_CLEAN_UP(read_set(pattern, length, depth + 1, &inner, used), free_set(&inner));
    if (is_simple(&inner) && !inner.negated) {
        yk_text_add_bytes(&set->plain, yk_text_chars(&inner.plain), inner.plain.length);
    } else {
        yk_text_add(&set->others, "|");
        add_set(&inner, &set->others);
    }
    free_set(&inner);
    return YK_OK;
}

/* The length of a POSIX class such as "[:alpha:]" at the beginning of `pattern`, or 0. */
static size_t posix_length(const char *pattern, size_t length)
{
    const char *end = length > 3 && pattern[1] == ':' ? memchr(pattern, ']', length) : NULL;
    return end && end[-1] == ':' && end - pattern > 3 ? (size_t)(end - pattern) + 1 : 0;
}

/* Adds a class such as "[:alpha:]" or "[:^alpha:]". */
static yk_status add_posix(const char *class, size_t length, struct set *set)
{
    const bool negated = class[2] == '^';
    const char *name = class + 2 + negated;
    const size_t name_length = length - strlen("[::]") - negated;
    for (size_t i = 0; i < sizeof posix_classes / sizeof *posix_classes; i++) {
        if (strlen(posix_classes[i].name) != name_length ||
            memcmp(posix_classes[i].name, name, name_length) != 0) {
            continue;
        }
        if (negated) {
            yk_text_addf(&set->others, "|[^%s]", posix_classes[i].members);
        } else {
            yk_text_add(&set->plain, posix_classes[i].members);
        }
        return YK_OK;
    }
    return yk_fail(YK_ERROR_INPUT, "%.*s in a pattern is not a class of characters",
                   length < SHOWN_BYTES ? (int)length : SHOWN_BYTES, class);
}

/* Adds a character. PCRE2 would read "[:a:]", "[.a.]" and "[=a=]" as names. */
static void add_character(char character, struct set *set)
{
    const bool escaped = character == ':' || character == '.' || character == '=';
    yk_text_add(&set->plain, escaped ? "\\" : "");
    yk_text_add_bytes(&set->plain, &character, 1);
}

/* Reads the set at the beginning of `pattern`. */
static yk_status read_set(const char *pattern, size_t length, int depth, struct set *out,
                          size_t *used)
{
    size_t i = 1;
    if (depth == MAX_SET_DEPTH) {
        return yk_fail(YK_ERROR_INPUT, "more than %d sets inside each other", MAX_SET_DEPTH);
    }
    if (i < length && pattern[i] == '^') {
        out->negated = true;
        i++;
    }
    /* A closing bracket directly after [ or [^ is a member of the set. */
    if (i < length && pattern[i] == ']') {
        yk_text_add(&out->plain, "\\]");
        i++;
    }
    while (i < length && pattern[i] != ']') {
        const size_t posix = pattern[i] == '[' ? posix_length(pattern + i, length - i) : 0;
        size_t step = posix ? posix : 1;
        if (pattern[i] == '\\') {
            step = add_set_escape(pattern + i, length - i, out);
        } else if (posix) {
            YK_TRY(add_posix(pattern + i, posix, out));
        } else if (pattern[i] == '[') {
            YK_TRY(add_inner_set(pattern + i, length - i, depth, out, &step));
        } else if (pattern[i] == '&' && i + 1 < length && pattern[i + 1] == '&') {
            end_part(out);
            step = 2;
        } else {
            add_character(pattern[i], out);
        }
        i += step;
    }
    if (i >= length) {
        return yk_fail(YK_ERROR_INPUT, "a set in the pattern \"%.*s\" has no closing bracket",
                       length < SHOWN_BYTES ? (int)length : SHOWN_BYTES, pattern);
    }
    *used = i + 1;
    YK_TRY(yk_text_status(&out->others));
    YK_TRY(yk_text_status(&out->before));
    return yk_text_status(&out->plain);
}

yk_status yk_regex_syntax_translate(const char *pattern, size_t length,
                                    yk_regex_is_script *is_script, struct yk_text *out)
{
    for (size_t i = 0; i < length;) {
        size_t used = 1;
        if (pattern[i] == '[') {
            struct set set = {.is_script = is_script};
            YK_TRY_OR_CLEAN_UP(read_set(pattern + i, length - i, 0, &set, &used), free_set(&set));
            add_set(&set, out);
            free_set(&set);
        } else if (pattern[i] != '\\' || i + 1 == length) {
            yk_text_add_bytes(out, pattern + i, 1);
        } else if (pattern[i + 1] == 'p' || pattern[i + 1] == 'P') {
            used = add_property(pattern + i, length - i, is_script, out);
        } else {
            add_escape(pattern[i + 1], out);
            used = 2;
        }
        i += used;
    }
    return yk_text_status(out);
}
