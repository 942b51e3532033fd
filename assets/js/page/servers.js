// @ts-check
// The fields under Target, filled by one press: from a server that was saved in this browser, from a pasted call, or with
// a model that the server lists. Never with a key; one that was typed for another address is taken out of its field.
import { builders } from "../lib/builders.js";
import { button, make, press, prose } from "../lib/dom.js";
import { isKeeping, keepTarget, mayKeep } from "../editor/draft.js";
import { onForget } from "../lib/host.js";

/**
 * @typedef {string | null} Value Of a field under Target.
 * @typedef {{ name: string, fields: string[] }} SavedServer
 * @typedef {{ draw(): void, say(text: string): void, ask(): void, isThere(): boolean, readName(): string, setName(text: string): void, wantKey(): void }} ServersView
 */

const SERVERS = "pd-servers";
const SAVED = "saved:";
const MAX_SERVERS = 20;
const MAX_NAME = 60;
const FIELDS = [5, 6]; // five before a model's template had a name
const SAME = { __type__: "update" }; // gradio leaves such a field as it is
/** @type {ServersView | null} */
let view = null;
/** @type {((fields: Value[]) => Value[] | null) | null} */
let wanted = null; // what the fields are to become: a function of what they are
let isSaving = false; // the fields are to be saved as they are

// {name, fields: [endpoint, model, tokenizer, tool parser, reasoning parser]}, newest first.
/** @returns {SavedServer[]} */
export const savedServers = () => {
  try {
    const kept = JSON.parse(globalThis.localStorage.getItem(SERVERS) || "null");
    return Array.isArray(kept) ? kept.filter(isServer).slice(0, MAX_SERVERS) : [];
  } catch {
    return [];
  }
};

/** @param {any} one */
function isServer(one) {
  /** @type {(value: unknown) => boolean} */
  const isText = (value) => typeof value === "string";
  return Boolean(one) && isText(one.name) && Array.isArray(one.fields) && FIELDS.includes(one.fields.length) && one.fields.every(isText);
}

/** @param {SavedServer[]} servers */
function write(servers) {
  try {
    globalThis.localStorage.setItem(SERVERS, JSON.stringify(servers.slice(0, MAX_SERVERS)));
  } catch {
    // a browser that keeps nothing
  }
  view?.draw();
}

// The list has changed: Run's menu, too.
function drawAll() {
  view?.draw();
  view?.ask();
}

onForget(() => {
  try {
    globalThis.localStorage.removeItem(SERVERS);
  } catch {
    // nothing is kept anyhow
  }
  drawAll();
});

/**
 * @param {Value} one
 * @param {Value} other
 */
const isSameAddress = (one, other) => String(one || "").trim().replace(/\/+$/, "") === String(other || "").trim().replace(/\/+$/, "");
/**
 * @param {SavedServer} one
 * @param {Value[]} server
 */
const isSameServer = (one, [url, model]) => isSameAddress(one.fields[0], url) && one.fields[1] === model;

// The new values of the fields of the target and of the key, as is wanted, or as they are, to be saved; and Run's menu.
/**
 * @param {[title: string, value: string][]} own What the menu holds besides saved servers.
 * @param {...Value} fields
 */
export const applyServer = (own, ...fields) => {
  const change = wanted;
  wanted = null;
  const saved = change ? change(fields) : null;
  if (isSaving) save(fields.map((value) => String(value || "").trim()));
  isSaving = false;
  const menu = { __type__: "update", choices: [...own, ...savedServers().map(menuEntry)] };
  const chosen = saved && fields.map((_, at) => saved[at] ?? ""); // one that was saved before there was a further field
  if (!chosen) return [...[...fields, SAME].map(() => SAME), menu];
  keepTarget(...chosen);
  setTimeout(() => press("pd-check-request"), 0); // what is said of a pasted call's server goes by the target
  return [...chosen, isSameAddress(chosen[0], fields[0]) ? SAME : "", { ...menu, value: "auto" }];
};

/** @type {(server: SavedServer, at: number) => [title: string, value: string]} */
const menuEntry = ({ name, fields: [url] }, at) => ["on " + (name || url.replace(/^https?:\/\/|\/(v1\/?)?$/g, "")), SAVED + at];

// What was chosen in Run's menu, as the server knows it: a saved server goes under Target, and Run asks what is there.
/**
 * @param {Value} chosen
 * @param {Value} endpoint
 * @param {...unknown} rest
 */
export const chooseRun = (chosen, endpoint, ...rest) => {
  const at = String(chosen).startsWith(SAVED) ? Number(String(chosen).slice(SAVED.length)) : NaN;
  const server = savedServers()[at];
  if (server) {
    wanted = () => server.fields;
    view?.ask();
  }
  return [server ? "auto" : chosen, server ? server.fields[0] : endpoint, ...rest];
};

/** @param {string[]} values */
function save(values) {
  if (!view) return;
  const name = view.readName();
  if (!values[0]) view.say("Enter an endpoint first.");
  else if (!isKeeping()) view.say("Not saved: the switch in History is off.");
  else if (![name, ...values].every((value) => mayKeep(value))) view.say("Not saved: it seems to contain a key.");
  else {
    write([{ name, fields: values }, ...savedServers().filter((one) => !isSameServer(one, values))]);
    view.say("Saved in this browser, without the key.");
  }
}

// Asks for the fields to be changed.
/** @param {(fields: Value[]) => Value[] | null} change */
function fill(change) {
  wanted = change;
  openTarget();
  if (view && view.isThere()) view.ask();
}

function openTarget() {
  const list = document.getElementById("pd-servers");
  if (list && list.offsetParent !== null) return;
  const opener = /** @type {HTMLElement | null} */ (document.querySelector("#pd-target button"));
  if (opener) opener.click();
}

// The server that a pasted call names: its address and model. The tokenizer of another server is not its.
/** @param {{ url: string, model: string }} server */
export function takeServer({ url, model }) {
  fill((fields) => {
    const isSame = isSameAddress(url, fields[0]);
    view?.setName("");
    view?.say(isSame && keyField()?.value ? "Taken from the call, with its key." : "Taken from the call: enter the key below if the server requires one.");
    view?.wantKey();
    return [url, model, isSame ? fields[2] : "", fields[3], fields[4]];
  });
}

/**
 * @param {string} model
 * @param {string} url
 */
function takeModel(model, url) {
  fill((fields) => {
    if (isSameAddress(url, fields[0])) return [fields[0], model, ...fields.slice(2)];
    view?.say("That list belongs to another server: test this one.");
    return null;
  });
}

builders.servers = (root) => {
  root.classList.add("pd-servers");
  const list = make("ul", "pd-servers-list");
  const words = make("span", "pd-muted");
  words.setAttribute("role", "status");
  const bar = make("p", "pd-servers-bar");
  const name = make("input", "pd-servers-name");
  name.placeholder = "A name (optional)";
  name.maxLength = MAX_NAME;
  name.setAttribute("aria-label", "Name of this server");
  const keep = button("Save this server", "pd-small", () => {
    isSaving = true;
    root.pdAsk("change");
  });
  bar.append(name, keep, words);
  root.append(list, bar);
  view = {
    draw, say: (text) => void (words.textContent = text), ask: () => root.pdAsk("change"), isThere: () => root.isConnected,
    readName: () => name.value.trim(), setName: (text) => void (name.value = text),
    wantKey: () => setTimeout(focusKey, 0), // once gradio has filled the fields
  };
  draw();
  if (wanted || savedServers().length) root.pdAsk("change"); // for Run's menu, or it was pressed before the list was drawn

  function draw() {
    list.replaceChildren(...savedServers().map(row));
  }

  /** @param {SavedServer} server */
  function row(server) {
    const item = make("li", "");
    const [url, model] = server.fields;
    const address = url.replace(/^https?:\/\//, "") + (model ? " \u00b7 " + model : "");
    const use = button(server.name || address, "pd-small pd-servers-use", () => {
      name.value = server.name;
      words.textContent = "";
      fill(() => server.fields);
    }, "Use this server: " + address);
    if (server.name) use.append(" ", make("span", "pd-muted", address));
    const forget = button("\u00d7", "pd-small", () => {
      write(savedServers().filter((one) => !isSameServer(one, server.fields)));
      drawAll();
    }, "Forget this server");
    forget.setAttribute("aria-label", "Forget " + (server.name || url));
    item.append(use, forget);
    return item;
  }

  return { show() {} };
};

// The field for the key of the target, which opens for it.
export function openKey() {
  openTarget();
  setTimeout(focusKey, 0);
}

function focusKey() {
  keyField()?.focus();
}

const keyField = () => /** @type {HTMLInputElement | null} */ (document.querySelector("#pd-key input"));

// What Test found: {text, models, url}; of more than one model one can be chosen.
builders.server_look = (root) => {
  root.classList.add("pd-words", "pd-server-look");
  return {
    show(decoded) {
      root.replaceChildren();
      if (!decoded) return;
      const { text, models, url } = decoded.header;
      root.append(prose("p", "", text));
      if (models.length > 1) root.append(modelList(models, url));
    },
  };
};

/**
 * @param {string[]} models
 * @param {string} url
 */
function modelList(models, url) {
  const list = make("select", "pd-server-models");
  list.setAttribute("aria-label", "Model of this server");
  const first = make("option", "", "Choose one of its " + models.length.toLocaleString("en") + " models");
  first.value = "";
  list.append(first, ...models.map((model) => {
    const option = make("option", "", model);
    option.value = model;
    return option;
  }));
  list.addEventListener("change", () => list.value && takeModel(list.value, url));
  return list;
}
