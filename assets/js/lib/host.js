// @ts-check
// Hooks that the views call. The page fills them in; in an exported report all of them stay null.

export const host = {
  /** @type {string | null} */
  rulesAt: null, // base address of the rule pages
  /** @type {((buttonId: string, order: string, status: HTMLElement | null) => void) | null} */
  order: null, // (buttonId, order, status): asks the page's server for something
  /** @type {((place: string, element: HTMLElement) => unknown) | null} */
  linkTo: null, // (place, element): creates a link, to share, that opens the run at this place
  /** @type {((place: string | null) => void) | null} */
  placePinned: null, // (place): called when the pinned place changes; null: nothing is pinned
  /** @type {(() => void) | null} */
  tabsDrawn: null, // (): called once the tools of a panel are drawn
  /** @type {((file: File) => boolean) | null} */
  takeDataset: null, // (file): whether a dropped file is a dataset to verify
  /** @type {(() => unknown) | null} */
  openHeld: null, // (): opens the run that came with the link
  /** @type {((place: Place) => HTMLElement | null) | null} */
  placeButton: null, // (place): a button that jumps to a line or field of the request, or a line of the template
  /** @type {((findings: FindingCard[]) => void) | null} */
  markFindings: null, // (findings): marks the places of the request that they blame
  /** @type {(() => void) | null} */
  stagesDrawn: null, // (): called when the stage cards show another run, or more of it
  /** @type {((isDark: boolean) => void) | null} */
  keepTheme: null, // (isDark): stores a theme that was chosen by hand
  /** @type {(() => void) | null} */
  showPromptOfRun: null, // (): switches from the live prompt to the run's, which is being pointed at
  /** @type {((name: string) => unknown) | null} */
  readLayout: null, // (name): a stored layout value; null if there is none
  /** @type {((name: string, value: unknown) => void) | null} */
  storeLayout: null, // (name, value): stores a layout value for the next visit
  /** @type {(() => void) | null} */
  runChanged: null, // (): called when something was added to the run that is shown
  /** @type {((id: number, text: string | null, isFree: () => boolean) => unknown) | null} */
  reopenKept: null, // (id, text, isFree): shows a run of the history again; isFree: the user has done nothing in the meantime
  /** @type {((ids: number[]) => unknown) | null} */
  compareKept: null, // (ids): puts two runs of the history side by side
  /** @type {((packed: string) => void) | null} */
  openPacked: null, // (packed): opens a packed run; the page's server reads it
  goesOn: false, // the request that is applied next is run for the next error, and compared with nothing
  panelChosen: false, // the user opened a panel: the end of a run does not open another
  /** @type {SharePage | null} */
  sharePage: null, // what the page accepts from links
};

/** @type {(() => unknown)[]} */
const forgetListeners = [];

/**
 * `listener` deletes what this browser has stored; it is called when the user switches storing off.
 * @param {() => unknown} listener
 */
export function onForget(listener) {
  forgetListeners.push(listener);
}

export function forgetAll() {
  forgetListeners.forEach((listener) => listener());
}

/** @type {((verdict: VerdictPayload) => void)[]} */
const verdictListeners = [];

/**
 * `listener` is called for each state of the verdict strip, in the order of registration.
 * @param {(verdict: VerdictPayload) => void} listener
 */
export function onVerdict(listener) {
  verdictListeners.push(listener);
}

/** @param {VerdictPayload} verdict */
export function notifyVerdict(verdict) {
  verdictListeners.forEach((listener) => listener(verdict));
}
