#include "base/hash.h"

#include <xxhash.h>

/* struct yk_hash is never defined: it is an XXH3_state_t, so that no other file depends on that
 * library. */

uint64_t yk_hash_bytes(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

yk_status yk_hash_create(struct yk_hash **out)
{
    XXH3_state_t *state = XXH3_createState();
    YK_TRY_ALLOCATED(state);
    (void)XXH3_64bits_reset(state);
    *out = (struct yk_hash *)state;
    return YK_OK;
}

void yk_hash_destroy(struct yk_hash *hash)
{
    (void)XXH3_freeState((XXH3_state_t *)hash);
}

void yk_hash_update(struct yk_hash *hash, const void *bytes, size_t length)
{
    (void)XXH3_64bits_update((XXH3_state_t *)hash, bytes, length);
}

uint64_t yk_hash_digest(const struct yk_hash *hash)
{
    return XXH3_64bits_digest((const XXH3_state_t *)hash);
}
