/* The step that is pointed at, in all curves over steps of a run's page. */

const steps = [];
const stepColumns = readTable('csv-steps', (cells) => steps.push(cells));
const speedName = (stepColumns[7] || '').replace('_per_s', '/s'); /* its column says of what */
const rankSteps = new Map(); /* what the ranks computed, by step */
readTable('csv-rank-steps', (cells) => rankSteps.set(cells[0], cells.slice(1)));
const stepNumbers = steps.map((cells) => +cells[0]);
const stepCharts = [...document.querySelectorAll('.hover-area')];
let stepOver = -1;

/* What ranks computed: all of a few, the slowest of many. */
function describeRanks(times) {
  const all = times.map((time, rank) => ({ rank, time: +time })).filter(
    ({ rank }) => times[rank] !== '');
  const shown = all.length > 8 ? all.sort((a, b) => b.time - a.time).slice(0, 3) : all;
  return shown.map(({ rank, time }) => [`rank ${rank} computes`, seconds(time)]);
}

function describeStep(i) {
  const [step, loss, smooth, evaluation, norm, rate, time, speed, skipped] = steps[i];
  const digits = (value) => String(+(+value).toPrecision(5));
  const pairs = [];
  const add = (name, value, format) => value !== '' && pairs.push([name, format(value)]);
  add('loss', loss, digits);
  add('smoothed', smooth, digits);
  add('evaluation', evaluation, digits);
  add('gradient norm', norm, digits);
  add('learning rate', rate, digits);
  add('duration', time, (value) => seconds(+value));
  add(speedName, speed, (value) => +value < 100
    ? (+value).toPrecision(3) : Math.round(+value).toLocaleString('en'));
  describeRanks(rankSteps.get(step) || []).forEach((pair) => pairs.push(pair));
  if (skipped === '1') {
    pairs.push(['update', 'skipped']);
  }
  return { title: `step ${(+step).toLocaleString('en')}`, pairs };
}

/* A line at the step, in every chart. */
function drawCross() {
  for (const box of stepCharts) {
    const [low, high] = [+box.dataset.low, +box.dataset.high];
    const [left, top] = [+box.getAttribute('x'), +box.getAttribute('y')];
    const part = stepOver < 0 ? 0 : (stepNumbers[stepOver] - low) / (high - low);
    const at = left + part * +box.getAttribute('width');
    const line = box.nextElementSibling;
    line.style.display = stepOver < 0 ? 'none' : '';
    for (const [name, value] of [['x1', at], ['x2', at], ['y1', top],
      ['y2', top + +box.getAttribute('height')]]) {
      line.setAttribute(name, value);
    }
  }
}

function showStep(i, clientX, clientY) {
  const { title, pairs } = describeStep(i);
  stepOver = i;
  showTip(title, pairs, clientX, clientY);
  drawCross();
  return [title, ...pairs.map(([name, value]) => `${name} ${value}`)].join(', ');
}

function leaveSteps() {
  stepOver = -1;
  hideTip();
  drawCross();
}

function pointStep(box, event) {
  const frame = box.getBoundingClientRect();
  const part = Math.min(1, Math.max(0, (event.clientX - frame.left) / frame.width));
  const wanted = +box.dataset.low + part * (+box.dataset.high - +box.dataset.low);
  const after = Math.min(steps.length - 1, firstFrom(stepNumbers, wanted));
  const before = Math.max(0, after - 1);
  const nearer = wanted - stepNumbers[before] < stepNumbers[after] - wanted;
  showStep(nearer ? before : after, event.clientX, event.clientY);
}

function pressStepKey(box, event) {
  const move = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
  if (event.key === 'Escape') {
    leaveSteps();
  } else if (move || event.key === 'Home' || event.key === 'End') {
    const wanted = event.key === 'Home' ? 0 : event.key === 'End' ? steps.length - 1
      : stepOver < 0 ? 0 : stepOver + move * (event.shiftKey ? 10 : 1);
    const i = Math.min(steps.length - 1, Math.max(0, wanted));
    const frame = box.getBoundingClientRect();
    const part = (stepNumbers[i] - box.dataset.low) / (box.dataset.high - box.dataset.low);
    announce(showStep(i, frame.left + part * frame.width, frame.bottom));
  } else {
    return;
  }
  event.preventDefault();
}

for (const box of stepCharts) {
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  line.setAttribute('class', 'axis cross');
  line.style.display = 'none';
  box.after(line);
  if (steps.length > 0) {
    box.addEventListener('pointermove', (event) => pointStep(box, event));
    box.addEventListener('click', (event) => pointStep(box, event));
    box.addEventListener('pointerleave', leaveSteps);
    box.addEventListener('blur', leaveSteps);
    box.addEventListener('keydown', (event) => pressStepKey(box, event));
  }
}
