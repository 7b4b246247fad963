#include "base/hash.h"

#include <stdlib.h>
#include <xxhash.h>

struct yk_hash {
    XXH3_state_t *state;
};

uint64_t yk_hash_bytes(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

yk_status yk_hash_create(struct yk_hash **out)
{
    struct yk_hash *hash = calloc(1, sizeof *hash);
    if (hash) {
        hash->state = XXH3_createState();
    }
    if (!hash || !hash->state) {
        free(hash);
        return yk_fail_out_of_memory();
    }
    (void)XXH3_64bits_reset(hash->state);
    *out = hash;
    return YK_OK;
}

void yk_hash_destroy(struct yk_hash *hash)
{
    if (hash) {
        (void)XXH3_freeState(hash->state);
        free(hash);
    }
}

void yk_hash_update(struct yk_hash *hash, const void *bytes, size_t length)
{
    (void)XXH3_64bits_update(hash->state, bytes, length);
}

uint64_t yk_hash_digest(const struct yk_hash *hash)
{
    return XXH3_64bits_digest(hash->state);
}
