/* Runs inside a page, in a frame: does what a reader does, and tells the window around it what came
   of it, a line for each promise that was broken. page_in_browser_test.sh puts it there. */
'use strict';
const faults = [];
const promise = (kept, words) => kept || faults.push(words);
const frame = () => new Promise((done) => setTimeout(done, 40));
const find = (selector) => document.querySelector(selector);
/* Headless, time is counted in timers, not in frames. */
window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
window.addEventListener('error', (event) => faults.push(`error: ${event.message}`));
window.addEventListener('unhandledrejection', (event) => faults.push(`error: ${event.reason}`));

function send(target, kind, at, more) {
  const options = { bubbles: true, cancelable: true, clientX: at[0], clientY: at[1],
    pointerId: 1, pointerType: 'mouse', ...more };
  const Kind = { wheel: WheelEvent, click: MouseEvent }[kind] || PointerEvent;
  target.dispatchEvent(new Kind(kind, options));
  return frame();
}

function press(target, key, more) {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
  return frame();
}

/* What `action` does to what `read` gives. */
async function changes(read, action, words) {
  const before = read();
  await action();
  await frame();
  promise(read() !== before, words);
}

function brightness(colour) {
  const [r, g, b] = colour.map((c) => c / 255).map(
    (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const numbersOf = (colour) => colour.match(/[\d.]+/g).map(Number);

function groundOf(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = numbersOf(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) {
      return colour.slice(0, 3);
    }
  }
  return [255, 255, 255];
}

/* Every word on the page stands out from what is behind it. */
function checkContrast() {
  for (const element of document.querySelectorAll('body *')) {
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!words || element.closest('svg, script, :disabled, [hidden]') || !element.offsetParent) {
      continue;
    }
    const [a, b] = [numbersOf(getComputedStyle(element).color).slice(0, 3), groundOf(element)].map(
      brightness).sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    promise(ratio >= 4.5, `contrast ${ratio.toFixed(2)} of "${element.textContent.slice(0, 30)}"`);
  }
}

async function checkGestures(target, at, range) {
  const far = [at[0] + 120, at[1]];
  await changes(range, () => find('#zoom-in').click(), 'the button does not zoom in');
  await changes(range, () => send(target, 'wheel', at, { deltaY: -200, ctrlKey: true }),
    'the wheel does not zoom');
  await changes(range, async () => {
    await send(target, 'pointerdown', far);
    for (const x of [110, 80, 40]) {
      await send(target, 'pointermove', [at[0] + x, at[1]]);
    }
    await send(target, 'pointerup', at);
    await send(target, 'click', at);
  }, 'dragging does not move');
  await changes(range, async () => {
    const touch = { pointerType: 'touch' };
    await send(target, 'pointerdown', at, touch);
    await send(target, 'pointerdown', [at[0] + 40, at[1]], { ...touch, pointerId: 2 });
    await send(target, 'pointermove', far, { ...touch, pointerId: 2 });
    await send(target, 'pointerup', at, touch);
    await send(target, 'pointerup', far, { ...touch, pointerId: 2 });
  }, 'two fingers do not zoom');
  await changes(range, () => find('#fit').click(), 'the button does not fit');
}

async function checkPlan() {
  const lanes = find('#lanes-chart canvas');
  const memory = find('#memory-chart canvas');
  const tip = find('#tip');
  const range = () => find('#range').textContent;
  const picture = () => lanes.toDataURL();
  const box = lanes.getBoundingClientRect();
  const at = [box.left + 70, box.top + 76]; /* in the first lane, soon after its beginning */
  lanes.setPointerCapture = () => {};       /* there are no fingers to capture */

  await send(lanes, 'pointermove', at);
  promise(!tip.hidden && tip.textContent.startsWith('forward'), `no op pointed at: ${tip.textContent}`);
  promise(/start.*duration/.test(tip.textContent), 'the tooltip has no times');
  promise(tip.getBoundingClientRect().right <= innerWidth, 'the tooltip leaves the window');
  await send(lanes, 'pointerleave', at);
  promise(tip.hidden, 'the tooltip stays');

  await changes(picture, () => find('#zoom-in').click(), 'zooming draws nothing new');
  await checkGestures(lanes, at, range);
  lanes.focus();
  await changes(range, () => press(lanes, '+'), 'plus does not zoom');
  await changes(range, () => press(lanes, 'ArrowRight', { shiftKey: true }), 'Shift does not move');
  await changes(range, () => send(lanes, 'wheel', at, { deltaY: -100 }),
    'the wheel alone does not zoom a chart that has the focus');
  await changes(range, () => press(lanes, '0'), '0 does not fit');
  await press(lanes, 'ArrowRight');
  const first = find('#announcement').textContent;
  await press(lanes, 'ArrowRight');
  promise(first && find('#announcement').textContent !== first, 'the arrow keys do not go from op to op');
  await press(lanes, 'ArrowDown');
  promise(/comm/.test(find('#announcement').textContent), 'the arrow keys do not go to the next lane');
  await press(lanes, 'Escape');
  promise(tip.hidden, 'Escape does not close the tooltip');
  await changes(picture, () => find('.legend button').click(), 'the legend lights nothing up');

  const below = memory.getBoundingClientRect();
  await send(memory, 'pointermove', [below.left + 150, below.top + 120]);
  promise(/parameters.*together.*limit/.test(tip.textContent), `no memory: ${tip.textContent}`);
  await send(memory, 'pointerleave', [0, 0]);
  const bar = find(innerWidth > 640 ? '.at-wide [data-tip]' : '.at-narrow [data-tip]');
  await send(bar, 'pointerover', [200, 200]);
  promise(!tip.hidden && /compute/.test(tip.textContent), 'bars tell nothing');
  checkNumbers();
}

function checkNumbers() {
  let words = '';
  window.Blob = class { constructor(parts) { words = parts.join(''); } };
  URL.createObjectURL = () => '#';
  HTMLAnchorElement.prototype.click = () => {};
  find('.save').click();
  promise(words.startsWith('ranks,device,lane,op,start_s,end_s,bytes\n'), 'no file is saved');
  promise(words === find('#csv-lanes').textContent, 'the file is not what the page shows');
  for (const details of document.querySelectorAll('details')) {
    details.open = true;
  }
  promise(find('#csv-lanes').offsetHeight > 0, 'the numbers cannot be seen');
}

/* The op that is pointed at, and what the other trace has of it. */
async function checkRunLanes() {
  const lanes = find('#lanes-chart canvas');
  const tip = find('#tip');
  const box = lanes.getBoundingClientRect();
  /* In the predicted row of the first lane, soon after its first op has begun. */
  const at = [box.left + 62 + 0.09 * (box.width - 76), box.top + 60];
  lanes.setPointerCapture = () => {};
  await send(lanes, 'pointermove', at);
  promise(/^forward.*duration, predicted.*measured.*measured \/ predicted1.50/.test(tip.textContent),
    `no twin: ${tip.textContent}`);
  await send(lanes, 'pointermove', [at[0], at[1] + 27]);
  promise(/duration, measured.*predicted.*1.50/.test(tip.textContent), `no twin: ${tip.textContent}`);
  await send(lanes, 'pointerleave', at);
  promise(tip.hidden, 'the tooltip stays');
  await checkGestures(lanes, at, () => find('#range').textContent);
}

/* Of the widths in which the ranks over the steps are drawn, one is seen. */
function checkRankSteps() {
  const drawings = [...document.querySelectorAll('.widths svg')];
  const visible = drawings.filter((one) => one.getBoundingClientRect().width > 0);
  promise(drawings.length === 0 || visible.length === 1, `${visible.length} drawings of the ranks are visible`);
  promise(visible.every((one) => one.textContent.includes('rebalanced')), 'no change of shares is marked');
}

async function checkRun() {
  const tip = find('#tip');
  const [box] = [...document.querySelectorAll('.hover-area')].filter((one) => one.getBoundingClientRect().width);
  const crosses = () => [...document.querySelectorAll('.cross')].filter((one) => one.style.display === '');
  const frameOf = box.getBoundingClientRect();
  const middle = [frameOf.left + frameOf.width / 2, frameOf.top + 40];
  await send(box, 'pointermove', middle);
  promise(/^step \d.*loss.*smoothed.*gradient norm.*learning rate.*duration10ms.*tokens\/s6,400/.test(
    tip.textContent), `no step pointed at: ${tip.textContent}`);
  promise(!find('#csv-rank-steps') || /rank \d+ computes\d/.test(tip.textContent),
    `no ranks in: ${tip.textContent}`);
  promise(tip.getBoundingClientRect().right <= innerWidth, 'the tooltip leaves the window');
  promise(crosses().length === document.querySelectorAll('.hover-area').length, 'not marked in all charts');
  await send(box, 'pointerleave', [0, 0]);
  promise(tip.hidden && crosses().length === 0, 'the step stays');
  box.focus();
  await press(box, 'End');
  const last = find('#announcement').textContent;
  await press(box, 'ArrowLeft');
  promise(last && find('#announcement').textContent !== last, 'the arrow keys do not go from step to step');
  await press(box, 'Escape');
  promise(tip.hidden, 'Escape does not close the tooltip');
  let words = '';
  window.Blob = class { constructor(parts) { words = parts.join(''); } };
  URL.createObjectURL = () => '#';
  HTMLAnchorElement.prototype.click = () => {};
  find('.save').click();
  promise(words.startsWith('step,loss,') && words === find('#csv-steps').textContent,
    'the file is not what the page shows');
  checkRankSteps();
  if (find('#lanes-chart')) {
    await checkRunLanes();
  }
}

async function checkSchedule() {
  const chart = find('#lanes-chart canvas');
  const tip = find('#tip');
  const heading = () => find('#details h3') ? find('#details h3').textContent : '';
  const picture = () => chart.toDataURL();
  const box = chart.getBoundingClientRect();
  /* Task 1 runs first on the third device, until 9 of 80. */
  const at = [box.left + 62 + 0.05 * (box.width - 76), box.top + 42 + 2 * 46 + 14];
  chart.setPointerCapture = () => {};
  await changes(picture, () => send(chart, 'pointermove', at), 'the chain of waits is not lit up');
  promise(/^1on.*P3start0end9/.test(tip.textContent), `no task pointed at: ${tip.textContent}`);
  promise(heading() === '1 on P3, 0 to 9', `no details: ${heading()}`);
  await send(chart, 'pointerleave', at);
  promise(tip.hidden && heading() === '', 'what was pointed at stays');
  await checkGestures(chart, at, () => find('#range').textContent);

  chart.focus();
  await press(chart, 'ArrowRight');
  const first = heading();
  await press(chart, 'ArrowDown');
  promise(first && heading() !== first, 'the arrow keys do not go to the next device');
  promise(find('#announcement').textContent.includes('P2'), 'the arrow keys announce nothing');
  await press(chart, 'Enter');
  const pinned = heading();
  chart.blur();
  await frame();
  promise(pinned && heading() === pinned, 'Enter does not pin');
  await press(chart, 'Escape');
  promise(heading() === '', 'Escape does not unpin');
  for (const kind of ['pointerdown', 'pointerup', 'click', 'pointerleave']) {
    await send(chart, kind, at);
  }
  promise(heading() === '1 on P3, 0 to 9', 'a click does not pin');
  find('#longest').click();
  promise(heading() === '10 on P2, 73 to 80', `the last task is not shown: ${heading()}`);
  await changes(heading, () => find('#details .chain button').click(), 'a task of the chain is no button');
}

function checkPage() {
  promise(document.documentElement.scrollWidth <= innerWidth,
    `${document.documentElement.scrollWidth} pixels in a window of ${innerWidth}`);
  promise(document.images.length === 0 && document.scripts.length <= 4, 'a name became markup');
}

window.addEventListener('load', async () => {
  try {
    await frame();
    checkPage();
    checkContrast();
    await (find('.hover-area') ? checkRun() : find('#schedule') ? checkSchedule() : checkPlan());
    checkPage();
  } catch (error) {
    faults.push(`error: ${error.stack}`);
  }
  parent.postMessage(faults.length > 0 ? faults.join('\n') : 'all promises kept', '*');
});
