#include "support/files/scratch.h"
#include "support/support.h"

#include "base/file.h"
#include "base/hash.h"
#include "tensors/safetensors_writer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct yk_safetensors_writer *create(const char *name)
{
    struct yk_safetensors_writer *writer = NULL;
    assert_ok(yk_safetensors_writer_create(support_scratch_path(name), &writer));
    return writer;
}

/* Two tensors, "a" (2, 2) of F32 and "b" () of U8, and a key of metadata. */
static struct yk_safetensors_writer *begin_two(const char *name)
{
    static const int64_t square[] = {2, 2};
    struct yk_safetensors_writer *writer = create(name);
    assert_ok(yk_safetensors_writer_declare_tensor(writer, "a", YK_TENSOR_F32, 2, square));
    assert_ok(yk_safetensors_writer_add_metadata(writer, "format", "pt"));
    assert_ok(yk_safetensors_writer_declare_tensor(writer, "b", YK_TENSOR_U8, 0, NULL));
    assert_ok(yk_safetensors_writer_write_header(writer));
    return writer;
}

static const unsigned char data[17] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64, 7};

static void a_written_file_is_these_bytes(void **state)
{
    (void)state;
    /* By the form's definition; the header of 141 bytes is filled up to 144. */
    static const char json[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                               "\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
                               "\"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[16,17]}}";
    unsigned char expected[8 + 144 + sizeof data];
    memset(expected, ' ', sizeof expected);
    memset(expected, 0, 8);
    expected[0] = 144;
    memcpy(expected + 8, json, sizeof json - 1);
    memcpy(expected + 152, data, sizeof data);

    struct yk_safetensors_writer *writer = begin_two("out.safetensors");
    struct yk_safetensors_size_and_hash written = {0};
    struct yk_text text = {0};
    assert_ok(yk_safetensors_writer_append_bytes(writer, data, sizeof data));
    assert_ok(yk_safetensors_writer_finish(writer, &written));
    yk_safetensors_writer_destroy(writer);
    assert_ok(yk_file_read_document(support_scratch_path("out.safetensors"), &text));
    assert_int_equal(text.length, sizeof expected);
    assert_memory_equal(text.bytes, expected, sizeof expected);
    assert_int_equal(written.bytes, sizeof expected);
    assert_int_equal(written.hash, yk_hash_bytes(expected, sizeof expected));
    assert_false(support_scratch_holds("out.safetensors.partial"));
    yk_text_free(&text);
}

static void chunks_of_any_size_make_the_same_file(void **state)
{
    (void)state;
    enum {
        MANY = 300000 /* larger than what is gathered before it is written */
    };
    static unsigned char bytes[MANY];
    static unsigned char again[MANY];
    static const size_t chunks[] = {1, 65535, 65536, 65537, 7, 0, 100000};
    const int64_t shape[] = {MANY};
    for (size_t i = 0; i < MANY; i++) {
        bytes[i] = (unsigned char)(i * 31 + i / 253);
    }
    struct yk_safetensors_writer *writer = create("big");
    struct yk_safetensors_size_and_hash written = {0};
    assert_ok(yk_safetensors_writer_declare_tensor(writer, "x", YK_TENSOR_U8, 1, shape));
    assert_ok(yk_safetensors_writer_write_header(writer));
    size_t at = 0;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        assert_ok(yk_safetensors_writer_append_bytes(writer, bytes + at, chunks[i]));
        at += chunks[i];
    }
    assert_ok(yk_safetensors_writer_append_bytes(writer, bytes + at, MANY - at));
    assert_ok(yk_safetensors_writer_finish(writer, &written));
    yk_safetensors_writer_destroy(writer);

    struct yk_safetensors_file *file = NULL;
    struct yk_text text = {0};
    assert_ok(yk_safetensors_open(support_scratch_path("big"), &file));
    assert_ok(yk_safetensors_read_tensor_range(file, &file->header->entries[0], 0, MANY, again));
    assert_memory_equal(bytes, again, MANY);
    assert_ok(yk_file_read_document(support_scratch_path("big"), &text));
    assert_int_equal(written.hash, yk_hash_bytes(text.bytes, text.length));
    assert_int_equal(written.bytes, text.length);
    yk_text_free(&text);
    yk_safetensors_close(file);
}

static void names_and_values_that_need_escapes_read_back(void **state)
{
    (void)state;
    struct yk_safetensors_writer *writer = create("escapes");
    struct yk_safetensors_file *file = NULL;
    assert_ok(
        yk_safetensors_writer_declare_tensor(writer, "a\"\\\n\xed\x95\x9c", YK_TENSOR_U8, 0, NULL));
    assert_ok(yk_safetensors_writer_add_metadata(writer, "k\"", "<\t\x01>"));
    assert_ok(yk_safetensors_writer_write_header(writer));
    assert_ok(yk_safetensors_writer_append_bytes(writer, "x", 1));
    assert_ok(yk_safetensors_writer_finish(writer, NULL));
    yk_safetensors_writer_destroy(writer);
    assert_ok(yk_safetensors_open(support_scratch_path("escapes"), &file));
    assert_non_null(yk_safetensors_find_tensor(file, "a\"\\\n\xed\x95\x9c"));
    assert_string_equal(file->header->metadata[0].key, "k\"");
    assert_string_equal(file->header->metadata[0].value, "<\t\x01>");
    yk_safetensors_close(file);
}

static void an_unfinished_file_is_removed_and_the_old_one_stays(void **state)
{
    (void)state;
    support_scratch_write_text("out", "old");
    struct yk_safetensors_writer *writer = begin_two("out");
    struct yk_text text = {0};
    assert_ok(yk_safetensors_writer_append_bytes(writer, data, 3));
    assert_true(support_scratch_holds("out.partial"));
    yk_safetensors_writer_destroy(writer);
    assert_false(support_scratch_holds("out.partial"));
    assert_ok(yk_file_read_document(support_scratch_path("out"), &text));
    assert_string_equal(yk_text_chars(&text), "old");
    yk_text_free(&text);
    yk_safetensors_writer_destroy(NULL);
}

static void bytes_missing_and_bytes_too_many_are_refused(void **state)
{
    (void)state;
    char message[600];
    struct yk_safetensors_writer *writer = begin_two("out");
    assert_ok(yk_safetensors_writer_append_bytes(writer, data, 15));
    snprintf(message, sizeof message, "%s: 2 of 17 bytes of the tensors declared were not written",
             support_scratch_path("out"));
    assert_fails(yk_safetensors_writer_finish(writer, NULL), YK_ERROR_INPUT, message);
    snprintf(message, sizeof message, "%s: 1 bytes more than the tensors declared have",
             support_scratch_path("out"));
    assert_fails(yk_safetensors_writer_append_bytes(writer, data, 3), YK_ERROR_INPUT, message);
    yk_safetensors_writer_destroy(writer);
    assert_false(support_scratch_holds("out"));
}

static void declarations_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const int64_t huge[] = {INT64_MAX, 4};
    static const int64_t negative[] = {-1};
    char message[600];
    struct yk_safetensors_writer *writer = create("out");
    assert_ok(yk_safetensors_writer_declare_tensor(writer, "a", YK_TENSOR_U8, 0, NULL));
    snprintf(message, sizeof message, "%s: tensor \"a\" is declared twice",
             support_scratch_path("out"));
    assert_fails(yk_safetensors_writer_declare_tensor(writer, "a", YK_TENSOR_U8, 0, NULL),
                 YK_ERROR_INPUT, message);
    snprintf(message, sizeof message, "%s: no tensor can be called \"__metadata__\"",
             support_scratch_path("out"));
    assert_fails(
        yk_safetensors_writer_declare_tensor(writer, "__metadata__", YK_TENSOR_U8, 0, NULL),
        YK_ERROR_INPUT, message);
    snprintf(message, sizeof message,
             "%s: tensor \"b\" has a shape that a safetensors file cannot hold",
             support_scratch_path("out"));
    assert_fails(yk_safetensors_writer_declare_tensor(writer, "b", YK_TENSOR_F32, 2, huge),
                 YK_ERROR_INPUT, message);
    assert_int_equal(yk_safetensors_writer_declare_tensor(writer, "c", YK_TENSOR_F32, 1, negative),
                     YK_ERROR_INPUT);
    assert_int_equal(yk_safetensors_writer_declare_tensor(writer, "\xff", YK_TENSOR_U8, 0, NULL),
                     YK_ERROR_INPUT);
    assert_int_equal(yk_safetensors_writer_append_bytes(writer, data, 1), YK_ERROR_INPUT);
    assert_ok(yk_safetensors_writer_write_header(writer));
    snprintf(message, sizeof message, "%s: tensor \"d\" comes after the header is written",
             support_scratch_path("out"));
    assert_fails(yk_safetensors_writer_declare_tensor(writer, "d", YK_TENSOR_U8, 0, NULL),
                 YK_ERROR_INPUT, message);
    yk_safetensors_writer_destroy(writer);
}

/* A limit on the size of files stands for a disk that is full: the first write comes out short,
 * the next one fails. */
static void a_disk_that_is_full_is_reported_with_path_and_reason(void **state)
{
    (void)state;
    enum {
        LIMIT = 100000
    };
    static const unsigned char bytes[3 * LIMIT];
    const int64_t shape[] = {sizeof bytes};
    struct rlimit before;
    struct rlimit limit;
    char message[600];
    support_scratch_write_text("out", "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = LIMIT;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    struct yk_safetensors_writer *writer = create("out");
    assert_ok(yk_safetensors_writer_declare_tensor(writer, "x", YK_TENSOR_U8, 1, shape));
    assert_ok(yk_safetensors_writer_write_header(writer));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const yk_status status = yk_safetensors_writer_append_bytes(writer, bytes, sizeof bytes);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    snprintf(message, sizeof message, "cannot write %s: File too large",
             support_scratch_path("out"));
    assert_fails(status, YK_ERROR_SYSTEM, message);
    assert_int_equal(yk_safetensors_writer_finish(writer, NULL), YK_ERROR_INPUT);
    yk_safetensors_writer_destroy(writer);
    assert_false(support_scratch_holds("out.partial"));
    assert_true(support_scratch_holds("out"));
}

static void a_folder_that_is_not_there_is_reported(void **state)
{
    (void)state;
    char message[600];
    struct yk_safetensors_writer *writer = create("none/out");
    snprintf(message, sizeof message, "cannot write %s: No such file or directory",
             support_scratch_path("none/out"));
    assert_fails(yk_safetensors_writer_write_header(writer), YK_ERROR_SYSTEM, message);
    yk_safetensors_writer_destroy(writer);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(a_written_file_is_these_bytes),
        in_scratch(chunks_of_any_size_make_the_same_file),
        in_scratch(names_and_values_that_need_escapes_read_back),
        in_scratch(an_unfinished_file_is_removed_and_the_old_one_stays),
        in_scratch(bytes_missing_and_bytes_too_many_are_refused),
        in_scratch(declarations_that_make_no_sense_are_refused),
        in_scratch(a_disk_that_is_full_is_reported_with_path_and_reason),
        in_scratch(a_folder_that_is_not_there_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
