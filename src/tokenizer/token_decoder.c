#include "tokenizer/token_decoder.h"

#include "base/array.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/regex/text_pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 16, /* of nested sequences */
    MAX_STEPS = 64,
    MAX_GROWTH = 64, /* how much longer Replace may make a text; see check_growth() */
    SHOWN_BYTES = 60 /* of a name in messages */
};

struct step;

struct kind {
    const char *type;
    /* Reads the options. NULL means: there are none. */
    yk_status (*read)(const struct yk_json *node, struct step *out);
    /* Appends the changed strings to `to`. */
    yk_status (*apply)(const struct step *step, const struct yk_string_list *from,
                       struct yk_string_list *to);
};

struct step {
    const struct kind *kind;
    struct yk_regex *pattern; /* of Replace */
    char *text;               /* the content of Replace, the prefix of WordPiece, the suffix of
                                 BPEDecoder, the padding of CTC */
    char *delimiter;          /* of CTC */
    bool clean_up;            /* of WordPiece and CTC */
    uint32_t character;       /* of Strip and Metaspace */
    bool drops_first;         /* of Metaspace */
    int64_t start;            /* of Strip */
    int64_t stop;
};

struct yk_token_decoder {
    struct step *steps;
    int32_t count;
    int32_t capacity;
    bool has_decoder; /* false: tokens are joined with spaces */
};

void yk_token_decoder_destroy(struct yk_token_decoder *decoder)
{
    if (decoder) {
        for (int32_t i = 0; i < decoder->count; i++) {
            yk_regex_destroy(decoder->steps[i].pattern);
            free(decoder->steps[i].text);
            free(decoder->steps[i].delimiter);
        }
        free(decoder->steps);
        free(decoder);
    }
}

/* Copies a string member. `usual` is used if it is missing; NULL: it must not be. */
static yk_status read_text(const struct yk_json *node, const char *key, const char *usual,
                           char **out)
{
    const struct yk_json *member = yk_json_get_member(node, key);
    const char *text = member ? yk_json_string_value(member) : usual;
    if (!text) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is %s; it must be a string", key,
                       yk_json_type_name(member));
    }
    *out = strdup(text);
    YK_TRY_ALLOCATED(*out);
    return YK_OK;
}

/* Reads a string of one character. */
static yk_status read_character(const struct yk_json *node, const char *key, uint32_t *out)
{
    const char *text = yk_json_string_value(yk_json_get_member(node, key));
    const size_t length = text ? strlen(text) : 0;
    return length > 0 && yk_utf8_decode(text, length, out) == length
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "\"%s\" must be a string of one character", key);
}

/* Replacements that remove spaces which come from tokenization. They apply to each token, in this
 * order. */
static const struct {
    const char *from;
    const char *to;
} repairs[] = {
    {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
    {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
    {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
};

/* Replaces from `start` on, in place: no replacement makes the text longer. */
static void repair(struct yk_text *text, size_t start, const char *from, const char *to)
{
    const size_t from_length = strlen(from);
    const size_t to_length = strlen(to);
    size_t written = start;
    for (size_t at = start; at < text->length;) {
        if (text->length - at >= from_length && memcmp(text->bytes + at, from, from_length) == 0) {
            memcpy(text->bytes + written, to, to_length);
            written += to_length;
            at += from_length;
        } else {
            text->bytes[written++] = text->bytes[at++];
        }
    }
    text->length = written;
    text->bytes[written] = '\0';
}

static void clean_up(struct yk_text *text, size_t start)
{
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs && !text->failed; i++) {
        repair(text, start, repairs[i].from, repairs[i].to);
    }
}

static yk_status read_wordpiece(const struct yk_json *node, struct step *out)
{
    out->clean_up = true;
    YK_TRY(yk_json_get_bool(node, "cleanup", &out->clean_up));
    return read_text(node, "prefix", "##", &out->text);
}

static yk_status apply_wordpiece(const struct step *step, const struct yk_string_list *from,
                                 struct yk_string_list *to)
{
    const size_t prefix = strlen(step->text);
    for (int64_t i = 0; i < from->count; i++) {
        size_t length = 0;
        const char *token = yk_string_list_get(from, i, &length);
        const bool continues = i > 0 && length >= prefix && memcmp(token, step->text, prefix) == 0;
        const size_t start = to->bytes.length;
        yk_text_add(&to->bytes, i > 0 && !continues ? " " : "");
        yk_text_add_bytes(&to->bytes, token + (continues ? prefix : 0),
                          length - (continues ? prefix : 0));
        if (step->clean_up) {
            clean_up(&to->bytes, start);
        }
        yk_string_list_end_string(to);
    }
    return YK_OK;
}

/*
 * How many bytes one U+FFFD replaces at an invalid byte: the longest prefix of a character, at
 * least one byte (Unicode Standard, section 3.9, "maximal subparts").
 */
static size_t broken_length(const unsigned char *bytes, size_t length)
{
    const unsigned char first = bytes[0];
    const size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    unsigned char min = 0x80;
    unsigned char max = 0xbf;
    if (first < 0xc2 || first > 0xf4) {
        return 1;
    }
    min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : min;
    max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : max;
    size_t used = 1;
    while (used < wanted && used < length && bytes[used] >= min && bytes[used] <= max) {
        min = 0x80;
        max = 0xbf;
        used++;
    }
    return used;
}

static void add_repaired(struct yk_text *out, const char *bytes, size_t length)
{
    size_t done = 0;
    for (size_t at = 0; at < length;) {
        uint32_t character = 0;
        const size_t used = yk_utf8_decode(bytes + at, length - at, &character);
        if (used > 0) {
            at += used;
            continue;
        }
        yk_text_add_bytes(out, bytes + done, at - done);
        yk_text_add(out, "\xef\xbf\xbd");
        at += broken_length((const unsigned char *)bytes + at, length - at);
        done = at;
    }
    yk_text_add_bytes(out, bytes + done, length - done);
}

static yk_status apply_byte_level(const struct step *step, const struct yk_string_list *from,
                                  struct yk_string_list *to)
{
    (void)step;
    struct yk_text bytes = {0};
    for (int64_t i = 0; i < from->count; i++) {
        size_t length = 0;
        const char *token = yk_string_list_get(from, i, &length);
        /* A token with a character that does not represent a byte is copied. */
        if (!yk_byte_level_decode_token(token, length, &bytes)) {
            yk_text_add_bytes(&bytes, token, length);
        }
    }
    const yk_status status = yk_text_status(&bytes);
    add_repaired(&to->bytes, yk_text_chars(&bytes), bytes.length);
    yk_string_list_end_string(to);
    yk_text_free(&bytes);
    return status;
}

static yk_status read_metaspace(const struct yk_json *node, struct step *out)
{
    const char *scheme = yk_json_string_value(yk_json_get_member(node, "prepend_scheme"));
    bool prefix = true;
    (void)yk_json_boolean_value(yk_json_get_member(node, "add_prefix_space"), &prefix);
    out->drops_first = prefix && !(scheme && strcmp(scheme, "never") == 0);
    return read_character(node, "replacement", &out->character);
}

static yk_status apply_metaspace(const struct step *step, const struct yk_string_list *from,
                                 struct yk_string_list *to)
{
    for (int64_t i = 0; i < from->count; i++) {
        size_t length = 0;
        const char *token = yk_string_list_get(from, i, &length);
        for (size_t at = 0; at < length;) {
            uint32_t character = 0;
            size_t used = yk_utf8_decode(token + at, length - at, &character);
            used = used ? used : 1;
            if (character != step->character) {
                yk_text_add_bytes(&to->bytes, token + at, used);
            } else if (i > 0 || !step->drops_first) {
                yk_text_add(&to->bytes, " ");
            }
            at += used;
        }
        yk_string_list_end_string(to);
    }
    return YK_OK;
}

static int value_of_digit(char digit)
{
    static const char digits[] = "0123456789ABCDEFabcdef";
    const char *found = digit ? strchr(digits, digit) : NULL;
    const int value = found ? (int)(found - digits) : -1;
    return value < 16 ? value : value - 6;
}

/* The byte of a token such as "<0x0A>", or -1. As in Hugging Face's tokenizers, one of the two
 * digits may be a plus sign before the other. */
static int byte_of_token(const char *token, size_t length)
{
    if (length != 6 || memcmp(token, "<0x", 3) != 0 || token[5] != '>') {
        return -1;
    }
    const int low = value_of_digit(token[4]);
    const int high = token[3] == '+' ? 0 : value_of_digit(token[3]);
    return low >= 0 && high >= 0 ? 16 * high + low : -1;
}

/* Adds the bytes of some tokens in a row: as text, or U+FFFD for each of them. */
static void flush_bytes(struct yk_text *bytes, struct yk_string_list *to)
{
    size_t valid = 0;
    while (valid < bytes->length) {
        uint32_t ignored = 0;
        const size_t used = yk_utf8_decode(bytes->bytes + valid, bytes->length - valid, &ignored);
        if (used == 0) {
            break;
        }
        valid += used;
    }
    if (bytes->length > 0 && valid == bytes->length) {
        yk_string_list_add(to, bytes->bytes, bytes->length);
    }
    for (size_t i = 0; valid < bytes->length && i < bytes->length; i++) {
        yk_string_list_add(to, "\xef\xbf\xbd", 3);
    }
    bytes->length = 0;
}

static yk_status apply_byte_fallback(const struct step *step, const struct yk_string_list *from,
                                     struct yk_string_list *to)
{
    (void)step;
    struct yk_text bytes = {0};
    for (int64_t i = 0; i < from->count; i++) {
        size_t length = 0;
        const char *token = yk_string_list_get(from, i, &length);
        const int value = byte_of_token(token, length);
        if (value >= 0) {
            const char byte = (char)value;
            yk_text_add_bytes(&bytes, &byte, 1);
            continue;
        }
        flush_bytes(&bytes, to);
        yk_string_list_add(to, token, length);
    }
    flush_bytes(&bytes, to);
    const yk_status status = yk_text_status(&bytes);
    yk_text_free(&bytes);
    return status;
}

static yk_status apply_fuse(const struct step *step, const struct yk_string_list *from,
                            struct yk_string_list *to)
{
    (void)step;
    yk_string_list_add(to, yk_text_chars(&from->bytes), from->bytes.length);
    return YK_OK;
}

static yk_status read_strip(const struct yk_json *node, struct step *out)
{
    YK_TRY(read_character(node, "content", &out->character));
    YK_TRY(yk_json_get_integer(node, "start", 0, INT32_MAX, &out->start));
    return yk_json_get_integer(node, "stop", 0, INT32_MAX, &out->stop);
}

static yk_status apply_strip(const struct step *step, const struct yk_string_list *from,
                             struct yk_string_list *to)
{
    char content[YK_UTF8_MAX_BYTES];
    const size_t used = yk_utf8_encode(step->character, content);
    for (int64_t i = 0; i < from->count; i++) {
        size_t length = 0;
        const char *token = yk_string_list_get(from, i, &length);
        size_t begin = 0;
        for (int64_t k = 0;
             k < step->start && length - begin >= used && memcmp(token + begin, content, used) == 0;
             k++) {
            begin += used;
        }
        size_t end = length;
        for (int64_t k = 0; k < step->stop && end - begin >= used &&
                            memcmp(token + end - used, content, used) == 0;
             k++) {
            end -= used;
        }
        yk_string_list_add(to, token + begin, end - begin);
    }
    return YK_OK;
}

static yk_status read_replace(const struct yk_json *node, struct step *out)
{
    YK_TRY(read_text(node, "content", NULL, &out->text));
    return yk_text_pattern_read_regex(node, "Replace", &out->pattern);
}

/* Several Replace in a row could make a text so long that it fills the memory. */
static yk_status check_growth(const struct yk_string_list *from, const struct yk_string_list *to)
{
    return to->bytes.length / MAX_GROWTH <= from->bytes.length + SHOWN_BYTES
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "Replace makes the text more than %d times as long",
                         MAX_GROWTH);
}

static yk_status replace_all(const struct step *step, struct yk_regex_workspace *workspace,
                             struct yk_text *buffer, const struct yk_string_list *from,
                             struct yk_string_list *to)
{
    for (int64_t i = 0; i < from->count; i++) {
        size_t length = 0;
        const char *token = yk_string_list_get(from, i, &length);
        const struct yk_text_pattern pattern = {.regex = step->pattern};
        struct yk_text_pattern_search search;
        size_t done = 0;
        YK_TRY(yk_text_pattern_begin(&pattern, workspace, token, length, buffer, &search));
        do {
            YK_TRY(yk_text_pattern_find_next(&search));
            yk_text_add_bytes(&to->bytes, token + done,
                              (search.found ? search.begin : length) - done);
            yk_text_add(&to->bytes, search.found ? step->text : "");
            YK_TRY(check_growth(from, to));
            done = search.end;
        } while (search.found);
        yk_string_list_end_string(to);
    }
    return YK_OK;
}

static yk_status apply_replace(const struct step *step, const struct yk_string_list *from,
                               struct yk_string_list *to)
{
    struct yk_regex_workspace *workspace = NULL;
    struct yk_text buffer = {0};
    YK_TRY(yk_regex_workspace_create(&workspace));
    const yk_status status = replace_all(step, workspace, &buffer, from, to);
    yk_regex_workspace_destroy(workspace);
    yk_text_free(&buffer);
    return status;
}

static yk_status read_bpe(const struct yk_json *node, struct step *out)
{
    return read_text(node, "suffix", "</w>", &out->text);
}

/* Appends a text, with `to` for each `from`. If `from` is empty, `to` comes before each character
 * and behind the last one. */
static void add_replaced(struct yk_text *out, const char *text, size_t length, const char *from,
                         const char *to)
{
    const size_t from_length = strlen(from);
    for (size_t at = 0; at < length;) {
        uint32_t ignored = 0;
        size_t used = yk_utf8_decode(text + at, length - at, &ignored);
        used = used ? used : 1;
        if (from_length > 0 && length - at >= from_length &&
            memcmp(text + at, from, from_length) == 0) {
            yk_text_add(out, to);
            at += from_length;
            continue;
        }
        yk_text_add(out, from_length == 0 ? to : "");
        yk_text_add_bytes(out, text + at, used);
        at += used;
    }
    yk_text_add(out, from_length == 0 ? to : "");
}

static yk_status apply_bpe(const struct step *step, const struct yk_string_list *from,
                           struct yk_string_list *to)
{
    for (int64_t i = 0; i < from->count; i++) {
        size_t length = 0;
        const char *token = yk_string_list_get(from, i, &length);
        add_replaced(&to->bytes, token, length, step->text, i + 1 < from->count ? " " : "");
        yk_string_list_end_string(to);
    }
    return YK_OK;
}

static yk_status read_ctc(const struct yk_json *node, struct step *out)
{
    out->clean_up = true;
    YK_TRY(yk_json_get_bool(node, "cleanup", &out->clean_up));
    YK_TRY(read_text(node, "pad_token", "<pad>", &out->text));
    return read_text(node, "word_delimiter_token", "|", &out->delimiter);
}

/* Appends the text of one token of CTC. Leaves out the padding. */
static void add_ctc_token(const struct step *step, const char *token, size_t length,
                          struct yk_text *out)
{
    const size_t start = out->length;
    add_replaced(out, token, length, step->text, "");
    if (!step->clean_up || out->failed) {
        return;
    }
    clean_up(out, start);
    struct yk_text cleaned = {0};
    yk_text_add_bytes(&cleaned, out->bytes + start, out->length - start);
    out->length = start;
    out->failed = out->failed || cleaned.failed;
    add_replaced(out, yk_text_chars(&cleaned), cleaned.length, step->delimiter, " ");
    yk_text_free(&cleaned);
}

/* Leaves out tokens that are the same as the one before. */
static yk_status apply_ctc(const struct step *step, const struct yk_string_list *from,
                           struct yk_string_list *to)
{
    const char *before = NULL;
    size_t before_length = 0;
    for (int64_t i = 0; i < from->count; i++) {
        size_t length = 0;
        const char *token = yk_string_list_get(from, i, &length);
        const bool same = before && length == before_length && memcmp(token, before, length) == 0;
        const size_t start = to->bytes.length;
        before = token;
        before_length = length;
        if (!same) {
            add_ctc_token(step, token, length, &to->bytes);
        }
        if (to->bytes.length > start) {
            yk_string_list_end_string(to);
        }
    }
    return YK_OK;
}

static const struct kind kinds[] = {
    {.type = "ByteLevel", .apply = apply_byte_level},
    {.type = "WordPiece", .read = read_wordpiece, .apply = apply_wordpiece},
    {.type = "Metaspace", .read = read_metaspace, .apply = apply_metaspace},
    {.type = "ByteFallback", .apply = apply_byte_fallback},
    {.type = "Fuse", .apply = apply_fuse},
    {.type = "Strip", .read = read_strip, .apply = apply_strip},
    {.type = "Replace", .read = read_replace, .apply = apply_replace},
    {.type = "BPEDecoder", .read = read_bpe, .apply = apply_bpe},
    {.type = "CTC", .read = read_ctc, .apply = apply_ctc},
};

static yk_status read_step(const struct yk_json *node, const char *type,
                           struct yk_token_decoder *out)
{
    if (out->count == MAX_STEPS) {
        return yk_fail(YK_ERROR_INPUT, "a Sequence of more than %d", MAX_STEPS);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].type) == 0) {
            YK_TRY_GROW_ARRAY(out->steps, out->capacity, out->count);
            struct step *step = &out->steps[out->count++];
            *step = (struct step){.kind = &kinds[i]};
            return kinds[i].read ? kinds[i].read(node, step) : YK_OK;
        }
    }
    return yk_fail(YK_ERROR_INPUT,
                   "\"%.*s\" is not supported; known are ByteLevel, WordPiece, Metaspace, "
                   "ByteFallback, Fuse, Strip, Replace, BPEDecoder, CTC and Sequence",
                   SHOWN_BYTES, type);
}

static yk_status read_node(const struct yk_json *node, int32_t depth, struct yk_token_decoder *out)
{
    const char *type = yk_json_string_value(yk_json_get_member(node, "type"));
    if (!type) {
        return yk_fail(YK_ERROR_INPUT, "this must be an object with a \"type\"");
    }
    if (strcmp(type, "Sequence") != 0) {
        return read_step(node, type, out);
    }
    const struct yk_json *list = yk_json_get_member(node, "decoders");
    if (!yk_json_is_array(list)) {
        return yk_fail(YK_ERROR_INPUT, "\"decoders\" must be a list");
    }
    if (depth == MAX_DEPTH) {
        return yk_fail(YK_ERROR_INPUT, "more than %d decoders inside each other", MAX_DEPTH);
    }
    for (size_t i = 0; i < yk_json_array_count(list); i++) {
        YK_TRY(read_node(yk_json_array_at(list, i), depth + 1, out));
    }
    return YK_OK;
}

yk_status yk_token_decoder_from_json(const struct yk_json *node, struct yk_token_decoder **out)
{
    struct yk_token_decoder *decoder = calloc(1, sizeof *decoder);
    YK_TRY_ALLOCATED(decoder);
    if (node && !yk_json_is_null(node)) {
        decoder->has_decoder = true;
        YK_TRY_OR_CLEAN_UP(yk_status_prefix_message(read_node(node, 0, decoder), "decoder"),
                           yk_token_decoder_destroy(decoder));
    }
    *out = decoder;
    return YK_OK;
}

static void join(const struct yk_string_list *strings, const char *between, struct yk_text *out)
{
    for (int64_t i = 0; i < strings->count; i++) {
        size_t length = 0;
        const char *string = yk_string_list_get(strings, i, &length);
        yk_text_add(out, i > 0 ? between : "");
        yk_text_add_bytes(out, string, length);
    }
}

yk_status yk_token_decoder_decode(const struct yk_token_decoder *decoder,
                                  struct yk_string_list *tokens, struct yk_text *out)
{
    struct yk_string_list other = {0};
    struct yk_string_list *from = tokens;
    struct yk_string_list *to = &other;
    yk_status status = yk_string_list_status(tokens);
    for (int32_t i = 0; i < decoder->count && status == YK_OK; i++) {
        const struct step *step = &decoder->steps[i];
        yk_string_list_clear(to);
        status = step->kind->apply(step, from, to);
        YK_IF_OK(yk_string_list_status(to));
        struct yk_string_list *next = from;
        from = to;
        to = next;
    }
    if (status == YK_OK) {
        join(from, decoder->has_decoder ? "" : " ", out);
        status = yk_text_status(out);
    }
    yk_string_list_free(&other);
    return status;
}
