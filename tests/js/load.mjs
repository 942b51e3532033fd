// Loads modules of the page, and instead of all that they import the fakes that a test gives.
import { readdirSync, readFileSync } from "node:fs";
import { SourceTextModule, SyntheticModule } from "node:vm";

const IMPORT = /^import (?:\{([^}]*)\} from )?"\.{1,2}\/(?:[\w.]+\/)*([\w.]+)";/gm;
const ALWAYS = ["builders.js", "host.js"]; // they do nothing

const FOLDER = new URL("../../assets/js/", import.meta.url);
const PLACES = new Map(readdirSync(FOLDER, { recursive: true }).map((path) => [path.split("/").at(-1), path]));

function read(name) {
  return readFileSync(new URL(PLACES.get(name), FOLDER), "utf8");
}

function importsOf(text) {
  return [...text.matchAll(IMPORT)].map(([, names, from]) => [
    from, (names || "").split(",").map((one) => one.trim().split(" as ")[0]).filter(Boolean),
  ]);
}

// Returns the exports of the modules in one object. Each call runs them anew.
export async function load(files, fakes = {}) {
  const texts = new Map([...ALWAYS, ...files].map((name) => [name, read(name)]));
  const asked = new Map(); // module → names that are imported from it
  for (const text of texts.values()) {
    for (const [from, names] of importsOf(text)) asked.set(from, new Set([...(asked.get(from) || []), ...names]));
  }
  const modules = new Map([...texts].map(([name, text]) => [name, new SourceTextModule(text, { identifier: name })]));
  function link(specifier) {
    const name = specifier.split("/").at(-1);
    if (!modules.has(name)) {
      const names = [...(asked.get(name) || [])];
      modules.set(name, new SyntheticModule(names, function () {
        names.forEach((one) => this.setExport(one, fakes[one]));
      }));
    }
    return modules.get(name);
  }
  const loaded = {};
  for (const name of texts.keys()) {
    const module = modules.get(name);
    if (module.status === "unlinked") await module.link(link);
    await module.evaluate();
    for (const one of Object.keys(module.namespace)) loaded[one] = module.namespace[one];
  }
  return loaded;
}
