#include "support/reports/page.h"

#include "support/reports/markup.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

void page_check(const struct yk_text *page)
{
    size_t count = 0;
    const char *begin = strstr(yk_text_chars(page), "<main>");
    const char *end = strstr(yk_text_chars(page), "</main>");
    assert_non_null(begin);
    assert_non_null(end);
    char *content = strndup(begin, (size_t)(end - begin) + strlen("</main>"));
    assert_non_null(content);
    assert_true(markup_is_balanced(content, "main", &count));
    assert_int_equal(count, 1);
    assert_null(strstr(content, "nan"));
    assert_null(strstr(content, "inf"));
    free(content);
}

void page_expect(const struct yk_text *text, const char *words)
{
    if (!strstr(yk_text_chars(text), words)) {
        fail_msg("not there: %s", words);
    }
}
