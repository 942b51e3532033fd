// The servers that somebody saved under Target: in this browser alone, each one click away, never with a key.
"use strict";
(function (global) {
  const pd = (global.PromptDebugger = global.PromptDebugger || {});
  const { make, button } = pd;
  pd.builders = pd.builders || {};
  const SERVERS = "pd-servers";
  const MOST = 20;
  const SAME = { __type__: "update" }; // gradio leaves such a field as it is
  let view = null;
  let wanted = null; // the server that is to be used; null while one is to be saved

  pd.savedServers = () => {
    try {
      const kept = JSON.parse(global.localStorage.getItem(SERVERS));
      const isServer = (one) => Array.isArray(one) && one.length === 5 && one.every((value) => typeof value === "string");
      return Array.isArray(kept) ? kept.filter(isServer).slice(0, MOST) : [];
    } catch {
      return [];
    }
  };

  function write(servers) {
    try {
      global.localStorage.setItem(SERVERS, JSON.stringify(servers.slice(0, MOST)));
    } catch {
      // a browser that keeps nothing
    }
    if (view) view.draw();
  }

  pd.forgetServers = () => {
    try {
      global.localStorage.removeItem(SERVERS);
    } catch {
      // nothing is kept anyhow
    }
    if (view) view.draw();
  };

  // The new values of the five fields of the target: those of the server that was chosen, or as they are, to be saved.
  pd.applyServer = (...fields) => {
    if (wanted) {
      const chosen = wanted;
      wanted = null;
      pd.keepTarget(...chosen);
      return chosen;
    }
    const values = fields.map((value) => String(value || "").trim());
    if (!values[0]) view.say("Name an endpoint first.");
    else if (!pd.isKeeping()) view.say("Nothing is kept: the switch in History is off.");
    else if (!values.every((value) => pd.mayKeep(value))) view.say("Not saved: it seems to hold a key.");
    else {
      write([values, ...pd.savedServers().filter((one) => one[0] !== values[0] || one[1] !== values[1])]);
      view.say("Saved in this browser, without the key.");
    }
    return fields.map(() => SAME);
  };

  pd.builders.servers = (root) => {
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
      list.replaceChildren(...pd.savedServers().map(row));
    }

    function row(server) {
      const item = make("li", "");
      const [url, model] = server;
      const use = button(url.replace(/^https?:\/\//, "") + (model ? " \u00b7 " + model : ""), "pd-small pd-servers-use", () => {
        wanted = server;
        root.pdAsk("change");
        words.textContent = "";
      }, "Use this server");
      const forget = button("\u00d7", "pd-small", () => write(pd.savedServers().filter((one) => one[0] !== url || one[1] !== model)), "Forget this server");
      forget.setAttribute("aria-label", "Forget " + url);
      item.append(use, forget);
      return item;
    }

    return { show() {} };
  };
})(globalThis);
