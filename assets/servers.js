// @ts-check
// The servers that somebody saved under Target: in this browser alone, each one click away, never with a key.
import { builders } from "./builders.js";
import { button, make } from "./dom.js";
import { isKeeping, keepTarget, mayKeep } from "./draft.js";

const SERVERS = "pd-servers";
const MOST = 20;
const SAME = { __type__: "update" }; // gradio leaves such a field as it is
let view = null;
let wanted = null; // the server that is to be used; null while one is to be saved

export const savedServers = () => {
  try {
    const kept = JSON.parse(globalThis.localStorage.getItem(SERVERS));
    const isServer = (one) => Array.isArray(one) && one.length === 5 && one.every((value) => typeof value === "string");
    return Array.isArray(kept) ? kept.filter(isServer).slice(0, MOST) : [];
  } catch {
    return [];
  }
};

function write(servers) {
  try {
    globalThis.localStorage.setItem(SERVERS, JSON.stringify(servers.slice(0, MOST)));
  } catch {
    // a browser that keeps nothing
  }
  if (view) view.draw();
}

export const forgetServers = () => {
  try {
    globalThis.localStorage.removeItem(SERVERS);
  } catch {
    // nothing is kept anyhow
  }
  if (view) view.draw();
};

// The new values of the five fields of the target: those of the server that was chosen, or as they are, to be saved.
export const applyServer = (...fields) => {
  if (wanted) {
    const chosen = wanted;
    wanted = null;
    keepTarget(...chosen);
    return chosen;
  }
  const values = fields.map((value) => String(value || "").trim());
  if (!values[0]) view.say("Name an endpoint first.");
  else if (!isKeeping()) view.say("Nothing is kept: the switch in History is off.");
  else if (!values.every((value) => mayKeep(value))) view.say("Not saved: it seems to hold a key.");
  else {
    write([values, ...savedServers().filter((one) => one[0] !== values[0] || one[1] !== values[1])]);
    view.say("Saved in this browser, without the key.");
  }
  return fields.map(() => SAME);
};

builders.servers = (root) => {
  root.classList.add("pd-servers");
  const list = make("ul", "pd-servers-list");
  const words = make("span", "pd-muted");
  words.setAttribute("role", "status");
  const bar = make("p", "pd-servers-bar");
  const save = button("Save this server", "pd-small", () => {
    wanted = null;
    root.pdAsk("change");
  });
  bar.append(save, words);
  root.append(list, bar);
  view = { draw, say: (text) => (words.textContent = text) };
  draw();

  function draw() {
    list.replaceChildren(...savedServers().map(row));
  }

  function row(server) {
    const item = make("li", "");
    const [url, model] = server;
    const use = button(url.replace(/^https?:\/\//, "") + (model ? " \u00b7 " + model : ""), "pd-small pd-servers-use", () => {
      wanted = server;
      root.pdAsk("change");
      words.textContent = "";
    }, "Use this server");
    const forget = button("\u00d7", "pd-small", () => write(savedServers().filter((one) => one[0] !== url || one[1] !== model)), "Forget this server");
    forget.setAttribute("aria-label", "Forget " + url);
    item.append(use, forget);
    return item;
  }

  return { show() {} };
};
