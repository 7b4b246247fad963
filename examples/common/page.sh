# Read by the examples that train (". …/common/page.sh"): numbers out of yoke's files, and a page
# around tables and charts. $here is the folder of the example.
# shellcheck shell=sh

# The program: YOKE, else build/release/yoke, else the one on the PATH.
find_yoke() {
    found=$here/../../build/release/yoke
    [ -x "$found" ] || found=yoke
    found=$(command -v "${YOKE:-$found}") || found=${YOKE:-yoke}
    case $found in
    */*) echo "$(cd "$(dirname "$found")" && pwd)/$(basename "$found")" ;;
    *) echo "$found" ;;
    esac
}

# The number after the first "KEY": in a file.
number() { grep -o "\"$2\": *[-+0-9.e]*" "$1" | head -n 1 | sed 's/.*: *//'; }

# What comes of an expression: calculate FORMAT EXPRESSION.
calculate() { awk "BEGIN { printf \"$1\", $2 }" </dev/null; }

# The middle one of numbers, one a line.
median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

# The largest difference between the losses of two runs in the steps that both have, or words.
loss_difference() {
    awk 'match($0, /"step": *[0-9]+/) {
            step = substr($0, RSTART, RLENGTH); sub(/.*: */, "", step)
            if (!match($0, /"loss": *[-+0-9.eA-Za-z]+/)) next
            loss = substr($0, RSTART, RLENGTH); sub(/.*: */, "", loss)
            if (FNR == NR) { one[step] = loss; next }
            if (!(step in one)) next
            compared++
            if (loss !~ /^[-+0-9.e]+$/) { lost = "loss is not a number here"; next }
            if (one[step] !~ /^[-+0-9.e]+$/) { other = "the other loss is not a number"; next }
            difference = loss - one[step]; if (difference < 0) difference = -difference
            if (difference > most) most = difference
        }
        END { print lost ? lost : other ? other : compared ? sprintf("%.2g", most) : "nothing compared" }' "$1" "$2"
}
# Of such differences, one a line, the largest; words come before any number.
worst_difference() {
    awk '$0 !~ /^[-+0-9.e]+$/ { words = $0; next } $1 >= most + 0 { most = $1 } END { print words == "" ? most : words }'
}

# Why the numbers of a run are wrong, where its gradients say so: they are not finite, or more than a hundred times those of the
# first step, or above a thousand. Nothing otherwise.
wrong_numbers() { # METRICS
    awk 'match($0, /"norm": *[-+0-9.eA-Za-z]+/) {
            norm = substr($0, RSTART, RLENGTH); sub(/.*: */, "", norm)
            if (norm !~ /^[-+0-9.e]+$/) { lost = 1; next }
            if (!steps++) first = norm + 0
            if (norm + 0 > most) most = norm + 0
        }
        END {
            if (lost) print "wrong numbers: the norm of its gradients is not finite"
            else if (most > 1000 || most > 100 * first) printf "wrong numbers: the norm of its gradients went from %.3g to %.3g\n", first, most
        }' "$1"
}

# What a program complained of: its first own sentence, else the last of its launcher's.
last_words() { # FILE
    {
        grep '^yoke: ' "$1" | grep -v ' warning: \| has ended' || grep '^yoke: ' "$1" ||
            grep -v '^lab: \|^ *$\|^-*$' "$1" | tail -n 1 | grep . || echo 'it took too long'
    } 2>&1 | head -n 1 | cut -c 1-300 | tr '\t' ' '
}

# The rows of ./left-out in a sentence.
left_out_words() {
    if [ -n "${ONLY:-}" ]; then
        [ -n "${any_wanted:-}" ] || echo "No row goes by ONLY=$ONLY."
        printf 'Only what goes by ONLY=%s was asked for. ' "$ONLY"
    fi
    if [ -s left-out ]; then
        echo "Left out: $(paste -s -d ';' left-out | sed 's/;/; /g')."
    else
        echo 'Nothing was left out.'
    fi
}

# The losses of a run as rows of a chart: losses NAME METRICS.
losses() {
    sed -n 's/.*"step": *\([0-9]*\), "loss": *\([-+0-9.e]*\).*/'"$1"'\t\1\t\2/p' "$2"
}

begin_page() { # TITLE TEXT
    cat <<END_OF_HEAD
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"><title>$1</title><style>
:root { color-scheme: light dark; --paper: #f3f4f7; --card: #fff; --ink: #1d2230; --soft: #667085; --line: #e3e6ec; }
@media (prefers-color-scheme: dark) { :root { --paper: #0e1014; --card: #16191f; --ink: #e5e8ee; --soft: #98a1b3; --line: #2b303a; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1360px; margin: auto; padding: 20px; }
section { margin-top: 20px; padding: 14px 20px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow-x: auto; }
h1 { font-size: 24px; margin-bottom: 4px; } h2 { font-size: 17px; margin: 0 0 8px; } p { color: var(--soft); margin: 4px 0; } a { color: #2f6fde; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 24px; align-items: start; }
svg { width: 100%; max-width: 640px; height: auto; } svg text { fill: var(--soft); font-size: 13px; } svg .title { fill: var(--ink); font-size: 14px; font-weight: 600; } svg .grid { stroke: var(--line); }
table { border-collapse: collapse; margin: 4px 0 8px; font-variant-numeric: tabular-nums; } th, td { text-align: right; padding: 4px 0 4px 22px; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; } .long { min-width: 14em; } .word { text-align: left; max-width: 28em; white-space: normal; } th { color: var(--soft); font-weight: 500; }
</style></head><body><main><h1>$1</h1>
<p>$2</p>
END_OF_HEAD
}

# Text with tables between bars becomes sections of the page; other lines become paragraphs. Columns of
# words stand on the left, those of numbers on the right.
tables() {
    awk -F ' *[|] *' '
    function begins_with_letter(text) { return text ~ /^[A-Za-z]/ && text !~ /^n\/a/ }
    function end_table(    i, j, words, cell, longest) {
        if (rows < 2) { rows = 0; return }
        print "<table>"
        longest = 0
        for (i = 1; i <= rows; i++) if (length(cells[i, 2]) > longest) longest = length(cells[i, 2])
        for (j = 3; j < columns; j++) {
            words = 0
            for (i = 2; i <= rows; i++) words += begins_with_letter(cells[i, j]) ? 1 : cells[i, j] ~ /[0-9]/ ? -1 : 0
            looks[j] = words > 0 ? " class=\"word\"" : ""
        }
        looks[2] = longest > 20 ? " class=\"long\"" : ""
        for (i = 1; i <= rows; i++) {
            cell = i == 1 ? "th" : "td"
            printf "<tr>"
            for (j = 2; j < columns; j++) printf "<%s%s>%s</%s>", cell, looks[j], cells[i, j], cell
            print "</tr>"
        }
        print "</table>"
        rows = 0
    }
    /^## / { end_table(); if (any) print "</section>"; any = 1; print "<section><h2>" substr($0, 4) "</h2>"; next }
    /^[|][-:]/ { next }
    /^[|]/ {
        if (!rows++) columns = NF
        for (i = 2; i < columns; i++) cells[rows, i] = $i
        next
    }
    { end_table(); if (NF) print "<p>" $0 "</p>" }
    END { end_table(); if (any) print "</section>" }'
}

end_page() { echo '</main></body></html>'; }
