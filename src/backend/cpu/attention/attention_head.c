#include "backend/cpu/attention/attention_head.h"

#include "backend/cpu/attention/tile.h"
#include "backend/cpu/math/convert.h"
#include "backend/cpu/math/philox.h"
#include "backend/cpu/math/simd.h"

#include <assert.h>
#include <math.h>

enum {
    AHEAD = 8, /* rows that are fetched before they are needed */
    CACHE_LINE = 64,
};

struct yk_cpu_attention_head yk_cpu_attention_head_make(const struct yk_attention_op *op,
                                                        int64_t sample, int64_t head)
{
    assert(op->head_size <= YK_CPU_HEAD_SIZE_MAX);
    const int64_t keys = op->keys;
    const int64_t length = op->lengths ? op->lengths[sample] : keys;
    return (struct yk_cpu_attention_head){
        .op = op,
        .sample = sample,
        .head = head,
        .kv_head = head / (op->heads / op->kv_heads),
        .size = yk_cpu_tile_round_up(op->head_size),
        .head_stride = op->head_stride > 0 ? op->head_stride : op->head_size,
        .length = length < keys ? length : keys,
        .softcap = op->softcap * YK_CPU_LOG2_E,
    };
}

int64_t yk_cpu_attention_head_rows_per_tile(int64_t padded_size)
{
    const int64_t rows =
        YK_CPU_TILE_ELEMENTS_MAX / padded_size / YK_CPU_TILE_SIZE * YK_CPU_TILE_SIZE;
    return rows < YK_CPU_TILE_KEYS_MAX ? rows : YK_CPU_TILE_KEYS_MAX;
}

static int64_t clamp(int64_t number, int64_t most)
{
    return number < 0 ? 0 : number < most ? number : most;
}

/* The visible keys of queries from `t` to `last`, relative to key `first`, if both see some. */
static struct yk_cpu_attention_key_range find_range(const struct yk_cpu_attention_head *head,
                                                    int64_t t, int64_t last, int64_t first,
                                                    int64_t keys)
{
    const struct yk_attention_op *op = head->op;
    const int64_t shift = op->keys - op->queries; /* query t is at the position of key t + shift */
    int64_t begin = 0;
    int64_t end = head->length;
    if (op->causal && last + shift + 1 < end) {
        end = last + shift + 1;
    }
    if (op->window > 0) {
        begin = t + shift - op->window + 1;
        end = last + shift + op->window < end ? last + shift + op->window : end;
    }
    struct yk_cpu_attention_key_range range = {clamp(begin - first, keys),
                                               clamp(end - first, keys)};
    if (range.end < range.begin) {
        range.end = range.begin;
    }
    return range;
}

struct yk_cpu_attention_key_range
yk_cpu_attention_head_visible_keys(const struct yk_cpu_attention_head *head, int64_t t,
                                   int64_t first, int64_t keys)
{
    if (t >= head->op->queries) {
        return (struct yk_cpu_attention_key_range){0, 0};
    }
    return find_range(head, t, t, first, keys);
}

struct yk_cpu_attention_key_range
yk_cpu_attention_head_keys_visible_to_any(const struct yk_cpu_attention_head *head, int64_t t,
                                          int64_t count, int64_t first, int64_t keys)
{
    const int64_t end = t + count < head->op->queries ? t + count : head->op->queries;
    struct yk_cpu_attention_key_range range = find_range(head, t, end - 1, first, keys);
    if (range.begin < range.end) {
        range.begin -= range.begin % YK_CPU_TILE_SIZE;
        range.end = yk_cpu_tile_round_up(range.end);
    } else {
        range.begin = range.end = yk_cpu_tile_round_up(range.end);
    }
    return range;
}

void yk_cpu_attention_head_cap_scores(const struct yk_cpu_attention_head *head, int64_t count,
                                      float *scores)
{
    const float softcap = head->softcap;
    const float inverse = 1.0F / softcap;
    for (int64_t i = 0; i < count; i++) {
        scores[i] = softcap * yk_cpu_tanh(scores[i] * inverse);
    }
}

/* Rows of one head lie too far apart for processors to guess the next one. */
static void fetch_row(enum yk_precision type, const void *from, int64_t place, int64_t width)
{
    const char *start = yk_precision_element_address(type, from, place);
    const char *end = yk_precision_element_address(type, from, place + width);
    for (const char *line = start; line < end; line += CACHE_LINE) {
        __builtin_prefetch(line);
    }
}

void yk_cpu_attention_head_load_rows(const struct yk_cpu_attention_head *head,
                                     const struct yk_cpu_attention_head_rows *rows, int64_t first,
                                     int64_t count, float *out)
{
    const enum yk_precision type = head->op->type;
    const int64_t width = head->op->head_size;
    const int64_t left = rows->length - first;
    const int64_t there = left < count ? (left > 0 ? left : 0) : count;
    for (int64_t r = 0; r < there; r++) {
        const int64_t row = head->sample * rows->length + first + r;
        const int64_t place = row * rows->stride + rows->column;
        float *to = out + r * head->size;
        if (r + AHEAD < left) {
            fetch_row(type, rows->from, place + AHEAD * rows->stride, width);
        }
        const float *from = to;
        if (yk_precision_bytes(type) == (int64_t)sizeof(float)) {
            from = (const float *)rows->from + place;
        } else {
            yk_cpu_convert_array_to_fp32(type, rows->from, place, width, to);
        }
        for (int64_t c = 0; c < width; c++) {
            to[c] = from[c] * rows->scale;
        }
        for (int64_t c = width; c < head->size; c++) {
            to[c] = 0;
        }
    }
    for (int64_t i = there * head->size; i < count * head->size; i++) {
        out[i] = 0;
    }
}

void yk_cpu_attention_head_transpose_row_tiles(const float *rows, int64_t count, int64_t size,
                                               float *out)
{
    for (int64_t r = 0; r < count; r += YK_CPU_TILE_SIZE) {
        for (int64_t c = 0; c < size; c += YK_CPU_TILE_SIZE) {
            yk_cpu_tile_transpose(rows + r * size + c, size, out + r * size + c * YK_CPU_TILE_SIZE,
                                  YK_CPU_TILE_SIZE);
        }
    }
}

const float *yk_cpu_attention_head_dropout_factors(const struct yk_cpu_attention_head *head,
                                                   int64_t t, int64_t first, int64_t count,
                                                   float *buffer)
{
    const struct yk_attention_op *op = head->op;
    const struct yk_dropout_options *dropout = &op->dropout;
    const int64_t place = (head->head * op->queries + t) * op->keys + first;
    const int64_t blocks = (place + count + 3) / 4 - place / 4;
    const uint32_t block = (uint32_t)(place / 4);
    const uint32_t sample = (uint32_t)(dropout->first_sample + head->sample);
    const uint32_t site0 = (uint32_t)dropout->site;
    const uint32_t site1 = (uint32_t)(dropout->site >> 32);
    const uint64_t seed = dropout->seed;
    const double bound = ceil((double)dropout->rate * 0x1p32);
    const uint32_t below = bound < 0x1p32 ? (uint32_t)bound : UINT32_MAX;
    const float kept = dropout->rate < 1.0F ? 1.0F / (1.0F - dropout->rate) : 0.0F;
    for (int64_t i = 0; i < blocks; i++) {
        const uint32_t counter[4] = {block + (uint32_t)i, sample, site0, site1};
        uint32_t words[4];
        yk_cpu_philox_random_words(seed, counter, words);
        for (int w = 0; w < 4; w++) {
            buffer[4 * i + w] = words[w] < below ? 0.0F : kept;
        }
    }
    return buffer + place % 4;
}
