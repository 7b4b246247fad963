#include "support/files/scratch.h"
#include "support/files/token_files.h"
#include "support/support.h"

#include "data/token_shard.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void tokens_are_read_from_any_place(void **state)
{
    (void)state;
    enum {
        MANY = 10000 /* more than are read at a time */
    };
    static uint16_t tokens[MANY];
    static int32_t read[MANY];
    struct yk_token_shard *shard = NULL;
    for (int i = 0; i < MANY; i++) {
        tokens[i] = (uint16_t)(i * 13);
    }
    assert_ok(yk_token_shard_open(support_write_shard("a.bin", tokens, MANY, MANY), &shard));
    assert_int_equal(yk_token_shard_token_count(shard), MANY);
    assert_ok(yk_token_shard_read_tokens(shard, 0, MANY, read));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(read[i], tokens[i]);
    }
    assert_ok(yk_token_shard_read_tokens(shard, MANY - 2, 2, read));
    assert_int_equal(read[1], tokens[MANY - 1]);
    yk_token_shard_close(shard);
}

static void refuse(const unsigned char *bytes, size_t length, uint64_t size, const char *message)
{
    struct yk_token_shard_header parsed = {0};
    assert_fails(yk_token_shard_parse_header(bytes, length, size, "file", &parsed), YK_ERROR_INPUT,
                 message);
}

static void every_broken_rule_has_its_sentence(void **state)
{
    (void)state;
    /* 20240520 is 0x0134d888. */
    unsigned char header[1024] = {0x88, 0xd8, 0x34, 0x01, 1, 0, 0, 0, 3};
    struct yk_token_shard_header parsed = {0};
    assert_ok(yk_token_shard_parse_header(header, 1024, 1030, "file", &parsed));
    assert_int_equal(parsed.count, 3);
    assert_int_equal(parsed.format->token_bytes, 2);
    refuse(header, 1023, 1023,
           "file: 1023 bytes are too few for a shard of tokens, whose header has 1024");
    refuse(header, 1024, 1027, "file: the file is cut off: 3 of 1030 bytes are missing");
    refuse(header, 1024, 1031, "file: 1 bytes more than its header's 3 tokens take");
    header[4] = 2;
    refuse(header, 1024, 1030, "file: a shard of tokens of version 2; only version 1 is known");
    header[4] = 1;
    header[8] = 0;
    refuse(header, 1024, 1024, "file: its header says that it holds 0 tokens");
    memset(header + 8, 0xff, 4);
    refuse(header, 1024, 1022,
           "file: 1022 bytes are too few for a shard of tokens, whose header "
           "has 1024");
    refuse(header, 1024, 1030, "file: its header says that it holds -1 tokens");
    header[0] = 0x89;
    refuse(header, 1024, 1030,
           "file: it begins with 20240521 instead of 20240520 or 20240801; this is no shard of "
           "tokens");
}

static void a_shard_of_llama3_has_four_bytes_a_token(void **state)
{
    (void)state;
    /* 20240801 is 0x0134d9a1. */
    unsigned char file[1024 + 12] = {0xa1, 0xd9, 0x34, 0x01, 7, 0, 0, 0, 3};
    static const unsigned char tokens[12] = {0x00, 0xf5, 0x01, 0x00, 0xff, 0xff,
                                             0xff, 0x7f, 0x02, 0x00, 0x00, 0x00};
    struct yk_token_shard_header parsed = {0};
    struct yk_token_shard *shard = NULL;
    int32_t read[3] = {0};
    memcpy(file + 1024, tokens, 12);
    assert_ok(yk_token_shard_parse_header(file, 1024, 1036, "file", &parsed));
    assert_int_equal(parsed.count, 3);
    assert_int_equal(parsed.format->token_bytes, 4);
    assert_ok(yk_token_shard_open(support_scratch_write("wide.bin", file, 1036), &shard));
    assert_ok(yk_token_shard_read_tokens(shard, 0, 3, read));
    assert_int_equal(read[0], 128256);
    assert_int_equal(read[1], INT32_MAX);
    assert_int_equal(read[2], 2);
    assert_ok(yk_token_shard_read_tokens(shard, 2, 1, read));
    assert_int_equal(read[0], 2);
    yk_token_shard_close(shard);
    refuse(file, 1024, 1030, "file: the file is cut off: 6 of 1036 bytes are missing");
    file[4] = 1;
    refuse(file, 1024, 1036, "file: a shard of tokens of version 1; only version 7 is known");
}

static void a_token_that_none_can_be_is_refused(void **state)
{
    (void)state;
    unsigned char file[1024 + 8] = {0xa1, 0xd9, 0x34, 0x01, 7, 0, 0, 0, 2};
    struct yk_token_shard *shard = NULL;
    int32_t read[2];
    char message[600];
    memset(file + 1028, 0xff, 4);
    const char *path = support_scratch_write("wide.bin", file, sizeof file);
    assert_ok(yk_token_shard_open(path, &shard));
    snprintf(message, sizeof message, "%s: token 1 is 4294967295, which none can be", path);
    assert_fails(yk_token_shard_read_tokens(shard, 0, 2, read), YK_ERROR_INPUT, message);
    yk_token_shard_close(shard);
}

static void a_shard_cut_off_while_open_gives_an_error(void **state)
{
    (void)state;
    static const uint16_t tokens[] = {1, 2, 3};
    struct yk_token_shard *shard = NULL;
    int32_t read[3];
    char message[600];
    const char *path = support_write_shard("a.bin", tokens, 3, 3);
    assert_ok(yk_token_shard_open(path, &shard));
    assert_int_equal(truncate(path, 1027), 0);
    snprintf(message, sizeof message,
             "%s: the file ends too early; it was cut off while it was read", path);
    assert_fails(yk_token_shard_read_tokens(shard, 0, 3, read), YK_ERROR_INPUT, message);
    yk_token_shard_close(shard);
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    struct yk_token_shard *shard = NULL;
    char message[600];
    snprintf(message, sizeof message, "cannot open %s: No such file or directory",
             support_scratch_path("no.bin"));
    assert_fails(yk_token_shard_open(support_scratch_path("no.bin"), &shard), YK_ERROR_INPUT,
                 message);
    yk_token_shard_close(NULL);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(tokens_are_read_from_any_place),
        cmocka_unit_test(every_broken_rule_has_its_sentence),
        in_scratch(a_shard_of_llama3_has_four_bytes_a_token),
        in_scratch(a_token_that_none_can_be_is_refused),
        in_scratch(a_shard_cut_off_while_open_gives_an_error),
        in_scratch(what_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
