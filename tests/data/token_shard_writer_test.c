#include "support/files/scratch.h"
#include "support/support.h"

#include "base/file.h"
#include "data/token_shard.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct yk_token_shard_writer *create(const char *name, int32_t vocabulary, int64_t each)
{
    const struct yk_token_shard_writer_request request = {
        .path = support_scratch_path(name),
        .vocabulary = vocabulary,
        .shard_tokens = each,
    };
    struct yk_token_shard_writer *writer = NULL;
    assert_ok(yk_token_shard_writer_create(&request, &writer));
    return writer;
}

static void assert_shard(const char *name, const int32_t *tokens, int64_t count)
{
    struct yk_token_shard *shard = NULL;
    int32_t read[64];
    assert_ok(yk_token_shard_open(support_scratch_path(name), &shard));
    assert_int_equal(yk_token_shard_token_count(shard), count);
    assert_ok(yk_token_shard_read_tokens(shard, 0, count, read));
    assert_memory_equal(read, tokens, (size_t)count * sizeof *tokens);
    yk_token_shard_close(shard);
}

static void bytes_are_those_that_llm_c_writes(void **state)
{
    (void)state;
    /* dev/data/data_common.py of llm.c: np.zeros(256, int32) with magic, version and count, then
     * the tokens. */
    static const unsigned char narrow[] = {0x88, 0xd8, 0x34, 0x01, 1, 0, 0, 0, 2, 0, 0, 0};
    static const unsigned char wide[] = {0xa1, 0xd9, 0x34, 0x01, 7, 0, 0, 0, 2, 0, 0, 0};
    static const int32_t tokens[] = {258, 65535};
    for (int i = 0; i < 2; i++) {
        struct yk_token_shard_writer *writer = create("a.bin", i == 0 ? 65536 : 65537, 0);
        struct yk_token_shard_write_summary summary = {0};
        struct yk_text file = {0};
        assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 2));
        assert_ok(yk_token_shard_writer_finish(writer, &summary));
        yk_token_shard_writer_destroy(writer);
        assert_ok(yk_file_read_document(support_scratch_path("a.bin"), &file));
        assert_int_equal(file.length, i == 0 ? 1028 : 1032);
        assert_int_equal(summary.bytes, file.length);
        assert_memory_equal(file.bytes, i == 0 ? narrow : wide, 12);
        for (size_t k = 12; k < 1024; k++) {
            assert_int_equal(file.bytes[k], 0);
        }
        assert_memory_equal(file.bytes + 1024,
                            i == 0 ? "\x02\x01\xff\xff" : "\x02\x01\0\0\xff\xff\0\0",
                            i == 0 ? 4 : 8);
        yk_text_free(&file);
    }
}

static void a_series_has_so_many_tokens_a_file(void **state)
{
    (void)state;
    static const int32_t tokens[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct yk_token_shard_writer *writer = create("set.bin", 10, 4);
    struct yk_token_shard_write_summary summary = {0};
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 3));
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens + 3, 7));
    assert_false(support_scratch_holds("set_000000.bin"));
    assert_ok(yk_token_shard_writer_finish(writer, &summary));
    yk_token_shard_writer_destroy(writer);
    assert_int_equal(summary.files, 3);
    assert_int_equal(summary.tokens, 10);
    assert_shard("set_000000.bin", tokens, 4);
    assert_shard("set_000001.bin", tokens + 4, 4);
    assert_shard("set_000002.bin", tokens + 8, 2);
    assert_false(support_scratch_holds("set_000003.bin"));
    assert_false(support_scratch_holds("set_000002.bin.partial"));
}

static void a_full_last_file_is_followed_by_none(void **state)
{
    (void)state;
    static const int32_t tokens[] = {5, 6, 7, 8};
    struct yk_token_shard_writer *writer = create("set", 10, 2);
    struct yk_token_shard_write_summary summary = {0};
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 4));
    assert_ok(yk_token_shard_writer_finish(writer, &summary));
    yk_token_shard_writer_destroy(writer);
    assert_int_equal(summary.files, 2);
    assert_shard("set_000001.bin", tokens + 2, 2);
    assert_false(support_scratch_holds("set_000002.bin"));
}

static void many_tokens_go_through_the_buffer(void **state)
{
    (void)state;
    enum {
        MANY = 100001 /* more than the buffer holds, several times */
    };
    static int32_t tokens[MANY];
    static int32_t read[MANY];
    for (int32_t i = 0; i < MANY; i++) {
        tokens[i] = i;
    }
    struct yk_token_shard_writer *writer = create("many.bin", MANY, 0);
    struct yk_token_shard_write_summary summary = {0};
    struct yk_token_shard *shard = NULL;
    for (int32_t at = 0; at < MANY; at += 40000) {
        const int32_t left = MANY - at;
        assert_ok(
            yk_token_shard_writer_add_tokens(writer, tokens + at, left < 40000 ? left : 40000));
    }
    assert_ok(yk_token_shard_writer_finish(writer, &summary));
    yk_token_shard_writer_destroy(writer);
    assert_ok(yk_token_shard_open(support_scratch_path("many.bin"), &shard));
    assert_ok(yk_token_shard_read_tokens(shard, 0, MANY, read));
    assert_memory_equal(read, tokens, sizeof tokens);
    yk_token_shard_close(shard);
}

static void what_is_given_up_leaves_what_was_there(void **state)
{
    (void)state;
    static const int32_t tokens[] = {1, 2, 3};
    struct yk_token_shard_write_summary summary = {0};
    support_scratch_write_text("old.bin", "old");
    struct yk_token_shard_writer *writer = create("old.bin", 10, 0);
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 3));
    assert_true(support_scratch_holds("old.bin.partial"));
    yk_token_shard_writer_destroy(writer);
    assert_false(support_scratch_holds("old.bin.partial"));
    struct yk_text file = {0};
    assert_ok(yk_file_read_document(support_scratch_path("old.bin"), &file));
    assert_string_equal(yk_text_chars(&file), "old");
    yk_text_free(&file);

    writer = create("empty.bin", 10, 0);
    assert_fails(yk_token_shard_writer_finish(writer, &summary), YK_ERROR_INPUT,
                 "there are no tokens to write");
    assert_fails(yk_token_shard_writer_add_tokens(writer, (const int32_t[]){10}, 1), YK_ERROR_INPUT,
                 "token 10; there are 0 to 9");
    yk_token_shard_writer_destroy(writer);
    assert_false(support_scratch_holds("empty.bin"));
    yk_token_shard_writer_destroy(NULL);
}

static bool is_link(const char *name)
{
    struct stat found;
    return lstat(support_scratch_path(name), &found) == 0 && S_ISLNK(found.st_mode);
}

static void a_link_stays_and_is_written_through(void **state)
{
    (void)state;
    static const int32_t tokens[] = {1, 2, 3, 4, 5};
    struct yk_token_shard_write_summary summary = {0};
    support_scratch_write_text("target", "old");
    assert_int_equal(symlink("target", support_scratch_path("set_000001.bin")), 0);
    assert_int_equal(symlink("new", support_scratch_path("one.bin")), 0);
    struct yk_token_shard_writer *writer = create("set.bin", 10, 2);
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 5));
    assert_ok(yk_token_shard_writer_finish(writer, &summary));
    yk_token_shard_writer_destroy(writer);
    assert_int_equal(summary.files, 3);
    assert_true(is_link("set_000001.bin"));
    assert_shard("set_000000.bin", tokens, 2);
    assert_shard("target", tokens + 2, 2);
    assert_shard("set_000002.bin", tokens + 4, 1);

    writer = create("one.bin", 10, 0);
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 5));
    assert_ok(yk_token_shard_writer_finish(writer, &summary));
    yk_token_shard_writer_destroy(writer);
    assert_true(is_link("one.bin"));
    assert_shard("new", tokens, 5);
    assert_false(support_scratch_holds("one.bin.partial"));
}

static void what_is_given_up_leaves_what_a_link_leads_to(void **state)
{
    (void)state;
    static const int32_t tokens[] = {1, 2, 3};
    struct yk_text file = {0};
    support_scratch_write_text("target", "old");
    assert_int_equal(symlink("target", support_scratch_path("one.bin")), 0);
    struct yk_token_shard_writer *writer = create("one.bin", 10, 0);
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 3));
    yk_token_shard_writer_destroy(writer);
    assert_true(is_link("one.bin"));
    assert_ok(yk_file_read_document(support_scratch_path("target"), &file));
    assert_string_equal(yk_text_chars(&file), "old");
    yk_text_free(&file);
}

/* A pipe cannot go back to the header, yet its reader gets the count first. */
static void a_pipe_gets_all_of_the_file(void **state)
{
    (void)state;
    static const int32_t tokens[] = {258, 9};
    unsigned char read_bytes[2048];
    struct yk_token_shard_write_summary summary = {0};
    const char *path = support_scratch_path("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    struct yk_token_shard_writer *writer = create("pipe", 300, 0);
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 2));
    assert_ok(yk_token_shard_writer_finish(writer, &summary));
    yk_token_shard_writer_destroy(writer);
    assert_int_equal(read(reader, read_bytes, sizeof read_bytes), 1028);
    assert_memory_equal(read_bytes + 8, "\x02\0\0\0", 4);
    assert_memory_equal(read_bytes + 1024, "\x02\x01\x09\0", 4);
    close(reader);
}

static void what_cannot_be_written_to_is_one_sentence(void **state)
{
    (void)state;
    static const int32_t tokens[] = {1, 2, 3};
    struct yk_token_shard_write_summary summary = {0};
    struct yk_text message = {0};
    const char *path = support_scratch_path("folder.bin");
    assert_int_equal(mkdir(path, 0700), 0);
    struct yk_token_shard_writer *writer = create("folder.bin", 10, 0);
    assert_ok(yk_token_shard_writer_add_tokens(writer, tokens, 3));
    yk_text_addf(&message, "cannot write %s: Is a directory", path);
    assert_fails(yk_token_shard_writer_finish(writer, &summary), YK_ERROR_SYSTEM,
                 yk_text_chars(&message));
    yk_token_shard_writer_destroy(writer);
    yk_text_free(&message);
    assert_true(support_scratch_holds("folder.bin"));
    assert_false(support_scratch_holds("folder.bin.partial"));
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(bytes_are_those_that_llm_c_writes),
        in_scratch(a_series_has_so_many_tokens_a_file),
        in_scratch(a_full_last_file_is_followed_by_none),
        in_scratch(many_tokens_go_through_the_buffer),
        in_scratch(what_is_given_up_leaves_what_was_there),
        in_scratch(a_link_stays_and_is_written_through),
        in_scratch(what_is_given_up_leaves_what_a_link_leads_to),
        in_scratch(a_pipe_gets_all_of_the_file),
        in_scratch(what_cannot_be_written_to_is_one_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
