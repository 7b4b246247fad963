#include "tokenizer/regex/regex_class.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}" /* in brackets */

/* The listed characters got these properties in Unicode 15.1 and 16, which PCRE2 may not know yet.
 */
#define ALPHABETIC                                                                                 \
    "\\p{Alphabetic}\\x{363}-\\x{36f}\\x{c04}\\x{f82}\\x{f83}\\x{1dd3}-\\x{1de6}\\x{11080}\\x{"    \
    "11081}"
#define LOWERCASE "\\p{Lowercase}\\x{10fc}\\x{a7f2}-\\x{a7f4}\\x{ab69}"
/* All characters but white space, control characters and those that are not assigned. */
#define GRAPHIC "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}"

/* Classes with the same name as a POSIX class ("[:alpha:]"), as a property ("\p{Alpha}") or both.
 */
static const struct {
    const char *name;
    const char *members;
    enum yk_regex_class_case other_cases;
    bool is_posix;
    bool is_property;
} named_classes[] = {
    {"alnum", ALPHABETIC "\\p{Nd}", YK_REGEX_CASE_DIFFERS, true, true},
    {"alpha", ALPHABETIC, YK_REGEX_CASE_DIFFERS, true, true},
    {"alphabetic", ALPHABETIC, YK_REGEX_CASE_DIFFERS, false, true},
    {"ascii", "\\x00-\\x7f", YK_REGEX_CASE_DIFFERS, true, true},
    {"blank", "\\p{Zs}\\t", YK_REGEX_CASE_CLOSED, true, true},
    {"cntrl", "\\p{Cc}", YK_REGEX_CASE_CLOSED, true, true},
    {"digit", "\\p{Nd}", YK_REGEX_CASE_CLOSED, true, true},
    {"graph", GRAPHIC, YK_REGEX_CASE_DIFFERS, true, true},
    {"lower", LOWERCASE, YK_REGEX_CASE_DIFFERS, true, true},
    {"lowercase", LOWERCASE, YK_REGEX_CASE_DIFFERS, false, true},
    {"print", GRAPHIC "\\p{Zs}", YK_REGEX_CASE_DIFFERS, true, true},
    {"punct", "\\p{P}\\p{S}", YK_REGEX_CASE_CLOSED, true, false},
    {"punct", "\\p{P}", YK_REGEX_CASE_CLOSED, false, true},
    {"space", "\\p{White_Space}", YK_REGEX_CASE_CLOSED, true, true},
    {"upper", "\\p{Uppercase}", YK_REGEX_CASE_DIFFERS, true, true},
    {"uppercase", "\\p{Uppercase}", YK_REGEX_CASE_DIFFERS, false, true},
    {"word", WORD, YK_REGEX_CASE_OPEN, true, true},
    {"xdigit", "0-9a-fA-F", YK_REGEX_CASE_CLOSED, true, true},
};

enum {
    MAX_NAMES = 32
};

/* Other properties, besides scripts. */
static const struct {
    enum yk_regex_class_case other_cases;
    const char *names[MAX_NAMES];
} properties[] = {
    {YK_REGEX_CASE_CLOSED,
     {"C",  "Cc", "Cf", "Cn", "Co", "Cs", "Mc", "Me",          "N",          "Nd", "Nl",
      "No", "P",  "Pc", "Pd", "Pe", "Pf", "Pi", "Po",          "Ps",         "S",  "Sc",
      "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs", "White_Space", "Ideographic"}},
    {YK_REGEX_CASE_OPEN, {"L", "Lm", "Lo", "M", "Mn", "Emoji", "Extended_Pictographic"}},
    {YK_REGEX_CASE_DIFFERS, {"Lu", "Ll", "Lt"}},
};

static bool is_ignored_in_names(char character)
{
    return character == ' ' || character == '_' || character == '-';
}

static char lower(char character)
{
    if (character >= 'A' && character <= 'Z') {
        return (char)(character | 0x20);
    }
    return character;
}

static bool is_letter(char character)
{
    return lower(character) >= 'a' && lower(character) <= 'z';
}

/* Names are the same whatever their case, spaces, "_" and "-" are. */
static bool is_named(const char *name, size_t length, const char *known)
{
    for (size_t i = 0; i < length; i++) {
        if (is_ignored_in_names(name[i])) {
            continue;
        }
        known += *known == '_';
        if (lower(name[i]) != lower(*known)) {
            return false;
        }
        known++;
    }
    return *known == '\0';
}

static bool has_only_name_characters(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!is_ignored_in_names(name[i]) && !is_letter(name[i])) {
            return false;
        }
    }
    return true;
}

static void set_property(const char *name, struct yk_regex_class *out)
{
    (void)snprintf(out->property, sizeof out->property, "%s", name);
}

static bool find_property(const char *name, size_t length, struct yk_regex_class *out)
{
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        for (size_t j = 0; j < MAX_NAMES && properties[i].names[j]; j++) {
            if (is_named(name, length, properties[i].names[j])) {
                set_property(properties[i].names[j], out);
                out->other_cases = properties[i].other_cases;
                return true;
            }
        }
    }
    return false;
}

static bool is_exactly(const char *name, size_t length, const char *known)
{
    return strlen(known) == length && memcmp(name, known, length) == 0;
}

static bool find_posix(const char *name, size_t length, struct yk_regex_class *out)
{
    for (size_t i = 0; i < sizeof named_classes / sizeof *named_classes; i++) {
        if (named_classes[i].is_posix && is_exactly(name, length, named_classes[i].name)) {
            out->members = named_classes[i].members;
            out->other_cases = named_classes[i].other_cases;
            return true;
        }
    }
    return false;
}

static bool find_named_property(const char *name, size_t length, bool inside,
                                struct yk_regex_class *out)
{
    for (size_t i = 0; i < sizeof named_classes / sizeof *named_classes; i++) {
        if (named_classes[i].is_property && is_named(name, length, named_classes[i].name)) {
            out->members = !inside && is_named(name, length, "word") ? YK_REGEX_CLASS_WORD
                                                                     : named_classes[i].members;
            out->other_cases = named_classes[i].other_cases;
            return true;
        }
    }
    return false;
}

/* Finds the class of a property's name. A script in Oniguruma contains its own characters only; in
 * PCRE2 it also contains characters that it shares with other scripts. */
static yk_status find_class(const struct yk_regex_reader *reader, const char *name, size_t length,
                            bool inside, struct yk_regex_class *out)
{
    if (find_named_property(name, length, inside, out) || find_property(name, length, out)) {
        return YK_OK;
    }
    if (length > YK_REGEX_SYNTAX_MAX_NAME_BYTES || !has_only_name_characters(name, length) ||
        !reader->is_script(name, length)) {
        return yk_regex_reader_refuse(reader, "it has a property that is not known");
    }
    (void)snprintf(out->property, sizeof out->property, "sc:%.*s", (int)length, name);
    out->other_cases = YK_REGEX_CASE_OPEN;
    return YK_OK;
}

/* Reads "{L}" or "{^L}". */
static yk_status read_property(struct yk_regex_reader *reader, bool inside,
                               struct yk_regex_class *out)
{
    if (!yk_regex_reader_skip(reader, "{")) {
        return yk_regex_reader_refuse(reader, "\\p and \\P must be followed by {");
    }
    if (yk_regex_reader_skip(reader, "^")) {
        out->negated = !out->negated;
    }
    const char *name = reader->pattern + reader->at;
    const char *close = memchr(name, '}', reader->length - reader->at);
    if (!close) {
        return yk_regex_reader_refuse(reader, "a property has no closing brace");
    }
    reader->at += (size_t)(close - name) + 1;
    return find_class(reader, name, (size_t)(close - name), inside, out);
}

yk_status yk_regex_class_read(struct yk_regex_reader *reader, bool inside, bool *found,
                              struct yk_regex_class *out)
{
    const bool escape = yk_regex_reader_is_at(reader, "\\") && reader->length - reader->at > 1;
    char letter = '\0';
    if (escape) {
        letter = reader->pattern[reader->at + 1];
    }
    memset(out, 0, sizeof *out);
    *found = letter != '\0' && strchr("dDhHpPsSwW", letter) != NULL;
    if (!*found) {
        return YK_OK;
    }
    reader->at += 2;
    out->negated = letter >= 'A' && letter <= 'Z';
    switch (lower(letter)) {
    case 'd':
        set_property("Nd", out);
        return YK_OK;
    case 'h':
        out->members = "0-9a-fA-F";
        return YK_OK;
    case 's':
        set_property("White_Space", out);
        return YK_OK;
    case 'w':
        out->members = inside ? WORD : YK_REGEX_CLASS_WORD;
        out->other_cases = YK_REGEX_CASE_OPEN;
        return YK_OK;
    default:
        return read_property(reader, inside, out);
    }
}

yk_status yk_regex_class_read_posix(struct yk_regex_reader *reader, bool *found,
                                    struct yk_regex_class *out)
{
    const char *name = reader->pattern + reader->at + strlen("[:");
    const char *end = reader->pattern + reader->length;
    memset(out, 0, sizeof *out);
    *found = false;
    if (!yk_regex_reader_is_at(reader, "[:")) {
        return YK_OK;
    }
    out->negated = name < end && *name == '^';
    name += out->negated;
    const char *close = name;
    while (close < end && is_letter(*close)) {
        close++;
    }
    *found =
        end - close >= 2 && close[0] == ':' && close[1] == ']' && (close > name || out->negated);
    if (!*found) {
        return YK_OK;
    }
    reader->at = (size_t)(close - reader->pattern) + strlen(":]");
    return find_posix(name, (size_t)(close - name), out)
               ? YK_OK
               : yk_regex_reader_refuse(reader, "it has a class in [: and :] that is not known");
}

void yk_regex_class_add(const struct yk_regex_class *class, struct yk_text *out)
{
    if (class->members) {
        yk_text_addf(out, "[%s%s]", class->negated ? "^" : "", class->members);
    } else if (class->negated) {
        /* PCRE2 10.42 takes \P{…} and another \P{…} for classes without a common character, so
         * that \P{L}*\P{N} does not match "-". */
        yk_text_addf(out, "[^\\p{%s}]", class->property);
    } else {
        yk_text_addf(out, "\\p{%s}", class->property);
    }
}

bool yk_regex_class_add_members(const struct yk_regex_class *class, struct yk_text *out)
{
    if (class->members && class->negated) {
        return false;
    }
    if (class->members) {
        yk_text_add(out, class->members);
    } else {
        yk_text_addf(out, "\\%c{%s}", class->negated ? 'P' : 'p', class->property);
    }
    return true;
}

static int hexadecimal(char digit)
{
    const char *digits = "0123456789abcdef";
    const char *place = digit ? strchr(digits, lower(digit)) : NULL;
    return place ? (int)(place - digits) : -1;
}

/* Reads hexadecimal digits: at least so many and at most so many. */
static yk_status read_digits(struct yk_regex_reader *reader, int min_count, int max_count,
                             uint32_t *out)
{
    int count = 0;
    *out = 0;
    while (count < max_count && reader->at < reader->length &&
           hexadecimal(reader->pattern[reader->at]) >= 0) {
        *out = *out * 16 + (uint32_t)hexadecimal(reader->pattern[reader->at]);
        reader->at++;
        count++;
    }
    if (count < min_count || *out >= YK_UTF8_CODE_POINT_COUNT ||
        (*out >= 0xd800 && *out < 0xe000)) {
        return yk_regex_reader_refuse(reader, "the number of a character is not valid");
    }
    return YK_OK;
}

/* Reads "41" or "{41}". In Oniguruma, two digits are a byte of UTF-8. */
static yk_status read_hexadecimal(struct yk_regex_reader *reader, uint32_t *out)
{
    if (yk_regex_reader_skip(reader, "{")) {
        YK_TRY(read_digits(reader, 1, 8, out));
        return yk_regex_reader_skip(reader, "}")
                   ? YK_OK
                   : yk_regex_reader_refuse(reader, "the number of a character is not valid");
    }
    YK_TRY(read_digits(reader, 1, 2, out));
    return *out < 0x80 ? YK_OK
                       : yk_regex_reader_refuse(reader, "\\x must be less than 80, or use braces");
}

yk_status yk_regex_class_read_escaped(struct yk_regex_reader *reader, uint32_t *out)
{
    static const char letters[] = "abefnrtv";
    static const char characters[] = "\a\b\x1b\f\n\r\t\v";
    YK_TRY(yk_regex_reader_character(reader, out));
    if (*out == 'x') {
        return read_hexadecimal(reader, out);
    }
    if (*out == 'u') {
        return read_digits(reader, 4, 4, out);
    }
    if (*out >= 0x80 || !(is_letter((char)*out) || (*out >= '0' && *out <= '9'))) {
        return YK_OK;
    }
    const char *place = strchr(letters, (int)*out);
    if (!place) {
        return yk_regex_reader_refuse(reader, "it has an escape that is not known");
    }
    *out = (uint32_t)characters[place - letters];
    return YK_OK;
}

void yk_regex_class_add_literal(uint32_t character, struct yk_text *out)
{
    char bytes[YK_UTF8_MAX_BYTES];
    const bool special = character < 0x80 && character > ' ' && !is_letter((char)character) &&
                         !(character >= '0' && character <= '9') && character != 0x7f;
    yk_text_add(out, special ? "\\" : "");
    yk_text_add_bytes(out, bytes, yk_utf8_encode(character, bytes));
}

yk_status yk_regex_class_check_case(const struct yk_regex_reader *reader, uint32_t character)
{
    const bool latin = character < 0x100 && character != 0xb5 && character != 0xdf;
    const bool punctuation = character >= 0x2000 && character < 0x2070;
    const bool cjk = character >= 0x2e80 && character < 0xa000;
    const bool hangul = character >= 0xac00 && character < 0xd7a4;
    return !reader->ignore_case || latin || punctuation || cjk || hangul
               ? YK_OK
               : yk_regex_reader_refuse(reader, "(?i) applies to a character other than those of "
                                                "Latin-1, Chinese, Japanese and Korean");
}
