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
 * The stream, which ends when no event waits for its answer. Gradio's script takes a stream that broke for open, and asks
 * for none any more: a break ends here as the server would have ended it.
 * @param {() => Promise<Response>} open asks the server for it
 * @param {() => boolean} [lost] called where it broke before the answer of an event had come; true: the page goes on, and
 *   Gradio, which would do nothing more until the page is loaded again, hears that each of these events has failed
 */
export async function followStream(open, lost = () => false) {
  /** @type {unknown} */
  let fault = null;
  const first = await open().catch((raised) => ((fault = raised), null));
  if (!first?.ok || !first.body) {
    if (goesOnWithout(fault, lost)) return new Response(failures(), { headers: { "content-type": "text/event-stream" } });
    if (first) return first;
    throw fault;
  }
  const lines = linesOf(first, open);
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const line = await lines.next();
        if (!line.done) return controller.enqueue(line.value);
        if (!line.value && goesOnWithout(null, lost)) controller.enqueue(failures());
      } catch (raised) {
        if (!goesOnWithout(raised, lost)) throw raised;
        controller.enqueue(failures());
      }
      controller.close();
    },
    cancel: () => void lines.return(true),
  });
  return new Response(body, { status: first.status, headers: first.headers });
}

/**
 * Whether the page goes on without a stream that broke: not where Gradio itself gave it up.
 * @param {unknown} fault
 * @param {() => boolean} lost
 */
const goesOnWithout = (fault, lost) => !isGivenUp(fault) && (!waiting.size || lost());

/**
 * Whether a request failed because who made it gave it up.
 * @param {unknown} fault
 */
export const isGivenUp = (fault) => fault instanceof DOMException && fault.name === "AbortError";

// What the server would have said of each event that still waits, had it failed.
function failures() {
  const output = { error: "The connection to this page's server was lost.", visible: false };
  const lines = [...waiting].map((event) => ({ msg: "process_completed", event_id: event, output, success: false }));
  waiting.clear();
  const text = [...lines, { msg: "close_stream", event_id: null }].map((line) => "data: " + JSON.stringify(line) + "\n\n").join("");
  return new TextEncoder().encode(text);
}

/**
 * The stream's lines, and at its end whether the server said that it ends.
 * @param {Response} first
 * @param {() => Promise<Response>} open
 * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>, boolean>}
 */
async function* linesOf(first, open) {
  let isOver = false;
  for (let answer = first, goesOn = true; goesOn; answer = goesOn ? await open() : answer) {
    if (!answer.ok || !answer.body) throw new TypeError("The stream of answers could not be opened again.");
    goesOn = false;
    for await (const line of split(answer.body.getReader())) {
      const [, kind, event] = MESSAGE.exec(new TextDecoder().decode(line.subarray(0, HEAD_BYTES))) || [];
      if (kind === "process_completed" && event) answered(event);
      goesOn = kind === "close_stream" && (leaving > 0 || waiting.size > 0);
      if (goesOn) break;
      isOver ||= kind === "close_stream";
      yield line;
    }
  }
  return isOver;
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
