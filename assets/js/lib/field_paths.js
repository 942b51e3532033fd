// @ts-check
// Paths of fields, and where fields stand in the text of a request: JSON, curl or Python. Pure functions.

const MAX_FIELDS = 200000;
const MAX_DEPTH = 200;

// Splits a field path: `messages[2].tool_calls[0].id` → ["messages", 2, "tool_calls", 0, "id"].
/**
 * @param {string} path
 * @returns {(string | number)[]}
 */
function splitPath(path) {
  const parts = [];
  for (const match of path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)) {
    parts.push(match[1] !== undefined ? Number(match[1]) : match[2] !== undefined ? match[2].replace(/\\([\\"])/g, "$1") : match[3]);
  }
  return parts;
}

// Whether `path` is `container` or stands somewhere inside it.
/**
 * @param {MaybePath} path
 * @param {MaybePath} container
 */
function isWithin(path, container) {
  if (!path || !container || !path.startsWith(container)) return false;
  return path.length === container.length || path[container.length] === "." || path[container.length] === "[";
}

/**
 * @param {string} text
 * @returns {string}
 */
function keyOf(text) {
  if (text[0] !== '"' && text[0] !== "'") return text;
  try {
    return JSON.parse(text[0] === '"' ? text : '"' + text.slice(1, -1).replace(/\\'/g, "'").replace(/"/g, '\\"') + '"');
  } catch {
    return text.slice(1, -1);
  }
}

/**
 * A step of a path, which knows the one before it: what stands two hundred containers deep would else repeat them all.
 * @typedef {{before: Step, part: string | number, length: number} | null} Step
 */

class Field {
  /**
   * @param {Step} step
   * @param {number} start
   */
  constructor(step, start) {
    this.step = step;
    this.start = start;
    this.stop = start;
    /** @type {number | undefined} */
    this.keyStart = undefined;
  }

  get path() {
    const parts = [];
    for (let step = this.step; step; step = step.before) parts.push(step.part);
    return parts.reverse();
  }

  get depth() {
    return this.step ? this.step.length : 0;
  }

  // Whether it is what `parts` name, or one of the containers on the way there.
  /** @param {(string | number)[]} parts */
  isOnTheWay(parts) {
    if (this.step && this.step.length > parts.length) return false;
    for (let step = this.step; step; step = step.before) if (step.part !== parts[step.length - 1]) return false;
    return true;
  }
}

/** @typedef {Field} RequestField Its name elsewhere. */

// Reads text without decoding it, so that places stay exact, and forgives what a strict reader would not:
// the text may be half typed. Containers are {}, [] and the brackets of a Python call.
class Reader {
  /**
   * @param {string} text
   * @param {number} at
   * @param {boolean} isPython
   */
  constructor(text, at, isPython) {
    this.text = text;
    this.at = at;
    this.isPython = isPython;
    /** @type {Field[]} */
    this.fields = [];
  }

  skip() {
    for (; this.at < this.text.length; this.at++) {
      const character = this.text[this.at];
      if (this.isPython && character === "#") while (this.at + 1 < this.text.length && this.text[this.at + 1] !== "\n") this.at++;
      else if (!" \t\r\n,:=".includes(character)) return;
    }
  }

  // One string or word; Python's long strings too.
  word() {
    const { text } = this;
    const start = this.at;
    const quote = text[start];
    if (quote !== '"' && (quote !== "'" || !this.isPython)) {
      while (this.at < text.length && !',]}) \t\r\n:={[("'.includes(text[this.at])) this.at++;
      if (this.at === start) this.at++;
      return;
    }
    const end = this.isPython && text.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
    this.at += end.length;
    while (this.at < text.length && !text.startsWith(end, this.at)) this.at += text[this.at] === "\\" ? 2 : 1;
    this.at = Math.min(text.length, this.at + end.length);
  }

  // Beyond the last field that is kept no one asks for a path.
  /**
   * @param {Step} before
   * @param {string | number} part
   * @returns {Step}
   */
  step(before, part) {
    return this.fields.length < MAX_FIELDS ? { before, part, length: before ? before.length + 1 : 1 } : before;
  }

  /**
   * @param {Step} step
   * @param {number} depth
   */
  value(step, depth) {
    this.skip();
    const start = this.at;
    const open = this.text[start];
    if (this.at >= this.text.length) return;
    const field = new Field(step, start);
    if (step && this.fields.length < MAX_FIELDS) this.fields.push(field);
    if ("{[(".includes(open) && depth < MAX_DEPTH) this.members(step, open, depth);
    else this.word();
    field.stop = this.at;
  }

  /**
   * @param {Step} step
   * @param {string} open
   * @param {number} depth
   */
  members(step, open, depth) {
    const close = "}])"["{[(".indexOf(open)];
    this.at++;
    for (let i = 0; ; i++) {
      this.skip();
      if (this.at >= this.text.length || "}])".includes(this.text[this.at])) break;
      if (open === "[") {
        this.value(this.step(step, i), depth + 1);
        continue;
      }
      const start = this.at;
      this.word();
      const key = keyOf(this.text.slice(start, this.at));
      this.skip();
      const before = this.fields.length;
      // What Python's client takes apart as `extra_body` is at the top of the body.
      this.value(open === "(" && key === "extra_body" ? step : this.step(step, key), depth + 1);
      if (this.fields[before]) this.fields[before].keyStart = start;
    }
    if (this.text[this.at] === close) this.at++;
  }
}

/** @type {{ text: string, fields: Field[] }} */
let read = { text: "", fields: [] }; // the last text: many ask for the fields of one

// All fields of the request in a text: [{path: […], start, stop, keyStart?}, …] in order, containers before their members.
/**
 * @param {string} text
 * @returns {Field[]}
 */
function readFields(text) {
  if (read.text !== text) read = { text, fields: fieldsOf(text) };
  return read.fields;
}

/**
 * @param {string} text
 * @returns {Field[]}
 */
function fieldsOf(text) {
  const call = /\bcreate\s*\(/.exec(text);
  const brace = text.search(/[{[]/);
  const isPython = call !== null && !/^\s*(?:[{[]|[$>#]?\s*curl\b)/.test(text);
  const start = isPython ? call.index + call[0].length - 1 : brace;
  if (start < 0) return [];
  const reader = new Reader(text, start, isPython);
  reader.value(null, 0);
  return reader.fields;
}

// Finds where the value at `path` stands: [start, stop) in UTF-16 units, or null; of a missing field, its nearest container.
/**
 * @param {string} text
 * @param {string} path
 * @param {Field[]} [fields]
 * @returns {[number, number] | null}
 */
function locateField(text, path, fields) {
  const wanted = splitPath(path);
  /** @type {Field | null} */
  let best = null;
  for (const field of fields || readFields(text)) {
    if (field.isOnTheWay(wanted) && (!best || field.depth >= best.depth)) best = field;
  }
  return best && best.stop > best.start ? [best.start, best.stop] : null;
}

// The path of the innermost field whose key or value covers `unit`; null between fields.
/**
 * @param {Field[]} fields
 * @param {number} unit
 * @returns {string | null}
 */
function fieldAt(fields, unit) {
  let low = 0, high = fields.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((fields[middle].keyStart ?? fields[middle].start) <= unit) low = middle + 1;
    else high = middle;
  }
  for (let i = low - 1; i >= 0; i--) {
    if (unit < fields[i].stop || (unit === fields[i].stop && i === low - 1)) return joinPath(fields[i].path);
    if (fields[i].depth === 1 && fields[i].stop < unit) return null;
  }
  return null;
}

/**
 * @param {(string | number)[]} parts
 * @returns {string}
 */
function joinPath(parts) {
  return parts.reduce((/** @type {string} */ path, part) => {
    if (typeof part === "number") return path + "[" + part + "]";
    if (/^[A-Za-z_][\p{L}\p{N}_]*$/u.test(part)) return path + (path ? "." : "") + part;
    return path + '["' + part.replace(/[\\"]/g, "\\$&") + '"]';
  }, "");
}

export { splitPath, isWithin, readFields, locateField, fieldAt };
