#include "report/run_script.h"

const char yk_run_style[] =
    ".at-wide.full svg.figure{max-width:none}\n"
    ".catch{cursor:crosshair;touch-action:pan-y}\n"
    ".cross{pointer-events:none}\n"
    ".catch:focus-visible{outline-offset:0}\n"
    ".small-charts{display:flex;flex-direction:column;gap:2px}\n"
    "th i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:8px}\n"
    "tr.total>*{font-weight:600}\n"
    ".kinds tbody th{min-width:0}\n"
    ".settings td{white-space:normal;overflow-wrap:anywhere;text-align:left}\n"
    ".sample{margin:12px 0 0;padding:12px 14px;max-height:min(72vh,560px);overflow:auto;\n"
    "  white-space:pre-wrap;overflow-wrap:anywhere;background:var(--track);border-radius:8px;\n"
    "  font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n";
