/* Datasets: what is trained on and what is held out never meet, and together are all. */
#include "support/files/scratch.h"
#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "data/dataset.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES = 40,
    ROWS = 64,
    FIRST_WORD = 7,
    SEQUENCE = 8,
};

static const char *const names[] = {"<pad>", "</s>", "<s>", "[CLS]", "[SEP]", "[MASK]", NULL};

/* A piece with room for a test's samples. */
struct room {
    struct yk_sample_slice slice;
    int32_t numbers[4][ROWS * SEQUENCE];
};

static struct yk_sample_slice *begin(struct room *room)
{
    room->slice = (struct yk_sample_slice){
        .tokens = room->numbers[0],
        .lengths = room->numbers[1],
        .targets = room->numbers[2],
        .target_tokens = room->numbers[3],
    };
    return &room->slice;
}

/* Counts how often each line comes in an epoch; the first word of line n is word n. */
static void count_lines(const struct yk_sampler *sampler, int place, int counts[LINES])
{
    struct room *room = calloc(1, sizeof *room);
    assert_non_null(room);
    for (int64_t unit = 0; unit < sampler->epoch_units; unit++) {
        struct yk_sample_slice *slice = begin(room);
        assert_ok(yk_sampler_fetch_slice(sampler, unit, 1, slice));
        for (int64_t i = 0; i < slice->samples; i++) {
            const int32_t line = slice->tokens[i * slice->sequence + place] - FIRST_WORD;
            assert_in_range(line, 0, LINES - 1);
            counts[line]++;
        }
    }
    free(room);
}

static const char *write_lines(const char *name, const char *before, const char *after)
{
    struct yk_text text = {0};
    for (int i = 0; i < LINES; i++) {
        yk_text_addf(&text, "%s%d%s", before, i, after);
    }
    const char *path = support_scratch_write_text(name, yk_text_chars(&text));
    yk_text_free(&text);
    return path;
}

static void expect_apart(const struct yk_dataset_request *request, int place)
{
    const struct yk_sampler_options cut = {.sequence = SEQUENCE, .slice_rows = ROWS, .seed = 3};
    struct yk_dataset *dataset = NULL;
    struct yk_sampler *training = NULL;
    struct yk_sampler *evaluation = NULL;
    int trained[LINES] = {0};
    int evaluated[LINES] = {0};
    assert_ok(yk_dataset_open(request, &dataset));
    assert_ok(yk_dataset_create_training_sampler(dataset, &cut, &training));
    assert_ok(yk_dataset_create_evaluation_sampler(dataset, &cut, false, &evaluation));
    assert_non_null(evaluation);
    count_lines(training, place, trained);
    count_lines(evaluation, place, evaluated);
    /* Half of the lines, of which the last quarter is held out. */
    for (int i = 0; i < LINES; i++) {
        assert_int_equal(trained[i], i < LINES * 3 / 8 ? 1 : 0);
        assert_int_equal(evaluated[i], i >= LINES * 3 / 8 && i < LINES / 2 ? 1 : 0);
    }
    yk_sampler_destroy(evaluation);
    yk_sampler_destroy(training);
    yk_dataset_close(dataset);
}

static void pairs_are_trained_on_or_held_out(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = support_word_tokenizer(names, LINES, NULL);
    const struct yk_dataset_request request = {
        .kind = YK_DATASET_SENTENCE_PAIRS,
        .path = write_lines("a.en", "w", " w1\n"),
        .target_path = write_lines("a.de", "w", "\n"),
        .tokenizer = tokenizer,
        .part = 0.5,
        .held_out = 0.25,
        .longest = SEQUENCE,
        .start = 3,
    };
    expect_apart(&request, 0);
    yk_tokenizer_destroy(tokenizer);
}

static void instructions_are_trained_on_or_held_out(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = support_word_tokenizer(names, LINES, NULL);
    const struct yk_dataset_request request = {
        .kind = YK_DATASET_INSTRUCTIONS,
        .path = write_lines("a.jsonl", "{\"prompt\": \"w", "\", \"completion\": \"w2\"}\n"),
        .tokenizer = tokenizer,
        .part = 0.5,
        .held_out = 0.25,
        .longest = SEQUENCE,
    };
    expect_apart(&request, 0);
    yk_tokenizer_destroy(tokenizer);
}

/* Three tokens each, so that two of them share a window of eight; one is left over. */
static void packed_instructions_are_packed_in_training_and_evaluation(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = support_word_tokenizer(names, LINES, NULL);
    const struct yk_dataset_request request = {
        .kind = YK_DATASET_INSTRUCTIONS,
        .path = write_lines("a.jsonl", "{\"prompt\": \"w", "\", \"completion\": \"w2\"}\n"),
        .tokenizer = tokenizer,
        .part = 0.5,
        .held_out = 0.25,
        .longest = SEQUENCE,
        .packed = true,
    };
    const struct yk_sampler_options cut = {.sequence = SEQUENCE, .seed = 3};
    struct yk_dataset *dataset = NULL;
    struct yk_sampler *samplers[3] = {NULL};
    assert_ok(yk_dataset_open(&request, &dataset));
    assert_ok(yk_dataset_create_training_sampler(dataset, &cut, &samplers[0]));
    assert_ok(yk_dataset_create_evaluation_sampler(dataset, &cut, false, &samplers[1]));
    assert_ok(yk_dataset_create_evaluation_sampler(dataset, &cut, true, &samplers[2]));
    assert_int_equal(samplers[0]->epoch_units, (LINES * 3 / 8 + 1) / 2);
    assert_int_equal(samplers[1]->epoch_units, (LINES / 8 + 1) / 2);
    assert_int_equal(samplers[2]->epoch_units, samplers[0]->epoch_units);
    for (int i = 0; i < 3; i++) {
        yk_sampler_destroy(samplers[i]);
    }
    yk_dataset_close(dataset);
    yk_tokenizer_destroy(tokenizer);
}

static void with_no_part_held_out_there_is_nothing_to_evaluate_on(void **state)
{
    (void)state;
    struct yk_tokenizer *tokenizer = support_word_tokenizer(names, LINES, NULL);
    const struct yk_sampler_options cut = {.sequence = SEQUENCE, .slice_rows = ROWS};
    struct yk_dataset_request request = {
        .path = write_lines("a", "w", " "),
        .target_path = NULL,
        .tokenizer = tokenizer,
        .part = 1,
        .longest = SEQUENCE,
    };
    static const enum yk_dataset_kind kinds[] = {YK_DATASET_TEXT_WINDOWS, YK_DATASET_MASKED_TEXT};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct yk_dataset *dataset = NULL;
        struct yk_sampler *sampler = NULL;
        request.kind = kinds[i];
        assert_ok(yk_dataset_open(&request, &dataset));
        assert_ptr_equal(yk_dataset_tokenizer(dataset), tokenizer);
        assert_ok(yk_dataset_create_evaluation_sampler(dataset, &cut, false, &sampler));
        assert_null(sampler);
        assert_ok(yk_dataset_create_evaluation_sampler(dataset, &cut, true, &sampler));
        assert_true(sampler->epoch_units > 0);
        yk_sampler_destroy(sampler);
        yk_dataset_close(dataset);
    }
    yk_tokenizer_destroy(tokenizer);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(pairs_are_trained_on_or_held_out),
        in_scratch(instructions_are_trained_on_or_held_out),
        in_scratch(packed_instructions_are_packed_in_training_and_evaluation),
        in_scratch(with_no_part_held_out_there_is_nothing_to_evaluate_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
