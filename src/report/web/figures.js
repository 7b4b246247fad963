/* Pictures of pages with scripts: their titles as tooltips, their numbers as files. What stands in for a
   chart where no script runs goes. */

for (const title of document.querySelectorAll('svg.figure title')) {
  title.parentElement.dataset.tip = title.textContent;
  title.remove();
}
document.addEventListener('pointerover', (event) => {
  const target = event.target.closest ? event.target.closest('[data-tip]') : null;
  if (target) {
    showTip(target.dataset.tip, [], event.clientX, event.clientY);
  } else if (event.target.tagName !== 'CANVAS') {
    hideTip();
  }
});

window.addEventListener('scroll', hideTip, { passive: true });

for (const button of document.querySelectorAll('.save')) {
  button.hidden = false;
  button.addEventListener('click', () => {
    const text = document.getElementById(button.dataset.csv).textContent;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
    link.download = button.dataset.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

for (const element of document.querySelectorAll('.live')) {
  element.hidden = false;
}
for (const element of document.querySelectorAll('.still')) {
  element.hidden = true;
}
