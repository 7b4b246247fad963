/* Rows of ops: those of plans, a row for each lane, and of runs, two for each lane: as predicted and as
   measured. They come from the page's table `lanes`. */

function kindOf(op) {
  const space = op.indexOf(' ');
  return kinds.get(space < 0 ? op : op.slice(0, space)) || kinds.get('other');
}

function describeOp(row, i) {
  const length = row.ends[i] - row.starts[i];
  const which = row.trace ? `, ${row.trace}` : '';
  const pairs = [['on', `${row.device}, ${row.lane}`],
    [`start${which}`, moment(row.starts[i])], [`duration${which}`, seconds(length)]];
  if (row.twin) {
    pairs.push(...describeTwin(row, i));
  }
  if (row.bytes[i] > 0) {
    pairs.push(['moves', bytes(row.bytes[i])]);
    if (length > 0) {
      pairs.push(['rate', withUnit(row.bytes[i] / length, rateUnits)]);
    }
  }
  return pairs;
}

/* What the other trace has of an op that is in both. */
function describeTwin(row, i) {
  const other = row.twin;
  const twin = row.twins[i];
  if (twin < 0) {
    return [[`not ${other.trace}`, '']];
  }
  const own = row.ends[i] - row.starts[i];
  const length = other.ends[twin] - other.starts[twin];
  const [measured, predicted] = row.trace === 'measured' ? [own, length] : [length, own];
  const pairs = [[`start, ${other.trace}`, moment(other.starts[twin])],
    [`duration, ${other.trace}`, seconds(length)]];
  if (predicted > 0) {
    pairs.push(['measured / predicted', (measured / predicted).toFixed(2)]);
  }
  return pairs;
}

function opRow(device, lane, trace) {
  const row = barRow(trace || lane, 27, 20, (i) => describeOp(row, i));
  return Object.assign(row, { device, lane, trace, bytes: [] });
}

/* Ops of one name in a row, by their name and how many there were before. */
function opNumbers(row) {
  const counts = new Map();
  const numbers = new Map();
  row.labels.forEach((op, i) => {
    const count = counts.get(op) || 0;
    counts.set(op, count + 1);
    numbers.set(`${count} ${op}`, i);
  });
  return numbers;
}

/* Two rows of one lane, as predicted and as measured: every op learns of its twin. */
function pair(second) {
  const first = second.twin;
  const numbers = opNumbers(first);
  first.twin = second;
  for (const row of [first, second]) {
    row.twins = row.labels.map(() => -1);
  }
  for (const [key, i] of opNumbers(second)) {
    if (numbers.has(key)) {
      second.twins[i] = numbers.get(key);
      first.twins[numbers.get(key)] = i;
    }
  }
}

rowMakers.set('lanes-chart', () => {
  const rows = [];
  let ranks = null;
  let row = null;
  readTable('csv-lanes', ([numbers, device, lane, op, start, end, moved, trace]) => {
    const before = row;
    const other = numbers !== ranks || lane !== row.lane;
    if (numbers !== ranks || (trace && other)) {
      rows.push(nameRow(trace ? `${device}, ${lane}` : device, ''));
    }
    if (other || trace !== row.trace) {
      row = opRow(device, lane, trace);
      rows.push(row);
      row.twin = other ? null : before;
    }
    ranks = numbers;
    addBar(row, +start, +end, op, kindOf(op));
    row.bytes.push(+moved);
  });
  rows.filter((second) => second.twin).forEach(pair);
  if (rows.length > 48) {
    for (const dense of rows.filter((one) => one.bar)) {
      dense.height = 18;
      dense.bar = 12;
    }
  }
  return rows;
});
