#include "data/gettext_pairs.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/utf8.h"
#include "data/file_list.h"
#include "data/mo_catalogue.h"
#include "tokenizer/unicode.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct collecting {
    const struct yk_gettext_pairs_request *request;
    struct yk_gettext_pairs *pairs;
    int32_t capacity; /* of pairs->items */
    struct yk_sentence_pair_cleaning_sides sides;
    struct yk_text lowercase; /* lower case of a source */
};

void yk_gettext_pairs_destroy(struct yk_gettext_pairs *pairs)
{
    if (pairs) {
        free(pairs->items);
        yk_arena_destroy(pairs->arena);
    }
}

/* A hash of the letters and digits of a sentence, in lower case: "Open file…" and "Open File" have
 * the same. */
static uint64_t key_of(const struct yk_text *source, struct yk_text *lowercase)
{
    size_t kept = 0;
    lowercase->length = 0;
    yk_unicode_lowercase_text(yk_text_chars(source), source->length, lowercase);
    for (size_t at = 0; at < lowercase->length;) {
        uint32_t c = 0;
        const size_t used = yk_utf8_decode(lowercase->bytes + at, lowercase->length - at, &c);
        const bool letter = c < 0x80 ? isalnum((int)c) != 0
                                     : !yk_unicode_is_space(c) &&
                                           !yk_unicode_is_in_category(c, YK_UNICODE_PUNCTUATION);
        if (letter) {
            memmove(lowercase->bytes + kept, lowercase->bytes + at, used);
            kept += used;
        }
        at += used ? used : 1;
    }
    return yk_hash_bytes(yk_text_chars(lowercase), kept);
}

static yk_status store_pair(struct collecting *collecting)
{
    struct yk_gettext_pairs *pairs = collecting->pairs;
    const struct yk_text *source = &collecting->sides.source_out;
    const struct yk_text *translation = &collecting->sides.translation_out;
    YK_TRY_GROW_ARRAY(pairs->items, collecting->capacity, pairs->count);
    struct yk_gettext_pair pair = {
        .source = yk_arena_copy_text(pairs->arena, yk_text_chars(source), source->length),
        .translation =
            yk_arena_copy_text(pairs->arena, yk_text_chars(translation), translation->length),
        .key = key_of(source, &collecting->lowercase),
    };
    if (!pair.source || !pair.translation || collecting->lowercase.failed) {
        return yk_fail_out_of_memory();
    }
    pairs->items[pairs->count++] = pair;
    return YK_OK;
}

static yk_status add_pair(struct collecting *collecting, struct yk_mo_string source,
                          struct yk_mo_string translation)
{
    enum yk_sentence_pair_reject_reason fault = YK_SENTENCE_PAIR_ACCEPTED;
    struct yk_sentence_pair_cleaning_sides *sides = &collecting->sides;
    sides->source = source.bytes;
    sides->source_length = source.length;
    sides->translation = translation.bytes;
    sides->translation_length = translation.length;
    collecting->pairs->entries++;
    YK_TRY(yk_sentence_pair_clean(sides, collecting->request->longest, &fault));
    if (fault != YK_SENTENCE_PAIR_ACCEPTED) {
        collecting->pairs->rejected[fault]++;
        return YK_OK;
    }
    return store_pair(collecting);
}

static yk_status add_entry(struct collecting *collecting, const struct yk_mo_message *message)
{
    if (!message->plural.bytes) {
        return add_pair(collecting, message->source, yk_mo_catalogue_translation_form(message, 0));
    }
    if (message->form_count > 2) {
        collecting->pairs->entries++;
        collecting->pairs->rejected[YK_SENTENCE_PAIR_UNMATCHED_PLURALS]++;
        return YK_OK;
    }
    if (message->form_count == 2) {
        YK_TRY(add_pair(collecting, message->source, yk_mo_catalogue_translation_form(message, 0)));
    }
    return add_pair(collecting, message->plural,
                    yk_mo_catalogue_translation_form(message, message->form_count - 1));
}

static yk_status add_catalogue(struct collecting *collecting, const struct yk_text *bytes,
                               const char *path)
{
    struct yk_mo_catalogue catalogue = {0};
    yk_status status = yk_mo_catalogue_parse(yk_text_chars(bytes), bytes->length, path, &catalogue);
    YK_IF_OK(yk_mo_catalogue_check_charset(&catalogue, path));
    if (status != YK_OK) {
        yk_log(YK_LOG_NOTE, "left out: %s", yk_status_message());
        collecting->pairs->broken++;
        return YK_OK;
    }
    collecting->pairs->catalogues++;
    for (uint32_t i = 0; i < catalogue.count; i++) {
        const struct yk_mo_message message = yk_mo_catalogue_message_at(&catalogue, i);
        if (message.source.length > 0) {
            YK_TRY(add_entry(collecting, &message));
        }
    }
    return YK_OK;
}

static yk_status add_folder(struct collecting *collecting, const char *folder)
{
    struct yk_file_list list = {0};
    YK_TRY(yk_file_list_read_folder(folder, collecting->pairs->arena, &list));
    for (int32_t i = 0; i < list.count; i++) {
        if (yk_text_ends_with(list.paths[i], ".mo")) {
            struct yk_text bytes = {0};
            yk_status status = yk_file_read_training_data(list.paths[i], &bytes);
            YK_IF_OK(add_catalogue(collecting, &bytes, list.paths[i]));
            yk_text_free(&bytes);
            YK_TRY(status);
        }
    }
    return YK_OK;
}

static yk_status fail_no_catalogues(const struct yk_gettext_pairs_request *request)
{
    struct yk_text folders = {0};
    for (int32_t i = 0; i < request->folder_count; i++) {
        yk_text_addf(&folders, "%s%s", i == 0 ? "" : " or ", request->folders[i]);
    }
    const yk_status status =
        yk_fail(YK_ERROR_INPUT,
                "there are no catalogues of %s in %s (%s/LC_MESSAGES/*.mo); install programs with "
                "their translations, or name another folder by --from",
                request->language, yk_text_chars(&folders), request->language);
    yk_text_free(&folders);
    return status;
}

static yk_status add_folders(struct collecting *collecting)
{
    const struct yk_gettext_pairs_request *request = collecting->request;
    for (int32_t i = 0; i < request->folder_count; i++) {
        struct yk_text path = {0};
        const char *folder = NULL;
        yk_text_addf(&path, "%s/%s/LC_MESSAGES", request->folders[i], request->language);
        YK_TRY(yk_text_move_to_arena(&path, collecting->pairs->arena, &folder));
        if (yk_folder_exists(folder)) {
            YK_TRY(add_folder(collecting, folder));
        }
    }
    return collecting->pairs->catalogues + collecting->pairs->broken > 0
               ? YK_OK
               : fail_no_catalogues(request);
}

static int by_words(const void *left, const void *right)
{
    const struct yk_gettext_pair *a = left;
    const struct yk_gettext_pair *b = right;
    const int order = strcmp(a->source, b->source);
    return order ? order : strcmp(a->translation, b->translation);
}

static int by_key(const void *left, const void *right)
{
    const struct yk_gettext_pair *a = left;
    const struct yk_gettext_pair *b = right;
    return a->key != b->key ? (a->key > b->key ? 1 : -1) : by_words(left, right);
}

static void drop_repeated(struct yk_gettext_pairs *pairs)
{
    int32_t kept = 0;
    qsort(pairs->items, (size_t)pairs->count, sizeof *pairs->items, by_words);
    for (int32_t i = 0; i < pairs->count; i++) {
        if (kept > 0 && by_words(&pairs->items[i], &pairs->items[kept - 1]) == 0) {
            pairs->rejected[YK_SENTENCE_PAIR_DUPLICATE]++;
        } else {
            pairs->items[kept++] = pairs->items[i];
        }
    }
    pairs->count = kept;
}

/* Goes through the sources in the order of their keys, which is none that a person would see, and
 * takes each with all its translations as long as they are not too many. */
static yk_status hold_out(struct yk_gettext_pairs *pairs, int64_t wanted)
{
    if (wanted > 0 && wanted >= pairs->count) {
        return yk_fail(YK_ERROR_INPUT,
                       "%" PRId64 " pairs to hold out of %" PRId32 "; hold out fewer", wanted,
                       pairs->count);
    }
    qsort(pairs->items, (size_t)pairs->count, sizeof *pairs->items, by_key);
    for (int32_t i = 0; i < pairs->count;) {
        int32_t end = i + 1;
        while (end < pairs->count && pairs->items[end].key == pairs->items[i].key) {
            end++;
        }
        if (pairs->held_out + (end - i) <= wanted) {
            pairs->held_out += end - i;
            while (i < end) {
                pairs->items[i++].held_out = true;
            }
        }
        i = end;
    }
    qsort(pairs->items, (size_t)pairs->count, sizeof *pairs->items, by_words);
    return pairs->held_out == wanted
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT,
                         "%" PRId64 " pairs cannot be held out without some of their sentences "
                         "being among the others; hold out %" PRId32,
                         wanted, pairs->held_out);
}

static yk_status finish(struct yk_gettext_pairs *pairs,
                        const struct yk_gettext_pairs_request *request)
{
    if (pairs->count == 0) {
        return yk_fail(YK_ERROR_INPUT,
                       "of %" PRId32 " catalogues of %s, none has a pair of sentences to keep",
                       pairs->catalogues + pairs->broken, request->language);
    }
    drop_repeated(pairs);
    return hold_out(pairs, request->held_out);
}

yk_status yk_gettext_pairs_check_language(const char *language)
{
    if (language[0] == '\0' || language[0] == '.' || strchr(language, '/')) {
        return yk_fail(YK_ERROR_INPUT,
                       "\"%s\" is no language; name it as its folder is called: de, pt_BR",
                       language);
    }
    return YK_OK;
}

yk_status yk_gettext_pairs_collect(const struct yk_gettext_pairs_request *request,
                                   struct yk_gettext_pairs **out)
{
    struct collecting collecting = {.request = request};
    YK_TRY(yk_gettext_pairs_check_language(request->language));
    struct yk_gettext_pairs *pairs = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(pairs);
    collecting.pairs = pairs;
    yk_status status = add_folders(&collecting);
    YK_IF_OK(finish(pairs, request));
    yk_text_free(&collecting.sides.source_out);
    yk_text_free(&collecting.sides.translation_out);
    yk_text_free(&collecting.lowercase);
    YK_TRY_OR_CLEAN_UP(status, yk_gettext_pairs_destroy(pairs));
    *out = pairs;
    return YK_OK;
}
