#include "comm/rendezvous/rendezvous.h"

#include "base/number.h"
#include "comm/rendezvous/guest.h"
#include "comm/rendezvous/host.h"

#include <stdlib.h>
#include <string.h>

static const double usual_limit_s = 60;
static const double longest_limit_s = 1e6;

/* The variable, or NULL where it says nothing. */
static const char *read_words(const char *name)
{
    const char *words = getenv(name);
    return words && *words ? words : NULL;
}

/* torchrun gives every job an id, which is "none" unless somebody asks for one. */
static const char *find_token(const struct yk_launcher *launcher)
{
    const char *token = read_words("YOKE_TOKEN");
    const char *run = read_words("TORCHELASTIC_RUN_ID");
    if (token || !launcher->name || strcmp(launcher->name, "torchrun") != 0) {
        return token;
    }
    return run && strcmp(run, "none") != 0 ? run : NULL;
}

static yk_status read_limit(double *out)
{
    const char *words = read_words("YOKE_MEET_S");
    *out = usual_limit_s;
    if (words &&
        (!yk_number_read(words, strlen(words), out) || *out <= 0 || *out > longest_limit_s)) {
        return yk_fail(YK_ERROR_INPUT, "YOKE_MEET_S=%s: seconds, more than 0", words);
    }
    return YK_OK;
}

yk_status yk_rendezvous_find(const struct yk_launcher *launcher, struct yk_rendezvous *out)
{
    struct yk_rendezvous found = {
        .rank = launcher->rank,
        .size = launcher->size,
        .address = launcher->address,
        .port = launcher->port,
        .token = find_token(launcher),
        .interface = read_words("YOKE_INTERFACE"),
        .hint = read_words("NCCL_SOCKET_IFNAME"),
    };
    YK_TRY(read_limit(&found.limit_s));
    if (!found.token) {
        return yk_fail(YK_ERROR_INPUT,
                       "ranks that meet without MPI know each other by a secret of the job; set "
                       "YOKE_TOKEN to the same random words for all of them");
    }
    *out = found;
    return YK_OK;
}

/* A rank that has failed does not come: its own sentence is said at once, and the others name it.
 */
static yk_status share(void *user, yk_status mine, void *bytes, size_t size)
{
    const struct yk_rendezvous *rendezvous = user;
    if (mine != YK_OK) {
        return mine;
    }
    if (size > YK_RENDEZVOUS_MAX_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "ranks that meet share at most %d bytes",
                       YK_RENDEZVOUS_MAX_BYTES);
    }
    if (rendezvous->size <= 1) {
        return YK_OK;
    }
    return rendezvous->rank == 0 ? yk_rendezvous_serve(rendezvous, bytes, size)
                                 : yk_rendezvous_join(rendezvous, bytes, size);
}

struct yk_comm_bootstrap yk_rendezvous_bootstrap(struct yk_rendezvous *rendezvous)
{
    return (struct yk_comm_bootstrap){
        .rank = rendezvous->rank,
        .size = rendezvous->size,
        .share = share,
        .user = rendezvous,
    };
}
