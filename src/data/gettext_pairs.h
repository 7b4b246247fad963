/*
 * Gettext pairs: pairs of English and translated sentences from the message catalogues that
 * programs install (data/mo_catalogue.h). The pairs are cleaned (data/sentence_pair_cleaning.h).
 * The catalogues of a language are FOLDER/LANGUAGE/LC_MESSAGES/….mo.
 *
 * A message with plural forms yields two pairs if its translation has two forms, and only the pair
 * of the plural if its translation has one form. A message whose translation has more forms is
 * skipped, because each language has its own formula that maps numbers to forms. Pairs are sorted
 * by the bytes of the source, then by the bytes of the translation. Duplicates are removed.
 * Therefore the same catalogues yield the same pairs on every machine. The caller owns the pairs.
 * Any number of threads may read them.
 */
#ifndef YK_DATA_GETTEXT_PAIRS_H
#define YK_DATA_GETTEXT_PAIRS_H

#include "base/arena.h"
#include "base/status.h"
#include "data/sentence_pair_cleaning.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_gettext_pairs_request {
    const char *const *folders; /* (folder_count) folders that do not exist are skipped */
    int32_t folder_count;
    const char *language; /* name of the language's folder, such as de, pt_BR, sr@latin */
    int64_t longest;      /* maximum number of characters of a source or a translation */
    int64_t held_out;     /* number of pairs to mark for testing */
};

struct yk_gettext_pair {
    const char *source;
    const char *translation;
    uint64_t key; /* hash of the letters and digits of the source in lower case */
    bool held_out;
};

struct yk_gettext_pairs {
    struct yk_gettext_pair *items;
    int32_t count;
    int32_t held_out;   /* number of pairs with held_out set */
    int32_t catalogues; /* number of files that were read */
    int32_t broken;     /* number of files that are not catalogues or not in UTF-8 */
    int64_t entries;    /* candidate pairs of all catalogues, before cleaning */
    int64_t
        rejected[YK_SENTENCE_PAIR_REJECT_REASON_COUNT]; /* number of rejected pairs, by reason */
    struct yk_arena *arena;                             /* owns the strings */
};

/* Fails if `language` cannot be the name of a folder. */
yk_status yk_gettext_pairs_check_language(const char *language) YK_MUST_USE;

/*
 * Collects the pairs of all catalogues of the language. Marks exactly `held_out` pairs as held out.
 * Pairs with the same key are marked together, so that no sentence is both held out and used for
 * training. Fails if this is not possible, if there are no catalogues of the language, or if no
 * pair is left after cleaning.
 */
yk_status yk_gettext_pairs_collect(const struct yk_gettext_pairs_request *request,
                                   struct yk_gettext_pairs **out) YK_MUST_USE;
void yk_gettext_pairs_destroy(struct yk_gettext_pairs *pairs);

#endif
