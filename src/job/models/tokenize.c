#include "job/models/tokenize.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/folder.h"
#include "base/text.h"
#include "data/token_shard.h"
#include "job/output_files.h"
#include "job/text_files.h"
#include "tokenizer/formats/tokenizer_files.h"
#include "tokenizer/tokenizer_encoder.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMBER_LENGTH = 11 /* of "_000000.bin" */
};

/* "-" is standard input, which may well be a file. */
static const char *input_of(const char *path)
{
    return path && strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

/* The file that is read in the tokenizer's folder; NULL where there is none. */
static yk_status find_in_folder(const char *folder, struct yk_arena *arena, const char **out)
{
    const char *name = yk_folder_exists(folder) ? yk_tokenizer_files_find(folder) : NULL;
    *out = NULL;
    return name ? yk_folder_join_path(folder, name, arena, out) : YK_OK;
}

/* Whether a path ends as the files of a series do. */
static bool is_numbered(const char *path)
{
    const size_t length = strlen(path);
    if (length < NUMBER_LENGTH) {
        return false;
    }
    const char *end = path + length - NUMBER_LENGTH;
    return end[0] == '_' && strspn(end + 1, "0123456789") == 6 && strcmp(end + 7, ".bin") == 0;
}

/* The first file of a series, and that of the same number as each input that has one: the others
 * are no inputs. */
static yk_status check_series(const char *output, const char *const *inputs, size_t count)
{
    const size_t length = strlen(output);
    const bool named = length > 4 && strcmp(output + length - 4, ".bin") == 0;
    struct yk_text path = {0};
    yk_status status = YK_OK;
    for (size_t i = 0; i <= count && status == YK_OK; i++) {
        const char *input = i < count ? inputs[i] : "_000000.bin";
        if (!input || !is_numbered(input)) {
            continue;
        }
        path.length = 0;
        yk_text_add_bytes(&path, output, named ? length - 4 : length);
        yk_text_add(&path, input + strlen(input) - NUMBER_LENGTH);
        status = yk_text_status(&path);
        if (status == YK_OK) {
            const char *const pair[] = {i < count ? input : NULL, path.bytes};
            status = yk_output_files_check_paths(pair, 2, 1);
        }
    }
    yk_text_free(&path);
    return status;
}

yk_status yk_tokenize_check_output_path(const struct yk_tokenize_output_path *output,
                                        const struct yk_text_files *files, struct yk_arena *arena)
{
    const char *tokenizer = output->tokenizer;
    const size_t file_count = (size_t)files->count;
    const size_t input_count = file_count + 2; /* the tokenizer's path, and its file there */
    const char **paths = NULL;
    YK_TRY_NEW(arena, paths, input_count + 1);
    for (size_t i = 0; i < file_count; i++) {
        paths[i] = input_of(files->paths[i]);
    }
    paths[file_count] = input_of(tokenizer);
    if (tokenizer) {
        YK_TRY(find_in_folder(tokenizer, arena, &paths[file_count + 1]));
    }
    if (output->is_series) {
        return check_series(output->path, paths, input_count);
    }
    paths[input_count] = output->path;
    return yk_output_files_check_paths(paths, input_count + 1, input_count);
}

enum {
    TOKENS_BETWEEN_CHECKS = 1 << 14 /* of whether the job is stopped */
};

/* Files on their way to tokens. */
struct encoding {
    const struct yk_tokenize_input *input;
    const struct yk_job_callbacks *job;
    struct yk_arena *arena;
    struct yk_tokenizer *tokenizer;
    struct yk_tokenizer_encoder *encoder;
    struct yk_chunk_boundary_rules cut;
    struct yk_text_files files;
    struct yk_token_ids ids; /* of a chunk */
    int32_t end;             /* put behind each file; −1: none */
    int64_t bytes;

    struct yk_token_shard_writer *writer;                /* where they are written */
    const struct yk_tokenize_list_tokens_request *shown; /* where they are handed out */
    bool in_file;                                        /* that has begun and not ended */
};

static yk_status find_end(struct encoding *encoding)
{
    encoding->end = -1;
    if (!encoding->input->append_end) {
        return YK_OK;
    }
    encoding->end = yk_tokenizer_find_role_id(encoding->tokenizer, YK_TOKEN_END);
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
    YK_TRY(yk_chunk_boundary_rules_from_tokenizer(encoding->tokenizer, &encoding->cut));
    YK_TRY(yk_tokenizer_encoder_create(encoding->tokenizer, &encoding->encoder));
    yk_tokenizer_encoder_set_stop_flag(encoding->encoder, yk_job_stop_flag(encoding->job));
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

/* Encodes a chunk; at the end of a file (length 0), adds the end token. */
static yk_status encode_chunk(struct encoding *encoding, const char *path, const char *text,
                              size_t length)
{
    encoding->ids.count = 0;
    if (length > 0) {
        return yk_tokenizer_encoder_encode(encoding->encoder, text, length, path,
                                           YK_ADD_SPECIAL_TOKENS_NO, &encoding->ids);
    }
    if (encoding->end >= 0) {
        yk_token_ids_add(&encoding->ids, encoding->end);
    }
    return yk_token_ids_status(&encoding->ids);
}

static yk_status walk(struct encoding *encoding,
                      yk_status (*consume)(void *user, const char *path, const char *text,
                                           size_t length))
{
    const struct yk_text_files_chunk_consumer consumer = {.consume = consume, .user = encoding};
    return yk_text_files_read_chunks(&encoding->files, &encoding->cut, "encoding", &consumer,
                                     encoding->job, &encoding->bytes);
}

static yk_status write_chunk(void *user, const char *path, const char *text, size_t length)
{
    struct encoding *encoding = user;
    YK_TRY(encode_chunk(encoding, path, text, length));
    return yk_token_shard_writer_add_tokens(encoding->writer, encoding->ids.items,
                                            encoding->ids.count);
}

static yk_status encode(struct encoding *encoding,
                        const struct yk_tokenize_write_shards_request *request,
                        struct yk_tokenize_write_shards_result *out)
{
    struct yk_token_shard_write_summary summary = {0};
    YK_TRY(open_all(encoding));
    const struct yk_tokenize_output_path output = {
        .path = request->output,
        .is_series = request->shard_tokens > 0,
        .tokenizer = request->input.tokenizer,
    };
    YK_TRY(yk_tokenize_check_output_path(&output, &encoding->files, encoding->arena));
    const struct yk_token_shard_writer_request shards = {
        .path = request->output,
        .vocabulary = yk_tokenizer_vocabulary_size(encoding->tokenizer),
        .shard_tokens = request->shard_tokens,
    };
    YK_TRY(yk_token_shard_writer_create(&shards, &encoding->writer));
    const double start_s = yk_clock_now_s();
    YK_TRY(walk(encoding, write_chunk));
    YK_TRY(yk_token_shard_writer_finish(encoding->writer, &summary));
    out->seconds = yk_clock_now_s() - start_s;
    out->files = encoding->files.count;
    out->bytes = encoding->bytes;
    out->tokens = summary.tokens;
    out->shards = summary.files;
    out->shard_bytes = summary.bytes;
    yk_tokenizer_append_description(encoding->tokenizer, &out->tokenizer);
    return yk_text_status(&out->tokenizer);
}

yk_status yk_tokenize_write_shards(const struct yk_tokenize_write_shards_request *request,
                                   struct yk_tokenize_write_shards_result *out)
{
    struct encoding encoding = {.input = &request->input, .job = request->job};
    const yk_status status = encode(&encoding, request, out);
    close_all(&encoding);
    return status;
}

void yk_tokenize_write_shards_result_free(struct yk_tokenize_write_shards_result *result)
{
    yk_text_free(&result->tokenizer);
    *result = (struct yk_tokenize_write_shards_result){0};
}

static yk_status emit_token(const struct encoding *encoding, int32_t id)
{
    const struct yk_tokenize_list_tokens_request *request = encoding->shown;
    struct yk_text text = {0};
    if (!request->texts) {
        return request->token(request->user, id, NULL);
    }
    yk_status status = yk_tokenizer_decode(encoding->tokenizer, &id, 1, false, &text);
    YK_IF_OK(yk_text_status(&text));
    YK_IF_OK(request->token(request->user, id, yk_text_chars(&text)));
    yk_text_free(&text);
    return status;
}

static yk_status show_chunk(void *user, const char *path, const char *text, size_t length)
{
    struct encoding *encoding = user;
    const struct yk_tokenize_list_tokens_request *request = encoding->shown;
    YK_TRY(encode_chunk(encoding, path, text, length));
    if (!encoding->in_file) {
        YK_TRY(request->begin(request->user, path));
    }
    for (int64_t i = 0; i < encoding->ids.count; i++) {
        YK_TRY(emit_token(encoding, encoding->ids.items[i]));
        if (i % TOKENS_BETWEEN_CHECKS == 0 && yk_job_stop_requested(encoding->job)) {
            return yk_fail(YK_ERROR_STOPPED, "stopped between two tokens");
        }
    }
    encoding->in_file = length > 0;
    return encoding->in_file ? YK_OK : request->end(request->user);
}

yk_status yk_tokenize_list_tokens(const struct yk_tokenize_list_tokens_request *request)
{
    struct encoding encoding = {
        .input = &request->input,
        .job = request->job,
        .shown = request,
    };
    yk_status status = open_all(&encoding);
    YK_IF_OK(walk(&encoding, show_chunk));
    close_all(&encoding);
    return status;
}

enum {
    CHUNK_TOKENS = 1 << 16,
    FURTHEST = 1 << 10 /* number of last tokens that are searched for a place to cut */
};

/* A shard on its way to text. */
struct decoding {
    const struct yk_tokenize_decode_shard_request *request;
    struct yk_tokenizer *tokenizer;
    struct yk_token_shard *shard;
    struct yk_token_ids ids; /* that were read and not handed out */
    struct yk_text text;     /* of one or two tokens */
    int32_t *chunk;          /* (CHUNK_TOKENS) that are read at a time */
};

/* The text of `count` tokens, until the next call. */
static yk_status text_of(struct decoding *decoding, const int32_t *ids, int64_t count)
{
    decoding->text.length = 0;
    YK_TRY(yk_tokenizer_decode(decoding->tokenizer, ids, count, false, &decoding->text));
    return yk_text_status(&decoding->text);
}

/*
 * Whether the tokens before `ids` + 1 and those from there on can be decoded apart: their texts are
 * the text of both, with no space between them or dropped, and the second begins with a character
 * of one byte, before which any other is finished or broken for good.
 */
static yk_status can_split_after(struct decoding *decoding, const int32_t *ids, bool *out)
{
    struct yk_text apart = {0};
    yk_status status = text_of(decoding, ids, 1);
    yk_text_add_bytes(&apart, yk_text_chars(&decoding->text), decoding->text.length);
    YK_IF_OK(text_of(decoding, ids + 1, 1));
    const bool plain = status == YK_OK && decoding->text.length > 0 &&
                       (unsigned char)decoding->text.bytes[0] < 0x80;
    yk_text_add_bytes(&apart, yk_text_chars(&decoding->text), decoding->text.length);
    YK_IF_OK(text_of(decoding, ids, 2));
    YK_IF_OK(yk_text_status(&apart));
    *out = status == YK_OK && plain && decoding->text.length == apart.length &&
           memcmp(decoding->text.bytes, apart.bytes, apart.length) == 0;
    yk_text_free(&apart);
    return status;
}

/* Number of buffered tokens whose text can be emitted now. */
static yk_status count_emittable_tokens(struct decoding *decoding, int64_t *out)
{
    const int64_t count = decoding->ids.count;
    const int64_t last = count > FURTHEST ? count - FURTHEST : 1;
    bool found = false;
    *out = 0;
    for (int64_t i = count - 1; i >= last && !found; i--) {
        YK_TRY(can_split_after(decoding, decoding->ids.items + i - 1, &found));
        *out = found ? i : 0;
    }
    return YK_OK;
}

static yk_status emit_text(struct decoding *decoding, int64_t count)
{
    struct yk_token_ids *ids = &decoding->ids;
    YK_TRY(text_of(decoding, ids->items, count));
    YK_TRY(decoding->request->text(decoding->request->user, yk_text_chars(&decoding->text),
                                   decoding->text.length));
    memmove(ids->items, ids->items + count, (size_t)(ids->count - count) * sizeof *ids->items);
    ids->count -= count;
    return YK_OK;
}

static yk_status check_ids(const struct decoding *decoding, int64_t first, int64_t count)
{
    const int32_t *chunk = decoding->chunk;
    const int32_t known = yk_tokenizer_vocabulary_size(decoding->tokenizer);
    for (int64_t i = 0; i < count; i++) {
        if (chunk[i] >= known) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: token %" PRId64 " is %" PRId32 "; the tokenizer has 0 to %" PRId32
                           ": it is another one that made these",
                           decoding->request->shard, first + i, chunk[i], known - 1);
        }
    }
    return YK_OK;
}

static yk_status decode(struct decoding *decoding)
{
    const int64_t total = yk_token_shard_token_count(decoding->shard);
    decoding->chunk = malloc(CHUNK_TOKENS * sizeof *decoding->chunk);
    YK_TRY_ALLOCATED(decoding->chunk);
    for (int64_t first = 0; first < total; first += CHUNK_TOKENS) {
        const int64_t left = total - first;
        const int64_t count = left < CHUNK_TOKENS ? left : CHUNK_TOKENS;
        YK_TRY(yk_token_shard_read_tokens(decoding->shard, first, count, decoding->chunk));
        YK_TRY(check_ids(decoding, first, count));
        yk_token_ids_add_all(&decoding->ids, decoding->chunk, count);
        YK_TRY(yk_token_ids_status(&decoding->ids));
        int64_t ready = decoding->ids.count;
        if (count < left) {
            YK_TRY(count_emittable_tokens(decoding, &ready));
        }
        if (ready > 0) {
            YK_TRY(emit_text(decoding, ready));
        }
    }
    return YK_OK;
}

yk_status yk_tokenize_decode_shard(const struct yk_tokenize_decode_shard_request *request)
{
    struct decoding decoding = {.request = request};
    yk_status status = yk_tokenizer_open(request->tokenizer, &decoding.tokenizer);
    YK_IF_OK(yk_token_shard_open(request->shard, &decoding.shard));
    YK_IF_OK(decode(&decoding));
    free(decoding.chunk);
    yk_token_ids_free(&decoding.ids);
    yk_text_free(&decoding.text);
    yk_token_shard_close(decoding.shard);
    yk_tokenizer_destroy(decoding.tokenizer);
    return status;
}
