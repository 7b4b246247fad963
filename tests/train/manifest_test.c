#include "train/checkpoint/manifest.h"

#include "support/files/scratch.h"
#include "support/files/skip_fsync.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_OF(name) "\n    {\"name\": \"" name "\", \"bytes\": 5, \"xxh3\": \"00000000000000ff\"}"
#define SHARD(number, ranks) FILE_OF("shard-0000" #number "-of-0000" #ranks ".safetensors")
#define MANIFEST(ranks, files)                                                                     \
    "{\n  \"yoke\": 1,\n  \"kind\": \"checkpoint\",\n  \"step\": 7,\n  \"ranks\": " ranks          \
    ",\n  \"files\": [" files "\n  ]\n}\n"

static yk_status read_text(const char *text, struct yk_manifest *out, struct yk_arena *arena)
{
    return yk_manifest_parse_json(text, strlen(text), arena, out);
}

static void the_number_of_ranks_and_their_shards_are_read(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_manifest manifest = {0};
    assert_ok(yk_arena_create(&arena));
    assert_ok(read_text(MANIFEST("2", FILE_OF("config.json") "," SHARD(1, 2) "," SHARD(2, 2)),
                        &manifest, arena));
    assert_int_equal(manifest.step, 7);
    assert_int_equal(manifest.ranks, 2);
    assert_int_equal(manifest.count, 3);
    assert_true(yk_manifest_lists_file(&manifest, "shard-00002-of-00002.safetensors"));
    yk_arena_destroy(arena);
}

static void assert_shards_refused(const char *text, const char *sentence)
{
    struct yk_arena *arena = NULL;
    struct yk_manifest manifest = {0};
    assert_ok(yk_arena_create(&arena));
    assert_fails(read_text(text, &manifest, arena), YK_ERROR_INPUT, sentence);
    yk_arena_destroy(arena);
}

static void shards_that_are_missing_or_of_others_are_refused(void **state)
{
    (void)state;
    assert_shards_refused(MANIFEST("3", SHARD(1, 3) "," SHARD(2, 3)), "shard 3 of 3 is missing");
    assert_shards_refused(MANIFEST("3", SHARD(1, 3) "," SHARD(3, 3)),
                          "\"shard-00003-of-00003.safetensors\" is not shard 2 of 3");
    assert_shards_refused(MANIFEST("2", SHARD(1, 2) "," SHARD(2, 3)),
                          "\"shard-00002-of-00003.safetensors\" is not shard 2 of 2");
    assert_shards_refused(MANIFEST("2", SHARD(1, 2) "," SHARD(1, 2) "," SHARD(2, 2)),
                          "\"shard-00001-of-00002.safetensors\" is not shard 2 of 2");
}

/* What another rank says it wrote must be where the first one looks. */
static void a_shard_that_is_not_here_is_not_sealed(void **state)
{
    (void)state;
    struct yk_manifest_listed_file files[] = {
        {.name = "shard-00001-of-00002.safetensors", .bytes = 5},
        {.name = "shard-00002-of-00002.safetensors", .bytes = 5},
    };
    const struct yk_manifest known = {.step = 7, .ranks = 2, .files = files, .count = 2};
    char expected[512];
    support_scratch_write_text(files[0].name, "12345");
    snprintf(expected, sizeof expected,
             "%s is not here as it was written; checkpoints must be in a folder that all ranks "
             "share",
             support_scratch_path(files[1].name));
    assert_fails(yk_manifest_save_and_sync_folder(support_scratch_folder(), &known),
                 YK_ERROR_SYSTEM, expected);
    support_scratch_write_text(files[1].name, "1234");
    assert_fails(yk_manifest_save_and_sync_folder(support_scratch_folder(), &known),
                 YK_ERROR_SYSTEM, expected);
    support_scratch_write_text(files[1].name, "12345");
    assert_ok(yk_manifest_save_and_sync_folder(support_scratch_folder(), &known));
}

/* Ranks that share the work find a file that one of them alone would find. */
static void every_file_is_in_one_share(void **state)
{
    (void)state;
    const struct yk_manifest known = {.step = 7};
    struct yk_arena *arena = NULL;
    char name[32];
    assert_ok(yk_arena_create(&arena));
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "file-%d", i);
        support_scratch_write_text(name, "12345");
    }
    assert_ok(yk_manifest_save_and_sync_folder(support_scratch_folder(), &known));
    for (int i = 0; i < 5; i++) {
        int found = 0;
        snprintf(name, sizeof name, "file-%d", i);
        support_scratch_write_text(name, "12x45");
        for (int32_t rank = 0; rank < 3; rank++) {
            struct yk_manifest manifest = {0};
            found += yk_manifest_verify_folder(support_scratch_folder(),
                                               (struct yk_manifest_hash_share){rank, 3}, arena,
                                               &manifest, NULL) == YK_ERROR_INPUT;
        }
        assert_int_equal(found, 1);
        support_scratch_write_text(name, "12345");
    }
    yk_arena_destroy(arena);
}

#define IN_SCRATCH(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_ranks_and_their_shards_are_read),
        cmocka_unit_test(shards_that_are_missing_or_of_others_are_refused),
        IN_SCRATCH(a_shard_that_is_not_here_is_not_sealed),
        IN_SCRATCH(every_file_is_in_one_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
