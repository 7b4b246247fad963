#include "job/models/translate.h"

#include "base/number.h"
#include "data/lines.h"
#include "nn/inference/beam_search.h"
#include "tokenizer/tokenizer_encoder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MORE_TOKENS = 16 /* default limit of a translation: 2 × input tokens + MORE_TOKENS */
};

/* A line that is being translated. */
struct sentence {
    int64_t line;
    int64_t first; /* among all ids */
    int64_t count; /* tokens with the end; 0: there is nothing to translate */
};

struct translator {
    const struct yk_translate_request *request;
    struct yk_loaded_model loaded;
    struct yk_lines *lines;
    const char *source;         /* what messages call them */
    struct yk_token_ids ids;    /* of all lines */
    struct sentence *sentences; /* by length, the longest first */
    struct yk_text *texts;      /* of the translations, in the order of the lines */
    struct yk_beam_search_options options;
    struct yk_inference *inference;
    struct yk_beam_search_state *beam;
    int32_t *tokens;  /* (batch, T) */
    int32_t *lengths; /* (batch) */
    int64_t *longest; /* (batch) of their translations */
};

static yk_status encode(struct translator *translator, struct yk_tokenizer_encoder *encoder)
{
    const struct yk_lines *lines = translator->lines;
    const int64_t positions = translator->loaded.model->config->positions;
    for (int64_t i = 0; i < lines->count; i++) {
        struct sentence *sentence = &translator->sentences[i];
        sentence->line = i;
        sentence->first = translator->ids.count;
        YK_TRY(yk_tokenizer_encoder_encode(encoder, lines->items[i], lines->lengths[i],
                                           translator->source, YK_ADD_SPECIAL_TOKENS_NO,
                                           &translator->ids));
        if (translator->ids.count > sentence->first) {
            yk_token_ids_add(&translator->ids, translator->options.end);
        }
        YK_TRY(yk_token_ids_status(&translator->ids));
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
    return left->count != right->count ? yk_number_compare(right->count, left->count)
                                       : yk_number_compare(left->line, right->line);
}

static int64_t longest_output(const struct translator *translator, int64_t source)
{
    const int64_t wanted = translator->request->max_tokens > 0 ? translator->request->max_tokens
                                                               : 2 * source + MORE_TOKENS;
    return yk_number_min(wanted, translator->loaded.model->config->positions);
}

/* Room for the first sentences, which are the longest. */
static yk_status allocate(struct translator *translator)
{
    const struct yk_loaded_model *loaded = &translator->loaded;
    const int64_t batch = translator->request->batch;
    const int64_t source = translator->sentences[0].count;
    const int64_t target = longest_output(translator, source);
    const struct yk_inference_shape shape = {
        .samples = batch * translator->request->beams,
        .sequence = source,
        .target_sequence = target,
        .last_only = true,
    };
    YK_TRY_NEW(loaded->arena, translator->tokens, batch * source);
    YK_TRY_NEW(loaded->arena, translator->lengths, batch);
    YK_TRY_NEW(loaded->arena, translator->longest, batch);
    YK_TRY(yk_inference_create(loaded->store, &shape, &translator->inference));
    return yk_beam_search_create(&translator->options, batch, target,
                                 yk_model_config_target_vocabulary_size(loaded->model->config),
                                 &translator->beam);
}

/* Sentences side by side, in the order of their length. */
static yk_status translate(struct translator *translator, const struct sentence *sentences,
                           int64_t count)
{
    const int64_t sequence = sentences[0].count;
    const int32_t padding = translator->options.pad >= 0 ? translator->options.pad : 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t *row = translator->tokens + i * sequence;
        memcpy(row, translator->ids.items + sentences[i].first,
               (size_t)sentences[i].count * sizeof *row);
        for (int64_t t = sentences[i].count; t < sequence; t++) {
            row[t] = padding;
        }
        translator->lengths[i] = (int32_t)sentences[i].count;
        translator->longest[i] = longest_output(translator, sentences[i].count);
    }
    const struct yk_beam_search_input input = {
        .tokens = translator->tokens,
        .lengths = translator->lengths,
        .longest = translator->longest,
        .sentences = count,
        .sequence = sequence,
        .stop = yk_job_stop_flag(translator->request->job),
    };
    YK_TRY(yk_beam_search_run(translator->beam, translator->inference, &input));
    for (int64_t i = 0; i < count; i++) {
        int64_t length = 0;
        double score = 0;
        const int32_t *ids = yk_beam_search_get_best_output(translator->beam, i, &length, &score);
        YK_TRY(yk_tokenizer_decode(translator->loaded.tokenizer, ids, length, true,
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
    YK_TRY(allocate(translator));
    for (int64_t done = 0; done < count;) {
        const int64_t batch = yk_number_min(count - done, translator->request->batch);
        const yk_status status = translate(translator, translator->sentences + done, batch);
        if (status == YK_ERROR_STOPPED) {
            return yk_fail(YK_ERROR_STOPPED,
                           "stopped after %" PRId64 " of %" PRId64 " lines; nothing is written",
                           done, count);
        }
        YK_TRY(status);
        done += batch;
        yk_job_report_progress(translator->request->job, "translating",
                               (double)done / (double)count);
    }
    return YK_OK;
}

/* What the decoder begins with is in the config of any model that has been trained; in others it is
 * the padding. */
static yk_status find_tokens(struct translator *translator)
{
    const struct yk_special_token_ids *ids = &translator->loaded.model->config->ids;
    const struct yk_tokenizer *tokenizer = translator->loaded.tokenizer;
    const int32_t end =
        ids->end >= 0 ? (int32_t)ids->end : yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_END);
    const int32_t pad =
        ids->pad >= 0 ? (int32_t)ids->pad : yk_tokenizer_find_role_id(tokenizer, YK_TOKEN_PAD);
    translator->options = (struct yk_beam_search_options){
        .width = (int32_t)translator->request->beams,
        .length_penalty = translator->request->length_penalty,
        .start = ids->decoder_start >= 0 ? (int32_t)ids->decoder_start : pad,
        .end = end,
        .pad = pad,
    };
    if (end < 0 || translator->options.start < 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: neither its config nor its tokenizer says what a translation begins "
                       "and ends with",
                       translator->loaded.checkpoint->path);
    }
    return YK_OK;
}

static yk_status check_model(const struct yk_loaded_model *loaded)
{
    if (loaded->model->config->encoder_layers == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s is no encoder–decoder, which translating takes; see yoke generate",
                       loaded->checkpoint->path);
    }
    if (!loaded->tokenizer) {
        return yk_fail(YK_ERROR_INPUT, "%s has no tokenizer to cut text into tokens",
                       loaded->checkpoint->path);
    }
    if (yk_tokenizer_vocabulary_size(loaded->tokenizer) > loaded->model->config->vocabulary) {
        return yk_fail(YK_ERROR_INPUT, "%s: the tokenizer has %d tokens, but the model knows %lld",
                       loaded->checkpoint->path,
                       (int)yk_tokenizer_vocabulary_size(loaded->tokenizer),
                       (long long)loaded->model->config->vocabulary);
    }
    return YK_OK;
}

/* Checks the number of references before the translation starts, which may take long. */
static yk_status check_reference(const struct translator *translator)
{
    const char *reference = translator->request->reference;
    const int64_t lines = translator->lines->count;
    struct yk_lines *references = NULL;
    if (!reference) {
        return YK_OK;
    }
    YK_TRY(yk_lines_read_file(reference, &references));
    const int64_t count = references->count;
    yk_lines_destroy(references);
    return count == lines
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%s and %s have %lld and %lld lines; a score compares them line by line",
                         translator->source, reference, (long long)lines, (long long)count);
}

static yk_status open_all(struct translator *translator)
{
    YK_TRY(yk_loaded_model_open(&translator->request->model, &translator->loaded));
    YK_TRY(check_model(&translator->loaded));
    YK_TRY(yk_lines_read_file_or_stdin(translator->request->input, &translator->source,
                                       &translator->lines));
    YK_TRY(check_reference(translator));
    const int64_t room = translator->lines->count + 1;
    YK_TRY_NEW(translator->loaded.arena, translator->sentences, room);
    YK_TRY_NEW(translator->loaded.arena, translator->texts, room);
    return find_tokens(translator);
}

static void close_all(struct translator *translator)
{
    for (int64_t i = 0; translator->texts && i < translator->lines->count; i++) {
        yk_text_free(&translator->texts[i]);
    }
    yk_token_ids_free(&translator->ids);
    yk_beam_search_destroy(translator->beam);
    yk_inference_destroy(translator->inference);
    yk_lines_destroy(translator->lines);
    yk_loaded_model_close(&translator->loaded);
}

/* A line break inside a translation would make two lines of it. */
static void join_line(struct yk_text *text)
{
    for (size_t i = 0; i < text->length; i++) {
        if (text->bytes[i] == '\n' || text->bytes[i] == '\r') {
            text->bytes[i] = ' ';
        }
    }
}

static yk_status score(const struct translator *translator, struct yk_bleu_score *out)
{
    struct yk_text all = {0};
    struct yk_lines *lines = NULL;
    for (int64_t i = 0; i < translator->lines->count; i++) {
        const struct yk_text *text = &translator->texts[i];
        yk_text_add_bytes(&all, yk_text_chars(text), text->length);
        yk_text_add(&all, "\n");
    }
    yk_status status = yk_text_status(&all);
    YK_IF_OK(yk_lines_split(yk_text_chars(&all), all.length, "the translation", &lines));
    YK_IF_OK(yk_bleu_score_compute_for_lines(lines, translator->request->reference, false, out));
    yk_lines_destroy(lines);
    yk_text_free(&all);
    return status;
}

static yk_status emit_lines(const struct translator *translator)
{
    const struct yk_translate_request *request = translator->request;
    for (int64_t i = 0; i < translator->lines->count; i++) {
        const struct yk_text *text = &translator->texts[i];
        YK_TRY(request->line(request->user, yk_text_chars(text), text->length));
    }
    return YK_OK;
}

static yk_status run(struct translator *translator, struct yk_translate_result *out)
{
    struct yk_tokenizer_encoder *encoder = NULL;
    YK_TRY(open_all(translator));
    YK_TRY(yk_tokenizer_encoder_create(translator->loaded.tokenizer, &encoder));
    const yk_status encoded = encode(translator, encoder);
    yk_tokenizer_encoder_destroy(encoder);
    YK_TRY(encoded);
    const int64_t lines = translator->lines->count;
    qsort(translator->sentences, (size_t)lines, sizeof *translator->sentences, by_length);
    yk_job_report_begin(translator->request->job);
    const yk_status translated = translate_all(translator);
    yk_job_report_end(translator->request->job);
    YK_TRY(translated);
    for (int64_t i = 0; i < lines; i++) {
        YK_TRY(yk_text_status(&translator->texts[i]));
        join_line(&translator->texts[i]);
    }
    out->lines = lines;
    if (translator->request->reference) {
        YK_TRY(score(translator, &out->score));
    }
    return emit_lines(translator);
}

yk_status yk_translate_run(const struct yk_translate_request *request,
                           struct yk_translate_result *out)
{
    struct translator translator = {.request = request};
    const yk_status status = run(&translator, out);
    close_all(&translator);
    return status;
}
