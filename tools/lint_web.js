// Checks that web files can be read: node tools/lint_web.js FILE… (.js, .css, .html). Scripts are parsed, each
// alone and those of one folder together, since a page runs them in one scope; braces of styles and tags of
// pages must match. Names each fault as FILE:LINE and ends with 1 if there is any.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track',
  'wbr']);
let faults = 0;

function report(file, line, message) {
  console.log(`${file}:${line}: ${message}`);
  faults++;
}

const lineAt = (text, index) => text.slice(0, index).split('\n').length;

// The line of the fault is the first of the stack.
function checkScript(file, text) {
  try {
    new vm.Script(`(() => { 'use strict';${text}\n})();`, { filename: file });
  } catch (error) {
    const line = /:(\d+)\n/.exec(error.stack);
    report(file, line ? line[1] : 1, error.message);
  }
}

// Comments and strings become spaces, so that lines stay what they are.
function blank(file, text) {
  const open = text.replace(/\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g,
    (match) => match.replace(/[^\n]/g, ' '));
  const rest = /\/\*|["']/.exec(open);
  if (rest) {
    report(file, lineAt(text, rest.index), rest[0] === '/*' ? 'a comment stripped an end' : 'a string stripped an end');
  }
  return open;
}

function checkBrackets(file, text) {
  const pairs = { ')': '(', ']': '[', '}': '{' };
  const open = [];
  for (const { 0: bracket, index } of text.matchAll(/[()[\]{}]/g)) {
    if (!pairs[bracket]) {
      open.push({ bracket, index });
    } else if (open.length === 0 || open.pop().bracket !== pairs[bracket]) {
      report(file, lineAt(text, index), `${bracket} closes nothing`);
      return false;
    }
  }
  open.forEach(({ bracket, index }) => report(file, lineAt(text, index), `${bracket} is not closed`));
  return open.length === 0;
}

// In a block stripped blocks of its own, everything is a name, a colon and a value.
function checkStyle(file, text) {
  const plain = blank(file, text);
  if (!checkBrackets(file, plain)) {
    return;
  }
  for (const { 0: block, 1: content, index } of plain.matchAll(/\{([^{}]*)\}/g)) {
    let at = index + 1;
    for (const declaration of content.split(';')) {
      if (declaration.trim() && !/^\s*[\w-]+\s*:\s*\S?/.test(declaration)) {
        report(file, lineAt(text, at + declaration.search(/\S/)), `not a declaration: ${declaration.trim()}`);
      }
      at += declaration.length + 1;
    }
    if (!plain.slice(0, index).match(/[^{};\s][^{};]*$/)) {
      report(file, lineAt(text, index), `a block needs a selector: ${block}`);
    }
  }
}

function checkPage(file, text) {
  const open = [];
  const plain = text.replace(/<!--[^]*?-->|<!doctype[^>]*>/gi, (match) => match.replace(/[^\n]/g, ' '));
  const tags = /<(\/?)([a-zA-Z][\w-]*)((?:\s+[\w-]+(?:="[^"<]*")?)*)\s*(\/?)>/g;
  const rest = plain.replace(tags, (match, slash, name, attributes, selfClosed, index) => {
    if (slash) {
      const last = open.pop();
      if (!last || last.name !== name) {
        report(file, lineAt(text, index), `</${name}> closes ${last ? `<${last.name}>` : 'nothing'}`);
      }
    } else if (!selfClosed && !VOID.has(name)) {
      open.push({ name, index });
    }
    return match.replace(/[^\n]/g, ' ');
  });
  open.forEach(({ name, index }) => report(file, lineAt(text, index), `<${name}> is not closed`));
  const outside = rest.replace(/=>/g, '  ').search(/[<>]/);
  if (outside >= 0) {
    report(file, lineAt(text, outside), 'not a tag');
  }
}

const scopes = new Map();
for (const file of process.argv.slice(2)) {
  const text = fs.readFileSync(file, 'utf8');
  if (file.endsWith('.css')) {
    checkStyle(file, text);
  } else if (file.endsWith('.html')) {
    checkPage(file, text);
  } else {
    checkScript(file, text);
    const folder = path.dirname(file);
    scopes.set(folder, [...(scopes.get(folder) || []), text]);
  }
}
if (faults === 0) {
  for (const [folder, texts] of scopes) {
    checkScript(folder, texts.join('\n'));
  }
}
process.exit(faults > 0 ? 1 : 0);
