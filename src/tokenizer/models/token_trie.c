#include "tokenizer/models/token_trie.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/*
 * The edges of the trie are in a hash table with open addressing. An edge leads from a node by a
 * byte to another node or, if only one token continues with this byte, to the token itself, whose
 * other bytes are then compared. So there are nodes only where tokens differ.
 */
struct edge {
    uint64_t key;   /* node × 256 + byte; NO_KEY: an empty slot */
    int32_t target; /* a node or, as −1 − index, a token */
    int32_t id;     /* of the token that ends at the node; -1: none */
};

#define NO_KEY UINT64_MAX

struct token {
    const char *bytes;
    size_t length;
    int32_t id;
};

struct yk_token_trie {
    struct token *tokens; /* sorted by bytes */
    int32_t count;
    struct edge *edges;
    int32_t edge_count;
    int shift; /* 64 - log2(number of slots) */
    uint64_t mask;
    int32_t node_count;
};

void yk_token_trie_destroy(struct yk_token_trie *trie)
{
    if (trie) {
        free(trie->tokens);
        free(trie->edges);
        free(trie);
    }
}

static int compare(const void *left, const void *right)
{
    const struct token *a = left;
    const struct token *b = right;
    const int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static struct edge *seek(const struct yk_token_trie *trie, uint64_t key)
{
    /* 2⁶⁴ over the golden ratio (Knuth): the upper bits depend on all lower ones. */
    uint64_t at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> trie->shift;
    while (trie->edges[at].key != key && trie->edges[at].key != NO_KEY) {
        at = (at + 1) & trie->mask;
    }
    return &trie->edges[at];
}

static yk_status allocate_edges(struct yk_token_trie *trie, int logarithm)
{
    const size_t slots = (size_t)1 << logarithm;
    trie->edges = malloc(slots * sizeof *trie->edges);
    YK_TRY_ALLOCATED(trie->edges);
    for (size_t i = 0; i < slots; i++) {
        trie->edges[i] = (struct edge){.key = NO_KEY};
    }
    trie->shift = 64 - logarithm;
    trie->mask = slots - 1;
    return YK_OK;
}

/* Doubles the table when it is half full. */
static yk_status add_edge(struct yk_token_trie *trie, struct edge edge)
{
    if (2 * (uint64_t)trie->edge_count > trie->mask) {
        struct edge *old = trie->edges;
        const uint64_t slots = trie->mask + 1;
        YK_TRY(allocate_edges(trie, 64 - trie->shift + 1));
        for (uint64_t i = 0; i < slots; i++) {
            if (old[i].key != NO_KEY) {
                *seek(trie, old[i].key) = old[i];
            }
        }
        free(old);
    }
    *seek(trie, edge.key) = edge;
    trie->edge_count++;
    return YK_OK;
}

/* Some tokens that agree in their first `depth` bytes, which lead to `node`. */
struct range {
    int32_t first;
    int32_t last; /* behind the last one */
    size_t depth;
    int32_t node;
};

/* Adds the edge to the tokens of a range, which are all longer than `depth` and have the same byte
 * there. If there are several, `*child` is what remains to be done. */
static yk_status add_child(struct yk_token_trie *trie, const struct range *range,
                           struct range *child)
{
    const struct token *token = &trie->tokens[range->first];
    struct edge edge = {.key =
                            (uint64_t)range->node << 8 | (unsigned char)token->bytes[range->depth],
                        .target = -1 - range->first,
                        .id = -1};
    *child = (struct range){0};
    if (range->last - range->first > 1) {
        edge.target = ++trie->node_count;
        *child = *range;
        child->depth++;
        child->node = edge.target;
        if (token->length == child->depth) {
            edge.id = token->id;
            child->first++;
        }
    }
    return add_edge(trie, edge);
}

static yk_status add_nodes(struct yk_token_trie *trie)
{
    struct range *stack = NULL;
    int32_t count = 0;
    int32_t capacity = 0;
    yk_status status = yk_array_grow((void **)&stack, &capacity, count, sizeof *stack);
    if (status == YK_OK) {
        stack[count++] = (struct range){.last = trie->count};
    }
    while (status == YK_OK && count > 0) {
        const struct range range = stack[--count];
        for (int32_t i = range.first; i < range.last && status == YK_OK;) {
            struct range part = {.first = i, .depth = range.depth, .node = range.node};
            struct range child = {0};
            const char byte = trie->tokens[i].bytes[range.depth];
            while (i < range.last && trie->tokens[i].bytes[range.depth] == byte) {
                i++;
            }
            part.last = i;
            status = add_child(trie, &part, &child);
            if (status == YK_OK && child.first < child.last) {
                status = yk_array_grow((void **)&stack, &capacity, count, sizeof *stack);
                if (status == YK_OK) {
                    stack[count++] = child;
                }
            }
        }
    }
    free(stack);
    return status;
}

static yk_status fill(const struct yk_token_map *map, struct yk_token_trie *trie)
{
    const int32_t limit = yk_token_map_id_limit(map);
    trie->tokens = malloc(((size_t)yk_token_map_count(map) + 1) * sizeof *trie->tokens);
    YK_TRY_ALLOCATED(trie->tokens);
    for (int32_t id = 0; id < limit; id++) {
        size_t length = 0;
        const char *bytes = yk_token_map_get_token(map, id, &length);
        if (bytes && length > 0) {
            trie->tokens[trie->count++] =
                (struct token){.bytes = bytes, .length = length, .id = id};
        }
    }
    qsort(trie->tokens, (size_t)trie->count, sizeof *trie->tokens, compare);
    YK_TRY(allocate_edges(trie, 10));
    return add_nodes(trie);
}

yk_status yk_token_trie_create(const struct yk_token_map *map, struct yk_token_trie **out)
{
    struct yk_token_trie *trie = calloc(1, sizeof *trie);
    YK_TRY_ALLOCATED(trie);
    YK_TRY_OR_CLEAN_UP(fill(map, trie), yk_token_trie_destroy(trie));
    *out = trie;
    return YK_OK;
}

bool yk_token_trie_find_next(const struct yk_token_trie *trie, struct yk_token_trie_search *search)
{
    while (search->at < search->length && search->node >= 0) {
        const unsigned char byte = (unsigned char)search->text[search->at];
        const struct edge *edge = seek(trie, (uint64_t)search->node << 8 | byte);
        if (edge->key == NO_KEY) {
            break;
        }
        search->at++;
        search->node = edge->target;
        if (edge->target < 0) {
            const struct token *token = &trie->tokens[-1 - edge->target];
            if (token->length > search->length ||
                memcmp(token->bytes + search->at, search->text + search->at,
                       token->length - search->at) != 0) {
                break;
            }
            search->id = token->id;
            search->found = token->length;
            return true;
        }
        if (edge->id >= 0) {
            search->id = edge->id;
            search->found = search->at;
            return true;
        }
    }
    search->node = -1;
    return false;
}
