#include "support/support.h"

#include "tokenizer/normalizers/precompiled_map.h"

#include <stdint.h>
#include <string.h>

enum {
    UNITS = 512,
    BASE = 1,         /* the children of the root are at 1 ^ label */
    A = BASE ^ 'a',   /* the node of "a" */
    B = (A ^ 6) ^ 'b' /* the node of "ab" */
};

#define LEAF (UINT32_C(1) << 31)
#define HAS_LEAF (UINT32_C(1) << 8)
#define OFFSET(number) ((uint32_t)(number) << 10)

/* A map of "a" to "x" and of "ab" to nothing. */
struct map {
    unsigned char bytes[4 + 4 * UNITS + 16];
    size_t length;
};

static void set_unit(struct map *map, size_t index, uint32_t unit)
{
    for (int i = 0; i < 4; i++) {
        map->bytes[4 + 4 * index + (size_t)i] = (unsigned char)(unit >> 8 * i);
    }
}

static void make_map(struct map *out)
{
    static const char replacements[] = "x\0"; /* and the zero at the end */
    *out = (struct map){.length = 4 + 4 * UNITS + sizeof replacements};
    out->bytes[0] = 4 * UNITS & 0xff;
    out->bytes[1] = 4 * UNITS >> 8;
    set_unit(out, 0, OFFSET(BASE));
    set_unit(out, A, OFFSET(6) | HAS_LEAF | 'a');
    set_unit(out, A ^ 6, LEAF | 0);
    set_unit(out, B, OFFSET(8) | HAS_LEAF | 'b');
    set_unit(out, B ^ 8, LEAF | 2);
    memcpy(out->bytes + 4 + (size_t)4 * UNITS, replacements, sizeof replacements);
}

static void the_shortest_key_is_found(void **state)
{
    (void)state;
    struct map bytes;
    struct yk_precompiled_map *map = NULL;
    const char *text = NULL;
    size_t length = 7;
    make_map(&bytes);
    assert_ok(yk_precompiled_map_create(bytes.bytes, bytes.length, &map));
    assert_true(yk_precompiled_map_find(map, "abc", 3, &text, &length));
    assert_int_equal(length, 1);
    assert_memory_equal(text, "x", 1);
    assert_false(yk_precompiled_map_find(map, "ba", 2, &text, &length));
    assert_false(yk_precompiled_map_find(map, "", 0, &text, &length));
    assert_false(yk_precompiled_map_find(map, "\xff", 1, &text, &length));
    assert_true(yk_precompiled_map_changes_ascii(map, 'a'));
    assert_false(yk_precompiled_map_changes_ascii(map, 'b'));
    yk_precompiled_map_destroy(map);
}

static void refuse(const struct map *bytes, const char *message)
{
    struct yk_precompiled_map *map = NULL;
    assert_fails(yk_precompiled_map_create(bytes->bytes, bytes->length, &map), YK_ERROR_INPUT,
                 message);
    assert_null(map);
}

static void a_broken_map_is_refused(void **state)
{
    (void)state;
    struct map bytes;
    make_map(&bytes);
    bytes.length = 3;
    refuse(&bytes, "it is cut short: 3 bytes, of which the trie should take 0");
    bytes.length = 100;
    refuse(&bytes, "it is cut short: 100 bytes, of which the trie should take 2048");
    make_map(&bytes);
    bytes.bytes[0] = 1;
    refuse(&bytes, "the trie has 2049 bytes; it must have a multiple of 4, and more than 0");
    make_map(&bytes);
    set_unit(&bytes, B ^ 8, LEAF | 3);
    refuse(&bytes, "unit 12 of the trie points to byte 3 of the replacements, which have 3");
    make_map(&bytes);
    bytes.bytes[bytes.length - 1] = 'y';
    refuse(&bytes, "the last replacement does not end with a zero byte");
    make_map(&bytes);
    bytes.bytes[bytes.length - 2] = 0xff;
    refuse(&bytes, "byte 1 of the replacements is not UTF-8");
    make_map(&bytes);
    memcpy(bytes.bytes + 4 + (size_t)4 * UNITS, "\xc3\xa9", 2); /* é */
    set_unit(&bytes, A ^ 6, LEAF | 1);
    refuse(&bytes, "unit 102 of the trie points into a character of the replacements");
}

/* A trie may lead outside of itself, or have no leaf where it says so. */
static void a_trie_that_leads_nowhere_has_no_keys(void **state)
{
    (void)state;
    struct map bytes;
    struct yk_precompiled_map *map = NULL;
    const char *text = NULL;
    size_t length = 0;
    make_map(&bytes);
    set_unit(&bytes, 0, OFFSET(100000));
    assert_ok(yk_precompiled_map_create(bytes.bytes, bytes.length, &map));
    assert_false(yk_precompiled_map_find(map, "a", 1, &text, &length));
    yk_precompiled_map_destroy(map);
    make_map(&bytes);
    set_unit(&bytes, A ^ 6, 0);
    assert_ok(yk_precompiled_map_create(bytes.bytes, bytes.length, &map));
    assert_false(yk_precompiled_map_find(map, "a", 1, &text, &length));
    yk_precompiled_map_destroy(map);
}

static void base64_is_decoded(void **state)
{
    (void)state;
    struct yk_precompiled_map *map = NULL;
    const char *text = NULL;
    size_t length = 0;
    /* base64.b64encode(bytes([8, 0, 0, 0] + [0] * 8) + b"x\0") */
    assert_ok(yk_precompiled_map_create_from_base64("CAAAAAAAAAAAAAAAeAA=", &map));
    assert_false(yk_precompiled_map_find(map, "a", 1, &text, &length));
    yk_precompiled_map_destroy(map);
    map = NULL;
    assert_fails(yk_precompiled_map_create_from_base64("CAA", &map), YK_ERROR_INPUT,
                 "it is not Base64: 3 characters, not a multiple of 4");
    assert_fails(yk_precompiled_map_create_from_base64("CA-A", &map), YK_ERROR_INPUT,
                 "it is not Base64: character 3 is none of its digits");
    assert_fails(yk_precompiled_map_create_from_base64("", &map), YK_ERROR_INPUT,
                 "it is cut short: 0 bytes, of which the trie should take 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_key_is_found),
        cmocka_unit_test(a_broken_map_is_refused),
        cmocka_unit_test(a_trie_that_leads_nowhere_has_no_keys),
        cmocka_unit_test(base64_is_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
