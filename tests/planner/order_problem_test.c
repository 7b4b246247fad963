#include "planner/order/transfer_order.h"

#include "base/text.h"
#include "support/support.h"

#include <string.h>

/* A problem of one layer; `from` is replaced by `to` to spoil it. */
static const char sound[] =
    "{\"note\": \"ignored\", \"layers\": 1, \"blocks\": 4, \"compute_s\": [1, 0, 2, 0, 0.5], "
    "\"comm_s\": [0.25], \"full_bytes\": [100], \"static_bytes\": 1000, \"activation_bytes\": "
    "[10, 20, 30, 0, 0], \"memory_bytes\": 2000, \"barrier\": true, \"optimum_s\": null}";

static yk_status read(const char *text, struct yk_arena *arena,
                      struct yk_transfer_order_problem **out)
{
    return yk_transfer_order_problem_parse(text, strlen(text), SUPPORT_SOURCE, arena, out);
}

static void assert_spoilt(const char *from, const char *to, const char *message)
{
    const char *at = strstr(sound, from);
    struct yk_arena *arena = NULL;
    struct yk_transfer_order_problem *problem = NULL;
    struct yk_text text = {0};
    struct yk_text expected = {0};
    assert_non_null(at);
    yk_text_add_bytes(&text, sound, (size_t)(at - sound));
    yk_text_add(&text, to);
    yk_text_add(&text, at + strlen(from));
    yk_text_addf(&expected, SUPPORT_SOURCE ": %s", message);
    assert_ok(yk_arena_create(&arena));
    assert_fails(read(yk_text_chars(&text), arena, &problem), YK_ERROR_INPUT,
                 yk_text_chars(&expected));
    assert_null(problem);
    yk_arena_destroy(arena);
    yk_text_free(&expected);
    yk_text_free(&text);
}

static void a_file_is_read_as_it_is(void **state)
{
    struct yk_arena *arena = NULL;
    struct yk_transfer_order_problem *problem = NULL;
    (void)state;
    assert_ok(yk_arena_create(&arena));
    assert_ok(read(sound, arena, &problem));
    assert_int_equal(problem->layer_count, 1);
    assert_true(problem->barrier);
    assert_int_equal(problem->layers[0].choice, YK_TRANSFER_ORDER_UNDECIDED);
    assert_int_equal(problem->layers[0].blocks, 4);
    assert_true(problem->layers[0].gather_s == 0.25);
    assert_true(problem->layers[0].scatter_s == 0.25);
    assert_true(problem->layers[0].weight_bytes == 100);
    assert_true(problem->layers[0].gradient_bytes == 100);
    assert_true(problem->compute_s[4] == 0.5);
    assert_true(problem->room_bytes[2] == 970);
    assert_true(problem->room_bytes[4] == 1000);
    yk_arena_destroy(arena);
}

static void no_barrier_is_the_default(void **state)
{
    struct yk_arena *arena = NULL;
    struct yk_transfer_order_problem *problem = NULL;
    char text[sizeof sound];
    (void)state;
    memcpy(text, sound, sizeof sound);
    strstr(text, "barrier")[0] = 'c';
    assert_ok(yk_arena_create(&arena));
    assert_ok(read(text, arena, &problem));
    assert_false(problem->barrier);
    yk_arena_destroy(arena);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    assert_spoilt("\"layers\"", "\"lairs\"", "\"layers\" is missing");
    assert_spoilt("\"blocks\"", "\"blogs\"", "\"blocks\" is missing");
    assert_spoilt("\"compute_s\"", "\"compute\"", "\"compute_s\" is missing");
    assert_spoilt("\"comm_s\"", "\"comm\"", "\"comm_s\" is missing");
    assert_spoilt("\"full_bytes\"", "\"bytes\"", "\"full_bytes\" is missing");
    assert_spoilt("\"static_bytes\"", "\"static\"", "\"static_bytes\" is missing");
    assert_spoilt("\"memory_bytes\"", "\"memory\"", "\"memory_bytes\" is missing");
    assert_spoilt("\"activation_bytes\"", "\"activations\"", "\"activation_bytes\" is missing");
}

static void lists_have_their_lengths(void **state)
{
    (void)state;
    assert_spoilt("[1, 0, 2, 0, 0.5]", "[1, 0, 2, 0]",
                  "\"compute_s\" must have one number for each of 5 slots, not 4");
    assert_spoilt("[100]", "[100, 100]",
                  "\"full_bytes\" must have one number for each of 1 layer, not 2");
    assert_spoilt("[0.25]", "0.25", "\"comm_s\" must be a list of numbers, not a number");
}

static void numbers_make_sense(void **state)
{
    (void)state;
    assert_spoilt("\"layers\": 1", "\"layers\": 0",
                  "\"layers\" must be a whole number from 1 to 1024, not 0");
    assert_spoilt("\"layers\": 1", "\"layers\": 1e9",
                  "\"layers\" must be a whole number from 1 to 1024, not 1e+09");
    assert_spoilt("\"blocks\": 4", "\"blocks\": 0",
                  "\"blocks\" must be a whole number from 1 to 4096, not 0");
    assert_spoilt("\"blocks\": 4", "\"blocks\": 2.5",
                  "\"blocks\" must be a whole number from 1 to 4096, not 2.5");
    assert_spoilt("\"blocks\": 4", "\"blocks\": \"4\"",
                  "\"blocks\" must be a number, not a string");
    assert_spoilt("0.5]", "-0.5]", "compute_s[4]: \"compute_s\" must be from 0 to 1e+06, not -0.5");
    assert_spoilt("[100]", "[1e300]",
                  "full_bytes[0]: \"full_bytes\" must be from 0 to 1e+15, not 1e+300");
    assert_spoilt("2000", "-2000", "\"memory_bytes\" must be from 0 to 1e+15, not -2000");
    assert_spoilt("true", "1", "\"barrier\" must be true or false, not a number");
}

static void what_is_no_problem_is_refused(void **state)
{
    struct yk_arena *arena = NULL;
    struct yk_transfer_order_problem *problem = NULL;
    (void)state;
    assert_ok(yk_arena_create(&arena));
    assert_fails(read("[]", arena, &problem), YK_ERROR_INPUT,
                 "test: an order problem is an object, not a list");
    assert_int_equal(read("{", arena, &problem), YK_ERROR_INPUT);
    assert_int_equal(read("", arena, &problem), YK_ERROR_INPUT);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_as_it_is),  cmocka_unit_test(no_barrier_is_the_default),
        cmocka_unit_test(what_is_missing_is_named), cmocka_unit_test(lists_have_their_lengths),
        cmocka_unit_test(numbers_make_sense),       cmocka_unit_test(what_is_no_problem_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
