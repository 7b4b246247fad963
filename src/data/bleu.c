#include "data/bleu.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * sacreBLEU's rules are regular expressions over code points. Working on bytes gives the same
 * result: the rules match and move only ASCII, and "not a digit" next to it is also true for one
 * byte of a longer character.
 *
 * Each rule reads the whole text and writes a new one, which is at most GROWTH times as long.
 */
enum {
    GROWTH = 3 /* one character becomes a space, itself and a space */
};

typedef size_t (*rule)(const char *in, size_t length, char *out);

void yk_bleu_tokens_free(struct yk_bleu_tokens *tokens)
{
    yk_text_free(&tokens->words);
    yk_text_free(&tokens->spare);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_point(char c)
{
    return c == '.' || c == ',';
}

/* ASCII punctuation and the space, except ' , - and the full stop: [\{-\~\[-\` -\&\(-\+\:-\@\/] */
static bool stands_alone(char c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
           (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/* The length in bytes of the white space character at the beginning of `bytes`, as Python's
 * str.isspace() defines it; 0 if there is none. */
static size_t space_length(const char *bytes, size_t length)
{
    const unsigned char first = (unsigned char)bytes[0];
    uint32_t c = 0;
    if (first < 0x80) {
        return first == ' ' || (first >= 0x09 && first <= 0x0d) || (first >= 0x1c && first <= 0x1f);
    }
    const size_t used = yk_utf8_decode(bytes, length, &c);
    return used > 0 && yk_unicode_is_space(c) ? used : 0;
}

/* The length without white space at the end. */
static size_t stripped_length(const char *bytes, size_t length)
{
    while (length > 0) {
        size_t at = length - 1;
        while (at > 0 && length - at < YK_UTF8_MAX_BYTES &&
               ((unsigned char)bytes[at] & 0xc0) == 0x80) {
            at--;
        }
        if (space_length(bytes + at, length - at) != length - at) {
            break;
        }
        length = at;
    }
    return length;
}

static size_t set_apart(const char *in, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        const bool alone = stands_alone(in[i]);
        if (alone) {
            out[written++] = ' ';
        }
        out[written++] = in[i];
        if (alone) {
            out[written++] = ' ';
        }
    }
    return written;
}

/* ([^0-9])([\.,]) becomes "\1 \2 ". */
static size_t set_points_apart_after_others(const char *in, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        out[written++] = in[i];
        if (!is_digit(in[i]) && i + 1 < length && is_point(in[i + 1])) {
            out[written++] = ' ';
            out[written++] = in[++i];
            out[written++] = ' ';
        }
    }
    return written;
}

/* ([\.,])([^0-9]) becomes " \1 \2". */
static size_t set_points_apart_before_others(const char *in, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        const bool apart = is_point(in[i]) && i + 1 < length && !is_digit(in[i + 1]);
        if (apart) {
            out[written++] = ' ';
        }
        out[written++] = in[i];
        if (apart) {
            out[written++] = ' ';
            out[written++] = in[++i];
        }
    }
    return written;
}

/* ([0-9])(-) becomes "\1 \2 ". */
static size_t set_hyphens_apart(const char *in, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        out[written++] = in[i];
        if (is_digit(in[i]) && i + 1 < length && in[i + 1] == '-') {
            out[written++] = ' ';
            out[written++] = in[++i];
            out[written++] = ' ';
        }
    }
    return written;
}

static size_t space_words(const char *in, size_t length, char *out)
{
    size_t written = 0;
    bool inside = false;
    for (size_t i = 0; i < length;) {
        const size_t space = space_length(in + i, length - i);
        if (space == 0) {
            if (!inside && written > 0) {
                out[written++] = ' ';
            }
            out[written++] = in[i];
        }
        inside = space == 0;
        i += space ? space : 1;
    }
    return written;
}

/* Ensures that the spare buffer can hold the output of a rule for `length` bytes. */
static yk_status reserve(struct yk_bleu_tokens *tokens, size_t length)
{
    tokens->spare.length = 0;
    YK_TRY_ALLOCATED(length <= SIZE_MAX / GROWTH &&
                     yk_text_reserve(&tokens->spare, GROWTH * length));
    return YK_OK;
}

/* Makes the output of a rule, `length` bytes in the spare buffer, the current text. */
static void swap_buffers(struct yk_bleu_tokens *tokens, size_t length)
{
    const struct yk_text words = tokens->spare;
    tokens->spare = tokens->words;
    tokens->words = words;
    tokens->words.length = length;
    tokens->words.bytes[length] = '\0';
}

/* Replaces `what` from left to right with the character `with`, or removes it if `with` is zero, as
 * str.replace() does. */
static void replace(struct yk_text *text, const char *what, char with)
{
    const size_t what_length = strlen(what);
    char *from = text->bytes;
    char *to = text->bytes;
    char *const end = text->bytes + text->length;
    char *found = NULL;
    while ((found = memmem(from, (size_t)(end - from), what, what_length))) {
        memmove(to, from, (size_t)(found - from));
        to += found - from;
        if (with != '\0') {
            *to++ = with;
        }
        from = found + what_length;
    }
    memmove(to, from, (size_t)(end - from));
    text->length = (size_t)(to - text->bytes) + (size_t)(end - from);
    text->bytes[text->length] = '\0';
}

static void undo_markup(struct yk_text *text)
{
    replace(text, "<skipped>", '\0');
    replace(text, "-\n", '\0');
    replace(text, "\n", ' ');
    /* In this order, so that "&amp;lt;" ends as "<". */
    replace(text, "&quot;", '"');
    replace(text, "&amp;", '&');
    replace(text, "&lt;", '<');
    replace(text, "&gt;", '>');
}

yk_status yk_bleu_tokens_split(const char *sentence, size_t length, struct yk_bleu_tokens *tokens)
{
    static const rule rules[] = {set_apart, set_points_apart_after_others,
                                 set_points_apart_before_others, set_hyphens_apart, space_words};
    const size_t stripped = stripped_length(sentence, length);
    /* The rules see a space at both ends. */
    tokens->words.length = 0;
    yk_text_add(&tokens->words, " ");
    yk_text_add_bytes(&tokens->words, sentence, stripped);
    yk_text_add(&tokens->words, " ");
    YK_TRY(yk_text_status(&tokens->words));
    undo_markup(&tokens->words);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        YK_TRY(reserve(tokens, tokens->words.length));
        swap_buffers(tokens,
                     rules[i](tokens->words.bytes, tokens->words.length, tokens->spare.bytes));
    }
    return YK_OK;
}

/* The version of sacreBLEU that tests/oracle/make_bleu_fixtures.py compares with. */
#define RULES_VERSION "2.6.0"

/* An n-gram of a reference. Words are separated by one space and contain none, so the bytes from
 * the first to the last word identify the n-gram. */
struct ngram {
    const char *bytes; /* in the tokens of the reference; NULL means: the slot is empty */
    size_t length;
    uint64_t hash;
    int64_t left; /* occurrences that are not matched yet */
};

/* The n-grams of one reference, in a hash table with open addressing that is reused for every
 * sentence. */
struct ngram_table {
    struct ngram *slots;
    size_t capacity; /* allocated slots */
    size_t mask;     /* number of used slots - 1; a power of two - 1 */
};

struct counting {
    struct yk_bleu_tokens hypothesis;
    struct yk_bleu_tokens reference;
    struct yk_text lowered;
    struct ngram_table ngrams;
};

static int64_t count_words(const struct yk_text *words)
{
    int64_t count = words->length > 0;
    for (size_t i = 0; i < words->length; i++) {
        count += words->bytes[i] == ' ';
    }
    return count;
}

/* Empties the table and makes it at least twice as large as `count` n-grams. */
static yk_status clear_ngrams(struct ngram_table *ngrams, size_t count)
{
    size_t needed = 16;
    while (needed / 2 < count) {
        needed *= 2;
    }
    if (needed > ngrams->capacity) {
        free(ngrams->slots);
        ngrams->slots = NULL;
        ngrams->capacity = 0;
        ngrams->slots = malloc(needed * sizeof *ngrams->slots);
        YK_TRY_ALLOCATED(ngrams->slots);
        ngrams->capacity = needed;
    }
    memset(ngrams->slots, 0, needed * sizeof *ngrams->slots);
    ngrams->mask = needed - 1;
    return YK_OK;
}

/* The slot of an n-gram, or the empty slot where it belongs. */
static struct ngram *find_ngram(const struct ngram_table *ngrams, const char *bytes, size_t length,
                                uint64_t hash)
{
    size_t at = (size_t)hash & ngrams->mask;
    while (ngrams->slots[at].bytes &&
           (ngrams->slots[at].hash != hash || ngrams->slots[at].length != length ||
            memcmp(ngrams->slots[at].bytes, bytes, length) != 0)) {
        at = (at + 1) & ngrams->mask;
    }
    return &ngrams->slots[at];
}

static void add_ngram(const struct ngram_table *ngrams, const char *bytes, size_t length)
{
    const uint64_t hash = yk_hash_bytes(bytes, length);
    struct ngram *ngram = find_ngram(ngrams, bytes, length, hash);
    if (!ngram->bytes) {
        *ngram = (struct ngram){.bytes = bytes, .length = length, .hash = hash};
    }
    ngram->left++;
}

/* Marks one occurrence in the reference as matched, so that it is not matched twice. */
static bool match_ngram(const struct ngram_table *ngrams, const char *bytes, size_t length)
{
    struct ngram *ngram = find_ngram(ngrams, bytes, length, yk_hash_bytes(bytes, length));
    if (!ngram->bytes || ngram->left == 0) {
        return false;
    }
    ngram->left--;
    return true;
}

static const char *end_of_word(const char *word, const char *end)
{
    const char *space = memchr(word, ' ', (size_t)(end - word));
    return space ? space : end;
}

/* Visits every n-gram of one to four words. Without `out` adds it to the table; with `out` matches
 * it against the table and counts. */
static void visit_ngrams(const struct yk_text *words, const struct ngram_table *ngrams,
                         struct yk_bleu_result *out)
{
    const char *const end = words->bytes + words->length;
    for (const char *word = words->bytes; word < end;) {
        const char *stop = end_of_word(word, end);
        const char *const next = stop < end ? stop + 1 : end;
        for (int order = 0; order < YK_BLEU_MAX_NGRAM; order++) {
            const size_t length = (size_t)(stop - word);
            if (!out) {
                add_ngram(ngrams, word, length);
            } else {
                out->totals[order]++;
                out->matches[order] += match_ngram(ngrams, word, length);
            }
            if (stop == end) {
                break;
            }
            stop = end_of_word(stop + 1, end);
        }
        word = next;
    }
}

static yk_status tokenize(const char *sentence, bool lowercase, struct yk_text *lowered,
                          struct yk_bleu_tokens *out)
{
    size_t length = strlen(sentence);
    if (lowercase) {
        lowered->length = 0;
        yk_unicode_lowercase_text(sentence, length, lowered);
        YK_TRY(yk_text_status(lowered));
        sentence = yk_text_chars(lowered);
        length = lowered->length;
    }
    return yk_bleu_tokens_split(sentence, length, out);
}

static yk_status count_sentence(struct counting *counting, const char *hypothesis,
                                const char *reference, bool lowercase, struct yk_bleu_result *out)
{
    YK_TRY(tokenize(hypothesis, lowercase, &counting->lowered, &counting->hypothesis));
    YK_TRY(tokenize(reference, lowercase, &counting->lowered, &counting->reference));
    const int64_t words = count_words(&counting->reference.words);
    out->hypothesis_length += count_words(&counting->hypothesis.words);
    out->reference_length += words;
    YK_TRY(clear_ngrams(&counting->ngrams, YK_BLEU_MAX_NGRAM * (size_t)words));
    visit_ngrams(&counting->reference.words, &counting->ngrams, NULL);
    visit_ngrams(&counting->hypothesis.words, &counting->ngrams, out);
    return YK_OK;
}

/* An order without matches counts as half a match, the next one as a quarter, and so on (Chen and
 * Cherry, "A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU", WMT 2014,
 * method 3). */
static void set_precisions(struct yk_bleu_result *bleu)
{
    double smoothing = 1;
    for (int n = 0; n < YK_BLEU_MAX_NGRAM && bleu->totals[n] > 0; n++) {
        const double total = (double)bleu->totals[n];
        if (bleu->matches[n] > 0) {
            bleu->precisions[n] = 100 * (double)bleu->matches[n] / total;
        } else {
            smoothing *= 2;
            bleu->precisions[n] = 100 / (smoothing * total);
        }
    }
}

static void set_score(struct yk_bleu_result *bleu)
{
    const double hypothesis = (double)bleu->hypothesis_length;
    const double reference = (double)bleu->reference_length;
    bleu->brevity_penalty = 1;
    if (hypothesis < reference) {
        bleu->brevity_penalty = hypothesis > 0 ? exp(1 - reference / hypothesis) : 0;
    }
    if (bleu->matches[0] == 0) {
        return; /* no word matches: smoothing does not apply */
    }
    set_precisions(bleu);
    double sum = 0;
    for (int n = 0; n < YK_BLEU_MAX_NGRAM; n++) {
        sum += log(
            bleu->precisions[n]); /* −∞ if there are no n-grams of this length: the score is 0 */
    }
    bleu->score = bleu->brevity_penalty * exp(sum / YK_BLEU_MAX_NGRAM);
}

yk_status yk_bleu_compute(const char *const *hypotheses, const char *const *references,
                          int64_t count, bool lowercase, struct yk_bleu_result *out)
{
    struct counting counting = {0};
    struct yk_bleu_result bleu = {0};
    yk_status status = YK_OK;
    for (int64_t i = 0; status == YK_OK && i < count; i++) {
        status = count_sentence(&counting, hypotheses[i], references[i], lowercase, &bleu);
    }
    yk_bleu_tokens_free(&counting.hypothesis);
    yk_bleu_tokens_free(&counting.reference);
    yk_text_free(&counting.lowered);
    free(counting.ngrams.slots);
    if (status == YK_OK) {
        set_score(&bleu);
        *out = bleu;
    }
    return status;
}

double yk_bleu_length_ratio(const struct yk_bleu_result *bleu)
{
    return bleu->reference_length > 0
               ? (double)bleu->hypothesis_length / (double)bleu->reference_length
               : 0;
}

void yk_bleu_write_score_line(const struct yk_bleu_result *bleu, struct yk_text *out)
{
    yk_text_addf(out, "BLEU = %.2f ", bleu->score);
    for (int n = 0; n < YK_BLEU_MAX_NGRAM; n++) {
        yk_text_addf(out, n == 0 ? "%.1f" : "/%.1f", bleu->precisions[n]);
    }
    yk_text_addf(out, " (BP = %.3f ratio = %.3f hyp_len = %" PRId64 " ref_len = %" PRId64 ")",
                 bleu->brevity_penalty, yk_bleu_length_ratio(bleu), bleu->hypothesis_length,
                 bleu->reference_length);
}

void yk_bleu_write_sacrebleu_signature(bool lowercase, struct yk_text *out)
{
    yk_text_addf(out, "nrefs:1|case:%s|eff:no|tok:13a|smooth:exp|version:" RULES_VERSION,
                 lowercase ? "lc" : "mixed");
}
