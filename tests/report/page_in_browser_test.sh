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
    --user-data-dir=$scratch/profile --virtual-time-budget=600000 --window-size=1400,1000"
# As root, Chromium has no sandbox to offer; the pages are ours.
[ "$(id -u)" != 0 ] || options="$options --no-sandbox"

# try SCHEME PAGE:WIDTH…: one after the other in one browser, since that takes a while to start, and in
# frames, since windows have a least width; 0 is Chromium's word for dark.
try() {
    scheme=$1
    shift
    trials=$(printf "'%s', " "$@")
    cat >"$scratch/frame.html" <<END
<!doctype html><meta charset="utf-8"><body><pre id="outcome"></pre><script>
const trials = [$trials];
const outcome = document.getElementById('outcome');
const frame = document.body.appendChild(document.createElement('iframe'));
const next = () => {
  const [page, width] = trials.length > 0 ? trials[0].split(':') : ['about:blank', 0];
  frame.style = 'height:900px;border:0;width:' + width + 'px';
  frame.src = page;
};
onmessage = (event) => {
  outcome.append(trials.shift() + ': ' + event.data + '\\n');
  next();
};
next();
</script>
END
    # shellcheck disable=SC2086 # one word for each option
    timeout 240 "$browser" $options "--blink-settings=preferredColorScheme=$scheme" --dump-dom \
        "file://$scratch/frame.html" >"$scratch/dom" 2>"$scratch/log" </dev/null || failed=1
    for trial; do
        ! grep -q "\\(^\\|>\\)$trial: all promises kept" "$scratch/dom" || continue
        echo "$trial pixels wide, scheme $scheme:"
        sed -n "/\\(^\\|>\\)$trial: /,/html:[0-9]*: \|<\/pre>/p" "$scratch/dom"
        failed=1
    done
    ! grep ':CONSOLE' "$scratch/log" || failed=1
}

failed=0
both=
for page in few many alike names schedule run run-ranks going run-names; do
    # The driver goes first, so that it hears of faults in the page's own script.
    { sed '/<head>/q' "$scratch/$page.html"
      echo '<script>'
      cat "$driver"
      echo '</script>'
      sed '1,/<head>/d' "$scratch/$page.html"; } >"$scratch/driven.html"
    mv "$scratch/driven.html" "$scratch/$page.html"
    both="$both $page.html:400 $page.html:1280"
done
# shellcheck disable=SC2086 # one word for each trial
try 1 $both
try 0 few.html:1280 run.html:1280 run-ranks.html:800
exit $failed
