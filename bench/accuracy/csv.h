/* Csv: a table of words with a title row; cells may stand in quotes. Ends the program on trouble.
 */
#ifndef YK_BENCH_ACCURACY_CSV_H
#define YK_BENCH_ACCURACY_CSV_H

#include <stdbool.h>
#include <stddef.h>

struct csv {
    char *text;   /* owns the cells */
    char **cells; /* (rows, columns), without the titles */
    char **titles;
    size_t columns;
    size_t rows;
};

/* Cuts `text` (which must come from malloc) into cells and keeps it. */
struct csv csv_cut(char *text);
void csv_free(struct csv *csv);

/* The cell of that row under that title; "" when there is no such column. */
const char *csv_cell(const struct csv *csv, size_t row, const char *title);

/* The number that the cell begins with, 0 when it is none; whether the cell is `word`. */
double csv_number(const struct csv *csv, size_t row, const char *title);
bool csv_is(const struct csv *csv, size_t row, const char *title, const char *word);

#endif
