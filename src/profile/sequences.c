#include "profile/handle.h"

yk_status yk_profile_find_sequences(struct yk_profile *profile,
                                    const struct yk_profile_layer *layer, int64_t *out_below,
                                    int64_t *out_above)
{
    struct yk_database_statement *query = NULL;
    bool found = false;
    YK_TRY(yk_profile_handle_query_layer(
        profile,
        "SELECT coalesce(max(CASE WHEN sequence < ?4 THEN sequence END), 0), "
        "coalesce(min(CASE WHEN sequence > ?4 THEN sequence END), 0) FROM layers "
        "WHERE device = ?1 AND abs(part - ?2) <= 0.005 * part AND shape = ?3 AND pass = ?5 "
        "AND cpu = ?6 AND sequence > 0",
        layer, yk_profile_handle_cpu(profile, layer->device), &query));
    const yk_status status = yk_database_step(query, &found);
    const int64_t below = found ? yk_database_column_integer(query, 0) : 0;
    const int64_t above = found ? yk_database_column_integer(query, 1) : 0;
    yk_database_finalize(query);
    /* What is no number compares in SQLite as if it were more than any. */
    if (below < 0 || (below > 0 && below >= layer->sequence) ||
        (above != 0 && above <= layer->sequence)) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: layers were measured at sequences that are no whole numbers",
                       yk_database_path(profile->database));
    }
    *out_below = below;
    *out_above = above;
    return status;
}
