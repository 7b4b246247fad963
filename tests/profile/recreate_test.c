#include "support/support.h"

#include "place.h"
#include "profile/profile.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct yk_profile_link_key ring = {"v100-v100 within a node", "send", 2};
static const struct yk_profile_measurement measured = {
    .value = 1, .samples = 1, .versions = "test"};

static void write_words(const char *path, const char *words)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 100; i++) {
        fputs(words, file);
    }
    assert_int_equal(fclose(file), 0);
}

static void make_file(const char *path, const char *sql)
{
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void write_profile(const char *path)
{
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(path, &profile));
    assert_ok(yk_profile_begin_transaction(profile));
    for (int i = 1; i <= 200; i++) {
        assert_ok(yk_profile_add_link_time(profile, &ring, i, &measured));
    }
    assert_ok(yk_profile_commit(profile));
    yk_profile_close(profile);
}

static void add_one(const char *path, struct yk_text *note)
{
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_recreate(path, note, &profile));
    assert_ok(yk_profile_add_link_time(profile, &ring, 1 << 20, &measured));
    yk_profile_close(profile);
}

static int32_t count_rows(const char *path)
{
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    assert_ok(yk_profile_open_for_reading(path, &profile));
    assert_ok(yk_profile_find_link_times(profile, &ring, &curve));
    yk_profile_close(profile);
    return curve.count;
}

/* The file at the path is damaged for this reason: it is kept as PATH`suffix`. */
static void assert_set_aside(const char *path, const char *reason, const char *suffix)
{
    struct yk_text note = {0};
    char kept[96];
    char sentence[512];
    struct stat before;
    struct stat after;
    assert_int_equal(stat(path, &before), 0);
    snprintf(kept, sizeof kept, "%s%s", path, suffix);
    snprintf(sentence, sizeof sentence, "%s: %s; it is kept as %s, and a new profile was begun",
             path, reason, kept);
    add_one(path, &note);
    assert_string_equal(yk_text_chars(&note), sentence);
    yk_text_free(&note);
    assert_int_equal(count_rows(path), 1);
    assert_int_equal(stat(kept, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_size == after.st_size);
}

static void what_is_whole_stays(void **state)
{
    const struct place *place = *state;
    struct yk_text note = {0};
    write_profile(place->path);
    add_one(place->path, &note);
    assert_int_equal(note.length, 0);
    assert_int_equal(count_rows(place->path), 201);
    add_one(place->other, &note); /* where there is none yet */
    assert_int_equal(note.length, 0);
    assert_int_equal(count_rows(place->other), 1);
}

static void what_is_no_database_is_set_aside_under_a_free_name(void **state)
{
    const struct place *place = *state;
    static const char reason[] = "this is not a profile: not an SQLite database";
    write_words(place->path, "these are words\n");
    assert_set_aside(place->path, reason, ".damaged");
    write_words(place->path, "these are words, too\n");
    assert_set_aside(place->path, reason, ".damaged-2");
}

/* A page in the middle that the tables' definitions do not touch. */
static void a_damaged_page_is_found(void **state)
{
    const struct place *place = *state;
    struct yk_text note = {0};
    write_profile(place->path);
    FILE *file = fopen(place->path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -4096, SEEK_END), 0);
    for (int i = 0; i < 4096; i++) {
        fputc(0x5a, file);
    }
    assert_int_equal(fclose(file), 0);
    add_one(place->path, &note);
    assert_non_null(strstr(yk_text_chars(&note), ": the profile is damaged: "));
    assert_non_null(strstr(yk_text_chars(&note), ".damaged, and a new profile was begun"));
    yk_text_free(&note);
    assert_int_equal(count_rows(place->path), 1);
}

static void a_file_cut_short_is_set_aside(void **state)
{
    const struct place *place = *state;
    struct yk_text note = {0};
    struct stat whole;
    write_profile(place->path);
    assert_int_equal(stat(place->path, &whole), 0);
    assert_int_equal(truncate(place->path, whole.st_size / 2), 0);
    add_one(place->path, &note);
    assert_true(note.length > 0);
    yk_text_free(&note);
    assert_int_equal(count_rows(place->path), 1);
}

static void a_profile_of_another_version_or_that_lacks_a_column_is_set_aside(void **state)
{
    const struct place *place = *state;
    write_profile(place->path);
    make_file(place->path, "ALTER TABLE facts RENAME COLUMN value TO worth;");
    assert_set_aside(place->path, "the profile is damaged: no such column: value", ".damaged");
    make_file(place->path, "PRAGMA user_version = 9;");
    assert_set_aside(place->path,
                     "a profile of form 9, and this program knows form 5: it has to be measured "
                     "again",
                     ".damaged-2");
}

static void a_database_of_something_else_is_not_touched(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    struct yk_text note = {0};
    char message[256];
    make_file(place->path, "CREATE TABLE songs (title TEXT);");
    snprintf(message, sizeof message, "%s: this is not a profile: a database of something else",
             place->path);
    assert_fails(yk_profile_open_or_recreate(place->path, &note, &profile), YK_ERROR_INPUT,
                 message);
    assert_int_equal(note.length, 0);
    assert_int_equal(access(place->path, F_OK), 0);
}

static void a_folder_is_refused(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    struct yk_text note = {0};
    assert_int_equal(yk_profile_open_or_recreate(place->folder, &note, &profile), YK_ERROR_INPUT);
    assert_int_equal(note.length, 0);
}

/* All find the damaged file; one sets it aside, and nobody the new one. */
static void several_who_find_damage_set_one_file_aside(void **state)
{
    enum {
        WRITERS = 4
    };
    const struct place *place = *state;
    pid_t processes[WRITERS];
    char second[96];
    int gate[2];
    write_words(place->path, "these are words\n");
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < WRITERS; i++) {
        processes[i] = fork();
        assert_true(processes[i] >= 0);
        if (processes[i] == 0) {
            struct yk_profile *profile = NULL;
            struct yk_text note = {0};
            char byte = 0;
            close(gate[1]);
            _exit(read(gate[0], &byte, 1) != 0 ||
                  yk_profile_open_or_recreate(place->path, &note, &profile) != YK_OK ||
                  yk_profile_add_link_time(profile, &ring, 1 + i, &measured) != YK_OK);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < WRITERS; i++) {
        int how = 0;
        assert_int_equal(waitpid(processes[i], &how, 0), processes[i]);
        assert_int_equal(how, 0);
    }
    assert_int_equal(count_rows(place->path), WRITERS);
    snprintf(second, sizeof second, "%s.damaged-2", place->path);
    assert_int_equal(access(second, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_place(what_is_whole_stays),
        in_place(what_is_no_database_is_set_aside_under_a_free_name),
        in_place(a_damaged_page_is_found),
        in_place(a_file_cut_short_is_set_aside),
        in_place(a_profile_of_another_version_or_that_lacks_a_column_is_set_aside),
        in_place(a_database_of_something_else_is_not_touched),
        in_place(a_folder_is_refused),
        in_place(several_who_find_damage_set_one_file_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
