#include "job/models/translating.h"

#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "nn/beam.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MORE_TOKENS = 16 /* that a translation may have besides twice those of its sentence */
};

/* A line that is being translated. */
struct sentence {
    int64_t line;
    int64_t first; /* among all ids */
    int64_t count; /* tokens with the end; 0: there is nothing to translate */
};

struct translator {
    const struct yk_translating *how;
    const struct yk_loaded *loaded;
    const struct yk_lines *lines;
    const char *source;
    struct yk_ids ids;          /* of all lines */
    struct sentence *sentences; /* by length, the longest first */
    struct yk_text *texts;      /* of the translations, in the order of the lines */
    struct yk_beam_settings settings;
    struct yk_forward *forward;
    struct yk_beam *beam;
    int32_t *tokens;  /* (batch, T) */
    int32_t *lengths; /* (batch) */
    int64_t *longest; /* (batch) of their translations */
    const atomic_bool *stop;
};

static yk_status encode(struct translator *translator, struct yk_encoder *encoder)
{
    const struct yk_lines *lines = translator->lines;
    const int64_t positions = translator->loaded->model->config->positions;
    for (int64_t i = 0; i < lines->count; i++) {
        struct sentence *sentence = &translator->sentences[i];
        sentence->line = i;
        sentence->first = translator->ids.count;
        YK_TRY(yk_encoder_add(encoder, lines->items[i], lines->lengths[i], translator->source,
                              YK_FRAMING_NONE, &translator->ids));
        if (translator->ids.count > sentence->first) {
            yk_ids_add(&translator->ids, translator->settings.end);
        }
        YK_TRY(yk_ids_status(&translator->ids));
        sentence->count = translator->ids.count - sentence->first;
        if (sentence->count > positions) {
            return yk_fail(YK_ERROR_INPUT,
                           "%s:%" PRId64 ": %" PRId64 " tokens, but the model has positions for "
                           "%" PRId64 "; cut the line into sentences",
                           translator->source, i + 1, sentence->count, positions);
        }
    }
    return YK_OK;
}

static int by_length(const void *a, const void *b)
{
    const struct sentence *left = a;
    const struct sentence *right = b;
    if (left->count != right->count) {
        return left->count > right->count ? -1 : 1;
    }
    return left->line < right->line ? -1 : 1;
}

static int64_t longest_output(const struct translator *translator, int64_t source)
{
    const int64_t positions = translator->loaded->model->config->positions;
    const int64_t wished =
        translator->how->longest > 0 ? translator->how->longest : 2 * source + MORE_TOKENS;
    return wished < positions ? wished : positions;
}

/* Room for the first sentences, which are the longest. */
static yk_status take_room(struct translator *translator)
{
    const struct yk_loaded *loaded = translator->loaded;
    const int64_t batch = translator->how->batch;
    const int64_t source = translator->sentences[0].count;
    const int64_t target = longest_output(translator, source);
    const struct yk_forward_shape shape = {
        .samples = batch * translator->how->beams,
        .sequence = source,
        .target_sequence = target,
        .last_only = true,
    };
    translator->tokens = calloc((size_t)(batch * source), sizeof *translator->tokens);
    translator->lengths = calloc((size_t)batch, sizeof *translator->lengths);
    translator->longest = calloc((size_t)batch, sizeof *translator->longest);
    if (!translator->tokens || !translator->lengths || !translator->longest) {
        return yk_fail_out_of_memory();
    }
    YK_TRY(yk_forward_create(loaded->store, &shape, &translator->forward));
    return yk_beam_create(&translator->settings, batch, target,
                          yk_model_config_target_vocabulary(loaded->model->config),
                          &translator->beam);
}

/* Sentences side by side, in the order of their length. */
static yk_status translate(struct translator *translator, const struct sentence *sentences,
                           int64_t count)
{
    const int64_t sequence = sentences[0].count;
    const int32_t filling = translator->settings.pad >= 0 ? translator->settings.pad : 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t *row = translator->tokens + i * sequence;
        memcpy(row, translator->ids.items + sentences[i].first,
               (size_t)sentences[i].count * sizeof *row);
        for (int64_t t = sentences[i].count; t < sequence; t++) {
            row[t] = filling;
        }
        translator->lengths[i] = (int32_t)sentences[i].count;
        translator->longest[i] = longest_output(translator, sentences[i].count);
    }
    const struct yk_beam_input input = {
        .tokens = translator->tokens,
        .lengths = translator->lengths,
        .longest = translator->longest,
        .sentences = count,
        .sequence = sequence,
        .stop = translator->stop,
    };
    YK_TRY(yk_beam_search(translator->beam, translator->forward, &input));
    for (int64_t i = 0; i < count; i++) {
        int64_t length = 0;
        double score = 0;
        const int32_t *ids = yk_beam_best(translator->beam, i, &length, &score);
        YK_TRY(yk_tokenizer_decode(translator->loaded->tokenizer, ids, length, true,
                                   &translator->texts[sentences[i].line]));
    }
    return YK_OK;
}

static yk_status translate_all(struct translator *translator)
{
    const int64_t lines = translator->lines->count;
    int64_t count = 0; /* lines that hold something: empty ones are at the end */
    while (count < lines && translator->sentences[count].count > 0) {
        count++;
    }
    if (count == 0) {
        return YK_OK;
    }
    translator->stop = yk_interrupt_watch_termination();
    YK_TRY(take_room(translator));
    for (int64_t done = 0; done < count;) {
        const int64_t left = count - done;
        const int64_t taken = left < translator->how->batch ? left : translator->how->batch;
        const yk_status status = translate(translator, translator->sentences + done, taken);
        if (status == YK_ERROR_STOPPED) {
            return yk_fail(YK_ERROR_STOPPED,
                           "stopped after %" PRId64 " of %" PRId64 " lines; nothing is written",
                           done, count);
        }
        YK_TRY(status);
        done += taken;
        yk_terminal_progress(NULL, "translating", (double)done / (double)count);
    }
    return YK_OK;
}

/* A line break inside a translation would make two lines of it. */
static void add_line(const struct yk_text *text, struct yk_text *out)
{
    const size_t start = out->length;
    yk_text_add_bytes(out, yk_text_chars(text), text->length);
    for (size_t i = start; !out->failed && i < out->length; i++) {
        if (out->bytes[i] == '\n' || out->bytes[i] == '\r') {
            out->bytes[i] = ' ';
        }
    }
    yk_text_add(out, "\n");
}

/* What the decoder begins with is in the config of any model that has been trained; in others it is
 * the padding. */
static yk_status find_tokens(struct translator *translator)
{
    const struct yk_config_ids *ids = &translator->loaded->model->config->ids;
    const struct yk_tokenizer *tokenizer = translator->loaded->tokenizer;
    const int32_t end =
        ids->end >= 0 ? (int32_t)ids->end : yk_tokenizer_role(tokenizer, YK_TOKEN_END);
    const int32_t pad =
        ids->pad >= 0 ? (int32_t)ids->pad : yk_tokenizer_role(tokenizer, YK_TOKEN_PAD);
    translator->settings = (struct yk_beam_settings){
        .width = (int32_t)translator->how->beams,
        .length_penalty = translator->how->length_penalty,
        .start = ids->decoder_start >= 0 ? (int32_t)ids->decoder_start : pad,
        .end = end,
        .pad = pad,
    };
    if (end < 0 || translator->settings.start < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: neither its config nor its tokenizer says what a translation begins "
                       "and ends with",
                       translator->loaded->checkpoint->path);
    }
    return YK_OK;
}

static yk_status run(struct translator *translator)
{
    struct yk_encoder *encoder = NULL;
    const int64_t lines = translator->lines->count;
    YK_TRY(find_tokens(translator));
    YK_TRY(yk_encoder_create(translator->loaded->tokenizer, &encoder));
    const yk_status status = encode(translator, encoder);
    yk_encoder_destroy(encoder);
    YK_TRY(status);
    qsort(translator->sentences, (size_t)lines, sizeof *translator->sentences, by_length);
    yk_terminal_progress_begin();
    const yk_status translated = translate_all(translator);
    yk_terminal_progress_end();
    return translated;
}

yk_status yk_translate_lines(const struct yk_translating *how, const struct yk_loaded *loaded,
                             const struct yk_lines *lines, const char *source, struct yk_text *out)
{
    struct translator translator = {.how = how, .loaded = loaded, .lines = lines, .source = source};
    translator.sentences = calloc((size_t)lines->count + 1, sizeof *translator.sentences);
    translator.texts = calloc((size_t)lines->count + 1, sizeof *translator.texts);
    const yk_status status =
        translator.sentences && translator.texts ? run(&translator) : yk_fail_out_of_memory();
    for (int64_t i = 0; translator.texts && i < lines->count; i++) {
        if (status == YK_OK) {
            add_line(&translator.texts[i], out);
        }
        yk_text_free(&translator.texts[i]);
    }
    free(translator.sentences);
    free(translator.texts);
    free(translator.tokens);
    free(translator.lengths);
    free(translator.longest);
    yk_ids_free(&translator.ids);
    yk_beam_destroy(translator.beam);
    yk_forward_destroy(translator.forward);
    return status == YK_OK ? yk_text_status(out) : status;
}
