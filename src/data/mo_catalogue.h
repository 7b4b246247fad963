/*
 * MO catalogue: parses a file with the messages of a program and their translations. msgfmt of GNU
 * gettext writes these files (GNU gettext manual, "The Format of GNU MO Files"). Supports both byte
 * orders, and revisions 0.x and 1.x of the format; messages with system-dependent segments, which
 * exist in revision 1.x, are skipped. A catalogue points to bytes that the caller owns. Any number
 * of threads may read the same catalogue.
 */
#ifndef YK_DATA_MO_CATALOGUE_H
#define YK_DATA_MO_CATALOGUE_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string in the catalogue, followed by a zero byte. If `bytes` is NULL, there is no string. */
struct yk_mo_string {
    const char *bytes;
    size_t length;
};

struct yk_mo_message {
    struct yk_mo_string context; /* msgctxt: distinguishes messages with the same source */
    struct yk_mo_string source;  /* msgid; empty in the message with the catalogue's metadata */
    struct yk_mo_string plural;  /* msgid_plural */
    struct yk_mo_string forms;   /* forms of the translation, separated by zero bytes */
    int32_t form_count;          /* at least 1; a message without a plural uses the first form */
};

/* Only the functions of this header may use the members. All offsets were checked. */
struct yk_mo_catalogue {
    const unsigned char *bytes;
    size_t length;
    uint32_t sources;      /* offset of the table of messages */
    uint32_t translations; /* offset of the table of translations */
    uint32_t count;        /* number of messages */
    bool big;              /* the numbers in the file are big-endian */
};

/* Opens a catalogue. Fails if `bytes` are not a catalogue, or if a string is out of bounds or not
 * zero-terminated. `source` is the prefix of error messages. */
yk_status yk_mo_catalogue_parse(const char *bytes, size_t length, const char *source,
                                struct yk_mo_catalogue *out) YK_MUST_USE;

/* Returns message `index`, from 0 to `count` - 1. */
struct yk_mo_message yk_mo_catalogue_message_at(const struct yk_mo_catalogue *catalogue,
                                                uint32_t index);

/* Returns form `index` of the translation, from 0 to `form_count` - 1. */
struct yk_mo_string yk_mo_catalogue_translation_form(const struct yk_mo_message *message,
                                                     int32_t index);

/* Returns the charset that the catalogue declares, or {0} if it declares none. The string is not
 * zero-terminated. */
struct yk_mo_string yk_mo_catalogue_declared_charset(const struct yk_mo_catalogue *catalogue);

/* Fails unless the catalogue declares its charset as UTF-8 or ASCII. Does not check the strings. */
yk_status yk_mo_catalogue_check_charset(const struct yk_mo_catalogue *catalogue,
                                        const char *source) YK_MUST_USE;

#endif
