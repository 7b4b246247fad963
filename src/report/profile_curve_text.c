#include "report/profile_curve_text.h"

#include "base/units.h"
#include "report/plot.h"
#include "report/profile_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS = 9,
    MOST_COLUMNS = 84,
    LEAST_COLUMNS = 16,
    LABEL_COLUMNS = 11, /* before the axis */
    KNEE_OCTAVES = 6,   /* as far behind the last size a knee is shown */
};

/* Of the highest bandwidth: lower ones are left to the table, since a row stands for much already.
 */
static const double least_part = 0.01;

struct canvas {
    char cells[ROWS][MOST_COLUMNS + 1];
    int columns;
    int32_t first;     /* the smallest size that is drawn */
    struct yk_range x; /* log2 of bytes */
    struct yk_range y; /* log2 of bytes a second */
};

static double x_of(const struct yk_profile_report_link *link, int32_t i)
{
    return log2((double)link->rows[i].bytes);
}

static double y_of(const struct yk_profile_report_link *link, int32_t i)
{
    return log2(yk_profile_rate(link, i));
}

static int column_of(const struct canvas *canvas, double x)
{
    const double along = (x - canvas->x.low) / (canvas->x.high - canvas->x.low);
    return (int)lround(fmax(0, fmin(along, 1)) * (canvas->columns - 1));
}

static int row_of(const struct canvas *canvas, double y)
{
    const double along = (canvas->y.high - y) / (canvas->y.high - canvas->y.low);
    return (int)lround(fmax(0, fmin(along, 1)) * (ROWS - 1));
}

static void find_ranges(const struct yk_profile_report_link *link, struct canvas *canvas)
{
    double most = link->has_knee ? log2(link->knee.plateau_bytes_per_s) : -INFINITY;
    for (int32_t i = 0; i < link->count; i++) {
        most = fmax(most, y_of(link, i));
    }
    while (canvas->first < link->count - 2 && y_of(link, canvas->first) < most + log2(least_part)) {
        canvas->first++;
    }
    canvas->x = yk_range_empty();
    canvas->y = yk_range_empty();
    for (int32_t i = canvas->first; i < link->count; i++) {
        yk_range_include(&canvas->x, x_of(link, i));
        yk_range_include(&canvas->y, y_of(link, i));
    }
    if (link->has_knee) {
        yk_range_include(&canvas->y, log2(link->knee.plateau_bytes_per_s));
        yk_range_include(&canvas->x, fmin(log2(link->knee.bytes), canvas->x.high + KNEE_OCTAVES));
    }
    yk_range_widen(&canvas->x, 0);
    yk_range_widen(&canvas->y, 0);
}

static void draw_marks(const struct yk_profile_report_link *link, struct canvas *canvas)
{
    if (!link->has_knee) {
        return;
    }
    char *plateau = canvas->cells[row_of(canvas, log2(link->knee.plateau_bytes_per_s))];
    for (int c = 0; c < canvas->columns; c += 2) {
        plateau[c] = '-';
    }
    const int knee = column_of(canvas, log2(link->knee.bytes));
    for (int r = 0; r < ROWS; r++) {
        canvas->cells[r][knee] = '|';
    }
}

static void draw_points(const struct yk_profile_report_link *link, struct canvas *canvas)
{
    for (int32_t i = canvas->first; i + 1 < link->count; i++) {
        const int from = column_of(canvas, x_of(link, i));
        const int to = column_of(canvas, x_of(link, i + 1));
        for (int c = from + 1; c < to; c++) {
            const double along = (double)(c - from) / (to - from);
            const double y = (1 - along) * y_of(link, i) + along * y_of(link, i + 1);
            canvas->cells[row_of(canvas, y)][c] = '.';
        }
    }
    for (int32_t i = canvas->first; i < link->count; i++) {
        canvas->cells[row_of(canvas, y_of(link, i))][column_of(canvas, x_of(link, i))] = 'o';
    }
}

/* The axis, with the name of the knee on it. */
static void write_axis(const struct yk_profile_report_link *link, const struct canvas *canvas,
                       struct yk_text *out)
{
    char axis[MOST_COLUMNS + 1] = "";
    char words[YK_UNITS_SIZE + 8];
    memset(axis, '-', (size_t)canvas->columns);
    if (link->has_knee) {
        char size[YK_UNITS_SIZE];
        const int knee = column_of(canvas, log2(link->knee.bytes));
        yk_units_format(link->knee.bytes, YK_UNIT_BYTES, size);
        const int length = snprintf(words, sizeof words, " knee %s ", size);
        const bool fits_after = knee + 1 + length <= canvas->columns;
        axis[knee] = '^';
        if (fits_after || knee >= length) {
            memcpy(axis + (fits_after ? knee + 1 : knee - length), words, (size_t)length);
        }
    }
    yk_text_addf(out, "%*s +%s\n", LABEL_COLUMNS, "", axis);
}

static void write_rows(const struct canvas *canvas, struct yk_text *out)
{
    for (int r = 0; r < ROWS; r++) {
        char words[YK_UNITS_SIZE] = "";
        if (r % 4 == 0) {
            const double along = (double)r / (ROWS - 1);
            yk_units_format(exp2(canvas->y.high + along * (canvas->y.low - canvas->y.high)),
                            YK_UNIT_BYTES_PER_S, words);
        }
        yk_text_addf(out, "%*s |%s", LABEL_COLUMNS, words, canvas->cells[r]);
        yk_text_trim(out);
        yk_text_add(out, "\n");
    }
}

/* The sizes that there is room for, each under its point. */
static void write_sizes(const struct yk_profile_report_link *link, const struct canvas *canvas,
                        struct yk_text *out)
{
    int at = 0;
    yk_text_add_repeated(out, " ", LABEL_COLUMNS + 2);
    for (int32_t i = canvas->first; i < link->count; i++) {
        char words[YK_UNITS_SIZE];
        yk_units_format((double)link->rows[i].bytes, YK_UNIT_BYTES, words);
        const int length = (int)strlen(words);
        const int middle = column_of(canvas, x_of(link, i)) - length / 2;
        const int start = middle > 0 ? middle : 0;
        if ((at > 0 && start < at + 2) || start + length > canvas->columns + length / 2) {
            continue;
        }
        yk_text_addf(out, "%*s%s", start - at, "", words);
        at = start + length;
    }
    yk_text_add(out, "\n");
}

void yk_profile_draw_curve(const struct yk_profile_report_link *link, int columns,
                           struct yk_text *out)
{
    struct canvas canvas = {.columns = columns - LABEL_COLUMNS - 6};
    canvas.columns = canvas.columns > MOST_COLUMNS ? MOST_COLUMNS : canvas.columns;
    canvas.columns = canvas.columns < LEAST_COLUMNS ? LEAST_COLUMNS : canvas.columns;
    for (int r = 0; r < ROWS; r++) {
        memset(canvas.cells[r], ' ', (size_t)canvas.columns);
    }
    find_ranges(link, &canvas);
    draw_marks(link, &canvas);
    draw_points(link, &canvas);
    write_rows(&canvas, out);
    write_axis(link, &canvas, out);
    write_sizes(link, &canvas, out);
}
