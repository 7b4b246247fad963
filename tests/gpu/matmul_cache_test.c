/* Which algorithm is fastest for a product, kept in a file: needs cuBLAS's headers, but no GPU. */
#include "backend/cuda/matmul/matmul_cache.h"

#include "support/files/scratch.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORIGIN "products of a test"
#define FILE_NAME "products.txt"

static struct yk_matmul_shape shape_of(int64_t number)
{
    struct yk_matmul_shape shape;
    memset(&shape, 0, sizeof shape); /* it is compared byte by byte */
    shape.m = number;
    shape.n = 1000 - number;
    shape.work = (int32_t)(number % 3);
    return shape;
}

static struct yk_matmul_algorithm_choice choice_of(int64_t number)
{
    struct yk_matmul_algorithm_choice choice;
    memset(&choice, 0, sizeof choice);
    choice.algorithm.data[0] = (uint64_t)number * 0x9e3779b97f4a7c15U;
    choice.algorithm.data[7] = (uint64_t)number;
    choice.exists = 1;
    return choice;
}

static struct yk_matmul_cache *open_cache(const char *origin)
{
    struct yk_matmul_cache *cache = NULL;
    assert_ok(yk_matmul_cache_open(support_scratch_path(FILE_NAME), origin, &cache));
    assert_non_null(cache);
    return cache;
}

static void add(struct yk_matmul_cache *cache, int64_t number)
{
    const struct yk_matmul_shape shape = shape_of(number);
    const struct yk_matmul_algorithm_choice choice = choice_of(number);
    assert_ok(yk_matmul_cache_add(cache, &shape, &choice));
}

static bool knows(const struct yk_matmul_cache *cache, int64_t number)
{
    const struct yk_matmul_shape shape = shape_of(number);
    const struct yk_matmul_algorithm_choice choice = choice_of(number);
    const struct yk_matmul_algorithm_choice *found = yk_matmul_cache_find(cache, &shape);
    if (found) {
        assert_memory_equal(found, &choice, sizeof choice);
    }
    return found != NULL;
}

/* How many of the numbers below `count` are known. */
static int64_t count_known(const struct yk_matmul_cache *cache, int64_t count)
{
    int64_t known = 0;
    for (int64_t i = 0; i < count; i++) {
        known += knows(cache, i);
    }
    return known;
}

static void append(const char *bytes, size_t length)
{
    FILE *file = fopen(support_scratch_path(FILE_NAME), "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void cut_off(int64_t bytes)
{
    const char *path = support_scratch_path(FILE_NAME);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long length = ftell(file);
    assert_int_equal(fclose(file), 0);
    assert_true(length > bytes);
    assert_int_equal(truncate(path, length - bytes), 0);
}

static void what_was_added_is_found_after_reopening(void **state)
{
    enum {
        MANY = 1000 /* several times as many as there is room for at first */
    };
    (void)state;
    struct yk_matmul_cache *cache = open_cache(ORIGIN);
    assert_int_equal(count_known(cache, MANY), 0);
    for (int64_t i = 0; i < MANY; i += 2) {
        add(cache, i);
    }
    assert_int_equal(count_known(cache, MANY), MANY / 2);
    yk_matmul_cache_close(cache);
    cache = open_cache(ORIGIN);
    for (int64_t i = 0; i < MANY; i++) {
        assert_int_equal(knows(cache, i), i % 2 == 0);
    }
    yk_matmul_cache_close(cache);
}

static void last_choice_of_a_shape_counts(void **state)
{
    (void)state;
    const struct yk_matmul_shape shape = shape_of(1);
    const struct yk_matmul_algorithm_choice choice = choice_of(2);
    struct yk_matmul_cache *cache = open_cache(ORIGIN);
    add(cache, 1);
    assert_ok(yk_matmul_cache_add(cache, &shape, &choice));
    for (int again = 0; again < 2; again++) {
        const struct yk_matmul_algorithm_choice *found = yk_matmul_cache_find(cache, &shape);
        assert_non_null(found);
        assert_memory_equal(found, &choice, sizeof choice);
        yk_matmul_cache_close(cache);
        cache = open_cache(ORIGIN);
    }
    yk_matmul_cache_close(cache);
}

static void two_kinds_of_gpu_share_a_file_and_no_choice(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        struct yk_matmul_cache *cache = open_cache(ORIGIN);
        assert_int_equal(count_known(cache, 9), 2 * again);
        add(cache, 1);
        add(cache, 3);
        yk_matmul_cache_close(cache);
        cache = open_cache(ORIGIN " on another GPU");
        assert_int_equal(count_known(cache, 9), again);
        assert_false(knows(cache, 1));
        add(cache, 2);
        yk_matmul_cache_close(cache);
    }
    struct yk_matmul_cache *cache = open_cache(ORIGIN);
    assert_true(knows(cache, 1) && knows(cache, 3));
    assert_false(knows(cache, 2));
    yk_matmul_cache_close(cache);
}

static void garbage_between_lines_is_skipped(void **state)
{
    static const char *const garbage[] = {"\n", "00ff\n", "not in hexadecimal\n", "\x01\xff\xfe\n"};
    char nothing[2000];
    (void)state;
    memset(nothing, 0, sizeof nothing);
    memset(nothing + sizeof nothing / 2, '0', sizeof nothing / 2 - 1);
    nothing[sizeof nothing - 1] = '\n';
    struct yk_matmul_cache *cache = open_cache(ORIGIN);
    for (int64_t i = 0; i < 5; i++) {
        if (i < 4) {
            append(garbage[i], strlen(garbage[i]));
        } else {
            append(nothing, sizeof nothing);
        }
        add(cache, i);
    }
    yk_matmul_cache_close(cache);
    cache = open_cache(ORIGIN);
    assert_int_equal(count_known(cache, 10), 5);
    yk_matmul_cache_close(cache);
}

/* A process that was ended in the midst of a line: whoever comes next loses one of its own. */
static void torn_line_costs_no_more_than_the_next(void **state)
{
    static const int64_t missing[] = {1, 2, 100};
    (void)state;
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        (void)unlink(support_scratch_path(FILE_NAME));
        struct yk_matmul_cache *cache = open_cache(ORIGIN);
        add(cache, 1);
        add(cache, 2);
        cut_off(missing[i]);
        yk_matmul_cache_close(cache);
        cache = open_cache(ORIGIN);
        assert_true(knows(cache, 1));
        assert_false(knows(cache, 2));
        add(cache, 3);
        add(cache, 4);
        yk_matmul_cache_close(cache);
        cache = open_cache(ORIGIN);
        assert_true(knows(cache, 1));
        assert_true(knows(cache, 4));
        assert_false(knows(cache, 5));
        yk_matmul_cache_close(cache);
    }
}

static void two_handles_on_one_file_drop_nothing(void **state)
{
    const int64_t each = 100;
    (void)state;
    struct yk_matmul_cache *first = open_cache(ORIGIN);
    struct yk_matmul_cache *second = open_cache(ORIGIN);
    for (int64_t i = 0; i < each; i++) {
        add(first, i);
        add(second, each + i);
    }
    yk_matmul_cache_close(first);
    yk_matmul_cache_close(second);
    first = open_cache(ORIGIN);
    assert_int_equal(count_known(first, 3 * each), 2 * each);
    yk_matmul_cache_close(first);
}

static void two_processes_drop_nothing_either(void **state)
{
    const int64_t each = 300;
    (void)state;
    struct yk_matmul_cache *cache = open_cache(ORIGIN);
    const pid_t child = fork();
    assert_true(child >= 0);
    for (int64_t i = 0; i < each; i++) {
        const struct yk_matmul_shape shape = shape_of(child == 0 ? i : each + i);
        const struct yk_matmul_algorithm_choice choice = choice_of(child == 0 ? i : each + i);
        if (yk_matmul_cache_add(cache, &shape, &choice) != YK_OK && child == 0) {
            _exit(1);
        }
    }
    if (child == 0) {
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    yk_matmul_cache_close(cache);
    cache = open_cache(ORIGIN);
    assert_int_equal(count_known(cache, 3 * each), 2 * each);
    yk_matmul_cache_close(cache);
}

static void what_cannot_be_written_is_kept_in_memory(void **state)
{
    (void)state;
    const char *const paths[] = {NULL, support_scratch_path("no/such/folder.txt"),
                                 support_scratch_folder()};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct yk_matmul_cache *cache = NULL;
        assert_ok(yk_matmul_cache_open(paths[i], ORIGIN, &cache));
        assert_false(knows(cache, 1));
        add(cache, 1);
        assert_true(knows(cache, 1));
        yk_matmul_cache_close(cache);
    }
    assert_false(support_scratch_holds("no"));
    yk_matmul_cache_close(NULL);
}

#define in_a_folder(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

/* There was no memory to try one in; the next process may have it. */
static void what_was_not_found_is_looked_for_anew(void **state)
{
    (void)state;
    const struct yk_matmul_shape shape = shape_of(600);
    const struct yk_matmul_algorithm_choice none = {.exists = 0};
    struct yk_matmul_cache *cache = open_cache(ORIGIN);
    assert_ok(yk_matmul_cache_add(cache, &shape, &none));
    assert_non_null(yk_matmul_cache_find(cache, &shape));
    yk_matmul_cache_close(cache);
    cache = open_cache(ORIGIN);
    assert_null(yk_matmul_cache_find(cache, &shape));
    yk_matmul_cache_close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(what_was_added_is_found_after_reopening),
        in_a_folder(last_choice_of_a_shape_counts),
        in_a_folder(two_kinds_of_gpu_share_a_file_and_no_choice),
        in_a_folder(garbage_between_lines_is_skipped),
        in_a_folder(torn_line_costs_no_more_than_the_next),
        in_a_folder(two_handles_on_one_file_drop_nothing),
        in_a_folder(two_processes_drop_nothing_either),
        in_a_folder(what_cannot_be_written_is_kept_in_memory),
        in_a_folder(what_was_not_found_is_looked_for_anew),
    };
    return cmocka_run_group_tests_name("choices of algorithms in a file", tests, NULL, NULL);
}
