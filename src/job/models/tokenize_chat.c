#include "job/models/tokenize.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_node.h"
#include "data/file_list.h"
#include "data/instruction_encoder.h"
#include "data/instructions.h"
#include "data/json_records.h"

#include <stdlib.h>
#include <string.h>

/* Conversations on their way to tokens. Starts as {0}. */
struct listing {
    const struct yk_tokenize_chat_request *request;
    struct yk_tokenize_chat_result *result;
    struct yk_arena *arena;
    struct yk_tokenizer *tokenizer;
    struct yk_json *variables;
    struct yk_json *tools;
    struct yk_instruction_encoder encoder;
    bool *mask;
    int64_t mask_capacity;
    int64_t instructions; /* that were passed on */
};

/* Splits the marks of the loss from the ids. */
static yk_status separate_mask(struct listing *listing)
{
    struct yk_token_ids *ids = &listing->encoder.ids;
    if (ids->count > listing->mask_capacity) {
        bool *mask = realloc(listing->mask, (size_t)ids->count * 2 * sizeof *mask);
        YK_TRY_ALLOCATED(mask);
        listing->mask = mask;
        listing->mask_capacity = ids->count * 2;
    }
    for (int64_t i = 0; i < ids->count; i++) {
        listing->mask[i] = ids->items[i] < 0;
        ids->items[i] = ids->items[i] < 0 ? ~ids->items[i] : ids->items[i];
    }
    return YK_OK;
}

static yk_status pass_record(struct listing *listing, const char *bytes, size_t length)
{
    const struct yk_tokenize_chat_request *request = listing->request;
    struct yk_instruction_encoder *encoder = &listing->encoder;
    const double start = yk_clock_now_s();
    YK_TRY(yk_instruction_encoder_encode(encoder, bytes, length));
    listing->result->seconds += yk_clock_now_s() - start;
    listing->result->bytes += (int64_t)encoder->text.length;
    YK_TRY(separate_mask(listing));
    const struct yk_tokenize_chat_conversation conversation = {
        .text = yk_text_chars(&encoder->text),
        .text_length = encoder->text.length,
        .ids = encoder->ids.items,
        .mask = request->mask ? listing->mask : NULL,
        .count = encoder->ids.count,
    };
    return request->conversation(request->user, &conversation);
}

static yk_status list_records(struct listing *listing, const struct yk_json_records *records,
                              const char *path)
{
    for (int64_t i = 0; i < records->lines->count; i++) {
        const char *bytes = NULL;
        size_t length = 0;
        if (yk_job_stop_requested(listing->request->job)) {
            return yk_fail(YK_ERROR_STOPPED, "stopped between two conversations");
        }
        if (!yk_json_records_get(records, i, &bytes, &length)) {
            continue;
        }
        yk_status status = pass_record(listing, bytes, length);
        if (status == YK_ERROR_INPUT) {
            status =
                yk_instruction_encoder_locate_failure(&listing->encoder, records, i, path, status);
        }
        YK_TRY(status);
        listing->instructions++;
    }
    return YK_OK;
}

static const char *source_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static yk_status list_file(struct listing *listing, const char *path)
{
    const char *source = source_of(path);
    struct yk_json_records records = {0};
    struct yk_text text = {0};
    yk_status status = yk_file_read_training_data(path, &text);
    YK_IF_OK(yk_json_records_split(yk_text_chars(&text), text.length, source, &records));
    yk_text_free(&text); /* the records own a copy */
    YK_IF_OK(list_records(listing, &records, source));
    yk_json_records_free(&records);
    return status;
}

static yk_status open(struct listing *listing)
{
    const struct yk_tokenize_chat_request *request = listing->request;
    YK_TRY(yk_arena_create(&listing->arena));
    YK_TRY(yk_tokenizer_open(request->tokenizer, &listing->tokenizer));
    YK_TRY(yk_chat_options_apply_template(&request->chat, listing->tokenizer));
    YK_TRY(yk_chat_options_read_variables(&request->chat, &listing->variables));
    YK_TRY(yk_chat_options_read_tools(&request->chat, &listing->tools));
    const struct yk_instruction_encoder_options options = {
        .chat = {.variables = listing->variables},
        .tools = listing->tools,
        .prompt = request->prompt,
        .text_only = request->text_only,
        .no_mask = !request->mask,
    };
    return yk_instruction_encoder_open(listing->tokenizer, &options, &listing->encoder);
}

/* Lists the instructions of a file or folder, which must have some. */
static yk_status list_path(struct listing *listing, const char *path)
{
    const int64_t before = listing->instructions;
    struct yk_file_list files = {0};
    if (strcmp(path, "-") != 0) {
        YK_TRY(yk_instruction_files_find(path, listing->arena, &files));
    }
    if (files.count == 0) {
        files = (struct yk_file_list){.paths = &path, .count = 1};
    }
    for (int32_t i = 0; i < files.count; i++) {
        YK_TRY(list_file(listing, files.paths[i]));
    }
    return listing->instructions > before ? YK_OK : yk_instructions_empty_error(source_of(path), 0);
}

static yk_status list_paths(struct listing *listing)
{
    const struct yk_tokenize_chat_request *request = listing->request;
    if (request->file_count == 0) {
        return list_path(listing, "-");
    }
    for (int32_t i = 0; i < request->file_count; i++) {
        YK_TRY(list_path(listing, request->files[i]));
    }
    return YK_OK;
}

yk_status yk_tokenize_chat_list(const struct yk_tokenize_chat_request *request,
                                struct yk_tokenize_chat_result *out)
{
    struct listing listing = {.request = request, .result = out};
    *out = (struct yk_tokenize_chat_result){0};
    yk_status status = open(&listing);
    YK_IF_OK(list_paths(&listing));
    yk_instruction_encoder_close(&listing.encoder);
    yk_json_destroy(listing.variables);
    yk_json_destroy(listing.tools);
    yk_tokenizer_destroy(listing.tokenizer);
    yk_arena_destroy(listing.arena);
    free(listing.mask);
    return status;
}
