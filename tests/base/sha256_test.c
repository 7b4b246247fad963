#include "support/support.h"

#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

static void write_hex(const unsigned char hash[YK_SHA256_DIGEST_BYTES],
                      char out[2 * YK_SHA256_DIGEST_BYTES + 1])
{
    for (size_t i = 0; i < YK_SHA256_DIGEST_BYTES; i++) {
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
    }
}

static void expect_hash(const void *bytes, size_t length, const char *expected)
{
    /* In one piece and in pieces of every size that crosses a block. */
    for (size_t chunk = 1; chunk <= length + 1; chunk += 1 + length / 7) {
        struct yk_sha256 hash;
        unsigned char out[YK_SHA256_DIGEST_BYTES];
        char hex[2 * YK_SHA256_DIGEST_BYTES + 1];
        yk_sha256_begin(&hash);
        for (size_t at = 0; at < length; at += chunk) {
            const size_t left = length - at;
            yk_sha256_update(&hash, (const char *)bytes + at, left < chunk ? left : chunk);
        }
        yk_sha256_end(&hash, out);
        write_hex(out, hex);
        assert_string_equal(hex, expected);
    }
}

/* NIST's examples for FIPS 180-4. */
static void hashes_are_those_of_the_standard(void **state)
{
    (void)state;
    static char many_a[1000];
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    expect_hash("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_hash("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_hash(two, sizeof two - 1,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    /* Python's hashlib. */
    memset(many_a, 'a', sizeof many_a);
    expect_hash(many_a, sizeof many_a,
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

static void expect_proof(const void *key, size_t key_length, const void *bytes, size_t length,
                         const char *expected)
{
    struct yk_sha256_hmac hmac;
    unsigned char out[YK_SHA256_DIGEST_BYTES];
    char hex[2 * YK_SHA256_DIGEST_BYTES + 1];
    yk_sha256_hmac_begin(&hmac, key, key_length);
    yk_sha256_hmac_update(&hmac, bytes, length);
    yk_sha256_hmac_end(&hmac, out);
    write_hex(out, hex);
    assert_string_equal(hex, expected);
}

/* RFC 4231, test cases 1, 2 and 6: short keys, and one longer than a block. */
static void proofs_are_those_of_the_standard(void **state)
{
    (void)state;
    unsigned char key[131];
    static const char question[] = "what do ya want for nothing?";
    static const char large[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    memset(key, 0x0b, 20);
    expect_proof(key, 20, "Hi There", 8,
                 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    expect_proof("Jefe", 4, question, sizeof question - 1,
                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    expect_proof(key, sizeof key, large, sizeof large - 1,
                 "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void one_bit_makes_another(void **state)
{
    (void)state;
    unsigned char a[YK_SHA256_DIGEST_BYTES] = {7};
    for (int i = 0; i < 8 * YK_SHA256_DIGEST_BYTES; i++) {
        unsigned char b[YK_SHA256_DIGEST_BYTES] = {7};
        assert_true(yk_sha256_equals_constant_time(a, b));
        b[i / 8] ^= (unsigned char)(1U << (i % 8));
        assert_false(yk_sha256_equals_constant_time(a, b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_the_standard),
        cmocka_unit_test(proofs_are_those_of_the_standard),
        cmocka_unit_test(one_bit_makes_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
