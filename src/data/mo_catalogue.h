/*
 * MO catalogue: a parser for the messages of a program and their translations, as GNU gettext's
 * msgfmt compiles them (GNU gettext manual, "The Format of GNU MO Files"). Supports both byte
 * orders and revisions 0.x and 1.x; messages with system-dependent segments of revision 1.x are
 * skipped. A catalogue is a view of bytes that the caller owns. Any number of threads may read one.
 */
#ifndef YK_DATA_MO_CATALOGUE_H
#define YK_DATA_MO_CATALOGUE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string in the catalogue, followed by a zero. `bytes` is NULL if there is none. */
struct yk_mo_string {
    const char *bytes;
    size_t length;
};

struct yk_mo_message {
    struct yk_mo_string context; /* msgctxt: distinguishes messages with the same source */
    struct yk_mo_string source;  /* msgid; empty in the entry with the catalogue's metadata */
    struct yk_mo_string plural;  /* msgid_plural */
    struct yk_mo_string forms;   /* of the translation, separated by zeros */
    int32_t form_count;          /* at least 1; a message without a plural uses the first form */
};

/* Only the functions of this file use the members. All offsets are valid. */
struct yk_mo_catalogue {
    const unsigned char *bytes;
    size_t length;
    uint32_t sources;      /* offset of the table of messages */
    uint32_t translations; /* offset of the table of translations */
    uint32_t count;        /* of messages */
    bool big;              /* big-endian */
};

/* Fails if `bytes` are not a catalogue, or if a string is out of bounds or not zero-terminated. */
yk_status yk_mo_catalogue_open(const char *bytes, size_t length, const char *source,
                               struct yk_mo_catalogue *out) YK_MUST_USE;

/* Entry `index` of `count`. */
struct yk_mo_message yk_mo_catalogue_at(const struct yk_mo_catalogue *catalogue, uint32_t index);

/* Form `index` of `form_count`. */
struct yk_mo_string yk_mo_catalogue_form(const struct yk_mo_message *message, int32_t index);

/* The charset that the catalogue declares, or {0} if it declares none. Not zero-terminated. */
struct yk_mo_string yk_mo_catalogue_charset(const struct yk_mo_catalogue *catalogue);

/* Fails unless the catalogue declares its charset as UTF-8 or ASCII. Does not check the strings. */
yk_status yk_mo_catalogue_check_utf8(const struct yk_mo_catalogue *catalogue,
                                     const char *source) YK_MUST_USE;

#endif
