/*
 * Hash: a 64-bit hash that detects changed bytes (XXH3). It is not cryptographic. Only one thread
 * at a time may use a struct yk_hash.
 */
#ifndef YK_BASE_HASH_H
#define YK_BASE_HASH_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct yk_hash; /* opaque; the state of a hash that is computed in several calls */

uint64_t yk_hash_bytes(const void *bytes, size_t length);

yk_status yk_hash_create(struct yk_hash **out) YK_MUST_USE;
void yk_hash_destroy(struct yk_hash *hash);
void yk_hash_update(struct yk_hash *hash, const void *bytes, size_t length);
uint64_t yk_hash_digest(const struct yk_hash *hash);

#endif
