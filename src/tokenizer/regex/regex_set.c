#include "tokenizer/regex/regex_set.h"

#include "base/utf8.h"

#include <string.h>

enum {
    MAX_DEPTH = 16 /* of sets inside each other */
};

struct set {
    int depth;
    bool negated;
    bool has_complement;   /* a member is a negated class, or reaches to the last character */
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

/* Adds a class. Without regard to case, Oniguruma takes a letter's other cases into brackets, even
 * pairs of letters, but into negated ones only U+0345, a mark that belongs to the letter iota. */
static yk_status add_class(const struct yk_regex_reader *reader, const struct yk_regex_class *class,
                           struct set *set)
{
    const bool letters = !class->members && strcmp(class->property, "L") == 0;
    if (reader->ignore_case && class->other_cases != YK_REGEX_CASE_CLOSED &&
        !(letters && !class->negated && set->negated && set->depth == 0)) {
        return yk_regex_reader_refuse(reader,
                                      "(?i) applies to a class with letters inside brackets");
    }
    set->has_complement = set->has_complement || class->negated;
    if (!yk_regex_class_add_members(class, &set->plain)) {
        yk_text_add(&set->others, "|");
        yk_regex_class_add(class, &set->others);
    }
    yk_text_add(&set->plain, letters && reader->ignore_case ? "\\x{345}" : "");
    return YK_OK;
}

/* Reads the class that comes next, if there is one. */
static yk_status read_class(struct yk_regex_reader *reader, struct set *set, bool *found)
{
    struct yk_regex_class class;
    YK_TRY(yk_regex_class_read(reader, true, found, &class));
    if (!*found) {
        YK_TRY(yk_regex_class_read_posix(reader, found, &class));
    }
    if (!*found) {
        return YK_OK;
    }
    YK_TRY(add_class(reader, &class, set));
    if (yk_regex_reader_is_at(reader, "-") && !yk_regex_reader_is_at(reader, "-]") &&
        !yk_regex_reader_is_at(reader, "-&&")) {
        return yk_regex_reader_refuse(reader, "a range begins with a class");
    }
    return YK_OK;
}

static yk_status read_character(struct yk_regex_reader *reader, uint32_t *out)
{
    YK_TRY(yk_regex_reader_skip(reader, "\\") ? yk_regex_class_read_escaped(reader, out)
                                              : yk_regex_reader_character(reader, out));
    return yk_regex_class_check_case(reader, *out);
}

/* Reads a character, or a range such as "a-z". */
static yk_status read_range(struct yk_regex_reader *reader, struct set *set)
{
    uint32_t first = 0;
    uint32_t last = 0;
    bool class_found = false;
    struct yk_regex_class class;
    YK_TRY(read_character(reader, &first));
    yk_regex_class_add_literal(first, &set->plain);
    if (!yk_regex_reader_is_at(reader, "-") || yk_regex_reader_is_at(reader, "-]") ||
        yk_regex_reader_is_at(reader, "-&&")) {
        return YK_OK;
    }
    reader->at++;
    YK_TRY(yk_regex_class_read(reader, true, &class_found, &class));
    if (class_found || yk_regex_reader_is_at(reader, "[")) {
        return yk_regex_reader_refuse(reader, "a range ends with a class");
    }
    YK_TRY(read_character(reader, &last));
    if (last < first) {
        return yk_regex_reader_refuse(reader, "a range ends before it begins");
    }
    if (reader->ignore_case && last >= 0x80) {
        return yk_regex_reader_refuse(reader, "(?i) applies to a range beyond ASCII");
    }
    set->has_complement = set->has_complement || last == YK_UTF8_CODE_POINT_COUNT - 1;
    yk_text_add(&set->plain, "-");
    yk_regex_class_add_literal(last, &set->plain);
    return YK_OK;
}

static yk_status read_set(struct yk_regex_reader *reader, struct set *out);

/* Reads a set inside a set. */
static yk_status read_inner_set(struct yk_regex_reader *reader, struct set *set)
{
    struct set inner = {.depth = set->depth + 1};
    YK_TRY_OR_CLEAN_UP(read_set(reader, &inner), free_set(&inner));
    /* Oniguruma takes the complement of all characters beyond ASCII for all of them. */
    if (inner.negated && inner.has_complement) {
        free_set(&inner);
        return yk_regex_reader_refuse(reader, "a negated set inside a set has a negated class");
    }
    set->has_complement = set->has_complement || inner.negated || inner.has_complement;
    if (is_simple(&inner) && !inner.negated) {
        yk_text_add_bytes(&set->plain, yk_text_chars(&inner.plain), inner.plain.length);
    } else {
        yk_text_add(&set->others, "|");
        add_set(&inner, &set->others);
    }
    free_set(&inner);
    return YK_OK;
}

/* Reads what comes next in a set. */
static yk_status read_member(struct yk_regex_reader *reader, struct set *set)
{
    bool found = false;
    YK_TRY(read_class(reader, set, &found));
    if (found) {
        return YK_OK;
    }
    if (yk_regex_reader_is_at(reader, "[")) {
        return read_inner_set(reader, set);
    }
    if (yk_regex_reader_skip(reader, "&&")) {
        end_part(set);
        return YK_OK;
    }
    return read_range(reader, set);
}

static yk_status read_set(struct yk_regex_reader *reader, struct set *out)
{
    if (out->depth == MAX_DEPTH) {
        return yk_regex_reader_refuse(reader, "it has too many sets inside each other");
    }
    reader->at++;
    out->negated = yk_regex_reader_skip(reader, "^");
    /* A closing bracket directly after [ or [^ is a member of the set. */
    for (bool first = true; reader->at < reader->length; first = false) {
        if (!first && yk_regex_reader_is_at(reader, "]")) {
            break;
        }
        YK_TRY(read_member(reader, out));
    }
    if (!yk_regex_reader_skip(reader, "]")) {
        return yk_regex_reader_refuse(reader, "a set has no closing bracket");
    }
    if (reader->ignore_case && (!is_simple(out) || (out->depth > 0 && out->negated))) {
        return yk_regex_reader_refuse(reader, "(?i) applies to a set inside a set");
    }
    YK_TRY(yk_text_status(&out->others));
    YK_TRY(yk_text_status(&out->before));
    return yk_text_status(&out->plain);
}

yk_status yk_regex_set_translate(struct yk_regex_reader *reader, struct yk_text *out)
{
    struct set set = {0};
    YK_TRY_OR_CLEAN_UP(read_set(reader, &set), free_set(&set));
    add_set(&set, out);
    free_set(&set);
    return YK_OK;
}
