// The page of `padir serve`. It sends a text to /v1/translate/stream, keeps every step, and shows them: as they arrive, and again with
// the slider. Without this script the form of the page translates by itself.

const $ = (id) => document.getElementById(id);
const SPACE = "▁";
const REPLAY_PAUSE = 450;

/** What is shown: sentences with their steps and, once it is there, the result. */
let shown = null;
let running = null;
let replaying = null;

// ---- Words -------------------------------------------------------------------------------------------------------------------

/** Joins tokens to words: a token that begins with a space begins one. A word is as sure as its least sure token. */
function words(pieces, confidences, changed = [], rejected = []) {
  const list = [];
  pieces.forEach((piece, i) => {
    if (rejected.includes(i)) {
      // What stands there now is no part of the text.
      list.push({ text: "·", confidence: confidences[i] ?? 1, changed: false, rejected: true });
      return;
    }
    if (piece.startsWith(SPACE) || list.length === 0 || list[list.length - 1].rejected) {
      list.push({ text: "", confidence: 1, changed: false, rejected: false });
    }
    const word = list[list.length - 1];
    word.text += piece.replaceAll(SPACE, "");
    word.confidence = Math.min(word.confidence, confidences[i] ?? 1);
    word.changed ||= changed.includes(i);
  });
  return list.filter((word) => word.text !== "");
}

function wordElement(word, tag = "span") {
  const element = document.createElement(tag);
  element.textContent = word.text;
  element.className = `word c${Math.min(9, Math.floor(word.confidence * 10))}`;
  element.classList.toggle("changed", word.changed);
  element.classList.toggle("rejected", word.rejected);
  element.classList.toggle("fixed", Boolean(word.fixed));
  element.title = word.fixed ? "fixed" : `${Math.round(word.confidence * 100)} %`;
  return element;
}

// ---- Showing -----------------------------------------------------------------------------------------------------------------

/** The steps of a sentence's best hypothesis, or of the best so far. */
function frames(sentence) {
  const chosen = sentence.best?.hypotheses ?? [];
  const parts = new Map();
  for (const event of sentence.events) {
    if (!parts.has(event.part)) parts.set(event.part, []);
    parts.get(event.part).push(event);
  }
  let list = [];
  for (const [part, events] of [...parts].sort((a, b) => a[0] - b[0])) {
    let winner = chosen[part];
    if (winner === undefined) {
      const scored = events.filter((event) => event.status !== "dropped" && event.score !== null);
      const last = Math.max(0, ...scored.map((event) => event.step));
      const now = scored.filter((event) => event.step === last);
      winner = now.sort((a, b) => b.score - a.score)[0]?.hypothesis;
    }
    const own = events.filter((event) => event.hypothesis === winner);
    const wordLists = own.map((event) => words(event.pieces, event.confidences, event.changed, event.rejected));
    if (list.length === 0) list = wordLists;
    else {
      const length = Math.max(list.length, wordLists.length);
      const at = (all, i) => all[Math.min(i, all.length - 1)] ?? [];
      list = Array.from({ length }, (_, i) => [...at(list, i), ...at(wordLists, i)]);
    }
  }
  return list;
}

/** The words of the finished translation, with how sure they are. */
function finalWords(sentence) {
  const plain = sentence.best.text.split(/\s+/).filter(Boolean);
  const sure = words(sentence.best.tokens.map((t) => t.piece), sentence.best.tokens.map((t) => t.confidence));
  return plain.map((text, i) => ({
    text,
    confidence: sure.length === plain.length ? sure[i].confidence : 1,
    changed: false,
    rejected: false,
    fixed: sentence.fixed.includes(i),
  }));
}

function stepCount() {
  return Math.max(1, ...shown.sentences.map((sentence) => frames(sentence).length));
}

/** Shows a step; the last one of a finished translation has words that can be fixed. */
function show(step) {
  const view = $("view");
  const last = step >= stepCount();
  view.replaceChildren();
  shown.sentences.forEach((sentence, s) => {
    const element = document.createElement("span");
    element.className = "sentence";
    if (last && sentence.best) {
      finalWords(sentence).forEach((word, w) => {
        const button = wordElement(word, "button");
        button.type = "button";
        button.setAttribute("aria-label", `${word.text}, ${button.title}; fix another word here`);
        button.addEventListener("click", () => edit(s, w, button));
        element.append(button, " ");
      });
    } else {
      const list = frames(sentence);
      for (const word of list[Math.min(step, list.length) - 1] ?? []) element.append(wordElement(word), " ");
    }
    view.append(element);
  });
  $("step").max = stepCount();
  $("step").value = step;
  $("step-number").textContent = `${step} of ${stepCount()}`;
}

function showDetails() {
  const list = $("alternatives");
  list.replaceChildren();
  for (const text of shown.nbest ?? []) {
    const item = document.createElement("li");
    item.textContent = text;
    list.append(item);
  }
  const rows = $("lengths");
  rows.replaceChildren();
  shown.sentences.forEach((sentence, s) => {
    const last = new Map();
    for (const event of sentence.events) last.set(`${event.part}/${event.hypothesis}`, event);
    for (const event of [...last.values()].sort((a, b) => (b.score ?? -1e9) - (a.score ?? -1e9))) {
      const row = document.createElement("tr");
      const won = sentence.best?.hypotheses[event.part] === event.hypothesis;
      row.className = won ? "winner" : event.status;
      const text = words(event.pieces, event.confidences, [], event.rejected).map((word) => word.text).join(" ");
      const cells = [s + 1, event.length?.length ?? "", event.step, event.score?.toFixed(3) ?? "", text];
      for (const content of cells) {
        const cell = document.createElement("td");
        cell.textContent = content;
        row.append(cell);
      }
      rows.append(row);
    }
  });
  $("more").hidden = false;
}

function fail(message) {
  $("error").textContent = message;
}

// ---- Asking ------------------------------------------------------------------------------------------------------------------

/** key=value lines and fields as the object that the server takes; dots lead into objects. */
function settings() {
  const changes = {};
  const put = (key, value) => {
    const path = key.split(".");
    let table = changes;
    for (const name of path.slice(0, -1)) table = table[name] ??= {};
    table[path[path.length - 1]] = value;
  };
  for (const name of ["steps", "lengths", "temperature"]) {
    const value = $(`set-${name}`).value;
    if (value !== "") put(name, Number(value));
  }
  for (const line of $("set-more").value.split("\n").map((line) => line.trim()).filter(Boolean)) {
    const [key, ...rest] = line.split("=");
    if (rest.length === 0) throw new Error(`"${line}" is not of the form key=value`);
    const value = rest.join("=").trim();
    let parsed;
    try { parsed = JSON.parse(value); } catch { parsed = value; }
    put(key.trim(), parsed);
  }
  return changes;
}

/** Sends a request and calls back for every event of the answer. */
async function stream(body, signal, heard) {
  const headers = { "Content-Type": "application/json" };
  if ($("key").value) headers["X-API-Key"] = $("key").value;
  const response = await fetch("/v1/translate/stream", { method: "POST", headers, body: JSON.stringify(body), signal });
  if (!response.ok) {
    const error = await response.json().catch(() => ({ error: response.statusText }));
    const wait = response.headers.get("Retry-After");
    throw new Error(wait ? `${error.error} (try again in ${wait} s)` : error.error);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
    const messages = text.split("\n\n");
    text = messages.pop();
    for (const message of messages) {
      const fields = Object.fromEntries(message.split("\n").map((line) => {
        const at = line.indexOf(":");
        return [line.slice(0, at), line.slice(at + 1).trim()];
      }));
      if (fields.data) heard(fields.event, JSON.parse(fields.data));
    }
  }
}

async function run(work) {
  running?.abort();
  stopReplay();
  const own = new AbortController();
  running = own;
  fail("");
  $("stop").hidden = false;
  $("busy").textContent = "translating …";
  const started = performance.now();
  try {
    await work(own.signal);
    $("busy").textContent = `${Math.round(performance.now() - started)} ms`;
  } catch (error) {
    $("busy").textContent = "";
    if (error.name !== "AbortError") {
      fail(error instanceof TypeError ? "The server cannot be reached." : error.message);
    }
  } finally {
    if (running === own) {
      running = null;
      $("stop").hidden = true;
    }
  }
}

function languages() {
  const [source, target] = $("pair").value.split("|");
  return { source, target };
}

function newSentence(source, fixed = []) {
  return { source, events: [], best: null, fixed };
}

function translate() {
  const q = $("text").value;
  if (q.trim() === "") return;
  run(async (signal) => {
    const body = { q, ...languages(), settings: settings(), nbest: Number($("nbest").value) || 1, tokens: true };
    $("view").lang = body.target;
    await stream(body, signal, (event, data) => {
      if (event === "start") {
        shown = { sentences: data.sentences.map((s) => newSentence(s.source)), nbest: null };
        $("player").hidden = false;
        $("legend").hidden = false;
      } else if (event === "step") {
        shown.sentences[data.sentence].events.push(data);
        show(stepCount());
      } else if (event === "result") {
        const text = data.translations[0];
        text.sentences.forEach((sentence, s) => { shown.sentences[s].best = sentence.nbest[0]; });
        shown.nbest = text.nbest;
        if (shown.sentences.length === 0) shown.sentences = [];
        show(stepCount());
        if (text.sentences.length === 0) $("view").textContent = text.text;
        $("said").textContent = text.text;
        showDetails();
      } else if (event === "error") {
        throw new Error(data.error);
      }
    });
  });
}

// ---- Fixing a word -----------------------------------------------------------------------------------------------------------

/** Turns a word into a field. Enter fixes what is typed, Esc leaves it as it was. */
function edit(s, w, button) {
  const field = document.createElement("input");
  field.className = "edit";
  field.value = button.textContent;
  field.setAttribute("aria-label", `Another word for ${button.textContent}`);
  let over = false;
  const leave = () => {
    if (over) return;
    over = true;
    show(stepCount());
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") {
      event.preventDefault();
      over = true;
      fix(s, w, field.value);
    } else if (event.key === "Escape") leave();
  });
  field.addEventListener("blur", leave);
  button.replaceWith(field);
  field.focus();
  field.select();
}

/** Refines a sentence around a word. Words that were fixed before stay; an empty word is removed. */
function fix(s, w, typed) {
  const sentence = shown.sentences[s];
  const list = sentence.best.text.split(/\s+/).filter(Boolean);
  const fresh = typed.trim().split(/\s+/).filter(Boolean);
  const text = [...list.slice(0, w), ...fresh, ...list.slice(w + 1)];
  const moved = sentence.fixed.filter((i) => i !== w).map((i) => (i < w ? i : i + fresh.length - 1));
  const fixed = [...new Set([...moved, ...fresh.map((_, i) => w + i)])].sort((a, b) => a - b);
  if (text.length === 0) return show(stepCount());
  run(async (signal) => {
    const force = { text: text.join(" "), words: fixed };
    const body = { q: sentence.source, ...languages(), settings: settings(), tokens: true, force };
    const refined = newSentence(sentence.source, fixed);
    await stream(body, signal, (event, data) => {
      if (event === "step") {
        shown.sentences[s] = refined;
        refined.events.push(data);
        show(stepCount());
      } else if (event === "result") {
        refined.best = data.translations[0].sentences[0].nbest[0];
        // Where a word was dropped, the others have moved.
        const now = refined.best.text.split(/\s+/).filter(Boolean);
        refined.fixed = follow(fixed.map((i) => text[i]), now);
        shown.sentences[s] = refined;
        shown.nbest = [shown.sentences.map((one) => one.best.text).join(" ")];
        show(stepCount());
        $("said").textContent = refined.best.text;
        showDetails();
      } else if (event === "error") {
        throw new Error(data.error);
      }
    });
  });
}

/** Where words stand in a list, one after the other. */
function follow(wanted, list) {
  const places = [];
  let from = 0;
  for (const word of wanted) {
    const at = list.indexOf(word, from);
    if (at >= 0) {
      places.push(at);
      from = at + 1;
    }
  }
  return places;
}

// ---- Replay, theme, keys -----------------------------------------------------------------------------------------------------

function stopReplay() {
  clearInterval(replaying);
  replaying = null;
}

function replay() {
  stopReplay();
  let step = 1;
  show(step);
  replaying = setInterval(() => {
    step += 1;
    if (step >= stepCount()) stopReplay();
    show(Math.min(step, stepCount()));
  }, REPLAY_PAUSE);
}

function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  const dark = (name ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  $("theme").textContent = dark ? "Light" : "Dark";
  $("theme").setAttribute("aria-pressed", String(dark));
  return dark;
}

function stored(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

document.querySelectorAll(".js").forEach((element) => { element.hidden = false; });
$("theme").hidden = false;
let dark = theme(stored("theme"));
$("theme").addEventListener("click", () => {
  const name = dark ? "light" : "dark";
  stored("theme", name);
  dark = theme(name);
});
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  translate();
});
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    translate();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") running?.abort();
});
$("stop").addEventListener("click", () => running?.abort());
$("replay").addEventListener("click", replay);
$("step").addEventListener("input", () => {
  stopReplay();
  show(Number($("step").value));
});
