#include "graph/read.h"

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "graph/reader.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define READER(name) &yk_graph_reader_##name,
static const struct yk_graph_reader *const readers[] = {YK_GRAPH_READERS(READER)};
enum {
    READER_COUNT = sizeof readers / sizeof readers[0]
};

static yk_status check_speeds(const struct yk_graph_read_options *options)
{
    for (int32_t i = 0; i < options->speed_count; i++) {
        if (!isfinite(options->speeds[i]) || options->speeds[i] <= 0) {
            return yk_fail(YK_ERROR_USAGE, "--speeds: speed %d is %g; a speed is a number above 0",
                           i + 1, options->speeds[i]);
        }
    }
    if (options->speed_count > 0 && options->device_count > 0 &&
        options->speed_count != options->device_count) {
        return yk_fail(YK_ERROR_USAGE,
                       "--speeds has %d entries for %d devices; give one for each device",
                       options->speed_count, options->device_count);
    }
    return YK_OK;
}

/* Fills in what follows from the options, which may be NULL: the number of devices from the speeds.
 */
static yk_status check_options(const struct yk_graph_read_options *given,
                               struct yk_graph_read_options *out)
{
    *out = given ? *given : (struct yk_graph_read_options){0};
    if (!out->speeds) {
        out->speed_count = 0;
    }
    if (out->device_count < 0 || out->device_count > YK_GRAPH_MAX_DEVICES ||
        out->speed_count > YK_GRAPH_MAX_DEVICES) {
        return yk_fail(YK_ERROR_USAGE, "--devices must be from 1 to %d", YK_GRAPH_MAX_DEVICES);
    }
    YK_TRY(check_speeds(out));
    if (out->device_count == 0) {
        out->device_count = out->speed_count;
    }
    if (!isfinite(out->latency_s) || out->latency_s < 0) {
        return yk_fail(YK_ERROR_USAGE, "--latency must be 0 or more");
    }
    if (!isfinite(out->bandwidth_bytes_per_s) || out->bandwidth_bytes_per_s < 0) {
        return yk_fail(YK_ERROR_USAGE, "--bandwidth must be more than 0");
    }
    return YK_OK;
}

/* An option that would have no effect is a misunderstanding, and better reported than ignored. */
static yk_status check_options_fit(const struct yk_graph_reader *reader,
                                   const struct yk_graph_read_options *options)
{
    if (!reader->needs_devices && options->device_count > 0) {
        return yk_fail(YK_ERROR_USAGE,
                       "this file names its own devices; leave out --devices and --speeds");
    }
    if (!reader->accepts_links && (options->latency_s > 0 || options->bandwidth_bytes_per_s > 0)) {
        return yk_fail(YK_ERROR_USAGE,
                       "%s graphs have no bytes to send; leave out --latency and --bandwidth",
                       reader->name);
    }
    return YK_OK;
}

static yk_status fail_unknown(void)
{
    struct yk_text names = {0};
    for (size_t i = 0; i < READER_COUNT; i++) {
        yk_text_addf(&names, "%s%s",
                     i == 0                 ? ""
                     : i + 1 < READER_COUNT ? ", "
                                            : " or ",
                     readers[i]->name);
    }
    const yk_status status =
        yk_fail(YK_ERROR_INPUT, "this is no graph in a known form: %s", yk_text_chars(&names));
    yk_text_free(&names);
    return status;
}

static yk_status read_document(const struct yk_graph_reader_input *document,
                               const struct yk_graph_read_options *options, struct yk_graph **out)
{
    size_t i = 0;
    while (i < READER_COUNT && !readers[i]->recognises(document)) {
        i++;
    }
    if (i == READER_COUNT) {
        return fail_unknown();
    }
    YK_TRY(check_options_fit(readers[i], options));
    struct yk_graph_builder *builder = NULL;
    YK_TRY(yk_graph_builder_create(&builder));
    yk_status status = YK_OK;
    YK_TRY_GOTO(readers[i]->read(document, options, builder), done);
    status = yk_graph_builder_finish(builder, out);
done:
    yk_graph_builder_destroy(builder);
    return status;
}

/* A byte order mark, which some editors put in front of UTF-8, says nothing. */
static void skip_byte_order_mark(struct yk_graph_reader_input *document)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    if (document->length >= sizeof mark && memcmp(document->text, mark, sizeof mark) == 0) {
        document->text += sizeof mark;
        document->length -= sizeof mark;
    }
}

static yk_status parse_and_read(struct yk_graph_reader_input document, const char *source,
                                const struct yk_graph_read_options *options, struct yk_graph **out)
{
    skip_byte_order_mark(&document);
    size_t first = 0;
    while (first < document.length && isspace((unsigned char)document.text[first])) {
        first++;
    }
    if (first == document.length) {
        return yk_fail(YK_ERROR_INPUT, "the file is empty");
    }
    if (document.text[first] == '{' || document.text[first] == '[') {
        struct yk_json *json = NULL;
        YK_TRY(yk_json_parse(document.text, document.length, &json));
        document.json = json;
        const yk_status status = read_document(&document, options, out);
        yk_json_destroy(json);
        return status;
    }
    YK_TRY(read_document(&document, options, out));
    if (document.text[document.length - 1] != '\n') {
        yk_log(YK_LOG_WARNING, "%s: the last line has no line end; is the file whole?", source);
    }
    return YK_OK;
}

yk_status yk_graph_read_text(const char *text, size_t length, const char *source,
                             const struct yk_graph_read_options *options, struct yk_graph **out)
{
    struct yk_graph_read_options checked;
    YK_TRY(check_options(options, &checked));
    const struct yk_graph_reader_input document = {.text = text, .length = length};
    const yk_status status = parse_and_read(document, source, &checked, out);
    return status == YK_OK ? YK_OK : yk_status_prefix_message(status, source);
}
