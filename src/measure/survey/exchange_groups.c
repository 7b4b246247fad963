#include "measure/survey/exchange_groups.h"

#include "base/array.h"
#include "cost/communication.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW_RANKS = 8,
    USUAL_PART_BYTES = 1 << 20, /* for which the slowest link is sought */
};

struct listing {
    const struct yk_cluster *cluster;
    struct yk_arena *arena;
    int32_t *order; /* (devices) as rings go: node by node */
    int32_t *ranks; /* (devices) of the party at hand */
    struct yk_exchange_group *parties;
    int32_t count;
    int32_t capacity;
};

/* Devices of one node together, otherwise as they come. */
static yk_status find_order(struct listing *listing)
{
    const struct yk_device *devices = listing->cluster->devices;
    const int32_t count = listing->cluster->device_count;
    YK_TRY_NEW(listing->arena, listing->order, count);
    YK_TRY_NEW(listing->arena, listing->ranks, count);
    for (int32_t i = 0; i < count; i++) {
        int32_t place = i;
        while (place > 0 && devices[listing->order[place - 1]].node > devices[i].node) {
            listing->order[place] = listing->order[place - 1];
            place--;
        }
        listing->order[place] = i;
    }
    return YK_OK;
}

static bool is_known(const struct listing *listing, const struct yk_exchange_group *party)
{
    for (int32_t i = 0; i < listing->count; i++) {
        if (listing->parties[i].count == party->count &&
            strcmp(listing->parties[i].link, party->link) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_uneven(const struct yk_device *a, const struct yk_device *b)
{
    return a->part != b->part || a->cores != b->cores || !a->type || !b->type ||
           strcmp(a->type, b->type) != 0;
}

/* By the link that costs would look up: the slowest of the ring. */
static bool name_party(const struct listing *listing, struct yk_exchange_group *party)
{
    const struct yk_cluster *cluster = listing->cluster;
    const struct yk_ring_devices members = {party->ranks, party->count};
    double slowest_s = 0;
    const int32_t slowest =
        yk_communication_slowest_rank(cluster, &members, USUAL_PART_BYTES, &slowest_s);
    return yk_profile_key_link(cluster, NULL, party->ranks[slowest],
                               party->ranks[(slowest + 1) % party->count], party->link);
}

/* Every `stride`-th device from `first` on, unless such a party is there. */
static yk_status add(struct listing *listing, int32_t first, int32_t stride, int32_t count)
{
    struct yk_exchange_group party = {.ranks = listing->ranks, .count = count};
    for (int32_t i = 0; i < count; i++) {
        party.ranks[i] = listing->order[first + i * stride];
    }
    const struct yk_device *devices = listing->cluster->devices;
    party.uneven = count == 2 && is_uneven(&devices[party.ranks[0]], &devices[party.ranks[1]]);
    if (!name_party(listing, &party) || is_known(listing, &party)) {
        return YK_OK;
    }
    YK_TRY_NEW(listing->arena, party.ranks, count);
    memcpy(party.ranks, listing->ranks, (size_t)count * sizeof *party.ranks);
    YK_TRY(yk_array_grow((void **)&listing->parties, &listing->capacity, listing->count,
                         sizeof party));
    listing->parties[listing->count++] = party;
    return YK_OK;
}

/* Neighbours, and ranks that are far apart: what is data parallel where pipelines stay in a node.
 */
static yk_status add_of_size(struct listing *listing, int32_t count)
{
    const int32_t all = listing->cluster->device_count;
    for (int32_t stride = 1; stride * (count - 1) < all; stride++) {
        for (int32_t first = 0; first + stride * (count - 1) < all; first++) {
            YK_TRY(add(listing, first, stride, count));
        }
    }
    return YK_OK;
}

static yk_status add_all(struct listing *listing)
{
    const int32_t all = listing->cluster->device_count;
    YK_TRY(find_order(listing));
    if (all < 2) {
        return YK_OK;
    }
    YK_TRY(add_of_size(listing, 2));
    YK_TRY(add(listing, 0, 1, all));
    for (int32_t count = all > FEW_RANKS ? 4 : 3;
         count<all; count = all> FEW_RANKS ? 2 * count : count + 1) {
        YK_TRY(add_of_size(listing, count));
    }
    return YK_OK;
}

static yk_status hand_over(const struct listing *listing, struct yk_exchange_group **out)
{
    YK_TRY_NEW(listing->arena, *out, listing->count);
    for (int32_t i = 0; i < listing->count; i++) {
        (*out)[i] = listing->parties[i];
    }
    return YK_OK;
}

yk_status yk_exchange_groups_list(const struct yk_cluster *cluster, struct yk_arena *arena,
                                  struct yk_exchange_group **out, int32_t *out_count)
{
    struct listing listing = {.cluster = cluster, .arena = arena};
    yk_status status = add_all(&listing);
    if (status == YK_OK) {
        status = hand_over(&listing, out);
        *out_count = status == YK_OK ? listing.count : 0;
    }
    free(listing.parties);
    return status;
}
