#include "data/corpus.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/number.h"
#include "base/units.h"
#include "base/utf8.h"
#include "data/file_list.h"
#include "data/instructions.h"
#include "data/text_reader.h"
#include "data/token_shard.h"
#include "tokenizer/tokenizer_encoder.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CHUNK_TOKENS = 1 << 14 /* tokens per read when all tokens are scanned */
};

struct yk_corpus {
    int64_t count;

    /* For text: ids of two bytes if they suffice, else of four bytes. */
    const struct yk_tokenizer *tokenizer;
    struct yk_tokenizer *own; /* the tokenizer, if the corpus owns it; else NULL */
    uint16_t *narrow;
    uint32_t *wide;
    int32_t file_count;
    uint64_t text_bytes;

    struct yk_token_shard **shards;
    int64_t *shard_starts; /* (shard_count + 1) first token of each; the last one is the end */
    int32_t shard_count;
};

/* The concatenated texts of several files. */
struct joined {
    struct yk_text text;
    const char **paths;
    size_t *starts; /* (count + 1) offset of each file; the last one is the end of the text */
    int32_t count;
};

/* Appends a file to the text. It is an error if the file is not text. */
static yk_status append_file(const char *path, bool by_name, struct joined *out)
{
    struct yk_text *text = &out->text;
    const size_t start = text->length;
    YK_TRY(yk_file_read_training_data(path, text));
    const size_t length = text->length - start;
    const char *bytes = yk_text_chars(text) + start;
    const size_t valid = yk_utf8_valid_prefix_length(bytes, length);
    if (valid < length) {
        return yk_character_vocabulary_unknown_error(bytes, length, valid, path);
    }
    if (length == 0) {
        return YK_OK;
    }
    /* This is the first look at the content of a pipe. */
    const size_t max = YK_INSTRUCTION_FILES_BEGINNING_BYTES;
    if (by_name && yk_instruction_files_recognize_beginning(bytes, length < max ? length : max)) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: instructions are not read from a pipe; name the file that they are in",
                       path);
    }
    out->paths[out->count] = path;
    out->starts[out->count] = start;
    out->count++;
    out->starts[out->count] = text->length;
    return YK_OK;
}

/* Truncates the text to its first part, at the end of a character. */
static void truncate_text(struct joined *joined, double part)
{
    size_t length = joined->text.length;
    if (part < 1) {
        length = (size_t)((double)length * part);
    }
    while (length > 0 && length < joined->text.length &&
           ((unsigned char)joined->text.bytes[length] & 0xc0) == 0x80) {
        length--;
    }
    while (joined->count > 0 && joined->starts[joined->count - 1] >= length) {
        joined->count--;
    }
    joined->text.length = length;
    joined->starts[joined->count] = length;
}

/* Stores ids in two bytes if that is enough, else in four. */
static yk_status store_ids(struct yk_corpus *corpus, const struct yk_token_ids *ids)
{
    YK_TRY(yk_token_ids_status(ids));
    if (ids->count == 0) {
        return YK_OK;
    }
    corpus->count = ids->count;
    if (yk_tokenizer_vocabulary_size(corpus->tokenizer) > UINT16_MAX + 1) {
        corpus->wide = calloc((size_t)ids->count, sizeof *corpus->wide);
    } else {
        corpus->narrow = calloc((size_t)ids->count, sizeof *corpus->narrow);
    }
    if (!corpus->narrow && !corpus->wide) {
        return yk_fail_out_of_memory();
    }
    for (int64_t i = 0; i < ids->count; i++) {
        if (corpus->narrow) {
            corpus->narrow[i] = (uint16_t)ids->items[i];
        } else {
            corpus->wide[i] = (uint32_t)ids->items[i];
        }
    }
    return YK_OK;
}

/* Uses the tokenizer of the request, or makes one from the characters of the text. */
static yk_status choose_tokenizer(struct yk_corpus *corpus, const struct yk_corpus_request *request,
                                  const struct joined *joined)
{
    struct yk_character_vocabulary *vocabulary = NULL;
    corpus->tokenizer = request->tokenizer;
    if (request->tokenizer) {
        return YK_OK;
    }
    YK_TRY(yk_character_vocabulary_build(yk_text_chars(&joined->text), joined->text.length,
                                         request->path, &vocabulary));
    const yk_status status = yk_tokenizer_create_character_level(vocabulary, &corpus->own);
    yk_character_vocabulary_destroy(vocabulary);
    corpus->tokenizer = corpus->own;
    return status;
}

static yk_status encode_all(struct yk_corpus *corpus, const struct yk_corpus_request *request,
                            const struct joined *joined)
{
    struct yk_tokenizer_encoder *encoder = NULL;
    struct yk_token_ids ids = {0};
    if (joined->text.length == 0) {
        return yk_fail(YK_ERROR_INPUT, "%s%s holds no text",
                       request->part < 1 ? "that part of " : "", request->path);
    }
    YK_TRY(choose_tokenizer(corpus, request, joined));
    yk_status status = yk_tokenizer_encoder_create(corpus->tokenizer, &encoder);
    for (int32_t i = 0; status == YK_OK && i < joined->count; i++) {
        status =
            yk_tokenizer_encoder_encode(encoder, yk_text_chars(&joined->text) + joined->starts[i],
                                        joined->starts[i + 1] - joined->starts[i], joined->paths[i],
                                        YK_ADD_SPECIAL_TOKENS_NO, &ids);
    }
    YK_IF_OK(store_ids(corpus, &ids));
    yk_tokenizer_encoder_destroy(encoder);
    yk_token_ids_free(&ids);
    corpus->file_count = joined->count;
    corpus->text_bytes = joined->text.length;
    return status;
}

static yk_status open_texts(struct yk_corpus *corpus, const struct yk_corpus_request *request,
                            const struct yk_file_list *files, bool by_name, struct yk_arena *arena)
{
    struct joined joined = {0};
    yk_status status = YK_OK;
    YK_TRY_NEW(arena, joined.paths, files->count);
    YK_TRY_NEW(arena, joined.starts, (size_t)files->count + 1);
    for (int32_t i = 0; i < files->count; i++) {
        YK_TRY_GOTO(append_file(files->paths[i], by_name, &joined), done);
    }
    truncate_text(&joined, request->part);
    status = encode_all(corpus, request, &joined);
done:
    yk_text_free(&joined.text);
    return status;
}

static yk_status open_shards(struct yk_corpus *corpus, const struct yk_corpus_request *request,
                             const struct yk_file_list *files)
{
    int64_t total = 0;
    corpus->shards = calloc((size_t)files->count, sizeof(struct yk_token_shard *));
    corpus->shard_starts = calloc((size_t)files->count + 1, sizeof *corpus->shard_starts);
    YK_TRY_ALLOCATED(corpus->shards && corpus->shard_starts);
    for (int32_t i = 0; i < files->count; i++) {
        YK_TRY(yk_token_shard_open(files->paths[i], &corpus->shards[i]));
        total += yk_token_shard_token_count(corpus->shards[i]);
        corpus->shard_count++;
        corpus->shard_starts[corpus->shard_count] = total;
    }
    corpus->count = request->part < 1 ? (int64_t)((double)total * request->part) : total;
    if (corpus->count < 1) {
        return yk_fail(YK_ERROR_INPUT, "that part of %s holds no tokens", request->path);
    }
    return YK_OK;
}

static bool are_shards(const struct yk_file_list *files)
{
    for (int32_t i = 0; i < files->count; i++) {
        if (!yk_text_ends_with(files->paths[i], ".bin")) {
            return false;
        }
    }
    return files->count > 0;
}

static yk_status fill(struct yk_corpus *corpus, const struct yk_corpus_request *request,
                      struct yk_arena *arena)
{
    struct stat info;
    struct yk_file_list files = {.paths = &request->path, .count = 1};
    if (!(request->part > 0 && request->part <= 1)) {
        return yk_fail(YK_ERROR_INPUT, "%g of %s; a part is above 0 and at most 1", request->part,
                       request->path);
    }
    if (stat(request->path, &info) != 0) {
        return yk_fail(YK_ERROR_INPUT, "cannot open %s: %s", request->path, strerror(errno));
    }
    const bool folder = S_ISDIR(info.st_mode);
    if (folder) {
        YK_TRY(yk_file_list_read_folder(request->path, arena, &files));
    }
    if (are_shards(&files)) {
        return open_shards(corpus, request, &files);
    }
    if (folder) {
        YK_TRY(yk_text_reader_select_text_files(request->path, arena, &files));
    }
    return open_texts(corpus, request, &files, !folder, arena);
}

yk_status yk_corpus_open(const struct yk_corpus_request *request, struct yk_corpus **out)
{
    struct yk_arena *arena = NULL;
    struct yk_corpus *corpus = calloc(1, sizeof *corpus);
    yk_status status = corpus ? yk_arena_create(&arena) : yk_fail_out_of_memory();
    YK_IF_OK(fill(corpus, request, arena));
    yk_arena_destroy(arena);
    YK_TRY_OR_CLEAN_UP(status, yk_corpus_close(corpus));
    *out = corpus;
    return YK_OK;
}

void yk_corpus_close(struct yk_corpus *corpus)
{
    if (!corpus) {
        return;
    }
    for (int32_t i = 0; i < corpus->shard_count; i++) {
        yk_token_shard_close(corpus->shards[i]);
    }
    free(corpus->shards);
    free(corpus->shard_starts);
    free(corpus->narrow);
    free(corpus->wide);
    yk_tokenizer_destroy(corpus->own);
    free(corpus);
}

const struct yk_tokenizer *yk_corpus_tokenizer(const struct yk_corpus *corpus)
{
    return corpus->tokenizer;
}

yk_status yk_corpus_find_max_token_id(const struct yk_corpus *corpus, int32_t *out)
{
    if (corpus->tokenizer) {
        *out = yk_tokenizer_vocabulary_size(corpus->tokenizer) - 1;
        return YK_OK;
    }
    int32_t largest = 0;
    int32_t *chunk = malloc(CHUNK_TOKENS * sizeof *chunk);
    yk_status status = chunk ? YK_OK : yk_fail_out_of_memory();
    for (int64_t first = 0; status == YK_OK && first < corpus->count; first += CHUNK_TOKENS) {
        const int64_t used = yk_number_min(corpus->count - first, CHUNK_TOKENS);
        status = yk_corpus_read_tokens(corpus, first, used, chunk);
        for (int64_t i = 0; status == YK_OK && i < used; i++) {
            largest = chunk[i] > largest ? chunk[i] : largest;
        }
    }
    free(chunk);
    if (status == YK_OK) {
        *out = largest;
    }
    return status;
}

static yk_status read_shards(const struct yk_corpus *corpus, int64_t first, int64_t count,
                             int32_t *out)
{
    const int64_t *starts = corpus->shard_starts;
    int64_t i = yk_number_find_interval(starts, corpus->shard_count, first);
    for (; count > 0; i++) {
        const int64_t used = yk_number_min(count, starts[i + 1] - first);
        YK_TRY(yk_token_shard_read_tokens(corpus->shards[i], first - starts[i], used, out));
        out += used;
        first += used;
        count -= used;
    }
    return YK_OK;
}

yk_status yk_corpus_read_tokens(const struct yk_corpus *corpus, int64_t first, int64_t count,
                                int32_t *out)
{
    if (first < 0 || count < 0 || first > corpus->count || count > corpus->count - first) {
        return yk_fail(YK_ERROR_INPUT,
                       "%" PRId64 " tokens from %" PRId64 " on are asked for; there are %" PRId64,
                       count, first, corpus->count);
    }
    if (corpus->shards) {
        return read_shards(corpus, first, count, out);
    }
    for (int64_t i = 0; i < count; i++) {
        out[i] = corpus->narrow ? corpus->narrow[first + i] : (int32_t)corpus->wide[first + i];
    }
    return YK_OK;
}

void yk_corpus_describe(const struct yk_corpus *corpus, struct yk_text *out)
{
    if (corpus->shards) {
        yk_text_addf(out, "%" PRId32 " shard%s, %" PRId64 " tokens", corpus->shard_count,
                     yk_text_plural_suffix(corpus->shard_count), corpus->count);
        return;
    }
    const bool by_character = yk_tokenizer_get_character_vocabulary(corpus->tokenizer) != NULL;
    yk_text_addf(out, "%" PRId32 " file%s, %s, %" PRId64 " %s", corpus->file_count,
                 yk_text_plural_suffix(corpus->file_count),
                 YK_UNITS_FORMAT_TEMPORARY((double)corpus->text_bytes, YK_UNIT_BYTES),
                 by_character ? yk_tokenizer_vocabulary_size(corpus->tokenizer) : corpus->count,
                 by_character ? "characters" : "tokens");
}

struct yk_corpus_range yk_corpus_full_range(const struct yk_corpus *corpus)
{
    return (struct yk_corpus_range){.corpus = corpus, .first = 0, .count = corpus->count};
}

void yk_corpus_split_train_eval(const struct yk_corpus *corpus, double part,
                                struct yk_corpus_range *training,
                                struct yk_corpus_range *evaluation)
{
    assert(part >= 0 && part < 1);
    const int64_t kept = (int64_t)((double)corpus->count * part);
    *training = (struct yk_corpus_range){.corpus = corpus, .count = corpus->count - kept};
    *evaluation =
        (struct yk_corpus_range){.corpus = corpus, .first = corpus->count - kept, .count = kept};
}
