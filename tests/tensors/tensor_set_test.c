#include "support/files/scratch.h"
#include "support/support.h"

#include "tensors/safetensors_writer.h"
#include "tensors/tensor_set.h"

#include <stdio.h>
#include <string.h>

/* A file with tensors of one byte each, called by the letters of `names`, which are their values.
 */
static void write_tensors(const char *path, const char *names)
{
    struct yk_safetensors_writer *writer = NULL;
    assert_ok(yk_safetensors_writer_create(support_scratch_path(path), &writer));
    for (const char *c = names; *c; c++) {
        const char name[] = {*c, '\0'};
        assert_ok(yk_safetensors_writer_declare_tensor(writer, name, YK_TENSOR_U8, 0, NULL));
    }
    assert_ok(yk_safetensors_writer_write_header(writer));
    assert_ok(yk_safetensors_writer_append_bytes(writer, names, strlen(names)));
    assert_ok(yk_safetensors_writer_finish(writer, NULL));
    yk_safetensors_writer_destroy(writer);
}

/* The tensor called `name` is there and holds it. */
static void assert_holds(const struct yk_tensor_set *set, const char *name)
{
    const struct yk_tensor_location *place = NULL;
    char value = '\0';
    assert_ok(yk_tensor_set_find_tensor_or_fail(set, name, &place));
    assert_ok(yk_safetensors_read_tensor_range(place->file, place->entry, 0, 1, &value));
    assert_int_equal(value, name[0]);
}

static void one_file_is_a_set(void **state)
{
    (void)state;
    struct yk_tensor_set *set = NULL;
    write_tensors("x.safetensors", "ab");
    assert_ok(yk_tensor_set_open(support_scratch_path("x.safetensors"), &set));
    assert_int_equal(set->count, 2);
    assert_int_equal(set->file_count, 1);
    assert_holds(set, "a");
    assert_holds(set, "b");
    yk_tensor_set_close(set);
}

static void a_folder_with_one_file_is_a_set(void **state)
{
    (void)state;
    static const char *const names[] = {"adapter_model.safetensors", "model.safetensors"};
    static const char *const tensors[] = {"ad", "m"};
    for (size_t i = 0; i < 2; i++) { /* the second one goes before the first */
        struct yk_tensor_set *set = NULL;
        write_tensors(names[i], tensors[i]);
        assert_ok(yk_tensor_set_open(support_scratch_folder(), &set));
        assert_int_equal(set->count, strlen(tensors[i]));
        assert_holds(set, i == 0 ? "d" : "m");
        assert_string_equal(set->path, support_scratch_folder());
        yk_tensor_set_close(set);
    }
}

static void write_index(const char *json)
{
    support_scratch_write_text("model.safetensors.index.json", json);
}

static void an_index_joins_files(void **state)
{
    (void)state;
    struct yk_tensor_set *set = NULL;
    write_tensors("one.safetensors", "abz");
    write_tensors("two.safetensors", "c");
    write_index("{\"metadata\": {\"total_size\": 3, \"weight_map\": {\"z\": \"no\"}},\n"
                " \"weight_map\": {\"c\": \"two.safetensors\", \"\\u0061\": \"one.safetensors\",\n"
                "  \"b\" : \"one.safetensors\"}}");
    assert_ok(yk_tensor_set_open(support_scratch_folder(), &set));
    assert_int_equal(set->count, 3);
    assert_int_equal(set->file_count, 2);
    assert_string_equal(set->locations[0].entry->name, "c");
    assert_holds(set, "a");
    assert_holds(set, "b");
    assert_holds(set, "c");
    assert_null(yk_tensor_set_find_tensor(set, "z"));
    yk_tensor_set_close(set);
}

static void refuse(const char *message)
{
    struct yk_tensor_set *set = NULL;
    char sentence[900];
    snprintf(sentence, sizeof sentence, "%s/model.safetensors.index.json: %s",
             support_scratch_folder(), message);
    assert_fails(yk_tensor_set_open(support_scratch_folder(), &set), YK_ERROR_INPUT, sentence);
}

static void what_an_index_names_must_be_there(void **state)
{
    (void)state;
    char message[600];
    write_tensors("one.safetensors", "a");
    write_index("{\"weight_map\": {\"a\": \"one.safetensors\", \"b\": \"one.safetensors\"}}");
    snprintf(message, sizeof message, "weight_map: \"b\" is not in %s",
             support_scratch_path("one.safetensors"));
    refuse(message);
    write_index("{\"weight_map\": {\"a\": \"one.safetensors\", \"b\": \"two.safetensors\"}}");
    snprintf(message, sizeof message, "cannot open %s: No such file or directory",
             support_scratch_path("two.safetensors"));
    refuse(message);
}

static void an_index_cannot_lead_out_of_its_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"../one.safetensors", "/etc/passwd", "a/b", "..", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"weight_map\": {\"a\": \"%s\"}}", names[i]);
        write_index(text);
        snprintf(
            text, sizeof text,
            "weight_map: \"a\" is in \"%s\", which is no plain name of a file beside the index",
            names[i]);
        refuse(text);
    }
}

static void an_index_of_the_wrong_form_is_refused(void **state)
{
    (void)state;
    write_index("{}");
    refuse("\"weight_map\" must be an object, not nothing");
    write_index("[]");
    refuse("\"weight_map\" must be an object, not nothing");
    write_index("{\"weight_map\": {\"a\": 1}}");
    refuse("weight_map: \"a\" must be a file's name, not a number");
}

static void a_folder_with_no_weights_is_refused_with_what_was_looked_for(void **state)
{
    (void)state;
    struct yk_tensor_set *set = NULL;
    char message[600];
    snprintf(message, sizeof message,
             "%s holds no weights: neither model.safetensors nor model.safetensors.index.json nor "
             "adapter_model.safetensors is there",
             support_scratch_folder());
    assert_fails(yk_tensor_set_open(support_scratch_folder(), &set), YK_ERROR_INPUT, message);
    snprintf(message, sizeof message, "cannot open %s: No such file or directory",
             support_scratch_path("none"));
    assert_fails(yk_tensor_set_open(support_scratch_path("none"), &set), YK_ERROR_INPUT, message);
    yk_tensor_set_close(NULL);
}

static void a_tensor_that_is_missing_is_named_with_the_nearest(void **state)
{
    (void)state;
    struct yk_tensor_set *set = NULL;
    struct yk_safetensors_writer *writer = NULL;
    const struct yk_tensor_location *place = NULL;
    char message[600];
    assert_ok(yk_safetensors_writer_create(support_scratch_path("model.safetensors"), &writer));
    assert_ok(yk_safetensors_writer_declare_tensor(writer, "wte.weight", YK_TENSOR_U8, 0, NULL));
    assert_ok(yk_safetensors_writer_write_header(writer));
    assert_ok(yk_safetensors_writer_append_bytes(writer, "x", 1));
    assert_ok(yk_safetensors_writer_finish(writer, NULL));
    yk_safetensors_writer_destroy(writer);
    assert_ok(yk_tensor_set_open(support_scratch_folder(), &set));
    snprintf(message, sizeof message, "%s has no tensor \"wpe.weight\"; is it \"wte.weight\"?",
             support_scratch_folder());
    assert_fails(yk_tensor_set_find_tensor_or_fail(set, "wpe.weight", &place), YK_ERROR_INPUT,
                 message);
    snprintf(message, sizeof message, "%s has no tensor \"h.0.attn\"", support_scratch_folder());
    assert_fails(yk_tensor_set_find_tensor_or_fail(set, "h.0.attn", &place), YK_ERROR_INPUT,
                 message);
    yk_tensor_set_close(set);
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(one_file_is_a_set),
        in_scratch(a_folder_with_one_file_is_a_set),
        in_scratch(an_index_joins_files),
        in_scratch(what_an_index_names_must_be_there),
        in_scratch(an_index_cannot_lead_out_of_its_folder),
        in_scratch(an_index_of_the_wrong_form_is_refused),
        in_scratch(a_folder_with_no_weights_is_refused_with_what_was_looked_for),
        in_scratch(a_tensor_that_is_missing_is_named_with_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
