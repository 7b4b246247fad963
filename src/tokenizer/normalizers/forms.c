#include "tokenizer/normalizers/step.h"

#include "base/array.h"
#include "base/utf8.h"
#include "tokenizer/unicode.h"

#include <stdint.h>
#include <stdlib.h>

/* A character of a decomposed text. */
struct decomposed {
    uint32_t character;
    int32_t change; /* see struct yk_aligned_transform */
    int32_t class;  /* Canonical_Combining_Class; 0 is a starter */
    int32_t index;  /* in the order of the text */
};

struct decomposition {
    struct decomposed *items;
    int32_t count;
    int32_t capacity;
};

static int compare_classes(const void *left, const void *right)
{
    const struct decomposed *a = left;
    const struct decomposed *b = right;
    return a->class != b->class ? (a->class > b->class) - (a->class < b->class)
                                : (a->index > b->index) - (a->index < b->index);
}

/* Sorts the marks behind each starter by class. */
static void reorder(struct decomposition *text)
{
    for (int32_t i = 0; i < text->count;) {
        int32_t end = i;
        while (end < text->count && text->items[end].class != 0) {
            end++;
        }
        if (end - i > 1) {
            qsort(text->items + i, (size_t)(end - i), sizeof *text->items, compare_classes);
        }
        i = end + 1;
    }
}

static yk_status decompose(const struct yk_aligned_segment *from, bool compatible,
                           struct decomposition *out)
{
    for (size_t at = 0; at < from->length;) {
        uint32_t character = 0;
        uint32_t parts[YK_UNICODE_MAX_DECOMPOSED];
        const size_t used = yk_utf8_decode(from->bytes + at, from->length - at, &character);
        if (used == 0) {
            return yk_fail(YK_ERROR_INPUT, "the text is not UTF-8; convert it first");
        }
        const int32_t count = yk_unicode_decompose_character(character, compatible, parts);
        for (int32_t i = 0; i < count; i++) {
            YK_TRY_GROW_ARRAY(out->items, out->capacity, out->count);
            out->items[out->count] =
                (struct decomposed){.character = parts[i],
                                    .change = i > 0,
                                    .class = yk_unicode_combining_class(parts[i]),
                                    .index = out->count};
            out->count++;
        }
        at += used;
    }
    reorder(out);
    return YK_OK;
}

static void add_all(struct yk_aligned_transform *transform, const struct decomposed *items,
                    int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        yk_aligned_text_add_transformed(transform, items[i].character, items[i].change);
    }
}

/*
 * Composes each starter with the marks behind it (Unicode Standard Annex #15). The marks that stay
 * are moved to the front of `text`, up to `kept`, until the starter is complete.
 */
static void compose(struct decomposition *text, struct yk_aligned_transform *transform)
{
    struct decomposed starter = {0};
    bool started = false;
    int32_t kept = 0;
    for (int32_t i = 0; i < text->count; i++) {
        const struct decomposed next = text->items[i];
        const int32_t last_class = kept > 0 ? text->items[kept - 1].class : -1;
        if (!started && next.class != 0) {
            add_all(transform, &next, 1);
            continue;
        }
        const bool blocked = kept > 0 && last_class >= next.class;
        const uint32_t joined =
            started && !blocked ? yk_unicode_compose_pair(starter.character, next.character) : 0;
        if (joined) {
            starter.character = joined;
            starter.change += next.change - 1;
        } else if (next.class == 0) {
            add_all(transform, &starter, started);
            add_all(transform, text->items, kept);
            kept = 0;
            starter = next;
            started = true;
        } else {
            text->items[kept++] = next;
        }
    }
    add_all(transform, &starter, started);
    add_all(transform, text->items, kept);
}

/* As Hugging Face's tokenizers do it, character by character. */
static yk_status apply_exactly(enum yk_unicode_normal_form form,
                               const struct yk_aligned_segment *from, struct yk_aligned_text *to)
{
    struct decomposition text = {0};
    struct yk_aligned_transform transform = {.from = from, .to = to};
    const bool compatible = form == YK_UNICODE_NFKC || form == YK_UNICODE_NFKD;
    YK_TRY_OR_CLEAN_UP(decompose(from, compatible, &text), free(text.items));
    if (form == YK_UNICODE_NFC || form == YK_UNICODE_NFKC) {
        compose(&text, &transform);
    } else {
        add_all(&transform, text.items, text.count);
    }
    free(text.items);
    return yk_aligned_text_status(to);
}

static yk_status apply_form(enum yk_unicode_normal_form form, const struct yk_aligned_segment *from,
                            struct yk_aligned_text *to)
{
    return to->tracked || yk_unicode_has_inert(from->bytes, from->length)
               ? apply_exactly(form, from, to)
               : yk_unicode_normalize(from->bytes, from->length, form, &to->text);
}

/* Defines the function of one form. */
#define DEFINE_APPLY(name, form)                                                                   \
    static yk_status name(const struct yk_normalizer_step *step,                                   \
                          const struct yk_normalizer_context *context,                             \
                          const struct yk_aligned_segment *from, struct yk_aligned_text *to)       \
    {                                                                                              \
        (void)step;                                                                                \
        (void)context;                                                                             \
        return apply_form(form, from, to);                                                         \
    }

DEFINE_APPLY(apply_nfc, YK_UNICODE_NFC)
DEFINE_APPLY(apply_nfd, YK_UNICODE_NFD)
DEFINE_APPLY(apply_nfkc, YK_UNICODE_NFKC)
DEFINE_APPLY(apply_nfkd, YK_UNICODE_NFKD)

const struct yk_normalizer_step_kind yk_normalizer_nfc = {.type = "NFC", .apply = apply_nfc};
const struct yk_normalizer_step_kind yk_normalizer_nfd = {.type = "NFD", .apply = apply_nfd};
const struct yk_normalizer_step_kind yk_normalizer_nfkc = {.type = "NFKC", .apply = apply_nfkc};
const struct yk_normalizer_step_kind yk_normalizer_nfkd = {.type = "NFKD", .apply = apply_nfkd};
