#include "accuracy/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the cell that begins at *place in place, and moves on past it. Returns what ended it: ',',
 * '\n' or 0. */
static char cut_cell(char **place, char **cell)
{
    char *from = *place;
    char *to = from;
    int quoted = 0;
    *cell = to;
    for (; *from && (quoted || (*from != ',' && *from != '\n')); from++) {
        if (*from == '"') {
            quoted = !quoted;
        } else if (*from != '\r') {
            *to++ = *from;
        }
    }
    const char end = *from;
    *place = end ? from + 1 : from;
    *to = 0;
    return end;
}

static size_t count_cells(const char *text)
{
    size_t count = 1;
    for (; *text; text++) {
        count += *text == ',' || *text == '\n';
    }
    return count;
}

struct csv csv_cut(char *text)
{
    struct csv csv = {.text = text};
    char **cells = calloc(count_cells(text), sizeof *cells);
    if (!cells) {
        exit(1);
    }
    char *place = text;
    char end = 0;
    do {
        end = cut_cell(&place, &cells[csv.columns++]);
    } while (end == ',');
    csv.titles = cells;
    csv.cells = cells + csv.columns;
    while (*place) {
        for (size_t column = 0; column < csv.columns; column++) {
            end = cut_cell(&place, &csv.cells[csv.rows * csv.columns + column]);
            if ((end == ',') != (column + 1 < csv.columns)) {
                fprintf(stderr, "row %zu does not have %zu cells\n", csv.rows + 2, csv.columns);
                exit(1);
            }
        }
        csv.rows++;
    }
    return csv;
}

void csv_free(struct csv *csv)
{
    free(csv->titles);
    free(csv->text);
}

const char *csv_cell(const struct csv *csv, size_t row, const char *title)
{
    for (size_t column = 0; column < csv->columns; column++) {
        if (strcmp(csv->titles[column], title) == 0) {
            return csv->cells[row * csv->columns + column];
        }
    }
    return "";
}

double csv_number(const struct csv *csv, size_t row, const char *title)
{
    return strtod(csv_cell(csv, row, title), NULL);
}

bool csv_is(const struct csv *csv, size_t row, const char *title, const char *word)
{
    return strcmp(csv_cell(csv, row, title), word) == 0;
}
