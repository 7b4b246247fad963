#include "train/checkpoint/shard.h"

#include "support/files/scratch.h"
#include "support/support.h"
#include "support/training/small_store.h"
#include "tensors/safetensors_writer.h"
#include "train/checkpoint/shard_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static void files_are_named_by_rank_and_ranks(void **state)
{
    (void)state;
    char name[YK_SHARD_FILE_NAME_SIZE];
    int32_t rank = -1;
    int32_t ranks = -1;
    yk_shard_format_file_name(1, 4, name);
    assert_string_equal(name, "shard-00002-of-00004.safetensors");
    assert_true(yk_shard_parse_file_name(name, &rank, &ranks));
    assert_int_equal(rank, 1);
    assert_int_equal(ranks, 4);
}

static void other_names_of_files_are_none_of_shards(void **state)
{
    (void)state;
    static const char *const names[] = {
        "shard-00000-of-00004.safetensors",
        "shard-00005-of-00004.safetensors",
        "shard-2-of-4.safetensors",
        "shard-00002-of-00004.safetensors.partial",
        "shard-00002-of-00004",
        "shard-00002-of-99999.safetensors",
        "shard-+0002-of-00004.safetensors",
        "shard- 0002-of-00004.safetensors",
        "shard-000002-of-00004.safetensors",
        "model.safetensors",
        "shard-0002-of-00004.safetensors",
        "",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int32_t rank = 0;
        int32_t ranks = 0;
        assert_false(yk_shard_parse_file_name(names[i], &rank, &ranks));
    }
}

static void slices_are_named_by_what_they_are_and_where_they_begin(void **state)
{
    (void)state;
    struct yk_text name = {0};
    struct yk_shard_slice_name slice;
    yk_shard_append_slice_name(&name, YK_SHARD_MOMENT2, "a.b@c", 4096);
    assert_string_equal(yk_text_chars(&name), "moment2.a.b@c@4096");
    assert_true(yk_shard_parse_slice_name(yk_text_chars(&name), &slice));
    assert_int_equal(slice.kind, YK_SHARD_MOMENT2);
    assert_int_equal(slice.parameter_length, 5);
    assert_memory_equal(slice.parameter, "a.b@c", 5);
    assert_int_equal(slice.first, 4096);
    yk_text_free(&name);
}

static void other_names_of_tensors_are_none_of_slices(void **state)
{
    (void)state;
    static const char *const names[] = {"weights.a",
                                        "weights.@0",
                                        "weights@0",
                                        "weight.a@0",
                                        "weights.a@-1",
                                        "weights.a@",
                                        "weights.a@01",
                                        "weights.a@1x",
                                        "weights.a@ 1",
                                        "Weights.a@1",
                                        ".a@1",
                                        "weights.a@1e3",
                                        "weights.a@99999999999999999999",
                                        "",
                                        "weights.a@+1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct yk_shard_slice_name slice;
        if (yk_shard_parse_slice_name(names[i], &slice)) {
            fail_msg("\"%s\" was taken for a piece", names[i]);
        }
    }
}

/* ---- pieces that do not make a whole ---- */

static const struct yk_parameter ten = {.name = "ten", .count = 10, .trained = true};

struct row {
    const char *name;
    int64_t count;
};

/* A shard of numbers, each its place in the file. */
static void write_shard(int32_t rank, int32_t ranks, const struct row *rows,
                        enum yk_tensor_dtype type)
{
    char name[YK_SHARD_FILE_NAME_SIZE];
    struct yk_safetensors_writer *writer = NULL;
    float number = 0;
    int64_t all = 0;
    yk_shard_format_file_name(rank, ranks, name);
    assert_ok(yk_safetensors_writer_create(support_scratch_path(name), &writer));
    for (int i = 0; rows[i].name; i++) {
        assert_ok(
            yk_safetensors_writer_declare_tensor(writer, rows[i].name, type, 1, &rows[i].count));
        all +=
            rows[i].count * (int64_t)yk_tensor_dtype_element_bytes(type) / (int64_t)sizeof number;
    }
    assert_ok(yk_safetensors_writer_write_header(writer));
    for (int64_t i = 0; i < all; i++, number++) {
        assert_ok(yk_safetensors_writer_append_bytes(writer, &number, sizeof number));
    }
    assert_ok(yk_safetensors_writer_finish(writer, NULL));
    yk_safetensors_writer_destroy(writer);
}

static struct yk_shard_set *open_two(const struct row *first, const struct row *second)
{
    struct yk_shard_set *set = NULL;
    write_shard(0, 2, first, YK_TENSOR_F32);
    write_shard(1, 2, second, YK_TENSOR_F32);
    assert_ok(yk_shard_set_open(support_scratch_folder(), 2, &set));
    return set;
}

static void a_range_is_read_from_all_shards_that_have_some_of_it(void **state)
{
    (void)state;
    const struct row first[] = {{"weights.ten@7", 3}, {"weights.ten@0", 4}, {NULL, 0}};
    const struct row second[] = {{"moment1.ten@0", 10}, {"weights.ten@4", 3}, {NULL, 0}};
    /* Numbers 0 to 9, by their place in the file that has them. */
    const float places[] = {3, 4, 5, 6, 10, 11, 12, 0, 1, 2};
    struct yk_shard_set *set = open_two(first, second);
    assert_ok(yk_shard_set_check_parameter_coverage(set, YK_SHARD_WEIGHTS, &ten));
    for (int64_t from = 0; from < 10; from++) {
        for (int64_t count = 1; count <= 10 - from; count++) {
            float numbers[10] = {0};
            const struct yk_parameter_range range = {from, count};
            assert_ok(
                yk_shard_set_read_parameter_range(set, YK_SHARD_WEIGHTS, &ten, range, numbers));
            assert_memory_equal(numbers, places + from, (size_t)count * sizeof numbers[0]);
        }
    }
    yk_shard_set_close(set);
}

static void assert_check_fails(const struct row *first, const struct row *second, const char *words)
{
    struct yk_shard_set *set = open_two(first, second);
    assert_int_equal(yk_shard_set_check_parameter_coverage(set, YK_SHARD_WEIGHTS, &ten),
                     YK_ERROR_INPUT);
    if (!strstr(yk_status_message(), words)) {
        fail_msg("%s", yk_status_message());
    }
    yk_shard_set_close(set);
}

static void numbers_that_are_missing_or_there_twice_are_named(void **state)
{
    (void)state;
    const struct row none[] = {{NULL, 0}};
    const struct row begin[] = {{"weights.ten@0", 4}, {NULL, 0}};
    const struct row end[] = {{"weights.ten@6", 4}, {NULL, 0}};
    const struct row inside[] = {{"weights.ten@3", 7}, {NULL, 0}};
    const struct row beyond[] = {{"weights.ten@4", 7}, {NULL, 0}};
    assert_check_fails(none, none, ": no shard has numbers 0 to 9 of \"ten\" (weights)");
    assert_check_fails(begin, end, ": no shard has numbers 4 to 5 of \"ten\" (weights)");
    assert_check_fails(begin, none, ": no shard has numbers 4 to 9 of \"ten\" (weights)");
    assert_check_fails(none, end, ": no shard has numbers 0 to 5 of \"ten\" (weights)");
    assert_check_fails(begin, begin,
                       "-of-00002.safetensors: \"weights.ten@0\" is in "
                       "\"weights.ten@0\" of ");
    assert_check_fails(begin, inside,
                       "shard-00002-of-00002.safetensors: \"weights.ten@3\" is in "
                       "\"weights.ten@0\" of ");
    assert_check_fails(begin, beyond,
                       "shard-00002-of-00002.safetensors: \"weights.ten@4\" ends at "
                       "11, but the model's \"ten\" at 10");
}

static void assert_open_fails(const char *words)
{
    struct yk_shard_set *set = NULL;
    assert_int_equal(yk_shard_set_open(support_scratch_folder(), 1, &set), YK_ERROR_INPUT);
    if (!strstr(yk_status_message(), words)) {
        fail_msg("%s", yk_status_message());
    }
}

static void tensors_that_are_no_slices_are_refused(void **state)
{
    (void)state;
    const struct row other[] = {{"transformer.wte.weight", 4}, {NULL, 0}};
    const struct row numbers[] = {{"weights.ten@0", 4}, {NULL, 0}};
    const struct row bytes[] = {{"nf4.ten@0", 4}, {NULL, 0}};
    const struct row empty[] = {{"weights.ten@0", 0}, {NULL, 0}};
    const struct row far[] = {{"weights.ten@9223372036854775805", 4}, {NULL, 0}};
    write_shard(0, 1, other, YK_TENSOR_F32);
    assert_open_fails("\"transformer.wte.weight\" does not name a piece of a parameter");
    write_shard(0, 1, numbers, YK_TENSOR_U8);
    assert_open_fails("\"weights.ten@0\" is no row of F32");
    write_shard(0, 1, bytes, YK_TENSOR_F32);
    assert_open_fails("\"nf4.ten@0\" is no row of U8");
    write_shard(0, 1, empty, YK_TENSOR_F32);
    assert_open_fails("\"weights.ten@0\" is no row of F32");
    write_shard(0, 1, far, YK_TENSOR_F32);
    assert_open_fails("is no row of F32");
}

static void parameters_that_the_model_does_not_have_are_refused(void **state)
{
    (void)state;
    const struct row rows[] = {{"weights.ten@0", 10}, {NULL, 0}};
    struct small_store small =
        small_store_open(&(struct small_store_request){.config = &small_gpt});
    struct yk_shard_set *set = NULL;
    write_shard(0, 1, rows, YK_TENSOR_F32);
    assert_ok(yk_shard_set_open(support_scratch_folder(), 1, &set));
    assert_int_equal(yk_shard_set_load_into_store(
                         set, &(struct yk_shard_set_load_options){.model = true}, small.store),
                     YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "-of-00001.safetensors: the model has no parameter "
                                                "\"ten\""));
    yk_shard_set_close(set);
    small_store_close(&small);
}

#define IN_SCRATCH(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_named_by_rank_and_ranks),
        cmocka_unit_test(other_names_of_files_are_none_of_shards),
        cmocka_unit_test(slices_are_named_by_what_they_are_and_where_they_begin),
        cmocka_unit_test(other_names_of_tensors_are_none_of_slices),
        IN_SCRATCH(a_range_is_read_from_all_shards_that_have_some_of_it),
        IN_SCRATCH(numbers_that_are_missing_or_there_twice_are_named),
        IN_SCRATCH(tensors_that_are_no_slices_are_refused),
        IN_SCRATCH(parameters_that_the_model_does_not_have_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
