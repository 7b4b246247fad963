#include "support/support.h"

#include "place.h"
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where SQLite's header keeps two numbers, big end first (sqlite.org/fileformat.html). */
enum {
    USER_VERSION_AT = 60,
    APPLICATION_AT = 68,
    PAGE_BYTES = 4096,
};

static const struct yk_profile_layer_key block = {"rtx3090", 1, "gpt-block C768 bf16", 1024,
                                                  "forward"};
static const struct yk_profile_link_key ring = {"rtx3090-rtx3090 within a node", "all_reduce", 2};

static struct yk_profile_measurement seconds(double value)
{
    return (struct yk_profile_measurement){
        .value = value, .spread = 0.02, .samples = 30, .versions = "cuda 13.0"};
}

/* A profile with a layer at three batches and a link at two sizes. */
static void write_profile(const char *path)
{
    static const int64_t batches[] = {8, 1, 4};
    struct yk_profile *profile = NULL;
    assert_ok(yk_profile_open_or_create(path, &profile));
    for (int i = 0; i < 3; i++) {
        const struct yk_profile_measurement measurement = seconds((double)batches[i] / 8);
        assert_ok(yk_profile_add_layer_time(profile, &block, batches[i], &measurement));
    }
    const struct yk_profile_measurement small = seconds(0.25);
    const struct yk_profile_measurement large = seconds(1);
    assert_ok(yk_profile_add_link_time(profile, &ring, 1 << 20, &large));
    assert_ok(yk_profile_add_link_time(profile, &ring, 1 << 10, &small));
    yk_profile_close(profile);
}

static void overwrite(const char *path, long at, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void assert_refuses(const char *path, const char *reason)
{
    struct yk_profile *profile = NULL;
    char message[256];
    snprintf(message, sizeof message, "%s: %s", path, reason);
    assert_fails(yk_profile_open_for_reading(path, &profile), YK_ERROR_INPUT, message);
    assert_null(profile);
}

static void what_was_written_is_found_by_rising_size(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    write_profile(place->path);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_ok(yk_profile_find_layer_times(profile, &block, &curve));
    assert_int_equal(curve.count, 3);
    for (int i = 0; i < 3; i++) {
        static const double batches[] = {1, 4, 8};
        assert_true(curve.points[i].size == batches[i]);
        assert_true(curve.points[i].seconds == batches[i] / 8);
    }
    assert_ok(yk_profile_find_link_times(profile, &ring, &curve));
    assert_int_equal(curve.count, 2);
    assert_true(curve.points[0].size == 1024 && curve.points[0].seconds == 0.25);
    assert_true(curve.points[1].size == 1048576 && curve.points[1].seconds == 1);
    yk_profile_close(profile);
}

static void what_differs_in_anything_is_not_found(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    struct yk_profile_layer_key others[] = {block, block, block, block, block};
    struct yk_profile_link_key links[] = {ring, ring, ring};
    others[0].device = "rtx3080";
    others[1].part = 0.5;
    others[2].shape = "gpt-block C768 fp32";
    others[3].sequence = 512;
    others[4].pass = "backward";
    links[0].link = "rtx3090-rtx3090 between nodes";
    links[1].collective = "all_gather";
    links[2].ranks = 4;
    write_profile(place->path);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    for (int i = 0; i < 5; i++) {
        assert_ok(yk_profile_find_layer_times(profile, &others[i], &curve));
        assert_int_equal(curve.count, 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_ok(yk_profile_find_link_times(profile, &links[i], &curve));
        assert_int_equal(curve.count, 0);
    }
    yk_profile_close(profile);
}

static void measuring_again_replaces_and_adds(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_measurement again = seconds(3);
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    write_profile(place->path);
    assert_ok(
        yk_profile_open_or_create(place->path, &profile)); /* which goes on with what is there */
    assert_ok(yk_profile_add_layer_time(profile, &block, 4, &again));
    assert_ok(yk_profile_add_layer_time(profile, &block, 16, &again));
    assert_ok(yk_profile_find_layer_times(profile, &block, &curve));
    assert_int_equal(curve.count, 4);
    assert_true(curve.points[1].seconds == 3);
    yk_profile_close(profile);
}

static void a_profile_opened_for_reading_is_not_written(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_measurement measurement = seconds(1);
    struct yk_profile *profile = NULL;
    write_profile(place->path);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_int_equal(yk_profile_add_layer_time(profile, &block, 1, &measurement), YK_ERROR_SYSTEM);
    yk_profile_close(profile);
}

static void a_missing_file_is_said_to_be_missing(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    char message[256];
    snprintf(message, sizeof message, "cannot open %s: No such file or directory", place->path);
    assert_fails(yk_profile_open_for_reading(place->path, &profile), YK_ERROR_INPUT, message);
    assert_int_equal(access(place->path, F_OK), -1); /* and is not made */
}

static void what_is_no_profile_is_refused(void **state)
{
    const struct place *place = *state;
    FILE *file = fopen(place->path, "w");
    assert_non_null(file);
    for (int i = 0; i < 200; i++) {
        fputs("these are words, not a database\n", file);
    }
    assert_int_equal(fclose(file), 0);
    assert_refuses(place->path, "this is not a profile: not an SQLite database");
    unlink(place->path);
    write_profile(place->path);
    overwrite(place->path, APPLICATION_AT, "GP10", 4); /* what a GeoPackage says */
    assert_refuses(place->path, "this is not a profile: a database of something else");
}

static void another_form_is_refused(void **state)
{
    const struct place *place = *state;
    write_profile(place->path);
    overwrite(place->path, USER_VERSION_AT, "\0\0\0\6", 4);
    assert_refuses(place->path, "a profile of form 6, and this program knows form 5: it has to be "
                                "measured again");
}

static struct yk_profile_measurement seconds_of(double value, const char *cpu)
{
    struct yk_profile_measurement measurement = seconds(value);
    measurement.cpu = cpu;
    return measurement;
}

static double find_seconds(struct yk_profile *profile, const struct yk_profile_layer_key *layer)
{
    struct yk_profile_curve curve = {0};
    assert_ok(yk_profile_find_layer_times(profile, layer, &curve));
    return curve.count > 0 ? curve.points[0].seconds : 0;
}

/* A GPU is the same whatever CPU is beside it; a link with a CPU at one end is not. */
static void numbers_of_another_cpu_are_not_found(void **state)
{
    const struct place *place = *state;
    static const char other[] = "Some other CPU";
    const struct yk_profile_layer_key two = {"cpu:2", 1, "norm", 64, "forward"};
    const struct yk_profile_layer_key four = {"cpu:4", 1, "norm", 64, "forward"};
    const struct yk_profile_layer_key gpu = {"v100", 1, "norm", 64, "forward"};
    const struct yk_profile_link_key link = {"cpu:2-v100 within a node", "send", 2};
    const struct yk_profile_fact_key context = {"cpu:2 with gpt2", YK_PROFILE_FACT_CONTEXT_BYTES};
    const struct yk_profile_measurement theirs = seconds_of(1, other);
    const struct yk_profile_measurement ours = seconds_of(2, NULL);
    struct yk_profile_curve curve = {0};
    struct yk_profile *profile = NULL;
    char cpu[YK_SYSTEM_CPU_NAME_SIZE];
    double value = 0;
    bool found = true;
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(yk_profile_add_layer_time(profile, &two, 1, &theirs));
    assert_ok(yk_profile_add_link_time(profile, &link, 8, &theirs));
    assert_ok(yk_profile_add_fact(profile, &context, &theirs));
    assert_ok(yk_profile_add_layer_time(profile, &four, 1, &ours));
    assert_ok(yk_profile_add_layer_time(profile, &gpu, 1, &ours));
    assert_true(find_seconds(profile, &two) == 0);
    assert_true(find_seconds(profile, &four) == 2);
    assert_true(find_seconds(profile, &gpu) == 2);
    assert_ok(yk_profile_find_link_times(profile, &link, &curve));
    assert_int_equal(curve.count, 0);
    assert_ok(yk_profile_find_fact_value(profile, &context, &value));
    assert_true(isnan(value));
    assert_ok(yk_profile_has_layer_time(profile, &two, 1, theirs.versions, &found));
    assert_false(found);
    assert_ok(yk_profile_has_only_other_cpus(profile, "cpu:2", &found, cpu));
    assert_true(found);
    assert_string_equal(cpu, other);
    assert_ok(yk_profile_add_layer_time(profile, &two, 1, &ours));
    assert_true(find_seconds(profile, &two) == 2);
    assert_ok(yk_profile_has_only_other_cpus(profile, "cpu:2", &found, cpu));
    assert_false(found);
    yk_profile_close(profile);
}

static const struct yk_profile_fact_key share = {"cpu:1-cpu:1 within a node",
                                                 YK_PROFILE_FACT_MESSAGE_SLOWDOWN};

static void a_fact_is_found_again_and_replaced(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_measurement first = seconds(1.5);
    const struct yk_profile_measurement second = seconds(2.5);
    struct yk_profile *profile = NULL;
    double value = 0;
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(yk_profile_find_fact_value(profile, &share, &value));
    assert_true(isnan(value));
    assert_ok(yk_profile_add_fact(profile, &share, &first));
    assert_ok(yk_profile_add_fact(profile, &share, &second));
    assert_ok(yk_profile_find_fact_value(profile, &share, &value));
    assert_true(value == 2.5);
    yk_profile_close(profile);
}

/* 1 / 3 of a device is 33.33 % to a person. */
static void a_part_is_found_within_half_a_percent(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_measurement measured = seconds(2);
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    struct yk_profile_layer_key third = block;
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    third.part = 1.0 / 3;
    assert_ok(yk_profile_add_layer_time(profile, &third, 1, &measured));
    third.part = 0.3333;
    assert_ok(yk_profile_find_layer_times(profile, &third, &curve));
    assert_int_equal(curve.count, 1);
    third.part = 0.34;
    assert_ok(yk_profile_find_layer_times(profile, &third, &curve));
    assert_int_equal(curve.count, 0);
    yk_profile_close(profile);
}

static void of_two_parts_that_are_as_good_the_nearer_is_found(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve;
    struct yk_profile_layer_key layer = block;
    const struct yk_profile_measurement near = seconds(2);
    const struct yk_profile_measurement far = seconds(3);
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    layer.part = 0.4;
    assert_ok(yk_profile_add_layer_time(profile, &layer, 8, &near));
    layer.part = 0.403;
    assert_ok(yk_profile_add_layer_time(profile, &layer, 8, &far));
    layer.part = 0.4012;
    assert_ok(yk_profile_find_layer_times(profile, &layer, &curve));
    assert_int_equal(curve.count, 1);
    assert_true(curve.points[0].seconds == 2);
    yk_profile_close(profile);
}

static void a_damaged_profile_is_refused(void **state)
{
    const struct place *place = *state;
    static char noise[4 * PAGE_BYTES];
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    memset(noise, 0x5a, sizeof noise);
    write_profile(place->path);
    overwrite(place->path, PAGE_BYTES, noise, sizeof noise);
    assert_ok(yk_profile_open_for_reading(place->path, &profile)); /* its first page is whole */
    assert_int_equal(yk_profile_find_layer_times(profile, &block, &curve), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "the profile is damaged: "));
    yk_profile_close(profile);
}

static void a_time_that_cannot_be_is_refused(void **state)
{
    const struct place *place = *state;
    const struct yk_profile_measurement nothing = seconds(0);
    struct yk_profile *profile = NULL;
    struct yk_profile_curve curve = {0};
    char message[256];
    snprintf(message, sizeof message, "%s: a time of 0 s for a size of 2 cannot be", place->path);
    assert_ok(yk_profile_open_or_create(place->path, &profile));
    assert_ok(yk_profile_add_layer_time(profile, &block, 2, &nothing));
    assert_fails(yk_profile_find_layer_times(profile, &block, &curve), YK_ERROR_INPUT, message);
    yk_profile_close(profile);
}

/* Rows were added with batches 8, 1, 4 and the larger message first. */
static void a_list_does_not_depend_on_the_order_of_adding(void **state)
{
    const struct place *place = *state;
    struct yk_profile *profile = NULL;
    struct yk_text text = {0};
    write_profile(place->path);
    assert_ok(yk_profile_open_for_reading(place->path, &profile));
    assert_ok(yk_profile_write_rows_as_text(profile, &text));
#define BLOCK "\"layer\" \"rtx3090\" 1 \"gpt-block C768 bf16\" \"1024\" \"forward\" "
#define RING "\"link\" \"rtx3090-rtx3090 within a node\" \"all_reduce\" \"2\" "
#define HOW " 0.02 \"30\" \"cuda 13.0\"\n"
    assert_string_equal(yk_text_chars(&text),
                        BLOCK "\"1\" 0.125" HOW BLOCK "\"4\" 0.5" HOW BLOCK "\"8\" 1" HOW RING
                              "\"1024\" 0.25" HOW RING "\"1048576\" 1" HOW);
    yk_text_free(&text);
    yk_profile_close(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_place(what_was_written_is_found_by_rising_size),
        in_place(what_differs_in_anything_is_not_found),
        in_place(measuring_again_replaces_and_adds),
        in_place(a_profile_opened_for_reading_is_not_written),
        in_place(a_missing_file_is_said_to_be_missing),
        in_place(what_is_no_profile_is_refused),
        in_place(another_form_is_refused),
        in_place(numbers_of_another_cpu_are_not_found),
        in_place(a_fact_is_found_again_and_replaced),
        in_place(a_part_is_found_within_half_a_percent),
        in_place(of_two_parts_that_are_as_good_the_nearer_is_found),
        in_place(a_damaged_profile_is_refused),
        in_place(a_time_that_cannot_be_is_refused),
        in_place(a_list_does_not_depend_on_the_order_of_adding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
