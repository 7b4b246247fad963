#include "planner/placement/placement.h"
#include "support/files/hf_models.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_DEVICES = 4
};

/* What Accelerate did: see tests/oracle/accelerate_maps.py, which records these. */
struct recorded {
    const char *model;
    const char *type;
    int64_t cpu_bytes;
    int64_t memory_bytes[MOST_DEVICES]; /* -1 past the last device */
    const char *map;
};

#define CASE(model_, type_, cpu, a, b, c, d, map_)                                                 \
    {.model = (model_),                                                                            \
     .type = (type_),                                                                              \
     .cpu_bytes = (cpu),                                                                           \
     .memory_bytes = {(a), (b), (c), (d)},                                                         \
     .map = (map_)},

static const struct recorded cases[] = {
#include "planner/auto_cases.inc"
};

/* A name as far as its number, and that number; -1 where it does not end in one. */
struct numbered {
    size_t prefix;
    long number;
};

static struct numbered split_number(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot || dot[1] < '0' || dot[1] > '9') {
        return (struct numbered){strlen(name), -1};
    }
    return (struct numbered){(size_t)(dot + 1 - name), strtol(dot + 1, NULL, 10)};
}

static bool continues(const struct yk_device_map_entry *before,
                      const struct yk_device_map_entry *next)
{
    const struct numbered a = split_number(before->module);
    const struct numbered b = split_number(next->module);
    return a.number >= 0 && b.number == a.number + 1 && a.prefix == b.prefix &&
           strncmp(before->module, next->module, a.prefix) == 0 && before->place == next->place;
}

/* The map as the oracle writes it: "model.layers.0-17=0 lm_head=cpu". */
static void write_map(const struct yk_device_map *map, struct yk_text *out)
{
    int32_t last = 0;
    for (int32_t i = 0; i < map->count; i = last + 1) {
        const struct yk_device_map_entry *entry = &map->entries[i];
        last = i;
        while (last + 1 < map->count && continues(&map->entries[last], &map->entries[last + 1])) {
            last++;
        }
        yk_text_addf(out, "%s%s", i > 0 ? " " : "", entry->module);
        if (last > i) {
            yk_text_addf(out, "-%ld", split_number(map->entries[last].module).number);
        }
        if (entry->place >= 0) {
            yk_text_addf(out, "=%d", (int)entry->place);
        } else {
            yk_text_add(out, entry->place == YK_DEVICE_MAP_CPU ? "=cpu" : "=disk");
        }
    }
    assert_ok(yk_text_status(out));
}

static const int32_t places[MOST_DEVICES] = {0, 1, 2, 3};

static bool replay(const struct recorded *recorded)
{
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    struct yk_accelerate_auto_request request = {
        .modules = support_hf_modules(recorded->model, arena),
        .precision = strcmp(recorded->type, "fp32") == 0 ? YK_PRECISION_FP32 : YK_PRECISION_BF16,
        .nf4 = strcmp(recorded->type, "nf4") == 0,
        .memory_bytes = recorded->memory_bytes,
        .places = places,
        .cpu_bytes = recorded->cpu_bytes,
    };
    while (request.device_count < MOST_DEVICES && request.memory_bytes[request.device_count] >= 0) {
        request.device_count++;
    }
    const struct yk_device_map *map = NULL;
    struct yk_text text = {0};
    assert_ok(yk_accelerate_auto_create_device_map(&request, arena, &map));
    write_map(map, &text);
    const bool same = strcmp(yk_text_chars(&text), recorded->map) == 0;
    if (!same) {
        print_error("%s %s on %d devices:\n  %s\nbut Accelerate gives\n  %s\n", recorded->model,
                    recorded->type, (int)request.device_count, yk_text_chars(&text), recorded->map);
    }
    yk_text_free(&text);
    yk_arena_destroy(arena);
    return same;
}

static void every_recorded_map_is_given_again(void **state)
{
    (void)state;
    const int count = (int)(sizeof cases / sizeof cases[0]);
    int same = 0;
    for (int i = 0; i < count; i++) {
        same += replay(&cases[i]);
    }
    print_message("%d of %d maps are those of Accelerate\n", same, count);
    assert_int_equal(same, count);
}

static void every_map_covers_the_model_and_keeps_ties_together(void **state)
{
    (void)state;
    static const char *const models[] = {"gpt2",      "llama-tiny",    "llama-tiny-tied",
                                         "bert-base", "bert-base-mlm", "marian-base"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct yk_arena *arena = NULL;
        assert_ok(yk_arena_create(&arena));
        const struct yk_module_tree *modules = support_hf_modules(models[m], arena);
        for (int64_t bytes = 1000; bytes < 1000000000; bytes = bytes * 17 / 16) {
            const int64_t memory_bytes[] = {bytes, bytes / 2, bytes * 2};
            const struct yk_accelerate_auto_request request = {.modules = modules,
                                                               .precision = YK_PRECISION_FP32,
                                                               .memory_bytes = memory_bytes,
                                                               .places = places,
                                                               .device_count = 3,
                                                               .cpu_bytes =
                                                                   YK_ACCELERATE_AUTO_NO_CPU};
            const struct yk_device_map *map = NULL;
            assert_ok(yk_accelerate_auto_create_device_map(&request, arena, &map));
            assert_ok(yk_device_map_check(map, modules, 3));
        }
        yk_arena_destroy(arena);
    }
}

static void memory_past_all_counting_holds_everything(void **state)
{
    (void)state;
    struct yk_arena *arena = NULL;
    assert_ok(yk_arena_create(&arena));
    const int64_t memory_bytes[] = {INT64_MAX};
    const struct yk_accelerate_auto_request request = {.modules =
                                                           support_hf_modules("llama3-70b", arena),
                                                       .precision = YK_PRECISION_FP32,
                                                       .memory_bytes = memory_bytes,
                                                       .places = places,
                                                       .device_count = 1,
                                                       .cpu_bytes = INT64_MAX};
    const struct yk_device_map *map = NULL;
    assert_ok(yk_accelerate_auto_create_device_map(&request, arena, &map));
    assert_int_equal(map->count, 1);
    assert_string_equal(map->entries[0].module, "");
    assert_int_equal(map->entries[0].place, 0);
    yk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_map_is_given_again),
        cmocka_unit_test(every_map_covers_the_model_and_keeps_ties_together),
        cmocka_unit_test(memory_past_all_counting_holds_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
