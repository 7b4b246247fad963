#include "data/instructions.h"

#include "base/file.h"
#include "base/input_stream.h"
#include "base/utf8.h"
#include "data/instruction_encoder.h"
#include "data/json_records.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum content {
    CONTENT_NO_TEXT,
    CONTENT_TEXT,
    CONTENT_JSON, /* by its name; it contains no instructions within the examined bytes */
    CONTENT_INSTRUCTIONS,
};

static bool ends_with(const char *path, size_t length, const char *suffix)
{
    const size_t wanted = strlen(suffix);
    return length > wanted && strncasecmp(path + length - wanted, suffix, wanted) == 0;
}

static bool has_json_name(const char *path)
{
    static const char *const endings[] = {".jsonl", ".ndjson", ".json"};
    static const char compressed[] = ".gz";
    size_t length = strlen(path);
    length -= ends_with(path, length, compressed) ? strlen(compressed) : 0;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_with(path, length, endings[i])) {
            return true;
        }
    }
    return false;
}

bool yk_instruction_files_recognize_beginning(const char *bytes, size_t length)
{
    const char *object = NULL;
    size_t size = 0;
    return yk_json_records_find_first_object(bytes, length, &object, &size) &&
           yk_instruction_encoder_supports_object(object, size);
}

static yk_status fill(struct yk_input_stream *stream, char *bytes, size_t *out)
{
    size_t used = 1;
    *out = 0;
    while (used > 0 && *out < YK_INSTRUCTION_FILES_BEGINNING_BYTES) {
        YK_TRY(yk_input_stream_read(stream, bytes + *out,
                                    YK_INSTRUCTION_FILES_BEGINNING_BYTES - *out, &used));
        *out += used;
    }
    return YK_OK;
}

/* Reads the beginning of a regular file into a buffer of YK_INSTRUCTION_FILES_BEGINNING_BYTES. */
static yk_status read_beginning(const char *path, char *bytes, size_t *out)
{
    int file = -1;
    struct yk_input_stream *stream = NULL;
    YK_TRY(yk_file_open_for_reading(path, false, &file));
    yk_status status = yk_input_stream_open(file, path, &stream);
    YK_IF_OK(fill(stream, bytes, out));
    yk_input_stream_close(stream);
    close(file);
    return status;
}

/* Classifies a file by its beginning, for which `bytes` is a buffer. */
static yk_status classify(const char *path, char *bytes, enum content *out)
{
    size_t length = 0;
    YK_TRY(read_beginning(path, bytes, &length));
    const size_t valid = yk_utf8_valid_prefix_length(bytes, length);
    /* The last character may be truncated. */
    const size_t spare = length == YK_INSTRUCTION_FILES_BEGINNING_BYTES ? YK_UTF8_MAX_BYTES - 1 : 0;
    if (yk_instruction_files_recognize_beginning(bytes, valid)) {
        *out = CONTENT_INSTRUCTIONS;
    } else if (has_json_name(path)) {
        *out = CONTENT_JSON;
    } else {
        *out = length == 0 || valid + spare < length ? CONTENT_NO_TEXT : CONTENT_TEXT;
    }
    return YK_OK;
}

static yk_status fail_mixed(const char *instructions, const char *text)
{
    return yk_fail(YK_ERROR_INPUT,
                   "%s is read as instructions, but %s in the same folder is text; move one of "
                   "them to another folder, or name a single file",
                   instructions, text);
}

static yk_status select_instructions(const struct yk_file_list *files, char *bytes,
                                     struct yk_arena *arena, struct yk_file_list *out)
{
    const char **found = NULL;
    const char *text = NULL;
    const char *instructions = NULL;
    int32_t count = 0;
    YK_TRY_NEW(arena, found, files->count);
    for (int32_t i = 0; i < files->count; i++) {
        enum content content = CONTENT_NO_TEXT;
        YK_TRY(classify(files->paths[i], bytes, &content));
        if (content == CONTENT_INSTRUCTIONS || content == CONTENT_JSON) {
            found[count++] = files->paths[i];
        }
        if (content == CONTENT_INSTRUCTIONS && !instructions) {
            instructions = files->paths[i];
        } else if (content == CONTENT_TEXT && !text) {
            text = files->paths[i];
        }
    }
    if (instructions && text) {
        return fail_mixed(instructions, text);
    }
    if (count > 0 && !instructions && !text) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s is JSON without instructions, and there is no text beside it; to train "
                       "on it as text, call it .txt",
                       found[0]);
    }
    *out = (struct yk_file_list){.paths = found, .count = text ? 0 : count};
    return YK_OK;
}

yk_status yk_instruction_files_find(const char *path, struct yk_arena *arena,
                                    struct yk_file_list *out)
{
    struct stat info;
    const char **named = NULL;
    struct yk_file_list files = {0};
    YK_TRY_NEW(arena, named, 1);
    named[0] = path;
    const bool there = stat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode)) {
        YK_TRY(yk_file_list_read_folder(path, arena, &files));
    } else if (has_json_name(path)) { /* reading it later reports a broken file */
        int file = -1;
        YK_TRY(yk_file_open_for_reading(path, false, &file));
        close(file);
        *out = (struct yk_file_list){.paths = named, .count = 1};
        return YK_OK;
    } else if (there && S_ISREG(info.st_mode)) {
        files = (struct yk_file_list){.paths = named, .count = 1};
    }
    char *bytes = malloc(YK_INSTRUCTION_FILES_BEGINNING_BYTES);
    const yk_status status =
        bytes ? select_instructions(&files, bytes, arena, out) : yk_fail_out_of_memory();
    free(bytes);
    return status;
}
