/*
 * SHA-256: the cryptographic hash (FIPS 180-4), and message authentication codes that use it (HMAC,
 * RFC 2104). The states of both are plain structs. Only one thread at a time may use a state.
 */
#ifndef YK_BASE_SHA256_H
#define YK_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_SHA256_DIGEST_BYTES = 32,
    YK_SHA256_BLOCK_BYTES = 64,
};

struct yk_sha256 {
    uint32_t state[8];
    uint64_t length; /* number of bytes that were added so far */
    unsigned char block[YK_SHA256_BLOCK_BYTES];
};

struct yk_sha256_hmac {
    struct yk_sha256 inner;
    struct yk_sha256 outer;
};

void yk_sha256_begin(struct yk_sha256 *hash);
void yk_sha256_update(struct yk_sha256 *hash, const void *bytes, size_t length);
void yk_sha256_end(struct yk_sha256 *hash, unsigned char out[YK_SHA256_DIGEST_BYTES]);

void yk_sha256_hmac_begin(struct yk_sha256_hmac *hmac, const void *key, size_t length);
void yk_sha256_hmac_update(struct yk_sha256_hmac *hmac, const void *bytes, size_t length);
void yk_sha256_hmac_end(struct yk_sha256_hmac *hmac, unsigned char out[YK_SHA256_DIGEST_BYTES]);

/* Returns whether two digests are equal. The time of the call does not depend on where they differ.
 * This prevents timing attacks. */
bool yk_sha256_equals_constant_time(const unsigned char a[YK_SHA256_DIGEST_BYTES],
                                    const unsigned char b[YK_SHA256_DIGEST_BYTES]);

#endif
