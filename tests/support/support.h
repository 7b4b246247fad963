/* Support: cmocka with the headers it needs, and checks that tests of several layers share. */
#ifndef YK_TESTS_SUPPORT_H
#define YK_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/read.h"

/* The name that messages about a graph given as a string begin with. */
#define SUPPORT_SOURCE "test"

/* Fails the test with the status message unless `expression` is YK_OK. */
#define assert_ok(expression) support_assert_ok((expression), #expression, __FILE__, __LINE__)
void support_assert_ok(yk_status status, const char *expression, const char *file, int line);

/* The status, and the whole of its sentence. */
#define assert_fails(expression, status, message)                                                  \
    do {                                                                                           \
        assert_int_equal((expression), (status));                                                  \
        assert_string_equal(yk_status_message(), (message));                                       \
    } while (0)

/* How many of `count` trials there is time for: under a sanitizer, which looks at the code and not
 * at the results, a quarter. */
static inline int support_trials(int count)
{
#ifdef __SANITIZE_ADDRESS__
    return count / 4;
#else
    return count;
#endif
}

/* The graph that `text` gives; fails the test when it gives none. */
struct yk_graph *support_read_graph(const char *text, const struct yk_graph_read_options *options);

/* Fails the test unless `text` is refused as bad input with the sentence "test: <message>". */
#define assert_refused(text, options, message)                                                     \
    support_assert_refused((text), (options), YK_ERROR_INPUT, (message), __FILE__, __LINE__)
/* The same for options that make no sense. */
#define assert_misused(text, options, message)                                                     \
    support_assert_refused((text), (options), YK_ERROR_USAGE, (message), __FILE__, __LINE__)
void support_assert_refused(const char *text, const struct yk_graph_read_options *options,
                            yk_status status, const char *message, const char *file, int line);

/* Reads every proper beginning of `text`; returns how many were taken for a graph. */
int support_count_accepted_prefixes(const char *text, const struct yk_graph_read_options *options);

/* The first promise of graph.h that `graph` breaks, in words; NULL when it keeps all of them. */
const char *support_broken_promise(const struct yk_graph *graph);

#endif
