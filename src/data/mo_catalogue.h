/*
 * MO catalogue: the messages of a program and their translations, as GNU gettext's msgfmt compiles
 * them (GNU gettext manual, "The Format of GNU MO Files"). Both byte orders, revisions 0.x and 1.x;
 * of the latter, messages with system-dependent segments are left out. A catalogue is a view of
 * bytes that the caller keeps; any number of threads may read one.
 */
#ifndef YK_DATA_MO_CATALOGUE_H
#define YK_DATA_MO_CATALOGUE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the catalogue, with a zero behind them; NULL where there is none. */
struct yk_mo_text {
    const char *bytes;
    size_t length;
};

struct yk_mo_entry {
    struct yk_mo_text context; /* distinguishes messages of the same text (msgctxt) */
    struct yk_mo_text source;  /* msgid; empty of the entry that is about the catalogue itself */
    struct yk_mo_text plural;  /* msgid_plural */
    struct yk_mo_text forms;   /* of the translation, with zeros between them */
    int32_t form_count;        /* 1 or more; of a message without a plural the first is all */
};

/* Fields are for this file's functions; all offsets were checked. */
struct yk_mo_catalogue {
    const unsigned char *bytes;
    size_t length;
    uint32_t sources;      /* where the table of messages begins */
    uint32_t translations; /* where that of translations begins */
    uint32_t count;
    bool big; /* the most significant byte comes first */
};

/* Refuses bytes that are no catalogue, or have a string that is not in them or ends with no zero.
 */
yk_status yk_mo_catalogue_open(const char *bytes, size_t length, const char *source,
                               struct yk_mo_catalogue *out) YK_MUST_USE;

/* Entry `index` of `count`. */
struct yk_mo_entry yk_mo_catalogue_at(const struct yk_mo_catalogue *catalogue, uint32_t index);

/* Form `index` of `form_count`. */
struct yk_mo_text yk_mo_catalogue_form(const struct yk_mo_entry *entry, int32_t index);

/* The charset that the catalogue says its text is in; NULL and 0 where it says none. Not followed
 * by a zero. */
struct yk_mo_text yk_mo_catalogue_charset(const struct yk_mo_catalogue *catalogue);

/* Refuses a catalogue that does not say its text is UTF-8 or ASCII. What it holds may still be
 * none. */
yk_status yk_mo_catalogue_check_utf8(const struct yk_mo_catalogue *catalogue,
                                     const char *source) YK_MUST_USE;

#endif
