#include "model/builtin.h"
#include "plan/device_map.h"
#include "support/files/hf_models.h"
#include "support/support.h"

#include <string.h>

static int create_arena(void **state)
{
    return yk_arena_create((struct yk_arena **)state) == YK_OK ? 0 : -1;
}

static int destroy_arena(void **state)
{
    yk_arena_destroy(*state);
    return 0;
}

static const struct yk_device_map_entry split_entries[] = {
    {"model.embed_tokens", 0},
    {"model.layers.0", 0},
    {"model.layers.1.self_attn", 0},
    {"model.layers.1.mlp", 1},
    {"model.layers.10", YK_DEVICE_MAP_CPU},
    {"model.norm", YK_DEVICE_MAP_DISK},
};
static const struct yk_device_map split = {split_entries,
                                           sizeof split_entries / sizeof split_entries[0]};

static void a_module_is_where_the_longest_name_places_it(void **state)
{
    (void)state;
    static const struct yk_device_map_entry entries[] = {{"", 2}, {"model", 0}, {"model.norm", 1}};
    const struct yk_device_map map = {entries, 3};
    assert_int_equal(yk_device_map_find_place(&map, "model.norm.weight"), 1);
    assert_int_equal(yk_device_map_find_place(&map, "model.normal"), 0);
    assert_int_equal(yk_device_map_find_place(&map, "lm_head"), 2);
    assert_int_equal(yk_device_map_find_place(&split, "model.layers.10.mlp"), YK_DEVICE_MAP_CPU);
    assert_int_equal(yk_device_map_find_place(&split, "model.layers.1"), YK_DEVICE_MAP_UNASSIGNED);
}

static void a_layer_may_be_spread_over_devices(void **state)
{
    (void)state;
    int32_t places[4] = {0};
    assert_int_equal(yk_device_map_list_places(&split, "model.layers.1", 4, places), 2);
    assert_int_equal(places[0], 0);
    assert_int_equal(places[1], 1);
    assert_int_equal(yk_device_map_list_places(&split, "model.layers.0.mlp", 4, places), 1);
    assert_int_equal(places[0], 0);
    assert_int_equal(yk_device_map_list_places(&split, "", 4, places), 4);
    assert_int_equal(yk_device_map_list_places(&split, "", 1, places), 1);
    assert_int_equal(yk_device_map_list_places(&split, "lm_head", 4, places), 0);
}

static yk_status read(void **state, const char *model, const char *text,
                      const struct yk_device_map **out)
{
    return yk_device_map_parse(text, strlen(text), "map.json", support_hf_modules(model, *state), 2,
                               *state, out);
}

static void a_file_is_read_in_the_order_of_the_model(void **state)
{
    const struct yk_device_map *map = NULL;
    assert_ok(read(state, "gpt-nano",
                   "{\"lm_head\": \"disk\", \"transformer.h\": 1, \"transformer.wte\": 0,"
                   " \"transformer.wpe\": 0, \"transformer.ln_f\": \"cpu\"}",
                   &map));
    static const char *const names[] = {"transformer.wte", "transformer.wpe", "transformer.h",
                                        "transformer.ln_f", "lm_head"};
    static const int32_t places[] = {0, 0, 1, YK_DEVICE_MAP_CPU, YK_DEVICE_MAP_DISK};
    assert_int_equal(map->count, 5);
    for (int32_t i = 0; i < map->count; i++) {
        assert_string_equal(map->entries[i].module, names[i]);
        assert_int_equal(map->entries[i].place, places[i]);
    }
}

static void the_whole_model_may_go_to_one_place(void **state)
{
    const struct yk_device_map *map = NULL;
    assert_ok(read(state, "llama-tiny", "{\"\": 1}", &map));
    assert_int_equal(yk_device_map_find_place(map, "model.layers.3.mlp"), 1);
}

static void a_tensor_outside_of_modules_may_be_named(void **state)
{
    const struct yk_device_map *map = NULL;
    assert_ok(read(state, "marian-tiny", "{\"final_logits_bias\": 0, \"model\": 1, \"lm_head\": 1}",
                   &map));
    assert_int_equal(yk_device_map_find_place(map, "final_logits_bias"), 0);
}

#define REST ", \"transformer.wpe\": 0, \"transformer.h\": 0, \"transformer.ln_f\": 0"

static void bad_files_are_refused_in_one_sentence(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"{", "map.json: line 1, column 1: broken JSON: string or '}' expected near end of file"},
        {"[0]", "map.json: a device map is an object of module names and devices, not a list"},
        {"{\"transformer.l_f\": 0}",
         "map.json: unknown key \"transformer.l_f\"; did you mean \"transformer.ln_f\"?"},
        {"{\"\": 2}", "map.json: \"\" goes to device 2, but devices are 0 to 1"},
        {"{\"\": 1e30}", "map.json: \"\" goes to device 2147483647, but devices are 0 to 1"},
        {"{\"lm_head\": -1}",
         "map.json: \"lm_head\" must go to a device, 0 to 1, \"cpu\" or \"disk\""},
        {"{\"lm_head\": 0.5}",
         "map.json: \"lm_head\" must go to a device, 0 to 1, \"cpu\" or \"disk\""},
        {"{\"lm_head\": \"cuda:0\"}",
         "map.json: \"lm_head\" must go to a device, 0 to 1, \"cpu\" or \"disk\""},
        {"{}", "map.json: nothing says where \"transformer.wte\" goes; add it to the map"},
        {"{\"transformer.wte\": 0" REST "}",
         "map.json: nothing says where \"lm_head\" goes; add it to the map"},
        {"{\"lm_head\": \"cpu\", \"transformer.wte\": 1" REST "}",
         "map.json: \"transformer.wte.weight\" and \"lm_head.weight\" are one tensor, but go to "
         "device 1 and \"cpu\"; give both one place"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct yk_device_map *map = NULL;
        assert_fails(read(state, "gpt2", cases[i].text, &map), YK_ERROR_INPUT, cases[i].message);
        assert_null(map);
    }
}

static void a_buffer_needs_a_place_too(void **state)
{
    const struct yk_device_map *map = NULL;
    assert_fails(read(state, "llama-tiny",
                      "{\"model.embed_tokens\": 0, \"model.layers\": 0, \"model.norm\": 0,"
                      " \"lm_head\": 0}",
                      &map),
                 YK_ERROR_INPUT,
                 "map.json: nothing says where \"model.rotary_emb\" goes; add it to the map");
}

/* The first layers on device 0, the others on 1, and a layer with tied weights where they are. */
static void place_in_two(const struct yk_model *model, int32_t *devices)
{
    for (int32_t i = 0; i < model->layer_count; i++) {
        const int32_t shares = model->layers[i].shares_weights_of;
        const int32_t half = i < model->layer_count / 2 ? 0 : 1;
        devices[i] = shares == YK_LAYER_NONE ? half : devices[shares];
    }
}

static void layers_of_every_built_in_model_make_a_map(void **state)
{
    const struct yk_builtin_model *models = NULL;
    size_t count = 0;
    assert_ok(yk_builtin_models_get(&models, &count));
    for (size_t i = 0; i < count; i++) {
        const struct yk_model_config *config = models[i].config;
        const struct yk_model *model = NULL;
        const struct yk_module_tree *modules = NULL;
        const struct yk_device_map *map = NULL;
        int32_t devices[256] = {0};
        const bool images = yk_model_config_reads_images(config);
        const struct yk_workload workload = {.batch = 1,
                                             .sequence = images ? config->positions : 16};
        assert_ok(yk_model_build(config, &workload, *state, &model));
        assert_ok(yk_module_tree_build(config, *state, &modules));
        assert_in_range(model->layer_count, 1, 256);
        place_in_two(model, devices);
        assert_ok(yk_device_map_create_from_layers(model, devices, modules, 2, *state, &map));
        assert_int_equal(map->entries[0].place, 0);
    }
}

static void modules_of_no_layer_go_where_the_inputs_are(void **state)
{
    static const char *const embed[] = {"model.embed_tokens"};
    static const char *const rest[] = {"model.layers", "model.norm", "lm_head"};
    const struct yk_layer layers[] = {
        {.name = "embed", .modules = embed, .module_count = 1},
        {.name = "rest", .modules = rest, .module_count = 3},
    };
    const struct yk_model model = {.layers = layers, .layer_count = 2};
    const int32_t devices[] = {1, 0};
    const struct yk_device_map *map = NULL;
    assert_ok(yk_device_map_create_from_layers(
        &model, devices, support_hf_modules("llama-tiny", *state), 2, *state, &map));
    assert_int_equal(map->count, 5);
    assert_int_equal(yk_device_map_find_place(map, "model.rotary_emb"), 1);
    assert_fails(yk_device_map_create_from_layers(
                     &model, devices, support_hf_modules("gpt2", *state), 2, *state, &map),
                 YK_ERROR_INPUT,
                 "layer \"embed\" is made of \"model.embed_tokens\", which the model does not "
                 "have");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, create_arena, destroy_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_module_is_where_the_longest_name_places_it),
        TEST(a_layer_may_be_spread_over_devices),
        TEST(a_file_is_read_in_the_order_of_the_model),
        TEST(the_whole_model_may_go_to_one_place),
        TEST(a_tensor_outside_of_modules_may_be_named),
        TEST(bad_files_are_refused_in_one_sentence),
        TEST(a_buffer_needs_a_place_too),
        TEST(layers_of_every_built_in_model_make_a_map),
        TEST(modules_of_no_layer_go_where_the_inputs_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
