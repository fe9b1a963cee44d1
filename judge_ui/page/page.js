"use strict";
// The judging page: a judge's documents in a browser, without a network. What was done is a list of records, as
// the file that is saved has them; how a document stands follows from it. `data` and the head of the file come
// from judge_ui/page/page.py, what a record says is read by store/keeping/work.py.

const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent), head = $("head").textContent;
const PLACE = JSON.stringify(["pooler page", data.collection, data.judge, data.head]) + " ";
const {made_at, signature} = JSON.parse(head);
const MADE = Date.parse(made_at);
// Never before the page was made, whatever this computer's clock says.
const moment = (...least) => new Date(Math.max(Date.now(), MADE + 1, ...least)).toISOString();
const OPENED = moment();
const DIGITS = [...crypto.getRandomValues(new Uint8Array(4))].map(one => one.toString(16).padStart(2, "0"));
const WINDOW = signature.slice(0, 8) + DIGITS.join("");
const STATES = {judge: "judged", skip: "skipped", cannot: "cannot"};

const keyOf = (topic, docno) => `${topic}\n${docno}`;
const tasks = new Map();
for (const topic of data.topics) {
  for (const task of topic.queue) {
    Object.assign(task, {topic, states: [task.now]});
    tasks.set(keyOf(topic.topic, task.docno), task);
  }
}
const stands = task => task.states[task.states.length - 1];
const textOf = task => data.documents[task.docno].text;
const gradeName = value => data.grades.find(grade => grade.value === value).name;
const count = (topic, ...states) => topic.queue.filter(task => states.includes(stands(task).state)).length;
const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

// What was done, and where it is kept

const log = [];
let number = 0;  // of this window's latest record
let kept = 0;  // records that the browser has
let saved = 0;  // records that the file had when it was saved last
let trouble = "", broken = "";  // why the browser keeps nothing more; and will not, whatever happens

function apply(record) {
  const task = tasks.get(keyOf(record.topic, record.docno)), before = stands(task), after = {...before};
  if (record.revision !== before.revision + 1) throw new Error(`${record.docno} has another history`);
  if (record.action === "undo") {
    Object.assign(after, task.states[record.undoes - 1 - task.states[0].revision]);
  } else if (record.action === "note") {
    after.note = record.note;
  } else if (record.action === "mark") {
    after.passages = record.passages;
  } else {
    Object.assign(after, {state: STATES[record.action], grade: record.grade, reason: record.reason});
  }
  after.revision = record.revision;
  task.states.push(after);
  log.push(record);
}

// Take in what the browser has and this window has not: of before, or of another window.
function catchUp() {
  const before = kept;
  try {
    for (let text; kept === log.length && (text = localStorage.getItem(PLACE + kept)) !== null; kept++) {
      apply(JSON.parse(text));
    }
    saved = Math.max(saved, Number(localStorage.getItem(`${PLACE}saved`)));
  } catch (error) {
    broken = trouble = `what it has cannot be read: ${error.message}`;
  }
  return kept > before;
}

function keep() {
  if (broken) return;
  try {
    for (; kept < log.length; kept++) {
      if (localStorage.getItem(PLACE + kept) !== null) throw new Error("another window has gone on");
      localStorage.setItem(PLACE + kept, JSON.stringify(log[kept]));
    }
    localStorage.setItem(`${PLACE}saved`, saved);
    trouble = "";
  } catch (error) {
    trouble = error.message;
  }
}

function crc32(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ((crc ^ -1) >>> 0).toString(16).padStart(8, "0");
}
const sealOf = bytes => `{"crc32": "${crc32(bytes)}"}`;

function save() {
  catchUp();
  const lines = [head, ...log.map(record => JSON.stringify(record)), ""].join("\n");
  const bytes = new TextEncoder().encode(lines);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes, sealOf(bytes), "\n"]));
  link.download = data.file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  saved = log.length;
  keep();
  tell(`${data.file}: ${counted(log.length, "step")} handed to the browser as a file; send it back`);
  showKept();
}

async function openFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const end = bytes.lastIndexOf(10, bytes.length - 2) + 1;
  const [first, ...lines] = new TextDecoder().decode(bytes.subarray(0, end)).split("\n").slice(0, -1);
  const seal = new TextDecoder().decode(bytes.subarray(end)).trim();
  catchUp();
  const same = lines.slice(0, log.length).every((line, n) => line === JSON.stringify(log[n]));
  if (first !== head) return tell("that is no file of this page: nothing was taken", true);
  if (seal !== sealOf(bytes.subarray(0, end))) return tell("that file was changed or cut: nothing was taken", true);
  if (!same) return tell("that file and this browser have gone apart: send both back", true);
  const n = Math.max(lines.length - log.length, 0);
  for (const line of lines.slice(log.length)) apply(JSON.parse(line));
  saved = Math.max(saved, lines.length);
  keep();
  showInbox();
  return tell(n ? `${counted(n, "step")} taken from the file` : "nothing in that file is new");
}

// The document before the judge

let here = null, clock = null, marking = null, found = [], hit = -1, lit = true;
const done = [], undone = [];  // of this sitting: what can be undone, and done again

function startClock() {
  const now = performance.now();
  clock = {shown: moment(), at: now, quiet: now, touched: now, active: 0, dropped: 0};
}

function touch() {
  const now = performance.now();
  if (clock) clock.active += Math.min(now - clock.touched, data.idle_ms);
  if (clock) clock.touched = now;
}

const whole = ms => Math.min(Math.round(ms), 2 ** 31 - 1);  // more than a database holds, after 24 days

function record(task, said, times = true) {
  if (catchUp()) {
    show();
    tell("another window of this page has gone on: look again", true);
    return null;
  }
  const last = log.length ? Date.parse(log[log.length - 1].judged_at) : 0;
  const made = {
    window: WINDOW, number: ++number, opened_at: OPENED,
    topic: task.topic.topic, docno: task.docno, revision: stands(task).revision + 1, action: said.action,
    undoes: null, grade: null, reason: "", note: null, passages: null, position: task.topic.queue.indexOf(task),
    shown_at: times ? clock.shown : null, judged_at: moment(last + 1, times ? Date.parse(clock.shown) : 0),
    dwell_ms: times ? whole(performance.now() - clock.at) : null, active_ms: times ? whole(clock.active) : null,
    dropped_keys: times ? clock.dropped : 0, ...said,
  };
  apply(made);
  keep();
  if (times) clock.dropped = 0;
  return made;
}

function decide(said, words, times = true) {
  const topic = here.topic, before = count(topic, "unjudged"), open = count(topic, "unjudged", "skipped");
  const made = record(here, said, times);
  if (!made) return;
  done.push({made, words});
  if (times) undone.length = 0;
  const stays = said.action === "note" || said.action === "mark";
  const next = stays ? here : nextIn("unjudged") ?? nextIn("skipped") ?? here;
  const ends = !stays && !count(topic, "unjudged") && (before > 0 || (open > 0 && !count(topic, "skipped")));
  tell(`${here.name}: ${words}`);
  goTo(next, stays);
  if (ends) sumUp();
}

function nextIn(state) {
  const queue = here.topic.queue, place = queue.indexOf(here);
  return [...queue.slice(place + 1), ...queue.slice(0, place + 1)].find(task => stands(task).state === state);
}

function goTo(task, stays = false) {
  const isOther = here !== task;
  here = task;
  if (isOther) [found, hit, marking] = [[], -1, null];
  show();
  if (!stays) startClock();
  if (isOther) $("document").scrollTop = 0;
  if (isOther) $("question").scrollIntoView();
  focusWork();
}

const saysNow = task => {
  const now = stands(task);
  if (now.state === "judged") return gradeName(now.grade);
  return now.state === "cannot" ? `cannot be judged: ${now.reason}` : now.state === "skipped" ? "skipped" : "unjudged";
};

async function grade(value) {
  touch();
  const name = gradeName(value), now = performance.now();
  if (now - clock.quiet < data.dwell_ms) {
    clock.dropped++;
    clock.quiet = now;
    return tell("too quick: that key was dropped", true);
  }
  if (stands(here).grade === value && stands(here).state === "judged") {
    tell(`${here.name}: ${name}, as before`);
    return goTo(nextIn("unjudged") ?? nextIn("skipped") ?? here);
  }
  if (data.documents[here.docno].missing && !(await sure(`This document has no text to judge; ${name} all the same?`))) return null;
  return decide({action: "judge", grade: value}, name);
}

async function skip() {
  touch();
  const now = stands(here);
  if (now.state === "judged" && !(await sure(`Take back ${gradeName(now.grade)} and skip?`))) return;
  if (now.state === "skipped") goTo(nextIn("unjudged") ?? nextIn("skipped") ?? here);
  else decide({action: "skip"}, "skipped");
}

async function cannot() {
  touch();
  const words = element("input", {id: "words", maxLength: 1000, autocomplete: "off"});
  const label = element("label", {htmlFor: "words", textContent: "Another reason, in your words:"});
  const answers = data.reasons.map(([key, reason]) => [key, reason, reason === "other" ? words : reason]);
  let reason = await ask("Why can it not be judged?", [label, words], [...answers, ["Enter", "these words", words]]);
  if (reason === words) reason = words.value.trim();
  const now = stands(here);
  if (!reason || (now.state === "judged" && !(await sure(`Replace ${gradeName(now.grade)} by cannot be judged?`)))) return;
  decide({action: "cannot", reason}, `cannot be judged: ${reason}`);
}

async function note() {
  touch();
  const area = element("textarea", {id: "note", rows: 5, value: stands(here).note});
  const label = element("label", {htmlFor: "note", textContent: "Enter saves, Shift+Enter or Ctrl+J begins a line"});
  if ((await ask(`Note on ${here.name}`, [label, area], [["Enter", "save", "save"]], area)) !== "save") return;
  const text = area.value.trim();
  if (text !== stands(here).note) decide({action: "note", note: text}, text ? "note saved" : "note removed");
}

function undo() {
  touch();
  const last = done[done.length - 1];
  if (!last) return tell("nothing to undo since this page was opened");
  const task = tasks.get(keyOf(last.made.topic, last.made.docno));
  const since = log.slice(log.indexOf(last.made) + 1).filter(one => one.window !== WINDOW);
  if (since.some(one => tasks.get(keyOf(one.topic, one.docno)) === task)) {
    return tell("this document was judged in another window since: that stands", true);
  }
  if (!record(task, {action: "undo", undoes: last.made.revision}, false)) return null;
  undone.push(done.pop());
  goTo(task);
  return tell(`${task.name}: ${last.words} undone: ${saysNow(task)}`);
}

function redo() {
  const last = undone[undone.length - 1];
  if (!last) return tell("nothing to redo");
  const {action, grade, reason, note, passages} = last.made;
  goTo(tasks.get(keyOf(last.made.topic, last.made.docno)));
  undone.pop();
  return decide({action, grade, reason, note, passages}, last.words, false);
}

function step(by) {
  touch();
  const task = here.topic.queue[here.topic.queue.indexOf(here) + by];
  if (task) goTo(task);
  else if (by > 0 && !count(here.topic, "unjudged")) sumUp();
  else tell(by > 0 ? "this is the last document" : "this is the first document");
}

// Evidence, a sentence or several at a time; offsets are in characters, as Python counts them

function unitsOf(text) {
  if (!/[\ud800-\udfff]/.test(text)) return at => at;
  const units = [0];
  for (const character of text) units.push(units[units.length - 1] + character.length);
  return at => units[at];
}

function selected() {
  const sentences = data.documents[here.docno].sentences;
  return [sentences[Math.min(marking.at, marking.from)][0], sentences[Math.max(marking.at, marking.from)][1]];
}

function mark() {
  const sentences = data.documents[here.docno].sentences, pane = $("document");
  if (!sentences.length) return tell("there is no text to mark");
  const at = Math.floor(sentences.length * pane.scrollTop / pane.scrollHeight);
  marking = {at, from: at};
  show();
  return tell("marking sentences: Enter marks, x unmarks, Escape ends");
}

function markBy(key) {
  touch();
  const last = data.documents[here.docno].sentences.length - 1;
  const by = {j: 1, n: 1, down: 1, right: 1, J: 1, k: -1, p: -1, up: -1, left: -1, K: -1}[key];
  if (key === "escape" || key === "v") {
    marking = null;
  } else if (by) {
    marking.at = Math.min(Math.max(marking.at + by, 0), last);
    if (key !== "J" && key !== "K") marking.from = marking.at;
  } else if (key === "enter" || key === "x") {
    const text = textOf(here), unit = unitsOf(text);
    let [start, end] = selected();
    const old = stands(here).passages;
    const apart = old.filter(([from, length]) => from + length <= start || from >= end);
    const passages = key === "x" ? apart : [...apart, null];
    if (key === "enter") {
      for (const [from, length] of old.filter(one => !apart.includes(one))) {
        [start, end] = [Math.min(start, from), Math.max(end, from + length)];
      }
      passages[passages.length - 1] = [start, end - start, text.slice(unit(start), unit(end))];
      passages.sort((one, other) => one[0] - other[0]);
    }
    marking.from = marking.at;
    if (JSON.stringify(passages) !== JSON.stringify(old)) {
      return decide({action: "mark", passages}, key === "x" ? "passage no longer marked" : "passage marked");
    }
  } else {
    return false;
  }
  return show();
}

async function find() {
  const words = element("input", {id: "find", autocomplete: "off"});
  const label = element("label", {htmlFor: "find", textContent: "Words to find in this document"});
  if (!(await ask("Find", [label, words], [["Enter", "find", "find"]], words)) || !words.value.trim()) return;
  const pattern = words.value.trim().split(/\s+/).map(word => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("\\s+");
  found = [...(textOf(here) ?? "").matchAll(new RegExp(pattern, "giu"))].map(one => [one.index, one.index + one[0].length]);
  hit = -1;
  show();
  toHit(1);
}

function toHit(by) {
  if (!found.length) return tell("not found");
  hit = (hit + by + found.length) % found.length;
  show();
  return tell(`${hit + 1} of ${counted(found.length, "place")}`);
}

// What is shown

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function tell(words, isUrgent = false) {
  $("said").textContent = words;
  $("said").classList.toggle("urgent", isUrgent);
}

function button(label, key, act, isPressed) {
  const made = element("button", {type: "button", onclick: act}, element("kbd", {textContent: key}), ` ${label}`);
  if (isPressed !== undefined) made.setAttribute("aria-pressed", isPressed);
  return made;
}

function painted(task) {
  const text = textOf(task) ?? "", unit = unitsOf(text), turns = new Map();
  const on = {strong: 0, lit: 0, evidence: 0, found: 0, here: 0};
  const add = (kind, start, end) => {
    for (const [at, by] of [[start, 1], [end, -1]]) turns.set(at, [...(turns.get(at) ?? []), [kind, by]]);
  };
  for (const [start, end] of data.documents[task.docno].strong) add("strong", unit(start), unit(end));
  if (lit && !found.length) for (const [start, end] of task.lit) add("lit", unit(start), unit(end));
  for (const [start, length] of stands(task).passages) add("evidence", unit(start), unit(start + length));
  for (const [n, [start, end]] of found.entries()) add(n === hit && !marking ? "here" : "found", start, end);
  if (marking) add("here", ...selected().map(unit));
  const places = [...turns.keys(), text.length].sort((one, other) => one - other);
  const pieces = [];
  let from = 0;
  for (const place of places) {
    const kinds = Object.keys(on).filter(kind => on[kind] > 0), piece = text.slice(from, place);
    if (piece && kinds.length) {
      pieces.push(element(kinds.includes("evidence") ? "mark" : "span", {className: kinds.join(" "), textContent: piece}));
    } else if (piece) {
      pieces.push(piece);
    }
    for (const [kind, by] of turns.get(place) ?? []) on[kind] += by;
    turns.delete(place);
    from = place;
  }
  return pieces;
}

// What a tab, a window and a list of bookmarks are told apart by: how far, of what, and whose.
function showTitle() {
  const topics = here ? [here.topic] : data.topics, sum = numbers => numbers.reduce((all, one) => all + one, 0);
  const decided = sum(topics.map(topic => count(topic, "judged", "cannot"))), total = sum(topics.map(topic => topic.queue.length));
  document.title = `${decided}/${total} ${here ? here.topic.name : data.collection} - ${data.judge} - pooler`;
}

function show() {
  showKept();
  showTitle();
  $("inbox").hidden = here !== null;
  $("work").hidden = here === null;
  if (!here) return;
  const topic = here.topic, queue = topic.queue, now = stands(here), shown = data.documents[here.docno];
  const skipped = count(topic, "skipped"), decided = count(topic, "judged", "cannot");
  $("question").textContent = `${topic.name} ${topic.title}`;
  $("description").textContent = topic.description;
  $("progress").textContent = `${decided}/${queue.length}${skipped ? `, ${skipped} skipped` : ""}`;
  $("docname").textContent = `Document ${queue.indexOf(here) + 1} of ${queue.length}: ${here.name}`;
  $("doctitle").textContent = shown.title;
  $("fields").replaceChildren(...shown.fields.flatMap(([name, value]) =>
    [element("b", {textContent: `${name}:`}), ` ${value}  `]));
  $("stands").textContent = saysNow(here) + (now.note ? `; note: ${now.note}` : "");
  $("text").replaceChildren(...(shown.missing ? [shown.missing] : painted(here)));
  $("text").classList.toggle("missing", shown.missing !== "");
  $("grades").replaceChildren(...data.grades.map(one => button(one.label, one.key, () => grade(one.value),
    now.state === "judged" && now.grade === one.value)));
  const moves = [["next sentence", "j"], ["sentence before", "k"], ["longer", "J"], ["shorter", "K"],
    ["mark", "Enter"], ["unmark", "x"], ["done", "Esc"]];
  const keyNames = {Esc: "escape", Enter: "enter"};
  const pressed = $("commands").contains(document.activeElement) ? document.activeElement.textContent : null;
  $("commands").replaceChildren(...(marking
    ? moves.map(([label, key]) => button(label, key, () => markBy(keyNames[key] ?? key)))
    : data.commands.filter(one => one.shown).map(one => button(one.name, one.key, () => run(one.name)))));
  if (pressed) ([...$("commands").children].find(one => one.textContent === pressed) ?? $("document")).focus();
  $("text").querySelector(".here")?.scrollIntoView({block: "nearest"});
}

function showKept() {
  const n = log.length - saved, rest = n > 0 ? `${counted(n, "step")} not in a saved file yet` : "all in the saved file";
  $("kept").textContent = log.length === 0 && !trouble ? "nothing done here yet"
    : trouble ? `NOT KEPT by this browser (${trouble}): save the file before you close this page; ${rest}`
    : `kept in this browser; ${rest}`;
  $("kept").classList.toggle("urgent", trouble !== "");
}

function showInbox() {
  here = clock = marking = null;
  const last = log.length ? log[log.length - 1].topic : null;
  $("topics").replaceChildren(...data.topics.map(topic => {
    const off = count(topic, "skipped");
    const words = `${count(topic, "judged", "cannot")} of ${topic.queue.length} decided${off ? `, ${off} skipped` : ""}`;
    const made = element("button", {type: "button", onclick: () => openTopic(topic)},
      element("strong", {textContent: `${topic.name} ${topic.title}`}), ` ${words}`);
    made.dataset.start = topic.topic === last;
    return element("li", {}, made);
  }));
  show();
  ($("topics").querySelector("[data-start=true]") ?? $("topics").querySelector("button"))?.focus();
}

async function openTopic(topic) {
  const first = state => topic.queue.find(task => stands(task).state === state);
  const isNew = topic.queue.every(task => stands(task).revision === 0);
  if (isNew && !(await showTopic(topic, "begin"))) return;
  goTo(first("unjudged") ?? first("skipped") ?? topic.queue[0]);
  if (!count(topic, "unjudged") && count(topic, "skipped")) tell("what you skipped, again");
}

function focusWork() {
  if (here) $("document").focus({preventScroll: true});
}

// Questions and pages over the document: an answer is [key, label, value]

function ask(title, nodes, answers, focused) {
  const box = $("box");
  let finish;
  const close = value => {
    if (value?.value === "") return value.focus();  // words that are not there yet
    box.close();
    return finish(value);
  };
  $("box-title").textContent = title;
  $("box-body").replaceChildren(...nodes);
  $("box-answers").replaceChildren(...answers.map(([key, label, value]) => button(label, key, () => close(value))),
    button("back", "Esc", () => close(null)));
  box.onkeydown = event => {
    const typing = event.target.matches("input, textarea");
    if (event.isComposing || event.altKey || event.metaKey) return;
    if (event.ctrlKey && event.key === "j" && event.target.matches("textarea")) {
      event.preventDefault();
      return event.target.setRangeText("\n", event.target.selectionStart, event.target.selectionEnd, "end");
    }
    const known = event.key === "Escape" ? ["Escape", "", null] : answers.find(([key]) => key === half(event.key));
    const isEnter = event.key === "Enter" && (typing ? !event.shiftKey : !event.target.matches("button"));
    if (known && !event.ctrlKey && (event.key === "Enter" ? isEnter : event.key === "Escape" || !typing)) {
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) close(known[2]);
    }
    return typing || moveFocus($("box-body"), event);
  };
  return new Promise(resolve => {
    finish = answer => { focusWork(); resolve(answer); };
    box.onclose = () => { if (!box.open) finish(null); };  // it comes late: another question may be open by then
    box.showModal();
    (focused ?? $("box-body")).focus({preventScroll: true});
    $("box-body").scrollTop = 0;
  });
}

const sure = async question => (await ask(question, [], [["y", "yes", true]])) === true;
const paragraphs = texts => texts.filter(Boolean).map(text => element("p", {className: "prose", textContent: text}));

function showTopic(topic, answer) {
  const grades = data.grades.map(one => element("li", {textContent: `${one.key}: ${one.label}`}));
  return ask(`${topic.name} ${topic.title}`, [...paragraphs([topic.description, topic.narrative]),
    element("ul", {}, ...grades), $("guidelines").content.cloneNode(true)], [["Enter", answer, true]]);
}

const showGuidelines = () => ask("Guidelines", [$("guidelines").content.cloneNode(true)], []);

async function choose(title, entries) {
  const chosen = await new Promise(resolve => {
    const items = entries.map(([words, task]) => element("li", {},
      element("button", {type: "button", textContent: words, onclick: () => { resolve(task); $("box").close(); }})));
    ask(title, [element("ol", {}, ...items)], [], items[0]?.firstChild).then(() => resolve(null));
  });
  if (chosen) goTo(chosen);
}

function showHelp() {
  const rows = [...data.grades.map(one => [one.key, one.label]), ...data.commands.map(one => [one.key, one.explanation])];
  const table = element("table", {}, ...rows.map(([key, words]) =>
    element("tr", {}, element("th", {scope: "row", textContent: key}), element("td", {textContent: words}))));
  return ask("Keys", [table], []);
}

function sumUp() {
  const topic = here.topic, skipped = count(topic, "skipped");
  const lines = [...data.grades].reverse().map(one => [one.name,
    topic.queue.filter(task => stands(task).state === "judged" && stands(task).grade === one.value).length]);
  lines.push(["skipped", skipped], ["cannot be judged", count(topic, "cannot")]);
  const list = element("ul", {}, ...lines.map(([words, n]) => element("li", {textContent: `${words}: ${n}`})));
  const answers = [skipped ? ["Enter", "go to what is skipped", "stay"] : ["Enter", "back to the topics", "inbox"]];
  if (skipped) answers.push(["t", "back to the topics", "inbox"]);
  answers.push([data.commands.find(one => one.name === "undo").key, "undo", "undo"]);
  const title = `${topic.name}: ${skipped ? `${skipped} skipped` : "every document has a decision"}`;
  ask(title, [list], answers).then(answer => {
    if (answer === "inbox") showInbox();
    else if (answer === "undo") undo();
    else if (here) startClock();
  });
}

// In a small window the whole page scrolls.
const scroll = by => { touch(); $("document").scrollBy(0, by); scrollBy(0, by); };
const page = () => Math.min($("document").clientHeight, innerHeight) * 0.9;
const actions = {
  "undo": undo, "redo": redo, "skip": skip, "can't": cannot, "note": note, "next": () => step(1), "previous": () => step(-1),
  "topic": () => showTopic(here.topic, "go on"), "guidelines": showGuidelines, "mark": mark, "find": find,
  "next hit": () => toHit(1), "previous hit": () => toHit(-1), "lit": () => { lit = !lit; show(); },
  "list": () => choose("Documents of this topic", here.topic.queue.map(task =>
    [`${task.name} ${data.documents[task.docno].title}: ${saysNow(task)}`, task])),
  "history": () => choose("Done since this page was opened", done.map(({made, words}) => {
    const task = tasks.get(keyOf(made.topic, made.docno));
    return [`${task.topic.name} ${task.name}: ${words}`, task];
  }).reverse()),
  "help": showHelp, "inbox": showInbox, "quit": save,
  "line down": () => scroll(40), "line up": () => scroll(-40), "page down": () => scroll(page()),
  "page up": () => scroll(-page()), "top": () => scroll(-1e9), "bottom": () => scroll(1e9),
};
const ANYWHERE = ["help", "quit", "guidelines", "undo", "redo", "history"];
const SCROLLS = ["line down", "line up", "page down", "page up", "top", "bottom"];

function run(meaning) {
  if (typeof meaning === "number") return here && grade(meaning);
  return here || ANYWHERE.includes(meaning) ? actions[meaning]() : null;
}

// Keys

const half = key => key.length === 1 && key >= "！" && key <= "～" ? String.fromCharCode(key.charCodeAt(0) - 0xfee0) : key;

function press(event) {
  if (event.isComposing || event.altKey || event.metaKey) return;
  const name = event.key.length === 1 ? half(event.key) : event.key.toLowerCase().replace("arrow", "");
  const key = event.ctrlKey ? `ctrl+${name.toLowerCase()}` : name;
  if (key === "ctrl+s") {
    event.preventDefault();
    save();
    return;
  }
  if ($("box").open) return;
  const isOne = key.length === 1, onButton = event.target.matches("button, input, summary");
  if ((isOne && !$("letters").checked) || (onButton && (key === " " || key === "enter"))) return;
  if (marking && !event.ctrlKey) {
    if (markBy(key) !== false) event.preventDefault();
    return;
  }
  if (!here && moveFocus($("topics"), event)) return;
  const meaning = data.keys[key];
  if (meaning === undefined) return;
  event.preventDefault();
  if (!event.repeat || SCROLLS.includes(meaning)) run(meaning);
  else if (typeof meaning === "number" && clock) clock.dropped++;
}

// Up and down in a list of buttons.
function moveFocus(list, event) {
  const by = {ArrowDown: 1, j: 1, ArrowUp: -1, k: -1}[event.key], all = [...list.querySelectorAll("button")];
  if (!by || !all.length) return false;
  event.preventDefault();
  all[all.indexOf(document.activeElement) + by]?.focus();
  return true;
}

addEventListener("keydown", press);
addEventListener("storage", () => { if (catchUp()) here ? show() : showInbox(); });
addEventListener("beforeunload", event => { if (trouble && saved < log.length) event.preventDefault(); });
$("document").addEventListener("scroll", touch);
$("save").onclick = save;
$("help").onclick = showHelp;
$("open").onclick = () => $("file").click();
$("file").onchange = () => {
  if ($("file").files[0]) openFile($("file").files[0]);
  $("file").value = "";
};
catchUp();
keep();
showInbox();
