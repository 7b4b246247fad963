#include "data/instructions.h"

#include "data/ids.h"
#include "data/instruction_line.h"
#include "data/lines.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct yk_instructions {
    struct yk_ids ids;
    bool *bears;     /* (ids) */
    int64_t *starts; /* (count + 1) in `ids` */
    int64_t *lines;  /* (count) */
    int64_t count;
    int64_t skipped;
    int64_t cut;
    int32_t filling;
};

/* Where instructions come from. While they are read, tokens that bear loss are kept as their
 * complement, as data/instruction_line.h gives them. */
struct reader {
    const struct yk_instructions_request *request;
    const struct yk_lines *lines;
    struct yk_instruction_line line;
};

void yk_instructions_close(struct yk_instructions *instructions)
{
    if (instructions) {
        yk_ids_free(&instructions->ids);
        free(instructions->bears);
        free(instructions->starts);
        free(instructions->lines);
        free(instructions);
    }
}

/* Cuts the tokens from `start` on to those that are allowed; whether any of them bears loss. */
static bool cut(struct yk_instructions *instructions, int64_t start, int64_t longest)
{
    struct yk_ids *ids = &instructions->ids;
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

/* Keeps what was read of a line, or says what is faulty. */
static yk_status keep(struct yk_instructions *instructions, int64_t number,
                      const struct yk_instructions_request *request)
{
    const int64_t start = instructions->starts[instructions->count];
    const int64_t count = instructions->ids.count - start;
    if (count == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "there is no answer to learn, or an empty one; write it, or leave such "
                       "lines out by --faulty skip");
    }
    if (count > request->longest &&
        !(request->cut_long && cut(instructions, start, request->longest))) {
        return fail_long(count, request);
    }
    instructions->lines[instructions->count++] = number + 1;
    instructions->starts[instructions->count] = instructions->ids.count;
    return YK_OK;
}

/* A byte order mark at the very beginning of the file is not part of its first line. */
static size_t mark_length(const char *line, int64_t number)
{
    static const char mark[] = "\xef\xbb\xbf";
    return number == 0 && strncmp(line, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
}

static yk_status take_line(struct yk_instructions *instructions, struct reader *reader,
                           int64_t number)
{
    const struct yk_instructions_request *request = reader->request;
    const size_t mark = mark_length(reader->lines->items[number], number);
    const char *line = reader->lines->items[number] + mark;
    struct yk_text place = {0};
    if (line[strspn(line, " \t\r\f\v")] == '\0') {
        return YK_OK;
    }
    yk_status status = yk_instruction_line_add(
        &reader->line, line, reader->lines->lengths[number] - mark, &instructions->ids);
    if (status == YK_OK) {
        status = keep(instructions, number, request);
        if (status != YK_OK && request->skip_faulty) {
            instructions->ids.count = instructions->starts[instructions->count];
            instructions->skipped++;
            return YK_OK;
        }
    }
    if (status != YK_OK) {
        yk_text_addf(&place, "%s:%" PRId64, request->path, number + 1);
        status = yk_fail_in(status, yk_text_chars(&place));
        yk_text_free(&place);
    }
    return status;
}

/* The mask instead of complements. */
static yk_status finish(struct yk_instructions *instructions, const char *path)
{
    struct yk_ids *ids = &instructions->ids;
    YK_TRY(yk_ids_status(ids));
    if (instructions->count == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s holds no instruction to learn from; %" PRId64 " lines are faulty", path,
                       instructions->skipped);
    }
    instructions->bears = calloc((size_t)ids->count, sizeof *instructions->bears);
    if (!instructions->bears) {
        return yk_fail_out_of_memory();
    }
    for (int64_t i = 0; i < ids->count; i++) {
        instructions->bears[i] = ids->items[i] < 0;
        ids->items[i] = instructions->bears[i] ? ~ids->items[i] : ids->items[i];
    }
    return YK_OK;
}

static yk_status fill(struct yk_instructions *instructions, struct reader *reader)
{
    const size_t lines = (size_t)reader->lines->count;
    instructions->starts = calloc(lines + 1, sizeof *instructions->starts);
    instructions->lines = calloc(lines + 1, sizeof *instructions->lines);
    if (!instructions->starts || !instructions->lines) {
        return yk_fail_out_of_memory();
    }
    YK_TRY(yk_instruction_line_open(reader->request->tokenizer, &reader->line));
    const struct yk_instructions_request *request = reader->request;
    const int64_t first = yk_lines_boundary(reader->lines, request->from);
    const int64_t end =
        request->until > 0 ? yk_lines_boundary(reader->lines, request->until) : (int64_t)lines;
    for (int64_t i = first; i < end; i++) {
        YK_TRY(take_line(instructions, reader, i));
    }
    return request->from > 0 && first == end ? YK_OK : finish(instructions, request->path);
}

static yk_status create(const struct yk_lines *lines, const struct yk_instructions_request *request,
                        struct yk_instructions **out)
{
    assert(request->longest > 1 && request->longest <= INT32_MAX);
    struct yk_instructions *instructions = calloc(1, sizeof *instructions);
    if (!instructions) {
        return yk_fail_out_of_memory();
    }
    const int32_t filling = yk_tokenizer_role(request->tokenizer, YK_TOKEN_PAD);
    struct reader reader = {.request = request, .lines = lines};
    instructions->filling = filling >= 0 ? filling : 0;
    const yk_status status = fill(instructions, &reader);
    yk_instruction_line_close(&reader.line);
    if (status != YK_OK) {
        yk_instructions_close(instructions);
        return status;
    }
    *out = instructions;
    return YK_OK;
}

yk_status yk_instructions_open(const struct yk_instructions_request *request,
                               struct yk_instructions **out)
{
    struct yk_lines *lines = NULL;
    YK_TRY(yk_lines_read(request->path, &lines));
    const yk_status status = create(lines, request, out);
    yk_lines_destroy(lines);
    return status;
}

yk_status yk_instructions_read(const char *bytes, size_t length,
                               const struct yk_instructions_request *request,
                               struct yk_instructions **out)
{
    struct yk_lines *lines = NULL;
    YK_TRY(yk_lines_of(bytes, length, request->path, &lines));
    const yk_status status = create(lines, request, out);
    yk_lines_destroy(lines);
    return status;
}

int64_t yk_instructions_count(const struct yk_instructions *instructions)
{
    return instructions->count;
}

struct yk_instruction yk_instructions_at(const struct yk_instructions *instructions, int64_t index)
{
    assert(index >= 0 && index < instructions->count);
    const int64_t start = instructions->starts[index];
    return (struct yk_instruction){
        .tokens = instructions->ids.items + start,
        .bears = instructions->bears + start,
        .count = instructions->starts[index + 1] - start,
        .line = instructions->lines[index],
    };
}

int32_t yk_instructions_filling(const struct yk_instructions *instructions)
{
    return instructions->filling;
}

struct yk_instructions_totals yk_instructions_totals(const struct yk_instructions *instructions)
{
    struct yk_instructions_totals totals = {
        .instructions = instructions->count,
        .skipped = instructions->skipped,
        .cut = instructions->cut,
        .tokens = instructions->ids.count,
    };
    for (int64_t i = 0; i < instructions->ids.count; i++) {
        totals.bearing += instructions->bears[i];
    }
    for (int64_t i = 0; i < instructions->count; i++) {
        const int64_t count = instructions->starts[i + 1] - instructions->starts[i];
        totals.longest = count > totals.longest ? count : totals.longest;
    }
    return totals;
}

void yk_instructions_describe(const struct yk_instructions *instructions, struct yk_text *out)
{
    const struct yk_instructions_totals totals = yk_instructions_totals(instructions);
    yk_text_addf(out,
                 "%" PRId64 " instructions, %" PRId64 " tokens, %" PRId64 " with loss, %" PRId64
                 " left out, %" PRId64 " cut off",
                 totals.instructions, totals.tokens, totals.bearing, totals.skipped, totals.cut);
}
