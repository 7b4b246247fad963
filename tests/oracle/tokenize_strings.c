/*
 * Tokenize strings: encodes and decodes batches of strings, for tests/oracle/compare_tokenizers.py
 * to compare with Hugging Face's tokenizers.
 *
 *   oracle-tokenize_strings TOKENIZER
 *
 * Standard input is a sequence of batches, standard output the answers to them. All numbers are 32
 * bits of this machine, and a list of strings is the lengths of all of them and then their bytes:
 *
 *   batch    count, whether special tokens are added, whether spans are wanted, count strings
 *   answer   count numbers of ids, all ids, if wanted the begin and the end of all spans in bytes,
 *            count strings decoded, count strings decoded without special tokens
 *
 * A string that cannot be encoded has −1 ids; its decoded strings are the error message.
 */
#include "support/support.h"
#include "tokenizer/tokenizer_encoder.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_STRINGS = 1 << 20,
    MAX_BYTES = 1 << 30
};

/* A growing list of strings, as it is written. */
struct strings {
    int32_t *lengths;
    struct yk_text bytes;
};

struct request {
    const struct yk_tokenizer *tokenizer;
    struct yk_tokenizer_encoder *encoder;
    enum yk_add_special_tokens special;
    bool spans;
};

struct answer {
    int32_t *id_counts;
    struct yk_token_ids ids;
    struct yk_token_spans spans;
    struct strings whole;
    struct strings bare; /* without special tokens */
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

static bool read_numbers(int32_t *out, size_t count)
{
    return fread(out, sizeof *out, count, stdin) == count;
}

static void write_numbers(const int32_t *numbers, size_t count)
{
    assert_int_equal(fwrite(numbers, sizeof *numbers, count, stdout), count);
}

static void write_strings(const struct strings *strings, size_t count)
{
    assert_ok(yk_text_status(&strings->bytes));
    write_numbers(strings->lengths, count);
    assert_int_equal(fwrite(yk_text_chars(&strings->bytes), 1, strings->bytes.length, stdout),
                     strings->bytes.length);
}

/* The length of what string `index` added to the bytes. */
static void close_string(struct strings *strings, size_t index, size_t begin)
{
    strings->lengths[index] = (int32_t)(strings->bytes.length - begin);
}

static void decode(const struct yk_tokenizer *tokenizer, const int32_t *ids, int64_t count,
                   bool skip_special, size_t index, struct strings *out)
{
    const size_t begin = out->bytes.length;
    assert_ok(yk_tokenizer_decode(tokenizer, ids, count, skip_special, &out->bytes));
    close_string(out, index, begin);
}

static void add_message(size_t index, struct strings *out)
{
    const size_t begin = out->bytes.length;
    yk_text_add(&out->bytes, yk_status_message());
    close_string(out, index, begin);
}

static yk_status encode(const struct request *request, const char *text, size_t length,
                        struct answer *out)
{
    return request->spans
               ? yk_tokenizer_encoder_encode_with_offsets(request->encoder, text, length, "string",
                                                          request->special, &out->ids, &out->spans)
               : yk_tokenizer_encoder_encode(request->encoder, text, length, "string",
                                             request->special, &out->ids);
}

static void process(const struct request *request, const char *text, size_t length, size_t index,
                    struct answer *out)
{
    const int64_t before = out->ids.count;
    if (encode(request, text, length, out) != YK_OK) {
        out->ids.count = before;
        out->spans.count = request->spans ? before : 0;
        out->id_counts[index] = -1;
        add_message(index, &out->whole);
        add_message(index, &out->bare);
        return;
    }
    const int64_t count = out->ids.count - before;
    out->id_counts[index] = (int32_t)count;
    decode(request->tokenizer, out->ids.items + before, count, false, index, &out->whole);
    decode(request->tokenizer, out->ids.items + before, count, true, index, &out->bare);
}

static void write_spans(const struct answer *answer)
{
    assert_int_equal(answer->spans.count, answer->ids.count);
    for (int64_t i = 0; i < answer->spans.count; i++) {
        const int32_t ends[] = {(int32_t)answer->spans.items[i].begin,
                                (int32_t)answer->spans.items[i].end};
        write_numbers(ends, 2);
    }
}

static void answer_batch(const struct request *request, size_t count)
{
    int32_t *lengths = allocate(count, sizeof *lengths);
    assert_true(read_numbers(lengths, count));
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += (size_t)lengths[i];
    }
    assert_true(total <= MAX_BYTES);
    char *bytes = allocate(total, 1);
    assert_int_equal(fread(bytes, 1, total, stdin), total);
    struct answer answer = {
        .id_counts = allocate(count, sizeof *answer.id_counts),
        .whole.lengths = allocate(count, sizeof *answer.whole.lengths),
        .bare.lengths = allocate(count, sizeof *answer.bare.lengths),
    };
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        process(request, bytes + at, (size_t)lengths[i], i, &answer);
        at += (size_t)lengths[i];
    }
    write_numbers(answer.id_counts, count);
    write_numbers(answer.ids.items, (size_t)answer.ids.count);
    if (request->spans) {
        write_spans(&answer);
    }
    write_strings(&answer.whole, count);
    write_strings(&answer.bare, count);
    assert_int_equal(fflush(stdout), 0);
    yk_token_ids_free(&answer.ids);
    yk_token_spans_free(&answer.spans);
    yk_text_free(&answer.whole.bytes);
    yk_text_free(&answer.bare.bytes);
    free(answer.whole.lengths);
    free(answer.bare.lengths);
    free(answer.id_counts);
    free(bytes);
    free(lengths);
}

int main(int argument_count, char **arguments)
{
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_tokenizer_encoder *encoder = NULL;
    int32_t header[3] = {0};
    if (argument_count != 2) {
        (void)fprintf(stderr, "usage: %s TOKENIZER\n", arguments[0]);
        return 2;
    }
    if (yk_tokenizer_open(arguments[1], &tokenizer) != YK_OK ||
        yk_tokenizer_encoder_create(tokenizer, &encoder) != YK_OK) {
        (void)fprintf(stderr, "%s\n", yk_status_message());
        yk_tokenizer_destroy(tokenizer);
        return 4;
    }
    while (read_numbers(header, 3)) {
        const struct request request = {
            .tokenizer = tokenizer,
            .encoder = encoder,
            .special = header[1] ? YK_ADD_SPECIAL_TOKENS_YES : YK_ADD_SPECIAL_TOKENS_NO,
            .spans = header[2],
        };
        assert_in_range(header[0], 0, MAX_STRINGS);
        answer_batch(&request, (size_t)header[0]);
    }
    yk_tokenizer_encoder_destroy(encoder);
    yk_tokenizer_destroy(tokenizer);
    return 0;
}
