#include "data/instructions.h"

#include "base/file.h"
#include "base/json.h"
#include "data/instruction_encoder.h"
#include "data/json_records.h"
#include "tokenizer/token_ids.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A file of instructions. */
struct source {
    const char *path;
    struct yk_json_records records;
};

/* The state of reading. Until finish(), a token that is part of the loss is stored as its
 * complement, as data/instruction_encoder.h defines it. */
struct reader {
    const struct yk_instructions_request *request;
    const struct source *sources; /* (count) read one after the other */
    int32_t count;
    int32_t at; /* index of the current source */
    struct yk_instruction_encoder encoder;
};

void yk_instructions_close(struct yk_instructions *instructions)
{
    if (instructions) {
        yk_token_ids_free(&instructions->ids);
        free(instructions->bears);
        free(instructions->starts);
        free(instructions->lines);
        free(instructions);
    }
}

/* Truncates the tokens from `start` on to `longest`. Returns false if none of them is part of the
 * loss. */
static bool truncate_tokens(struct yk_instructions *instructions, int64_t start, int64_t longest)
{
    struct yk_token_ids *ids = &instructions->ids;
    for (int64_t i = start; i < start + longest; i++) {
        if (ids->items[i] < 0) {
            ids->count = start + longest;
            instructions->cut++;
            return true;
        }
    }
    return false;
}

static yk_status fail_long(int64_t count, const struct yk_instructions_request *request)
{
    return yk_fail(YK_ERROR_INPUT,
                   "%" PRId64 " tokens, but there may be %" PRId64
                   " at most%s; shorten it, or leave such lines out by --faulty skip",
                   count, request->longest,
                   request->cut_long ? ", and no answer is within them" : "");
}

/* Accepts the tokens of a line, or fails if the instruction is faulty. */
static yk_status accept_tokens(struct yk_instructions *instructions, int64_t number,
                               const struct yk_instructions_request *request)
{
    const int64_t start = instructions->starts[instructions->count];
    const int64_t count = instructions->ids.count - start;
    if (count > request->longest &&
        !(request->cut_long && truncate_tokens(instructions, start, request->longest))) {
        return fail_long(count, request);
    }
    instructions->lines[instructions->count++] = number + 1;
    instructions->starts[instructions->count] = instructions->ids.count;
    return YK_OK;
}

/* Appends the tokens of the last instruction. Nothing precedes its first token, which is therefore
 * not part of the loss. Fails if no token is. */
static yk_status append_encoded(struct yk_instructions *instructions,
                                const struct yk_instruction_encoder *encoder)
{
    struct yk_token_ids *ids = &instructions->ids;
    const int64_t start = ids->count;
    bool learned = false;
    yk_token_ids_add_all(ids, encoder->ids.items, encoder->ids.count);
    YK_TRY(yk_token_ids_status(ids));
    for (int64_t i = start; i < ids->count; i++) {
        learned = learned || (i > start && ids->items[i] < 0);
    }
    if (learned) {
        ids->items[start] = ids->items[start] < 0 ? ~ids->items[start] : ids->items[start];
        return YK_OK;
    }
    return encoder->is_unmarked
               ? yk_fail(YK_ERROR_INPUT,
                         "the chat template writes no token of the assistant's that could be "
                         "learned; correct the template and, if it has some, its {%% generation "
                         "%%} blocks, or leave such lines out by --faulty skip")
               : yk_fail(YK_ERROR_INPUT,
                         "there is no answer to learn, or an empty one; write it, or leave such "
                         "lines out by --faulty skip");
}

static yk_status add_record(struct yk_instructions *instructions, struct reader *reader,
                            int64_t number)
{
    const struct source *source = &reader->sources[reader->at];
    const char *bytes = NULL;
    size_t length = 0;
    if (!yk_json_records_get(&source->records, number, &bytes, &length)) {
        return YK_OK;
    }
    yk_status status = yk_instruction_encoder_encode(&reader->encoder, bytes, length);
    bool can_skip = status == YK_ERROR_INPUT && reader->encoder.is_faulty;
    if (status == YK_OK) {
        status = append_encoded(instructions, &reader->encoder);
        YK_IF_OK(accept_tokens(instructions, number, reader->request));
        can_skip = status == YK_ERROR_INPUT;
    }
    if (can_skip && reader->request->skip_faulty) {
        instructions->ids.count = instructions->starts[instructions->count];
        instructions->skipped++;
        return YK_OK;
    }
    return status == YK_OK ? YK_OK
                           : yk_instruction_encoder_locate_failure(
                                 &reader->encoder, &source->records, number, source->path, status);
}

yk_status yk_instructions_empty_error(const char *path, int64_t faulty)
{
    return faulty == 0
               ? yk_fail(YK_ERROR_INPUT, "%s contains no instructions", path)
               : yk_fail(YK_ERROR_INPUT,
                         "%s contains no instructions but %" PRId64 " faulty ones, which are left "
                         "out",
                         path, faulty);
}

/* Converts the complements to the array `bears`. */
static yk_status finish(struct yk_instructions *instructions, const char *path)
{
    struct yk_token_ids *ids = &instructions->ids;
    YK_TRY(yk_token_ids_status(ids));
    if (instructions->count == 0) {
        return yk_instructions_empty_error(path, instructions->skipped);
    }
    instructions->bears = calloc((size_t)ids->count, sizeof *instructions->bears);
    YK_TRY_ALLOCATED(instructions->bears);
    for (int64_t i = 0; i < ids->count; i++) {
        instructions->bears[i] = ids->items[i] < 0;
        ids->items[i] = instructions->bears[i] ? ~ids->items[i] : ids->items[i];
    }
    return YK_OK;
}

/* Adds lines `from` to `until`, counted through all files. */
static yk_status add_part(struct yk_instructions *instructions, struct reader *reader, int64_t from,
                          int64_t until)
{
    int64_t before = 0;
    for (reader->at = 0; reader->at < reader->count; reader->at++) {
        const int64_t count = reader->sources[reader->at].records.lines->count;
        const int64_t end = until - before < count ? until - before : count;
        for (int64_t i = from > before ? from - before : 0; i < end; i++) {
            YK_TRY(add_record(instructions, reader, i));
        }
        before += count;
    }
    return YK_OK;
}

static yk_status fill(struct yk_instructions *instructions, struct reader *reader)
{
    int64_t count = 0;
    for (int32_t i = 0; i < reader->count; i++) {
        count += reader->sources[i].records.lines->count;
    }
    instructions->starts = calloc((size_t)count + 1, sizeof *instructions->starts);
    instructions->lines = calloc((size_t)count + 1, sizeof *instructions->lines);
    YK_TRY_ALLOCATED(instructions->starts && instructions->lines);
    const struct yk_instructions_request *request = reader->request;
    const struct yk_instruction_encoder_options options = {
        .chat = {.variables = request->chat_variables},
    };
    YK_TRY(yk_instruction_encoder_open(request->tokenizer, &options, &reader->encoder));
    const int64_t first = yk_lines_index_at_fraction(count, request->from);
    const int64_t end =
        request->until > 0 ? yk_lines_index_at_fraction(count, request->until) : count;
    YK_TRY(add_part(instructions, reader, first, end));
    return request->from > 0 && first == end ? YK_OK : finish(instructions, request->path);
}

static yk_status create(struct reader *reader, struct yk_instructions **out)
{
    const struct yk_instructions_request *request = reader->request;
    assert(request->longest > 1 && request->longest <= INT32_MAX);
    struct yk_instructions *instructions = calloc(1, sizeof *instructions);
    YK_TRY_ALLOCATED(instructions);
    instructions->padding_id = yk_tokenizer_padding_id_or_zero(request->tokenizer);
    const yk_status status = fill(instructions, reader);
    yk_instruction_encoder_close(&reader->encoder);
    YK_TRY_OR_CLEAN_UP(status, yk_instructions_close(instructions));
    *out = instructions;
    return YK_OK;
}

/* Whether the file is one object that spans several lines. */
static bool is_one_object(const char *bytes, size_t length)
{
    size_t mark = yk_json_records_bom_length(bytes, length);
    struct yk_json *root = NULL;
    while (length > mark && strchr(" \t\r\n", bytes[length - 1])) {
        length--;
    }
    while (mark < length && strchr(" \t\r\n", bytes[mark])) {
        mark++;
    }
    if (!memchr(bytes + mark, '\n', length - mark) ||
        yk_json_parse(bytes + mark, length - mark, &root) != YK_OK) {
        return false;
    }
    const bool is_object = yk_json_is_object(root);
    yk_json_destroy(root);
    return is_object;
}

/* After a failure about a line of a file: fails with a better message if the file is one object. */
static yk_status explain(const char *bytes, size_t length, const char *path)
{
    struct yk_text message = {0};
    yk_text_add(&message, yk_status_message()); /* parsing the file may replace it */
    const yk_status status =
        is_one_object(bytes, length)
            ? yk_fail(YK_ERROR_INPUT,
                      "%s: one object over several lines is no data to train on: there must be "
                      "a list of objects, or one object a line, each "
                      "with " YK_INSTRUCTION_FORM_KEYS_TEXT
                      "; plain text has another name, such as .txt",
                      path)
            : yk_fail(YK_ERROR_INPUT, "%s", yk_text_chars(&message));
    yk_text_free(&message);
    return status;
}

yk_status yk_instructions_parse(const char *bytes, size_t length,
                                const struct yk_instructions_request *request,
                                struct yk_instructions **out)
{
    struct source source = {.path = request->path};
    struct reader reader = {.request = request, .sources = &source, .count = 1};
    YK_TRY(yk_json_records_split(bytes, length, request->path, &source.records));
    yk_status status = create(&reader, out);
    if (status == YK_ERROR_INPUT && !source.records.is_list) {
        status = explain(bytes, length, request->path);
    }
    yk_json_records_free(&source.records);
    return status;
}

/* yk_file_read_training_data() reads standard input for "-". */
static yk_status read_bytes(const char *path, struct yk_text *out)
{
    return yk_file_read_training_data(strcmp(path, "-") == 0 ? "./-" : path, out);
}

static yk_status open_source(const char *path, struct source *out)
{
    struct yk_text text = {0};
    out->path = path;
    yk_status status = read_bytes(path, &text);
    YK_IF_OK(yk_json_records_split(yk_text_chars(&text), text.length, path, &out->records));
    yk_text_free(&text); /* the records own a copy */
    return status;
}

/* Reads the file again to explain a failure, because its records are already freed. */
static yk_status explain_file(yk_status status, const char *path)
{
    struct yk_text text = {0};
    if (read_bytes(path, &text) == YK_OK) {
        status = explain(yk_text_chars(&text), text.length, path);
    }
    yk_text_free(&text);
    return status;
}

static yk_status open_files(const struct yk_instructions_request *request,
                            const struct yk_file_list *files, struct yk_arena *arena,
                            struct yk_instructions **out)
{
    struct source *sources = NULL;
    yk_status status = YK_OK;
    YK_TRY_NEW(arena, sources, files->count);
    struct reader reader = {.request = request, .sources = sources, .count = files->count};
    for (int32_t i = 0; status == YK_OK && i < files->count; i++) {
        status = open_source(files->paths[i], &sources[i]);
    }
    const bool opened = status == YK_OK;
    if (opened) {
        status = create(&reader, out);
    }
    const bool lines = opened && reader.at < reader.count && !sources[reader.at].records.is_list;
    for (int32_t i = 0; i < files->count; i++) {
        yk_json_records_free(&sources[i].records);
    }
    return status == YK_ERROR_INPUT && lines ? explain_file(status, sources[reader.at].path)
                                             : status;
}

yk_status yk_instructions_open(const struct yk_instructions_request *request,
                               struct yk_instructions **out)
{
    struct yk_file_list files = {0};
    struct yk_arena *arena = NULL;
    YK_TRY(yk_arena_create(&arena));
    yk_status status = yk_instruction_files_find(request->path, arena, &files);
    if (status == YK_OK && files.count == 0) {
        files = (struct yk_file_list){.paths = &request->path, .count = 1};
    }
    YK_IF_OK(open_files(request, &files, arena, out));
    yk_arena_destroy(arena);
    return status;
}

struct yk_instruction yk_instructions_at(const struct yk_instructions *instructions, int64_t index)
{
    assert(index >= 0 && index < instructions->count);
    const int64_t start = instructions->starts[index];
    return (struct yk_instruction){
        .tokens = instructions->ids.items + start,
        .has_loss = instructions->bears + start,
        .count = instructions->starts[index + 1] - start,
        .line = instructions->lines[index],
    };
}

struct yk_instruction_totals
yk_instructions_compute_totals(const struct yk_instructions *instructions)
{
    struct yk_instruction_totals totals = {
        .instructions = instructions->count,
        .skipped = instructions->skipped,
        .cut = instructions->cut,
        .tokens = instructions->ids.count,
    };
    for (int64_t i = 0; i < instructions->ids.count; i++) {
        totals.loss_tokens += instructions->bears[i];
    }
    for (int64_t i = 0; i < instructions->count; i++) {
        const int64_t count = instructions->starts[i + 1] - instructions->starts[i];
        totals.longest = count > totals.longest ? count : totals.longest;
    }
    return totals;
}

void yk_instructions_describe(const struct yk_instructions *instructions, struct yk_text *out)
{
    const struct yk_instruction_totals totals = yk_instructions_compute_totals(instructions);
    yk_text_addf(out,
                 "%" PRId64 " instructions, %" PRId64 " tokens, %" PRId64 " with loss, %" PRId64
                 " left out, %" PRId64 " cut off",
                 totals.instructions, totals.tokens, totals.loss_tokens, totals.skipped,
                 totals.cut);
}
