#include "tokenizer/jinja/string.h"

#include "tokenizer/unicode.h"

#include "base/utf8.h"

enum {
    CHARACTERS_PER_STEP = 8, /* that are compared one by one */
    INSERTED_PER_STEP = 8,   /* texts between characters */
    SLOWEST_SEARCH = 4       /* the time that memmem() takes at worst, in that of copying */
};

size_t yk_jinja_string_decode(const char *bytes, uint32_t *out)
{
    const unsigned char first = (unsigned char)bytes[0];
    if (first < 0x80) {
        *out = first;
        return 1;
    }
    if (first < 0xe0) {
        *out = (first & 0x1fU) << 6 | ((unsigned char)bytes[1] & 0x3fU);
        return 2;
    }
    if (first < 0xf0) {
        *out = (first & 0xfU) << 12 | ((unsigned char)bytes[1] & 0x3fU) << 6 |
               ((unsigned char)bytes[2] & 0x3fU);
        return 3;
    }
    *out = (first & 0x7U) << 18 | ((unsigned char)bytes[1] & 0x3fU) << 12 |
           ((unsigned char)bytes[2] & 0x3fU) << 6 | ((unsigned char)bytes[3] & 0x3fU);
    return 4;
}

void yk_jinja_string_add_character(struct yk_text *text, uint32_t character)
{
    char bytes[YK_UTF8_MAX_BYTES];
    yk_text_add_bytes(text, bytes, yk_utf8_encode(character, bytes));
}

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t yk_jinja_string_offset(const struct yk_jinja_string *string, int64_t character)
{
    const int64_t count = yk_jinja_value_count_characters(string);
    if (character >= count) {
        return string->length;
    }
    if ((size_t)count == string->length) {
        return (size_t)character;
    }
    size_t at = 0;
    if (character <= count / 2) {
        for (int64_t left = character; left > 0; left--) {
            do {
                at++;
            } while (!begins_character(string->bytes[at]));
        }
        return at;
    }
    at = string->length;
    for (int64_t left = count - character; left > 0; left--) {
        do {
            at--;
        } while (!begins_character(string->bytes[at]));
    }
    return at;
}

yk_status yk_jinja_string_slice_bytes(struct yk_jinja_run *run,
                                      const struct yk_jinja_string *string, size_t begin,
                                      size_t end, struct yk_jinja_value *out)
{
    if (begin == 0 && end == string->length) {
        *out = yk_jinja_value_string(string);
        return YK_OK;
    }
    YK_TRY(yk_jinja_value_new_string(run, string->bytes + begin, end - begin, out));
    if (string->characters == (int64_t)string->length) {
        ((struct yk_jinja_string *)out->as.string)->characters = (int64_t)(end - begin);
    }
    ((struct yk_jinja_string *)out->as.string)->markup = string->markup;
    return YK_OK;
}

yk_status yk_jinja_string_slice(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                int64_t start, int64_t step, int64_t count,
                                struct yk_jinja_value *out)
{
    if (string->characters != (int64_t)string->length) {
        YK_TRY(yk_jinja_run_charge_bytes(run, string->length));
    }
    if (count <= 0) {
        return yk_jinja_string_slice_bytes(run, string, 0, 0, out);
    }
    if (step == 1) {
        return yk_jinja_string_slice_bytes(run, string, yk_jinja_string_offset(string, start),
                                           yk_jinja_string_offset(string, start + count), out);
    }
    struct yk_text text = {0};
    size_t at = yk_jinja_string_offset(string, start);
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length * 4));
    YK_TRY(yk_jinja_run_charge_memory(run, string->length));
    for (int64_t i = 0; i < count; i++) {
        uint32_t character = 0;
        yk_text_add_bytes(&text, string->bytes + at,
                          yk_jinja_string_decode(string->bytes + at, &character));
        for (int64_t left = step > 0 ? step : -step; left > 0 && i + 1 < count; left--) {
            do {
                at = step > 0 ? at + 1 : at - 1;
            } while (!begins_character(string->bytes[at]));
        }
    }
    YK_TRY(yk_jinja_string_from_text(run, &text, out));
    ((struct yk_jinja_string *)out->as.string)->markup = string->markup;
    return YK_OK;
}

yk_status yk_jinja_string_from_text(struct yk_jinja_run *run, struct yk_text *text,
                                    struct yk_jinja_value *out)
{
    yk_status status = yk_text_status(text);
    YK_IF_OK(yk_jinja_value_copy_string(run, yk_text_chars(text), text->length, out));
    yk_text_free(text);
    return status;
}

static bool is_stripped(uint32_t character, const struct yk_jinja_string *characters)
{
    if (!characters) {
        return yk_unicode_is_python_space(character);
    }
    for (size_t at = 0; at < characters->length;) {
        uint32_t other = 0;
        at += yk_jinja_string_decode(characters->bytes + at, &other);
        if (other == character) {
            return true;
        }
    }
    return false;
}

yk_status yk_jinja_string_strip(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                const struct yk_jinja_string *characters, enum yk_jinja_strip sides,
                                struct yk_jinja_value *out)
{
    size_t begin = 0;
    size_t end = string->length;
    const int64_t steps = 1 + (characters ? (int64_t)characters->length / CHARACTERS_PER_STEP : 0);
    while (sides & YK_JINJA_STRIP_LEFT && begin < end) {
        uint32_t character = 0;
        const size_t used = yk_jinja_string_decode(string->bytes + begin, &character);
        YK_TRY(yk_jinja_run_step(run, steps));
        if (!is_stripped(character, characters)) {
            break;
        }
        begin += used;
    }
    while (sides & YK_JINJA_STRIP_RIGHT && end > begin) {
        uint32_t character = 0;
        const size_t at = yk_utf8_previous_character_start(string->bytes, end);
        (void)yk_jinja_string_decode(string->bytes + at, &character);
        YK_TRY(yk_jinja_run_step(run, steps));
        if (!is_stripped(character, characters)) {
            break;
        }
        end = at;
    }
    return yk_jinja_string_slice_bytes(run, string, begin, end, out);
}

yk_status yk_jinja_string_find(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                               const struct yk_jinja_string *part, size_t from, size_t *out)
{
    *out = SIZE_MAX;
    if (from > string->length) {
        return YK_OK;
    }
    const char *found =
        memmem(string->bytes + from, string->length - from, part->bytes, part->length);
    *out = found ? (size_t)(found - string->bytes) : SIZE_MAX;
    const size_t passed = found ? *out - from : string->length - from;
    return yk_jinja_run_charge_bytes(run, SLOWEST_SEARCH * passed + part->length);
}

yk_status yk_jinja_string_find_last(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                    const struct yk_jinja_string *part, size_t end, size_t *out)
{
    *out = SIZE_MAX;
    if (part->length == 0 || part->length > end) {
        *out = part->length == 0 ? end : SIZE_MAX;
        return YK_OK;
    }
    size_t length = end - part->length + 1; /* of the bytes at which an occurrence may begin */
    while (length > 0 && *out == SIZE_MAX) {
        const char *candidate = memrchr(string->bytes, part->bytes[0], length);
        const size_t place = candidate ? (size_t)(candidate - string->bytes) : 0;
        YK_TRY(yk_jinja_run_step(run, 1));
        YK_TRY(yk_jinja_run_charge_bytes(run, length - place + part->length));
        if (candidate && memcmp(candidate, part->bytes, part->length) == 0) {
            *out = place;
        }
        length = place;
    }
    return YK_OK;
}

static yk_status append_slice(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                              size_t begin, size_t end, struct yk_jinja_list_builder *builder)
{
    struct yk_jinja_value slice = {0};
    YK_TRY(yk_jinja_string_slice_bytes(run, string, begin, end, &slice));
    return yk_jinja_value_append(run, builder, slice);
}

static yk_status split_at_separator(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                    const struct yk_jinja_string *separator, int64_t max,
                                    struct yk_jinja_list_builder *builder)
{
    size_t begin = 0;
    size_t found = 0;
    for (; max != 0; max--) {
        YK_TRY(yk_jinja_string_find(run, string, separator, begin, &found));
        if (found == SIZE_MAX) {
            break;
        }
        YK_TRY(append_slice(run, string, begin, found, builder));
        begin = found + separator->length;
    }
    return append_slice(run, string, begin, string->length, builder);
}

static yk_status split_at_separator_from_right(struct yk_jinja_run *run,
                                               const struct yk_jinja_string *string,
                                               const struct yk_jinja_string *separator, int64_t max,
                                               struct yk_jinja_list_builder *builder)
{
    size_t end = string->length;
    size_t found = 0;
    for (; max != 0; max--) {
        YK_TRY(yk_jinja_string_find_last(run, string, separator, end, &found));
        if (found == SIZE_MAX) {
            break;
        }
        YK_TRY(append_slice(run, string, found + separator->length, end, builder));
        end = found;
    }
    return append_slice(run, string, 0, end, builder);
}

/* Returns the index behind the white space (or the word, if `space` is false) at `at`. */
static size_t skip(const struct yk_jinja_string *string, size_t at, bool space)
{
    while (at < string->length) {
        uint32_t character = 0;
        const size_t used = yk_jinja_string_decode(string->bytes + at, &character);
        if (yk_unicode_is_python_space(character) != space) {
            break;
        }
        at += used;
    }
    return at;
}

static size_t skip_back(const struct yk_jinja_string *string, size_t at, bool space)
{
    while (at > 0) {
        uint32_t character = 0;
        const size_t before = yk_utf8_previous_character_start(string->bytes, at);
        (void)yk_jinja_string_decode(string->bytes + before, &character);
        if (yk_unicode_is_python_space(character) != space) {
            break;
        }
        at = before;
    }
    return at;
}

/* What remains after the last split keeps the white space at its end. */
static yk_status split_at_space(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                int64_t max, struct yk_jinja_list_builder *builder)
{
    size_t at = skip(string, 0, true);
    while (at < string->length) {
        const size_t end = max == 0 ? string->length : skip(string, at, false);
        YK_TRY(append_slice(run, string, at, end, builder));
        at = skip(string, end, true);
        max--;
    }
    return YK_OK;
}

static yk_status split_at_space_from_right(struct yk_jinja_run *run,
                                           const struct yk_jinja_string *string, int64_t max,
                                           struct yk_jinja_list_builder *builder)
{
    size_t end = skip_back(string, string->length, true);
    while (end > 0) {
        const size_t begin = max == 0 ? 0 : skip_back(string, end, false);
        YK_TRY(append_slice(run, string, begin, end, builder));
        end = skip_back(string, begin, true);
        max--;
    }
    return YK_OK;
}

static void reverse(struct yk_jinja_list_builder *builder)
{
    for (int64_t i = 0; i < builder->count / 2; i++) {
        const struct yk_jinja_value item = builder->items[i];
        builder->items[i] = builder->items[builder->count - 1 - i];
        builder->items[builder->count - 1 - i] = item;
    }
}

yk_status yk_jinja_string_split(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                const struct yk_jinja_string *separator, int64_t max,
                                bool from_right, struct yk_jinja_value *out)
{
    struct yk_jinja_list_builder builder = {0};
    if (separator && separator->length == 0) {
        return yk_fail(YK_ERROR_INPUT, "split() with an empty separator");
    }
    if (!separator) {
        YK_TRY(yk_jinja_run_charge_bytes(run, string->length * 4));
    }
    if (separator && from_right) {
        YK_TRY(split_at_separator_from_right(run, string, separator, max, &builder));
    } else if (separator) {
        YK_TRY(split_at_separator(run, string, separator, max, &builder));
    } else if (from_right) {
        YK_TRY(split_at_space_from_right(run, string, max, &builder));
    } else {
        YK_TRY(split_at_space(run, string, max, &builder));
    }
    if (from_right) {
        reverse(&builder);
    }
    return yk_jinja_value_finish_list(run, &builder, YK_JINJA_LIST, out);
}

static bool ends_line(uint32_t character)
{
    return (character >= '\n' && character <= '\r') || (character >= 0x1c && character <= 0x1e) ||
           character == 0x85 || character == 0x2028 || character == 0x2029;
}

yk_status yk_jinja_string_split_lines(struct yk_jinja_run *run,
                                      const struct yk_jinja_string *string, bool keep_ends,
                                      struct yk_jinja_value *out)
{
    struct yk_jinja_list_builder builder = {0};
    size_t begin = 0;
    YK_TRY(yk_jinja_run_charge_bytes(run, string->length * 4));
    for (size_t at = 0; at < string->length;) {
        uint32_t character = 0;
        size_t next = at + yk_jinja_string_decode(string->bytes + at, &character);
        if (ends_line(character)) {
            const bool pair =
                character == '\r' && next < string->length && string->bytes[next] == '\n';
            next += pair ? 1 : 0;
            YK_TRY(append_slice(run, string, begin, keep_ends ? next : at, &builder));
            begin = next;
        }
        at = next;
    }
    if (begin < string->length) {
        YK_TRY(append_slice(run, string, begin, string->length, &builder));
    }
    return yk_jinja_value_finish_list(run, &builder, YK_JINJA_LIST, out);
}

/* An empty `old` occurs before every character and at the end. */
static yk_status insert_between(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                const struct yk_jinja_string *new, int64_t max,
                                struct yk_jinja_value *out)
{
    const int64_t places = yk_jinja_value_count_characters(string) + 1;
    const size_t inserted = (size_t)(max < 0 || max > places ? places : max);
    size_t total = 0;
    if (__builtin_mul_overflow(inserted, new->length, &total) || total > SIZE_MAX / 2) {
        total = SIZE_MAX / 2;
    }
    char *bytes = NULL;
    YK_TRY(yk_jinja_value_reserve_string(run, string->length + total, &bytes, out));
    YK_TRY(yk_jinja_run_charge_bytes(run, total + string->length));
    size_t at = 0;
    for (size_t i = 0; i < inserted; i++) {
        if (i % INSERTED_PER_STEP == 0) {
            YK_TRY(yk_jinja_run_step(run, 1));
        }
        memcpy(bytes, new->bytes, new->length);
        bytes += new->length;
        uint32_t character = 0;
        const size_t used =
            at < string->length ? yk_jinja_string_decode(string->bytes + at, &character) : 0;
        memcpy(bytes, string->bytes + at, used);
        bytes += used;
        at += used;
    }
    memcpy(bytes, string->bytes + at, string->length - at);
    return YK_OK;
}

yk_status yk_jinja_string_replace(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                  const struct yk_jinja_string *old,
                                  const struct yk_jinja_string *new, int64_t max,
                                  struct yk_jinja_value *out)
{
    if (old->length == 0) {
        return insert_between(run, string, new, max, out);
    }
    size_t count = 0;
    size_t found = 0;
    for (size_t at = 0; max < 0 || count < (size_t)max; at = found + old->length) {
        YK_TRY(yk_jinja_string_find(run, string, old, at, &found));
        if (found == SIZE_MAX) {
            break;
        }
        YK_TRY(yk_jinja_run_step(run, 1));
        count++;
    }
    if (count == 0) {
        *out = yk_jinja_value_string(string);
        return YK_OK;
    }
    size_t added = 0;
    if (__builtin_mul_overflow(count, new->length, &added) || added > SIZE_MAX / 2) {
        added = SIZE_MAX / 2;
    }
    char *bytes = NULL;
    YK_TRY(yk_jinja_value_reserve_string(run, string->length - count * old->length + added, &bytes,
                                         out));
    YK_TRY(yk_jinja_run_charge_bytes(run, added));
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        YK_TRY(yk_jinja_string_find(run, string, old, at, &found));
        memcpy(bytes, string->bytes + at, found - at);
        memcpy(bytes + (found - at), new->bytes, new->length);
        bytes += found - at + new->length;
        at = found + old->length;
    }
    memcpy(bytes, string->bytes + at, string->length - at);
    return YK_OK;
}

yk_status yk_jinja_string_repeat(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                                 int64_t count, struct yk_jinja_value *out)
{
    char *bytes = NULL;
    size_t total = 0;
    if (count < 0) {
        count = 0;
    }
    if (__builtin_mul_overflow(string->length, (size_t)count, &total) || total > SIZE_MAX / 2) {
        total = SIZE_MAX / 2;
    }
    YK_TRY(yk_jinja_value_reserve_string(run, total, &bytes, out));
    YK_TRY(yk_jinja_run_charge_bytes(run, total));
    if (string->length == 1) {
        memset(bytes, string->bytes[0], total);
        return YK_OK;
    }
    for (int64_t i = 0; i < count && string->length > 0; i++) {
        memcpy(bytes + (size_t)i * string->length, string->bytes, string->length);
    }
    return YK_OK;
}

yk_status yk_jinja_string_pad(struct yk_jinja_run *run, const struct yk_jinja_string *string,
                              int64_t width, const struct yk_jinja_string *fill,
                              enum yk_jinja_alignment alignment, struct yk_jinja_value *out)
{
    struct yk_jinja_value left = {0};
    struct yk_jinja_value right = {0};
    const int64_t length = yk_jinja_value_count_characters(string);
    *out = yk_jinja_value_string(string);
    if (width <= length) {
        return YK_OK;
    }
    const int64_t missing = width - length;
    /* Python gives the odd character to the left if the width is odd. */
    const int64_t before = alignment == YK_JINJA_ALIGN_LEFT ? 0
                           : alignment == YK_JINJA_ALIGN_RIGHT
                               ? missing
                               : missing / 2 + (missing & width & 1);
    YK_TRY(yk_jinja_string_repeat(run, fill, before, &left));
    YK_TRY(yk_jinja_string_repeat(run, fill, missing - before, &right));
    YK_TRY(yk_jinja_value_concatenate(run, left.as.string, string, out));
    return yk_jinja_value_concatenate(run, out->as.string, right.as.string, out);
}
