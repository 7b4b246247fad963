#include "support/files/other_programs.h"

#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int run(const char *command)
{
    return system(command); // NOLINT(concurrency-mt-unsafe)
}

bool outside_has(const char *program)
{
    char command[200];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return run(command) == 0;
}

char *outside_make_folder(void)
{
    char *folder = strdup("/tmp/yoke-test-XXXXXX");
    assert_non_null(folder);
    assert_non_null(mkdtemp(folder));
    return folder;
}

void outside_remove(char *folder)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(run(command), 0);
    free(folder);
}

void outside_write(const char *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, S_IRWXU), 0);
}

int outside_run(const char *folder, const char *command, struct yk_text *out)
{
    struct yk_text line = {0};
    char bytes[4096];
    yk_text_addf(&line, "cd '%s' && { %s\n} 2>&1", folder, command);
    assert_ok(yk_text_status(&line));
    FILE *pipe = popen(yk_text_chars(&line), "r");
    assert_non_null(pipe);
    for (size_t count = 1; count > 0;) {
        count = fread(bytes, 1, sizeof bytes, pipe);
        yk_text_add_bytes(out, bytes, count);
    }
    yk_text_free(&line);
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
