/* The page of a schedule: rows of tasks, one for each device, and what is known of the one that is
   pointed at: its inputs, why it does not start earlier, and the chain of waits up to it. */

const data = JSON.parse(document.getElementById('schedule').textContent);
const details = document.getElementById('details');
const bars = []; /* { row, index, task, start, end }, in the order of the data */
const barOfTask = [];

/* The bar that is shown, and the one that stays so while nothing is pointed at. */
const shown = { bar: null, pinned: null, chain: [], links: new Set(), inputs: new Set() };

const deviceOf = (bar) => data.devices[bar.row.device];

for (let k = 0; k < 8; k++) {
  addKind(`task-${k}`, `task-${k}`, '');
}
addKind('merged', 'task-merged', '');

function describeTask(row, i) {
  return [['on', data.devices[row.device]], ['start', moment(row.starts[i])],
    ['end', moment(row.ends[i])], ['duration', short(row.ends[i] - row.starts[i])],
    ...(row.shares[i] < 1 ? [['busy', `${(100 * row.shares[i]).toFixed(1)} %`]] : [])];
}

function deviceRow(name, device) {
  const count = data.devices.length;
  const [height, bar] = count <= 12 ? [46, 28] : count <= 40 ? [30, 20] : [14, 11];
  const row = barRow(name, height, bar, (i) => describeTask(row, i));
  return Object.assign(row, { device, wideName: name, emphases: [], bars: [] });
}

function linkEmphasis(from, to) {
  if (shown.links.has(`${from} ${to}`)) {
    return 'chain';
  }
  return shown.bar && shown.bar.task === to ? 'input' : '';
}

/* Data that goes from one device to another. */
function listLinks() {
  return (data.tasks || []).flatMap((task, to) => task.inputs.filter(
    ([from]) => barOfTask[from].row !== barOfTask[to].row).map(([from, arrival]) => ({
    from: barOfTask[from].row,
    to: barOfTask[to].row,
    start: barOfTask[from].end,
    end: arrival,
    emphasis: () => linkEmphasis(from, to),
  })));
}

rowMakers.set('lanes-chart', () => {
  const rows = data.devices.map(deviceRow);
  for (const [device, start, end, task, kind, label, share] of data.bars) {
    const row = rows[device];
    const bar = { row, index: row.count, task, start, end };
    const name = label === undefined ? data.tasks[task].name : label;
    addBar(row, start, end, name, kinds.get(task < 0 ? 'merged' : `task-${kind}`), share);
    row.emphases.push('');
    row.bars.push(bar);
    bars.push(bar);
    if (task >= 0) {
      barOfTask[task] = bar;
    }
  }
  rows.links = listLinks();
  describe(null);
  return rows;
});

/* ---- what is shown ---- */

/* What each task waited for, from the given one backwards to one that waits for nothing. */
function chainOf(task) {
  const chain = [task];
  const visited = new Set(chain);
  for (let next = data.tasks[task].after; next >= 0 && !visited.has(next);
    next = data.tasks[next].after) {
    chain.push(next);
    visited.add(next);
  }
  return chain;
}

function emphasise(bar, emphasis) {
  bar.row.emphases[bar.index] = emphasis;
}

function showBar(bar) {
  if (bar === shown.bar) {
    return;
  }
  for (const task of [...shown.chain, ...shown.inputs]) {
    emphasise(barOfTask[task], '');
  }
  if (shown.bar) {
    emphasise(shown.bar, '');
  }
  const known = bar && bar.task >= 0 && data.tasks;
  shown.bar = bar;
  shown.chain = known ? chainOf(bar.task) : [];
  shown.inputs = new Set(known ? data.tasks[bar.task].inputs.map(([from]) => from) : []);
  shown.links = new Set(shown.chain.slice(1).map((from, i) => `${from} ${shown.chain[i]}`));
  shown.inputs.forEach((task) => emphasise(barOfTask[task], 'input'));
  shown.chain.forEach((task) => emphasise(barOfTask[task], 'chain'));
  if (bar) {
    emphasise(bar, 'on');
  }
  picked = Boolean(known);
  describe(bar);
  redraw();
}

function pin(bar) {
  shown.pinned = bar;
  if (bar) {
    bringIntoView(charts[0], bar.row, bar.index);
  }
  showBar(bar);
}

listeners.point = (over) => showBar(over ? over.row.bars[over.index] : shown.pinned);
listeners.choose = (over) => {
  const bar = over ? over.row.bars[over.index] : null;
  pin(bar === shown.pinned ? null : bar);
};

/* ---- the details ---- */

function taskButton(task) {
  const button = tag('button', data.tasks[task].name);
  button.type = 'button';
  button.dataset.task = task;
  return button;
}

function inputTable(task, bar) {
  const table = document.createElement('table');
  const head = table.createTHead().insertRow();
  for (const title of ['input', 'on', 'finishes', 'transfer', 'arrives']) {
    head.append(tag('th', title));
  }
  const body = table.createTBody();
  const all = [...task.inputs].sort((a, b) => b[1] - a[1]);
  for (const [from, arrival, cost] of all.slice(0, 40)) {
    const sender = barOfTask[from];
    const line = body.insertRow();
    line.insertCell().append(taskButton(from));
    line.append(tag('td', deviceOf(sender)), tag('td', short(sender.end)),
      tag('td', sender.row === bar.row ? 'same device' : short(cost)),
      tag('td', short(arrival)));
    line.className = arrival === bar.start && from === task.after ? 'last' : '';
  }
  return [table, all.length > 40 ? tag('p', `and ${all.length - 40} more`, 'soft') : ''];
}

function chainList(chain) {
  const list = tag('div', '', 'chain');
  const order = [...chain].reverse();
  order.forEach((task, i) => {
    if (order.length > 14 && i > 4 && i < order.length - 8) {
      if (i === 5) {
        list.append(tag('span', `\u2026 ${order.length - 13} more \u2026`));
      }
      return;
    }
    list.append(i > 0 ? '\u2192' : '', taskButton(task));
  });
  return list;
}

/* How the time up to the end of a chain was spent. */
function describeChain(chain) {
  const last = barOfTask[chain[0]];
  const first = barOfTask[chain[chain.length - 1]];
  let work = 0;
  for (const task of chain) {
    work += barOfTask[task].end - barOfTask[task].start;
  }
  const waiting = last.end - first.start - work;
  return `Of ${short(last.end)} time units, ${short(work)} are work` +
    (waiting > extent * 1e-9 ? `, ${short(waiting)} waiting` : '') +
    (first.start > 0 ? `, and ${short(first.start)} pass before the chain begins.` : '.');
}

function part(heading, ...content) {
  const element = document.createElement('div');
  element.append(tag('h4', heading), ...content);
  return element;
}

function keys() {
  const line = tag('div', '', 'keys');
  for (const [kind, meaning] of [['', 'this task'], ['feeds', 'its inputs'],
    ['leads', 'what it waits for, and what that waits for']]) {
    const entry = tag('span', '');
    entry.append(tag('span', '', `key ${kind}`), meaning);
    line.append(entry);
  }
  return line;
}

function lastBar() {
  return bars.reduce((last, bar) => bar.end > last.end ? bar : last);
}

function longest() {
  if (!data.tasks || bars.length === 0) {
    return [];
  }
  const chain = chainOf(lastBar().task);
  return [part('What the last task waits for', chainList(chain), tag('p', describeChain(chain)))];
}

function describe(bar) {
  if (!bar) {
    const hint = tag('p', data.tasks
      ? 'Point at a task, tap it, or reach it with Tab and the arrow keys: here you see ' +
        'what it needs and why it does not start earlier. Ctrl and the wheel zoom, ' +
        'dragging moves.'
      : 'Point at a bar, tap it, or reach it with Tab and the arrow keys. Ctrl and the ' +
        'wheel zoom, dragging moves.', 'soft');
    details.replaceChildren(hint, ...longest());
    return;
  }
  const where = tag('span', `on ${deviceOf(bar)}, ${short(bar.start)} to ${short(bar.end)}`);
  const heading = tag('h3', `${bar.row.labels[bar.index]} `);
  heading.append(where);
  if (bar.task < 0 || !data.tasks) {
    details.replaceChildren(heading);
    return;
  }
  const task = data.tasks[bar.task];
  const parts = tag('div', '', 'parts');
  if (task.inputs.length > 0) {
    parts.append(part('Inputs', ...inputTable(task, bar)));
  }
  if (shown.chain.length > 1) {
    parts.append(part('Chain of waits', chainList(shown.chain),
      tag('p', describeChain(shown.chain)), keys()));
  }
  const why = `${task.why[0].toUpperCase()}${task.why.slice(1)}.`;
  details.replaceChildren(heading, tag('p', why), parts);
}

details.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (button) {
    pin(barOfTask[+button.dataset.task]);
  }
});
details.classList.toggle('brief', !data.tasks);

const longestButton = tag('button', 'What makes it this long?');
longestButton.type = 'button';
longestButton.id = 'longest';
longestButton.hidden = !data.tasks;
longestButton.addEventListener('click', () => pin(lastBar()));
document.getElementById('fit').after(longestButton);
