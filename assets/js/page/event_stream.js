// @ts-check
// The one stream by which the answers of all events come. The page's server closes it once no event is under way, and
// Gradio's script opens it again with the next one. An event that the server takes after it has closed the stream, and
// that the script sends before it has heard of that, would find a stream open that brings nothing more: it would never be
// answered. So the stream goes on here, unheard, as long as an event waits for its answer.

const HEAD_BYTES = 200; // of a message, where its kind and its event are named: the answer itself may be megabytes
const MESSAGE = /^data: \{"msg":"(\w+)","event_id":(?:"(\w+)"|null)/;
const NEWLINE = 10;
/** @type {Set<string>} */
const waiting = new Set(); // events that the server has taken and not answered
/** @type {Set<string>} */
const early = new Set(); // answered before the server's word that it has taken them was read
let leaving = 0; // events on their way to the server

/**
 * An event is sent: it counts as waiting until its answer comes.
 * @param {() => Promise<Response>} send
 */
export async function sendEvent(send) {
  leaving += 1;
  try {
    const answer = await send();
    const taken = answer.ok ? (await answer.clone().json()).event_id : null;
    if (taken && !early.delete(taken)) waiting.add(taken);
    return answer;
  } finally {
    leaving -= 1;
  }
}

/** @param {string} event An event that is cancelled: no one waits for it. */
export const forgetEvent = (event) => void waiting.delete(event);

/** @param {string} event */
function answered(event) {
  if (!waiting.delete(event) && leaving) early.add(event);
}

/**
 * The stream, which ends when no event waits for its answer.
 * @param {() => Promise<Response>} open asks the server for it
 * @param {() => boolean} [lost] called where it broke before the answer of an event had come; true: the page goes on, and
 *   Gradio, which would do nothing more until the page is loaded again, hears that each of these events has failed
 */
export async function followStream(open, lost = () => false) {
  const first = await open();
  if (!first.ok || !first.body) return first;
  const lines = linesOf(first, open);
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await lines.next();
        if (!done) return controller.enqueue(value);
        if (waiting.size && lost()) controller.enqueue(failures());
      } catch (fault) {
        if (!waiting.size || !lost()) throw fault;
        controller.enqueue(failures());
      }
      controller.close();
    },
    cancel: () => void lines.return(),
  });
  return new Response(body, { status: first.status, headers: first.headers });
}

// What the server would have said of each event that still waits, had it failed.
function failures() {
  const output = { error: "The connection to this page's server was lost.", visible: false };
  const lines = [...waiting].map((event) => ({ msg: "process_completed", event_id: event, output, success: false }));
  waiting.clear();
  const text = [...lines, { msg: "close_stream", event_id: null }].map((line) => "data: " + JSON.stringify(line) + "\n\n").join("");
  return new TextEncoder().encode(text);
}

/**
 * @param {Response} first
 * @param {() => Promise<Response>} open
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>, void>}
 */
async function* linesOf(first, open) {
  for (let answer = first, goesOn = true; goesOn; answer = goesOn ? await open() : answer) {
    if (!answer.ok || !answer.body) throw new TypeError("The stream of answers could not be opened again.");
    goesOn = false;
    for await (const line of split(answer.body.getReader())) {
      const [, kind, event] = MESSAGE.exec(new TextDecoder().decode(line.subarray(0, HEAD_BYTES))) || [];
      if (kind === "process_completed" && event) answered(event);
      goesOn = kind === "close_stream" && (leaving > 0 || waiting.size > 0);
      if (goesOn) break;
      yield line;
    }
  }
}

/**
 * Whole lines, each with its end.
 * @param {ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>} reader
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>, void>}
 */
async function* split(reader) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  let begun = [];
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      let start = 0;
      for (let end = read.value.indexOf(NEWLINE); end >= 0; end = read.value.indexOf(NEWLINE, start)) {
        yield joined([...begun, read.value.subarray(start, end + 1)]);
        begun = [];
        start = end + 1;
      }
      if (start < read.value.length) begun.push(read.value.subarray(start));
    }
    if (begun.length) yield joined(begun);
  } finally {
    reader.cancel().catch(() => {}); // it was given up
  }
}

/** @param {Uint8Array<ArrayBuffer>[]} parts */
function joined(parts) {
  if (parts.length === 1) return parts[0];
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}
