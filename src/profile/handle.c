#include "profile/handle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

yk_status yk_profile_handle_open(const char *path, bool make, struct yk_profile **out)
{
    struct yk_profile *profile = calloc(1, sizeof *profile);
    if (!profile) {
        return yk_fail_out_of_memory();
    }
    if (gethostname(profile->host, sizeof profile->host - 1) != 0) {
        profile->host[0] = '\0';
    }
    yk_system_cpu_name(profile->cpu);
    const yk_status status = yk_database_open(path, make, &profile->database);
    if (status != YK_OK) {
        yk_profile_close(profile);
        return status;
    }
    *out = profile;
    return YK_OK;
}

void yk_profile_close(struct yk_profile *profile)
{
    if (profile) {
        yk_database_close(profile->database);
        free(profile->points);
        free(profile);
    }
}

static bool begins_with_cpu(const char *words)
{
    return strncmp(words, "cpu", 3) == 0 && strchr(":- ", words[3]); /* or the end of the words */
}

const char *yk_profile_handle_cpu(const struct yk_profile *profile, const char *subject)
{
    const size_t devices = strcspn(subject, " ");
    for (size_t i = 0; i < devices; i++) {
        if ((i == 0 || subject[i - 1] == '-') && begins_with_cpu(subject + i)) {
            return profile->cpu;
        }
    }
    return "";
}

yk_status yk_profile_handle_query_layer(const struct yk_profile *profile, const char *sql,
                                        const struct yk_profile_layer *layer, const char *cpu,
                                        struct yk_database_statement **out)
{
    YK_TRY(yk_database_prepare(profile->database, sql, out));
    yk_database_bind_text(*out, 1, layer->device);
    yk_database_bind_real(*out, 2, layer->part);
    yk_database_bind_text(*out, 3, layer->shape);
    yk_database_bind_integer(*out, 4, layer->sequence);
    yk_database_bind_text(*out, 5, layer->pass);
    yk_database_bind_text(*out, 6, cpu);
    return YK_OK;
}

yk_status yk_profile_handle_query_link(const struct yk_profile *profile, const char *sql,
                                       const struct yk_profile_link *link, const char *cpu,
                                       struct yk_database_statement **out)
{
    YK_TRY(yk_database_prepare(profile->database, sql, out));
    yk_database_bind_text(*out, 1, link->link);
    yk_database_bind_text(*out, 2, link->collective);
    yk_database_bind_integer(*out, 3, link->ranks);
    yk_database_bind_text(*out, 4, cpu);
    return YK_OK;
}

yk_status yk_profile_handle_query_fact(const struct yk_profile *profile, const char *sql,
                                       const struct yk_profile_fact *fact, const char *cpu,
                                       struct yk_database_statement **out)
{
    YK_TRY(yk_database_prepare(profile->database, sql, out));
    yk_database_bind_text(*out, 1, fact->subject);
    yk_database_bind_text(*out, 2, fact->fact);
    yk_database_bind_text(*out, 3, cpu);
    return YK_OK;
}
