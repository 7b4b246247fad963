#include "support/support.h"

#include "data/mo_catalogue.h"

#include <string.h>

enum {
    COUNT = 3,
    SOURCES = 28,
    TRANSLATIONS = SOURCES + 8 * COUNT,
    STRINGS = TRANSLATIONS + 8 * COUNT,
    ROOM = 512
};

/* A catalogue written by hand, as the manual of GNU gettext draws it. */
struct made {
    char bytes[ROOM];
    size_t length;
    bool big;
};

static void store(struct made *made, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4; i++) {
        made->bytes[at + (made->big ? 3 - i : i)] = (char)(value >> (8 * i) & 0xff);
    }
}

static void store_string(struct made *made, size_t row, const char *bytes, size_t length)
{
    store(made, row, (uint32_t)length);
    store(made, row + 4, (uint32_t)made->length);
    memcpy(made->bytes + made->length, bytes, length);
    made->length += length + 1;
    assert_true(made->length < ROOM);
}

#define STORE(made, row, literal) store_string((made), (row), (literal), sizeof(literal) - 1)

static struct made make(bool big, const char *header)
{
    struct made made = {.length = STRINGS, .big = big};
    store(&made, 0, 0x950412de);
    store(&made, 8, COUNT);
    store(&made, 12, SOURCES);
    store(&made, 16, TRANSLATIONS);
    store(&made, 24, STRINGS); /* where a hash table of 0 entries would be */
    STORE(&made, SOURCES, "");
    STORE(&made, SOURCES + 8, "menu\004%d file\0%d files");
    STORE(&made, SOURCES + 16, "yes");
    store_string(&made, TRANSLATIONS, header, strlen(header));
    STORE(&made, TRANSLATIONS + 8, "%d Datei\0%d Dateien");
    STORE(&made, TRANSLATIONS + 16, "ja");
    return made;
}

static const char utf8_header[] =
    "Language: de\nContent-Type: text/plain; charset=UTF-8\nX: charset=x\n";

static void assert_text(struct yk_mo_string text, const char *expected)
{
    assert_non_null(text.bytes);
    assert_int_equal(text.length, strlen(expected));
    assert_string_equal(text.bytes, expected);
}

static void messages_are_read_in_both_orders_of_bytes(void **state)
{
    (void)state;
    for (int big = 0; big <= 1; big++) {
        const struct made made = make(big, utf8_header);
        struct yk_mo_catalogue catalogue = {0};
        assert_ok(yk_mo_catalogue_parse(made.bytes, made.length, "test.mo", &catalogue));
        assert_int_equal(catalogue.count, COUNT);
        struct yk_mo_message message = yk_mo_catalogue_message_at(&catalogue, 0);
        assert_text(message.source, "");
        assert_text(yk_mo_catalogue_translation_form(&message, 0), utf8_header);
        message = yk_mo_catalogue_message_at(&catalogue, 2);
        assert_text(message.source, "yes");
        assert_null(message.context.bytes);
        assert_null(message.plural.bytes);
        assert_int_equal(message.form_count, 1);
        assert_text(yk_mo_catalogue_translation_form(&message, 0), "ja");
    }
}

static void contexts_and_plurals_are_split_off(void **state)
{
    (void)state;
    const struct made made = make(false, utf8_header);
    struct yk_mo_catalogue catalogue = {0};
    assert_ok(yk_mo_catalogue_parse(made.bytes, made.length, "test.mo", &catalogue));
    const struct yk_mo_message message = yk_mo_catalogue_message_at(&catalogue, 1);
    assert_int_equal(message.context.length, 4);
    assert_memory_equal(message.context.bytes, "menu", 4);
    assert_text(message.source, "%d file");
    assert_text(message.plural, "%d files");
    assert_int_equal(message.form_count, 2);
    assert_text(yk_mo_catalogue_translation_form(&message, 0), "%d Datei");
    assert_text(yk_mo_catalogue_translation_form(&message, 1), "%d Dateien");
}

static void charsets_other_than_utf8_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        const char *message; /* NULL: it is taken */
    } known[] = {
        {"Content-Type: text/plain; charset=UTF-8\n", NULL},
        {"content-type: text/plain; charset=utf-8", NULL},
        {"Content-Type: text/plain; charset=US-ASCII\n", NULL},
        {"Content-Type: text/plain; charset=KOI8-R\n",
         "test.mo: the catalogue is in KOI8-R, and only UTF-8 is read"},
        {"Content-Type: text/plain\nX: charset=UTF-8\n",
         "test.mo: the catalogue does not say that it is UTF-8"},
        {"", "test.mo: the catalogue does not say that it is UTF-8"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct made made = make(false, known[i].header);
        struct yk_mo_catalogue catalogue = {0};
        assert_ok(yk_mo_catalogue_parse(made.bytes, made.length, "test.mo", &catalogue));
        if (known[i].message) {
            assert_fails(yk_mo_catalogue_check_charset(&catalogue, "test.mo"), YK_ERROR_INPUT,
                         known[i].message);
        } else {
            assert_ok(yk_mo_catalogue_check_charset(&catalogue, "test.mo"));
        }
    }
}

static void assert_refused_as(const struct made *made, const char *message)
{
    struct yk_mo_catalogue catalogue = {0};
    assert_fails(yk_mo_catalogue_parse(made->bytes, made->length, "test.mo", &catalogue),
                 YK_ERROR_INPUT, message);
}

static void strings_outside_of_the_file_are_refused(void **state)
{
    (void)state;
    struct made made = make(false, utf8_header);
    store(&made, SOURCES + 8 + 4, (uint32_t)made.length);
    assert_refused_as(&made, "test.mo: message 1 ends beyond the file");
    made = make(true, utf8_header);
    store(&made, TRANSLATIONS + 16, 0xffffffff);
    assert_refused_as(&made, "test.mo: message 2 ends beyond the file");
    made = make(false, utf8_header);
    store(&made, SOURCES + 16, 2);
    assert_refused_as(&made, "test.mo: message 2 does not end with a zero");
    made = make(false, utf8_header);
    store(&made, 8, 0x20000000); /* times eight is nothing in 32 bits */
    assert_refused_as(&made, "test.mo: a table of 536870912 messages ends beyond the file");
    made = make(false, utf8_header);
    store(&made, 16, (uint32_t)made.length - 8);
    assert_refused_as(&made, "test.mo: a table of 3 messages ends beyond the file");
}

static void what_is_no_catalogue_is_refused(void **state)
{
    (void)state;
    struct made made = make(false, utf8_header);
    store(&made, 0, 0x12345678);
    assert_refused_as(&made, "test.mo: no catalogue of messages (.mo)");
    made = make(false, utf8_header);
    store(&made, 4, 2 << 16);
    assert_refused_as(&made, "test.mo: a catalogue of revision 2; only 0 and 1 are known");
    made = make(false, utf8_header);
    made.length = 27;
    assert_refused_as(&made, "test.mo: too short for a catalogue of messages");
}

/* The last string ends the file, so no beginning of it is whole. */
static void a_catalogue_cut_anywhere_is_refused(void **state)
{
    (void)state;
    const struct made made = make(false, utf8_header);
    for (size_t length = 0; length < made.length; length++) {
        struct yk_mo_catalogue catalogue = {0};
        assert_int_equal(yk_mo_catalogue_parse(made.bytes, length, "test.mo", &catalogue),
                         YK_ERROR_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read_in_both_orders_of_bytes),
        cmocka_unit_test(contexts_and_plurals_are_split_off),
        cmocka_unit_test(charsets_other_than_utf8_are_refused),
        cmocka_unit_test(strings_outside_of_the_file_are_refused),
        cmocka_unit_test(what_is_no_catalogue_is_refused),
        cmocka_unit_test(a_catalogue_cut_anywhere_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
