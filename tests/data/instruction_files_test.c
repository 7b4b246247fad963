#include "support/files/scratch.h"
#include "support/files/word_tokenizer.h"
#include "support/support.h"

#include "data/instructions.h"

#include <string.h>

#define GOOD "{\"prompt\": \"w0\", \"completion\": \"w1\"}\n"

static struct yk_tokenizer *words;

/* [UNK] 0, <s> 1, </s> 2, <pad> 3, w0 4, w1 5 …; texts begin with <s>. */
static int open_words(void **state)
{
    (void)state;
    static const char *const names[] = {"<s>", "</s>", "<pad>", NULL};
    words = support_word_tokenizer(names, 20, "<s>");
    return 0;
}

static int close_words(void **state)
{
    (void)state;
    yk_tokenizer_destroy(words);
    return 0;
}

static struct yk_instructions_request plain_request(void)
{
    return (struct yk_instructions_request){.tokenizer = words, .longest = 8};
}

static void a_file_is_read_by_its_path(void **state)
{
    (void)state;
    assert_int_equal(support_scratch_make(state), 0);
    struct yk_instructions_request request = plain_request();
    struct yk_instructions *instructions = NULL;
    request.path = support_scratch_write_text("b.jsonl", GOOD GOOD);
    assert_ok(yk_instructions_open(&request, &instructions));
    assert_int_equal(instructions->count, 2);
    yk_instructions_close(instructions);
    request.path = support_scratch_write_text("c.json", "{\n\"data\": []}");
    assert_int_equal(yk_instructions_open(&request, &instructions), YK_ERROR_INPUT);
    assert_non_null(
        strstr(yk_status_message(), "c.json: one object over several lines is no data"));
    request.path = support_scratch_path("none.jsonl");
    assert_int_equal(yk_instructions_open(&request, &instructions), YK_ERROR_INPUT);
    assert_int_equal(support_scratch_drop(state), 0);
}

static int32_t count_files(const char *path)
{
    struct yk_arena *arena = NULL;
    struct yk_file_list files = {0};
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_instruction_files_find(path, arena, &files));
    yk_arena_destroy(arena);
    return files.count;
}

/* The two lines of the test above, as Python's gzip.compress() makes them smaller. */
static void compressed_data_is_read(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x56, 0x2a, 0x28,
        0xca, 0xcf, 0x2d, 0x28, 0x51, 0xb2, 0x52, 0x50, 0x2a, 0x37, 0x50, 0xd2, 0x51, 0x50,
        0x4a, 0x06, 0x72, 0x73, 0x52, 0x4b, 0x32, 0xf3, 0xf3, 0xc0, 0x62, 0x86, 0x4a, 0xb5,
        0x5c, 0xd5, 0xc4, 0x28, 0x02, 0x00, 0x47, 0x01, 0xff, 0x9c, 0x4a, 0x00, 0x00, 0x00,
    };
    static const char *const files[] = {"b.jsonl.gz", "b.jsonl", "b"};
    assert_int_equal(support_scratch_make(state), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct yk_instructions_request request = plain_request();
        struct yk_instructions *instructions = NULL;
        request.path = support_scratch_write(files[i], bytes, sizeof bytes);
        assert_int_equal(count_files(request.path), 1);
        assert_ok(yk_instructions_open(&request, &instructions));
        assert_int_equal(instructions->count, 2);
        yk_instructions_close(instructions);
    }
    assert_int_equal(support_scratch_drop(state), 0);
}

#define LIST                                                                                       \
    "[{\"prompt\": \"w2\", \"completion\": \"w3\"}, {\"prompt\": \"w4\", \"completion\": \"w5\"}]"

/* w0 is token 4, and each begins with <s>. */
static void assert_prompts(const struct yk_instructions *instructions, int64_t count,
                           const int32_t *expected)
{
    assert_int_equal(instructions->count, count);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(yk_instructions_at(instructions, i).tokens[1], expected[i]);
    }
}

static void a_folder_is_its_files_one_after_the_other(void **state)
{
    (void)state;
    static const int32_t all[] = {4, 6, 8, 4};
    assert_int_equal(support_scratch_make(state), 0);
    struct yk_instructions_request request = plain_request();
    struct yk_instructions *instructions = NULL;
    (void)support_scratch_write_text("f/a.jsonl", GOOD);
    (void)support_scratch_write_text("f/b.JSON", LIST);
    (void)support_scratch_write_text("f/deep/c.ndjson", GOOD);
    (void)support_scratch_write("f/image", "\xff\xd8\xff", 3);
    request.path = support_scratch_path("f");
    assert_ok(yk_instructions_open(&request, &instructions));
    assert_prompts(instructions, 4, all);
    yk_instructions_close(instructions);
    request.until = 0.5;
    assert_ok(yk_instructions_open(&request, &instructions));
    assert_prompts(instructions, 2, all);
    yk_instructions_close(instructions);
    request.from = 0.5;
    request.until = 0.75;
    assert_ok(yk_instructions_open(&request, &instructions));
    assert_prompts(instructions, 1, all + 2);
    yk_instructions_close(instructions);
    (void)support_scratch_write_text("f/c.json", "{\n\"name\": 1}");
    request = plain_request();
    request.path = support_scratch_path("f");
    assert_int_equal(yk_instructions_open(&request, &instructions), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "f/c.json: one object over several lines"));
    assert_int_equal(support_scratch_drop(state), 0);
}

static void files_are_known_by_name_or_beginning(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
        bool instructions;
    } cases[] = {
        {"a.jsonl", "", true},
        {"a.JsonL", "x", true},
        {"a.NDJSON", "x", true},
        {"a.json", "[1]", true},
        {"json", "x", false},
        {"a.json.txt", "x", false},
        {"a.txt", "", false},
        {"a.txt", GOOD "text", true},
        {"a.txt", "\xef\xbb\xbf \n" GOOD, true},
        {"a", " [\n" GOOD ",", true},
        {"a", "{\"conversations\": [], \"id\": \"}\"}", true},
        {"a", "{\"messages\": []}", true},
        {"a", "{\"instruction\": \"{\", \"output\": 1}", true},
        {"a", "{\"messages\": {\"hello\": \"Hallo\"}}", false},
        {"a", "{\"instruction\": \"w0\"}", false},
        {"a", "{\"text\": \"w0\"}\n" GOOD, true},
        {"a", "{\"text\": [\"w0\"]}\n" GOOD, false},
        {"a.JSONL.gz", "x", true},
        {"a.gz", "x", false},
        {"a", "{prompt, completion}", false},
        {"a", "{\"prompt\": \"w0\", \"completion\": \"w1\"", false},
        {"a", "[[" GOOD "]]", false},
        {"a", "[1]: a note", false},
        {"a", "{% block %}", false},
        {"a", "{", false},
        {"a", "[", false},
        {"a", "text\n" GOOD, false},
    };
    assert_int_equal(support_scratch_make(state), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = support_scratch_write_text(cases[i].name, cases[i].text);
        assert_int_equal(count_files(path), cases[i].instructions);
    }
    struct yk_arena *arena = NULL;
    struct yk_file_list files = {0};
    assert_ok(yk_arena_create(&arena));
    assert_int_equal(yk_instruction_files_find(support_scratch_path("none.json"), arena, &files),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "cannot open"));
    (void)support_scratch_write_text("j/notes.json", "{\"cells\": []}");
    assert_int_equal(yk_instruction_files_find(support_scratch_path("j"), arena, &files),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "notes.json is JSON without instructions"));
    yk_arena_destroy(arena);
    assert_int_equal(count_files(support_scratch_path("none.txt")), 0);
    assert_int_equal(support_scratch_drop(state), 0);
}

static void a_folder_of_text_and_instructions_is_refused(void **state)
{
    (void)state;
    assert_int_equal(support_scratch_make(state), 0);
    struct yk_file_list files = {0};
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    (void)support_scratch_write_text("f/a.txt", "some text");
    (void)support_scratch_write_text("f/empty.md", "");
    (void)support_scratch_write_text("f/package.json", "{\"name\": \"x\"}");
    assert_int_equal(count_files(support_scratch_path("f")), 0);
    (void)support_scratch_write_text("f/b.log", GOOD);
    assert_int_equal(yk_instruction_files_find(support_scratch_path("f"), arena, &files),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "f/b.log is read as instructions, but "));
    assert_non_null(strstr(yk_status_message(), "f/a.txt in the same folder is text"));
    yk_arena_destroy(arena);
    assert_int_equal(support_scratch_drop(state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_by_its_path),
        cmocka_unit_test(compressed_data_is_read),
        cmocka_unit_test(a_folder_is_its_files_one_after_the_other),
        cmocka_unit_test(files_are_known_by_name_or_beginning),
        cmocka_unit_test(a_folder_of_text_and_instructions_is_refused),
    };
    return cmocka_run_group_tests(tests, open_words, close_words);
}
