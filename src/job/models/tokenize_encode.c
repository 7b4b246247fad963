#include "base/arena.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "data/token_shard_write.h"
#include "data/tokenizer.h"
#include "job/models/tokenize.h"
#include "job/text_files.h"

#include <inttypes.h>

enum {
    MOST_SHOWN_BYTES = 1 << 22,
    TOKENS_BETWEEN_LOOKS = 1 << 14
};

/* Files on their way to tokens. */
struct encoding {
    const struct yk_tokenize_words *words;
    struct yk_arena *arena;
    struct yk_tokenizer *tokenizer;
    struct yk_encoder *encoder;
    struct yk_text_cut cut;
    struct yk_text_files files;
    struct yk_ids ids;
    const atomic_bool *stop;
    int32_t end; /* put behind each file; −1: none */
    int64_t bytes;

    struct yk_token_shard_writer *writer;
    struct yk_token_shards_written written;
    double seconds;

    struct yk_text *shown;
    bool printed;         /* some of it, and what is shown is the rest */
    int32_t shown_files;  /* begun */
    int64_t shown_tokens; /* of the file that is shown; −1 between files */
};

static yk_status open_all(struct encoding *encoding)
{
    const struct yk_tokenize_words *words = encoding->words;
    YK_TRY(yk_arena_create(&encoding->arena));
    YK_TRY(yk_tokenizer_open(words->tokenizer, &encoding->tokenizer));
    YK_TRY(yk_text_cut_of(encoding->tokenizer, &encoding->cut));
    YK_TRY(yk_encoder_create(encoding->tokenizer, &encoding->encoder));
    encoding->stop = yk_interrupt_watch_termination();
    yk_encoder_watch(encoding->encoder, encoding->stop);
    encoding->end = -1;
    if (words->append_end) {
        encoding->end = yk_tokenizer_role(encoding->tokenizer, YK_TOKEN_END);
        if (encoding->end < 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s: no token ends a text (</s>, <|end_of_text|>, <|endoftext|>, "
                           "[SEP]); leave --append-end out",
                           words->tokenizer);
        }
    }
    return yk_text_files_list(&words->files, encoding->arena, &encoding->files);
}

static void close_all(struct encoding *encoding)
{
    yk_token_shard_writer_destroy(encoding->writer);
    yk_ids_free(&encoding->ids);
    yk_encoder_destroy(encoding->encoder);
    yk_tokenizer_destroy(encoding->tokenizer);
    yk_arena_destroy(encoding->arena);
}

/* The tokens of a piece, or what comes at the end of a file. */
static yk_status encode_piece(struct encoding *encoding, const char *path, const char *text,
                              size_t length)
{
    encoding->ids.count = 0;
    if (length > 0) {
        return yk_encoder_add(encoding->encoder, text, length, path, YK_FRAMING_NONE,
                              &encoding->ids);
    }
    if (encoding->end >= 0) {
        yk_ids_add(&encoding->ids, encoding->end);
    }
    return yk_ids_status(&encoding->ids);
}

static yk_status write_piece(void *user, const char *path, const char *text, size_t length)
{
    struct encoding *encoding = user;
    YK_TRY(encode_piece(encoding, path, text, length));
    return yk_token_shard_writer_add(encoding->writer, encoding->ids.items, encoding->ids.count);
}

static yk_status encode(struct encoding *encoding)
{
    const struct yk_text_taker taker = {.take = write_piece, .user = encoding};
    YK_TRY(open_all(encoding));
    YK_TRY(yk_tokenize_check_output(encoding->words, &encoding->files, encoding->arena));
    const struct yk_token_shard_request request = {
        .path = encoding->words->output,
        .vocabulary = yk_tokenizer_count(encoding->tokenizer),
        .shard_tokens = encoding->words->shard_tokens,
    };
    YK_TRY(yk_token_shard_writer_create(&request, &encoding->writer));
    const double start_s = yk_clock_now_s();
    YK_TRY(
        yk_text_files_walk(&encoding->files, &encoding->cut, "encoding", &taker, &encoding->bytes));
    YK_TRY(yk_token_shard_writer_finish(encoding->writer, &encoding->written));
    encoding->seconds = yk_clock_now_s() - start_s;
    return YK_OK;
}

static void write_json(const struct encoding *encoding, struct yk_text *out)
{
    yk_text_add(out, "{\"yoke\":1,\"kind\":\"tokenized\",\"output\":");
    yk_text_add_json(out, encoding->words->output);
    yk_text_addf(out,
                 ",\"files\":%" PRId32 ",\"bytes\":%" PRId64 ",\"tokens\":%" PRId64
                 ",\"shards\":%" PRId32 ",\"shard_bytes\":%" PRId64 ",\"seconds\":",
                 encoding->files.count, encoding->bytes, encoding->written.tokens,
                 encoding->written.files, encoding->written.bytes);
    yk_text_add_number(out, encoding->seconds);
    yk_text_add(out, "}\n");
}

static void write_text(const struct encoding *encoding, struct yk_text *out)
{
    char size[YK_UNITS_SIZE];
    char speed[YK_UNITS_SIZE];
    const struct yk_token_shards_written *written = &encoding->written;
    yk_units_format((double)written->bytes, YK_UNIT_BYTES, size);
    yk_units_format((double)encoding->bytes / encoding->seconds, YK_UNIT_BYTES_PER_S, speed);
    yk_text_addf(out, "%s\n\n  tokenizer  ", encoding->words->output);
    yk_tokenizer_describe(encoding->tokenizer, out);
    yk_text_add(out, "\n  text       ");
    yk_text_files_describe(&encoding->files, encoding->bytes, out);
    yk_text_addf(out, "\n  tokens     %" PRId64 ", %.2f bytes of text each\n", written->tokens,
                 (double)encoding->bytes / (double)written->tokens);
    yk_text_addf(out, "  shards     %" PRId32 ", %s\n", written->files, size);
    yk_text_addf(out, "  speed      %s\n", speed);
}

yk_status yk_tokenize_encode(const struct yk_tokenize_words *words, struct yk_text *out)
{
    struct encoding encoding = {.words = words};
    yk_status status = encode(&encoding);
    if (status == YK_OK) {
        if (words->json) {
            write_json(&encoding, out);
        } else {
            write_text(&encoding, out);
        }
        status = yk_text_status(out);
    }
    close_all(&encoding);
    return status;
}

static yk_status add_token(struct encoding *encoding, int32_t id)
{
    struct yk_text *out = encoding->shown;
    const bool first = encoding->shown_tokens++ == 0;
    if (!encoding->words->json) {
        yk_text_addf(out, "%s%" PRId32, first ? "" : " ", id);
        return YK_OK;
    }
    struct yk_text token = {0};
    const yk_status status = yk_tokenizer_decode(encoding->tokenizer, &id, 1, false, &token);
    yk_text_addf(out, "%s{\"id\":%" PRId32 ",\"text\":", first ? "" : ",", id);
    yk_text_add_json(out, yk_text_chars(&token));
    yk_text_add(out, "}");
    yk_text_free(&token);
    return status;
}

static void begin_file(struct encoding *encoding, const char *path)
{
    if (encoding->words->json) {
        yk_text_add(encoding->shown, encoding->shown_files > 0 ? ",{\"path\":" : "{\"path\":");
        yk_text_add_json(encoding->shown, path);
        yk_text_add(encoding->shown, ",\"tokens\":[");
    }
    encoding->shown_files++;
    encoding->shown_tokens = 0;
}

/* What is shown is held back until it is complete, as long as it is short. */
static yk_status print_long(struct encoding *encoding)
{
    struct yk_text *shown = encoding->shown;
    YK_TRY(yk_text_status(shown));
    if (shown->length < MOST_SHOWN_BYTES) {
        return YK_OK;
    }
    YK_TRY(yk_terminal_print(shown));
    encoding->printed = true;
    shown->length = 0;
    return YK_OK;
}

static yk_status show_piece(void *user, const char *path, const char *text, size_t length)
{
    struct encoding *encoding = user;
    YK_TRY(encode_piece(encoding, path, text, length));
    if (encoding->shown_tokens < 0) {
        begin_file(encoding, path);
    }
    for (int64_t i = 0; i < encoding->ids.count; i++) {
        YK_TRY(add_token(encoding, encoding->ids.items[i]));
        if (i % TOKENS_BETWEEN_LOOKS == 0) {
            YK_TRY(print_long(encoding));
            if (atomic_load(encoding->stop)) {
                return yk_fail(YK_ERROR_STOPPED, "stopped between two tokens");
            }
        }
    }
    if (length == 0) {
        yk_text_add(encoding->shown, encoding->words->json ? "]}" : "\n");
        encoding->shown_tokens = -1;
    }
    return yk_text_status(encoding->shown);
}

yk_status yk_tokenize_show(const struct yk_tokenize_words *words, struct yk_text *out)
{
    struct encoding encoding = {.words = words, .shown = out, .shown_tokens = -1};
    const struct yk_text_taker taker = {.take = show_piece, .user = &encoding};
    yk_text_add(out, words->json ? "{\"yoke\":1,\"kind\":\"tokens\",\"texts\":[" : "");
    yk_status status = open_all(&encoding);
    if (status == YK_OK) {
        status =
            yk_text_files_walk(&encoding.files, &encoding.cut, "encoding", &taker, &encoding.bytes);
    }
    yk_text_add(out, words->json ? "]}\n" : "");
    close_all(&encoding);
    if (status == YK_ERROR_STOPPED && encoding.printed) {
        return yk_fail(YK_ERROR_STOPPED, "stopped; the tokens are not complete");
    }
    return status == YK_OK ? yk_text_status(out) : status;
}
