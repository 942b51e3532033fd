// Loads the page's scripts as a browser would: in order, into one global object.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function load(...names) {
  for (const name of names) {
    const path = fileURLToPath(new URL("../../assets/" + name, import.meta.url));
    new Function(readFileSync(path, "utf8"))();
  }
  return globalThis.PromptDebugger;
}
