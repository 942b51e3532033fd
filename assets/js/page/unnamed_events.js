// @ts-check
// An event that is cancelled before the server has named it. Gradio's script has no name to cancel by, and would show the
// answer once it comes, over what someone has typed since: it is cancelled as soon as it has one, and no one gets it.
import { followStream, forgetEvent, isGivenUp, sendEvent } from "./event_stream.js";
import { costlyEvent } from "./costly_events.js";
import { connectionLost, isConnectionLost, mayHaveBegun, notSent, serverIsThere } from "./lost_connection.js";

/** @typedef {{ isGivenUp: boolean }} OnTheWay */

const JOINING = "/queue/join";
const ANSWERS = "/queue/data";
const CANCELLING = "/cancel";
const EVENT = /\/(queue\/join|run\/predict)$/;
const UNNAMED = '"event_id":null';
const END_CHARS = 300; // of a body, where its event and its page are named: the texts before may be megabytes
const browserFetch = globalThis.fetch;
/**
 * An event that is cut off on its way is sent again once the server is there: Gradio's script would load the page again.
 * One that may have begun something costly there has failed instead, and the page says so.
 * @param {RequestInfo | URL} input
 * @param {RequestInit | undefined} init
 * @param {string | null} [costly] the event's name, if it must not be sent twice
 * @returns {Promise<Response>}
 */
const send = async (input, init, costly = null) => {
  if (init?.method !== "POST") return browserFetch(input, init);
  if (costly && isConnectionLost()) return notSent(costly);
  await serverIsThere();
  try {
    return await browserFetch(input, init);
  } catch (fault) {
    const path = pathOf(input);
    if (isGivenUp(fault) || !EVENT.test(path) || !connectionLost(path.replace(EVENT, ""), browserFetch)) throw fault;
    return costly ? mayHaveBegun(costly) : send(input, init);
  }
};
/** @param {RequestInfo | URL} input */
const pathOf = (input) => (input instanceof Request ? input.url : String(input)).split("?")[0];
/** @type {Map<string, Set<OnTheWay>>} */
const onTheWay = new Map();

globalThis.fetch = (input, init) => {
  const path = pathOf(input);
  if (path.endsWith(ANSWERS)) return followStream(() => send(input, init), () => connectionLost(path.slice(0, -ANSWERS.length), browserFetch));
  const body = typeof init?.body === "string" ? init.body : "";
  const event = read(body, "fn_index", "\\d+");
  if (event && init && path.endsWith(JOINING)) return join(String(input), init, event);
  if (event && path.endsWith(CANCELLING)) cancel(event, body);
  return send(input, init);
};

/**
 * @param {string} url
 * @param {RequestInit} init
 * @param {string} event
 * @returns {Promise<Response>}
 */
async function join(url, init, event) {
  const one = { isGivenUp: false };
  const others = onTheWay.get(event) || new Set();
  onTheWay.set(event, others.add(one));
  const answer = await sendEvent(() => send(url, init, costlyEvent(event))).finally(() => others.delete(one));
  if (!one.isGivenUp || !answer.ok) return answer;
  const named = { ...(await answer.json()), session_hash: read(String(init.body), "session_hash", '"\\w+"').slice(1, -1), fn_index: Number(event) };
  forgetEvent(named.event_id);
  await send(url.split("?")[0].replace(JOINING, CANCELLING), { ...init, body: JSON.stringify(named) });
  return new Promise(() => {}); // gradio waits for it no more
}

/**
 * @param {string} event
 * @param {string} body
 */
function cancel(event, body) {
  if (body.includes(UNNAMED)) onTheWay.get(event)?.forEach((one) => (one.isGivenUp = true));
  else forgetEvent(read(body, "event_id", '"\\w+"').slice(1, -1));
}

/** @type {(body: string, name: string, value: string) => string} */
const read = (body, name, value) => new RegExp(`.*"${name}":(${value})`, "s").exec(body.slice(-END_CHARS))?.[1] || "";
