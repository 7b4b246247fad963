#include "support/files/scratch.h"
#include "support/support.h"

#include "base/log.h"
#include "base/text.h"
#include "data/text_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct yk_chunk_boundary_rules at_spaces = {.possible = true};

/* All pieces of a file, with "|" between them. */
static void read_all(const char *path, const struct yk_chunk_boundary_rules *cut, size_t chunk,
                     struct yk_text *out)
{
    struct yk_text_reader *reader = NULL;
    const char *text = NULL;
    size_t length = 0;
    assert_ok(yk_text_reader_open(path, cut, chunk, &reader));
    do {
        assert_ok(yk_text_reader_read_next_chunk(reader, &text, &length));
        yk_text_add(out, out->length > 0 && length > 0 ? "|" : "");
        yk_text_add_bytes(out, text, length);
    } while (length > 0);
    /* The end stays the end. */
    assert_ok(yk_text_reader_read_next_chunk(reader, &text, &length));
    assert_int_equal(length, 0);
    yk_text_reader_close(reader);
}

static void assert_chunks(const char *words, size_t chunk, const char *expected)
{
    struct yk_text chunks = {0};
    read_all(support_scratch_write_text("a.txt", words), &at_spaces, chunk, &chunks);
    assert_string_equal(yk_text_chars(&chunks), expected);
    yk_text_free(&chunks);
}

static void chunks_end_before_spaces_and_are_as_long_as_they_may_be(void **state)
{
    (void)state;
    assert_chunks("one two three four", 9, "one two| three| four");
    assert_chunks("one two", 100, "one two");
    assert_chunks("", 8, "");
    assert_chunks("unbreakable words", 4, "unbreakable| words");
    assert_chunks("unbreakable", 4, "unbreakable");
    assert_chunks("a  b\n c", 4, "a | b\n c");
}

static void a_space_that_belongs_to_no_chunk_is_passed_over(void **state)
{
    (void)state;
    static const struct yk_chunk_boundary_rules rules = {.possible = true, .omits_space = true};
    struct yk_text_reader *reader = NULL;
    const char *text = NULL;
    size_t length = 0;
    const char *path = support_scratch_write_text("a.txt", "one two three four ");
    static const struct {
        const char *text;
        int64_t next;
    } chunks[] = {{"one two", 8}, {"three", 14}, {"four ", 19}, {"", 19}};
    assert_ok(yk_text_reader_open(path, &rules, 9, &reader));
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        assert_ok(yk_text_reader_read_next_chunk(reader, &text, &length));
        assert_int_equal(length, strlen(chunks[i].text));
        assert_memory_equal(text, chunks[i].text, length);
        assert_int_equal(yk_text_reader_get_position(reader), chunks[i].next);
    }
    yk_text_reader_close(reader);
}

static void where_there_is_no_place_to_cut_all_is_one_chunk(void **state)
{
    (void)state;
    static const struct yk_chunk_boundary_rules none = {0};
    struct yk_text chunks = {0};
    read_all(support_scratch_write_text("a.txt", "one two three"), &none, 4, &chunks);
    assert_string_equal(yk_text_chars(&chunks), "one two three");
    yk_text_free(&chunks);
}

static void a_long_file_comes_whole(void **state)
{
    (void)state;
    struct yk_text words = {0};
    struct yk_text chunks = {0};
    for (int i = 0; i < 100000; i++) {
        yk_text_addf(&words, "%s%d", i % 17 == 0 ? "\n" : " ", i);
    }
    const char *path = support_scratch_write("long.txt", words.bytes, words.length);
    read_all(path, &at_spaces, 1 << 16, &chunks);
    size_t kept = 0;
    int cuts = 0;
    for (size_t i = 0; i < chunks.length; i++) {
        cuts += chunks.bytes[i] == '|';
        if (chunks.bytes[i] != '|') {
            chunks.bytes[kept++] = chunks.bytes[i];
        }
    }
    assert_int_equal(kept, words.length);
    assert_memory_equal(chunks.bytes, words.bytes, kept);
    assert_in_range(cuts, words.length >> 16, (words.length >> 16) + 1);
    yk_text_free(&words);
    yk_text_free(&chunks);
}

static void assert_refused_at(const void *bytes, size_t length, const char *what)
{
    struct yk_text_reader *reader = NULL;
    const char *text = NULL;
    size_t given = 1;
    char message[700];
    const char *path = support_scratch_write("bad.txt", bytes, length);
    snprintf(message, sizeof message, "%s:%s", path, what);
    assert_ok(yk_text_reader_open(path, &at_spaces, 8, &reader));
    yk_status status = YK_OK;
    while (status == YK_OK && given > 0) {
        status = yk_text_reader_read_next_chunk(reader, &text, &given);
    }
    assert_int_equal(status, YK_ERROR_INPUT);
    assert_string_equal(yk_status_message(), message);
    yk_text_reader_close(reader);
}

static void what_is_no_text_is_refused_by_its_place_in_the_file(void **state)
{
    (void)state;
    assert_refused_at("a\xff", 2, "1:2: byte 0xff is not UTF-8; convert the text first");
    assert_refused_at("one two three \xc3\xa9 four\nfive six\xc3 x", 33,
                      "2:9: byte 0xc3 is not UTF-8; convert the text first");
    assert_refused_at("one two three \xc3\xa9 fo\xe2", 20,
                      "1:19: byte 0xe2 is not UTF-8; convert the text first");
    assert_refused_at("one two\n\n three\0 four", 21, "3:7: a zero byte: this is no text");
}

/* As much as may be one piece, and a byte more. */
static void what_cannot_be_cut_is_refused_where_it_is_too_long(void **state)
{
    (void)state;
    enum {
        CHUNK = 1 << 8,
        MAX = CHUNK * YK_TEXT_READER_MAX_CHUNK_FACTOR
    };
    struct yk_text_reader *reader = NULL;
    struct yk_text chunks = {0};
    const char *text = NULL;
    size_t length = 0;
    char *bytes = malloc(MAX + 1);
    assert_non_null(bytes);
    memset(bytes, 'a', MAX + 1);
    read_all(support_scratch_write("a.txt", bytes, MAX), &at_spaces, CHUNK, &chunks);
    assert_int_equal(chunks.length, MAX);
    yk_text_free(&chunks);
    const char *path = support_scratch_write("a.txt", bytes, MAX + 1);
    assert_ok(yk_text_reader_open(path, &at_spaces, CHUNK, &reader));
    assert_int_equal(yk_text_reader_read_next_chunk(reader, &text, &length), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), ":1:1: from here on, 1MiB of text have no place"));
    yk_text_reader_close(reader);
    free(bytes);
}

/* Of zeros without end, nobody looks for the end of the first word. */
static void what_is_no_text_is_refused_before_a_chunk_ends(void **state)
{
    (void)state;
    static const struct yk_chunk_boundary_rules none = {0};
    const struct yk_chunk_boundary_rules *const cuts[] = {&at_spaces, &none};
    const char *path = support_scratch_write_text("sparse.txt", "word");
    char message[700];
    snprintf(message, sizeof message, "%s:1:5: a zero byte: this is no text", path);
    assert_int_equal(truncate(path, (off_t)1 << 36), 0);
    for (int i = 0; i < 2; i++) {
        struct yk_text_reader *reader = NULL;
        const char *text = NULL;
        size_t length = 0;
        assert_ok(yk_text_reader_open(path, cuts[i], YK_TEXT_READER_CHUNK_BYTES, &reader));
        assert_fails(yk_text_reader_read_next_chunk(reader, &text, &length), YK_ERROR_INPUT,
                     message);
        yk_text_reader_close(reader);
    }
}

static void a_reader_that_is_to_stop_reads_no_further(void **state)
{
    (void)state;
    struct yk_text_reader *reader = NULL;
    const char *text = NULL;
    size_t length = 0;
    atomic_bool stop = true;
    const char *path = support_scratch_write_text("a.txt", "one two three");
    assert_ok(yk_text_reader_open(path, &at_spaces, 4, &reader));
    yk_text_reader_set_stop_flag(reader, &stop);
    assert_int_equal(yk_text_reader_read_next_chunk(reader, &text, &length), YK_ERROR_STOPPED);
    yk_text_reader_close(reader);
}

static void texts_are_distinguished_from_other_files(void **state)
{
    (void)state;
    static char large[(1 << 18) + 8];
    bool text = false;
    assert_ok(yk_text_reader_is_text_file(support_scratch_write_text("a", "text \xc3\xa9"), &text));
    assert_true(text);
    assert_ok(yk_text_reader_is_text_file(support_scratch_write_text("a", ""), &text));
    assert_false(text);
    assert_ok(yk_text_reader_is_text_file(support_scratch_write_text("a", "text \xc3"), &text));
    assert_false(text);
    /* Characters of three bytes lie across the blocks that are read. */
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = "\xed\x95\x9c"[i % 3];
    }
    const size_t whole = sizeof large / 3 * 3;
    assert_ok(yk_text_reader_is_text_file(support_scratch_write("a", large, whole), &text));
    assert_true(text);
    large[whole - 1] = 'x';
    assert_ok(yk_text_reader_is_text_file(support_scratch_write("a", large, whole), &text));
    assert_false(text);
    memset(large, 'x', sizeof large);
    assert_ok(yk_text_reader_is_text_file(support_scratch_write("a", large, 1 << 18), &text));
    assert_true(text);
    char message[600];
    const char *missing = support_scratch_path("no");
    snprintf(message, sizeof message, "cannot open %s: No such file or directory", missing);
    assert_fails(yk_text_reader_is_text_file(missing, &text), YK_ERROR_INPUT, message);
}

static void keep_warning(void *user, enum yk_log_level level, const char *line)
{
    assert_int_equal(level, YK_LOG_WARNING);
    yk_text_addf(user, "%s\n", line);
}

/* Selects the texts of the scratch folder, and compares their number and the warning with
 * `expected`. */
static void assert_selected(int32_t count, const char *expected)
{
    const char *folder = support_scratch_folder();
    struct yk_arena *arena = NULL;
    struct yk_file_list files = {0};
    struct yk_text warning = {0};
    struct yk_text all = {0};
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_file_list_read_folder(folder, arena, &files));
    yk_log_set_sink(keep_warning, &warning);
    assert_ok(yk_text_reader_select_text_files(folder, arena, &files));
    yk_log_set_sink(NULL, NULL);
    yk_text_addf(&all, expected, folder, folder);
    assert_string_equal(yk_text_chars(&warning), yk_text_chars(&all));
    assert_int_equal(files.count, count);
    yk_text_free(&warning);
    yk_text_free(&all);
    yk_arena_destroy(arena);
}

static void files_of_a_folder_that_are_no_text_are_left_out_with_a_warning(void **state)
{
    (void)state;
    support_scratch_write_text("a.txt", "one");
    support_scratch_write_text("b", ""); /* has nothing to leave out */
    assert_selected(1, "");
    support_scratch_write_text("d.txt", "caf\xe9");
    assert_selected(1, "%s/d.txt is left out: it is not UTF-8 text\n");
    support_scratch_write_text("c.txt", "\xff");
    support_scratch_write_text("e.txt", "two");
    assert_selected(2, "2 files in %s are left out: they are not UTF-8 text; the first one is "
                       "%s/c.txt\n");
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(chunks_end_before_spaces_and_are_as_long_as_they_may_be),
        in_scratch(a_space_that_belongs_to_no_chunk_is_passed_over),
        in_scratch(where_there_is_no_place_to_cut_all_is_one_chunk),
        in_scratch(a_long_file_comes_whole),
        in_scratch(what_is_no_text_is_refused_by_its_place_in_the_file),
        in_scratch(what_cannot_be_cut_is_refused_where_it_is_too_long),
        in_scratch(what_is_no_text_is_refused_before_a_chunk_ends),
        in_scratch(a_reader_that_is_to_stop_reads_no_further),
        in_scratch(texts_are_distinguished_from_other_files),
        in_scratch(files_of_a_folder_that_are_no_text_are_left_out_with_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
