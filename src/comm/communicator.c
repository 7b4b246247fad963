#include "comm/communicator.h"

#include <stdlib.h>

static yk_status make_group_of_all(struct yk_communicator *ranks)
{
    int32_t *list = calloc((size_t)ranks->size, sizeof *list);
    YK_TRY_ALLOCATED(list);
    for (int32_t i = 0; i < ranks->size; i++) {
        list[i] = i;
    }
    const yk_status status =
        ranks->comm->group_create(ranks->world, list, ranks->size, &ranks->world_group);
    free(list);
    return status;
}

yk_status yk_communicator_open(const struct yk_comm_backend *comm,
                               const struct yk_comm_options *options, struct yk_communicator *out)
{
    struct yk_communicator ranks = {
        .comm = comm,
        .backend = options->backend,
        .lane = options->lane,
    };
    YK_TRY(comm->open(options, &ranks.world));
    comm->rank(ranks.world, &ranks.rank, &ranks.size);
    YK_TRY_OR_CLEAN_UP(make_group_of_all(&ranks), comm->close(ranks.world));
    *out = ranks;
    return YK_OK;
}

void yk_communicator_close(struct yk_communicator *ranks)
{
    if (ranks->comm) {
        ranks->comm->group_destroy(ranks->world_group);
        ranks->comm->close(ranks->world);
    }
    *ranks = (struct yk_communicator){0};
}

yk_status yk_communicator_synchronize(const struct yk_communicator *ranks)
{
    YK_TRY(ranks->backend->lane_synchronize(ranks->lane));
    return ranks->comm->check(ranks->world);
}
