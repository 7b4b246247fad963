#include "data/mo_catalogue.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const uint32_t magic = 0x950412de;

enum {
    HEADER_BYTES = 28,
    AT_REVISION = 4,
    AT_COUNT = 8,
    AT_SOURCES = 12,
    AT_TRANSLATIONS = 16,
    ROW_BYTES = 8, /* of a table row: the length and the offset of a string */
    END_OF_CONTEXT = 4
};

static uint32_t number_at(const struct yk_mo_catalogue *catalogue, size_t at)
{
    const unsigned char *b = catalogue->bytes + at;
    return catalogue->big
               ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
               : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

/* Checks that every string of the table is inside the file and ends with a zero. */
static yk_status check_table(const struct yk_mo_catalogue *catalogue, uint32_t table,
                             const char *source)
{
    const size_t length = catalogue->length;
    if (table > length || catalogue->count > (length - table) / ROW_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "%s: a table of %" PRIu32 " messages ends beyond the file",
                       source, catalogue->count);
    }
    for (uint32_t i = 0; i < catalogue->count; i++) {
        const size_t row = (size_t)table + (size_t)ROW_BYTES * i;
        const uint32_t size = number_at(catalogue, row);
        const uint32_t offset = number_at(catalogue, row + 4);
        if (offset >= length || size >= length - offset) {
            return yk_fail(YK_ERROR_INPUT, "%s: message %" PRIu32 " ends beyond the file", source,
                           i);
        }
        if (catalogue->bytes[(size_t)offset + size] != 0) {
            return yk_fail(YK_ERROR_INPUT, "%s: message %" PRIu32 " does not end with a zero",
                           source, i);
        }
    }
    return YK_OK;
}

yk_status yk_mo_catalogue_parse(const char *bytes, size_t length, const char *source,
                                struct yk_mo_catalogue *out)
{
    struct yk_mo_catalogue catalogue = {.bytes = (const unsigned char *)bytes, .length = length};
    if (length < HEADER_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "%s: too short for a catalogue of messages", source);
    }
    if (number_at(&catalogue, 0) != magic) {
        catalogue.big = true;
        if (number_at(&catalogue, 0) != magic) {
            return yk_fail(YK_ERROR_INPUT, "%s: no catalogue of messages (.mo)", source);
        }
    }
    const uint32_t major = number_at(&catalogue, AT_REVISION) >> 16;
    if (major > 1) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: a catalogue of revision %" PRIu32 "; only 0 and 1 are known", source,
                       major);
    }
    catalogue.count = number_at(&catalogue, AT_COUNT);
    catalogue.sources = number_at(&catalogue, AT_SOURCES);
    catalogue.translations = number_at(&catalogue, AT_TRANSLATIONS);
    YK_TRY(check_table(&catalogue, catalogue.sources, source));
    YK_TRY(check_table(&catalogue, catalogue.translations, source));
    *out = catalogue;
    return YK_OK;
}

static struct yk_mo_string text_at(const struct yk_mo_catalogue *catalogue, uint32_t table,
                                   uint32_t index)
{
    const size_t row = (size_t)table + (size_t)ROW_BYTES * index;
    return (struct yk_mo_string){
        .bytes = (const char *)catalogue->bytes + number_at(catalogue, row + 4),
        .length = number_at(catalogue, row),
    };
}

/* Splits `text` at the first `mark`: `front` is the part before it, `text` the part after it.
 * Returns false if there is no mark. */
static bool split(struct yk_mo_string *text, char mark, struct yk_mo_string *front)
{
    const char *found = memchr(text->bytes, mark, text->length);
    if (!found) {
        return false;
    }
    const size_t length = (size_t)(found - text->bytes);
    *front = (struct yk_mo_string){text->bytes, length};
    text->bytes += length + 1;
    text->length -= length + 1;
    return true;
}

struct yk_mo_message yk_mo_catalogue_message_at(const struct yk_mo_catalogue *catalogue,
                                                uint32_t index)
{
    struct yk_mo_message message = {
        .source = text_at(catalogue, catalogue->sources, index),
        .forms = text_at(catalogue, catalogue->translations, index),
        .form_count = 1,
    };
    struct yk_mo_string rest = message.source;
    if (split(&rest, '\0', &message.source)) {
        message.plural = rest;
    }
    rest = message.source;
    if (split(&rest, END_OF_CONTEXT, &message.context)) {
        message.source = rest;
    }
    for (size_t i = 0; i < message.forms.length; i++) {
        message.form_count += message.forms.bytes[i] == '\0';
    }
    return message;
}

struct yk_mo_string yk_mo_catalogue_translation_form(const struct yk_mo_message *message,
                                                     int32_t index)
{
    struct yk_mo_string rest = message->forms;
    struct yk_mo_string form = rest;
    for (int32_t i = 0; i <= index; i++) {
        if (!split(&rest, '\0', &form)) {
            form = rest;
        }
    }
    return form;
}

/* The text after `key`, ignoring case, or NULL if `text` does not contain it. */
static const char *find_key(struct yk_mo_string text, const char *key)
{
    const size_t length = strlen(key);
    for (size_t i = 0; i + length <= text.length; i++) {
        if (strncasecmp(text.bytes + i, key, length) == 0) {
            return text.bytes + i + length;
        }
    }
    return NULL;
}

struct yk_mo_string yk_mo_catalogue_declared_charset(const struct yk_mo_catalogue *catalogue)
{
    struct yk_mo_string charset = {0};
    for (uint32_t i = 0; i < catalogue->count; i++) {
        if (text_at(catalogue, catalogue->sources, i).length > 0) {
            continue;
        }
        struct yk_mo_string line = text_at(catalogue, catalogue->translations, i);
        const char *const end = line.bytes + line.length;
        const char *at = find_key(line, "content-type:");
        if (at) {
            const char *stop = memchr(at, '\n', (size_t)(end - at));
            line = (struct yk_mo_string){at, (size_t)((stop ? stop : end) - at)};
            charset.bytes = find_key(line, "charset=");
        }
        if (charset.bytes) {
            const size_t max = (size_t)(line.bytes + line.length - charset.bytes);
            while (charset.length < max && !strchr("; \t\r", charset.bytes[charset.length])) {
                charset.length++;
            }
        }
        break;
    }
    return charset;
}

yk_status yk_mo_catalogue_check_charset(const struct yk_mo_catalogue *catalogue, const char *source)
{
    static const char *const known[] = {"UTF-8", "UTF8", "US-ASCII", "ASCII"};
    const struct yk_mo_string charset = yk_mo_catalogue_declared_charset(catalogue);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (charset.length == strlen(known[i]) &&
            strncasecmp(charset.bytes, known[i], charset.length) == 0) {
            return YK_OK;
        }
    }
    if (charset.length == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s: the catalogue does not say that it is UTF-8", source);
    }
    const int shown = charset.length < 40 ? (int)charset.length : 40;
    return yk_fail(YK_ERROR_INPUT, "%s: the catalogue is in %.*s, and only UTF-8 is read", source,
                   shown, charset.bytes);
}
