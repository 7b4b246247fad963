#include "tokenizer/models/unigram.h"

#include "base/text.h"
#include "base/utf8.h"
#include "tokenizer/models/token_trie.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES = 256,
    MAX_TOKEN_BYTES = 1024,
    MAX_WORD_BYTES = 1 << 24, /* limited, because each byte takes 24 bytes of memory */
    BYTES_BETWEEN_CHECKS = 1 << 14
};

#define UNKNOWN_PENALTY 10.0

struct yk_unigram {
    const struct yk_token_map *map;
    struct yk_token_trie *trie;
    double *scores; /* by id */
    double unknown_score;
    int32_t unknown; /* -1 means: none */
    bool has_fallback;
    int32_t fallback[BYTES]; /* tokens of single bytes, "<0x00>" … "<0xFF>"; -1 means: none */
};

/* The best tokens up to a byte of the word. */
struct yk_unigram_place {
    double score;
    int32_t before; /* where the last token begins; -1 means: no way leads here yet */
    int32_t id;     /* the last token */
};

void yk_unigram_destroy(struct yk_unigram *unigram)
{
    if (unigram) {
        yk_token_trie_destroy(unigram->trie);
        free(unigram->scores);
        free(unigram);
    }
}

/*
 * Returns a number as Hugging Face's tokenizers read it from its shortest decimal: they take all
 * digits for one integer, which is rounded if it has more than 53 bits, and divide that by a power
 * of ten. The result may be off by the last bit, which decides between splits of equal scores.
 */
static double round_like_tokenizers(double value, struct yk_text *buffer)
{
    double power = 1;
    uint64_t digits = 0;
    bool fraction = false;
    buffer->length = 0;
    yk_text_add_number(buffer, fabs(value));
    const char *at = yk_text_chars(buffer);
    for (; *at == '.' || (*at >= '0' && *at <= '9'); at++) {
        if (*at == '.') {
            fraction = true;
        } else {
            digits = digits * 10 + (uint64_t)(*at - '0');
            power *= fraction ? 10 : 1;
        }
    }
    /* Powers up to 10^22 are exact; a number with an exponent is not a usual score. */
    const bool plain = fraction && *at == '\0' && power <= 1e18;
    return plain ? copysign((double)digits / power, value) : value;
}

static yk_status read_each_score(const struct yk_json *list, struct yk_text *buffer,
                                 struct yk_unigram *out)
{
    const size_t count = yk_json_array_count(list);
    double lowest = INFINITY;
    out->scores = malloc((count + 1) * sizeof *out->scores);
    YK_TRY_ALLOCATED(out->scores);
    for (size_t i = 0; i < count; i++) {
        const struct yk_json *score = yk_json_array_at(yk_json_array_at(list, i), 1);
        if (!yk_json_number_value(score, &out->scores[i]) || !isfinite(out->scores[i])) {
            return yk_fail(YK_ERROR_INPUT,
                           "vocab[%zu] has no score; it must be a list of a token and a number", i);
        }
        out->scores[i] = round_like_tokenizers(out->scores[i], buffer);
        lowest = out->scores[i] < lowest ? out->scores[i] : lowest;
    }
    out->unknown_score = lowest - UNKNOWN_PENALTY;
    return yk_text_status(buffer);
}

static yk_status read_scores(const struct yk_json *list, struct yk_unigram *out)
{
    struct yk_text buffer = {0};
    const yk_status status = read_each_score(list, &buffer, out);
    yk_text_free(&buffer);
    return status;
}

static yk_status read_unknown(const struct yk_json *model, int32_t count, struct yk_unigram *out)
{
    const struct yk_json *node = yk_json_get_member(model, "unk_id");
    double id = 0;
    out->unknown = -1;
    if (!node || yk_json_is_null(node)) {
        return YK_OK;
    }
    if (!yk_json_number_value(node, &id) || id != trunc(id) || !(id >= 0) || id >= count) {
        return yk_fail(YK_ERROR_INPUT, "\"unk_id\" must be a whole number from 0 to %" PRId32,
                       count - 1);
    }
    out->unknown = (int32_t)id;
    return YK_OK;
}

static yk_status fill(const struct yk_json *model, struct yk_unigram *out)
{
    const struct yk_json *fallback = yk_json_get_member(model, "byte_fallback");
    size_t longest = 0;
    YK_TRY(read_scores(yk_json_get_member(model, "vocab"), out));
    YK_TRY(read_unknown(model, yk_token_map_id_limit(out->map), out));
    if (fallback && !yk_json_is_null(fallback)) {
        YK_TRY(yk_json_get_bool(model, "byte_fallback", &out->has_fallback));
    }
    for (int byte = 0; byte < BYTES; byte++) {
        char name[sizeof "<0x00>"];
        (void)snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte);
        out->fallback[byte] = yk_token_map_find_id(out->map, name, strlen(name));
    }
    /* Each place of a text takes time for each byte of the longest token that may begin there. */
    YK_TRY(yk_token_map_measure_tokens(out->map, MAX_TOKEN_BYTES, &longest));
    return yk_token_trie_create(out->map, &out->trie);
}

yk_status yk_unigram_from_json(const struct yk_json *model, const struct yk_token_map *map,
                               struct yk_unigram **out)
{
    struct yk_unigram *unigram = calloc(1, sizeof *unigram);
    YK_TRY_ALLOCATED(unigram);
    unigram->map = map;
    YK_TRY_OR_CLEAN_UP(fill(model, unigram), yk_unigram_destroy(unigram));
    *out = unigram;
    return YK_OK;
}

int32_t yk_unigram_unknown_id(const struct yk_unigram *unigram)
{
    return unigram->unknown;
}

void yk_unigram_workspace_free(struct yk_unigram_workspace *workspace)
{
    free(workspace->places);
    *workspace = (struct yk_unigram_workspace){.stop = workspace->stop};
}

static yk_status reserve(struct yk_unigram_workspace *workspace, size_t count)
{
    if (count > workspace->capacity) {
        const size_t capacity = count < 2 * workspace->capacity ? 2 * workspace->capacity : count;
        struct yk_unigram_place *places =
            realloc(workspace->places, capacity * sizeof *workspace->places);
        YK_TRY_ALLOCATED(places);
        workspace->places = places;
        workspace->capacity = capacity;
    }
    return YK_OK;
}

/* Uses a token from `begin` to `end` if this is better than what was found so far. */
static void consider(struct yk_unigram_place *places, size_t begin, size_t end, double score,
                     int32_t id)
{
    struct yk_unigram_place *place = &places[end];
    const double sum = score + places[begin].score;
    if (place->before < 0 || sum > place->score) {
        *place = (struct yk_unigram_place){.score = sum, .before = (int32_t)begin, .id = id};
    }
}

static yk_status fail_no_unknown(const char *character, size_t length)
{
    return yk_fail(YK_ERROR_INPUT,
                   "the vocabulary has no token for \"%.*s\" and no \"unk_id\" for unknown "
                   "characters",
                   (int)length, character);
}

static yk_status find_best(const struct yk_unigram *unigram, const atomic_bool *stop,
                           const char *word, size_t length, struct yk_unigram_place *places)
{
    size_t checked = 0;
    places[0] = (struct yk_unigram_place){.before = -1};
    for (size_t i = 1; i <= length; i++) {
        places[i].before = -1;
    }
    for (size_t begin = 0; begin < length;) {
        struct yk_token_trie_search search = {.text = word + begin, .length = length - begin};
        uint32_t ignored = 0;
        size_t used = yk_utf8_decode(word + begin, length - begin, &ignored);
        used = used ? used : 1;
        bool has_single = false;
        while (yk_token_trie_find_next(unigram->trie, &search)) {
            consider(places, begin, begin + search.found, unigram->scores[search.id], search.id);
            has_single = has_single || search.found == used;
        }
        if (!has_single) {
            if (unigram->unknown < 0) {
                return fail_no_unknown(word + begin, used);
            }
            consider(places, begin, begin + used, unigram->unknown_score, unigram->unknown);
        }
        begin += used;
        if (begin - checked > BYTES_BETWEEN_CHECKS) {
            checked = begin;
            if (stop && atomic_load(stop)) {
                return yk_fail(YK_ERROR_STOPPED, "stopped within a word");
            }
        }
    }
    return YK_OK;
}

static void add_token(int32_t id, size_t begin, size_t end, struct yk_token_ids *out,
                      struct yk_token_spans *spans)
{
    yk_token_ids_add(out, id);
    if (spans) {
        yk_token_spans_add(spans, begin, end);
    }
}

/* Adds the token of unknown characters, or the tokens of their bytes. */
static void add_unknown(const struct yk_unigram *unigram, const char *word, size_t begin,
                        size_t end, struct yk_token_ids *out, struct yk_token_spans *spans)
{
    const int32_t known = yk_token_map_find_id(unigram->map, word + begin, end - begin);
    bool complete = unigram->has_fallback && known < 0;
    for (size_t i = begin; i < end && complete; i++) {
        complete = unigram->fallback[(unsigned char)word[i]] >= 0;
    }
    if (!complete) {
        add_token(known >= 0 ? known : unigram->unknown, begin, end, out, spans);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        add_token(unigram->fallback[(unsigned char)word[i]], begin, end, out, spans);
    }
}

/* Turns the way back into one forward: each place then has the end of the token that begins there.
 */
static void reverse(struct yk_unigram_place *places, size_t length)
{
    int32_t after = (int32_t)length;
    int32_t id = places[length].id;
    for (int32_t at = places[length].before; at >= 0;) {
        const struct yk_unigram_place here = places[at];
        places[at].before = after;
        places[at].id = id;
        after = at;
        id = here.id;
        at = here.before;
    }
}

yk_status yk_unigram_encode(const struct yk_unigram *unigram,
                            struct yk_unigram_workspace *workspace, const char *word, size_t length,
                            struct yk_token_ids *out, struct yk_token_spans *spans)
{
    if (length > MAX_WORD_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "a word of %zu bytes, where at most %d are supported",
                       length, MAX_WORD_BYTES);
    }
    YK_TRY(reserve(workspace, length + 1));
    struct yk_unigram_place *places = workspace->places;
    YK_TRY(find_best(unigram, workspace->stop, word, length, places));
    reverse(places, length);
    for (size_t at = 0; at < length;) {
        size_t end = (size_t)places[at].before;
        if (places[at].id != unigram->unknown) {
            add_token(places[at].id, at, end, out, spans);
            at = end;
            continue;
        }
        while (end < length && places[end].id == unigram->unknown) {
            end = (size_t)places[end].before;
        }
        add_unknown(unigram, word, at, end, out, spans);
        at = end;
    }
    return YK_OK;
}
