/* The files that a plan names, as its file says them and as they are found again. */
#include "plan/plan_provenance.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A folder of its own that the test works in:
 *   here/ (started in)  here/lab.json  here/models/tiny/config.json  here/plans/  other/far.json
 *   here/link → ../other/deep
 */
struct place {
    char root[64];
    char *before;
    struct yk_arena *arena;
};

static void write_file(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static int make_place(void **state)
{
    static const char *const folders[] = {"here",       "here/models", "here/models/tiny",
                                          "here/plans", "other",       "other/deep"};
    static struct place place;
    place = (struct place){.root = "/tmp/yoke-source-XXXXXX"};
    place.before = getcwd(NULL, 0);
    assert_non_null(place.before);
    assert_non_null(mkdtemp(place.root));
    assert_int_equal(chdir(place.root), 0);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        assert_int_equal(mkdir(folders[i], 0700), 0);
    }
    write_file("other/far.json");
    write_file("here/lab.json");
    write_file("here/models/tiny/config.json");
    assert_int_equal(symlink("../other/deep", "here/link"), 0);
    assert_int_equal(chdir("here"), 0);
    assert_ok(yk_arena_create(&place.arena));
    *state = &place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    assert_int_equal(chdir(place->root), 0);
    static const char *const files[] = {"here/link", "here/models/tiny/config.json",
                                        "here/lab.json", "other/far.json"};
    static const char *const folders[] = {"here/models/tiny", "here/models", "here/plans", "here",
                                          "other/deep",       "other"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_int_equal(unlink(files[i]), 0);
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        assert_int_equal(rmdir(folders[i]), 0);
    }
    assert_int_equal(chdir(place->before), 0);
    assert_int_equal(rmdir(place->root), 0);
    free(place->before);
    yk_arena_destroy(place->arena);
    return 0;
}

static void assert_stored(void **state, const char *source, const char *plan, const char *wanted)
{
    struct place *place = *state;
    const char *stored = NULL;
    assert_ok(yk_plan_path_make_relative(source, plan, place->arena, &stored));
    assert_string_equal(stored, wanted);
}

static void assert_found(void **state, const char *source, const char *plan, const char *wanted)
{
    struct place *place = *state;
    const char *found = NULL;
    assert_ok(yk_plan_path_resolve(source, plan, place->arena, &found));
    assert_string_equal(found, wanted);
}

static void files_are_named_from_the_folder_of_the_plan(void **state)
{
    assert_stored(state, "lab.json", "plan.json", "lab.json");
    assert_stored(state, "lab.json", "plans/plan.json", "../lab.json");
    assert_stored(state, "./models/../lab.json", "plans/plan.json", "../lab.json");
    assert_stored(state, "models/tiny", "models/plan.json", "./tiny");
    assert_stored(state, "models/tiny/config.json", "models/tiny/plan.json", "config.json");
    assert_stored(state, "lab.json", "../other/plan.json", "../here/lab.json");
    assert_stored(state, "../other/far.json", "../plan.json", "other/far.json");
    assert_stored(state, "../other/far.json", "plans/plan.json", "../../other/far.json");
}

/* The config of a model is written together with the plan of its run. */
static void files_that_are_yet_to_be_written_are_named_so_too(void **state)
{
    struct place *place = *state;
    char wanted[128];
    assert_stored(state, "plans/config.json", "plans/plan.json", "config.json");
    assert_stored(state, "./plans//config.json", "plans/plan.json", "config.json");
    assert_stored(state, "later.json", "plans/plan.json", "../later.json");
    assert_stored(state, "link/config.json", "link/plan.json", "config.json");
    snprintf(wanted, sizeof wanted, "%s/here/later.json", place->root);
    assert_stored(state, "later.json", "link/plan.json", wanted);
}

/* A line that describes a cluster is no file, and an absolute path was meant as one. */
static void what_is_no_relative_path_stays(void **state)
{
    assert_stored(state, "/dev/null", "plans/plan.json", "/dev/null");
    assert_stored(state, "/run/a/config.json", "/run/a/plan.json", "config.json");
    assert_stored(state, "/run/ab/config.json", "/run/a/plan.json", "/run/ab/config.json");
    assert_found(state, "2xrtx3090 @ 32GB/s", "plans/plan.json", "2xrtx3090 @ 32GB/s");
    assert_found(state, "/dev/null", "plans/plan.json", "/dev/null");
}

/* "link" is other/deep: the way up from there is not the way up from here. */
static void links_do_not_lead_astray(void **state)
{
    struct place *place = *state;
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s/here/lab.json", place->root);
    assert_stored(state, "lab.json", "link/plan.json", wanted);
    assert_found(state, "../far.json", "link/plan.json", "link/../far.json");
}

static void files_are_found_from_the_folder_of_the_plan(void **state)
{
    assert_found(state, "../lab.json", "plans/plan.json", "lab.json");
    assert_found(state, "./tiny", "models/plan.json", "./models/tiny");
    assert_found(state, "other/far.json", "../plan.json", "../other/far.json");
    assert_found(state, "lab.json", "plan.json", "lab.json");
}

static void a_plan_with_an_absolute_path_finds_its_files(void **state)
{
    struct place *place = *state;
    char plan[128];
    char wanted[128];
    snprintf(plan, sizeof plan, "%s/here/models/plan.json", place->root);
    snprintf(wanted, sizeof wanted, "%s/here/models/tiny", place->root);
    assert_found(state, "./tiny", plan, wanted);
    snprintf(wanted, sizeof wanted, "%s/here/plans", place->root);
    assert_found(state, "../plans", plan, wanted);
    snprintf(wanted, sizeof wanted, "%s/here/lab.json", place->root);
    assert_found(state, "../lab.json", plan, wanted);
}

/* Older versions named them from where yoke was started. */
static void files_of_older_plans_are_found_from_here(void **state)
{
    assert_found(state, "lab.json", "plans/plan.json", "lab.json");
    assert_found(state, "models/tiny", "plans/plan.json", "models/tiny");
    assert_found(state, "nowhere.json", "plans/plan.json", "nowhere.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_named_from_the_folder_of_the_plan),
        cmocka_unit_test(files_that_are_yet_to_be_written_are_named_so_too),
        cmocka_unit_test(what_is_no_relative_path_stays),
        cmocka_unit_test(links_do_not_lead_astray),
        cmocka_unit_test(files_are_found_from_the_folder_of_the_plan),
        cmocka_unit_test(a_plan_with_an_absolute_path_finds_its_files),
        cmocka_unit_test(files_of_older_plans_are_found_from_here),
    };
    return cmocka_run_group_tests(tests, make_place, leave_place);
}
