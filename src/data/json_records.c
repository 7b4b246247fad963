#include "data/json_records.h"

#include "base/json.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

struct element {
    size_t begin;
    size_t end;  /* after its last character */
    size_t next; /* after the character that ends it */
    char stop;   /* a comma or a bracket; 0 means: the end of the text */
};

size_t yk_json_records_bom_length(const char *bytes, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t size = sizeof mark - 1;
    return length >= size && memcmp(bytes, mark, size) == 0 ? size : 0;
}

/* White space of RFC 8259. */
static bool is_space(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

static size_t skip_space(const char *bytes, size_t length, size_t at)
{
    while (at < length && is_space(bytes[at])) {
        at++;
    }
    return at;
}

/* The element that begins at `at`. It ends at the next comma or closing bracket that is not nested.
 */
static struct element scan(const char *bytes, size_t length, size_t at)
{
    struct element element = {.begin = skip_space(bytes, length, at)};
    int64_t depth = 0;
    bool quoted = false;
    element.end = element.begin;
    for (size_t i = element.begin; i < length; i++) {
        const char letter = bytes[i];
        if (quoted && letter == '\\') {
            i++;
        } else if (letter == '"') {
            quoted = !quoted;
        } else if (!quoted && depth == 0 && (letter == ',' || letter == ']')) {
            element.stop = letter;
            element.next = i + 1;
            return element;
        } else if (!quoted) {
            depth += letter == '{' || letter == '[';
            depth -= letter == '}' || letter == ']';
        }
        element.end = is_space(letter) ? element.end : i + 1;
    }
    element.next = length;
    return element;
}

bool yk_json_records_find_first_object(const char *bytes, size_t length, const char **object,
                                       size_t *size)
{
    size_t begin = skip_space(bytes, length, yk_json_records_bom_length(bytes, length));
    if (begin < length && bytes[begin] == '[') {
        begin = skip_space(bytes, length, begin + 1);
    }
    if (begin == length || bytes[begin] != '{') {
        return false;
    }
    int64_t depth = 0;
    bool quoted = false;
    for (size_t i = begin; i < length; i++) {
        const char letter = bytes[i];
        if (quoted && letter == '\\') {
            i++;
        } else if (letter == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += letter == '{';
            depth -= letter == '}';
        }
        if (depth == 0) {
            *object = bytes + begin;
            *size = i + 1 - begin;
            return true;
        }
    }
    return false;
}

/* Counts the elements of a list after its opening bracket, which ends before `at`. Returns -1 if
 * the list is malformed. Writes them to `out` if it is not NULL. */
static int64_t list_elements(const char *bytes, size_t length, size_t at, struct yk_lines *out)
{
    int64_t count = 0;
    at = skip_space(bytes, length, at);
    bool closed = at < length && bytes[at] == ']';
    at += closed;
    while (!closed) {
        const struct element element = scan(bytes, length, at);
        if (element.stop == 0 || element.end == element.begin) {
            return -1;
        }
        if (out) {
            out->items[count] = bytes + element.begin;
            out->lengths[count] = element.end - element.begin;
        }
        count++;
        at = element.next;
        closed = element.stop == ']';
    }
    return skip_space(bytes, length, at) == length ? count : -1;
}

/* Fails with the message of the JSON parser for the whole text. */
static yk_status fail_broken(const char *bytes, size_t length, const char *source)
{
    struct yk_json *root = NULL;
    const yk_status status = yk_json_parse(bytes, length, &root);
    yk_json_destroy(root);
    return status == YK_OK ? yk_fail(YK_ERROR_INPUT,
                                     "%s: the elements of the list cannot be "
                                     "separated",
                                     source)
                           : yk_status_prefix_message(status, source);
}

/* Splits the list whose opening bracket is before `first`. */
static yk_status split_list(const char *bytes, size_t length, size_t first, const char *source,
                            struct yk_json_records *out)
{
    const size_t mark = yk_json_records_bom_length(bytes, length);
    const int64_t count = list_elements(bytes, length, first, NULL);
    if (count < 0) {
        return fail_broken(bytes + mark, length - mark, source);
    }
    YK_TRY(yk_lines_create_unsplit(bytes, length, count, &out->lines));
    (void)list_elements(out->lines->bytes, length, first, out->lines);
    return YK_OK;
}

yk_status yk_json_records_split(const char *bytes, size_t length, const char *source,
                                struct yk_json_records *out)
{
    const size_t first = skip_space(bytes, length, yk_json_records_bom_length(bytes, length));
    out->is_list = first < length && bytes[first] == '[';
    return out->is_list ? split_list(bytes, length, first + 1, source, out)
                        : yk_lines_split(bytes, length, source, &out->lines);
}

bool yk_json_records_get(const struct yk_json_records *records, int64_t index, const char **bytes,
                         size_t *length)
{
    const char *first = records->lines->items[index];
    const size_t all = records->lines->lengths[index];
    const size_t mark = index == 0 ? yk_json_records_bom_length(first, all) : 0;
    *bytes = first + mark;
    *length = all - mark;
    for (size_t i = 0; i < *length; i++) {
        if (!strchr(" \t\r\f\v", (*bytes)[i])) {
            return true;
        }
    }
    return false;
}

void yk_json_records_free(struct yk_json_records *records)
{
    yk_lines_destroy(records->lines);
    *records = (struct yk_json_records){0};
}

void yk_json_records_describe_location(const struct yk_json_records *records, int64_t index,
                                       int64_t line, const char *source, struct yk_text *out)
{
    if (!records->is_list) {
        yk_text_addf(out, "%s:%" PRId64, source, index + line + 1);
        return;
    }
    const char *bytes = records->lines->bytes;
    const size_t at = (size_t)(records->lines->items[index] - bytes);
    yk_text_addf(out, "%s:%" PRId64 ": element %" PRId64, source,
                 yk_utf8_position_of_byte(bytes, at).line + line, index + 1);
}
