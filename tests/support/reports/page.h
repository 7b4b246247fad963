/* Page: checks that tests of pages and tables share. */
#ifndef YK_TESTS_PAGE_H
#define YK_TESTS_PAGE_H

#include "base/text.h"

/* Fails the test unless the page has one content, every tag of it closed and everything escaped,
 * and without a number that is none. */
void page_check(const struct yk_text *page);

/* Fails the test unless `words` are in `text`. */
void page_expect(const struct yk_text *text, const char *words);

#endif
