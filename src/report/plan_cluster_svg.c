#include "report/label.h"
#include "report/plan_draw.h"
#include "report/plan_station.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MARGIN = 14,
    TRUNK = 22, /* left of the nodes, where there are several */
    GAP = 14,
    LEAST_BOX = 210,
    HEAD_HEIGHT = 26,
    CHIP_HEIGHT = 42,
    CHIP_GAP = 6,
    FOOT_HEIGHT = 24,
    CELL_WIDTH = 58,
    CELL_HEIGHT = 20,
};

/* A node, or several in a row that look the same. */
struct box {
    int32_t node;
    int32_t node_count;
    int32_t first; /* of its stations */
    int32_t station_count;
};

/* The least and the most of some links. */
struct speeds {
    double low;
    double high;
};

struct picture {
    struct yk_figure figure;
    const struct yk_stations *stations;
    struct box *boxes;
    int32_t box_count;
    int32_t columns;
    double left;
    double box_width;
    struct speeds inside;  /* of nodes */
    struct speeds between; /* nodes */
};

static void include(struct speeds *speeds, const struct yk_link *link)
{
    if (link) {
        speeds->low = speeds->high > 0 ? fmin(speeds->low, link->bytes_per_s) : link->bytes_per_s;
        speeds->high = fmax(speeds->high, link->bytes_per_s);
    }
}

/* Links within `node`, or all links within nodes for −1. */
static struct speeds speeds_inside(const struct yk_stations *stations, int32_t node)
{
    struct speeds speeds = {0};
    for (int32_t a = 0; a < stations->count; a++) {
        const int32_t home = yk_station_node(stations, a);
        for (int32_t b = a; b < stations->count && yk_station_node(stations, b) == home; b++) {
            if (node < 0 || node == home) {
                include(&speeds, yk_station_link(stations, a, b));
            }
        }
    }
    return speeds;
}

static struct speeds speeds_between(const struct yk_stations *stations)
{
    struct speeds speeds = {0};
    for (int32_t a = 0; a < stations->count; a++) {
        for (int32_t b = a + 1; b < stations->count; b++) {
            if (yk_station_node(stations, a) != yk_station_node(stations, b)) {
                include(&speeds, yk_station_link(stations, a, b));
            }
        }
    }
    return speeds;
}

static void add_speeds(const char *before, struct speeds speeds, char *out, size_t room)
{
    char low[YK_UNITS_SIZE];
    char high[YK_UNITS_SIZE];
    yk_units_format(speeds.low, YK_UNIT_BYTES_PER_S, low);
    yk_units_format(speeds.high, YK_UNIT_BYTES_PER_S, high);
    if (strcmp(low, high) == 0) {
        snprintf(out, room, "%sall %s", before, low);
    } else {
        snprintf(out, room, "%s%s to %s", before, low, high);
    }
}

static bool same_station(const struct yk_stations *stations, int32_t a, int32_t b)
{
    const struct yk_station *one = &stations->stations[a];
    const struct yk_station *other = &stations->stations[b];
    const struct yk_device *left = &stations->cluster->devices[one->device];
    const struct yk_device *right = &stations->cluster->devices[other->device];
    const struct yk_link *left_link = yk_station_link(stations, a, a);
    const struct yk_link *right_link = yk_station_link(stations, b, b);
    return one->count == other->count && one->used == other->used && left->type && right->type &&
           strcmp(left->type, right->type) == 0 && left->memory_bytes == right->memory_bytes &&
           left->part == right->part &&
           (!left_link || left_link->bytes_per_s == right_link->bytes_per_s);
}

/* Nodes are drawn as one only where it makes no difference which of them is meant. */
static bool same_box(const struct picture *picture, const struct box *a, const struct box *b)
{
    if (picture->between.low != picture->between.high || a->station_count != b->station_count) {
        return false;
    }
    for (int32_t i = 0; i < a->station_count; i++) {
        if (!same_station(picture->stations, a->first + i, b->first + i)) {
            return false;
        }
    }
    const struct speeds one = speeds_inside(picture->stations, a->node);
    const struct speeds other = speeds_inside(picture->stations, b->node);
    return one.low == other.low && one.high == other.high && one.low == one.high;
}

static yk_status make_boxes(struct picture *picture, struct yk_arena *arena)
{
    const struct yk_stations *stations = picture->stations;
    YK_TRY_NEW(arena, picture->boxes, stations->count > 0 ? stations->count : 1);
    for (int32_t s = 0; s < stations->count;) {
        struct box box = {.node = yk_station_node(stations, s), .node_count = 1, .first = s};
        while (s < stations->count && yk_station_node(stations, s) == box.node) {
            s++;
        }
        box.station_count = s - box.first;
        struct box *last = &picture->boxes[picture->box_count - (picture->box_count > 0)];
        if (picture->box_count > 0 && same_box(picture, last, &box)) {
            last->node_count++;
        } else {
            picture->boxes[picture->box_count++] = box;
        }
    }
    return YK_OK;
}

static double box_height(const struct picture *picture, const struct box *box)
{
    const double links =
        speeds_inside(picture->stations, box->node).high > 0 ? FOOT_HEIGHT : CHIP_GAP;
    return HEAD_HEIGHT + (CHIP_HEIGHT + CHIP_GAP) * box->station_count + links;
}

static double row_height(const struct picture *picture, int32_t first)
{
    double height = 0;
    for (int32_t b = first; b < first + picture->columns && b < picture->box_count; b++) {
        height = fmax(height, box_height(picture, &picture->boxes[b]));
    }
    return height;
}

static void draw_chip(const struct picture *picture, int32_t number, double x, double y,
                      double width)
{
    const struct yk_station *station = &picture->stations->stations[number];
    const struct yk_device *device = &picture->stations->cluster->devices[station->device];
    char memory[YK_UNITS_SIZE];
    char part[YK_NUMBER_SIZE];
    char words[YK_UNITS_SIZE + YK_NUMBER_SIZE + 48];
    yk_units_format(device->memory_bytes, YK_UNIT_BYTES, memory);
    yk_label_percent(device->part, 1, part);
    snprintf(words, sizeof words, "%s%s%s%s%s", memory, station->count > 1 ? " each" : "",
             device->part < 1 ? ", " : "", device->part < 1 ? part : "",
             station->used ? "" : ", not used");
    yk_figure_line(&picture->figure, "wire", x - 12, y + CHIP_HEIGHT / 2.0, x,
                   y + CHIP_HEIGHT / 2.0);
    yk_figure_begin_rect(&picture->figure, station->used ? "chip" : "chip unused", x, y, width,
                         CHIP_HEIGHT);
    yk_text_add(picture->figure.out, " rx=\"6\"/>\n");
    yk_figure_cut_text(&picture->figure, "strong", x + 10, y + 17, station->name,
                       YK_FIGURE_STRONG * (width - 20));
    yk_figure_cut_text(&picture->figure, "small soft", x + 10, y + 33, words, width - 20);
}

static void draw_box(const struct picture *picture, const struct box *box, double x, double y)
{
    const struct yk_figure *figure = &picture->figure;
    const struct speeds speeds = speeds_inside(picture->stations, box->node);
    char words[2 * YK_UNITS_SIZE + 24];
    yk_figure_begin_rect(figure, "box", x, y, picture->box_width, box_height(picture, box));
    yk_text_add(figure->out, " rx=\"10\"/>\n");
    if (box->node_count > 1) {
        snprintf(words, sizeof words, "nodes %d to %d, alike", box->node,
                 box->node + box->node_count - 1);
    } else {
        snprintf(words, sizeof words, "node %d", box->node);
    }
    yk_figure_text(figure, "soft", x + 12, y + 18, words);
    y += HEAD_HEIGHT;
    if (speeds.high > 0) {
        const double last = y + (CHIP_HEIGHT + CHIP_GAP) * (box->station_count - 1);
        yk_figure_line(figure, "wire", x + 14, y + CHIP_HEIGHT / 2.0, x + 14,
                       last + CHIP_HEIGHT + 10);
        add_speeds("links ", speeds, words, sizeof words);
        yk_figure_cut_text(figure, "small", x + 22, last + CHIP_HEIGHT + 18, words,
                           picture->box_width - 34);
    }
    for (int32_t i = 0; i < box->station_count; i++) {
        draw_chip(picture, box->first + i, x + 26, y, picture->box_width - 36);
        y += CHIP_HEIGHT + CHIP_GAP;
    }
}

/* Nodes in rows, joined by a wire that begins in the margin. Returns where they end. */
static double draw_nodes(const struct picture *picture, double y, bool measures)
{
    const bool joined = picture->between.high > 0;
    const double first = y + HEAD_HEIGHT / 2.0;
    for (int32_t b = 0; b < picture->box_count; b += picture->columns) {
        const int32_t end = (int32_t)fmin(b + picture->columns, picture->box_count);
        const double right =
            picture->left + (end - b) * (picture->box_width + GAP) - GAP - picture->box_width;
        const double wire = y + HEAD_HEIGHT / 2.0;
        if (joined && !measures) {
            yk_figure_line(&picture->figure, "wire", MARGIN, wire, right + 4, wire);
        }
        for (int32_t i = b; i < end && !measures; i++) {
            draw_box(picture, &picture->boxes[i],
                     picture->left + (i - b) * (picture->box_width + GAP), y);
        }
        y += row_height(picture, b) + GAP;
    }
    if (joined && !measures) {
        char words[2 * YK_UNITS_SIZE + 24];
        add_speeds("between nodes ", picture->between, words, sizeof words);
        yk_figure_line(&picture->figure, "wire", MARGIN, first, MARGIN, y + 4);
        yk_figure_text(&picture->figure, "small", MARGIN + 8, y + 8, words);
    }
    return y + (joined ? 18 : 0);
}

static bool has_matrix(const struct picture *picture)
{
    const int32_t count = picture->stations->count;
    const double left = picture->figure.width < YK_DRAW_NARROW ? 100 : 160;
    return count > 1 && left + (double)CELL_WIDTH * count + MARGIN <= picture->figure.width &&
           (picture->inside.low != picture->inside.high ||
            picture->between.low != picture->between.high);
}

/* Where links differ, the speed between any two stations. */
static void draw_matrix(const struct picture *picture, double y)
{
    const struct yk_stations *stations = picture->stations;
    const double left = picture->figure.width < YK_DRAW_NARROW ? 100 : 160;
    char words[YK_UNITS_SIZE];
    for (int32_t a = 0; a < stations->count; a++) {
        const double x = left + CELL_WIDTH * (a + 1);
        const double line = y + CELL_HEIGHT * (a + 1) + 14;
        yk_figure_cut_text(&picture->figure, "small soft end", x, y + 14,
                           stations->cluster->devices[stations->stations[a].device].name,
                           CELL_WIDTH - 4);
        yk_figure_cut_text(&picture->figure, "small", MARGIN, line, stations->stations[a].name,
                           left - MARGIN);
        for (int32_t b = 0; b < stations->count; b++) {
            const struct yk_link *link = yk_station_link(stations, a, b);
            yk_units_format(link ? link->bytes_per_s : 0, YK_UNIT_BYTES_PER_S, words);
            yk_figure_text(&picture->figure, "small end", left + CELL_WIDTH * (b + 1), line,
                           link ? words : "\xe2\x80\x93");
        }
    }
}

static void draw(struct picture *picture)
{
    const bool matrix = has_matrix(picture);
    const double top = picture->figure.alone ? YK_FIGURE_HEADING : 2;
    const double nodes = draw_nodes(picture, top, true);
    const char *assumption = picture->stations->cluster->assumption;
    const double room = picture->figure.width - 2.0 * MARGIN;
    const double below = nodes + (matrix ? CELL_HEIGHT * (picture->stations->count + 1) + 8 : 0);
    picture->figure.height =
        below + 6 + (assumption ? 14 + yk_figure_paragraph(NULL, "", 0, 0, assumption, room) : 0);
    yk_figure_begin(&picture->figure, "Devices by node, and the links between them");
    draw_nodes(picture, top, false);
    if (matrix) {
        draw_matrix(picture, nodes);
    }
    if (assumption) {
        yk_figure_paragraph(&picture->figure, "small soft", MARGIN, below + 14, assumption, room);
    }
    yk_figure_end(&picture->figure);
}

static yk_status draw_in(struct yk_arena *arena, const struct yk_plan_result *result,
                         struct yk_figure frame)
{
    struct yk_stations stations;
    struct picture picture = {.figure = frame, .stations = &stations};
    YK_TRY(yk_stations_make(result, arena, &stations));
    picture.inside = speeds_inside(&stations, -1);
    picture.between = speeds_between(&stations);
    YK_TRY(make_boxes(&picture, arena));
    picture.left = MARGIN + (picture.between.high > 0 ? TRUNK : 0);
    const double room = frame.width - MARGIN - picture.left;
    const double columns = fmin(floor((room + GAP) / (LEAST_BOX + GAP)), picture.box_count);
    picture.columns = (int32_t)fmax(1, columns);
    picture.box_width =
        fmin(picture.box_count > 1 ? 320 : 460, (room + GAP) / picture.columns - GAP);
    draw(&picture);
    return yk_text_status(frame.out);
}

yk_status yk_plan_draw_cluster(const struct yk_plan_result *result, struct yk_figure frame)
{
    YK_TRY_IN_ARENA(arena, draw_in(arena, result, frame));
    return YK_OK;
}
