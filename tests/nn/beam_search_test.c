/* Beam search, against every output there could be, and against a plain search of one beginning at
 * a time. */
#include "nn/inference/beam_search.h"

#include "support/support.h"
#include "support/training/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KNOWN = 7, /* tokens */
    PAD = 0,
    START = 1,
    END = 2,
    SENTENCES = 3,
    SOURCE = 5,
    LONGEST = 4,
    MAX_WIDTH = 100, /* more than there are outputs */
    FARTHEST = 12,   /* output of the plain search */
    WIDTHS = 5,      /* of the plain search: 1 to 5 */
    PENALTIES = 4,
    FIRST_SEED = 9,
    LAST_SEED = 12,
};

#define ALPHA 0.8

static const char json[] =
    "{\"model_type\":\"marian\",\"architectures\":[\"MarianMTModel\"],\"vocab_size\":7,"
    "\"d_model\":8,\"encoder_layers\":1,\"decoder_layers\":1,\"encoder_ffn_dim\":16,"
    "\"decoder_ffn_dim\":16,\"encoder_attention_heads\":2,\"decoder_attention_heads\":2,"
    "\"max_position_embeddings\":16,\"activation_function\":\"relu\",\"init_std\":1.0,"
    "\"scale_embedding\":true,\"pad_token_id\":0,\"eos_token_id\":2,"
    "\"decoder_start_token_id\":1}";

static const int32_t sources[SENTENCES * SOURCE] = {
    3, 4, 5, 6, 2, /**/ 6, 6, 2, 0, 0, /**/ 5, 3, 4, 2, 0,
};
static const int32_t lengths[SENTENCES] = {5, 3, 4};

struct bench {
    struct yk_arena *arena;
    struct trainer *trainer;
    struct yk_inference *inference;
};

static void open_bench(struct bench *bench, uint64_t seed)
{
    struct trainer_request request = {.batch = SENTENCES, .sequence = SOURCE};
    assert_ok(yk_arena_create(&bench->arena));
    assert_ok(yk_model_config_parse(json, strlen(json), "test", bench->arena, &request.config));
    bench->trainer = trainer_open(&request);
    assert_ok(yk_parameter_store_init_parameters(bench->trainer->store, seed,
                                                 YK_PARAMETER_STORE_INIT_ALL));
    const struct yk_inference_shape shape = {
        .samples = (int64_t)SENTENCES * MAX_WIDTH,
        .sequence = SOURCE,
        .target_sequence = FARTHEST + 1,
        .last_only = true,
    };
    assert_ok(yk_inference_create(bench->trainer->store, &shape, &bench->inference));
}

static void close_bench(struct bench *bench)
{
    yk_inference_destroy(bench->inference);
    trainer_close(bench->trainer);
    yk_arena_destroy(bench->arena);
}

/* What is foretold from here on is of one sentence alone. */
static void encode(struct bench *bench, int64_t sentence)
{
    assert_ok(yk_inference_encode(bench->inference, sources + sentence * SOURCE, lengths + sentence,
                                  1, SOURCE));
}

/* The logarithms of the probabilities of what may follow a beginning. */
static void predict(struct bench *bench, const int32_t *row, int64_t length, double out[KNOWN])
{
    float logits[KNOWN];
    double sum = 0;
    assert_ok(yk_inference_decode(bench->inference, row, length));
    assert_ok(yk_inference_get_last_logits(bench->inference, logits));
    for (int v = 0; v < KNOWN; v++) {
        sum += exp((double)logits[v]);
    }
    for (int v = 0; v < KNOWN; v++) {
        out[v] = (double)logits[v] - log(sum);
    }
}

struct found {
    double rank;
    int32_t tokens[FARTHEST + 2];
    int64_t count;
};

/* Tries every way to go on with a beginning of `length` tokens, the start among them. */
static void try_all(struct bench *bench, int32_t *row, int64_t length, double score,
                    struct found *best)
{
    double next[KNOWN];
    predict(bench, row, length, next);
    const double rank = (score + next[END]) / pow((5 + (double)length) / 6, ALPHA);
    if (rank > best->rank) {
        best->rank = rank;
        best->count = length - 1;
        memcpy(best->tokens, row + 1, (size_t)best->count * sizeof *row);
    }
    for (int32_t v = END + 1; v < KNOWN && length < LONGEST; v++) {
        row[length] = v;
        try_all(bench, row, length + 1, score + next[v], best);
    }
}

static void search(struct bench *bench, int32_t width, struct yk_beam_search_state **out)
{
    const struct yk_beam_search_options options = {
        .width = width, .length_penalty = ALPHA, .start = START, .end = END, .pad = PAD};
    static const int64_t longest[SENTENCES] = {LONGEST, LONGEST, LONGEST};
    const struct yk_beam_search_input input = {sources, lengths, longest, SENTENCES, SOURCE, NULL};
    assert_ok(yk_beam_search_create(&options, SENTENCES, LONGEST, KNOWN, out));
    assert_ok(yk_beam_search_run(*out, bench->inference, &input));
}

static void a_beam_wide_enough_finds_the_best_of_all_outputs(void **state)
{
    (void)state;
    struct bench bench;
    struct yk_beam_search_state *beam = NULL;
    open_bench(&bench, 11);
    search(&bench, MAX_WIDTH, &beam);
    for (int64_t i = 0; i < SENTENCES; i++) {
        struct found best = {.rank = -INFINITY};
        int32_t row[LONGEST + 1] = {START};
        int64_t count = 0;
        double score = 0;
        encode(&bench, i);
        try_all(&bench, row, 1, 0, &best);
        const int32_t *tokens = yk_beam_search_get_best_output(beam, i, &count, &score);
        assert_int_equal(count, best.count);
        assert_memory_equal(tokens, best.tokens, (size_t)count * sizeof *tokens);
        assert_true(fabs(score - best.rank) < 1e-4);
    }
    yk_beam_search_destroy(beam);
    close_bench(&bench);
}

static void a_beam_of_one_picks_the_likeliest_token_each_time(void **state)
{
    (void)state;
    struct bench bench;
    struct yk_beam_search_state *beam = NULL;
    open_bench(&bench, 11);
    search(&bench, 1, &beam);
    for (int64_t i = 0; i < SENTENCES; i++) {
        int32_t row[LONGEST + 2] = {START};
        int64_t length = 1;
        int64_t count = 0;
        double score = 0;
        encode(&bench, i);
        for (bool ended = false; !ended && length <= LONGEST;) {
            double next[KNOWN];
            int32_t likeliest = END;
            predict(&bench, row, length, next);
            for (int32_t v = END + 1; v < KNOWN; v++) {
                likeliest = next[v] > next[likeliest] ? v : likeliest;
            }
            ended = likeliest == END;
            row[length] = likeliest;
            length += ended ? 0 : 1;
        }
        const int32_t *tokens = yk_beam_search_get_best_output(beam, i, &count, &score);
        assert_int_equal(count, length - 1);
        assert_memory_equal(tokens, row + 1, (size_t)count * sizeof *tokens);
    }
    yk_beam_search_destroy(beam);
    close_bench(&bench);
}

/* What is beside a sentence, and how far it is filled up, makes no difference to it. */
static void sentences_are_translated_alone_as_among_others(void **state)
{
    (void)state;
    struct bench bench;
    struct yk_beam_search_state *together = NULL;
    open_bench(&bench, 11);
    search(&bench, 3, &together);
    for (int64_t i = 0; i < SENTENCES; i++) {
        const struct yk_beam_search_options options = {
            .width = 3, .length_penalty = ALPHA, .start = START, .end = END, .pad = PAD};
        const int64_t longest = LONGEST;
        const struct yk_beam_search_input input = {sources + i * SOURCE, lengths + i, &longest, 1,
                                                   lengths[i],           NULL};
        struct yk_beam_search_state *alone = NULL;
        int64_t counts[2];
        double scores[2];
        assert_ok(yk_beam_search_create(&options, 1, LONGEST, KNOWN, &alone));
        assert_ok(yk_beam_search_run(alone, bench.inference, &input));
        const int32_t *one = yk_beam_search_get_best_output(alone, 0, &counts[0], &scores[0]);
        const int32_t *other = yk_beam_search_get_best_output(together, i, &counts[1], &scores[1]);
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(one, other, (size_t)counts[0] * sizeof *one);
        assert_true(fabs(scores[0] - scores[1]) < 1e-4);
        yk_beam_search_destroy(alone);
    }
    yk_beam_search_destroy(together);
    close_bench(&bench);
}

static const int64_t limits[SENTENCES] = {FARTHEST, 3, 8};
static const double penalties[PENALTIES] = {0, 0.6, 1.5, 3};

/* A beginning, the start in front, and the logarithm of its probability. */
struct beginning {
    int32_t tokens[FARTHEST + 2];
    int64_t length;
    double score;
};

static int compare_scores(const void *a, const void *b)
{
    const double left = ((const struct beginning *)a)->score;
    const double right = ((const struct beginning *)b)->score;
    return left > right ? -1 : left < right;
}

/* All that `count` beginnings may become, the likeliest first. */
static int lengthen(struct bench *bench, const struct beginning *from, int count,
                    struct beginning *out)
{
    int made = 0;
    for (int i = 0; i < count; i++) {
        double next[KNOWN];
        predict(bench, from[i].tokens, from[i].length, next);
        for (int32_t v = END; v < KNOWN; v++) {
            out[made] = from[i];
            out[made].tokens[out[made].length++] = v;
            out[made++].score += next[v];
        }
    }
    qsort(out, (size_t)made, sizeof *out, compare_scores);
    return made;
}

/* The output that a beginning stands for; its length counts the end, also where that is missing. */
static struct found rank(const struct beginning *of, double alpha)
{
    const bool ended = of->tokens[of->length - 1] == END;
    struct found found = {.count = of->length - (ended ? 2 : 1)};
    found.rank = of->score / pow((5 + (double)(found.count + 1)) / 6, alpha);
    memcpy(found.tokens, of->tokens + 1, sizeof found.tokens - sizeof found.tokens[0]);
    return found;
}

/*
 * Of all that the `width` beginnings may become, what has ended among the likeliest `width` is an
 * output, and the likeliest `width` that have not ended go on, as far as allowed. What has not
 * ended counts only where nothing has. The best by each of the penalties.
 */
static void search_plainly(struct bench *bench, int64_t sentence, int width,
                           struct found best[PENALTIES])
{
    struct beginning kept[WIDTHS] = {{.tokens = {START}, .length = 1}};
    struct beginning ended[WIDTHS * FARTHEST];
    int kept_count = 1;
    int ended_count = 0;
    encode(bench, sentence);
    for (int64_t length = 1; length <= limits[sentence]; length++) {
        struct beginning all[WIDTHS * KNOWN];
        const int count = lengthen(bench, kept, kept_count, all);
        kept_count = 0;
        for (int i = 0; i < count; i++) {
            if (all[i].tokens[length] != END && kept_count < width) {
                kept[kept_count++] = all[i];
            } else if (all[i].tokens[length] == END && i < width) {
                ended[ended_count++] = all[i];
            }
        }
    }
    for (int p = 0; p < PENALTIES; p++) {
        best[p] = rank(ended_count > 0 ? &ended[0] : &kept[0], penalties[p]);
        for (int i = 1; i < ended_count; i++) {
            const struct found other = rank(&ended[i], penalties[p]);
            best[p] = other.rank > best[p].rank ? other : best[p];
        }
    }
}

/* Searches all sentences and compares what is found with what was found for each. */
static void expect_found(struct bench *bench, int32_t width, int penalty,
                         struct found (*best)[PENALTIES])
{
    const struct yk_beam_search_options options = {.width = width,
                                                   .length_penalty = penalties[penalty],
                                                   .start = START,
                                                   .end = END,
                                                   .pad = PAD};
    const struct yk_beam_search_input input = {sources, lengths, limits, SENTENCES, SOURCE, NULL};
    struct yk_beam_search_state *beam = NULL;
    assert_ok(yk_beam_search_create(&options, SENTENCES, FARTHEST, KNOWN, &beam));
    assert_ok(yk_beam_search_run(beam, bench->inference, &input));
    for (int64_t i = 0; i < SENTENCES; i++) {
        const struct found *plain = &best[i][penalty];
        int64_t count = 0;
        double score = 0;
        const int32_t *tokens = yk_beam_search_get_best_output(beam, i, &count, &score);
        if (count != plain->count || fabs(score - plain->rank) > 1e-4 ||
            memcmp(tokens, plain->tokens, (size_t)count * sizeof *tokens) != 0) {
            fail_msg("width %d, penalty %g, sentence %d: %d tokens with %.6g, plainly %d with %.6g",
                     (int)width, penalties[penalty], (int)i, (int)count, score, (int)plain->count,
                     plain->rank);
        }
    }
    yk_beam_search_destroy(beam);
}

static void beams_find_what_a_plain_search_finds(void **state)
{
    (void)state;
    for (uint64_t seed = FIRST_SEED; seed <= LAST_SEED; seed++) {
        struct bench bench;
        open_bench(&bench, seed);
        for (int32_t width = 1; width <= WIDTHS; width++) {
            struct found best[SENTENCES][PENALTIES];
            for (int64_t i = 0; i < SENTENCES; i++) {
                search_plainly(&bench, i, width, best[i]);
            }
            for (int p = 0; p < PENALTIES; p++) {
                expect_found(&bench, width, p, best);
            }
        }
        close_bench(&bench);
    }
}

static void numbers_that_are_none_are_an_error_and_no_translation(void **state)
{
    (void)state;
    struct bench bench;
    struct yk_beam_search_state *beam = NULL;
    static const int64_t longest[SENTENCES] = {LONGEST, LONGEST, LONGEST};
    const struct yk_beam_search_options options = {
        .width = 2, .length_penalty = ALPHA, .start = START, .end = END, .pad = PAD};
    const struct yk_beam_search_input input = {sources, lengths, longest, SENTENCES, SOURCE, NULL};
    int32_t layer = 0;
    float numbers[KNOWN * 8];
    open_bench(&bench, 11);
    const struct yk_parameter *table =
        yk_net_find_parameter(bench.trainer->net, "model.shared.weight", &layer);
    assert_non_null(table);
    assert_int_equal(table->count, KNOWN * 8);
    assert_ok(yk_parameter_store_read_values(bench.trainer->store, layer, table, numbers));
    numbers[(ptrdiff_t)END * 8] = NAN;
    assert_ok(yk_parameter_store_write_values(bench.trainer->store, layer, table, numbers));
    assert_ok(yk_beam_search_create(&options, SENTENCES, LONGEST, KNOWN, &beam));
    assert_int_equal(yk_beam_search_run(beam, bench.inference, &input), YK_ERROR_NUMBERS);
    yk_beam_search_destroy(beam);
    close_bench(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_are_none_are_an_error_and_no_translation),
        cmocka_unit_test(a_beam_wide_enough_finds_the_best_of_all_outputs),
        cmocka_unit_test(a_beam_of_one_picks_the_likeliest_token_each_time),
        cmocka_unit_test(sentences_are_translated_alone_as_among_others),
        cmocka_unit_test(beams_find_what_a_plain_search_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
