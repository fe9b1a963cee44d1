"use strict";
// The judging page, before one of the desks of desks.js. `data` comes from judge_ui/page/page.py. No text is taken
// but as text; `structure` says how HTML is.

const desk = isFile ? new FileDesk() : new ServedDesk();
const OPENED = isFile ? desk.moment() : new Date().toISOString();
let topic = null, here = null, shown = null;  // the open topic, its document (a task), and the text of that
let clock = null, marking = null, found = [], hit = -1, isLit = true, isStructured = ofBrowser("structured") === "1";
let waiting = null, isLeaving = false, number = 0;  // a record that is not known to be written: {record, words, giveUp}
const done = [], undone = [], times = [];  // of this window: what can be undone and done again; active ms of decisions
const atGoal = new Set(), drafts = new Map();
const inState = (...states) => topic.queue.filter(task => states.includes(task.now.state)).length;

function startClock() {
  const now = performance.now();
  clock = {shown: isFile ? desk.moment() : new Date().toISOString(), at: now, quiet: now, touched: now, active: 0, dropped: 0};
}

function touch() {
  const now = performance.now();
  if (clock) clock.active += Math.min(now - clock.touched, data.idle_ms);
  if (clock) clock.touched = now;
}

function recordOf(task, said, isTimed = true) {
  return {
    window: desk.window, number: number + 1, opened_at: OPENED, topic: topic.topic, docno: task.docno,
    revision: task.now.revision + 1, action: said.action, undoes: null, grade: null, reason: "", note: null, passages: null,
    position: topic.queue.indexOf(task), shown_at: isTimed ? clock.shown : null, judged_at: new Date().toISOString(),
    dwell_ms: isTimed ? whole(performance.now() - clock.at) : null, active_ms: isTimed ? whole(clock.active) : null,
    dropped_keys: isTimed ? clock.dropped : 0, view: isTimed && hasStructure() ? "structure" : null, ...said,
  };
}

// Write a record, however long that takes; it waits in the tab, so that a reload loses nothing.
async function write(record, words, more = {}) {
  const asked = {record, sha256: shown?.sha256 ?? null, versions: [data.guidelines_version ?? null, topic.version ?? null], ...more};
  waiting = {record, words};
  ofTab("waiting", JSON.stringify({asked, words}));
  try {
    const answer = await patiently(() => desk.record(asked), `NOT SAVED: ${words}.`);
    if (!answer) return null;
    number++;
    if (answer.goal) topic.goal = answer.goal;
    return answer.now;
  } finally {
    waiting = null;
    ofTab("waiting", null);
    drawState();
  }
}

// Do what needs the server until it is done; null: the judge gave it up.
async function patiently(act, words) {
  for (let wait_s = 1; ; wait_s = Math.min(2 * wait_s, 15)) {
    try {
      const answer = await act();
      if ($("alarm").firstChild) tell("the server is back");
      endAlarm();
      return answer;
    } catch (error) {
      const goesOn = error instanceof Gone && await soundAlarm(`${words} Since TIME ${error.message}; the page asks again by itself. Keep this window open.`, wait_s);
      if (!goesOn) endAlarm();
      if (!(error instanceof Gone)) throw error;
      if (!goesOn) return null;
    }
  }
}

function endAlarm() {
  const hadFocus = $("alarm").contains(document.activeElement);
  $("alarm").replaceChildren();
  if (hadFocus) ($("document") ?? $("main")).focus({preventScroll: true});
}

// Say, once, that the server is gone; wait until it is to be asked again (true), or the judge gives up (false).
function soundAlarm(words, wait_s) {
  return new Promise(resolve => {
    if (!$("alarm").firstChild) {
      tell("");
      const text = words.replace("TIME", new Date().toLocaleTimeString());
      $("alarm").replaceChildren(element("span", {textContent: text}), " ", button("try now", ""));
    }
    $("alarm").lastChild.onclick = () => resolve(true);
    if (waiting) waiting.giveUp = () => resolve(false);
    addEventListener("online", () => resolve(true), {once: true});
    setTimeout(resolve, wait_s * 1000, true);
    drawState();
  });
}

async function decide(said, words, {isTimed = true, task = here} = {}) {
  const more = task === here ? {} : {sha256: (await desk.text(topic.topic, task.docno)).sha256};
  const stays = said.action === "note" || said.action === "mark", old = task.now;
  const before = inState("unjudged"), open = inState("unjudged", "skipped");
  const record = recordOf(task, said, isTimed);
  let now;
  try {
    now = await write(record, words, more);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    now = await meet(error, record, words, task, more);
  }
  if (!now) return false;
  task.now = now;
  if (isTimed) [clock.dropped, undone.length] = [0, 0];
  if (isTimed && ["judge", "cannot"].includes(said.action)) times.push(record.active_ms);
  done.push({...record, revision: now.revision, words});
  const replaced = !stays && ["judged", "cannot"].includes(old.state) ? ` (was ${stateWords(old)})` : "";
  tell(`${task.name}: ${words}${replaced}${isFile ? "" : ", saved"}`);
  if (stays) {
    draw();
    return true;
  }
  const hasEnded = !inState("unjudged") && (before > 0 || (open > 0 && !inState("skipped")));
  await goTo(await following() ?? here);
  if (hasEnded && !inState("unjudged")) sumUp();
  else if (topic.goal?.is_reached && !atGoal.has(topic.topic)) await offerEnd();
  return true;
}

// The same judge decided elsewhere, or the document is somebody else's by now.
async function meet(error, record, words, task, more) {
  if (!error.now || error.now.revision < record.revision) {
    tell(`NOT SAVED (${words}): ${error.message}`, true);
    if (!error.now) await openTopic(topic.topic, record.docno);
    return null;
  }
  const answer = await ask("Decided elsewhere", [paragraph(`${error.message}. There it is: ${stateWords(error.now)}.`)],
    [["k", "keep that", "keep"], ["r", `replace it by ${words}`, "replace"]]);
  task.now = error.now;
  const again = {...record, revision: error.now.revision + 1};
  if (answer === "replace") return write(again, words, more);
  if (answer === "keep") {
    if (!isFile) task.now = await write(again, words, {...more, keep: true}) ?? task.now;  // what was decided here stays in the history
    if (task === here) await goTo(await following() ?? here);
    tell(`${record.docno}: ${stateWords(error.now)} kept`);
  } else draw();
  return null;
}

function nextIn(state) {
  const place = topic.queue.indexOf(here), queue = topic.queue;
  return [...queue.slice(place + 1), ...queue.slice(0, place + 1)].find(task => task.now.state === state);
}

async function following() {
  if (!nextIn("unjudged") && topic.more) await bring();
  return nextIn("unjudged") ?? nextIn("skipped");
}

// Claim, or draw, a few more documents of the topic.
async function bring() {
  const of = topic, answer = await patiently(() => desk.more(of.topic), "The next document is not here.");
  const known = new Map(of.queue.map(task => [task.docno, task]));
  of.queue = answer.queue.map(task => known.get(task.docno) ?? task);
  if (here && of === topic && !of.queue.includes(here)) of.queue.push(here);
  [of.more, of.claimable] = [answer.more, answer.claimable];
}

async function goTo(task) {
  const text = await patiently(() => desk.text(topic.topic, task.docno), `${task.name} is not here.`);
  const isOther = here !== task;
  [here, shown] = [task, text];
  if (isOther) {
    [found, hit, marking] = [[], -1, null];
    scrollTo(0, 0);
  }
  draw();
  startClock();
  if (isOther) $("document").focus({preventScroll: true});
  readAhead();
}

// What a decision leads to is here before the key is pressed.
async function readAhead() {
  try {
    if (inState("unjudged") < 2 && topic.claimable) await bring();
    const ahead = topic.queue.slice(topic.queue.indexOf(here) + 1).filter(task => task.now.state === "unjudged");
    for (const task of ahead.slice(0, 2)) desk.text(topic.topic, task.docno).catch(() => {});
  } catch (error) { /* it is asked for again when it is needed */ }
}

const stateWords = now => now.state === "judged" ? gradeOf(now.grade).name
  : now.state === "cannot" ? `cannot be judged: ${now.reason}` : now.state;

// What the judge can do

async function grade(value) {
  const {name} = gradeOf(value), now = performance.now();
  if (now - clock.quiet < data.dwell_ms) {
    clock.dropped++;
    clock.quiet = now;
    return tell("too quick: that key was dropped", true);
  }
  if (here.now.state === "judged" && here.now.grade === value) {
    tell(`${here.name}: ${name}, as before`);
    return goTo(await following() ?? here);
  }
  if (shown.missing && !(await sure(`This document has no text to judge; ${name} all the same?`))) return null;
  const isFinished = !inState("unjudged", "skipped") && here.now.state === "judged";
  if (isFinished && !(await sure(`Every document here has a decision. Replace ${stateWords(here.now)} by ${name}?`))) return null;
  return decide({action: "judge", grade: value}, name);
}

async function skip() {
  if (here.now.state === "skipped") return goTo(await following() ?? here);
  if (here.now.state === "judged" && !(await sure(`Take back ${stateWords(here.now)} and skip?`))) return null;
  return decide({action: "skip"}, "skipped");
}

async function cannot() {
  const words = element("input", {id: "words", maxLength: 1000, autocomplete: "off"});
  const label = element("label", {htmlFor: "words", textContent: "Another reason, in your words:"});
  const answers = data.reasons.map(([key, reason]) => [key, reason, reason === "other" ? words : reason]);
  let reason = await ask("Why can it not be judged?", [label, words], [...answers, ["Enter", "these words", words]]);
  if (reason === words) reason = words.value.trim();
  if (!reason) return;
  if (here.now.state === "judged" && !(await sure(`Replace ${stateWords(here.now)} by cannot be judged?`))) return;
  await decide({action: "cannot", reason}, `cannot be judged: ${reason}`);
}

// A note that is begun and not saved; a browser that keeps nothing has it as long as the page is open.
function draftOf(task, text) {
  const name = `draft ${keyOf(topic.topic, task.docno)}`;
  if (text !== undefined) {
    drafts.set(name, text);
    ofBrowser(name, text);
  }
  return drafts.get(name) ?? ofBrowser(name);
}

async function note(task = here) {
  const begun = draftOf(task), area = element("textarea", {id: "note", rows: 5, maxLength: 20_000, value: begun ?? task.now.note});
  area.oninput = () => draftOf(task, area.value === task.now.note ? null : area.value);
  const label = element("label", {htmlFor: "note", textContent: "Enter saves, Shift+Enter begins a line, Esc keeps a draft"});
  const answers = [["Enter", "save", "save"]];
  if (begun !== null) answers.push(["", "discard the draft", "drop"]);
  const answer = await ask(`Note on ${task.name}`, [label, area], answers, area);
  if (answer === "drop") draftOf(task, null);
  if (answer !== "save") {
    draw();
    if (answer === "drop") return tell("draft discarded: the note is as it was");
    return draftOf(task) === null ? undefined : tell(`the note is a draft: the note key ${task === here ? "" : `on ${task.name} `}goes on with it`);
  }
  const text = area.value.trim();
  if (text === task.now.note || await decide({action: "note", note: text}, text ? "note" : "note removed", {isTimed: task === here, task})) draftOf(task, null);
  return draw();
}

// The note on the document just decided, which stays behind.
function noteBefore() {
  const last = done.findLast(one => one.topic === topic.topic && one.action in STATES);
  const task = last && topic.queue.find(one => one.docno === last.docno);
  return task ? note(task) : tell("no document of this topic was decided before");
}

async function taskOf(record) {
  if (topic?.topic !== record.topic) await openTopic(record.topic, record.docno);
  const task = topic?.queue.find(one => one.docno === record.docno);
  if (!task) tell("that document is no longer in your queue", true);
  return task;
}

async function undo() {
  const last = done.at(-1);
  if (!last) return tell(`nothing to undo ${isFile ? "since this page was opened" : "in this sitting"}`);
  const task = await taskOf(last);
  if (!task) return null;
  try {
    if (isFile && task.now.revision !== last.revision) throw new Refused({error: "it was judged in another window since: that stands"});
    const now = await write(recordOf(task, {action: "undo", undoes: last.revision}, false), `${last.words} undone`);
    if (!now) return null;
    task.now = now;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return tell(`not undone: ${error.message}`, true);
  }
  undone.push(done.pop());
  await goTo(task);
  return tell(`${task.name}: ${last.words} undone: ${stateWords(task.now)}`);
}

async function redo() {
  const last = undone.at(-1);
  if (!last) return tell("nothing to redo");
  const task = await taskOf(last), {action, grade, reason, note, passages} = last;
  if (!task) return null;
  await goTo(task);
  if (await decide({action, grade, reason, note, passages}, last.words, {isTimed: false})) undone.pop();
  return null;
}

async function step(by) {
  if (by > 0 && here === topic.queue.at(-1) && topic.more) await bring();
  const task = topic.queue[topic.queue.indexOf(here) + by];
  if (task) return goTo(task);
  if (by > 0 && !inState("unjudged")) return sumUp();
  return tell(by > 0 ? "this is the last document" : "this is the first document");
}

// Passages: what is selected, or sentences by keys or a tap; offsets are in characters, as Python counts them

function unitsOf(text) {
  if (!/[\ud800-\udfff]/.test(text)) return at => at;
  const units = [0];
  for (const character of text) units.push(units.at(-1) + character.length);
  return at => units[at];
}

// The span of the text that is selected on the page, without blanks around it; null: none.
function selectedSpan() {
  const chosen = getSelection(), range = chosen.rangeCount ? chosen.getRangeAt(0).cloneRange() : null, text = $("text");
  if (!range || range.collapsed || hasStructure() || !range.intersectsNode(text)) return null;
  const before = new Range();
  before.selectNodeContents(text);
  if (range.compareBoundaryPoints(Range.START_TO_START, before) < 0) range.setStart(text, 0);
  if (range.compareBoundaryPoints(Range.END_TO_END, before) > 0) range.setEnd(text, text.childNodes.length);
  before.setStart(text, 0);
  before.setEnd(range.startContainer, range.startOffset);
  const words = range.toString(), start = before.toString().length + words.length - words.trimStart().length;
  const length = characters => [...characters].length;
  return words.trim() ? [length(shown.text.slice(0, start)), length(shown.text.slice(0, start + words.trim().length))] : null;
}

function mark() {
  const span = selectedSpan();
  if (span) {
    getSelection().removeAllRanges();
    return markSpan(...span);
  }
  if (!shown.sentences.length) return tell("there is no text to mark");
  drawRest();
  const text = $("text"), top = Math.max(-text.getBoundingClientRect().top, 0) / text.scrollHeight;
  marking = {};
  marking.at = marking.from = Math.floor(shown.sentences.length * top);
  isStructured = false;
  draw();
  return tell("marking sentences: j, k move; J, K take in more; Enter or a tap marks or unmarks; Esc ends");
}

// Mark a span, as one with those that it meets; a span that is marked as a whole is unmarked.
function markSpan(start, end) {
  const old = here.now.passages, apart = old.filter(([from, length]) => from + length <= start || from >= end);
  const isMarked = old.some(([from, length]) => from <= start && from + length >= end);
  for (const [from, length] of isMarked ? [] : old.filter(one => !apart.includes(one))) {
    [start, end] = [Math.min(start, from), Math.max(end, from + length)];
  }
  const text = shown.text.slice(...[start, end].map(unitsOf(shown.text)));
  const passages = isMarked ? apart : [...apart, [start, end - start, text]].sort((one, other) => one[0] - other[0]);
  return decide({action: "mark", passages}, isMarked ? "passage no longer marked" : "passage marked");
}

function markedSpan() {
  const [first, last] = [marking.at, marking.from].sort((one, other) => one - other);
  return [shown.sentences[first][0], shown.sentences[last][1]];
}

function showMarking() {
  for (const one of $("text").querySelectorAll("[data-s]")) {
    one.classList.toggle("here", (one.dataset.s - marking.at) * (one.dataset.s - marking.from) <= 0);
  }
  $("text").querySelector(".here")?.scrollIntoView({block: "nearest"});
}

function markBy(key) {
  const by = {j: 1, n: 1, down: 1, J: 1, k: -1, p: -1, up: -1, K: -1}[key];
  if (key === "escape" || key === "v") marking = null;
  else if (by) marking.at = Math.min(Math.max(marking.at + by, 0), shown.sentences.length - 1);
  else if (key === "enter") return run("mark sentence");
  else return false;
  if (!marking) draw();
  else {
    if (key !== "J" && key !== "K") marking.from = marking.at;
    showMarking();
    tell(shown.text.slice(...markedSpan().map(unitsOf(shown.text))));
  }
  return true;
}

async function find() {
  const words = element("input", {id: "find", autocomplete: "off"});
  const label = element("label", {htmlFor: "find", textContent: "Words to find in this document"});
  if (!(await ask("Find", [label, words], [["Enter", "find", "find"]], words)) || !words.value.trim()) return null;
  const pattern = words.value.trim().split(/\s+/).map(escaped).join("\\s+");
  found = [...shown.text.matchAll(new RegExp(pattern, "giu"))].map(one => [one.index, one.index + one[0].length]);
  [hit, isStructured] = [-1, false];
  draw();
  return found.length ? toHit(1) : tell("not found");
}

function toHit(by) {
  drawRest();
  const all = [...$("text").querySelectorAll(found.length ? ".found" : ".lit, .often")];
  if (!all.length) return tell("not found");
  hit = (hit + by + all.length) % all.length;
  all.forEach((one, n) => one.classList.toggle("here", n === hit));
  all[hit].scrollIntoView({block: "center"});
  return tell(`${hit + 1} of ${counted(all.length, "place")}`);
}

// What is shown

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const paragraph = (text, className = "prose") => element("p", {className, textContent: text});
const list = lines => element("ul", {}, ...lines.map(line => element("li", {textContent: line})));

function tell(words, isUrgent = false) {
  $("said").textContent = words;
  $("said").classList.toggle("urgent", isUrgent);
}

function button(label, key, act, isPressed) {
  const made = element("button", {type: "button", onclick: act});
  if (key) made.append(element("kbd", {textContent: key}), " ");
  made.append(label);
  if (key.length === 1) made.setAttribute("aria-keyshortcuts", key);
  if (isPressed !== undefined) made.setAttribute("aria-pressed", isPressed);
  return made;
}

const hasStructure = () => isStructured && !shown.missing && shown.html !== null;

// The text in pieces, each with the classes of whatever covers it.
function* painted() {
  const text = shown.text, unit = unitsOf(text), turns = new Map(), on = {};
  const turn = (at, kind, by) => turns.set(at, [...(turns.get(at) ?? []), [kind, by]]);
  const add = (kind, start, end) => { turn(start, kind, 1); turn(end, kind, -1); };
  for (const [start, end] of shown.strong) add("strong", unit(start), unit(end));
  for (const kind of isLit && !found.length ? ["lit", "often"] : []) for (const [start, end] of shown[kind]) add(kind, unit(start), unit(end));
  for (const [start, length] of here.now.passages) add("evidence", unit(start), unit(start + length));
  for (const [start, end] of found) add("found", start, end);
  if (marking) shown.sentences.forEach(([start, end], n) => add(`s${n}`, unit(start), unit(end)));
  for (let at = LONG; at < text.length; at += LONG) turns.set(at, turns.get(at) ?? []);
  let from = 0;
  for (const place of [...turns.keys(), text.length].sort((one, other) => one - other)) {
    const kinds = Object.keys(on), piece = text.slice(from, place);
    if (piece && kinds.length) {
      const made = element(kinds.includes("evidence") ? "mark" : "span", {className: kinds.join(" "), textContent: piece});
      const sentence = kinds.find(kind => /^s\d/.test(kind))?.slice(1);
      if (sentence) made.dataset.s = sentence;
      yield made;
    } else if (piece) yield piece;
    for (const [kind, by] of turns.get(place) ?? []) {
      on[kind] = (on[kind] ?? 0) + by;
      if (!on[kind]) delete on[kind];
    }
    turns.delete(place);
    from = place;
  }
}

// A long text is drawn a part at a time, so that its first screen is there at once.
let drawRest = () => {};
function drawText(text) {
  const pieces = painted();
  let isWhole = false;
  const draw = most => {
    for (let length = 0; length < most && !isWhole;) {
      const {value, done} = pieces.next();
      isWhole = done;
      length += value?.length ?? value?.textContent.length;
      if (!done) text.append(value);
    }
  };
  const goOn = () => { if (text.isConnected && !isWhole) { draw(LONG); setTimeout(goOn); } };
  draw(LONG);
  drawRest = () => draw(Infinity);
  setTimeout(goOn);
}

// HTML as structure: known elements are made anew without attributes, and all else is its text. Nothing is loaded,
// nothing acts, no style is theirs: a picture is its own bytes or its words, a link its words and its address.
const KNOWN = new Set(("H1 H2 H3 H4 H5 H6 P DIV SECTION ARTICLE HEADER FOOTER MAIN BLOCKQUOTE PRE CODE UL OL LI DL DT DD TABLE CAPTION "
  + "THEAD TBODY TFOOT TR TH TD STRONG B EM I U S SUB SUP SMALL BR HR FIGURE FIGCAPTION ABBR CITE Q TIME RUBY RT RP").split(" "));
const SILENT = new Set("SCRIPT STYLE TEMPLATE NOSCRIPT IFRAME OBJECT EMBED SVG MATH HEAD TITLE SELECT TEXTAREA BUTTON INPUT".split(" "));
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/;

function structure(html) {
  const unit = unitsOf(shown.text), words = [...new Set([...shown.lit, ...shown.often].map(span => shown.text.slice(...span.map(unit))))];
  const lit = isLit && words.length ? new RegExp(`(${words.map(escaped).join("|")})`, "u") : null;
  const textOf = text => !lit ? [text] : text.split(lit).map((piece, n) => n % 2 ? element("span", {className: "lit", textContent: piece}) : piece);
  const copy = (from, into, depth) => {
    for (const node of from.childNodes) {
      const name = node.nodeName.toUpperCase();
      if (node.nodeType === Node.TEXT_NODE) into.append(...textOf(node.data));
      else if (node.nodeType !== Node.ELEMENT_NODE || SILENT.has(name)) continue;
      else if (name === "IMG") {
        const src = node.getAttribute("src") ?? "", alt = node.getAttribute("alt") ?? "";
        into.append(PICTURE.test(src) ? element("img", {src, alt}) : element("span", {className: "picture", textContent: `[picture: ${alt || "without words"}]`}));
      } else if (depth > 60) into.append(...textOf(node.textContent));  // no stack is that deep
      else if (KNOWN.has(name)) {
        const heading = /^H([1-6])$/.exec(name), made = element(heading ? `h${Math.min(Number(heading[1]) + 2, 6)}` : name.toLowerCase());
        for (const span of ["colspan", "rowspan"]) if (/^[1-9]\d?$/.test(node.getAttribute(span))) made.setAttribute(span, node.getAttribute(span));
        into.append(copy(node, made, depth + 1));
      } else if (name === "A" && /^https?:\/\//.test(node.getAttribute("href") ?? "")) {
        into.append(copy(node, element("span", {className: "link", title: node.getAttribute("href")}), depth + 1));
      } else copy(node, into, depth + 1);
    }
    return into;
  };
  return copy(new DOMParser().parseFromString(html, "text/html").body, element("div"), 0);
}

// How long the rest takes at this judge's pace, as the terminal says it; empty: too few decisions to tell.
function restWords(left) {
  const recent = times.slice(-data.pace.most);
  if (!left || recent.length < data.pace.least) return "";
  const minutes = left * recent.reduce((sum, ms) => sum + ms, 0) / recent.length / 60_000;
  const [h, m] = [Math.floor(Math.round(minutes) / 60), Math.round(minutes) % 60];
  return minutes < 1 ? ", under a minute left" : h ? `, about ${h} h${m ? ` ${m}` : ""} left` : `, about ${m} min left`;
}

function drawHead() {
  const decided = inState("judged", "cannot"), total = topic.queue.length + topic.more, off = inState("skipped");
  const words = `${decided} of ${total} decided${off ? `, ${off} skipped` : ""}`;
  const rest = restWords(total - decided), goal = topic.goal?.words ?? "";
  $("far").replaceChildren(element("progress", {max: Math.max(total, 1), value: decided, ariaLabel: words}), ` ${words}${rest}`);
  if (goal) $("far").append(element("br"), goal);
  document.title = `${decided}/${total} ${topic.name} - ${data.judge} - pooler`;
}

function drawState() {
  $("kept").textContent = desk.state;
  $("kept").classList.toggle("urgent", !desk.isSafe);
}

function draw() {
  drawState();
  drawHead();
  const place = topic.queue.indexOf(here) + 1, now = here.now, at = scrollY;
  const text = element("div", {id: "text", className: shown.missing ? "missing" : hasStructure() ? "structure" : "plain"});
  const fields = shown.fields.flatMap(([name, value]) => [element("dt", {textContent: name}), element("dd", {textContent: value})]);
  const question = element("details", {id: "question", open: (ofTab("folded") ?? (innerWidth < 640 ? "1" : "0")) === "0"},
    element("summary", {}, element("h1", {textContent: `${topic.name} ${topic.title}`})), paragraph(topic.description), paragraph(topic.narrative, "prose soft"));
  question.ontoggle = () => ofTab("folded", question.open ? "0" : "1");
  const opinions = (shown.opinions ?? []).map(([name, ...lines]) => element("li", {}, element("strong", {textContent: name}), ...lines.map(line => paragraph(line))));
  const article = element("article", {id: "document", tabIndex: 0},
    element("h2", {id: "docname", textContent: shown.title || here.name}),
    element("p", {id: "stands", className: "soft", textContent: `${here.name}, document ${place} of ${topic.queue.length}: ${stateWords(now)}`}),
    ...(now.note ? [paragraph(`Note: ${now.note}`)] : []),
    ...(draftOf(here) !== null ? [paragraph("A note begun here is not saved: the note key goes on with it.", "urgent")] : []),
    ...(opinions.length ? [element("ul", {id: "opinions", ariaLabel: "What judges decided"}, ...opinions)] : []),
    ...(shown.past ? [paragraph(shown.past, "soft")] : []),
    ...(fields.length ? [element("dl", {}, ...fields)] : []), text);
  article.setAttribute("aria-labelledby", "docname stands");
  const hadFocus = $("document")?.contains(document.activeElement);
  const pressed = $("grades").contains(document.activeElement) || $("commands").contains(document.activeElement) ? document.activeElement.textContent : null;
  $("main").replaceChildren(question, article);
  if (shown.missing) text.append(shown.missing);
  else if (hasStructure()) text.append(structure(shown.html));
  else drawText(text);
  text.onclick = event => {
    if (!marking || !event.target.dataset.s) return;
    marking.at = marking.from = Number(event.target.dataset.s);
    run("mark sentence");
  };
  if (hadFocus) article.focus({preventScroll: true});
  $("grades").replaceChildren(...data.grades.map(one => button(one.label, one.key, () => run(one.value), now.state === "judged" && now.grade === one.value)));
  const names = {"raw": hasStructure() ? "as text" : "structure"};
  const buttons = data.commands.filter(one => one.shown && (one.name !== "raw" || shown.html !== null))
    .map(one => button(names[one.name] ?? one.name, one.key, () => run(one.name), one.name === "mark" ? marking !== null : undefined));
  for (const one of buttons) one.onpointerdown = event => event.preventDefault();  // what is selected stays so
  $("commands").replaceChildren(...buttons);
  if (pressed !== null) ([...$("grades").children, ...buttons].find(one => one.textContent === pressed) ?? article).focus({preventScroll: true});
  if (at > 0) {  // of a long text no more is drawn yet than its beginning
    if (at > innerHeight) drawRest();
    scrollTo(0, at);
  }
  if (marking) showMarking();
}

async function showInbox() {
  const lines = await patiently(() => desk.inbox(), "The topics are not here.");
  topic = here = shown = clock = marking = null;
  ofTab("topic", null);
  tell("");
  const last = lines.reduce((latest, line) => (line.last ?? "") > (latest?.last ?? "") ? line : latest, null);
  const start = last && last.decided + last.skipped < last.documents ? last : lines.find(line => line.decided < line.documents) ?? lines[0];
  const items = lines.map(line => {
    const words = `${line.decided} of ${line.documents} decided${line.skipped ? `, ${line.skipped} skipped` : ""}`;
    const made = element("button", {type: "button", onclick: () => openTopic(line.topic)}, element("strong", {textContent: `${line.name} ${line.title}`}),
      element("span", {}, element("progress", {max: line.documents, value: line.decided, ariaLabel: words}), ` ${words}`));
    made.dataset.start = line === start;
    return element("li", {}, made);
  });
  $("main").replaceChildren(element("h1", {textContent: "Topics"}), items.length ? element("ol", {id: "topics"}, ...items) : paragraph("No document is assigned to you."));
  for (const id of ["grades", "commands", "far"]) $(id).replaceChildren();
  const sum = of => lines.reduce((all, line) => all + line[of], 0);
  document.title = `${sum("decided")}/${sum("documents")} ${data.collection} - ${data.judge} - pooler`;
  drawState();
  ($("main").querySelector("[data-start=true]") ?? $("main")).focus();
}

async function openTopic(name, docno) {
  topic = await patiently(() => desk.open(name), "The topic is not here.");
  here = null;
  if (topic.times && !times.length) times.push(...topic.times);
  if (!inState("unjudged") && topic.more) await bring();
  if (!topic.queue.length) return showInbox();
  const first = state => topic.queue.find(task => task.now.state === state);
  const isNew = ofTab("topic") !== name && (topic.is_new ?? topic.queue.every(task => task.now.revision === 0));
  if (!docno && isNew && !(await showTopic("begin"))) return showInbox();
  ofTab("topic", name);
  await goTo(topic.queue.find(task => task.docno === docno) ?? first("unjudged") ?? first("skipped") ?? topic.queue[0]);
  if (topic.elsewhere) tell(topic.elsewhere);
  else if (!inState("unjudged") && inState("skipped")) tell("skipped before, and still to do");
}

// Another window of the file has gone on.
async function refresh() {
  if (!topic) return showInbox();
  const {queue} = await desk.open(topic.topic);
  topic.queue.forEach((task, n) => { task.now = queue[n].now; });
  return here ? draw() : undefined;
}

// Questions over the page: an answer is [key, label, value]; a value that is a field waits for words in it

function ask(title, nodes, answers, focused) {
  const box = $("box");
  return new Promise(resolve => {
    const close = value => {
      if (value?.value === "") return value.focus();
      box.close();
      $("document")?.focus({preventScroll: true});
      return resolve(value);
    };
    const body = element("div", {id: "box-body", tabIndex: 0}, ...(typeof nodes === "function" ? nodes(close) : nodes));
    box.replaceChildren(element("h2", {id: "box-title", textContent: title}), body, element("div", {id: "box-answers"},
      ...answers.map(([key, label, value]) => button(label, key, () => close(value))), button("back", "Esc", () => close(null))));
    box.onkeydown = event => {
      if (event.ctrlKey && event.key === "j" && event.target.matches("textarea")) {
        event.preventDefault();
        return document.execCommand("insertText", false, "\n");
      }
      if (event.isComposing || event.altKey || event.metaKey || event.ctrlKey || event.repeat) return;
      const isTyping = event.target.matches("input, textarea, select"), isEnter = event.key === "Enter";
      if (!isTyping && moveFocus(body, event)) return;
      if (isEnter ? event.shiftKey || event.target.matches("button") : isTyping && event.key !== "Escape") return;
      const known = event.key === "Escape" ? ["", "", null] : answers.find(([key]) => key === half(event.key));
      if (!known) return;
      event.preventDefault();
      event.stopPropagation();  // the box is closed by the time the page hears of it
      close(known[2]);
    };
    box.onclose = () => { if (!box.open) close(null); };  // it comes late: another question may be open by then
    box.showModal();
    (focused ?? body).focus({preventScroll: true});
  });
}

const sure = async question => (await ask(question, [], [["y", "yes", true]])) === true;
const guidelines = () => $("guidelines").content.cloneNode(true);
const showTopic = answer => ask(`${topic.name} ${topic.title}`, [paragraph(topic.description), paragraph(topic.narrative),
  list(data.grades.map(one => `${one.key}: ${one.label}`)), guidelines()], [["Enter", answer, true]]);

async function choose(title, nodes, entries) {
  const buttons = close => entries.map(([words, one]) =>
    element("li", {}, element("button", {type: "button", textContent: words, onclick: () => close(one)})));
  const chosen = await ask(title, close => [...nodes, element("ol", {}, ...buttons(close))], []);
  const task = chosen && await taskOf(chosen);
  if (task) await goTo(task);
}

const FILTERS = {"all": () => true, "unjudged": now => now.state === "unjudged", "judged": now => now.state === "judged",
  "skipped": now => now.state === "skipped", "cannot be judged": now => now.state === "cannot", "with a note": now => now.note,
  "with passages": now => now.passages.length, "decided quickly": now => ["judged", "cannot"].includes(now.state) && now.dwell_ms !== null && now.dwell_ms < data.quick_ms,
  ...Object.fromEntries(data.grades.map(one => [one.name, now => now.state === "judged" && now.grade === one.value]))};

function showList() {
  const filter = element("select", {id: "filter"}, ...Object.keys(FILTERS).map(name => element("option", {textContent: name})));
  const entries = topic.queue.map(task => [`${task.name} ${task.title}: ${stateWords(task.now)}`, {topic: topic.topic, docno: task.docno}]);
  filter.onchange = () => [...$("box").querySelectorAll("li")].forEach((item, n) => { item.hidden = !FILTERS[filter.value](topic.queue[n].now); });
  return choose("Documents of this topic", [element("label", {htmlFor: "filter", textContent: "Show "}), filter], entries);
}

async function sumUp() {
  const off = inState("skipped"), graded = value => topic.queue.filter(task => task.now.state === "judged" && task.now.grade === value).length;
  const lines = [...data.grades].reverse().map(one => `${one.name}: ${graded(one.value)}`);
  const answers = [off ? ["Enter", "go to what is skipped", "stay"] : ["Enter", "next topic", "next"], ["t", "back to the topics", "inbox"],
    [data.commands.find(one => one.name === "undo").key, "undo", "undo"]];
  const answer = await ask(`${topic.name}: ${off ? `${off} skipped` : "every document has a decision"}`,
    [list([...lines, `skipped: ${off}`, `cannot be judged: ${inState("cannot")}`])], answers);
  if (answer === "inbox") return showInbox();
  if (answer === "undo") return undo();
  if (answer !== "next") return startClock();
  const next = (await patiently(() => desk.inbox(), "The topics are not here.")).find(line => line.decided < line.documents);
  return next ? openTopic(next.topic) : showInbox();
}

// The goal of the organiser is reached: the judge may stop here, or go on.
async function offerEnd() {
  atGoal.add(topic.topic);
  const answer = await ask("You may stop here", [paragraph(topic.goal.words)], [["t", "back to the topics", "inbox"], ["Enter", "go on", "stay"]]);
  if (answer === "inbox") await showInbox();
  else startClock();
}

const scroll = by => scrollBy(0, by);
const actions = {
  "undo": undo, "redo": redo, "skip": skip, "can't": cannot, "note": () => note(), "note before": noteBefore, "next": () => step(1), "previous": () => step(-1), "mark": mark, "find": find,
  "mark sentence": () => markSpan(...markedSpan()), "topic": () => showTopic("go on"), "list": showList,
  "guidelines": () => ask("Guidelines", [guidelines()], []), "topics": showInbox,
  "next hit": () => toHit(1), "previous hit": () => toHit(-1), "lit": () => { isLit = !isLit; draw(); },
  "raw": () => {
    if (shown.html === null) return tell("this document is plain text, without structure");
    isStructured = !isStructured;
    ofBrowser("structured", isStructured ? "1" : null);
    return draw();
  },
  "history": () => choose("Done in this window", [], done.map(one => [`${one.topic} ${one.docno}: ${one.words}`, one]).reverse()),
  "help": () => ask("Keys", [element("table", {}, ...[...data.grades.map(one => [one.key, one.label]), ...data.commands.map(one => [one.key, one.explanation])].map(
    ([key, words]) => element("tr", {}, element("th", {scope: "row", textContent: key}), element("td", {textContent: words}))))], []),
  "quit": () => isFile ? desk.save() : tell("everything is saved: close the window, or leave"),
  "line down": () => scroll(40), "line up": () => scroll(-40), "page down": () => scroll(innerHeight * 0.7),
  "page up": () => scroll(-innerHeight * 0.7), "top": () => scroll(-1e9), "bottom": () => { drawRest(); scroll(1e9); },
};
const ANYWHERE = ["help", "quit", "guidelines", "undo", "redo", "history"], SCROLLS = Object.keys(actions).slice(-6);
const tellWaiting = () => tell(`not saved yet: ${waiting.words}; undo gives it up`, true);
let isBusy = false;

// One thing at a time: a key that comes while a record waits is not for the next document.
async function run(meaning) {
  touch();
  if (!here && !ANYWHERE.includes(meaning)) return;
  if (SCROLLS.includes(meaning)) return actions[meaning]();
  if (isBusy) {
    if (meaning === "undo" && waiting?.giveUp) waiting.giveUp();
    else if (typeof meaning === "number" && clock) clock.dropped++;
    return waiting ? tellWaiting() : undefined;
  }
  isBusy = true;
  try {
    await (typeof meaning === "number" ? grade(meaning) : actions[meaning]());
  } catch (error) {
    tell(`that failed: ${error.message}`, true);
    if (!(error instanceof Refused || error instanceof Gone)) throw error;
  } finally {
    isBusy = false;
  }
}

// Keys

const half = key => key.length === 1 && key >= "！" && key <= "～" ? String.fromCharCode(key.charCodeAt(0) - 0xfee0) : key;

// Up and down in a list of buttons.
function moveFocus(within, event) {
  const by = {ArrowDown: 1, j: 1, ArrowUp: -1, k: -1}[event.key], all = [...within.querySelectorAll("li:not([hidden]) button")];
  if (!by || !all.length) return false;
  event.preventDefault();
  all[all.indexOf(document.activeElement) + by]?.focus();
  return true;
}

addEventListener("keydown", event => {
  if (event.isComposing || event.altKey || event.metaKey) return;
  const name = event.key.length === 1 ? half(event.key) : event.key.toLowerCase().replace("arrow", "");
  const key = event.ctrlKey ? `ctrl+${name.toLowerCase()}` : name, isOnButton = event.target.matches("button, input, summary");
  if (key === "ctrl+s" && isFile) {
    event.preventDefault();
    return desk.save();
  }
  if ($("box").open) return;
  if ((name.length === 1 && !event.ctrlKey && ofBrowser("letters") === "0") || (isOnButton && (key === " " || key === "enter"))) return;
  if (key === "ctrl+f") return drawRest();  // the browser finds better
  if (marking && !event.ctrlKey) {
    if (markBy(key) !== false) event.preventDefault();
    return;
  }
  if (!here && moveFocus($("main"), event)) return;
  const meaning = data.keys[key];
  if (meaning === undefined) {
    if (/^\d$/.test(key) && here) tell(`${key} is no grade here: ${data.grades.map(one => `${one.key} ${one.label}`).join(", ")}`, true);
    return;
  }
  event.preventDefault();
  if (!event.repeat || SCROLLS.includes(meaning)) run(meaning);
  else if (typeof meaning === "number" && clock) clock.dropped++;
});

addEventListener("scroll", touch, {passive: true});
addEventListener("beforeprint", () => drawRest());
addEventListener("beforeunload", event => { if (!isLeaving && !desk.isSafe) event.preventDefault(); });
setInterval(() => { if (topic && !document.hidden) desk.beat(topic.topic).catch(() => {}); }, 45_000);

async function begin() {
  const letters = element("input", {type: "checkbox", id: "letters", checked: ofBrowser("letters") !== "0"});
  letters.onchange = () => ofBrowser("letters", letters.checked ? null : "0");
  const ways = [button("keys", "?", () => actions.help()), element("label", {}, letters, " single keys")];
  if (isFile) {
    const file = element("input", {type: "file", id: "file", hidden: true});
    file.onchange = () => { if (file.files[0]) desk.openFile(file.files[0]); file.value = ""; };
    ways.unshift(button("save file", "q", () => desk.save()), button("open a saved file", "", () => file.click()), file);
  } else ways.push(button("leave", "", () => desk.leave()));
  $("ways").replaceChildren(...ways);
  drawState();
  const before = JSON.parse(ofTab("waiting") ?? "null");
  const words = one => one.action === "judge" ? gradeOf(one.grade)?.name ?? String(one.grade) : one.action === "cannot" ? `cannot be judged: ${one.reason}` : one.action;
  done.push(...(await patiently(() => desk.begin(), "The page has no server.")).map(one => ({...one, words: words(one)})));
  if (before) {
    const {record} = before.asked;
    try {  // what was under way when the page was closed or loaded anew; written once, however often it is sent
      const {now} = await patiently(() => desk.record({...before.asked, record: {...record, window: desk.window}}), `NOT SAVED: ${before.words}.`);
      const known = done.some(one => one.docno === record.docno && one.topic === record.topic && one.revision === now.revision);
      if (record.action !== "undo" && !known) done.push({...record, revision: now.revision, words: before.words});
      tell(`${record.docno}: ${before.words}, saved after all`);
    } catch (error) {
      await ask("NOT SAVED", [paragraph(`${record.docno}, ${before.words}: ${error.message}`)], []);
    }
    ofTab("waiting", null);
  }
  if (ofTab("topic")) await openTopic(ofTab("topic")).catch(showInbox);
  else await showInbox();
}
begin();
