"use strict";
// The two desks of the judging page: the server's, by requests, or the page's own, in a file that needs no
// network. What a judge does is a record, the same for both: a server appends it to the collection, a file keeps
// it until it is sent back. What a record says is read by store/judging/page_records.py. After it comes page.js.

const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent), head = $("head").textContent;
const isFile = head !== "";
const LONG = 30_000;  // characters that are drawn at once
const STATES = {judge: "judged", skip: "skipped", cannot: "cannot"};

const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const hex = n => [...crypto.getRandomValues(new Uint8Array(n))].map(one => one.toString(16).padStart(2, "0")).join("");
const keyOf = (topic, docno) => `${topic}\n${docno}`;
const gradeOf = value => data.grades.find(grade => grade.value === value);
const escaped = words => words.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
const whole = ms => Math.min(Math.round(ms), 2 ** 31 - 1);  // more than a database holds, after 24 days

// What a tab or a browser keeps, of this judge's page alone; some browsers keep nothing.
const PLACE = JSON.stringify(["pooler page", data.collection, data.judge, data.head]) + " ";
function kept(area, name, value) {
  try {
    if (value === undefined) return area().getItem(PLACE + name);
    return value === null ? area().removeItem(PLACE + name) : area().setItem(PLACE + name, value);
  } catch (error) {
    return null;
  }
}
const ofTab = (name, value) => kept(() => sessionStorage, name, value);
const ofBrowser = (name, value) => kept(() => localStorage, name, value);

class Gone extends Error {}  // no answer yet: it may have been done all the same
class Refused extends Error {
  constructor(answer) {
    super(answer.error);
    this.now = answer.now;  // how the document stands by now
  }
}

// The server's desk

class ServedDesk {
  #texts = new Map();

  async #call(verb, body = {}) {
    let response, answer;
    try {  // an address that begins with a login is none for `fetch`; a proxy that wants one redirects, or says 401
      response = await fetch(`${location.origin}/api/${verb}`, {
        method: "POST", headers: {"Content-Type": "application/json"}, redirect: "manual",
        body: JSON.stringify({window: this.window, ...body}), signal: AbortSignal.timeout(10_000),
      });
      if (response.status && response.status !== 401) answer = await response.json();
    } catch (error) {
      throw new Gone("the server does not answer");
    }
    if (answer === undefined) {
      isLeaving = true;
      location.reload();  // a record that waits stays in the tab
      throw new Gone("enter your code again");
    }
    if (response.status >= 500 || response.status === 429) throw new Gone(answer.error ?? "the server is busy");
    if (!response.ok) throw new Refused(answer);
    return answer;
  }

  async begin() {
    this.window = ofTab("window") ?? hex(8);
    // A copied tab has the number of the first one.
    const isOwn = !navigator.locks || await new Promise(resolve => navigator.locks.request(PLACE + this.window,
      {ifAvailable: true}, lock => { resolve(lock !== null); return lock && new Promise(() => {}); }));
    if (!isOwn) this.window = hex(8);
    ofTab("window", this.window);
    return (await this.#call("begin")).done;
  }

  inbox() { return this.#call("inbox"); }
  open(topic) { return this.#call("topic", {topic}); }
  more(topic) { return this.#call("more", {topic}); }
  beat(topic) { return this.#call("beat", {topic}); }
  record(record) { return this.#call("record", record); }

  text(topic, docno) {
    const key = keyOf(topic, docno);
    if (!this.#texts.has(key)) {
      const asked = this.#call("document", {topic, docno});
      this.#texts.set(key, asked);
      asked.catch(() => this.#texts.delete(key));  // to be asked for again
      if (this.#texts.size > 50) this.#texts.delete(this.#texts.keys().next().value);
    }
    return this.#texts.get(key);
  }

  get state() { return waiting ? "NOT SAVED" : "every decision is saved at once"; }
  get isSafe() { return !waiting; }

  async leave() {
    if (waiting) return tellWaiting();
    isLeaving = true;
    const answer = await fetch(`${location.origin}/leave`, {method: "POST", redirect: "manual", signal: AbortSignal.timeout(10_000)}).catch(() => null);
    if (answer?.type !== "opaqueredirect") {
      isLeaving = false;
      return tell("the server does not answer: you have not left", true);
    }
    for (const area of [() => sessionStorage, () => localStorage]) {
      try {
        for (const name of Object.keys(area())) if (name.startsWith(PLACE)) area().removeItem(name);
      } catch (error) { /* it keeps nothing */ }
    }
    return location.reload();
  }
}

// The file's own desk: a log in the browser, one record a key, until it is saved as a file

class FileDesk {
  #log = [];
  #kept = 0;  // records that the browser has
  #saved = 0;  // records that the file had when it was saved last
  #trouble = "";  // why the browser keeps nothing more
  #isBroken = false;  // and will not, whatever happens
  #tasks = new Map();

  constructor() {
    const {made_at, signature} = JSON.parse(head);
    this.made = Date.parse(made_at);
    this.window = signature.slice(0, 8) + hex(4);
    for (const topic of data.topics) {
      for (const task of topic.queue) this.#tasks.set(keyOf(topic.topic, task.docno), [task.now]);
    }
    addEventListener("storage", () => { if (this.#catchUp()) refresh(); });
  }

  async begin() {
    this.#catchUp();
    this.#keep();
    return [];
  }

  async inbox() {
    return data.topics.map(topic => {
      const states = topic.queue.map(task => this.#now(topic.topic, task.docno).state);
      const count = (...wanted) => states.filter(state => wanted.includes(state)).length;
      const last = this.#log.findLast(one => one.topic === topic.topic)?.judged_at ?? null;
      return {...topic, documents: states.length, decided: count("judged", "cannot"), skipped: count("skipped"), last};
    });
  }

  async open(topic) {
    const found = data.topics.find(one => one.topic === topic);
    return {...found, more: 0, queue: found.queue.map(task => ({...task, now: this.#now(topic, task.docno)}))};
  }

  async text(topic, docno) {
    const task = data.topics.find(one => one.topic === topic).queue.find(one => one.docno === docno);
    return {...data.documents[docno], docno, lit: task.lit, often: task.often};
  }

  async more() { return null; }
  async beat() { return null; }

  async record({record}) {
    const now = () => ({now: this.#now(record.topic, record.docno)});
    if (this.#catchUp()) throw new Refused({error: "another window of this page has gone on", ...now()});
    const last = this.#log.length ? Date.parse(this.#log.at(-1).judged_at) + 1 : 0;
    this.#apply({...record, judged_at: this.moment(last, Date.parse(record.shown_at ?? 0))});
    this.#keep();
    return now();
  }

  // Never before the page was made, whatever this computer's clock says.
  moment(...least) { return new Date(Math.max(Date.now(), this.made + 1, ...least)).toISOString(); }

  #now(topic, docno) { return this.#tasks.get(keyOf(topic, docno)).at(-1); }

  #apply(record) {
    const states = this.#tasks.get(keyOf(record.topic, record.docno)), before = states.at(-1), after = {...before};
    if (record.revision !== before.revision + 1) throw new Refused({error: `${record.docno} has another history`, now: before});
    if (record.action === "undo") Object.assign(after, states[record.undoes - 1 - states[0].revision]);
    else if (record.action === "note") after.note = record.note;
    else if (record.action === "mark") after.passages = record.passages;
    else Object.assign(after, {state: STATES[record.action], grade: record.grade, reason: record.reason, dwell_ms: record.dwell_ms});
    states.push({...after, revision: record.revision});
    this.#log.push(record);
  }

  // Take in what the browser has and this window has not: of before, or of another window.
  #catchUp() {
    const before = this.#kept;
    try {
      for (let text; this.#kept === this.#log.length && (text = ofBrowser(this.#kept)) !== null; this.#kept++) this.#apply(JSON.parse(text));
      this.#saved = Math.max(this.#saved, Number(ofBrowser("saved")));
    } catch (error) {
      [this.#isBroken, this.#trouble] = [true, `what it has cannot be read: ${error.message}`];
    }
    return this.#kept > before;
  }

  #keep() {
    if (this.#isBroken) return;
    this.#trouble = "";
    for (; this.#kept < this.#log.length; this.#kept++) {
      const text = JSON.stringify(this.#log[this.#kept]), there = ofBrowser(this.#kept);
      if (there === null) ofBrowser(this.#kept, text);
      if (ofBrowser(this.#kept) !== text) {
        this.#trouble = there === null ? "it has no room, or keeps nothing" : "another window has gone on";
        return;
      }
    }
    ofBrowser("saved", this.#saved);
    if (ofBrowser("saved") === null) this.#trouble = "it has no room, or keeps nothing";
  }

  get state() {
    const n = this.#log.length - this.#saved;
    const rest = n ? `${counted(n, "step")} not in a saved file yet` : "all in the saved file";
    if (this.#trouble) return `NOT KEPT by this browser (${this.#trouble}): save the file before you close this page; ${rest}`;
    return this.#log.length ? `kept in this browser; ${rest}` : "nothing done here yet";
  }

  get isSafe() { return !this.#trouble || this.#saved === this.#log.length; }

  save() {
    this.#catchUp();
    const bytes = new TextEncoder().encode([head, ...this.#log.map(one => JSON.stringify(one)), ""].join("\n"));
    const link = element("a", {href: URL.createObjectURL(new Blob([bytes, sealOf(bytes), "\n"])), download: data.file});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    this.#saved = this.#log.length;
    this.#keep();
    drawState();
    tell(`${data.file}: ${counted(this.#log.length, "step")} handed to the browser as a file; send it back`);
  }

  async openFile(file) {
    const bytes = new Uint8Array(await file.arrayBuffer()), end = bytes.lastIndexOf(10, bytes.length - 2) + 1;
    const [first, ...lines] = new TextDecoder().decode(bytes.subarray(0, end)).split("\n").slice(0, -1);
    const seal = new TextDecoder().decode(bytes.subarray(end)).trim();
    this.#catchUp();
    if (first !== head) return tell("that is no file of this page: nothing was taken", true);
    if (seal !== sealOf(bytes.subarray(0, end))) return tell("that file was changed or cut: nothing was taken", true);
    if (!lines.slice(0, this.#log.length).every((line, n) => line === JSON.stringify(this.#log[n]))) {
      return tell("that file and this browser have gone apart: send both back", true);
    }
    const n = Math.max(lines.length - this.#log.length, 0);
    for (const line of lines.slice(this.#log.length)) this.#apply(JSON.parse(line));
    this.#saved = Math.max(this.#saved, lines.length);
    this.#keep();
    await showInbox();
    return tell(n ? `${counted(n, "step")} taken from the file` : "nothing in that file is new");
  }
}

function sealOf(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return `{"crc32": "${((crc ^ -1) >>> 0).toString(16).padStart(8, "0")}"}`;
}
