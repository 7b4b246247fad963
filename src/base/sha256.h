/*
 * SHA-256: a hash that cannot be forged (FIPS 180-4), and a proof that one knows a key, made with
 * it (HMAC, RFC 2104).
 *
 * Both in the making are plain values owned by one thread at a time.
 */
#ifndef YK_BASE_SHA256_H
#define YK_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YK_SHA256_SIZE = 32,
    YK_SHA256_BLOCK = 64,
};

struct yk_sha256 {
    uint32_t state[8];
    uint64_t length; /* in bytes, so far */
    unsigned char block[YK_SHA256_BLOCK];
};

struct yk_sha256_hmac {
    struct yk_sha256 inner;
    struct yk_sha256 outer;
};

void yk_sha256_begin(struct yk_sha256 *hash);
void yk_sha256_add(struct yk_sha256 *hash, const void *bytes, size_t length);
void yk_sha256_end(struct yk_sha256 *hash, unsigned char out[YK_SHA256_SIZE]);

void yk_sha256_hmac_begin(struct yk_sha256_hmac *hmac, const void *key, size_t length);
void yk_sha256_hmac_add(struct yk_sha256_hmac *hmac, const void *bytes, size_t length);
void yk_sha256_hmac_end(struct yk_sha256_hmac *hmac, unsigned char out[YK_SHA256_SIZE]);

/* Takes as long wherever they differ, so that nobody can guess a proof byte by byte. */
bool yk_sha256_is_same(const unsigned char a[YK_SHA256_SIZE],
                       const unsigned char b[YK_SHA256_SIZE]);

#endif
