#include "support/support.h"

#include <stdlib.h>
#include <string.h>

void support_assert_ok(yk_status status, const char *expression, const char *file, int line)
{
    if (status != YK_OK) {
        print_error("%s: %s\n", expression, yk_status_message());
        _fail(file, line);
    }
}

struct yk_graph *support_read_graph(const char *text, const struct yk_graph_read_options *options)
{
    struct yk_graph *graph = NULL;
    assert_ok(yk_graph_read_text(text, strlen(text), SUPPORT_SOURCE, options, &graph));
    assert_non_null(graph);
    assert_null(support_broken_promise(graph));
    return graph;
}

void support_assert_refused(const char *text, const struct yk_graph_read_options *options,
                            yk_status status, const char *message, const char *file, int line)
{
    static const char prefix[] = SUPPORT_SOURCE ": ";
    struct yk_graph *graph = NULL;
    const yk_status got = yk_graph_read_text(text, strlen(text), SUPPORT_SOURCE, options, &graph);
    yk_graph_destroy(graph);
    if (got == YK_OK) {
        print_error("accepted: %s\n", text);
        _fail(file, line);
    }
    const char *said = yk_status_message();
    const size_t skipped = strncmp(said, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
    _assert_string_equal(said + skipped, message, file, line);
    _assert_int_equal((uintmax_t)got, (uintmax_t)status, file, line);
    if (status == YK_ERROR_INPUT && skipped == 0) {
        print_error("the message does not begin with the source: %s\n", said);
        _fail(file, line);
    }
}

int support_count_accepted_prefixes(const char *text, const struct yk_graph_read_options *options)
{
    int accepted = 0;
    for (size_t length = 0; length < strlen(text); length++) {
        /* A copy of just these bytes, so that the sanitizer sees a read past their end. */
        char *prefix = malloc(length + 1);
        assert_non_null(prefix);
        memcpy(prefix, text, length);
        char *exact = realloc(prefix, length > 0 ? length : 1);
        assert_non_null(exact);
        struct yk_graph *graph = NULL;
        if (yk_graph_read_text(exact, length, SUPPORT_SOURCE, options, &graph) == YK_OK) {
            assert_null(support_broken_promise(graph));
            yk_graph_destroy(graph);
            accepted++;
        } else {
            assert_null(graph);
            assert_true(strlen(yk_status_message()) > strlen(SUPPORT_SOURCE ": "));
        }
        free(exact);
    }
    return accepted;
}
