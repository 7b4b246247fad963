#include "job/models/tokenize.h"
#include "base/arena.h"
#include "base/clock.h"
#include "data/token_shard.h"
#include "job/models/tokenize_output.h"
#include "job/text_files.h"
#include "tokenizer/tokenizer.h"

enum {
    TOKENS_BETWEEN_LOOKS = 1 << 14 /* at whether the job is stopped */
};

/* Files on their way to tokens. */
struct encoding {
    const struct yk_tokenize_input *input;
    const struct yk_job *job;
    struct yk_arena *arena;
    struct yk_tokenizer *tokenizer;
    struct yk_tokenizer_encoder *encoder;
    struct yk_chunk_boundary cut;
    struct yk_text_files files;
    struct yk_token_ids ids; /* of a piece */
    int32_t end;             /* put behind each file; −1: none */
    int64_t bytes;

    struct yk_token_shard_writer *writer;          /* where they are written */
    const struct yk_tokenize_show_request *handed; /* where they are handed out */
    bool in_file;                                  /* that has begun and not ended */
};

static yk_status find_end(struct encoding *encoding)
{
    encoding->end = -1;
    if (!encoding->input->append_end) {
        return YK_OK;
    }
    encoding->end = yk_tokenizer_role(encoding->tokenizer, YK_TOKEN_END);
    return encoding->end >= 0
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%s: no token ends a text (</s>, <|end_of_text|>, <|endoftext|>, "
                         "[SEP]); leave --append-end out",
                         encoding->input->tokenizer);
}

static yk_status open_all(struct encoding *encoding)
{
    const struct yk_tokenize_input *input = encoding->input;
    YK_TRY(yk_arena_create(&encoding->arena));
    YK_TRY(yk_tokenizer_open(input->tokenizer, &encoding->tokenizer));
    YK_TRY(yk_chunk_boundary_of(encoding->tokenizer, &encoding->cut));
    YK_TRY(yk_tokenizer_encoder_create(encoding->tokenizer, &encoding->encoder));
    yk_tokenizer_encoder_set_stop(encoding->encoder, yk_job_stop(encoding->job));
    YK_TRY(find_end(encoding));
    return yk_text_files_list(input->files, input->file_count, encoding->arena, &encoding->files);
}

static void close_all(struct encoding *encoding)
{
    yk_token_shard_writer_destroy(encoding->writer);
    yk_token_ids_free(&encoding->ids);
    yk_tokenizer_encoder_destroy(encoding->encoder);
    yk_tokenizer_destroy(encoding->tokenizer);
    yk_arena_destroy(encoding->arena);
}

/* The tokens of a piece, or what comes at the end of a file. */
static yk_status encode_piece(struct encoding *encoding, const char *path, const char *text,
                              size_t length)
{
    encoding->ids.count = 0;
    if (length > 0) {
        return yk_tokenizer_encode(encoding->encoder, text, length, path, YK_SPECIAL_TOKENS_NONE,
                                   &encoding->ids);
    }
    if (encoding->end >= 0) {
        yk_token_ids_add(&encoding->ids, encoding->end);
    }
    return yk_token_ids_status(&encoding->ids);
}

static yk_status walk(struct encoding *encoding, yk_status (*take)(void *user, const char *path,
                                                                   const char *text, size_t length))
{
    const struct yk_text_files_consumer taker = {.take = take, .user = encoding};
    return yk_text_files_read(&encoding->files, &encoding->cut, "encoding", &taker, encoding->job,
                              &encoding->bytes);
}

static yk_status write_piece(void *user, const char *path, const char *text, size_t length)
{
    struct encoding *encoding = user;
    YK_TRY(encode_piece(encoding, path, text, length));
    return yk_token_shard_writer_add(encoding->writer, encoding->ids.items, encoding->ids.count);
}

static yk_status encode(struct encoding *encoding, const struct yk_tokenize_encode_request *request,
                        struct yk_tokenize_encode_result *out)
{
    struct yk_token_shard_written written = {0};
    YK_TRY(open_all(encoding));
    const struct yk_tokenize_target output = {
        .path = request->output,
        .is_series = request->shard_tokens > 0,
        .tokenizer = request->input.tokenizer,
    };
    YK_TRY(yk_tokenize_target_check(&output, &encoding->files, encoding->arena));
    const struct yk_token_shard_writer_request shards = {
        .path = request->output,
        .vocabulary = yk_tokenizer_count(encoding->tokenizer),
        .shard_tokens = request->shard_tokens,
    };
    YK_TRY(yk_token_shard_writer_create(&shards, &encoding->writer));
    const double start_s = yk_clock_now_s();
    YK_TRY(walk(encoding, write_piece));
    YK_TRY(yk_token_shard_writer_finish(encoding->writer, &written));
    out->seconds = yk_clock_now_s() - start_s;
    out->files = encoding->files.count;
    out->bytes = encoding->bytes;
    out->tokens = written.tokens;
    out->shards = written.files;
    out->shard_bytes = written.bytes;
    yk_tokenizer_describe(encoding->tokenizer, &out->tokenizer);
    return yk_text_status(&out->tokenizer);
}

yk_status yk_tokenize_encode(const struct yk_tokenize_encode_request *request,
                             struct yk_tokenize_encode_result *out)
{
    struct encoding encoding = {.input = &request->input, .job = request->job};
    const yk_status status = encode(&encoding, request, out);
    close_all(&encoding);
    return status;
}

void yk_tokenize_encode_result_free(struct yk_tokenize_encode_result *result)
{
    yk_text_free(&result->tokenizer);
    *result = (struct yk_tokenize_encode_result){0};
}

static yk_status hand_out(const struct encoding *encoding, int32_t id)
{
    const struct yk_tokenize_show_request *request = encoding->handed;
    struct yk_text text = {0};
    if (!request->texts) {
        return request->token(request->user, id, NULL);
    }
    yk_status status = yk_tokenizer_decode(encoding->tokenizer, &id, 1, false, &text);
    if (status == YK_OK) {
        status = yk_text_status(&text);
    }
    if (status == YK_OK) {
        status = request->token(request->user, id, yk_text_chars(&text));
    }
    yk_text_free(&text);
    return status;
}

static yk_status show_piece(void *user, const char *path, const char *text, size_t length)
{
    struct encoding *encoding = user;
    const struct yk_tokenize_show_request *request = encoding->handed;
    YK_TRY(encode_piece(encoding, path, text, length));
    if (!encoding->in_file) {
        YK_TRY(request->begin(request->user, path));
    }
    for (int64_t i = 0; i < encoding->ids.count; i++) {
        YK_TRY(hand_out(encoding, encoding->ids.items[i]));
        if (i % TOKENS_BETWEEN_LOOKS == 0 && yk_job_is_stopped(encoding->job)) {
            return yk_fail(YK_ERROR_STOPPED, "stopped between two tokens");
        }
    }
    encoding->in_file = length > 0;
    return encoding->in_file ? YK_OK : request->end(request->user);
}

yk_status yk_tokenize_show(const struct yk_tokenize_show_request *request)
{
    struct encoding encoding = {
        .input = &request->input,
        .job = request->job,
        .handed = request,
    };
    yk_status status = open_all(&encoding);
    if (status == YK_OK) {
        status = walk(&encoding, show_piece);
    }
    close_all(&encoding);
    return status;
}
