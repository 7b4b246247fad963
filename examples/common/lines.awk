# Lines as SVG: awk -F '\t' -f lines.awk -v title=… -v across=… -v up=… [-v points=no] rows
# A row is SERIES, X, Y and, if the point has a name, NAME, with tabs between them. A series "NAME predicted" is dashed in the colour of
# NAME; one "NAME alone" is points without a line. With -v under=yes the first series is a broad
# line, to be seen under others that lie on it. The colours suit light and dark pages.

# The step of an axis: 1, 2 or 5 times a power of ten, for about `wanted` ticks.
function nice(range, wanted, raw, power) {
    raw = range / wanted
    power = exp(log(10) * floor(log(raw) / log(10)))
    raw /= power
    return power * (raw > 5 ? 10 : raw > 2 ? 5 : raw > 1 ? 2 : 1)
}
function floor(x) { return x >= 0 || x == int(x) ? int(x) : int(x) - 1 }
function at_x(x) { return left + (x - low_x) / (high_x - low_x) * width }
function at_y(y) { return top + height - (y - low_y) / (high_y - low_y) * height }
function text(x, y, anchor, what) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, what
}
function number(x) { return sprintf("%.6g", x) }

BEGIN {
    split("#2f6fde #d9822b #1f9d76 #c2417c #7b61c9 #6b7280", colours, " ")
    left = 64; top = 34; width = 420; height = 230; count = 0; named = 0; base_count = 0
}
NF >= 3 {
    if (!($1 in known)) {
        known[$1] = ++named
        names[named] = $1
        base = $1
        sub(/ (predicted|alone)$/, "", base)
        if (!(base in base_number)) base_number[base] = ++base_count
        colour_of[named] = colours[(base_number[base] - 1) % 6 + 1]
    }
    n = ++count
    series[n] = known[$1]; xs[n] = $2 + 0; ys[n] = $3 + 0; point[n] = $4
    if (n == 1) { low_x = high_x = $2 + 0; low_y = high_y = $3 + 0 }
    if (xs[n] < low_x) low_x = xs[n]
    if (xs[n] > high_x) high_x = xs[n]
    if (ys[n] < low_y) low_y = ys[n]
    if (ys[n] > high_y) high_y = ys[n]
}
END {
    if (!count) exit
    if (zero == "yes" || low_y > 0 && low_y < 0.5 * high_y) low_y = 0
    if (high_x == low_x) { high_x += 1 }
    if (high_y == low_y) { high_y += 1 }
    step_x = nice(high_x - low_x, 6); step_y = nice(high_y - low_y, 5)
    low_y = step_y * floor(low_y / step_y); high_y = -step_y * floor(-high_y / step_y)
    low_x = step_x * floor(low_x / step_x); high_x = -step_x * floor(-high_x / step_x)
    bottom = top + height + 44 + 20 * named
    printf "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", left + width + 20, bottom, title
    printf "<text class=\"title\" x=\"0\" y=\"16\">%s</text>\n", title
    for (y = low_y; y <= high_y + step_y / 2; y += step_y) {
        printf "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", left, left + width, at_y(y), at_y(y)
        text(left - 6, at_y(y) + 4, "end", number(y > -step_y / 1e6 && y < step_y / 1e6 ? 0 : y))
    }
    for (x = low_x; x <= high_x + step_x / 2; x += step_x) text(at_x(x), top + height + 18, "middle", number(x))
    text(left + width, top + height + 36, "end", across)
    printf "<text transform=\"translate(12 %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", top + height / 2, up
    for (s = 1; s <= named; s++) {
        dash = names[s] ~ / predicted$/ ? " stroke-dasharray=\"6 4\"" : ""
        if (names[s] !~ / alone$/) {
            broad = under == "yes" && s == 1 ? "8\" stroke-opacity=\"0.4" : "2"
            printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s points=\"", colour_of[s], broad, dash
            for (i = 1; i <= count; i++) if (series[i] == s) printf "%.1f,%.1f ", at_x(xs[i]), at_y(ys[i])
            print "\"/>"
        }
        if (points != "no") for (i = 1; i <= count; i++) if (series[i] == s) printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\"%s><title>%s: %s, %s</title></circle>\n", at_x(xs[i]), at_y(ys[i]), dash ? "2.5" : "4", colour_of[s], "", names[s], number(xs[i]), number(ys[i])
        for (i = 1; i <= count; i++) if (series[i] == s && point[i] != "") text(at_x(xs[i]) + (at_x(xs[i]) > left + width / 2 ? -8 : 8), at_y(ys[i]) - 8, at_x(xs[i]) > left + width / 2 ? "end" : "start", point[i])
        y = top + height + 50 + 20 * (s - 1)
        if (names[s] !~ / alone$/) printf "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", left, left + 26, y, y, colour_of[s], dash
        else printf "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n", left + 13, y, colour_of[s]
        label = names[s]; sub(/ alone$/, "", label)
        text(left + 34, y + 4, "start", label)
    }
    print "</svg>"
}
