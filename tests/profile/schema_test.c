#include "support/support.h"

#include "place.h"
#include "profile/profile.h"

#include <math.h>
#include <sqlite3.h>
#include <time.h>

/* Files of older forms, as they were made: literally the tables of those forms. */
#define FORM_1                                                                                     \
    "PRAGMA application_id = 0x796f6b65; PRAGMA user_version = 1;"                                 \
    "CREATE TABLE layers (device TEXT NOT NULL, part REAL NOT NULL, shape TEXT NOT NULL,"          \
    "  sequence INTEGER NOT NULL, pass TEXT NOT NULL, batch INTEGER NOT NULL,"                     \
    "  seconds REAL NOT NULL, spread REAL NOT NULL, samples INTEGER NOT NULL,"                     \
    "  versions TEXT NOT NULL, UNIQUE (device, part, shape, sequence, pass, batch));"              \
    "CREATE TABLE links (link TEXT NOT NULL, collective TEXT NOT NULL, ranks INTEGER NOT NULL,"    \
    "  bytes INTEGER NOT NULL, seconds REAL NOT NULL, spread REAL NOT NULL,"                       \
    "  samples INTEGER NOT NULL, versions TEXT NOT NULL,"                                          \
    "  UNIQUE (link, collective, ranks, bytes));"                                                  \
    "INSERT INTO layers VALUES ('v100', 1, 'norm', 64, 'forward', 2, 0.5, 0.1, 7, 'old');"         \
    "INSERT INTO links VALUES ('v100-v100 within a node', 'send', 2, 8, 0.25, 0.1, 7, 'old');"

#define FORM_2                                                                                     \
    FORM_1                                                                                         \
    "CREATE TABLE facts (subject TEXT NOT NULL, fact TEXT NOT NULL, value REAL NOT NULL,"          \
    "  spread REAL NOT NULL, samples INTEGER NOT NULL, versions TEXT NOT NULL,"                    \
    "  UNIQUE (subject, fact));"                                                                   \
    "INSERT INTO facts VALUES ('v100', 'context bytes', 1000, 0, 1, 'old');"                       \
    "PRAGMA user_version = 2;"

#define WHEN(table, value)                                                                         \
    "ALTER TABLE " table " ADD COLUMN least REAL NOT NULL DEFAULT 0;"                              \
    "ALTER TABLE " table " ADD COLUMN most REAL NOT NULL DEFAULT 0;"                               \
    "ALTER TABLE " table " ADD COLUMN measured_at INTEGER NOT NULL DEFAULT 0;"                     \
    "ALTER TABLE " table " ADD COLUMN host TEXT NOT NULL DEFAULT '';"                              \
    "UPDATE " table " SET least = " value ", most = " value ";"

#define FORM_3                                                                                     \
    FORM_2 WHEN("layers", "seconds") WHEN("links", "seconds")                                      \
        WHEN("facts", "value") "PRAGMA user_version = 3;"

/* With the names that collectives and facts had. */
#define FORM_4                                                                                     \
    "PRAGMA application_id = 0x796f6b65;"                                                          \
    "CREATE TABLE layers (device TEXT NOT NULL, part REAL NOT NULL, shape TEXT NOT NULL,"          \
    "  sequence INTEGER NOT NULL, pass TEXT NOT NULL, batch INTEGER NOT NULL,"                     \
    "  seconds REAL NOT NULL, spread REAL NOT NULL, samples INTEGER NOT NULL,"                     \
    "  versions TEXT NOT NULL, least REAL NOT NULL, most REAL NOT NULL,"                           \
    "  measured_at INTEGER NOT NULL, host TEXT NOT NULL, cpu TEXT NOT NULL,"                       \
    "  UNIQUE (device, part, shape, sequence, pass, batch, cpu));"                                 \
    "CREATE TABLE links (link TEXT NOT NULL, collective TEXT NOT NULL, ranks INTEGER NOT NULL,"    \
    "  bytes INTEGER NOT NULL, seconds REAL NOT NULL, spread REAL NOT NULL,"                       \
    "  samples INTEGER NOT NULL, versions TEXT NOT NULL, least REAL NOT NULL, most REAL NOT NULL," \
    "  measured_at INTEGER NOT NULL, host TEXT NOT NULL, cpu TEXT NOT NULL,"                       \
    "  UNIQUE (link, collective, ranks, bytes, cpu));"                                             \
    "CREATE TABLE facts (subject TEXT NOT NULL, fact TEXT NOT NULL, value REAL NOT NULL,"          \
    "  spread REAL NOT NULL, samples INTEGER NOT NULL, versions TEXT NOT NULL,"                    \
    "  least REAL NOT NULL, most REAL NOT NULL, measured_at INTEGER NOT NULL, host TEXT NOT NULL," \
    "  cpu TEXT NOT NULL, UNIQUE (subject, fact, cpu));"                                           \
    "INSERT INTO layers VALUES ('v100', 1, 'norm', 64, 'forward', 2, 0.5, 0.1, 7, 'old', 0.4,"     \
    "  0.6, 77, 'far', '');"                                                                       \
    "INSERT INTO links VALUES ('a', 'gather', 3, 8, 1, 0.1, 7, 'old', 1, 1, 77, 'far', ''),"       \
    "  ('a', 'scatter', 3, 8, 2, 0.1, 7, 'old', 2, 2, 77, 'far', ''),"                             \
    "  ('a', 'reduce', 3, 8, 3, 0.1, 7, 'old', 3, 3, 77, 'far', ''),"                              \
    "  ('a', 'send', 2, 8, 4, 0.1, 7, 'old', 4, 4, 77, 'far', '');"                                \
    "INSERT INTO facts VALUES"                                                                     \
    "  ('a', 'computation beside messages', 5, 0, 1, 'old', 5, 5, 77, 'far', ''),"                 \
    "  ('a', 'messages beside computation', 6, 0, 1, 'old', 6, 6, 77, 'far', ''),"                 \
    "  ('a', 'computation while others rest', 7, 0, 1, 'old', 7, 7, 77, 'far', ''),"               \
    "  ('a', 'context bytes', 8, 0, 1, 'old', 8, 8, 77, 'far', '');"                               \
    "PRAGMA user_version = 4;"

static void make_file(const char *path, const char *sql)
{
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "PRAGMA synchronous = OFF", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

/* The last row of each sort, and how many there are. */
struct visited {
    int layers;
    int links;
    int facts;
    struct yk_profile_measurement layer;
    struct yk_profile_measurement link;
    struct yk_profile_measurement fact;
    char host[256]; /* of the last row of all */
};

static void remember(struct visited *visited, const struct yk_profile_measurement *from,
                     struct yk_profile_measurement *to)
{
    *to = *from;
    to->host = NULL; /* which last no longer */
    to->cpu = NULL;
    snprintf(visited->host, sizeof visited->host, "%s", from->host);
}

static yk_status see_layer(void *user, const struct yk_profile_layer_row *row)
{
    struct visited *visited = user;
    visited->layers++;
    remember(visited, &row->measurement, &visited->layer);
    return YK_OK;
}

static yk_status see_link(void *user, const struct yk_profile_link_row *row)
{
    struct visited *visited = user;
    visited->links++;
    remember(visited, &row->measurement, &visited->link);
    return YK_OK;
}

static yk_status see_fact(void *user, const struct yk_profile_fact_row *row)
{
    struct visited *visited = user;
    visited->facts++;
    remember(visited, &row->measurement, &visited->fact);
    return YK_OK;
}

static struct visited see(struct yk_profile *profile)
{
    struct visited visited = {0};
    const struct yk_profile_visitor visitor = {&visited, see_layer, see_link, see_fact};
    assert_ok(yk_profile_visit_rows(profile, &visitor));
    return visited;
}

static char *list_of(struct yk_profile *profile)
{
    struct yk_text text = {0};
    assert_ok(yk_profile_write_rows_as_text(profile, &text));
    return text.bytes;
}

/* Reads the file, opens it for adding, and reads it again: the numbers are the same, and nothing is
 * known of when and where. */
static void read_and_renew(const char *path, int facts)
{
    struct yk_profile *profile = NULL;
    char *lists[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        assert_ok(yk_profile_open_for_reading(path, &profile));
        const struct visited visited = see(profile);
        lists[i] = list_of(profile);
        yk_profile_close(profile);
        assert_int_equal(visited.layers, 1);
        assert_int_equal(visited.links, 1);
        assert_int_equal(visited.facts, facts);
        assert_true(visited.layer.min == 0.5 && visited.layer.max == 0.5);
        assert_true(visited.link.min == 0.25 && visited.link.max == 0.25);
        assert_true(facts == 0 || (visited.fact.min == 1000 && visited.fact.max == 1000));
        assert_int_equal(visited.layer.measured_at, 0);
        assert_string_equal(visited.host, "");
        if (i == 0) {
            assert_ok(yk_profile_open_or_create(path, &profile));
            yk_profile_close(profile);
        }
    }
    assert_string_equal(lists[0], lists[1]);
    free(lists[0]);
    free(lists[1]);
}

static void a_profile_of_form_1_is_read_and_renewed(void **state)
{
    const struct place *place = *state;
    make_file(place->path, FORM_1);
    read_and_renew(place->path, 0);
}

static void a_profile_of_form_2_is_read_and_renewed(void **state)
{
    const struct place *place = *state;
    make_file(place->path, FORM_2);
    read_and_renew(place->path, 1);
}

static void a_profile_of_form_3_is_read_and_renewed(void **state)
{
    const struct place *place = *state;
    make_file(place->path, FORM_3);
    read_and_renew(place->path, 1);
}

static double time_of(struct yk_profile *profile, const char *collective, int32_t ranks)
{
    const struct yk_profile_link_key link = {"a", collective, ranks};
    struct yk_profile_curve curve = {0};
    assert_ok(yk_profile_find_link_times(profile, &link, &curve));
    assert_int_equal(curve.count, 1);
    return curve.points[0].seconds;
}

static double value_of(struct yk_profile *profile, const char *name)
{
    const struct yk_profile_fact_key fact = {"a", name};
    double value = NAN;
    assert_ok(yk_profile_find_fact_value(profile, &fact, &value));
    return value;
}

static void a_profile_of_form_4_is_read_and_renewed_by_the_names_of_now(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    make_file(place->path, FORM_4);
    for (int i = 0; i < 3; i++) { /* read, renewed, read again */
        assert_ok(i == 1 ? yk_profile_open_or_create(place->path, &profile)
                         : yk_profile_open_for_reading(place->path, &profile));
        const struct visited visited = see(profile);
        assert_int_equal(visited.layers, 1);
        assert_true(visited.layer.min == 0.4 && visited.layer.max == 0.6);
        assert_int_equal(visited.layer.measured_at, 77);
        assert_string_equal(visited.host, "far");
        assert_true(time_of(profile, "all_gather", 3) == 1);
        assert_true(time_of(profile, "reduce_scatter", 3) == 2);
        assert_true(time_of(profile, "all_reduce", 3) == 3);
        assert_true(time_of(profile, "send", 2) == 4);
        assert_true(value_of(profile, YK_PROFILE_FACT_COMPUTE_SLOWDOWN) == 5);
        assert_true(value_of(profile, YK_PROFILE_FACT_MESSAGE_SLOWDOWN) == 6);
        assert_true(value_of(profile, YK_PROFILE_FACT_IDLE_SPEEDUP) == 7);
        assert_true(value_of(profile, YK_PROFILE_FACT_CONTEXT_BYTES) == 8);
        yk_profile_close(profile);
    }
}

/* Two cores of whatever it was: they may be another machine's. */
static void numbers_of_a_nameless_cpu_do_not_count(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_layer_key layer = {"cpu:2", 1, "norm", 64, "forward"};
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    char cpu[YK_SYSTEM_CPU_NAME_SIZE];
    bool other = false;
    make_file(place->path, FORM_3 "UPDATE layers SET device = 'cpu:2';");
    for (int i = 0; i < 2; i++) {
        assert_ok(i == 0 ? yk_profile_open_for_reading(place->path, &profile)
                         : yk_profile_open_or_create(place->path, &profile));
        assert_ok(yk_profile_find_layer_times(profile, &layer, &curve));
        assert_int_equal(curve.count, 0);
        assert_ok(yk_profile_has_only_other_cpus(profile, "cpu:2", &other, cpu));
        assert_true(other);
        assert_string_equal(cpu, "");
        yk_profile_close(profile);
    }
}

static void a_renewed_profile_accepts_what_is_new(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_fact_key context = {"v100", YK_PROFILE_FACT_CONTEXT_BYTES};
    const struct yk_profile_measurement measured = {
        .value = 5, .samples = 3, .versions = "new", .measured_at = 77, .host = "far"};
    struct yk_profile *profile = NULL;
    make_file(place->path, FORM_1);
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(yk_profile_add_fact(profile, &context, &measured));
    const struct visited visited = see(profile);
    yk_profile_close(profile);
    assert_int_equal(visited.facts, 1);
    assert_true(visited.fact.value == 5);
    assert_int_equal(visited.fact.measured_at, 77);
    assert_string_equal(visited.host, "far");
}

/* What a process leaves that is killed before it has made the tables. */
static void an_empty_file_is_a_profile_of_no_numbers(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_link_key link = {"v100-v100 within a node", "send", 2};
    struct yk_profile_curve curve = {0};
    struct yk_profile *profile = NULL;
    make_file(place->path, "");
    FILE *file = fopen(place->path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_ok(yk_profile_find_link_times(profile, &link, &curve));
    assert_int_equal(curve.count, 0);
    const struct visited visited = see(profile);
    assert_int_equal(visited.layers + visited.links + visited.facts, 0);
    yk_profile_close(profile);
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    yk_profile_close(profile);
}

static void a_table_that_lacks_a_column_is_damage(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    char message[256];
    make_file(place->path, FORM_2 "ALTER TABLE links RENAME COLUMN spread TO width;");
    snprintf(message, sizeof message, "%s: the profile is damaged: no such column: spread",
             place->path);
    assert_fails(yk_profile_open_for_reading(place->path, &profile), YK_ERROR_INPUT, message);
}

/* A view may have rows without end, a trigger undo what is added. */
static void a_view_or_a_trigger_is_damage(void **state)
{
    static const char *const files[] = {
        FORM_2 "CREATE VIEW others AS SELECT * FROM facts;",
        FORM_2 "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM facts; END;",
        FORM_1
        "CREATE VIEW facts AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)"
        "  SELECT '' AS subject, '' AS fact, x AS value, 0 AS spread, 1 AS samples,"
        "  '' AS versions FROM r; PRAGMA user_version = 2;",
    };
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    char message[256];
    snprintf(
        message, sizeof message,
        "%s: the profile is damaged: it has a view, a trigger or a virtual table, and profiles "
        "have plain tables alone",
        place->path);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)unlink(place->path);
        make_file(place->path, files[i]);
        assert_fails(yk_profile_open_for_reading(place->path, &profile), YK_ERROR_INPUT, message);
        assert_fails(yk_profile_open_or_create(place->path, &profile), YK_ERROR_INPUT, message);
    }
}

static void a_fact_that_is_no_number_is_refused(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_fact_key context = {"v100", YK_PROFILE_FACT_CONTEXT_BYTES};
    struct yk_profile *profile = NULL;
    double value = 0;
    char message[256];
    make_file(place->path, FORM_2 "UPDATE facts SET value = 9e999;");
    snprintf(message, sizeof message, "%s: v100: context bytes of inf cannot be", place->path);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_fails(yk_profile_find_fact_value(profile, &context, &value), YK_ERROR_INPUT, message);
    yk_profile_close(profile);
}

static void tables_of_something_else_are_left_alone(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    char message[256];
    make_file(place->path, "CREATE TABLE songs (title TEXT);");
    snprintf(message, sizeof message, "%s: this is not a profile: a database of something else",
             place->path);
    assert_fails(yk_profile_open_for_reading(place->path, &profile), YK_ERROR_INPUT, message);
    assert_fails(yk_profile_open_or_create(place->path, &profile), YK_ERROR_INPUT, message);
}

static void a_number_is_kept_with_when_and_where_it_was_measured(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_layer_key layer = {"v100", 1, "norm", 64, "forward"};
    const struct yk_profile_measurement measured = {
        .value = 2, .samples = 3, .versions = "new", .min = 1.5, .max = 4};
    const int64_t before = (int64_t)time(NULL);
    struct yk_profile *profile = NULL;
    char host[256] = "";
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(yk_profile_add_layer_time(profile, &layer, 4, &measured));
    const struct visited visited = see(profile);
    yk_profile_close(profile);
    assert_true(visited.layer.min == 1.5 && visited.layer.max == 4);
    assert_in_range(visited.layer.measured_at, before, (int64_t)time(NULL));
    assert_string_equal(visited.host, host);
}

/* The worst of several ranks is more than what this one has visited. */
static void the_median_lies_between_the_fastest_and_the_slowest(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_fact_key context = {"v100", YK_PROFILE_FACT_CONTEXT_BYTES};
    const struct yk_profile_measurement worst = {
        .value = 9, .samples = 3, .versions = "new", .min = 1, .max = 2};
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(yk_profile_add_fact(profile, &context, &worst));
    const struct visited visited = see(profile);
    yk_profile_close(profile);
    assert_true(visited.fact.min == 1 && visited.fact.max == 9);
}

static yk_status refuse_second(void *user, const struct yk_profile_link_row *row)
{
    int *count = user;
    (void)row;
    return ++*count == 2 ? yk_fail(YK_ERROR_NUMBERS, "enough") : YK_OK;
}

static void a_visitor_may_end_it(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    int count = 0;
    const struct yk_profile_visitor visitor = {.argument = &count, .link = refuse_second};
    make_file(place->path,
              FORM_1 "INSERT INTO links VALUES ('a', 'send', 2, 8, 1, 0, 1, ''),"
                     "  ('b', 'send', 2, 8, 1, 0, 1, ''), ('c', 'send', 2, 8, 1, 0, 1, '');");
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_fails(yk_profile_visit_rows(profile, &visitor), YK_ERROR_NUMBERS, "enough");
    assert_int_equal(count, 2);
    yk_profile_close(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_place(a_profile_of_form_1_is_read_and_renewed),
        in_place(a_profile_of_form_2_is_read_and_renewed),
        in_place(a_profile_of_form_3_is_read_and_renewed),
        in_place(a_profile_of_form_4_is_read_and_renewed_by_the_names_of_now),
        in_place(numbers_of_a_nameless_cpu_do_not_count),
        in_place(a_renewed_profile_accepts_what_is_new),
        in_place(an_empty_file_is_a_profile_of_no_numbers),
        in_place(a_table_that_lacks_a_column_is_damage),
        in_place(a_view_or_a_trigger_is_damage),
        in_place(a_fact_that_is_no_number_is_refused),
        in_place(tables_of_something_else_are_left_alone),
        in_place(a_number_is_kept_with_when_and_where_it_was_measured),
        in_place(the_median_lies_between_the_fastest_and_the_slowest),
        in_place(a_visitor_may_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
