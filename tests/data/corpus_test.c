#include "support/files/scratch.h"
#include "support/files/token_files.h"
#include "support/support.h"

#include "data/corpus.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct yk_corpus *open_part(const char *path, double part)
{
    const struct yk_corpus_request request = {.path = path, .part = part};
    struct yk_corpus *corpus = NULL;
    assert_ok(yk_corpus_open(&request, &corpus));
    return corpus;
}

static void refuse(const char *path, double part, const char *message)
{
    const struct yk_corpus_request request = {.path = path, .part = part};
    struct yk_corpus *corpus = NULL;
    assert_fails(yk_corpus_open(&request, &corpus), YK_ERROR_INPUT, message);
}

/* All of the corpus is this text. */
static void assert_text(const struct yk_corpus *corpus, const char *expected)
{
    int32_t ids[100];
    struct yk_text text = {0};
    assert_in_range(yk_corpus_full_range(corpus).count, 0, 100);
    assert_ok(yk_corpus_read_tokens(corpus, 0, yk_corpus_full_range(corpus).count, ids));
    assert_ok(yk_tokenizer_decode(yk_corpus_tokenizer(corpus), ids,
                                  yk_corpus_full_range(corpus).count, true, &text));
    assert_string_equal(yk_text_chars(&text), expected);
    yk_text_free(&text);
}

static void assert_described(const struct yk_corpus *corpus, const char *expected)
{
    struct yk_text text = {0};
    yk_corpus_describe(corpus, &text);
    assert_string_equal(yk_text_chars(&text), expected);
    yk_text_free(&text);
}

static void a_text_becomes_ids_of_its_sorted_characters(void **state)
{
    (void)state;
    static const int32_t expected[] = {2, 1, 3, 1, 3, 1, 0};
    struct yk_corpus *corpus = open_part(support_scratch_write_text("a.txt", "banana\n"), 1);
    int32_t ids[7];
    int32_t largest = 0;
    assert_int_equal(yk_corpus_full_range(corpus).count, 7);
    assert_ok(yk_corpus_read_tokens(corpus, 0, 7, ids));
    assert_memory_equal(ids, expected, sizeof expected);
    assert_ok(yk_corpus_read_tokens(corpus, 2, 3, ids));
    assert_memory_equal(ids, expected + 2, 3 * sizeof *ids);
    assert_ok(yk_corpus_find_max_token_id(corpus, &largest));
    assert_int_equal(largest, 3);
    assert_described(corpus, "1 file, 7B, 4 characters");
    yk_corpus_close(corpus);
}

static void a_folder_is_its_texts_joined_and_nothing_that_is_no_text(void **state)
{
    (void)state;
    support_scratch_write_text("b.txt", "two\xc3\xa9");
    support_scratch_write_text("a.txt", "one");
    support_scratch_write_text("c/d.txt", "three");
    support_scratch_write_text("empty", "");
    support_scratch_write("image", "\x89PNG\0\0", 6);
    support_scratch_write("latin1.txt", "caf\xe9", 4);
    /* More than the memory of any machine: it is not read up to its end. */
    assert_int_equal(truncate(support_scratch_write_text("zeros", ""), (off_t)1 << 43), 0);
    support_scratch_write_text("build/out.txt", "built");
    support_scratch_write_text(".hidden", "hidden");
    struct yk_corpus *corpus = open_part(support_scratch_folder(), 1);
    assert_text(corpus, "onetwo\xc3\xa9three");
    assert_described(corpus, "3 files, 13B, 8 characters");
    yk_corpus_close(corpus);
}

static void a_part_ends_at_a_character(void **state)
{
    (void)state;
    const char *path = support_scratch_write_text("a.txt", "abc\xed\x95\x9cxyz1");
    struct yk_corpus *corpus = open_part(path, 0.5); /* 5 of 10 bytes: in the middle */
    assert_text(corpus, "abc");
    assert_int_equal(yk_tokenizer_vocabulary_size(yk_corpus_tokenizer(corpus)), 3);
    yk_corpus_close(corpus);
    corpus = open_part(path, 0.6);
    assert_text(corpus, "abc\xed\x95\x9c");
    yk_corpus_close(corpus);
}

static void a_part_of_a_folder_leaves_out_its_last_files(void **state)
{
    (void)state;
    support_scratch_write_text("a", "1234");
    support_scratch_write_text("b", "5678");
    support_scratch_write_text("c", "90");
    struct yk_corpus *corpus = open_part(support_scratch_folder(), 0.6);
    assert_text(corpus, "123456");
    assert_described(corpus, "2 files, 6B, 6 characters");
    yk_corpus_close(corpus);
}

static void a_tokenizer_can_be_given(void **state)
{
    (void)state;
    struct yk_character_vocabulary *vocabulary = NULL;
    struct yk_tokenizer *tokenizer = NULL;
    struct yk_corpus *corpus = NULL;
    int32_t ids[2];
    char message[600];
    assert_ok(yk_character_vocabulary_build("abcdef", 6, "text", &vocabulary));
    assert_ok(yk_tokenizer_create_character_level(vocabulary, &tokenizer));
    yk_character_vocabulary_destroy(vocabulary);
    support_scratch_write_text("a/1", "fa");
    const struct yk_corpus_request request = {
        .path = support_scratch_path("a"), .part = 1, .tokenizer = tokenizer};
    assert_ok(yk_corpus_open(&request, &corpus));
    assert_ok(yk_corpus_read_tokens(corpus, 0, 2, ids));
    assert_true(ids[0] == 5 && ids[1] == 0);
    yk_corpus_close(corpus);

    const char *path = support_scratch_write_text("a/2", "ab\ncx");
    snprintf(message, sizeof message, "%s:1:3: U+000A is not in the vocabulary", path);
    assert_fails(yk_corpus_open(&request, &corpus), YK_ERROR_INPUT, message);
    yk_tokenizer_destroy(tokenizer);
}

static void more_characters_than_two_bytes_hold_are_kept(void **state)
{
    (void)state;
    enum {
        FIRST = 0x10000,
        MANY = 70000
    };
    static char text[MANY * 4];
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t c = FIRST + i;
        const char bytes[] = {(char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 63)),
                              (char)(0x80 | (c >> 6 & 63)), (char)(0x80 | (c & 63))};
        memcpy(text + 4 * (size_t)i, bytes, 4);
    }
    struct yk_corpus *corpus = open_part(support_scratch_write("a", text, sizeof text), 1);
    int32_t ids[2];
    assert_int_equal(yk_corpus_full_range(corpus).count, MANY);
    assert_ok(yk_corpus_read_tokens(corpus, MANY - 2, 2, ids));
    assert_true(ids[0] == MANY - 2 && ids[1] == MANY - 1);
    yk_corpus_close(corpus);
}

static void a_file_asked_for_by_name_must_be_text(void **state)
{
    (void)state;
    char message[600];
    const char *path = support_scratch_write("a.txt", "ab\ncaf\xe9!", 8);
    snprintf(message, sizeof message, "%s:2:4: byte 0xe9 is not UTF-8; convert the text first",
             path);
    refuse(path, 1, message);
    path = support_scratch_write("b.txt", "ab\0c", 4);
    snprintf(message, sizeof message, "%s:1:3: a zero byte: this is no text", path);
    refuse(path, 1, message);
}

static void what_holds_nothing_is_refused(void **state)
{
    (void)state;
    char message[600];
    const char *path = support_scratch_write_text("empty.txt", "");
    snprintf(message, sizeof message, "%s holds no text", path);
    refuse(path, 1, message);
    snprintf(message, sizeof message, "%s holds no text", support_scratch_folder());
    refuse(support_scratch_folder(), 1, message);
    path = support_scratch_write_text("short.txt", "abc");
    snprintf(message, sizeof message, "that part of %s holds no text", path);
    refuse(path, 0.1, message);
    snprintf(message, sizeof message, "1.5 of %s; a part is above 0 and at most 1", path);
    refuse(path, 1.5, message);
    snprintf(message, sizeof message, "0 of %s; a part is above 0 and at most 1", path);
    refuse(path, 0, message);
    path = support_scratch_path("none.txt");
    snprintf(message, sizeof message, "cannot open %s: No such file or directory", path);
    refuse(path, 1, message);
    yk_corpus_close(NULL);
}

static void shards_of_a_folder_are_one_row(void **state)
{
    (void)state;
    static const uint16_t first[] = {1, 50256, 3};
    static const uint16_t second[] = {4};
    static const uint16_t third[] = {5, 6};
    static const int32_t expected[] = {1, 50256, 3, 4, 5, 6};
    support_write_shard("s_2.bin", third, 2, 2);
    support_write_shard("s_0.bin", first, 3, 3);
    support_write_shard("s_1.bin", second, 1, 1);
    struct yk_corpus *corpus = open_part(support_scratch_folder(), 1);
    int32_t largest = 0;
    assert_int_equal(yk_corpus_full_range(corpus).count, 6);
    assert_null(yk_corpus_tokenizer(corpus));
    for (int64_t from = 0; from <= 6; from++) {
        for (int64_t count = 0; count <= 6 - from; count++) {
            int32_t ids[6] = {0};
            assert_ok(yk_corpus_read_tokens(corpus, from, count, ids));
            assert_memory_equal(ids, expected + from, (size_t)count * sizeof *ids);
        }
    }
    assert_ok(yk_corpus_find_max_token_id(corpus, &largest));
    assert_int_equal(largest, 50256);
    assert_described(corpus, "3 shards, 6 tokens");
    yk_corpus_close(corpus);
}

static void one_shard_and_a_part_of_it_are_read(void **state)
{
    (void)state;
    static const uint16_t tokens[] = {9, 8, 7, 65535};
    const char *path = support_write_shard("a.bin", tokens, 4, 4);
    struct yk_corpus *corpus = open_part(path, 0.75);
    int32_t ids[4];
    int32_t largest = 0;
    assert_int_equal(yk_corpus_full_range(corpus).count, 3);
    assert_ok(yk_corpus_find_max_token_id(corpus, &largest));
    assert_int_equal(largest, 9);
    assert_fails(yk_corpus_read_tokens(corpus, 1, 3, ids), YK_ERROR_INPUT,
                 "3 tokens from 1 on are asked for; there are 3");
    assert_int_equal(yk_corpus_read_tokens(corpus, -1, 1, ids), YK_ERROR_INPUT);
    assert_int_equal(yk_corpus_read_tokens(corpus, INT64_MAX, INT64_MAX, ids), YK_ERROR_INPUT);
    assert_described(corpus, "1 shard, 3 tokens");
    yk_corpus_close(corpus);
}

static void a_shard_that_is_cut_off_is_refused(void **state)
{
    (void)state;
    static const uint16_t tokens[] = {9, 8};
    char message[600];
    const char *path = support_write_shard("a.bin", tokens, 2, 3);
    snprintf(message, sizeof message, "%s: the file is cut off: 2 of 1030 bytes are missing", path);
    refuse(path, 1, message);
}

static void a_split_keeps_the_end_for_evaluation(void **state)
{
    (void)state;
    struct yk_corpus *corpus = open_part(support_scratch_write_text("a", "0123456789"), 1);
    struct yk_corpus_range training;
    struct yk_corpus_range evaluation;
    yk_corpus_split_train_eval(corpus, 0.25, &training, &evaluation);
    assert_true(training.first == 0 && training.count == 8);
    assert_true(evaluation.first == 8 && evaluation.count == 2);
    yk_corpus_split_train_eval(corpus, 0, &training, &evaluation);
    assert_true(training.count == 10 && evaluation.count == 0);
    assert_true(yk_corpus_full_range(corpus).count == 10);
    yk_corpus_close(corpus);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(a_text_becomes_ids_of_its_sorted_characters),
        in_scratch(a_folder_is_its_texts_joined_and_nothing_that_is_no_text),
        in_scratch(a_part_ends_at_a_character),
        in_scratch(a_part_of_a_folder_leaves_out_its_last_files),
        in_scratch(a_tokenizer_can_be_given),
        in_scratch(more_characters_than_two_bytes_hold_are_kept),
        in_scratch(a_file_asked_for_by_name_must_be_text),
        in_scratch(what_holds_nothing_is_refused),
        in_scratch(shards_of_a_folder_are_one_row),
        in_scratch(one_shard_and_a_part_of_it_are_read),
        in_scratch(a_shard_that_is_cut_off_is_refused),
        in_scratch(a_split_keeps_the_end_for_evaluation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
