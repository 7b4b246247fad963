# Read by the examples' ./gpu (". …/common/lab.sh", after page.sh): time that is left, ranks in a
# laboratory or pretended ones, and what they measured. Variables are those of ./gpu: $lab and $yoke the
# programs, $pretend where CPU ranks stand for a GPU's parts, $began, $time_limit.
# shellcheck shell=sh disable=SC2154,SC2034
tab=$(printf '\t')

# ---- time ----
elapsed() { echo $(($(date +%s) - began)); }
say() { echo "$(elapsed) s: $1" >&2; }
kept_back_s=0
keep_time() { kept_back_s=$1; } # for what comes later
# Whether any of them was asked for: by ONLY, an extended regular expression; without it all are.
any_wanted=
wanted() { # WORDS…
    [ -z "${ONLY:-}" ] || printf '%s\n' "$@" | grep -qE -- "$ONLY" || return 1
    any_wanted=yes
}
worth() { # SECONDS WORDS
    wanted "$2" && has_time "$@"
}
# Whether SECONDS are left for it; else it is noted as left out.
has_time() { # SECONDS WORDS
    [ "$(calculate %.0f "$(elapsed) + $1 + $kept_back_s")" -le "$time_limit" ] || {
        echo "$2" >>left-out
        false
    }
}

# What is said in the environment, before FOLDER is entered and emptied: what an earlier run has measured would be gone
# with it.
refuse() {
    echo "gpu: $1" >&2
    exit 2
}
check_wishes() { # FOLDER
    case ${TIME:-0} in *[!0-9]*) refuse "TIME=$TIME: seconds, a whole number" ;; esac
    matched=0
    [ -z "${ONLY:-}" ] || echo | grep -qE -- "$ONLY" 2>/dev/null || matched=$?
    [ $matched -le 1 ] || refuse "ONLY=$ONLY is no extended regular expression, such as 'BLEU|as planned'"
    [ -n "${PROFILES:-}" ] || return 0
    [ -d "$PROFILES" ] || refuse "PROFILES=$PROFILES: there is no such folder"
    PROFILES=$(realpath "$PROFILES")
    [ "$PROFILES" != "$(realpath "$1")" ] ||
        refuse "PROFILES=$PROFILES is the folder that this run writes into, and empties first: name another one"
}

# ---- ranks ----
# Lists are words between commas.
count_of() { echo "$1" | tr ',' '\n' | wc -l; }
pick() { # LIST NUMBER…
    list=$1
    shift
    for number; do echo "$list" | cut -d , -f $((number + 1)); done | paste -s -d , -
}
on_ranks() { # SECONDS SHARES MEMORY VERB WORD…
    seconds=$1 rank_shares=$2 rank_memory=$3 verb=$4
    shift 4
    if [ -n "$pretend" ]; then
        timeout -k 5 "$seconds" "$yoke" "$verb" --ranks "$(count_of "$rank_shares")" "$@"
    else
        timeout -k 10 "$seconds" "$lab" --shares "$rank_shares" --memory "$rank_memory" -- \
            "$yoke" "$verb" --device cuda ${WIRE:+--wire "$WIRE"} "$@"
    fi
}
on_torch_ranks() { # SECONDS SHARES MEMORY WORD…
    seconds=$1 rank_shares=$2 rank_memory=$3
    shift 3
    if [ -z "$pretend" ]; then
        timeout -k 5 "$seconds" "$lab" --shares "$rank_shares" --memory "$rank_memory" --launcher env -- "$@"
        return
    fi
    rank_count=$(count_of "$rank_shares")
    for rank in $(seq 0 $((rank_count - 1))); do
        RANK=$rank WORLD_SIZE=$rank_count LOCAL_RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 9000)) \
            timeout -k 5 "$seconds" "$@" &
    done
    wait
}
# The laboratory by datasheets, with the link that ranks have on loopback: where it was not measured.
cluster_line() { # SHARES MEMORY LINK
    if [ -n "$pretend" ]; then
        echo "$(count_of "$1")xcpu:1"
        return
    fi
    echo "$1 $2 $3" | awk '{
        n = split($1, share, ","); m = split($2, memory, ",")
        for (i = 1; i <= n; i++) {
            size = memory[m == 1 ? 1 : i]; sub(/G$/, "GiB", size); sub(/M$/, "MiB", size)
            printf "%s1x(1xh200:%s%%:%s)", (i > 1 ? " + " : ""), share[i], size
        }
        print " @ " $3 }'
}
bytes_of() { # 10GiB
    echo "$1" | awk '{ number = $1 + 0; sub(/^[0-9.]+/, "", $1)
        power["KiB"] = 1; power["MiB"] = 2; power["GiB"] = 3; printf "%.0f", number * 1024 ^ power[$1] }'
}
# A plan may leave devices out: ranks are started for those that it has.
plan_devices() { # PLAN: numbers from 0
    sed -n '/"ranks"/,/\]/p' "$1" | grep -o '"device": *"[a-z]*[0-9]*"' | sed 's/"$//; s/.*[^0-9]//'
}

# ---- what is trained on: a shard as llm.c writes them ----
write_tokens() { # COUNT VOCABULARY: 256 int32 (magic, version, count), then uint16, of which low ones are likelier
    printf '\210\330\064\001\001\000\000\000'
    printf '%b' "$(printf '\\%03o\\%03o\\%03o\\000' $(($1 % 256)) $(($1 / 256 % 256)) $(($1 / 65536)))"
    head -c 1012 /dev/zero
    LC_ALL=C awk -v tokens="$1" -v high=$(($2 / 256 - 1)) 'BEGIN {
        srand(1)
        for (i = 0; i < tokens; i++) printf "%c%c", 1 + int(255 * rand()), 1 + int(high * rand() ^ 3)
    }'
}

# ---- what came out ----
of_ranks() { # SUMMARY KEY: of every rank, with / between them
    if grep -q '"ranks": *\[' "$1"; then
        sed 's/.*"ranks": *\[//' "$1" | grep -o "\"$2\": *[-+0-9.e]*" | sed 's/.*: *//' | paste -s -d / -
        return
    fi
    case $2 in # one rank alone
    share) number "$1" batch ;;
    predicted_peak_bytes) number "$1" planned_bytes ;;
    *) if grep -q '"device_bytes": *[1-9]' "$1"; then number "$1" device_bytes; else number "$1" peak_bytes; fi ;;
    esac
}
settled() { # METRICS: the middle of the second half of the steps
    sed -n '/"loss"/s/.*"seconds": *\([-+0-9.e]*\).*/\1/p' "$1" |
        awk '{ v[NR] = $1 } END { for (i = int(NR / 2) + 1; i <= NR; i++) print v[i] }' | median
}
origin_of_times() { # LAB
    if [ ! -s "profile-$1.db" ]; then
        echo 'of datasheets, since measuring failed'
    elif case " ${earlier:-} " in *" $1 "*) true ;; *) false ;; esac; then
        echo 'measured there in an earlier run'
    elif grep -qs 'stopped before all was measured' "profile-$1.txt"; then
        echo 'measured there before, though not all of them'
    else
        echo 'measured there before'
    fi
}
# For tables made of rows by awk. Lists have / between their numbers, one for each rank.
row_functions='
    function most(list, parts, n, i, m) { n = split(list, parts, "/"); m = 0; for (i = 1; i <= n; i++) if (parts[i] + 0 > m) m = parts[i] + 0; return m }
    function each(list, parts, n, i, s) { n = split(list, parts, "/"); s = ""; for (i = 1; i <= n; i++) s = s (i > 1 ? "/" : "") sprintf("%.2f", parts[i] / 1073741824); return n ? s : "–" }
    function gib(bytes) { return bytes == "" || bytes + 0 == 0 ? "–" : sprintf("%.2f", bytes / 1073741824) }
    function ms(s) { return s == "" ? "–" : sprintf("%.0f", 1000 * s) }
    function off(a, b) { return a == "" || b == "" || b + 0 == 0 ? "–" : sprintf("%+.1f %%", 100 * (a / b - 1)) }
    function times(a, b) { return a == "" || b == "" || b + 0 == 0 ? "–" : sprintf("%.2f", a / b) }'
