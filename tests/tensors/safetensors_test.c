#include "support/files/scratch.h"
#include "support/support.h"

#include "tensors/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the Python library safetensors 0.8 wrote for five small tensors and two keys of metadata. */
static const char from_python[] =
    "p\x01\0\0\0\0\0\0"
    "{\"__metadata__\":{\"format\":\"pt\",\"note\":\"a \\\"quoted\\\" \xc3\xa9 word\"},"
    "\"none\":{\"dtype\":\"I64\",\"shape\":[0,4],\"data_offsets\":[0,0]},"
    "\"wte.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
    "\"ln.bias\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[24,30]},"
    "\"scale\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[30,32]},"
    "\"ids\":{\"dtype\":\"I8\",\"shape\":[2,2],\"data_offsets\":[32,36]}}     "
    "\0\0\0\0\0\0\0?\0\0\x80?\0\0\xc0?\0\0\0@\0\0 @"
    "\x80?\0\xc0\x80>\0C\xff\x02\x03\xfc";

static struct yk_safetensors_file *open_python_file(void)
{
    struct yk_safetensors_file *file = NULL;
    const char *path = support_scratch_write("a.safetensors", from_python, sizeof from_python - 1);
    assert_ok(yk_safetensors_open(path, &file));
    assert_string_equal(file->path, path);
    return file;
}

static void a_file_of_the_python_library_is_read(void **state)
{
    (void)state;
    struct yk_safetensors_file *file = open_python_file();
    assert_int_equal(file->header->count, 5);
    assert_int_equal(file->size, 412);
    const struct yk_tensor_file_entry *weight = yk_safetensors_find_tensor(file, "wte.weight");
    assert_non_null(weight);
    assert_int_equal(weight->type, YK_TENSOR_F32);
    assert_int_equal(weight->rank, 2);
    assert_int_equal(weight->shape[0], 2);
    assert_int_equal(weight->shape[1], 3);
    assert_int_equal(weight->bytes, 24);
    float values[6] = {0};
    assert_ok(yk_safetensors_read_tensor_range(file, weight, 0, 24, values));
    for (int i = 0; i < 6; i++) {
        assert_true(values[i] == (float)i * 0.5f);
    }
    signed char ids[4] = {0};
    assert_ok(
        yk_safetensors_read_tensor_range(file, yk_safetensors_find_tensor(file, "ids"), 0, 4, ids));
    assert_true(ids[0] == -1 && ids[1] == 2 && ids[2] == 3 && ids[3] == -4);
    assert_null(yk_safetensors_find_tensor(file, "wte"));
    yk_safetensors_close(file);
}

static void a_single_number_and_an_empty_tensor_are_tensors(void **state)
{
    (void)state;
    struct yk_safetensors_file *file = open_python_file();
    const struct yk_tensor_file_entry *scale = yk_safetensors_find_tensor(file, "scale");
    const struct yk_tensor_file_entry *none = yk_safetensors_find_tensor(file, "none");
    uint16_t half = 0;
    assert_int_equal(scale->rank, 0);
    assert_ok(yk_safetensors_read_tensor_range(file, scale, 0, 2, &half));
    assert_int_equal(half, 0x4300); /* 3.5 */
    assert_int_equal(none->rank, 2);
    assert_int_equal(none->bytes, 0);
    assert_ok(yk_safetensors_read_tensor_range(file, none, 0, 0, NULL));
    yk_safetensors_close(file);
}

static void metadata_is_listed(void **state)
{
    (void)state;
    struct yk_safetensors_file *file = open_python_file();
    assert_int_equal(file->header->metadata_count, 2);
    assert_string_equal(file->header->metadata[0].key, "format");
    assert_string_equal(file->header->metadata[0].value, "pt");
    assert_string_equal(file->header->metadata[1].key, "note");
    assert_string_equal(file->header->metadata[1].value, "a \"quoted\" \xc3\xa9 word");
    yk_safetensors_close(file);
}

static void a_part_of_a_tensor_can_be_read_and_not_more(void **state)
{
    (void)state;
    struct yk_safetensors_file *file = open_python_file();
    const struct yk_tensor_file_entry *weight = yk_safetensors_find_tensor(file, "wte.weight");
    float value = 0;
    char message[600];
    assert_ok(yk_safetensors_read_tensor_range(file, weight, 20, 4, &value));
    assert_true(value == 2.5f);
    snprintf(message, sizeof message,
             "%s: tensor \"wte.weight\" has 24 bytes, but 5 from byte 20 on are asked for",
             file->path);
    assert_fails(yk_safetensors_read_tensor_range(file, weight, 20, 5, &value), YK_ERROR_INPUT,
                 message);
    assert_int_equal(yk_safetensors_read_tensor_range(file, weight, 1, UINT64_MAX, &value),
                     YK_ERROR_INPUT);
    yk_safetensors_close(file);
}

static void a_file_cut_off_while_open_gives_an_error(void **state)
{
    (void)state;
    struct yk_safetensors_file *file = open_python_file();
    char ids[4];
    char message[600];
    assert_int_equal(truncate(file->path, 410), 0);
    snprintf(message, sizeof message,
             "%s: the file ends 2 bytes too early; it was cut off while it was read", file->path);
    assert_fails(
        yk_safetensors_read_tensor_range(file, yk_safetensors_find_tensor(file, "ids"), 0, 4, ids),
        YK_ERROR_INPUT, message);
    yk_safetensors_close(file);
}

/* Parses `json` as the header of a file with `data` bytes of tensors. */
static yk_status parse(const char *json, uint64_t data, struct yk_arena *arena,
                       const struct yk_safetensors_header **out)
{
    const size_t length = strlen(json);
    return yk_safetensors_header_parse(json, length, 8 + length + data, "file", arena, out);
}

static void refuse(const char *json, uint64_t data, const char *message)
{
    struct yk_arena *arena = NULL;
    const struct yk_safetensors_header *header = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_fails(parse(json, data, arena, &header), YK_ERROR_INPUT, message);
    yk_arena_destroy(arena);
}

static void every_broken_rule_of_tensors_has_its_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint64_t data;
        const char *message;
    } cases[] = {
        {" {}", 0, "file: the header does not begin with {; this is no safetensors file"},
        {"", 0, "file: the header does not begin with {; this is no safetensors file"},
        {"{\"a\":1}", 0, "file: tensor \"a\": this must be an object, not a number"},
        {"{\"a\":{\"shape\":[],\"data_offsets\":[0,1]}}", 1,
         "file: tensor \"a\": \"dtype\" must be a string, not nothing"},
        {"{\"a\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[0,1]}}", 1,
         "file: tensor \"a\": the type \"F4\" is not supported"},
        {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1,
         "file: tensor \"a\": \"shape\" must be a list, not nothing"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,-1],\"data_offsets\":[0,1]}}", 1,
         "file: tensor \"a\": dimension 1 of \"shape\" must be a whole number"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.5],\"data_offsets\":[0,1]}}", 1,
         "file: tensor \"a\": dimension 0 of \"shape\" must be a whole number"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
         "file: tensor \"a\": 9 dimensions, where at most 8 are supported"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1]}}", 1,
         "file: tensor \"a\": \"data_offsets\" must be two whole numbers, the second not below the "
         "first"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1,
         "file: tensor \"a\": \"data_offsets\" must be two whole numbers, the second not below the "
         "first"},
        /* 2^32 * 2^32 * 1 byte is 0 in 64 bits. */
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
         "file: tensor \"a\": the shape has more elements than can be counted"},
        /* 2^62 * 4 bytes is 0 in 64 bits. */
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2147483648,2147483648],\"data_offsets\":[0,0]}}", 0,
         "file: tensor \"a\": the shape has more elements than can be counted"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
         "file: tensor \"a\": its type and shape take 8 bytes, but its offsets span 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuse(cases[i].json, cases[i].data, cases[i].message);
    }
}

#define BYTES(name, begin, end, size)                                                              \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" size "],\"data_offsets\":[" begin "," end "]}"

static void tensors_must_fill_the_file_exactly(void **state)
{
    (void)state;
    refuse("{" BYTES("a", "0", "4", "4") "," BYTES("b", "5", "6", "1") "}", 6,
           "file: tensor \"b\": 1 bytes before it belong to no tensor");
    refuse("{" BYTES("a", "1", "2", "1") "}", 2,
           "file: tensor \"a\": 1 bytes before it belong to no tensor");
    refuse("{" BYTES("b", "2", "6", "4") "," BYTES("a", "0", "4", "4") "}", 6,
           "file: tensor \"b\": its bytes overlap those of another tensor by 2");
    refuse("{" BYTES("a", "0", "4", "4") "}", 6,
           "file: 2 bytes after the last tensor belong to none");
    /* The header of 53 bytes and its length before it are part of the file. */
    refuse("{" BYTES("a", "0", "4", "4") "}", 3,
           "file: the file is cut off: 1 of 65 bytes are missing");
}

static void tensors_may_be_named_in_any_order(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    const struct yk_safetensors_header *header = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(parse("{" BYTES("b", "4", "6", "2") "," BYTES("e", "4", "4",
                                                            "0") "," BYTES("a", "0", "4", "4") "}",
                    6, arena, &header));
    assert_int_equal(header->count, 3);
    assert_string_equal(header->entries[0].name, "a");
    assert_string_equal(header->entries[1].name, "e");
    assert_string_equal(header->entries[2].name, "b");
    assert_int_equal(header->entries[2].offset, header->entries[0].offset + 4);
    yk_arena_destroy(arena);
}

static void names_with_escapes_are_read(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    const struct yk_safetensors_header *header = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(parse("{" BYTES("a\\\"\\u00e9:{", "0", "1", "1") "}", 1, arena, &header));
    assert_int_equal(header->count, 1);
    assert_string_equal(header->entries[0].name, "a\"\xc3\xa9:{");
    yk_arena_destroy(arena);
}

static void a_file_of_no_tensors_is_legal(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    const struct yk_safetensors_header *header = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(parse("{}      ", 0, arena, &header));
    assert_int_equal(header->count, 0);
    assert_int_equal(header->metadata_count, 0);
    yk_arena_destroy(arena);
}

static void metadata_must_be_strings(void **state)
{
    (void)state;
    refuse("{\"__metadata__\":[]}", 0, "file: \"__metadata__\" must be an object, not a list");
    refuse("{\"__metadata__\":{\"a\":\"b\",\"step\":3}}", 0,
           "file: \"step\" of \"__metadata__\" must be a string, not a number");
}

/* The sentence about what is no JSON is the JSON library's; that it is refused is ours. */
static void broken_json_and_names_that_come_twice_are_refused(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{\"a\":",
        "{}x",
        "{\"\xff\":1}",
        "{" BYTES("a", "0", "0", "0") "," BYTES("a", "0", "0", "0") "}",
        "{\"__metadata__\":{\"a\":\"b\",\"a\":\"b\"}}",
        "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        struct yk_arena *arena = NULL;
        const struct yk_safetensors_header *header = NULL;
        assert_ok(yk_arena_create(&arena));
        assert_int_equal(parse(headers[i], 0, arena, &header), YK_ERROR_INPUT);
        assert_memory_equal(yk_status_message(), "file: line 1, column ", 21);
        yk_arena_destroy(arena);
    }
}

static void the_length_of_the_header_has_limits(void **state)
{
    (void)state;
    static const unsigned char two[8] = {2};
    static const unsigned char most[8] = {0x00, 0xe1, 0xf5, 0x05}; /* 100,000,000 */
    static const unsigned char more[8] = {0x01, 0xe1, 0xf5, 0x05};
    static const unsigned char huge[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint64_t length = 0;
    assert_ok(yk_safetensors_header_parse_length(two, 8, 10, "file", &length));
    assert_int_equal(length, 2);
    assert_ok(yk_safetensors_header_parse_length(most, 8, 100000008, "file", &length));
    assert_int_equal(length, 100000000);
    assert_fails(yk_safetensors_header_parse_length(two, 7, 7, "file", &length), YK_ERROR_INPUT,
                 "file: 7 bytes are too few for a safetensors file, which begins with the 8 bytes "
                 "of its header's length");
    assert_fails(yk_safetensors_header_parse_length(two, 8, 9, "file", &length), YK_ERROR_INPUT,
                 "file: the file is cut off inside its header: 1 bytes are missing");
    assert_fails(yk_safetensors_header_parse_length(more, 8, 200000000, "file", &length),
                 YK_ERROR_INPUT,
                 "file: a header of 100000001 bytes, where at most 100000000 are allowed; this is "
                 "no safetensors file");
    assert_int_equal(yk_safetensors_header_parse_length(huge, 8, 200000000, "file", &length),
                     YK_ERROR_INPUT);
}

static void no_beginning_of_a_file_is_accepted(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    for (size_t size = 0; size < sizeof from_python - 1; size++) {
        const struct yk_safetensors_header *header = NULL;
        uint64_t length = 0;
        yk_status status = yk_safetensors_header_parse_length((const unsigned char *)from_python,
                                                              size, size, "file", &length);
        if (status == YK_OK) {
            status = yk_safetensors_header_parse(from_python + 8, (size_t)length, size, "file",
                                                 arena, &header);
        }
        assert_int_equal(status, YK_ERROR_INPUT);
    }
    yk_arena_destroy(arena);
}

static void a_file_cut_off_is_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 7, 8, 200, 376, 411};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct yk_safetensors_file *file = NULL;
        const char *path = support_scratch_write("cut.safetensors", from_python, sizes[i]);
        assert_int_equal(yk_safetensors_open(path, &file), YK_ERROR_INPUT);
    }
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    struct yk_safetensors_file *file = NULL;
    char message[600];
    const char *path = support_scratch_path("missing.safetensors");
    snprintf(message, sizeof message, "cannot open %s: No such file or directory", path);
    assert_fails(yk_safetensors_open(path, &file), YK_ERROR_INPUT, message);
    snprintf(message, sizeof message, "cannot read %s: Is a directory", support_scratch_folder());
    assert_fails(yk_safetensors_open(support_scratch_folder(), &file), YK_ERROR_INPUT, message);
    yk_safetensors_close(NULL);
}

static void types_have_the_sizes_their_names_say(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t bytes;
    } known[] = {{"F64", 8}, {"F32", 4}, {"F16", 2},     {"BF16", 2},    {"I64", 8},    {"I32", 4},
                 {"I16", 2}, {"I8", 1},  {"U8", 1},      {"BOOL", 1},    {"U16", 2},    {"U32", 4},
                 {"U64", 8}, {"C64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"F8_E8M0", 1}};
    assert_int_equal(sizeof known / sizeof *known, YK_TENSOR_DTYPE_COUNT);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        enum yk_tensor_dtype type = YK_TENSOR_DTYPE_COUNT;
        assert_true(yk_tensor_dtype_find_by_name(known[i].name, &type));
        assert_string_equal(yk_tensor_dtype_name(type), known[i].name);
        assert_int_equal(yk_tensor_dtype_element_bytes(type), known[i].bytes);
    }
    enum yk_tensor_dtype type = YK_TENSOR_F32;
    assert_false(yk_tensor_dtype_find_by_name("f32", &type));
}

#define in_scratch(test)                                                                           \
    cmocka_unit_test_setup_teardown(test, support_scratch_make, support_scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_scratch(a_file_of_the_python_library_is_read),
        in_scratch(a_single_number_and_an_empty_tensor_are_tensors),
        in_scratch(metadata_is_listed),
        in_scratch(a_part_of_a_tensor_can_be_read_and_not_more),
        in_scratch(a_file_cut_off_while_open_gives_an_error),
        cmocka_unit_test(every_broken_rule_of_tensors_has_its_sentence),
        cmocka_unit_test(tensors_must_fill_the_file_exactly),
        cmocka_unit_test(tensors_may_be_named_in_any_order),
        cmocka_unit_test(names_with_escapes_are_read),
        cmocka_unit_test(a_file_of_no_tensors_is_legal),
        cmocka_unit_test(metadata_must_be_strings),
        cmocka_unit_test(broken_json_and_names_that_come_twice_are_refused),
        cmocka_unit_test(the_length_of_the_header_has_limits),
        cmocka_unit_test(no_beginning_of_a_file_is_accepted),
        in_scratch(a_file_cut_off_is_refused),
        in_scratch(what_cannot_be_opened_is_named),
        cmocka_unit_test(types_have_the_sizes_their_names_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
