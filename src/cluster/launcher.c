#include "cluster/launcher.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The variable as a number from `least` on. */
static yk_status read_number(const char *name, int64_t least, int32_t *out)
{
    const char *words = getenv(name);
    int64_t value = 0;
    if (!words) {
        return yk_fail(YK_ERROR_INPUT,
                       "the launcher gives no %s; start the ranks with mpirun or "
                       "with srun --mpi=pmix",
                       name);
    }
    if (!yk_number_read_integer(words, strlen(words), &value) || value < least ||
        value > INT32_MAX) {
        return yk_fail(YK_ERROR_INPUT, "%s=%s is no number that a launcher gives; unset it", name,
                       words);
    }
    *out = (int32_t)value;
    return YK_OK;
}

static yk_status find_mpirun(struct yk_launcher *out)
{
    out->name = "mpirun";
    out->bound = getenv("OMPI_MCA_orte_bound_at_launch") != NULL;
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
    out->bound = binding && strstr(binding, "_cpu") != NULL;
    YK_TRY(read_number("SLURM_PROCID", 0, &out->rank));
    YK_TRY(read_number("SLURM_NTASKS", 1, &out->size));
    if (out->size > 1 && !getenv("PMIX_RANK")) {
        return yk_fail(YK_ERROR_INPUT,
                       "srun started %" PRId32 " processes that cannot find each other; start them "
                       "with srun --mpi=pmix",
                       out->size);
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

yk_status yk_launcher_find(struct yk_launcher *out)
{
    struct yk_launcher found = {.size = 1, .local_size = 1};
    if (getenv("OMPI_COMM_WORLD_RANK")) {
        YK_TRY(find_mpirun(&found));
    } else if (getenv("SLURM_STEP_ID") && getenv("SLURM_PROCID")) {
        /* A batch script has a SLURM_PROCID, too, but is no step. */
        YK_TRY(find_srun(&found));
    }
    if (found.rank >= found.size || found.local_rank >= found.local_size ||
        found.local_size > found.size) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s says that this is rank %" PRId32 " of %" PRId32 " and %" PRId32
                       " of %" PRId32 " here, which cannot be",
                       found.name, found.rank, found.size, found.local_rank, found.local_size);
    }
    *out = found;
    return YK_OK;
}
