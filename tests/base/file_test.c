#include "support/support.h"

#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/yoke-file-test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void path_of(const char *name, char out[128])
{
    snprintf(out, 128, "%s/%s", folder, name);
}

static void write_ok(const char *path, const char *words)
{
    struct yk_text text = {0};
    yk_text_add(&text, words);
    assert_ok(yk_file_write(path, &text));
    yk_text_free(&text);
}

static void assert_holds(const char *path, const char *words)
{
    struct yk_text text = {0};
    assert_ok(yk_file_read_document(path, &text));
    assert_string_equal(yk_text_chars(&text), words);
    yk_text_free(&text);
}

static int files_in_folder(void)
{
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    int count = 0;
    while (readdir(listing)) {
        count++;
    }
    closedir(listing);
    return count - 2;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    char path[128];
    path_of("a", path);
    write_ok(path, "first");
    write_ok(path, "second, longer");
    assert_holds(path, "second, longer");
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
}

static void zeros_and_large_files_survive(void **state)
{
    (void)state;
    char path[128];
    path_of("large", path);
    struct yk_text text = {0};
    struct yk_text again = {0};
    for (int i = 0; i < 100000; i++) {
        yk_text_add_bytes(&text, "a\0b", 3);
    }
    assert_ok(yk_file_write(path, &text));
    assert_ok(yk_file_read_document(path, &again));
    assert_int_equal(again.length, text.length);
    assert_memory_equal(again.bytes, text.bytes, text.length);
    yk_text_free(&text);
    yk_text_free(&again);
    unlink(path);
}

static void an_empty_file_reads_as_nothing(void **state)
{
    (void)state;
    char path[128];
    path_of("empty", path);
    write_ok(path, "");
    assert_holds(path, "");
    unlink(path);
}

static void reading_adds_to_what_is_there(void **state)
{
    (void)state;
    char path[128];
    path_of("b", path);
    write_ok(path, "tail");
    struct yk_text text = {0};
    yk_text_add(&text, "head ");
    assert_ok(yk_file_read_document(path, &text));
    assert_string_equal(yk_text_chars(&text), "head tail");
    yk_text_free(&text);
    unlink(path);
}

static void a_missing_file_and_a_folder_cannot_be_read(void **state)
{
    (void)state;
    struct yk_text text = {0};
    assert_fails(yk_file_read_document("/nowhere/at/all", &text), YK_ERROR_INPUT,
                 "cannot open /nowhere/at/all: No such file or directory");
    assert_int_equal(yk_file_read_document(folder, &text), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "Is a directory"));
    yk_text_free(&text);
}

static void a_pointer_of_git_lfs_is_refused(void **state)
{
    (void)state;
    char path[128];
    char message[256];
    struct yk_text text = {0};
    path_of("model.json", path);
    write_ok(path, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n");
    (void)snprintf(message, sizeof message,
                   "%s: this is a pointer of Git LFS and not the file itself; fetch it with git "
                   "lfs pull",
                   path);
    assert_fails(yk_file_read_document(path, &text), YK_ERROR_INPUT, message);
    assert_int_equal(unlink(path), 0);
    yk_text_free(&text);
}

static void a_file_above_the_limit_is_refused_with_both_sizes(void **state)
{
    (void)state;
    char path[128];
    char message[256];
    struct yk_text text = {0};
    path_of("long", path);
    write_ok(path, "");
    assert_int_equal(truncate(path, (64 << 20) + 1048576), 0);
    snprintf(message, sizeof message, "%s has 65MiB; a file of its kind may have at most 64MiB",
             path);
    assert_fails(yk_file_read_document(path, &text), YK_ERROR_INPUT, message);
    assert_int_equal(truncate(path, 64 << 20), 0);
    assert_ok(yk_file_read_document(path, &text));
    assert_int_equal(text.length, 64 << 20);
    yk_text_free(&text);
    unlink(path);
}

static void a_pipe_that_was_handed_over_is_read_up_to_the_limit(void **state)
{
    (void)state;
    char path[128];
    char message[256];
    int ends[2];
    struct yk_text text = {0};
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], "12345", 5), 5);
    close(ends[1]);
    snprintf(message, sizeof message, "%s is longer than the 4B that a file of its kind may have",
             path);
    assert_fails(yk_file_read_with_limit(path, 4, &text), YK_ERROR_INPUT, message);
    close(ends[0]);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], "12345", 5), 5);
    close(ends[1]);
    assert_ok(yk_file_read_with_limit(path, 5, &text));
    assert_string_equal(yk_text_chars(&text), "12345");
    close(ends[0]);
    yk_text_free(&text);
}

static void nobody_waits_for_a_named_pipe_or_reads_a_device(void **state)
{
    (void)state;
    char path[128];
    char message[256];
    struct yk_text text = {0};
    path_of("pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(message, sizeof message, "%s is not a regular file", path);
    assert_fails(yk_file_read_document(path, &text), YK_ERROR_INPUT, message);
    assert_fails(yk_file_read_document("/dev/zero", &text), YK_ERROR_INPUT,
                 "/dev/zero is not a regular file");
    assert_fails(yk_file_read_training_data("/dev/zero", &text), YK_ERROR_INPUT,
                 "/dev/zero is not a regular file");
    yk_text_free(&text);
    unlink(path);
}

static void a_path_that_cannot_be_written_leaves_nothing_behind(void **state)
{
    (void)state;
    struct yk_text text = {0};
    yk_text_add(&text, "x");
    assert_fails(yk_file_write("/nowhere/at/all", &text), YK_ERROR_SYSTEM,
                 "cannot write /nowhere/at/all: No such file or directory");
    assert_int_equal(yk_file_write(folder, &text), YK_ERROR_SYSTEM);
    assert_int_equal(files_in_folder(), 0);
    yk_text_free(&text);
}

static void the_mode_of_an_existing_file_stays(void **state)
{
    (void)state;
    char path[128];
    struct stat info;
    path_of("mode", path);
    write_ok(path, "x");
    assert_int_equal(chmod(path, 0640), 0);
    write_ok(path, "y");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    unlink(path);
}

static void a_device_is_written_to_and_not_replaced(void **state)
{
    (void)state;
    struct stat info;
    write_ok("/dev/null", "x");
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void a_symbolic_link_stays_one(void **state)
{
    (void)state;
    char target[128];
    char path[128];
    struct stat info;
    path_of("target", target);
    path_of("link", path);
    write_ok(target, "before");
    assert_int_equal(symlink(target, path), 0);
    write_ok(path, "after");
    assert_holds(target, "after");
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink(path);
    unlink(target);
}

/* The second is too long, as on a full disk; the third is a link, which is written through. */
static void of_files_that_belong_together_all_are_replaced_or_none(void **state)
{
    (void)state;
    char names[3][128];
    char target[128];
    char message[256];
    const char *const paths[] = {names[0], names[1], names[2]};
    struct yk_text texts[3] = {{0}};
    const struct yk_text *const all[] = {&texts[0], &texts[1], &texts[2]};
    struct rlimit before;
    path_of("first", names[0]);
    path_of("second", names[1]);
    path_of("third", names[2]);
    path_of("target", target);
    write_ok(names[0], "old");
    write_ok(target, "old");
    assert_int_equal(symlink(target, names[2]), 0);
    yk_text_add(&texts[0], "new");
    yk_text_add_repeated(&texts[1], "long ", 100);
    yk_text_add(&texts[2], "new");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit little = {.rlim_cur = 100, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const yk_status refused = yk_file_write_several(paths, all, 3);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    snprintf(message, sizeof message, "cannot write %s: File too large", names[1]);
    assert_fails(refused, YK_ERROR_SYSTEM, message);
    assert_holds(names[0], "old");
    assert_holds(target, "old");
    assert_int_equal(files_in_folder(), 3);
    assert_ok(yk_file_write_several(paths, all, 3));
    assert_holds(names[0], "new");
    assert_holds(names[1], yk_text_chars(&texts[1]));
    assert_holds(target, "new");
    assert_int_equal(files_in_folder(), 4);
    for (int i = 0; i < 3; i++) {
        yk_text_free(&texts[i]);
        assert_int_equal(unlink(names[i]), 0);
    }
    assert_int_equal(unlink(target), 0);
}

static void in_a_folder_of_ours_links_and_pipes_are_refused(void **state)
{
    (void)state;
    char target[128];
    char path[128];
    char message[256];
    int descriptor = -1;
    struct yk_text text = {0};
    path_of("target", target);
    path_of("own", path);
    write_ok(target, "before");
    yk_text_add(&text, "after");
    assert_int_equal(symlink(target, path), 0);
    snprintf(message, sizeof message,
             "%s is a symbolic link, which would be written through; remove it", path);
    assert_fails(yk_file_check_not_symlink(path), YK_ERROR_SYSTEM, message);
    assert_fails(yk_file_write_nofollow(path, &text), YK_ERROR_SYSTEM, message);
    assert_fails(yk_file_open_nofollow_for_writing(path, O_WRONLY, &descriptor), YK_ERROR_SYSTEM,
                 message);
    assert_holds(target, "before");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(message, sizeof message, "%s is not a regular file", path);
    assert_fails(yk_file_write_nofollow(path, &text), YK_ERROR_SYSTEM, message);
    assert_fails(yk_file_open_nofollow_for_writing(path, O_RDWR, &descriptor), YK_ERROR_SYSTEM,
                 message);
    unlink(path);
    assert_ok(yk_file_write_nofollow(path, &text));
    assert_holds(path, "after");
    yk_text_free(&text);
    unlink(path);
    unlink(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(zeros_and_large_files_survive),
        cmocka_unit_test(an_empty_file_reads_as_nothing),
        cmocka_unit_test(reading_adds_to_what_is_there),
        cmocka_unit_test(a_missing_file_and_a_folder_cannot_be_read),
        cmocka_unit_test(a_pointer_of_git_lfs_is_refused),
        cmocka_unit_test(a_file_above_the_limit_is_refused_with_both_sizes),
        cmocka_unit_test(a_pipe_that_was_handed_over_is_read_up_to_the_limit),
        cmocka_unit_test(nobody_waits_for_a_named_pipe_or_reads_a_device),
        cmocka_unit_test(a_path_that_cannot_be_written_leaves_nothing_behind),
        cmocka_unit_test(the_mode_of_an_existing_file_stays),
        cmocka_unit_test(a_device_is_written_to_and_not_replaced),
        cmocka_unit_test(a_symbolic_link_stays_one),
        cmocka_unit_test(of_files_that_belong_together_all_are_replaced_or_none),
        cmocka_unit_test(in_a_folder_of_ours_links_and_pipes_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
