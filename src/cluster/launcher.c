#include "cluster/launcher.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PORT = 65535
};

/* The variable as a number from `min` on. */
static yk_status read_number(const char *name, int64_t min, int32_t *out)
{
    const char *text = getenv(name);
    int64_t value = 0;
    if (!text) {
        return yk_fail(YK_ERROR_INPUT,
                       "the launcher gives no %s; start the ranks with mpirun, "
                       "srun --mpi=pmix or torchrun",
                       name);
    }
    if (!yk_number_parse_integer(text, strlen(text), &value) || value < min || value > INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT, "%s=%s is no number that a launcher gives; unset it", name,
                       text);
    }
    *out = (int32_t)value;
    return YK_OK;
}

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

static yk_status set_address(const char *name, size_t length, struct yk_launcher *out)
{
    if (length == 0 || length >= sizeof out->address) {
        return yk_fail(YK_ERROR_INPUT, "%.60s is no address of rank 0; name its host", name);
    }
    memcpy(out->address, name, length);
    out->address[length] = '\0';
    return YK_OK;
}

/* Ranks without MPI meet where MASTER_ADDR and MASTER_PORT say. */
static yk_status find_master(struct yk_launcher *out)
{
    const char *address = getenv("MASTER_ADDR");
    out->uses_rendezvous = out->size > 1;
    if (!out->uses_rendezvous) {
        return YK_OK;
    }
    if (!address || !*address) {
        return yk_fail(YK_ERROR_INPUT,
                       "there are %" PRId32 " ranks, but no MASTER_ADDR to meet at; set it to the "
                       "host of rank 0, or start them with mpirun",
                       out->size);
    }
    YK_TRY(set_address(address, strlen(address), out));
    out->port = YK_LAUNCHER_DEFAULT_PORT;
    if (is_set("MASTER_PORT")) {
        YK_TRY(read_number("MASTER_PORT", 1, &out->port));
    }
    return out->port <= MAX_PORT
               ? YK_OK
               : yk_fail(YK_ERROR_INPUT, "MASTER_PORT=%" PRId32 " is no port; it is at most %d",
                         out->port, MAX_PORT);
}

static yk_status find_local(struct yk_launcher *out)
{
    out->local_rank = 0;
    if (is_set("LOCAL_RANK")) {
        YK_TRY(read_number("LOCAL_RANK", 0, &out->local_rank));
    }
    /* What is certain. */
    out->local_size = out->local_rank < INT32_MAX ? out->local_rank + 1 : out->local_rank;
    return is_set("LOCAL_WORLD_SIZE") ? read_number("LOCAL_WORLD_SIZE", 1, &out->local_size)
                                      : YK_OK;
}

/* torchrun, and whoever sets the same variables. */
static yk_status find_environment(const char *name, struct yk_launcher *out)
{
    const char *agent = getenv("TORCHELASTIC_USE_AGENT_STORE");
    out->name = name;
    YK_TRY(read_number("RANK", 0, &out->rank));
    YK_TRY(read_number("WORLD_SIZE", 1, &out->size));
    YK_TRY(find_local(out));
    YK_TRY(find_master(out));
    /* torchrun's own agent listens at the port already. */
    if (out->uses_rendezvous && agent && strcmp(agent, "True") == 0) {
        out->port += out->port < MAX_PORT ? 1 : -1;
    }
    return YK_OK;
}

static yk_status find_mpirun(struct yk_launcher *out)
{
    out->name = "mpirun";
    out->is_bound_to_cores = getenv("OMPI_MCA_orte_bound_at_launch") != NULL;
    YK_TRY(read_number("OMPI_COMM_WORLD_RANK", 0, &out->rank));
    YK_TRY(read_number("OMPI_COMM_WORLD_SIZE", 1, &out->size));
    YK_TRY(read_number("OMPI_COMM_WORLD_LOCAL_RANK", 0, &out->local_rank));
    return read_number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, &out->local_size);
}

/* The entry of node number `node` in a list such as "2(x3),1": two tasks on each of three nodes,
 * one on the fourth. 0: there is none. */
static int32_t tasks_of_node(const char *list, int32_t node)
{
    int64_t first = 0;
    while (*list) {
        char *end = NULL;
        const long tasks = strtol(list, &end, 10);
        long times = 1;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtol(end + 2, &end, 10);
            end += *end == ')' ? 1 : 0;
        }
        if (end == list || tasks < 1 || tasks > INT32_MAX || times < 1 || times > INT32_MAX) {
            return 0;
        }
        first += times;
        if (node < first) {
            return (int32_t)tasks;
        }
        list = end + (*end == ',' ? 1 : 0);
        if (*end && *end != ',') {
            return 0;
        }
    }
    return 0;
}

static yk_status find_srun(struct yk_launcher *out)
{
    /* "mask_cpu:", "map_cpu:"; "none" or nothing where tasks are not bound one by one. */
    const char *binding = getenv("SLURM_CPU_BIND_TYPE");
    out->name = "srun";
    out->is_bound_to_cores = binding && strstr(binding, "_cpu") != NULL;
    YK_TRY(read_number("SLURM_PROCID", 0, &out->rank));
    YK_TRY(read_number("SLURM_NTASKS", 1, &out->size));
    if (out->size > 1 && !getenv("PMIX_RANK") && !is_set("MASTER_ADDR")) {
        return yk_fail(YK_ERROR_INPUT,
                       "srun started %" PRId32 " processes that cannot find each other; start them "
                       "with srun --mpi=pmix, or set MASTER_ADDR to the host of rank 0",
                       out->size);
    }
    if (!getenv("PMIX_RANK")) {
        YK_TRY(find_master(out));
    }
    YK_TRY(read_number("SLURM_LOCALID", 0, &out->local_rank));
    int32_t node = 0;
    YK_TRY(read_number("SLURM_NODEID", 0, &node));
    const char *list = getenv("SLURM_STEP_TASKS_PER_NODE");
    list = list ? list : getenv("SLURM_TASKS_PER_NODE");
    const int32_t tasks = list ? tasks_of_node(list, node) : 0;
    /* What is certain, where the list is of another form. */
    out->local_size = tasks > out->local_rank ? tasks : out->local_rank + 1;
    return YK_OK;
}

/* Whether srun started several that find each other by themselves. */
static bool has_pmix(void)
{
    const char *tasks = getenv("SLURM_NTASKS");
    return getenv("PMIX_RANK") && tasks && strcmp(tasks, "1") != 0;
}

static yk_status check(const struct yk_launcher *found)
{
    if (found->rank >= found->size || found->local_rank >= found->local_size ||
        found->local_size > found->size) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s says that this is rank %" PRId32 " of %" PRId32 " and %" PRId32
                       " of %" PRId32 " here, which cannot be",
                       strcmp(found->name, "env") == 0 ? "the environment" : found->name,
                       found->rank, found->size, found->local_rank, found->local_size);
    }
    return YK_OK;
}

yk_status yk_launcher_detect(struct yk_launcher *out)
{
    struct yk_launcher found = {.size = 1, .local_size = 1};
    const bool said = is_set("RANK") && is_set("WORLD_SIZE");
    /* A batch script has a SLURM_PROCID, too, but is no step. */
    const bool in_step = getenv("SLURM_STEP_ID") && getenv("SLURM_PROCID");
    if (said && getenv("TORCHELASTIC_RUN_ID")) {
        /* First, since mpirun or srun may have started torchrun on each of the machines. */
        YK_TRY(find_environment("torchrun", &found));
    } else if (getenv("OMPI_COMM_WORLD_RANK")) {
        YK_TRY(find_mpirun(&found));
    } else if (said && !(in_step && has_pmix())) {
        YK_TRY(find_environment("env", &found));
    } else if (in_step) {
        YK_TRY(find_srun(&found));
    } else if (is_set("MASTER_ADDR") && (is_set("RANK") || is_set("WORLD_SIZE"))) {
        const bool ranked = is_set("RANK");
        return yk_fail(YK_ERROR_INPUT,
                       "the environment has %s and MASTER_ADDR but no %s; set it %s",
                       ranked ? "RANK" : "WORLD_SIZE", ranked ? "WORLD_SIZE" : "RANK",
                       ranked ? "to the number of ranks" : "to this one's number, from 0 on");
    }
    if (found.name) {
        YK_TRY(check(&found));
    }
    *out = found;
    return YK_OK;
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT; an IPv6 address without brackets has no port. */
static yk_status read_master(const char *master, struct yk_launcher *out)
{
    const bool closed = master[0] == '[' && strchr(master, ']');
    const char *host = closed ? master + 1 : master;
    const char *end = closed ? strchr(host, ']') : strchr(host, ':');
    const char *colon = closed ? end + 1 : end;
    int64_t port = YK_LAUNCHER_DEFAULT_PORT;
    if (!closed && end && strchr(end + 1, ':')) {
        end = NULL;
        colon = NULL;
    }
    if (colon && *colon &&
        (*colon != ':' || !yk_number_parse_integer(colon + 1, strlen(colon + 1), &port) ||
         port < 1 || port > MAX_PORT)) {
        return yk_fail(YK_ERROR_USAGE,
                       "--master %s: it is the host of rank 0 and a port, as in "
                       "node1:29500",
                       master);
    }
    out->port = (int32_t)port;
    return set_address(host, end ? (size_t)(end - host) : strlen(host), out);
}

yk_status yk_launcher_from_options(int64_t rank, int64_t size, const char *master,
                                   struct yk_launcher *out)
{
    struct yk_launcher found = {.name = "hand", .uses_rendezvous = size > 1};
    if (rank < 0 || size < 1 || rank >= size || size > INT32_MAX) {
        return yk_fail(YK_ERROR_USAGE,
                       "--rank %" PRId64 " of --world %" PRId64 " cannot be; ranks are numbered "
                       "from 0 to one less than the world's size",
                       rank, size);
    }
    found.rank = (int32_t)rank;
    found.size = (int32_t)size;
    YK_TRY(read_master(master, &found));
    YK_TRY(find_local(&found));
    YK_TRY(check(&found));
    *out = found;
    return YK_OK;
}
