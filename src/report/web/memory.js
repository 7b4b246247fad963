/* Rows of memory over time, stacked by kind, from the page's table `memory`. */

const memoryKinds = [...document.querySelectorAll('.legend [data-memory]')].map(
  (entry) => ({ name: entry.dataset.memory, className: entry.querySelector('i').className }));

/* The moments in view as [x, number]: of those on one pixel the fullest, then the last. */
function memorySteps(row) {
  const steps = [];
  const first = Math.max(0, firstFrom(row.times, view.from) - 1);
  for (let i = first; i < row.count && row.times[i] <= view.to;) {
    const pixel = Math.floor(x(row.times[i]));
    let fullest = i;
    let next = i;
    for (; next < row.count && Math.floor(x(row.times[next])) === pixel; next++) {
      fullest = row.totals[next] > row.totals[fullest] ? next : fullest;
    }
    steps.push([Math.max(pixel, layout.left), fullest]);
    if (fullest !== next - 1) {
      steps.push([pixel + 1, next - 1]);
    }
    i = next;
  }
  return steps;
}

function drawStack(context, row, y, steps) {
  const high = (value) => y + row.plot - value / row.max * row.plot;
  const until = (n) => n + 1 < steps.length ? steps[n + 1][0] : layout.right;
  for (let k = 0; k < memoryKinds.length && steps.length > 0; k++) {
    if (!row.used[k]) {
      continue;
    }
    context.beginPath();
    steps.forEach(([at, i], n) => {
      context.lineTo(at, high(row.tops[k + 1][i]));
      context.lineTo(until(n), high(row.tops[k + 1][i]));
    });
    for (let n = steps.length - 1; n >= 0; n--) {
      const [at, i] = steps[n];
      context.lineTo(until(n), high(row.tops[k][i]));
      context.lineTo(at, high(row.tops[k][i]));
    }
    context.fillStyle = colourOf(memoryKinds[k].className);
    context.fill();
  }
}

function drawMemory(context, row, y, chosen) {
  clip(context, 0, y - 2, row.plot + 4, () => {
    drawStack(context, row, y, memorySteps(row));
    if (chosen >= 0) {
      const top = y + row.plot - row.totals[chosen] / row.max * row.plot;
      const at = x(row.times[chosen]);
      context.lineWidth = 2;
      drawLine(context, at, at, top, y + row.plot, ink('ink'));
    }
  });
  context.lineWidth = 1;
  drawLine(context, layout.left, layout.right, y + row.plot, y + row.plot, ink('soft'));
  if (row.limit > 0) {
    const at = y + row.plot - row.limit / row.max * row.plot;
    context.lineWidth = 1.5;
    drawLine(context, layout.left, layout.right, at, at, ink('limit'), [6, 4]);
    setFont(context, 400, 11);
    drawText(context, bytes(row.limit), layout.left - 8, at + 4, ink('limit'), 'right');
  }
  drawText(context, '0', layout.left - 8, y + row.plot + 2, ink('soft'), 'right');
}

function describeMemory(row, i) {
  const pairs = [['at', moment(row.times[i])]];
  memoryKinds.forEach((kind, k) => {
    const amount = row.tops[k + 1][i] - row.tops[k][i];
    if (amount > 0) {
      pairs.push([kind.name, bytes(amount), kind.className]);
    }
  });
  const free = row.limit - row.totals[i];
  pairs.push(['together', bytes(row.totals[i])]);
  if (row.limit > 0) {
    pairs.push(['limit', bytes(row.limit)], free >= 0 ? ['free', bytes(free)]
      : ['too much', bytes(-free)]);
  }
  return { title: row.device, pairs };
}

function memoryRow(device, limit) {
  const row = { device, limit, height: 136, plot: 120, times: [], count: 0 };
  row.used = memoryKinds.map(() => false);
  row.tops = [[], ...memoryKinds.map(() => [])]; /* of each kind on those before it */
  row.totals = row.tops[memoryKinds.length];
  row.draw = (context, y, chosen) => drawMemory(context, row, y, chosen);
  row.at = (time) => firstFrom(row.times, time * (1 + 1e-12) + 1e-12) - 1;
  row.span = (i) => [row.times[i], row.times[i]];
  row.details = (i) => describeMemory(row, i);
  return row;
}

rowMakers.set('memory-chart', () => {
  const rows = [];
  let row = null;
  let ranks = null;
  readTable('csv-memory', ([numbers, device, limit, at, ...amounts]) => {
    let top = 0;
    if (numbers !== ranks) {
      row = memoryRow(device, +limit);
      rows.push(row);
      ranks = numbers;
    }
    row.times.push(+at);
    row.tops[0].push(0);
    amounts.forEach((amount, k) => {
      top += +amount;
      row.tops[k + 1].push(top);
      row.used[k] = row.used[k] || +amount > 0;
    });
    row.count++;
  });
  return rows.flatMap((plot) => {
    const peak = plot.totals.reduce((max, total) => Math.max(max, total), 0);
    plot.max = Math.max(peak, plot.limit) * 1.08 || 1;
    const amount = plot.limit > 0 ? `${bytes(peak)} of ${bytes(plot.limit)}` : bytes(peak);
    return [nameRow(plot.device, `fullest ${amount}`), plot];
  });
});
