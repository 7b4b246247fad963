#include "support/support.h"

#include "base/hash.h"

#include <string.h>

enum {
    MOST = 3000
};

/* XXH3_64bits with seed 0, as published with the algorithm and its ports. */
static void hashes_are_those_of_xxh3(void **state)
{
    (void)state;
    assert_true(yk_hash_bytes("", 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(yk_hash_bytes("a", 1) == UINT64_C(0xe6c632b61e964e1f));
    assert_true(yk_hash_bytes("abc", 3) == UINT64_C(0x78af5f94892f3950));
}

static void fill(unsigned char bytes[MOST])
{
    for (size_t i = 0; i < MOST; i++) {
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    }
}

static void parts_give_the_hash_of_the_whole(void **state)
{
    (void)state;
    unsigned char bytes[MOST];
    fill(bytes);
    static const size_t parts[] = {1, 3, 64, 255, 256, 257, 1024, 2999};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        struct yk_hash *hash = NULL;
        assert_ok(yk_hash_create(&hash));
        for (size_t at = 0; at < MOST; at += parts[p]) {
            const size_t left = MOST - at;
            yk_hash_update(hash, bytes + at, left < parts[p] ? left : parts[p]);
            yk_hash_update(hash, bytes, 0);
        }
        assert_true(yk_hash_digest(hash) == yk_hash_bytes(bytes, MOST));
        yk_hash_destroy(hash);
    }
}

static void the_result_can_be_asked_for_on_the_way(void **state)
{
    (void)state;
    struct yk_hash *hash = NULL;
    assert_ok(yk_hash_create(&hash));
    assert_true(yk_hash_digest(hash) == yk_hash_bytes("", 0));
    yk_hash_update(hash, "a", 1);
    assert_true(yk_hash_digest(hash) == yk_hash_bytes("a", 1));
    yk_hash_update(hash, "bc", 2);
    assert_true(yk_hash_digest(hash) == yk_hash_bytes("abc", 3));
    yk_hash_destroy(hash);
    yk_hash_destroy(NULL);
}

static void one_flipped_bit_changes_the_hash(void **state)
{
    (void)state;
    unsigned char bytes[MOST];
    fill(bytes);
    const uint64_t whole = yk_hash_bytes(bytes, MOST);
    for (size_t i = 0; i < MOST; i += 17) {
        bytes[i] ^= (unsigned char)(1u << (i % 8));
        assert_true(yk_hash_bytes(bytes, MOST) != whole);
        bytes[i] ^= (unsigned char)(1u << (i % 8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_xxh3),
        cmocka_unit_test(parts_give_the_hash_of_the_whole),
        cmocka_unit_test(the_result_can_be_asked_for_on_the_way),
        cmocka_unit_test(one_flipped_bit_changes_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
