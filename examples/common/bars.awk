# Bars as SVG: awk -F '\t' -f bars.awk -v title=… -v unit=… rows
# A row is LABEL, VALUE and, where it was predicted, that, with tabs between them: a line in the bar. PyTorch's are grey.
NF >= 2 {
    labels[++count] = $1; values[count] = $2 + 0; predicted[count] = $3 + 0; foreseen[count] = NF >= 3 && $3 != ""
    if (length($1) > longest) longest = length($1)
    if ($2 + 0 > most) most = $2 + 0
    if ($3 + 0 > most) most = $3 + 0
}
END {
    if (!count) exit
    left = longest > 28 ? 20 + 7 * longest : 215; width = 215 # 7 to a character
    printf "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", left + 289, 60 + 34 * count, title
    printf "<text class=\"title\" x=\"0\" y=\"16\">%s</text>\n", title
    for (i = 1; i <= count; i++) {
        y = 34 + 34 * (i - 1)
        printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 10, y + 16, labels[i]
        printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"22\" rx=\"3\" fill=\"%s\"/>\n", left, y, values[i] / most * width, labels[i] ~ /^PyTorch/ ? "#8a94a6" : "#2f6fde"
        if (foreseen[i]) {
            any = 1
            printf "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#d9822b\" stroke-width=\"3\"/>\n", left + predicted[i] / most * width, left + predicted[i] / most * width, y - 3, y + 25
        }
        end = values[i] > predicted[i] ? values[i] : predicted[i]
        printf "<text x=\"%.1f\" y=\"%d\">%.4g %s</text>\n", left + end / most * width + 8, y + 16, values[i], unit
    }
    if (any) printf "<text x=\"%d\" y=\"%d\" fill=\"#d9822b\">the orange line is what was predicted</text>\n", left, 50 + 34 * count
    print "</svg>"
}
