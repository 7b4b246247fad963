#include "nn/inference/beam_search.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

/* A hypothesis extended by one token. */
struct candidate {
    int32_t row; /* of the hypothesis */
    int32_t token;
    double score; /* log probability */
};

/* A finished hypothesis. */
struct ended {
    double rank;
    int64_t count;   /* tokens, without start and end */
    int32_t *tokens; /* (stride) */
};

struct yk_beam_search_state {
    struct yk_arena *arena;
    struct yk_beam_search_options options;
    int64_t longest;
    int64_t stride; /* tokens of a row: the start, `longest` tokens and one more */
    int64_t vocabulary;
    int64_t open_count;     /* sentences that are not finished */
    int32_t *open;          /* (open_count) their numbers */
    int64_t *limits;        /* (sentences) maximum tokens of an output */
    int32_t *rows;          /* (sentences · width, stride) hypotheses with their start token */
    int32_t *next_rows;     /* the same for the next step */
    double *scores;         /* (sentences · width) */
    int32_t *from;          /* (sentences · width) the encoder's sample of each row */
    int32_t *packed;        /* (sentences · width, t) input of the decoder */
    float *logits;          /* (sentences · width, V) */
    struct candidate *best; /* (2 · width) */
    struct ended *ended;    /* (sentences) the best of each so far */
    int32_t *ended_tokens;  /* (sentences, stride) */
    bool *finished;         /* (open_count) in the current step */
};

static yk_status allocate(struct yk_beam_search_state *beam, int64_t sentences)
{
    const int64_t count = sentences * beam->options.width;
    YK_TRY_NEW(beam->arena, beam->open, sentences);
    YK_TRY_NEW(beam->arena, beam->limits, sentences);
    YK_TRY_NEW(beam->arena, beam->rows, count * beam->stride);
    YK_TRY_NEW(beam->arena, beam->next_rows, count * beam->stride);
    YK_TRY_NEW(beam->arena, beam->packed, count * beam->longest);
    YK_TRY_NEW(beam->arena, beam->scores, count);
    YK_TRY_NEW(beam->arena, beam->from, count);
    YK_TRY_NEW(beam->arena, beam->logits, count * beam->vocabulary);
    YK_TRY_NEW(beam->arena, beam->best, 2 * (int64_t)beam->options.width);
    YK_TRY_NEW(beam->arena, beam->ended, sentences);
    YK_TRY_NEW(beam->arena, beam->ended_tokens, sentences * beam->stride);
    YK_TRY_NEW(beam->arena, beam->finished, sentences);
    return YK_OK;
}

yk_status yk_beam_search_create(const struct yk_beam_search_options *options, int64_t sentences,
                                int64_t longest, int64_t vocabulary,
                                struct yk_beam_search_state **out)
{
    struct yk_beam_search_state *beam = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(beam);
    beam->options = *options;
    beam->longest = longest;
    beam->stride = longest + 2;
    beam->vocabulary = vocabulary;
    YK_TRY_OR_CLEAN_UP(allocate(beam, sentences), yk_beam_search_destroy(beam));
    *out = beam;
    return YK_OK;
}

void yk_beam_search_destroy(struct yk_beam_search_state *beam)
{
    if (beam) {
        yk_arena_destroy(beam->arena);
    }
}

/* The divisor of the score of an output of `length` tokens, including its end. */
static double penalty(const struct yk_beam_search_state *beam, int64_t length)
{
    return pow((5 + (double)length) / 6, beam->options.length_penalty);
}

static void begin(struct yk_beam_search_state *beam, const struct yk_beam_search_input *input)
{
    const int32_t width = beam->options.width;
    beam->open_count = input->sentences;
    for (int64_t i = 0; i < input->sentences; i++) {
        beam->open[i] = (int32_t)i;
        beam->limits[i] = input->longest[i] < beam->longest ? input->longest[i] : beam->longest;
        beam->ended[i] =
            (struct ended){.rank = -INFINITY, .tokens = beam->ended_tokens + i * beam->stride};
        for (int32_t k = 0; k < width; k++) {
            const int64_t row = i * width + k;
            beam->from[row] = (int32_t)i;
            beam->rows[row * beam->stride] = beam->options.start;
            beam->scores[row] = k == 0 ? 0 : -INFINITY; /* one start per sentence */
        }
    }
}

static double log_sum_exp(const float *logits, int64_t count)
{
    float max = logits[0];
    double sum = 0;
    for (int64_t i = 1; i < count; i++) {
        max = logits[i] > max ? logits[i] : max;
    }
    for (int64_t i = 0; i < count; i++) {
        sum += exp((double)logits[i] - (double)max);
    }
    return (double)max + log(sum);
}

/* Inserts a candidate into the sorted list of the best. Of equal ones the earlier is kept. */
static void insert_candidate(struct yk_beam_search_state *beam, const struct candidate *candidate,
                             int32_t *count)
{
    const int32_t max = 2 * beam->options.width;
    int32_t at = *count;
    if (at == max && candidate->score <= beam->best[at - 1].score) {
        return;
    }
    at = at == max ? at - 1 : at;
    while (at > 0 && beam->best[at - 1].score < candidate->score) {
        beam->best[at] = beam->best[at - 1];
        at--;
    }
    beam->best[at] = *candidate;
    *count = *count == max ? max : *count + 1;
}

/* Finds the best 2 · width extensions of a sentence's hypotheses. At most half of them end it.
 * Returns their number; −1: logits are not finite. */
static int32_t find_best(struct yk_beam_search_state *beam, int64_t place)
{
    const struct yk_beam_search_options *options = &beam->options;
    int32_t count = 0;
    for (int32_t k = 0; k < options->width; k++) {
        const int64_t row = place * options->width + k;
        const float *logits = beam->logits + row * beam->vocabulary;
        if (isinf(beam->scores[row])) {
            continue;
        }
        const double sum = log_sum_exp(logits, beam->vocabulary);
        if (!isfinite(sum)) {
            return -1;
        }
        for (int64_t v = 0; v < beam->vocabulary; v++) {
            const double score = beam->scores[row] + (double)logits[v] - sum;
            if ((count == 2 * options->width && score <= beam->best[count - 1].score) ||
                v == options->pad || (v == options->start && v != options->end)) {
                continue;
            }
            insert_candidate(beam, &(struct candidate){(int32_t)row, (int32_t)v, score}, &count);
        }
    }
    return count;
}

/* Records a finished hypothesis of `length` tokens, including the start, if it is the best. */
static void finish_hypothesis(struct yk_beam_search_state *beam, int32_t sentence,
                              const int32_t *row, int64_t length, double score)
{
    struct ended *ended = &beam->ended[sentence];
    const double rank = score / penalty(beam, length);
    if (rank > ended->rank) {
        ended->rank = rank;
        ended->count = length - 1;
        memcpy(ended->tokens, row + 1, (size_t)ended->count * sizeof *row);
    }
}

/*
 * Extends the hypotheses of one sentence, which have `length` tokens, by the first `count` of
 * beam->best. Returns true if the sentence is finished: no open hypothesis can be ranked higher
 * than the best finished one, even if its remaining tokens were certain; or the limit is reached.
 */
static bool extend(struct yk_beam_search_state *beam, int64_t place, int64_t length, int32_t count)
{
    const int32_t width = beam->options.width;
    const int32_t sentence = beam->open[place];
    const int64_t longest = beam->limits[sentence];
    double best = -INFINITY; /* of the open hypotheses */
    int32_t kept = 0;
    for (int32_t i = 0; i < count && kept < width; i++) {
        const struct candidate *candidate = &beam->best[i];
        const int32_t *row = beam->rows + (int64_t)candidate->row * beam->stride;
        if (candidate->token == beam->options.end) {
            finish_hypothesis(beam, sentence, row, length, candidate->score);
            continue;
        }
        int32_t *to = beam->next_rows + (place * width + kept) * beam->stride;
        memcpy(to, row, (size_t)length * sizeof *row);
        to[length] = candidate->token;
        best = candidate->score > best ? candidate->score : best;
        beam->best[kept++].score = candidate->score;
    }
    for (int32_t k = 0; k < width; k++) {
        beam->scores[place * width + k] = k < kept ? beam->best[k].score : -INFINITY;
    }
    if (kept == 0) {
        return true;
    }
    if (length == longest) { /* only the end token could follow */
        if (isinf(beam->ended[sentence].rank)) {
            finish_hypothesis(beam, sentence, beam->next_rows + place * width * beam->stride,
                              length + 1, best);
        }
        return true;
    }
    return beam->ended[sentence].rank >= best / penalty(beam, longest);
}

/* Removes the rows of finished sentences. */
static yk_status remove_finished(struct yk_beam_search_state *beam, struct yk_inference *inference,
                                 int64_t length)
{
    const int32_t width = beam->options.width;
    int64_t kept = 0;
    for (int64_t i = 0; i < beam->open_count; i++) {
        if (beam->finished[i]) {
            continue;
        }
        for (int32_t k = 0; k < width; k++) {
            memmove(beam->next_rows + (kept * width + k) * beam->stride,
                    beam->next_rows + (i * width + k) * beam->stride,
                    (size_t)length * sizeof *beam->rows);
            beam->scores[kept * width + k] = beam->scores[i * width + k];
            beam->from[kept * width + k] = (int32_t)(i * width + k);
        }
        beam->open[kept++] = beam->open[i];
    }
    const bool fewer = kept < beam->open_count;
    beam->open_count = kept;
    return fewer && kept > 0
               ? yk_inference_select_encoder_outputs(inference, beam->from, kept * width)
               : YK_OK;
}

static yk_status step(struct yk_beam_search_state *beam, struct yk_inference *inference,
                      int64_t length)
{
    const int64_t rows = beam->open_count * beam->options.width;
    for (int64_t i = 0; i < rows; i++) {
        memcpy(beam->packed + i * length, beam->rows + i * beam->stride,
               (size_t)length * sizeof *beam->packed);
    }
    YK_TRY(yk_inference_decode(inference, beam->packed, length));
    YK_TRY(yk_inference_get_last_logits(inference, beam->logits));
    for (int64_t i = 0; i < beam->open_count; i++) {
        const int32_t count = find_best(beam, i);
        if (count < 0) {
            return yk_fail(YK_ERROR_NUMBERS,
                           "the model's output is not a number; its weights have gone bad");
        }
        beam->finished[i] = extend(beam, i, length, count);
    }
    YK_TRY(remove_finished(beam, inference, length + 1));
    int32_t *rows_before = beam->rows;
    beam->rows = beam->next_rows;
    beam->next_rows = rows_before;
    return YK_OK;
}

yk_status yk_beam_search_run(struct yk_beam_search_state *beam, struct yk_inference *inference,
                             const struct yk_beam_search_input *input)
{
    begin(beam, input);
    yk_status status = yk_inference_encode(inference, input->tokens, input->lengths,
                                           input->sentences, input->sequence);
    YK_IF_OK(yk_inference_select_encoder_outputs(inference, beam->from,
                                                 input->sentences * beam->options.width));
    for (int64_t length = 1; status == YK_OK && beam->open_count > 0; length++) {
        status = step(beam, inference, length);
        if (status == YK_OK && input->stop && atomic_load(input->stop)) {
            status = yk_fail(YK_ERROR_STOPPED, "stopped while translations were searched for");
        }
    }
    return status;
}

const int32_t *yk_beam_search_get_best_output(const struct yk_beam_search_state *beam,
                                              int64_t sentence, int64_t *count, double *score)
{
    const struct ended *ended = &beam->ended[sentence];
    *count = ended->count;
    *score = ended->rank;
    return ended->tokens;
}
