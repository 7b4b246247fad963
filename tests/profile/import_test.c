#include "support/support.h"

#include "place.h"
#include "profile/profile.h"

#include <sqlite3.h>

static const struct yk_profile_layer_key norm = {"cpu:2", 1, "norm C8 fp32", 64, "forward"};
static const struct yk_profile_link_key ring = {"v100-v100 within a node", "send", 2};
static const struct yk_profile_fact_key context = {"v100", YK_PROFILE_FACT_CONTEXT_BYTES};

static struct yk_profile_measurement measured(double value, int64_t when, const char *host)
{
    return (struct yk_profile_measurement){
        .value = value, .samples = 1, .versions = "test", .measured_at = when, .host = host};
}

/* A profile with these messages, of so many bytes each, measured then on that host. */
static void write_links(const char *path, const int64_t *bytes, int count, int64_t when,
                        const char *host)
{
    const struct yk_profile_measurement measurement = measured((double)when, when, host);
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(path, &profile));
    assert_ok(yk_profile_begin_transaction(profile));
    for (int i = 0; i < count; i++) {
        assert_ok(yk_profile_add_link_time(profile, &ring, bytes[i], &measurement));
    }
    assert_ok(yk_profile_commit(profile));
    yk_profile_close(profile);
}

static void assert_counts(const struct yk_profile_import_counts *counts, int added, int replaced,
                          int left)
{
    assert_int_equal(counts->added, added);
    assert_int_equal(counts->replaced, replaced);
    assert_int_equal(counts->left, left);
}

static struct yk_profile_import_counts import_into(const char *path, const char *other)
{
    struct yk_profile_import_counts counts;
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(path, &profile));
    assert_ok(yk_profile_import(profile, other, &counts));
    yk_profile_close(profile);
    return counts;
}

/* Messages of 1, 2 and 4 bytes were measured at 100, of 2, 4 and 8 at 200: whichever way it goes,
 * the three of 200 stay. */
static void the_newer_number_wins_both_ways(void **state)
{
    const struct place *place = *state;
    static const int64_t older[] = {1, 2, 4};
    static const int64_t newer[] = {2, 4, 8};
    static const double expected[] = {100, 200, 200, 200};
    struct yk_profile_curve curve = {0};
    struct yk_profile *profile = NULL;
    write_links(place->path, older, 3, 100, "a");
    write_links(place->other, newer, 3, 200, "b");
    struct yk_profile_import_counts counts = import_into(place->path, place->other);
    assert_counts(&counts, 1, 2, 0);
    counts = import_into(place->path, place->other);
    assert_counts(&counts, 0, 0, 3);
    counts = import_into(place->other, place->path);
    assert_counts(&counts, 1, 0, 3);
    for (int i = 0; i < 2; i++) {
        assert_ok(yk_profile_open_for_reading(i == 0 ? place->path : place->other, &profile));
        assert_ok(yk_profile_find_link_times(profile, &ring, &curve));
        assert_int_equal(curve.count, 4);
        for (int j = 0; j < 4; j++) {
            assert_true(curve.points[j].seconds == expected[j]);
        }
        yk_profile_close(profile);
    }
}

static yk_status see_fact(void *user, const struct yk_profile_fact_row *row)
{
    struct yk_profile_measurement *out = user;
    *out = row->measurement;
    assert_string_equal(row->measurement.host, "far");
    assert_string_equal(row->measurement.versions, "test");
    return YK_OK;
}

static void a_number_comes_with_all_that_is_known_of_it(void **state)
{
    const struct place *place = *state;
    struct yk_profile_measurement given = measured(10, 100, "far");
    struct yk_profile_measurement found = {0};
    struct yk_profile *profile = NULL;
    given.spread = 0.5;
    given.min = 8;
    given.max = 13;
    given.samples = 77;
    assert_ok(yk_profile_open_or_create(place->other, &profile));
    assert_ok(yk_profile_add_fact(profile, &context, &given));
    yk_profile_close(profile);
    const struct yk_profile_import_counts counts = import_into(place->path, place->other);
    assert_counts(&counts, 1, 0, 0);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_ok(yk_profile_visit_rows(
        profile, &(struct yk_profile_visitor){.argument = &found, .fact = see_fact}));
    yk_profile_close(profile);
    assert_true(found.value == 10 && found.spread == 0.5 && found.min == 8 && found.max == 13);
    assert_int_equal(found.samples, 77);
    assert_int_equal(found.measured_at, 100);
}

/* 1 / 3 of a device is 33.33 % to another file. */
static void a_part_is_known_again_within_half_a_percent(void **state)
{
    const struct place *place = *state;
    struct yk_profile_layer_key third = norm;
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    const struct yk_profile_measurement older = measured(1, 100, "a");
    const struct yk_profile_measurement newer = measured(2, 200, "a");
    third.part = 1.0 / 3;
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(yk_profile_add_layer_time(profile, &third, 4, &older));
    yk_profile_close(profile);
    third.part = 0.3333;
    assert_ok(yk_profile_open_or_create(place->other, &profile));
    assert_ok(yk_profile_add_layer_time(profile, &third, 4, &newer));
    yk_profile_close(profile);
    const struct yk_profile_import_counts counts = import_into(place->path, place->other);
    assert_counts(&counts, 0, 1, 0);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_ok(yk_profile_find_layer_times(profile, &third, &curve));
    assert_int_equal(curve.count, 1);
    assert_true(curve.points[0].seconds == 2);
    yk_profile_close(profile);
}

static void add_layer(const char *path, int64_t batch, double seconds, const char *cpu)
{
    struct yk_profile_measurement measurement = measured(seconds, 100, "a");
    struct yk_profile *profile = NULL;
    measurement.cpu = cpu;
    assert_ok(yk_profile_open_or_create(path, &profile));
    assert_ok(yk_profile_add_layer_time(profile, &norm, batch, &measurement));
    yk_profile_close(profile);
}

/* The other's are newer or not: they are of something else. */
static void numbers_of_another_cpu_stay_apart(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    add_layer(place->path, 1, 0.5, NULL);
    add_layer(place->other, 1, 0.25, "Some other CPU");
    add_layer(place->other, 2, 0.75, NULL);
    const struct yk_profile_import_counts counts = import_into(place->path, place->other);
    assert_counts(&counts, 2, 0, 0);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_ok(yk_profile_find_layer_times(profile, &norm, &curve));
    assert_int_equal(curve.count, 2);
    assert_true(curve.points[0].seconds == 0.5 && curve.points[1].seconds == 0.75);
    yk_profile_close(profile);
}

/* The last row cannot be: the others are not added either. */
static void all_is_added_or_nothing(void **state)
{
    const struct place *place = *state;
    static const int64_t bytes[] = {1, 2};
    const struct yk_profile_measurement nothing = measured(0, 300, "b");
    struct yk_profile_import_counts counts;
    struct yk_profile_curve curve = {0};
    struct yk_profile *profile = NULL;
    char message[256];
    write_links(place->other, bytes, 2, 100, "b");
    assert_ok(yk_profile_open_or_create(place->other, &profile));
    assert_ok(yk_profile_add_link_time(profile, &ring, 4, &nothing));
    yk_profile_close(profile);
    snprintf(message, sizeof message, "%s: a time of 0 s for a size of 4 cannot be", place->other);
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_fails(yk_profile_import(profile, place->other, &counts), YK_ERROR_INPUT, message);
    assert_ok(yk_profile_find_link_times(profile, &ring, &curve));
    assert_int_equal(curve.count, 0);
    assert_ok(yk_profile_begin_transaction(profile)); /* and nothing is left open */
    assert_ok(yk_profile_commit(profile));
    yk_profile_close(profile);
}

static void a_profile_is_not_imported_into_itself(void **state)
{
    const struct place *place = *state;
    static const int64_t bytes[] = {1};
    struct yk_profile_import_counts counts;
    struct yk_profile *profile = NULL;
    char message[256];
    write_links(place->path, bytes, 1, 1, "a");
    assert_int_equal(symlink(place->path, place->other), 0);
    snprintf(message, sizeof message,
             "%s: this is the profile itself; name a file of another machine", place->other);
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_fails(yk_profile_import(profile, place->other, &counts), YK_ERROR_INPUT, message);
    yk_profile_close(profile);
}

/* When something of form 2 was measured is not known: anything that is known is newer. */
static void an_older_version_is_imported_with_no_time(void **state)
{
    const struct place *place = *state;
    static const int64_t bytes[] = {8};
    static const char form_2[] =
        "PRAGMA synchronous = OFF; PRAGMA application_id = 0x796f6b65; PRAGMA user_version = 2;"
        "CREATE TABLE layers (device TEXT, part REAL, shape TEXT, sequence INTEGER, pass TEXT,"
        "  batch INTEGER, seconds REAL, spread REAL, samples INTEGER, versions TEXT);"
        "CREATE TABLE links (link TEXT, collective TEXT, ranks INTEGER, bytes INTEGER,"
        "  seconds REAL, spread REAL, samples INTEGER, versions TEXT);"
        "CREATE TABLE facts (subject TEXT, fact TEXT, value REAL, spread REAL, samples INTEGER,"
        "  versions TEXT);"
        "INSERT INTO links VALUES ('v100-v100 within a node', 'send', 2, 8, 0.5, 0, 3, 'old'),"
        "  ('v100-v100 within a node', 'send', 2, 16, 0.5, 0, 3, 'old');";
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(place->other, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, form_2, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    write_links(place->path, bytes, 1, 1, "a");
    struct yk_profile_import_counts counts = import_into(place->path, place->other);
    assert_counts(&counts, 1, 0, 1);
    counts = import_into(place->path, place->other);
    assert_counts(&counts, 0, 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_place(the_newer_number_wins_both_ways),
        in_place(a_number_comes_with_all_that_is_known_of_it),
        in_place(a_part_is_known_again_within_half_a_percent),
        in_place(numbers_of_another_cpu_stay_apart),
        in_place(all_is_added_or_nothing),
        in_place(a_profile_is_not_imported_into_itself),
        in_place(an_older_version_is_imported_with_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
