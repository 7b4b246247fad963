/*
 * The parts of a tokenizer.json:
 *
 *   {"version": "1.0", "truncation": null, "padding": null, "added_tokens": […],
 *    "normalizer": …, "pre_tokenizer": …, "post_processor": …, "decoder": …,
 *    "model": {"type": "BPE", "vocab": {"!": 0, …}, "merges": ["Ġ t", …], …}}
 *
 * Truncation and padding are the business of whoever makes batches; they are not looked at.
 */
#include "data/tokenizer_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    SHOWN_BYTES = 60 /* of a name in messages */
};

static yk_status read_vocabulary(const struct yk_json *model, struct yk_token_map **out)
{
    const struct yk_json *list = yk_json_get(model, "vocab");
    struct yk_json_member member = {0};
    if (!yk_json_is_object(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"vocab\" must be an object of tokens and ids, not %s",
                       yk_json_kind(list));
    }
    YK_TRY(yk_token_map_create(out));
    while (yk_json_next(list, &member)) {
        double id = 0;
        if (!yk_json_number(member.value, &id) || id != trunc(id)) {
            return yk_fail(YK_ERROR_INPUT, "the id of \"%.*s\" must be a whole number", SHOWN_BYTES,
                           member.name);
        }
        /* What no 64 bits hold is out of range as well. */
        YK_TRY(yk_token_map_add(*out, member.name, strlen(member.name),
                                fabs(id) < 0x1p53 ? (int64_t)id : INT64_MAX));
    }
    if (yk_token_map_count(*out) == 0) {
        return yk_fail(YK_ERROR_INPUT, "\"vocab\" is empty");
    }
    return YK_OK;
}

static yk_status read_model(const struct yk_json *model, struct yk_tokenizer *out)
{
    const char *type = yk_json_string(yk_json_get(model, "type"));
    /* Files of before there were types have those members alone. */
    if (!type && yk_json_get(model, "merges")) {
        type = "BPE";
    }
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"type\"");
    }
    const bool bpe = strcmp(type, "BPE") == 0;
    if (!bpe && strcmp(type, "WordPiece") != 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%.*s\" is not supported; it must be \"BPE\" or \"WordPiece\"",
                       SHOWN_BYTES, type);
    }
    const bool byte_level = yk_pre_tokenizer_is_byte_level(out->pre_tokenizer);
    if (bpe != byte_level) {
        return yk_fail(YK_ERROR_INPUT,
                       bpe ? "BPE without a ByteLevel pre-tokenizer is not supported"
                           : "WordPiece with a ByteLevel pre-tokenizer is not supported");
    }
    YK_TRY(read_vocabulary(model, &out->map));
    return bpe ? yk_bpe_read(model, out->map, &out->bpe)
               : yk_wordpiece_read(model, out->map, type, &out->wordpiece);
}

yk_status yk_tokenizer_read_parts(const struct yk_json *root, struct yk_tokenizer *out)
{
    YK_TRY(yk_normaliser_read(yk_json_get(root, "normalizer"), "normalizer", &out->normaliser));
    YK_TRY(yk_pre_tokenizer_read(yk_json_get(root, "pre_tokenizer"), &out->pre_tokenizer));
    const yk_status status = read_model(yk_json_get(root, "model"), out);
    if (status != YK_OK) {
        return yk_fail_in(status, "model");
    }
    YK_TRY(yk_added_tokens_read(yk_json_get(root, "added_tokens"), out->map, out->normaliser,
                                &out->added));
    YK_TRY(yk_token_frame_read(yk_json_get(root, "post_processor"), yk_tokenizer_count(out),
                               &out->frame));
    return yk_decoder_read(yk_json_get(root, "decoder"), &out->decoder);
}
