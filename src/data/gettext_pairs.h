/*
 * Gettext pairs: pairs of English and translated sentences from the catalogues of messages that
 * programs install (data/mo_catalogue.h), cleaned (data/pair_cleaning.h). The catalogues of a
 * language are FOLDER/LANGUAGE/LC_MESSAGES/….mo.
 *
 * Of messages with plurals, languages of two forms give two pairs and languages of one form give
 * the plural; of more forms, which one belongs to English's is a formula of the language, and they
 * are left out. Pairs are in the order of their sources' bytes, then of their translations', none
 * twice: the same catalogues give the same pairs on every machine. They belong to the caller; any
 * number of threads may read them.
 */
#ifndef YK_DATA_GETTEXT_PAIRS_H
#define YK_DATA_GETTEXT_PAIRS_H

#include "base/arena.h"
#include "base/status.h"
#include "data/pair_cleaning.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_gettext_pairs_request {
    const char *const *folders; /* one that is missing is passed over */
    int32_t folder_count;
    const char *language; /* as folders are called: de, pt_BR, sr@latin */
    int64_t longest;      /* characters of a side */
    int64_t held_out;     /* pairs to keep apart */
};

struct yk_gettext_pair {
    const char *source;
    const char *translation;
    uint64_t key; /* the same for sources of the same letters and digits, whatever their case */
    bool held_out;
};

struct yk_gettext_pairs {
    struct yk_gettext_pair *items;
    int32_t count;
    int32_t held_out;   /* of them */
    int32_t catalogues; /* that were read */
    int32_t broken;     /* catalogues that are none, or not UTF-8 */
    int64_t entries;    /* messages in them, plural forms by themselves */
    int64_t left_out[YK_PAIR_FAULTS];
    struct yk_arena *arena;
};

/* Refuses what can be no folder of a language. */
yk_status yk_gettext_pairs_check_language(const char *language) YK_MUST_USE;

/*
 * Those of all catalogues of the language. Exactly `held_out` of them are marked, chosen by a hash
 * of their source's letters and digits, so that no sentence is both among them and among the
 * others; a set that is too small for that is refused, as is a language without catalogues.
 */
yk_status yk_gettext_pairs_collect(const struct yk_gettext_pairs_request *request,
                                   struct yk_gettext_pairs **out) YK_MUST_USE;
void yk_gettext_pairs_destroy(struct yk_gettext_pairs *pairs);

#endif
