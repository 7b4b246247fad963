/* What all scripts of a page use: the tables of CSV in it, numbers with units, the tooltip. */

const root = document.documentElement;
const timeline = document.querySelector('.timeline');
const extent = timeline && +timeline.dataset.span > 0 ? +timeline.dataset.span : 1;
const tip = document.getElementById('tip');

/* A line of CSV with quotes in it. */
function quotedCells(line) {
  const cells = [];
  for (let at = 0; at <= line.length;) {
    let cell = '';
    if (line[at] === '\u0022') {
      let end = at + 1;
      for (; end < line.length; end++) {
        if (line[end] === '\u0022' && line[++end] !== '\u0022') {
          break;
        }
        cell += line[end];
      }
      at = end + 1;
    } else {
      const comma = line.indexOf(',', at);
      const end = comma < 0 ? line.length : comma;
      cell = line.slice(at, end);
      at = end + 1;
    }
    cells.push(cell);
  }
  return cells;
}

/* Calls `use` with the cells of each row of a table that the page shows as CSV, except its head, whose
   cells are returned. The apostrophe that keeps a spreadsheet from reading a name as a formula comes
   off. */
function readTable(id, use) {
  const element = document.getElementById(id);
  const text = element ? element.textContent : '';
  let at = text.indexOf('\n') + 1;
  const head = text.slice(0, Math.max(0, at - 1)).split(',');
  for (let end = text.indexOf('\n', at); end >= 0; end = text.indexOf('\n', at)) {
    const line = text.slice(at, end);
    const cells = line.includes('\u0022') ? quotedCells(line) : line.split(',');
    use(line.includes('\u0027')
      ? cells.map((cell) => cell[0] === '\u0027' ? cell.slice(1) : cell) : cells);
    at = end + 1;
  }
  return head;
}

function withUnit(value, units) {
  const [unit, size] = units.find(([, size]) => Math.abs(value) >= size * 0.9995) ||
    units[units.length - 1];
  const scaled = +(value / size).toPrecision(12); /* without the noise of a difference */
  const large = Math.abs(scaled) >= 99.95 || Number.isInteger(scaled);
  return scaled.toFixed(large ? 0 : Math.abs(scaled) < 9.995 ? 2 : 1) + unit;
}

const secondUnits = [['s', 1], ['ms', 1e-3], ['us', 1e-6], ['ns', 1e-9]];
const byteUnits = [['TiB', 2 ** 40], ['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10],
  ['B', 1]];
const rateUnits = [['TB/s', 1e12], ['GB/s', 1e9], ['MB/s', 1e6], ['KB/s', 1e3],
  ['B/s', 1]];

const seconds = (value) => withUnit(value, secondUnits);
const bytes = (value) => withUnit(value, byteUnits);

/* A number with about six digits. */
function short(value) {
  return String(Math.abs(value) >= 1e6 ? Math.round(value) : +value.toPrecision(6));
}

/* A time of the timeline, in the unit that suits the whole of it; a schedule's times have none. */
function moment(time) {
  if (time === 0 || timeline.dataset.unit === '') {
    return short(time);
  }
  const [unit, size] = secondUnits.find(([, one]) => extent >= one) || secondUnits[3];
  return +(time / size).toPrecision(6) + unit;
}

/* First of the sorted `values` that is not under `value`. */
function firstFrom(values, value) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function tag(name, text, className) {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) {
    element.className = className;
  }
  return element;
}

/* Shows `title` and pairs of a name and a value near a point of the window, where there is room. A third
   in a pair is the class of a colour. */
function showTip(title, pairs, clientX, clientY) {
  const list = document.createElement('dl');
  for (const [name, value, className] of pairs) {
    const term = tag('dt', name);
    if (className) {
      term.prepend(tag('i', '', className));
    }
    list.append(term, tag('dd', value));
  }
  tip.replaceChildren(tag('strong', title), list);
  tip.hidden = false;
  const right = root.clientWidth - tip.offsetWidth - 8;
  const below = clientY + 18 + tip.offsetHeight < window.innerHeight;
  tip.style.left = `${Math.max(8, Math.min(clientX + 14, right))}px`;
  const top = below ? clientY + 18 : clientY - tip.offsetHeight - 12;
  tip.style.top = `${Math.max(8, top)}px`;
}

function hideTip() {
  tip.hidden = true;
}

/* Has a screen reader say it. */
function announce(text) {
  document.getElementById('announcement').textContent = text;
}
