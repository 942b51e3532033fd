// @ts-check
// JSON in the editor: keys in the colour that they have in the message. Gradio's theme sets keys and texts alike.

// The class that the editor gives to keys: that of a text in quotes before a colon, where texts after one have another.
function classOfKeys() {
  for (const sign of document.querySelectorAll("#pd-request .cm-line > span")) {
    const [key, value] = [sign.previousElementSibling, sign.nextElementSibling];
    const isPair = sign.textContent === ":" && key?.textContent?.startsWith('"') && value?.textContent?.startsWith('"');
    if (isPair && key?.className && key.className !== value?.className) return key.className;
  }
  return "";
}

// The editor colours a text a moment after it is there.
const watcher = new MutationObserver(colour);

function colour() {
  const name = classOfKeys();
  if (!name) return;
  watcher.disconnect();
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("#pd-request .cm-line > ." + CSS.escape(name) + " { color: var(--pd-accent) !important; }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

function watch() {
  const content = document.querySelector("#pd-request .cm-content");
  if (!content) return setTimeout(watch, 200);
  watcher.observe(content, { childList: true, subtree: true });
  colour();
}

watch();
