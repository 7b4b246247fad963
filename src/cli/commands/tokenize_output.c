#include "cli/commands/tokenize_output.h"

#include "base/json_write.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/terminal.h"

#include <inttypes.h>

enum {
    MOST_HELD_BYTES = 1 << 22,
    TOKENS_BETWEEN_LOOKS = 1 << 14
};

/* "3 files, 1.2MB" */
static void add_files(int32_t files, int64_t bytes, struct yk_text *out)
{
    char size[YK_UNITS_SIZE];
    yk_units_format((double)bytes, YK_UNIT_BYTES, size);
    yk_text_addf(out, "%" PRId32 " file%s, %s", files, yk_text_plural(files), size);
}

static void learned_text(const struct yk_tokenize_learn_request *request,
                         const struct yk_tokenize_learn_result *result, struct yk_text *out)
{
    char time[YK_UNITS_SIZE];
    yk_units_format(result->seconds, YK_UNIT_SECONDS, time);
    yk_text_addf(out, "%s\n\n  text    ", request->output);
    add_files(result->files, result->bytes, out);
    yk_text_addf(out, ", %" PRId32 " different words\n", result->words);
    yk_text_addf(out, "  tokens  %" PRId32 ": %" PRId32 " special, %d bytes, %" PRId32 " learned\n",
                 result->tokens, result->special, YK_TOKENIZE_BYTES,
                 result->tokens - result->special - YK_TOKENIZE_BYTES);
    yk_text_addf(out, "  took    %s\n", time);
    if (result->tokens < request->tokens) {
        const int64_t times = result->least_times > 1 ? result->least_times : 1;
        yk_text_addf(out,
                     "\nno pair was left that stands at least %" PRId64 " time%s; a longer text "
                     "gives more tokens\n",
                     times, yk_text_plural(times));
    }
}

static void learned_json(const struct yk_tokenize_learn_request *request,
                         const struct yk_tokenize_learn_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "learned tokenizer");
    yk_json_write_string(&json, "output", request->output);
    yk_json_write_integer(&json, "tokens", result->tokens);
    yk_json_write_integer(&json, "special", result->special);
    yk_json_write_integer(&json, "merges", result->merges);
    yk_json_write_integer(&json, "files", result->files);
    yk_json_write_integer(&json, "bytes", result->bytes);
    yk_json_write_integer(&json, "words", result->words);
    yk_json_write_number(&json, "seconds", result->seconds);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
}

void yk_tokenize_output_learned(const struct yk_tokenize_learn_request *request,
                                const struct yk_tokenize_learn_result *result, bool json,
                                struct yk_text *out)
{
    if (json) {
        learned_json(request, result, out);
    } else {
        learned_text(request, result, out);
    }
}

static void encoded_text(const struct yk_tokenize_encode_request *request,
                         const struct yk_tokenize_encode_result *result, struct yk_text *out)
{
    char size[YK_UNITS_SIZE];
    char speed[YK_UNITS_SIZE];
    yk_units_format((double)result->shard_bytes, YK_UNIT_BYTES, size);
    yk_units_format((double)result->bytes / result->seconds, YK_UNIT_BYTES_PER_S, speed);
    yk_text_addf(out, "%s\n\n  tokenizer  %s", request->output, yk_text_chars(&result->tokenizer));
    yk_text_add(out, "\n  text       ");
    add_files(result->files, result->bytes, out);
    yk_text_addf(out, "\n  tokens     %" PRId64 ", %.2f bytes of text each\n", result->tokens,
                 (double)result->bytes / (double)result->tokens);
    yk_text_addf(out, "  shards     %" PRId32 ", %s\n", result->shards, size);
    yk_text_addf(out, "  speed      %s\n", speed);
}

static void encoded_json(const struct yk_tokenize_encode_request *request,
                         const struct yk_tokenize_encode_result *result, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out};
    yk_json_write_begin_object(&json, NULL);
    yk_json_write_integer(&json, "yoke", 1);
    yk_json_write_string(&json, "kind", "tokenized");
    yk_json_write_string(&json, "output", request->output);
    yk_json_write_integer(&json, "files", result->files);
    yk_json_write_integer(&json, "bytes", result->bytes);
    yk_json_write_integer(&json, "tokens", result->tokens);
    yk_json_write_integer(&json, "shards", result->shards);
    yk_json_write_integer(&json, "shard_bytes", result->shard_bytes);
    yk_json_write_number(&json, "seconds", result->seconds);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
}

void yk_tokenize_output_encoded(const struct yk_tokenize_encode_request *request,
                                const struct yk_tokenize_encode_result *result, bool json,
                                struct yk_text *out)
{
    if (json) {
        encoded_json(request, result, out);
    } else {
        encoded_text(request, result, out);
    }
}

/* Tokens on their way to standard output: held back until they are complete, as long as they are
 * few. */
struct listing {
    struct yk_text *out;
    struct yk_json_writer json; /* into `out` */
    bool as_json;
    bool printed;   /* some of it, and `out` is the rest */
    int64_t tokens; /* of this file */
};

static yk_status begin_file(void *user, const char *path)
{
    struct listing *listing = user;
    listing->tokens = 0;
    if (listing->as_json) {
        yk_json_write_begin_object(&listing->json, NULL);
        yk_json_write_string(&listing->json, "path", path);
        yk_json_write_begin_array(&listing->json, "tokens");
    }
    return YK_OK;
}

static yk_status print_long(struct listing *listing)
{
    struct yk_text *out = listing->out;
    YK_TRY(yk_text_status(out));
    if (out->length < MOST_HELD_BYTES) {
        return YK_OK;
    }
    YK_TRY(yk_terminal_print(out));
    listing->printed = true;
    out->length = 0;
    return YK_OK;
}

static yk_status add_token(void *user, int32_t id, const char *text)
{
    struct listing *listing = user;
    if (listing->as_json) {
        yk_json_write_begin_object(&listing->json, NULL);
        yk_json_write_integer(&listing->json, "id", id);
        yk_json_write_string(&listing->json, "text", text);
        yk_json_write_end_object(&listing->json);
    } else {
        yk_text_addf(listing->out, "%s%" PRId32, listing->tokens > 0 ? " " : "", id);
    }
    return listing->tokens++ % TOKENS_BETWEEN_LOOKS == 0 ? print_long(listing) : YK_OK;
}

static yk_status end_file(void *user)
{
    struct listing *listing = user;
    if (listing->as_json) {
        yk_json_write_end_array(&listing->json);
        yk_json_write_end_object(&listing->json);
    } else {
        yk_text_add(listing->out, "\n");
    }
    return yk_text_status(listing->out);
}

yk_status yk_tokenize_output_tokens(const struct yk_tokenize_show_request *request, bool json,
                                    struct yk_text *out)
{
    struct listing listing = {.out = out, .json = {.text = out}, .as_json = json};
    struct yk_tokenize_show_request filled = *request;
    filled.texts = json;
    filled.begin = begin_file;
    filled.token = add_token;
    filled.end = end_file;
    filled.user = &listing;
    if (json) {
        yk_json_write_begin_object(&listing.json, NULL);
        yk_json_write_integer(&listing.json, "yoke", 1);
        yk_json_write_string(&listing.json, "kind", "tokens");
        yk_json_write_begin_array(&listing.json, "texts");
    }
    const yk_status status = yk_tokenize_show(&filled);
    if (status == YK_ERROR_STOPPED && listing.printed) {
        return yk_fail(YK_ERROR_STOPPED, "stopped; the tokens are not complete");
    }
    YK_TRY(status);
    if (json) {
        yk_json_write_end_array(&listing.json);
        yk_json_write_end_object(&listing.json);
        yk_text_add(out, "\n");
    }
    return yk_text_status(out);
}
