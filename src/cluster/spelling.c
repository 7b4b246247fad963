#include "cluster/spelling.h"

#include <ctype.h>
#include <string.h>

static const char *skip_joints(const char *word)
{
    return word + strspn(word, "-_ ");
}

bool yk_datasheet_same_name(const char *a, const char *b)
{
    a = skip_joints(a);
    b = skip_joints(b);
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a = skip_joints(a + 1);
        b = skip_joints(b + 1);
    }
    return !*a && !*b;
}
