#include "base/sha256.h"

#include <string.h>

enum {
    ROUNDS = 64,
    LENGTH_AT = YK_SHA256_BLOCK_BYTES - 8, /* offset of the length in the last block */
};

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static void spread(const unsigned char *block, uint32_t words[ROUNDS])
{
    for (int i = 0; i < 16; i++, block += 4) {
        words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
                   block[3];
    }
    for (int i = 16; i < ROUNDS; i++) {
        const uint32_t near = words[i - 2];
        const uint32_t far = words[i - 15];
        words[i] = words[i - 16] + (turn(far, 7) ^ turn(far, 18) ^ far >> 3) + words[i - 7] +
                   (turn(near, 17) ^ turn(near, 19) ^ near >> 10);
    }
}

/* FIPS 180-4, 6.2.2, with the variable names of the standard. */
static void hash_block(struct yk_sha256 *hash)
{
    uint32_t words[ROUNDS];
    uint32_t s[8];
    spread(hash->block, words);
    memcpy(s, hash->state, sizeof s);
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t a = s[0];
        const uint32_t e = s[4];
        const uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                            ((e & s[5]) ^ (~e & s[6])) + constants[i] + words[i];
        const uint32_t t2 =
            (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(&s[1], &s[0], 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
        hash->state[i] += s[i];
    }
}

void yk_sha256_begin(struct yk_sha256 *hash)
{
    *hash = (struct yk_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                         0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void yk_sha256_update(struct yk_sha256 *hash, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    while (length > 0) {
        const size_t used = hash->length % YK_SHA256_BLOCK_BYTES;
        const size_t room = YK_SHA256_BLOCK_BYTES - used;
        const size_t count = length < room ? length : room;
        memcpy(hash->block + used, from, count);
        from += count;
        length -= count;
        hash->length += count;
        if (count == room) {
            hash_block(hash);
        }
    }
}

void yk_sha256_end(struct yk_sha256 *hash, unsigned char out[YK_SHA256_DIGEST_BYTES])
{
    static const unsigned char one = 0x80;
    static const unsigned char zero = 0;
    const uint64_t bits = 8 * hash->length;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) {
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    yk_sha256_update(hash, &one, 1);
    while (hash->length % YK_SHA256_BLOCK_BYTES != LENGTH_AT) {
        yk_sha256_update(hash, &zero, 1);
    }
    yk_sha256_update(hash, length, sizeof length);
    for (int i = 0; i < YK_SHA256_DIGEST_BYTES; i++) {
        out[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void yk_sha256_hmac_begin(struct yk_sha256_hmac *hmac, const void *key, size_t length)
{
    unsigned char block[YK_SHA256_BLOCK_BYTES] = {0};
    if (length > sizeof block) {
        struct yk_sha256 hash;
        yk_sha256_begin(&hash);
        yk_sha256_update(&hash, key, length);
        yk_sha256_end(&hash, block);
    } else {
        memcpy(block, key, length);
    }
    for (size_t i = 0; i < sizeof block; i++) {
        block[i] ^= 0x36;
    }
    yk_sha256_begin(&hmac->inner);
    yk_sha256_update(&hmac->inner, block, sizeof block);
    for (size_t i = 0; i < sizeof block; i++) {
        block[i] ^= 0x36 ^ 0x5c;
    }
    yk_sha256_begin(&hmac->outer);
    yk_sha256_update(&hmac->outer, block, sizeof block);
}

void yk_sha256_hmac_update(struct yk_sha256_hmac *hmac, const void *bytes, size_t length)
{
    yk_sha256_update(&hmac->inner, bytes, length);
}

void yk_sha256_hmac_end(struct yk_sha256_hmac *hmac, unsigned char out[YK_SHA256_DIGEST_BYTES])
{
    unsigned char inner[YK_SHA256_DIGEST_BYTES];
    yk_sha256_end(&hmac->inner, inner);
    yk_sha256_update(&hmac->outer, inner, sizeof inner);
    yk_sha256_end(&hmac->outer, out);
}

bool yk_sha256_equals_constant_time(const unsigned char a[YK_SHA256_DIGEST_BYTES],
                                    const unsigned char b[YK_SHA256_DIGEST_BYTES])
{
    unsigned char differs = 0;
    for (int i = 0; i < YK_SHA256_DIGEST_BYTES; i++) {
        differs = (unsigned char)(differs | (a[i] ^ b[i]));
    }
    return differs == 0;
}
