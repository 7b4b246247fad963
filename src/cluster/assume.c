#include "cluster/assume.h"

#include "base/units.h"
#include "cluster/interconnect.h"

#include <string.h>

/* Of a device that no datasheet knows, and between nodes: what the oldest of common machines has.
 */
#define UNKNOWN_BUS "pcie3"
#define NETWORK "10GbE"

/* What was taken for granted so far: the ends of the range, each with a device that has it. */
struct taken {
    const struct yk_interconnect *slowest;
    const struct yk_interconnect *fastest;
    const struct yk_device *slowest_device;
    const struct yk_device *fastest_device;
    const struct yk_interconnect *network;
};

static const struct yk_interconnect *bus_of(const struct yk_device *device)
{
    return yk_interconnect_find(device->sheet ? device->sheet->bus : UNKNOWN_BUS);
}

static const struct yk_interconnect *peer_of(const struct yk_device *a, const struct yk_device *b)
{
    const bool twins = a->sheet && a->sheet == b->sheet && a->part == 1 && b->part == 1;
    return twins && a->sheet->peer ? yk_interconnect_find(a->sheet->peer) : NULL;
}

static const struct yk_interconnect *take_within(const struct yk_device *a,
                                                 const struct yk_device *b, struct taken *taken)
{
    const struct yk_device *device = a;
    const struct yk_interconnect *link = peer_of(a, b);
    if (!link) {
        const struct yk_interconnect *first = bus_of(a);
        const struct yk_interconnect *second = bus_of(b);
        device = second->bytes_per_s < first->bytes_per_s ? b : a;
        link = second->bytes_per_s < first->bytes_per_s ? second : first;
    }
    if (!taken->slowest || link->bytes_per_s < taken->slowest->bytes_per_s) {
        taken->slowest = link;
        taken->slowest_device = device;
    }
    if (!taken->fastest || link->bytes_per_s > taken->fastest->bytes_per_s) {
        taken->fastest = link;
        taken->fastest_device = device;
    }
    return link;
}

static const struct yk_interconnect *take(const struct yk_device *a, const struct yk_device *b,
                                          struct taken *taken)
{
    if (a->node == b->node) {
        return take_within(a, b, taken);
    }
    taken->network = yk_interconnect_find(NETWORK);
    return taken->network;
}

/* "PCIe 4.0 x16 of rtx3090, 32GB/s". */
static void add_link(struct yk_text *out, const struct yk_interconnect *link,
                     const struct yk_device *device)
{
    char bandwidth[YK_UNITS_SIZE];
    yk_units_format(link->bytes_per_s, YK_UNIT_BYTES_PER_S, bandwidth);
    yk_text_add(out, link->title);
    if (device) {
        yk_text_addf(out, " of %s", device->type ? device->type : device->name);
    }
    yk_text_addf(out, ", %s", bandwidth);
}

static yk_status describe(const struct taken *taken, struct yk_arena *arena, const char **out)
{
    struct yk_text words = {0};
    yk_text_add(&words, "links not given: ");
    if (taken->slowest) {
        add_link(&words, taken->slowest, taken->slowest_device);
    }
    if (taken->fastest != taken->slowest) {
        yk_text_add(&words, ", to ");
        add_link(&words, taken->fastest, taken->fastest_device);
        yk_text_add(&words, "; each pair talks at its slower device's pace");
    }
    if (taken->network) {
        yk_text_add(&words, taken->slowest ? "; between nodes " : "between nodes ");
        add_link(&words, taken->network, NULL);
    }
    const yk_status status = yk_text_status(&words);
    const char *copy = NULL;
    if (status == YK_OK) {
        copy = yk_arena_copy_text(arena, yk_text_chars(&words), words.length);
    }
    yk_text_free(&words);
    if (status == YK_OK && !copy) {
        return yk_fail_out_of_memory();
    }
    *out = copy;
    return status;
}

yk_status yk_cluster_assume_links(const struct yk_device *devices, int32_t count,
                                  struct yk_link *links, struct yk_arena *arena, const char **out)
{
    struct taken taken = {0};
    for (int64_t a = 0; a < count; a++) {
        for (int64_t b = a + 1; b < count; b++) {
            if (links[a * count + b].bytes_per_s > 0) {
                continue;
            }
            const struct yk_interconnect *link = take(&devices[a], &devices[b], &taken);
            const struct yk_link assumed = {link->latency_s, link->bytes_per_s};
            links[a * count + b] = assumed;
            links[b * count + a] = assumed;
        }
    }
    *out = NULL;
    return taken.slowest || taken.network ? describe(&taken, arena, out) : YK_OK;
}
