#include "tokenizer/formats/sentencepiece_model.h"

#include "base/utf8.h"
#include "tokenizer/formats/protobuf.h"
#include "tokenizer/token_map.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the fields in sentencepiece_model.proto. */
enum {
    MODEL_TOKENS = 1,
    MODEL_TRAINER = 2,
    MODEL_NORMALIZER = 3,

    TOKEN_TEXT = 1,
    TOKEN_SCORE = 2,
    TOKEN_TYPE = 3,

    TRAINER_KIND = 3,
    TRAINER_SPACE_AS_SUFFIX = 24,
    TRAINER_BYTE_FALLBACK = 35,
    TRAINER_BEGIN = 46,
    TRAINER_END = 47,

    NORMALIZER_CHARACTER_MAP = 2,
    NORMALIZER_ADD_PREFIX = 3,
    NORMALIZER_REMOVE_EXTRA_SPACES = 4,
    NORMALIZER_ESCAPE_SPACES = 5,
};

enum {
    BYTES = 256,
    BYTE_TOKEN_LENGTH = 6 /* <0x0A> */
};

struct parser {
    struct yk_arena *arena;
    struct yk_sentencepiece_model *model;
    bool space_as_suffix;
    bool escape_spaces;
};

static yk_status read_string(const struct yk_protobuf_field *field, const char *name,
                             struct yk_arena *arena, const char **out)
{
    YK_TRY(yk_protobuf_check_type(field, YK_PROTOBUF_BYTES, name));
    if (yk_utf8_valid_prefix_length(field->bytes, field->length) != field->length) {
        return yk_fail(YK_ERROR_INPUT, "%s is not UTF-8 or contains a zero", name);
    }
    *out = yk_arena_copy_text(arena, field->bytes, field->length);
    YK_TRY_ALLOCATED(*out);
    return YK_OK;
}

static yk_status read_boolean(const struct yk_protobuf_field *field, const char *name, bool *out)
{
    YK_TRY(yk_protobuf_check_type(field, YK_PROTOBUF_VARINT, name));
    *out = field->value != 0;
    return YK_OK;
}

static yk_status read_choice(const struct yk_protobuf_field *field, const char *name, uint64_t max,
                             int *out)
{
    YK_TRY(yk_protobuf_check_type(field, YK_PROTOBUF_VARINT, name));
    if (field->value < 1 || field->value > max) {
        return yk_fail(YK_ERROR_INPUT, "%s is %" PRIu64 ", where 1 to %" PRIu64 " are known", name,
                       field->value, max);
    }
    *out = (int)field->value;
    return YK_OK;
}

static yk_status read_token(const struct yk_protobuf_field *message, struct yk_arena *arena,
                            struct yk_sentencepiece *out)
{
    struct yk_protobuf_reader reader = {message->bytes, message->length, 0, YK_OK};
    struct yk_protobuf_field field;
    int type = YK_SENTENCEPIECE_NORMAL;
    while (yk_protobuf_next_field(&reader, &field)) {
        if (field.number == TOKEN_TEXT) {
            YK_TRY(read_string(&field, "its text", arena, &out->text));
            out->length = field.length;
        } else if (field.number == TOKEN_SCORE) {
            YK_TRY(yk_protobuf_check_type(&field, YK_PROTOBUF_FIXED32, "its score"));
            out->score = yk_protobuf_float_value(&field);
        } else if (field.number == TOKEN_TYPE) {
            YK_TRY(read_choice(&field, "its type", YK_SENTENCEPIECE_BYTE, &type));
        }
    }
    YK_TRY(reader.status);
    out->type = (enum yk_sentencepiece_type)type;
    if (out->length == 0) {
        return yk_fail(YK_ERROR_INPUT, "it has no text");
    }
    if (!isfinite(out->score)) {
        return yk_fail(YK_ERROR_INPUT, "its score is not a finite number");
    }
    return YK_OK;
}

static yk_status read_trainer(const struct yk_protobuf_field *message, struct parser *parser)
{
    struct yk_protobuf_reader reader = {message->bytes, message->length, 0, YK_OK};
    struct yk_protobuf_field field;
    struct yk_sentencepiece_model *model = parser->model;
    int kind = (int)model->kind;
    while (yk_protobuf_next_field(&reader, &field)) {
        switch (field.number) {
        case TRAINER_KIND:
            YK_TRY(read_choice(&field, "model_type", YK_SENTENCEPIECE_CHARACTER, &kind));
            break;
        case TRAINER_SPACE_AS_SUFFIX:
            YK_TRY(read_boolean(&field, "treat_whitespace_as_suffix", &parser->space_as_suffix));
            break;
        case TRAINER_BYTE_FALLBACK:
            YK_TRY(read_boolean(&field, "byte_fallback", &model->byte_fallback));
            break;
        case TRAINER_BEGIN:
            YK_TRY(
                read_string(&field, "the name of the begin token", parser->arena, &model->begin));
            break;
        case TRAINER_END:
            YK_TRY(read_string(&field, "the name of the end token", parser->arena, &model->end));
            break;
        default:
            break;
        }
    }
    model->kind = (enum yk_sentencepiece_kind)kind;
    return reader.status;
}

static yk_status read_normalizer(const struct yk_protobuf_field *message, struct parser *parser)
{
    struct yk_protobuf_reader reader = {message->bytes, message->length, 0, YK_OK};
    struct yk_protobuf_field field;
    struct yk_sentencepiece_model *model = parser->model;
    while (yk_protobuf_next_field(&reader, &field)) {
        switch (field.number) {
        case NORMALIZER_CHARACTER_MAP:
            YK_TRY(yk_protobuf_check_type(&field, YK_PROTOBUF_BYTES, "precompiled_charsmap"));
            model->character_map = yk_arena_copy_text(parser->arena, field.bytes, field.length);
            YK_TRY_ALLOCATED(model->character_map);
            model->character_map_length = field.length;
            break;
        case NORMALIZER_ADD_PREFIX:
            YK_TRY(read_boolean(&field, "add_dummy_prefix", &model->add_prefix));
            break;
        case NORMALIZER_REMOVE_EXTRA_SPACES:
            YK_TRY(read_boolean(&field, "remove_extra_whitespaces", &model->remove_extra_spaces));
            break;
        case NORMALIZER_ESCAPE_SPACES:
            YK_TRY(read_boolean(&field, "escape_whitespaces", &parser->escape_spaces));
            break;
        default:
            break;
        }
    }
    return reader.status;
}

/* Reads everything but the pieces, and counts these. */
static yk_status read_messages(const char *bytes, size_t length, struct parser *parser)
{
    struct yk_protobuf_reader reader = {bytes, length, 0, YK_OK};
    struct yk_protobuf_field field;
    int64_t count = 0;
    while (yk_protobuf_next_field(&reader, &field)) {
        if (field.number >= MODEL_TOKENS && field.number <= MODEL_NORMALIZER) {
            YK_TRY(yk_protobuf_check_type(&field, YK_PROTOBUF_BYTES, "a part of the model"));
        }
        count += field.number == MODEL_TOKENS;
        if (field.number == MODEL_TRAINER) {
            YK_TRY(yk_status_prefix_message(read_trainer(&field, parser), "trainer_spec"));
        } else if (field.number == MODEL_NORMALIZER) {
            YK_TRY(yk_status_prefix_message(read_normalizer(&field, parser), "normalizer_spec"));
        }
    }
    YK_TRY(reader.status);
    if (count == 0) {
        return yk_fail(YK_ERROR_INPUT, "there are no pieces in it");
    }
    if (count > YK_TOKEN_MAP_MAX_TOKENS) {
        return yk_fail(YK_ERROR_INPUT, "it has %" PRId64 " pieces, where at most %d are allowed",
                       count, YK_TOKEN_MAP_MAX_TOKENS);
    }
    parser->model->count = (int32_t)count;
    return YK_OK;
}

static yk_status read_tokens(const char *bytes, size_t length, struct parser *parser)
{
    struct yk_protobuf_reader reader = {bytes, length, 0, YK_OK};
    struct yk_protobuf_field field;
    struct yk_sentencepiece_model *model = parser->model;
    char place[sizeof "piece -2147483648"];
    YK_TRY_NEW(parser->arena, model->tokens, model->count);
    int32_t count = 0;
    while (yk_protobuf_next_field(&reader, &field)) {
        if (field.number == MODEL_TOKENS) {
            (void)snprintf(place, sizeof place, "piece %" PRId32, count);
            YK_TRY(yk_status_prefix_message(
                read_token(&field, parser->arena, &model->tokens[count++]), place));
        }
    }
    return reader.status;
}

/* The byte that a piece such as <0x0A> stands for, or −1. */
static int byte_of(const struct yk_sentencepiece *token)
{
    char *end = NULL;
    if (token->length != BYTE_TOKEN_LENGTH || strncmp(token->text, "<0x", 3) != 0 ||
        !isxdigit((unsigned char)token->text[3])) {
        return -1;
    }
    const long byte = strtol(token->text + 3, &end, 16);
    return end == token->text + BYTE_TOKEN_LENGTH - 1 && *end == '>' ? (int)byte : -1;
}

static yk_status check_bytes(const struct yk_sentencepiece_model *model)
{
    bool found[BYTES] = {false};
    for (int32_t i = 0; i < model->count; i++) {
        const int byte =
            model->tokens[i].type == YK_SENTENCEPIECE_BYTE ? byte_of(&model->tokens[i]) : -1;
        if (byte >= 0) {
            found[byte] = true;
        }
    }
    for (int byte = 0; byte < BYTES; byte++) {
        if (!found[byte]) {
            return yk_fail(YK_ERROR_INPUT,
                           "byte_fallback needs a piece for each byte, but there is no <0x%02X>",
                           (unsigned)byte);
        }
    }
    return YK_OK;
}

/* Exactly one piece must stand for unknown characters. */
static yk_status find_unknown(struct yk_sentencepiece_model *model)
{
    model->unknown_id = -1;
    for (int32_t i = 0; i < model->count; i++) {
        if (model->tokens[i].type != YK_SENTENCEPIECE_UNKNOWN) {
            continue;
        }
        if (model->unknown_id >= 0) {
            return yk_fail(YK_ERROR_INPUT,
                           "the pieces %" PRId32 " and %" PRId32 " are both unknown",
                           model->unknown_id, i);
        }
        model->unknown_id = i;
    }
    if (model->unknown_id < 0) {
        return yk_fail(YK_ERROR_INPUT, "no piece stands for unknown characters");
    }
    return YK_OK;
}

static yk_status check(const struct parser *parser)
{
    if (parser->space_as_suffix) {
        return yk_fail(YK_ERROR_INPUT, "treat_whitespace_as_suffix is not supported");
    }
    if (!parser->escape_spaces) {
        return yk_fail(YK_ERROR_INPUT, "escape_whitespaces: false is not supported");
    }
    YK_TRY(find_unknown(parser->model));
    return parser->model->byte_fallback ? check_bytes(parser->model) : YK_OK;
}

yk_status yk_sentencepiece_model_parse(const char *bytes, size_t length, struct yk_arena *arena,
                                       struct yk_sentencepiece_model *out)
{
    struct parser parser = {.arena = arena, .model = out, .escape_spaces = true};
    /* The values of fields that are not in the file. */
    *out = (struct yk_sentencepiece_model){.kind = YK_SENTENCEPIECE_UNIGRAM,
                                           .begin = "<s>",
                                           .end = "</s>",
                                           .add_prefix = true,
                                           .remove_extra_spaces = true};
    YK_TRY(read_messages(bytes, length, &parser));
    YK_TRY(read_tokens(bytes, length, &parser));
    return check(&parser);
}
