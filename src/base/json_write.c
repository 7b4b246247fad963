#include "base/json_write.h"

#include <inttypes.h>
#include <math.h>

void yk_json_write_newline(struct yk_json_writer *writer, int32_t indent)
{
    writer->newline_pending = true;
    writer->indent = indent;
}

/* Writes the pending newline. Returns false if there is none. */
static bool add_line(struct yk_json_writer *writer)
{
    if (!writer->newline_pending) {
        return false;
    }
    yk_text_add(writer->text, "\n");
    yk_text_add_repeated(writer->text, " ", (size_t)writer->indent);
    writer->newline_pending = false;
    return true;
}

void yk_json_write_key(struct yk_json_writer *writer, const char *key)
{
    if (writer->needs_comma) {
        yk_text_add(writer->text, ",");
    }
    if (writer->line_indent > 0 && !writer->newline_pending) {
        yk_json_write_newline(writer, writer->line_indent);
    }
    if (!add_line(writer) && writer->needs_comma && writer->spaced) {
        yk_text_add(writer->text, " ");
    }
    if (key) {
        yk_text_add_json_string(writer->text, key);
        yk_text_add(writer->text, writer->spaced ? ": " : ":");
    }
    writer->needs_comma = true;
}

static void begin(struct yk_json_writer *writer, const char *key, const char *bracket)
{
    yk_json_write_raw(writer, key, bracket);
    writer->needs_comma = false;
}

static void end(struct yk_json_writer *writer, const char *bracket)
{
    (void)add_line(writer);
    yk_text_add(writer->text, bracket);
    writer->needs_comma = true;
}

void yk_json_write_begin_object(struct yk_json_writer *writer, const char *key)
{
    begin(writer, key, "{");
}

void yk_json_write_begin_object_on_new_line(struct yk_json_writer *writer, int32_t indent)
{
    yk_json_write_newline(writer, indent);
    yk_json_write_begin_object(writer, NULL);
}

void yk_json_write_end_object(struct yk_json_writer *writer)
{
    end(writer, "}");
}

void yk_json_write_begin_array(struct yk_json_writer *writer, const char *key)
{
    begin(writer, key, "[");
}

void yk_json_write_end_array(struct yk_json_writer *writer)
{
    end(writer, "]");
}

void yk_json_write_string(struct yk_json_writer *writer, const char *key, const char *words)
{
    yk_json_write_key(writer, key);
    if (words) {
        yk_text_add_json_string(writer->text, words);
    } else {
        yk_text_add(writer->text, "null");
    }
}

void yk_json_write_integer(struct yk_json_writer *writer, const char *key, int64_t value)
{
    yk_json_write_key(writer, key);
    yk_text_addf(writer->text, "%" PRId64, value);
}

void yk_json_write_number(struct yk_json_writer *writer, const char *key, double value)
{
    yk_json_write_key(writer, key);
    if (isfinite(value)) {
        yk_text_add_number(writer->text, value);
    } else {
        yk_text_add(writer->text, "null");
    }
}

void yk_json_write_integers(struct yk_json_writer *writer, const char *key, const int64_t *values,
                            int64_t count)
{
    yk_json_write_begin_array(writer, key);
    for (int64_t i = 0; i < count; i++) {
        yk_json_write_integer(writer, NULL, values[i]);
    }
    yk_json_write_end_array(writer);
}

void yk_json_write_numbers(struct yk_json_writer *writer, const char *key, const double *values,
                           int64_t count)
{
    yk_json_write_begin_array(writer, key);
    for (int64_t i = 0; i < count; i++) {
        yk_json_write_number(writer, NULL, values[i]);
    }
    yk_json_write_end_array(writer);
}

void yk_json_write_bool(struct yk_json_writer *writer, const char *key, bool value)
{
    yk_json_write_raw(writer, key, value ? "true" : "false");
}

void yk_json_write_null(struct yk_json_writer *writer, const char *key)
{
    yk_json_write_raw(writer, key, "null");
}

void yk_json_write_raw(struct yk_json_writer *writer, const char *key, const char *json)
{
    yk_json_write_key(writer, key);
    yk_text_add(writer->text, json);
}

void yk_json_write_begin_yoke_document(struct yk_json_writer *writer, const char *kind)
{
    yk_json_write_begin_object(writer, NULL);
    yk_json_write_integer(writer, "yoke", 1);
    yk_json_write_string(writer, "kind", kind);
}

yk_status yk_json_write_end_yoke_document(struct yk_json_writer *writer)
{
    yk_json_write_end_object(writer);
    yk_text_add(writer->text, "\n");
    return yk_text_status(writer->text);
}
