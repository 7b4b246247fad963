/* Rows of what the devices' counters showed, from the page's table `counters`. */

const thousands = [['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3], ['', 1]];

function counted(value, unit) {
  if (unit === 'part') {
    return `${(100 * value).toFixed(1)} %`;
  }
  if (unit === 'B/s' || unit === 'B') {
    return withUnit(value, unit === 'B' ? byteUnits : rateUnits);
  }
  return unit === '' || unit === 'W' ? `${+value.toPrecision(3)}${unit}`
    : withUnit(value, thousands) + unit;
}

/* A reading is level from its beginning to its end. */
function drawLevels(context, row, line, y) {
  let last = null;
  context.beginPath();
  for (const { begin, end, value } of line.readings) {
    const high = y + row.plot - 1 - Math.min(1, value / row.max) * (row.plot - 4);
    if (last === null || begin - last > 1e-6) {
      context.moveTo(x(begin), high);
    }
    context.lineTo(x(begin), high);
    context.lineTo(x(end), high);
    last = end;
  }
  context.lineWidth = 1.5;
  context.strokeStyle = colourOf(`line-${line.number}`);
  context.stroke();
}

function drawCounters(context, row, y, chosen) {
  clip(context, 0, y - 1, row.plot + 2, () => {
    if (chosen >= 0) {
      const [begin, end] = row.span(chosen);
      context.fillStyle = ink('line');
      context.fillRect(x(begin), y, x(end) - x(begin), row.plot);
    }
    row.lines.forEach((line) => drawLevels(context, row, line, y));
  });
  setFont(context, 400, 11);
  const middle = y + row.plot / 2;
  drawText(context, row.title, layout.left - 8, middle - 3, ink('ink'), 'right');
  drawText(context, counted(row.max, row.unit), layout.left - 8, middle + 11, ink('soft'),
    'right');
}

function counterRow(device, title, unit) {
  const row = { device, title, unit, lines: [], times: [], ends: [], count: 0 };
  row.ground = (context, y) => {
    context.fillStyle = ink('track');
    context.fillRect(layout.left, y, layout.right - layout.left, row.plot);
  };
  row.draw = (context, y, chosen) => drawCounters(context, row, y, chosen);
  row.at = (time) => {
    const i = firstFrom(row.times, time * (1 + 1e-12) + 1e-12) - 1;
    return i >= 0 && time <= row.ends[i] ? i : -1;
  };
  row.span = (i) => [row.times[i], row.ends[i]];
  row.details = (i) => ({
    title: row.device,
    pairs: [['from', moment(row.times[i])], ['to', moment(row.ends[i])],
      ...row.lines.flatMap((line) => line.readings.filter(
        (reading) => reading.begin === row.times[i]).map((reading) =>
        [line.counter, counted(reading.value, unit), `line-${line.number}`]))],
  });
  return row;
}

function finishCounters(row) {
  const all = row.lines.flatMap((line) => line.readings);
  const ends = new Map(all.map(({ begin, end }) => [begin, end]));
  row.times = [...ends.keys()].sort((a, b) => a - b);
  row.ends = row.times.map((time) => ends.get(time));
  row.count = row.times.length;
  row.max = row.unit === 'part' ? 1
    : all.reduce((max, { value }) => Math.max(max, value), 0) || 1;
  row.plot = row.unit === 'part' ? 84 : 38;
  row.height = row.plot + 8;
}

function counterRows() {
  const rows = [];
  let row = null;
  let line = null;
  let rank = null;
  readTable('csv-counters', ([number, device, plot, counter, unit, order, begin, end, value]) => {
    if (number !== rank) {
      rows.push(nameRow(device, ''));
      row = null;
      rank = number;
    }
    if (!row || row.title !== plot) {
      row = counterRow(device, plot, unit);
      rows.push(row);
      line = null;
    }
    if (!line || line.counter !== counter) {
      line = { counter, number: order, readings: [] };
      row.lines.push(line);
    }
    line.readings.push({ begin: +begin, end: +end, value: +value });
  });
  rows.filter((one) => one.lines).forEach(finishCounters);
  return rows;
}

if (document.getElementById('counters-chart')) {
  rowMakers.set('counters-chart', counterRows);
}
