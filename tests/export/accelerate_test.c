#include "export/export.h"
#include "support/files/hf_models.h"
#include "support/support.h"

static void the_file_is_one_flat_object(void **state)
{
    (void)state;
    static const struct yk_device_map_entry entries[] = {{"model.embed_tokens", 0},
                                                         {"model.layers.0", 12},
                                                         {"model.norm", YK_DEVICE_MAP_CPU},
                                                         {"lm_head", YK_DEVICE_MAP_DISK}};
    const struct yk_device_map map = {entries, 4};
    struct yk_text text = {0};
    assert_ok(yk_export_accelerate_device_map(&map, &text));
    assert_string_equal(yk_text_chars(&text), "{\n"
                                              "  \"model.embed_tokens\": 0,\n"
                                              "  \"model.layers.0\": 12,\n"
                                              "  \"model.norm\": \"cpu\",\n"
                                              "  \"lm_head\": \"disk\"\n"
                                              "}\n");
    yk_text_free(&text);
}

static void what_is_written_reads_back_as_the_same_map(void **state)
{
    (void)state;
    static const struct yk_device_map_entry entries[] = {
        {"model.embed_tokens", 0}, {"model.layers.0", 0},         {"model.layers.1", 1},
        {"model.layers.2", 1},     {"model.layers.3", 1},         {"model.norm", 1},
        {"model.rotary_emb", 0},   {"lm_head", YK_DEVICE_MAP_CPU}};
    const struct yk_device_map map = {entries, sizeof entries / sizeof entries[0]};
    struct yk_arena *arena = NULL;
    struct yk_text text = {0};
    const struct yk_device_map *read = NULL;
    assert_ok(yk_arena_create(&arena));
    assert_ok(yk_export_accelerate_device_map(&map, &text));
    assert_ok(yk_device_map_parse(text.bytes, text.length, "map.json",
                                  support_hf_modules("llama-tiny", arena), 2, arena, &read));
    assert_int_equal(read->count, map.count);
    for (int32_t i = 0; i < map.count; i++) {
        assert_string_equal(read->entries[i].module, entries[i].module);
        assert_int_equal(read->entries[i].place, entries[i].place);
    }
    yk_text_free(&text);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_one_flat_object),
        cmocka_unit_test(what_is_written_reads_back_as_the_same_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
