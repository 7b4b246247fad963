#include "tokenizer/models/bpe_trainer.h"

#include "base/array.h"

#include <stdlib.h>

enum {
    FIRST_SLOTS = 1 << 12 /* a power of two */
};

/* Pairs are stored as one number, which sorts like the pair. */
static const uint64_t no_pair = UINT64_MAX;

struct words {
    int32_t *items;
    int32_t count;
    int32_t capacity;
};

struct slot {
    uint64_t pair;
    int64_t times;
    struct words noted; /* words that were recorded since the last flush */
};

struct entry {
    uint64_t pair;
    int64_t times;
    struct words words;
};

struct yk_bpe_pair_queue {
    struct slot *slots; /* at most half of them are used */
    uint64_t slot_count;
    uint64_t used;

    uint64_t *noted; /* pairs with recorded words */
    int32_t noted_count;
    int32_t noted_capacity;

    struct entry *heap;
    int32_t heap_count;
    int32_t heap_capacity;
};

static struct slot *create_slots(uint64_t count)
{
    struct slot *slots = calloc(count, sizeof *slots);
    for (uint64_t i = 0; slots && i < count; i++) {
        slots[i].pair = no_pair;
    }
    return slots;
}

yk_status yk_bpe_pair_queue_create(struct yk_bpe_pair_queue **out)
{
    struct yk_bpe_pair_queue *queue = calloc(1, sizeof *queue);
    YK_TRY_ALLOCATED(queue);
    queue->slots = create_slots(FIRST_SLOTS);
    if (!queue->slots) {
        free(queue);
        return yk_fail_out_of_memory();
    }
    queue->slot_count = FIRST_SLOTS;
    *out = queue;
    return YK_OK;
}

void yk_bpe_pair_queue_destroy(struct yk_bpe_pair_queue *queue)
{
    if (!queue) {
        return;
    }
    for (uint64_t i = 0; i < queue->slot_count; i++) {
        free(queue->slots[i].noted.items);
    }
    for (int32_t i = 0; i < queue->heap_count; i++) {
        free(queue->heap[i].words.items);
    }
    free(queue->slots);
    free(queue->noted);
    free(queue->heap);
    free(queue);
}

/* The slot of a pair, or the empty one where it belongs (Fibonacci hashing, Knuth 6.4). */
static struct slot *find(struct slot *slots, uint64_t count, uint64_t pair)
{
    const uint64_t mixed = (pair ^ pair >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t i = (mixed >> 32) & (count - 1);; i = (i + 1) & (count - 1)) {
        if (slots[i].pair == pair || slots[i].pair == no_pair) {
            return &slots[i];
        }
    }
}

static yk_status double_slots(struct yk_bpe_pair_queue *queue)
{
    const uint64_t count = queue->slot_count * 2;
    struct slot *slots = create_slots(count);
    YK_TRY_ALLOCATED(slots);
    for (uint64_t i = 0; i < queue->slot_count; i++) {
        if (queue->slots[i].pair != no_pair) {
            *find(slots, count, queue->slots[i].pair) = queue->slots[i];
        }
    }
    free(queue->slots);
    queue->slots = slots;
    queue->slot_count = count;
    return YK_OK;
}

static yk_status note(struct yk_bpe_pair_queue *queue, struct slot *slot, int32_t word)
{
    struct words *noted = &slot->noted;
    if (noted->count > 0 && noted->items[noted->count - 1] == word) {
        return YK_OK;
    }
    YK_TRY_GROW_ARRAY(noted->items, noted->capacity, noted->count);
    if (noted->count == 0) {
        YK_TRY_GROW_ARRAY(queue->noted, queue->noted_capacity, queue->noted_count);
        queue->noted[queue->noted_count++] = slot->pair;
    }
    noted->items[noted->count++] = word;
    return YK_OK;
}

yk_status yk_bpe_pair_queue_add_count(struct yk_bpe_pair_queue *queue, struct yk_token_pair pair,
                                      int64_t times, int32_t word)
{
    const uint64_t number = (uint64_t)(uint32_t)pair.left << 32 | (uint32_t)pair.right;
    struct slot *slot = find(queue->slots, queue->slot_count, number);
    if (slot->pair == no_pair) {
        if (queue->used >= queue->slot_count / 2) {
            YK_TRY(double_slots(queue));
            slot = find(queue->slots, queue->slot_count, number);
        }
        slot->pair = number;
        queue->used++;
    }
    slot->times += times;
    return times > 0 ? note(queue, slot, word) : YK_OK;
}

static bool is_before(const struct entry *a, const struct entry *b)
{
    return a->times != b->times ? a->times > b->times : a->pair < b->pair;
}

/* Inserts `entry` at index `at` of the heap or above. */
static void rise(struct entry *heap, int32_t at, struct entry entry)
{
    while (at > 0 && is_before(&entry, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
}

/* Inserts `entry` at the top of the heap or below. */
static void sink(struct entry *heap, int32_t count, struct entry entry)
{
    int32_t at = 0;
    /* Only the first half of a heap has children: the index of the left child does not overflow. */
    while (at < count / 2) {
        int32_t child = 2 * at + 1;
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!is_before(&heap[child], &entry)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

yk_status yk_bpe_pair_queue_flush(struct yk_bpe_pair_queue *queue)
{
    for (; queue->noted_count > 0; queue->noted_count--) {
        struct slot *slot =
            find(queue->slots, queue->slot_count, queue->noted[queue->noted_count - 1]);
        if (slot->times > 0) {
            YK_TRY_GROW_ARRAY(queue->heap, queue->heap_capacity, queue->heap_count);
            rise(queue->heap, queue->heap_count++,
                 (struct entry){.pair = slot->pair, .times = slot->times, .words = slot->noted});
        } else {
            free(slot->noted.items);
        }
        slot->noted = (struct words){0};
    }
    return YK_OK;
}

bool yk_bpe_pair_queue_pop(struct yk_bpe_pair_queue *queue, struct yk_bpe_pair_queue_top *out)
{
    while (queue->heap_count > 0) {
        struct entry top = queue->heap[0];
        const struct slot *slot = find(queue->slots, queue->slot_count, top.pair);
        if (slot->times != top.times) {
            top.times = slot->times;
            sink(queue->heap, queue->heap_count, top);
            continue;
        }
        queue->heap_count--;
        if (queue->heap_count > 0) {
            sink(queue->heap, queue->heap_count, queue->heap[queue->heap_count]);
        }
        *out = (struct yk_bpe_pair_queue_top){
            .pair = {.left = (int32_t)(top.pair >> 32), .right = (int32_t)(top.pair & UINT32_MAX)},
            .times = top.times,
            .words = top.words.items,
            .word_count = top.words.count,
        };
        return true;
    }
    return false;
}
