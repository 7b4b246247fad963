#!/bin/sh
# Pages do in a browser what they promise: page_in_browser_test.sh EXAMPLE YOKE
# Each page is opened in frames of several widths, light and dark, with page_in_browser_test.js in it.
# Skipped (77) where there is no Chromium.
set -eu
example=$1
yoke=$2
driver=$(dirname "$0")/page_in_browser_test.js
browser=$(command -v chromium || command -v chromium-browser) || exit 77

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
"$example" "$scratch"
"$yoke" schedule --example --html "$scratch/schedule.html" >"$scratch/printed" 2>&1

options="--headless --disable-gpu --disable-dev-shm-usage --hide-scrollbars --enable-logging=stderr
    --user-data-dir=$scratch/profile --virtual-time-budget=60000 --window-size=1400,1000"
# As root, Chromium has no sandbox to offer; the pages are ours.
[ "$(id -u)" != 0 ] || options="$options --no-sandbox"

# try PAGE WIDTH SCHEME: in a frame, since windows have a least width; 0 is Chromium's word for dark.
try() {
    cat >"$scratch/frame.html" <<END
<!doctype html><meta charset="utf-8"><pre id="outcome">nothing was heard</pre><script>
onmessage = (event) => { document.getElementById('outcome').textContent = event.data; };
</script><iframe src="$1" style="width:$2px;height:900px;border:0"></iframe>
END
    # shellcheck disable=SC2086 # one word for each option
    timeout 120 "$browser" $options "--blink-settings=preferredColorScheme=$3" --dump-dom \
        "file://$scratch/frame.html" >"$scratch/dom" 2>"$scratch/log" </dev/null || failed=1
    if ! grep -q '>all promises kept<' "$scratch/dom" || grep -q ':CONSOLE' "$scratch/log"; then
        echo "$1, $2 pixels wide, scheme $3:"
        sed -n '/id="outcome"/,/<\/pre>/p' "$scratch/dom"
        grep ':CONSOLE' "$scratch/log" || true
        failed=1
    fi
}

failed=0
for page in few many alike names schedule run run-ranks going run-names; do
    # The driver goes first, so that it hears of faults in the page's own script.
    { sed '/<head>/q' "$scratch/$page.html"
      echo '<script>'
      cat "$driver"
      echo '</script>'
      sed '1,/<head>/d' "$scratch/$page.html"; } >"$scratch/driven.html"
    mv "$scratch/driven.html" "$scratch/$page.html"
    try "$page.html" 400 1
    try "$page.html" 1280 1
done
try few.html 1280 0
try run.html 1280 0
try run-ranks.html 800 0
exit $failed
