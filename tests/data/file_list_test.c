#include "support/files/scratch.h"
#include "support/support.h"

#include "data/file_list.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef yk_status reader(const char *folder, struct yk_arena *arena, struct yk_file_list *out);

/* The files in the scratch folder are these. */
static void assert_reads(reader *read, const char *const *names, int32_t count)
{
    struct yk_arena *arena = NULL;
    struct yk_file_list list = {0};
    assert_ok(yk_arena_create(&arena));
    assert_ok(read(support_scratch_folder(), arena, &list));
    assert_int_equal(list.count, count);
    for (int32_t i = 0; i < count; i++) {
        assert_string_equal(list.paths[i], support_scratch_path(names[i]));
    }
    yk_arena_destroy(arena);
}

static void assert_listed(const char *const *names, int32_t count)
{
    assert_reads(yk_file_list_read_folder, names, count);
}

static void files_come_by_the_bytes_of_their_paths(void **state)
{
    (void)state;
    static const char *const sorted[] = {"B.txt", "a/z/deep", "a/\xc3\xa9", "aa", "b.txt", "c"};
    static const char *const made[] = {"c", "aa", "b.txt", "a/\xc3\xa9", "B.txt", "a/z/deep"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        support_scratch_write_text(made[i], "x");
    }
    assert_listed(sorted, 6);
}

static void what_is_hidden_or_built_is_left_out(void **state)
{
    (void)state;
    static const char *const kept[] = {"a/x", "building/x", "c/build"};
    static const char *const left_out[] = {".hidden",          ".git/x",    "build/x",
                                           "a/node_modules/x", "a/.hidden", "__pycache__/x"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        support_scratch_write_text(kept[i], "x");
    }
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        support_scratch_write_text(left_out[i], "x");
    }
    assert_listed(kept, 3);
}

static void links_to_folders_and_pipes_are_left_out(void **state)
{
    (void)state;
    static const char *const kept[] = {"a/x", "link"};
    support_scratch_write_text("a/x", "x");
    assert_int_equal(symlink("..", support_scratch_path("a/circle")), 0);
    assert_int_equal(symlink("a/x", support_scratch_path("link")), 0);
    assert_int_equal(symlink("nowhere", support_scratch_path("broken")), 0);
    assert_int_equal(mkfifo(support_scratch_path("pipe"), 0600), 0);
    assert_listed(kept, 2);
}

static void data_folders_are_listed_with_all_that_links_lead_to(void **state)
{
    (void)state;
    static const char *const kept[] = {"a/b/x", "a/broken", "build/x", "c/b/x", "c/broken", "link"};
    support_scratch_write_text("a/b/x", "x");
    support_scratch_write_text("build/x", "x");
    support_scratch_write_text("a/.hidden", "x");
    assert_int_equal(symlink("a", support_scratch_path("c")), 0);
    assert_int_equal(symlink("../..", support_scratch_path("a/b/circle")), 0);
    assert_int_equal(symlink(".", support_scratch_path("a/b/itself")), 0);
    assert_int_equal(symlink("a/b/x", support_scratch_path("link")), 0);
    assert_int_equal(symlink("nowhere", support_scratch_path("a/broken")), 0);
    assert_int_equal(mkfifo(support_scratch_path("pipe"), 0600), 0);
    assert_reads(yk_file_list_read_data_folder, kept, 6);
}

/* Each folder has two links to the next: 2²⁵ ways lead to the last one. */
static void folders_that_links_multiply_endlessly_are_refused(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_file_list list = {0};
    char message[600];
    for (int i = 0; i < 25; i++) {
        char name[40];
        char target[40];
        snprintf(name, sizeof name, "all/%d/x", i);
        support_scratch_write_text(name, "x");
        snprintf(target, sizeof target, "%s/%d", support_scratch_path("all"), i + 1);
        for (int side = 0; side < 2; side++) {
            snprintf(name, sizeof name, "all/%d/%s", i, side ? "l" : "r");
            assert_int_equal(symlink(target, support_scratch_path(name)), 0);
        }
    }
    assert_ok(yk_arena_create(&arena));
    snprintf(
        message, sizeof message,
        "%s: more than 4096 links to folders are below it; name the folders themselves, or copy "
        "them",
        support_scratch_path("all/0"));
    assert_fails(yk_file_list_read_data_folder(support_scratch_path("all/0"), arena, &list),
                 YK_ERROR_INPUT, message);
    yk_arena_destroy(arena);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    struct yk_file_list list = {0};
    char message[600];
    assert_ok(yk_arena_create(&arena));
    snprintf(message, sizeof message, "cannot open %s: No such file or directory",
             support_scratch_path("none"));
    assert_fails(yk_file_list_read_folder(support_scratch_path("none"), arena, &list),
                 YK_ERROR_INPUT, message);
    yk_arena_destroy(arena);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(files_come_by_the_bytes_of_their_paths),
        in_scratch(what_is_hidden_or_built_is_left_out),
        in_scratch(links_to_folders_and_pipes_are_left_out),
        in_scratch(data_folders_are_listed_with_all_that_links_lead_to),
        in_scratch(folders_that_links_multiply_endlessly_are_refused),
        in_scratch(a_folder_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
