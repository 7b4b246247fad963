/* Charts over time: rows on a canvas that all show the same range of times. Zoom, pan, hover and the
   keyboard are here; what a row draws is its own. Scripts after this one put functions that make rows
   into `rowMakers`, by the id of the chart; the charts start when all scripts have run. */

const charts = [];
const rowMakers = new Map();
const theme = new Map(); /* colours by class or variable, as the page has them now */
const view = { from: 0, to: extent };
const layout = { width: 0, left: 0, right: 0, head: 0 };
let cross = null; /* the time under the pointer, marked in all charts */

/* What else happens when a bar is pointed at (or none is, null) and when one is chosen by a click, Enter
   or the space bar (null: by a click beside all of them, or Escape). */
const listeners = { point() {}, choose() {} };

/* ---- the range of times in view ---- */

/* The same guess as in the SVG: wide characters take two columns. */
function columns(text) {
  let count = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0);
    count += (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0) ||
      (code >= 0xac00 && code < 0xd7a4) || (code >= 0xff00 && code < 0xff61) ||
      code >= 0x1f300 ? 2 : 1;
  }
  return count;
}

function cut(text, pixels) {
  if (columns(text) * 6.7 <= pixels) {
    return text;
  }
  let kept = '';
  for (const letter of text) {
    if ((columns(kept + letter) + 1) * 6.7 > pixels) {
      break;
    }
    kept += letter;
  }
  return kept + '\u2026';
}

function stepFor(span, parts) {
  const low = span / parts * (1 - 1e-9);
  const power = 10 ** Math.floor(Math.log10(span / parts));
  return [1, 2, 5, 10].find((factor) => factor * power >= low) * power;
}

/* The round times in view, at least 90 pixels apart. */
function ticks() {
  const step = stepFor(view.to - view.from, Math.max(1, (layout.right - layout.left) / 90));
  const times = [];
  for (let k = Math.ceil(view.from / step - 1e-9); k * step <= view.to * (1 + 1e-12); k++) {
    times.push(+(k * step).toPrecision(12));
  }
  return times;
}

function x(time) {
  const part = (time - view.from) / (view.to - view.from);
  return layout.left + part * (layout.right - layout.left);
}

function timeAt(clientX, element) {
  const part = (clientX - element.getBoundingClientRect().left - layout.left) /
    (layout.right - layout.left);
  return view.from + Math.min(1, Math.max(0, part)) * (view.to - view.from);
}

let drawing = false;
function redraw() {
  if (!drawing) {
    drawing = true;
    requestAnimationFrame(() => { drawing = false; draw(); });
  }
}

function setView(from, to) {
  const span = Math.min(extent, Math.max(extent * 1e-5, to - from));
  view.from = Math.min(extent - span, Math.max(0, from));
  view.to = view.from + span;
  redraw();
}

function zoom(factor, time) {
  const part = (time - view.from) / (view.to - view.from);
  const span = (view.to - view.from) / factor;
  setView(time - part * span, time + (1 - part) * span);
}

function pan(time) {
  setView(view.from + time, view.to + time);
}

/* Moves the view, no further than needed, so that `start` to `end` is in it. */
function reveal(start, end) {
  const span = view.to - view.from;
  if (end - start > span * 0.9) {
    if (start > view.to || end < view.from) {
      setView(start, start + span);
    }
  } else if (start < view.from) {
    setView(start - span * 0.05, start + span * 0.95);
  } else if (end > view.to) {
    setView(end - span * 0.95, end + span * 0.05);
  }
}

/* ---- drawing ---- */

/* The colour of a class: its background. */
function colourOf(className) {
  if (!theme.has(className)) {
    const probe = root.appendChild(tag('i', '', className));
    theme.set(className, getComputedStyle(probe).backgroundColor);
    probe.remove();
  }
  return theme.get(className);
}

/* The colour of a variable: ink, soft, line, card, track, limit or accent. */
function ink(name) {
  if (!theme.has(name)) {
    theme.set(name, getComputedStyle(root).getPropertyValue(`--${name}`).trim());
  }
  return theme.get(name);
}

function setFont(context, weight, size) {
  if (!theme.has('font')) {
    theme.set('font', getComputedStyle(document.body).fontFamily);
  }
  context.font = `${weight} ${size}px ${theme.get('font')}`;
}

function drawLine(context, from, to, y1, y2, colour, dash) {
  context.strokeStyle = colour;
  context.setLineDash(dash || []);
  context.beginPath();
  context.moveTo(from, y1);
  context.lineTo(to, y2);
  context.stroke();
  context.setLineDash([]);
}

function drawText(context, text, at, y, colour, align) {
  context.fillStyle = colour;
  context.textAlign = align || 'left';
  context.fillText(text, at, y);
}

/* Calls `drawInside` with all but a rectangle, from `left` to `right` in the layout, cut off. */
function clip(context, margin, y, height, drawInside) {
  context.save();
  context.beginPath();
  context.rect(layout.left - margin, y, layout.right - layout.left + 2 * margin, height);
  context.clip();
  drawInside();
  context.restore();
}

/* A chart's canvas stays in place while its rows are scrolled past: however many there are, only those in
   sight are drawn. Rows have a height, and at least one of ground(context, y), which is under the grid,
   draw and caption, which is over all; those that can be pointed at have count, at(time, slack), span(i)
   and details(i), too. */
function makeChart(holder, rows) {
  const canvas = holder.querySelector('canvas');
  const chart = { holder, canvas, rows, links: rows.links || [], over: null, width: 0, height: 0 };
  chart.labelled = charts.length === 0 && marks.length > 0;
  chart.head = chart.labelled ? 42 : 26;
  chart.names = rows.reduce((widest, row) => Math.max(widest, columns(row.wideName || '') * 6.7), 0);
  chart.total = rows.reduce((top, row) => {
    row.top = top;
    return top + row.height;
  }, chart.head) + 4;
  holder.querySelector('.tall').style.height = `${chart.total}px`;
  holder.hidden = false;
  charts.push(chart);
  return chart;
}

/* The layout that x() and timeAt() use is that of one chart at a time. */
function use(chart) {
  chart.width = chart.holder.clientWidth;
  chart.height = Math.min(chart.total, chart.holder.clientHeight);
  layout.width = chart.width;
  layout.head = chart.head;
  layout.left = Math.max(62, Math.min(chart.names, chart.width / 4) + 24);
  layout.right = Math.max(layout.left + 40, chart.width - 14);
}

function prepare(chart) {
  const scale = window.devicePixelRatio || 1;
  const { canvas } = chart;
  const width = Math.round(chart.width * scale);
  const height = Math.round(chart.height * scale);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${chart.width}px`;
    canvas.style.height = `${chart.height}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, chart.width, chart.height);
  return context;
}

function drawGrid(context, chart) {
  context.lineWidth = 1;
  for (const time of ticks()) {
    drawLine(context, x(time), x(time), layout.head - 2, chart.height, ink('line'));
  }
}

function drawTimes(context) {
  setFont(context, 400, 11);
  for (const time of ticks()) {
    drawText(context, moment(time), x(time), layout.head - 10, ink('soft'), 'center');
  }
}

/* The end of the schedule or step, and its lower bound. */
const marks = [];
if (timeline && +timeline.dataset.end >= 0) {
  const { end, endName, bound, unit } = timeline.dataset;
  const reached = +bound > 0 && +bound === +end;
  const time = (value) => unit === '' ? short(value) : seconds(value);
  marks.push({ time: +end, colour: 'ink', dash: [], label: `${endName} ${time(+end)}`,
    remark: reached && unit === '' ? ', which no schedule beats' : '' });
  if (+bound > 0 && !reached) {
    marks.push({ time: +bound, colour: 'soft', dash: [2, 4], label: `lower bound ${time(+bound)}`,
      remark: '' });
  }
}

function drawMark(context, chart, time, colour, dash) {
  if (time >= view.from && time <= view.to) {
    context.lineWidth = 1.5;
    drawLine(context, x(time), x(time), layout.head - 2, chart.height, ink(colour), dash);
  }
}

/* The names of marks stand above the times, to the left of their lines, each left of the one before. */
function drawMarkLabels(context) {
  let right = layout.right;
  setFont(context, 400, 11);
  for (const mark of marks) {
    const label = mark.label + (layout.width >= 560 ? mark.remark : '');
    const width = columns(label) * 6.7;
    if (mark.time >= view.from && mark.time <= view.to) {
      const at = Math.max(Math.min(x(mark.time), right), width);
      drawText(context, label, at, 13, ink(mark.colour), 'right');
      right = at - width - 8;
    }
  }
}

/* What of a row is pointed at, or is the twin of that; -1 when there is nothing. */
function chosenOf(chart, row) {
  if (!chart.over) {
    return -1;
  }
  const { row: over, index } = chart.over;
  return over === row ? index : over.twin === row ? over.twins[index] : -1;
}

function drawRows(context, chart, above, pass) {
  for (const row of chart.rows) {
    const y = row.top - above;
    if (row[pass] && y + row.height >= 0 && y <= chart.height) {
      row[pass](context, y, chosenOf(chart, row));
    }
  }
}

function drawChart(chart) {
  use(chart);
  const context = prepare(chart);
  const above = chart.holder.scrollTop;
  context.save();
  context.beginPath();
  context.rect(0, layout.head - 2, chart.width, chart.height);
  context.clip();
  drawRows(context, chart, above, 'ground');
  drawGrid(context, chart);
  drawLinks(context, chart, above);
  drawRows(context, chart, above, 'draw');
  marks.forEach((mark) => drawMark(context, chart, mark.time, mark.colour, mark.dash));
  if (cross !== null) {
    drawMark(context, chart, cross, 'soft');
  }
  drawRows(context, chart, above, 'caption');
  context.restore();
  drawTimes(context);
  if (chart.labelled) {
    drawMarkLabels(context);
  }
}

function draw() {
  charts.forEach(drawChart);
  const zoomed = view.to - view.from < extent;
  document.getElementById('zoom-out').disabled = !zoomed;
  document.getElementById('fit').disabled = !zoomed;
  const shown = [view.from, view.to].map((time) => moment(+time.toPrecision(4)));
  document.getElementById('range').textContent = shown.join(' to ');
}

/* A row that is only a name, with some text about it. */
function nameRow(name, text) {
  return {
    height: 24,
    caption(context, y) {
      context.fillStyle = ink('card');
      context.fillRect(0, y - 2, layout.right + 4, 25);
      setFont(context, 600, 12);
      const room = layout.right - 8;
      const shown = cut(name, text ? room - columns(text) * 6.7 - 12 : room);
      drawText(context, shown, 8, y + 17, ink('ink'));
      setFont(context, 400, 11);
      drawText(context, text, layout.right, y + 17, ink('soft'), 'right');
    },
  };
}

/* ---- rows of bars ---- */

/* Kinds of bars by their names: the colour's class, what stands for them where there is no room for a
   label, and whether they are lit. */
const kinds = new Map();

function addKind(name, className, code, button) {
  kinds.set(name, { className, code, button, lit: true, number: kinds.size });
}

for (const button of document.querySelectorAll('.legend button')) {
  addKind(button.dataset.kind, button.querySelector('i').className, button.dataset.code, button);
}

/* Whether only bars with an emphasis are lit: 'on', 'chain' or 'input' in their row's `emphases`. */
let picked = false;

function emphasisOf(row, i) {
  return row.emphases ? row.emphases[i] : '';
}

/* How strongly a bar is drawn. */
function strength(row, i) {
  if (picked && !emphasisOf(row, i)) {
    return 0.28;
  }
  return row.kinds[i].lit ? row.shares[i] : 0.15;
}

/* A pixel of a row that narrow bars share: the kind that covers most of it colours it, the fainter the
   less of it is covered. */
const pixel = { at: -1, strength: 1, parts: [] };

function drawPixel(context, y, height) {
  let best = null;
  let covered = 0;
  if (pixel.at < 0) {
    return;
  }
  for (const kind of kinds.values()) {
    const part = pixel.parts[kind.number] || 0;
    covered += part;
    best = !best || part > (pixel.parts[best.number] || 0) ? kind : best;
  }
  context.globalAlpha = best.lit ? pixel.strength * Math.max(0.3, Math.min(1, covered)) : 0.15;
  context.fillStyle = colourOf(best.className);
  context.fillRect(pixel.at, y, 1, height);
  pixel.at = -1;
  pixel.parts.fill(0);
}

function drawNarrow(context, row, i, left, right, y) {
  const { number } = row.kinds[i];
  for (let at = Math.floor(left); at < right; at++) {
    if (pixel.at !== at) {
      drawPixel(context, y, row.bar);
      pixel.at = at;
      pixel.strength = picked ? 0.28 : row.shares[i];
    }
    pixel.parts[number] = (pixel.parts[number] || 0) + Math.min(right, at + 1) - Math.max(left, at);
  }
}

function fillBar(context, left, y, width, height) {
  if (width > 6 && context.roundRect) {
    context.beginPath();
    context.roundRect(left, y, width, height, height >= 24 ? 4 : 2);
    context.fill();
  } else {
    context.fillRect(left, y, width, height);
  }
}

function drawBar(context, row, i, y) {
  const kind = row.kinds[i];
  const left = Math.max(x(row.starts[i]), layout.left);
  const right = Math.min(x(row.ends[i]), layout.right);
  const gap = right - left > 4 ? 0.5 : 0; /* a hair of paper between neighbours */
  context.globalAlpha = strength(row, i);
  context.fillStyle = colourOf(kind.className);
  fillBar(context, left + gap, y, Math.max(0.75, right - left - 2 * gap), row.bar);
  if (right - left >= 14 && row.bar >= 11 && kind.lit) {
    const room = columns(row.labels[i]) * 6.2 + 8 <= right - left;
    context.globalAlpha = Math.max(context.globalAlpha, 0.45);
    drawText(context, room ? row.labels[i] : kind.code, (left + right) / 2, y + row.bar / 2 + 4, '#171b24',
      'center');
  }
}

/* Bars that take no time are ticks under the others. */
function drawInstant(context, row, i, y) {
  context.globalAlpha = strength(row, i);
  context.fillStyle = colourOf(row.kinds[i].className);
  context.fillRect(x(row.starts[i]) - 1, y + row.bar, 2, 4);
}

function drawBars(context, row, y) {
  let instant = -Infinity;
  setFont(context, 400, row.bar < 12 ? 9 : 11);
  for (let i = firstFrom(row.reach, view.from); i < row.count; i++) {
    const left = x(row.starts[i]);
    const right = x(row.ends[i]);
    if (row.starts[i] > view.to) {
      break;
    } else if (row.starts[i] === row.ends[i]) {
      if (left - instant >= 5) {
        drawInstant(context, row, i, y);
        instant = left;
      }
    } else if (right - left >= 3 || emphasisOf(row, i)) {
      drawPixel(context, y, row.bar);
      drawBar(context, row, i, y);
    } else {
      drawNarrow(context, row, i, Math.max(0, left), right, y);
    }
  }
  drawPixel(context, y, row.bar);
  context.globalAlpha = 1;
}

function frameBar(context, row, i, y, colour, width) {
  const left = x(row.starts[i]);
  context.lineWidth = width;
  context.strokeStyle = ink(colour);
  context.strokeRect(left - 0.5, y - 1, Math.max(3, x(row.ends[i]) - left) + 1, row.bar + 2);
}

/* Frames around bars with an emphasis and the one that is pointed at. */
function drawFrames(context, row, y, chosen) {
  const styles = { input: ['ink', 1.25], chain: ['accent', 2], on: ['ink', 2.5] };
  (row.emphases || []).forEach((emphasis, i) => emphasis && frameBar(context, row, i, y, ...styles[emphasis]));
  if (chosen >= 0) {
    frameBar(context, row, chosen, y, 'ink', 2);
  }
}

/* The bar at a time, or the nearest within `slack`; -1 when there is none. */
function barAt(row, time, slack) {
  let best = -1;
  let distance = slack;
  for (let i = firstFrom(row.reach, time - slack); i < row.count; i++) {
    if (row.starts[i] > time + slack) {
      break;
    }
    const away = Math.max(row.starts[i] - time, time - row.ends[i], 0);
    if (away < distance || (away === 0 && row.ends[i] > row.starts[i])) {
      best = i;
      distance = away;
    }
  }
  return best;
}

/* How many bars share the pixels around bar `i`. */
function crowd(row, i) {
  const width = (view.to - view.from) / (layout.right - layout.left);
  if (row.ends[i] - row.starts[i] >= width) {
    return 1;
  }
  const first = firstFrom(row.starts, row.starts[i]);
  return firstFrom(row.starts, row.starts[i] + width) - first;
}

/* An empty row of bars, with its name to the left; `describe(i)` gives pairs of a name and a value for
   the tooltip of bar `i`. */
function barRow(name, height, bar, describe) {
  const row = { name, height, bar, count: 0, starts: [], ends: [], labels: [], kinds: [], shares: [] };
  row.reach = []; /* the latest end so far */
  row.ground = (context, y) => {
    context.fillStyle = ink('track');
    context.fillRect(layout.left, y, layout.right - layout.left, row.bar);
    setFont(context, 400, row.wideName ? row.bar < 12 ? 9 : 12 : 11);
    drawText(context, row.wideName ? cut(name, layout.left - 14) : name, layout.left - 8, y + row.bar / 2 + 4,
      ink(row.wideName ? 'ink' : 'soft'), 'right');
  };
  row.draw = (context, y, chosen) => {
    clip(context, 1, y - 3, row.height + 3, () => {
      drawBars(context, row, y);
      drawFrames(context, row, y, chosen);
    });
  };
  row.at = (time, slack) => barAt(row, time, slack);
  row.span = (i) => [row.starts[i], row.ends[i]];
  row.details = (i) => {
    const others = crowd(row, i) - 1;
    const pairs = describe(i);
    if (others > 0) {
      pairs.push(['here too', `${others} more: zoom in`]);
    }
    return { title: row.labels[i], pairs };
  };
  return row;
}

/* Bars are added by start. `share` is how much of the bar something runs in. */
function addBar(row, start, end, label, kind, share = 1) {
  row.starts.push(start);
  row.ends.push(end);
  row.labels.push(label);
  row.kinds.push(kind);
  row.shares.push(share);
  row.reach.push(Math.max(end, row.count > 0 ? row.reach[row.count - 1] : 0));
  row.count++;
}

/* ---- links between bars ---- */

/* A curve from where a bar of one row ends to where its data arrives at another row, with a dot there. */
function drawLink(context, link, above, dots) {
  const down = link.from.top < link.to.top;
  const y1 = link.from.top - above + (down ? link.from.bar : 0);
  const y2 = link.to.top - above + (down ? 0 : link.to.bar);
  const middle = (y1 + y2) / 2;
  context.beginPath();
  context.moveTo(x(link.start), y1);
  context.bezierCurveTo(x(link.start), middle, x(link.end), middle, x(link.end), y2);
  context.stroke();
  if (dots) {
    context.beginPath();
    context.arc(x(link.end), y2, 1.8, 0, 2 * Math.PI);
    context.fill();
  }
}

/* Too many lines show nothing: then only those with an emphasis are drawn. */
function drawLinks(context, chart, above) {
  const styles = { chain: ['accent', 1, 1.75], input: ['ink', 1, 1.75],
    '': ['soft', (chart.links.length > 80 ? 0.3 : 0.55) * (picked ? 0.25 : 1), 1] };
  clip(context, 3, 0, chart.height, () => {
    for (const emphasis of ['', 'input', 'chain']) {
      const [colour, alpha, width] = styles[emphasis];
      context.strokeStyle = ink(colour);
      context.fillStyle = ink(colour);
      context.globalAlpha = alpha;
      context.lineWidth = width;
      for (const link of chart.links) {
        const passes = link.start <= view.to && link.end >= view.from;
        if (passes && link.emphasis() === emphasis && (emphasis || chart.links.length <= 1500)) {
          drawLink(context, link, above, emphasis || chart.links.length <= 80);
        }
      }
    }
  });
}

/* ---- pointer, wheel and fingers ---- */

const pointers = new Map();
const drag = { x: 0, moved: false, distance: 0 };

function spread() {
  const [a, b] = [...pointers.values()];
  return { distance: Math.abs(a - b), middle: (a + b) / 2 };
}

function moveDrag(element, event) {
  if (!pointers.has(event.pointerId)) {
    return;
  }
  pointers.set(event.pointerId, event.clientX);
  if (pointers.size === 2) {
    const { distance, middle } = spread();
    if (drag.distance > 10 && distance > 10) {
      zoom(distance / drag.distance, timeAt(middle, element));
    }
    drag.distance = distance;
    return;
  }
  const pixels = drag.x - event.clientX;
  if (!drag.moved && Math.abs(pixels) < 5) {
    return;
  }
  if (!drag.moved) {
    drag.moved = true;
    element.setPointerCapture(event.pointerId);
  }
  drag.x = event.clientX;
  pan(pixels / (layout.right - layout.left) * (view.to - view.from));
}

/* The wheel zooms with Ctrl, or alone once the chart has the focus. */
function turnWheel(element, event) {
  const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
  const across = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (event.ctrlKey || event.metaKey || (document.activeElement === element && !across)) {
    zoom(Math.exp(-event.deltaY * 0.004), timeAt(event.clientX, element));
  } else if (view.to - view.from < extent && across) {
    pan(sideways / (layout.right - layout.left) * (view.to - view.from));
  } else {
    return;
  }
  event.preventDefault();
}

/* A click that ends a drag finds drag.moved set. */
function followGestures(element) {
  element.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, event.clientX);
    drag.x = event.clientX;
    drag.moved = pointers.size > 1;
    drag.distance = pointers.size === 2 ? spread().distance : 0;
  });
  element.addEventListener('pointermove', (event) => moveDrag(element, event));
  for (const kind of ['pointerup', 'pointercancel']) {
    element.addEventListener(kind, (event) => pointers.delete(event.pointerId));
  }
  element.addEventListener('wheel', (event) => turnWheel(element, event), { passive: false });
}

function rowAt(chart, clientY) {
  const y = clientY - chart.canvas.getBoundingClientRect().top;
  const inside = y + chart.holder.scrollTop;
  const hit = (row) => row.at && inside >= row.top && inside < row.top + row.height;
  return y < layout.head ? null : chart.rows.find(hit);
}

/* Where bar or moment `i` of a row is in the window. */
function placeOf(chart, row, i) {
  const frame = chart.canvas.getBoundingClientRect();
  const [start, end] = row.span(i);
  const middle = (Math.max(start, view.from) + Math.min(end, view.to)) / 2;
  const height = row.bar || row.plot;
  return [frame.left + x(middle), frame.top + row.top - chart.holder.scrollTop + height];
}

function show(chart, row, index, clientX, clientY) {
  const { title, pairs } = row.details(index);
  chart.over = { row, index };
  showTip(title, pairs, clientX, clientY);
  listeners.point(chart.over);
  redraw();
}

function leave(chart) {
  chart.over = null;
  cross = null;
  hideTip();
  listeners.point(null);
  redraw();
}

function point(chart, event) {
  use(chart);
  const row = rowAt(chart, event.clientY);
  const time = timeAt(event.clientX, chart.canvas);
  const slack = 4 * (view.to - view.from) / (layout.right - layout.left);
  const index = row ? row.at(time, slack) : -1;
  if (index >= 0) {
    show(chart, row, index, event.clientX, event.clientY);
  } else {
    leave(chart);
  }
  cross = time;
}

/* ---- keys ---- */

/* Moves the view in time, and the rows, until bar `index` of `row` is in sight. */
function bringIntoView(chart, row, index) {
  use(chart);
  reveal(...row.span(index));
  const hidden = row.top + row.height - (chart.holder.scrollTop + chart.height);
  if (hidden > 0) {
    chart.holder.scrollTop += hidden;
  } else if (row.top - chart.head < chart.holder.scrollTop) {
    chart.holder.scrollTop = row.top - chart.head;
  }
}

function goTo(chart, row, index) {
  bringIntoView(chart, row, index);
  show(chart, row, index, ...placeOf(chart, row, index));
  const { title, pairs } = row.details(index);
  announce([title, ...pairs.map(([name, value]) => `${name} ${value}`)].join(', '));
}

function goAcross(chart, direction) {
  const { row, index } = chart.over;
  const [start, end] = row.span(index);
  const places = chart.rows.filter((other) => other.count > 0);
  const next = places[places.indexOf(row) + direction];
  if (next) {
    goTo(chart, next, Math.max(0, next.at((start + end) / 2, extent)));
  }
}

function go(chart, key) {
  if (!chart.over) {
    const row = chart.rows.find((other) => other.count > 0);
    if (row) {
      goTo(chart, row, Math.max(0, row.at(view.from, extent)));
    }
    return;
  }
  const { row, index } = chart.over;
  if (key === 'ArrowUp' || key === 'ArrowDown') {
    goAcross(chart, key === 'ArrowUp' ? -1 : 1);
  } else {
    const next = index + (key === 'ArrowLeft' ? -1 : 1);
    goTo(chart, row, Math.min(row.count - 1, Math.max(0, next)));
  }
}

/* The keys that move the view, around `middle`; whether `key` was one of them. */
function zoomByKey(key, middle) {
  if (key === '+' || key === '=') {
    zoom(1.5, middle);
  } else if (key === '-') {
    zoom(1 / 1.5, middle);
  } else if (key === '0') {
    setView(0, extent);
  } else {
    return false;
  }
  return true;
}

function pressKey(chart, event) {
  const arrow = event.key.startsWith('Arrow');
  const span = view.to - view.from;
  use(chart);
  let middle = (view.from + view.to) / 2;
  if (chart.over) {
    const [start, end] = chart.over.row.span(chart.over.index);
    middle = Math.min(view.to, Math.max(view.from, (start + end) / 2));
  }
  if (arrow && event.shiftKey) {
    pan(event.key === 'ArrowLeft' ? -span / 5 : event.key === 'ArrowRight' ? span / 5 : 0);
  } else if (arrow) {
    go(chart, event.key);
  } else if (event.key === 'Escape') {
    listeners.choose(null);
    leave(chart);
  } else if ((event.key === 'Enter' || event.key === ' ') && chart.over) {
    listeners.choose(chart.over);
  } else if (event.ctrlKey || event.metaKey || !zoomByKey(event.key, middle)) {
    return;
  }
  event.preventDefault();
}

/* ---- the start ---- */

function listen(chart) {
  const { canvas, holder } = chart;
  canvas.addEventListener('pointerdown', () => use(chart));
  canvas.addEventListener('wheel', () => use(chart));
  followGestures(canvas);
  canvas.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'mouse' && pointers.size === 0) {
      point(chart, event);
    }
  });
  canvas.addEventListener('pointerleave', () => leave(chart));
  canvas.addEventListener('click', (event) => {
    if (!drag.moved) {
      point(chart, event);
      listeners.choose(chart.over);
    }
    drag.moved = false;
  });
  canvas.addEventListener('keydown', (event) => pressKey(chart, event));
  canvas.addEventListener('blur', () => leave(chart));
  holder.addEventListener('scroll', redraw);
  new ResizeObserver(redraw).observe(holder);
}

/* Which kinds of bars are lit: those whose button is pressed, or all when none is. */
function listenToLegend() {
  const all = [...kinds.values()].filter((kind) => kind.button);
  const isPressed = (kind) => kind.button.getAttribute('aria-pressed') === 'true';
  for (const kind of all) {
    kind.button.addEventListener('click', () => {
      kind.button.setAttribute('aria-pressed', String(!isPressed(kind)));
      const some = all.some(isPressed);
      for (const one of all) {
        one.lit = !some || isPressed(one);
      }
      redraw();
    });
  }
}

function listenToButtons() {
  const middle = () => (view.from + view.to) / 2;
  document.getElementById('zoom-in').addEventListener('click', () => zoom(2, middle()));
  document.getElementById('zoom-out').addEventListener('click', () => zoom(0.5, middle()));
  document.getElementById('fit').addEventListener('click', () => setView(0, extent));
}

function startCharts() {
  for (const [id, makeRows] of rowMakers) {
    const holder = document.getElementById(id);
    const rows = makeRows();
    if (rows.length > 0) {
      listen(makeChart(holder, rows));
    } else {
      holder.hidden = true;
    }
  }
  listenToLegend();
  listenToButtons();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    theme.clear();
    redraw();
  });
  draw();
}

queueMicrotask(startCharts);
