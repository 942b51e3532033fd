// @ts-check
// What the place that holds the views can do for them. The page fills it in; in a report all of it stays empty.

export const host = {
  /** @type {string | null} */
  rulesAt: null, // address of the pages about the rules
  /** @type {((buttonId: string, order: string, status: HTMLElement | null) => void) | null} */
  order: null, // (buttonId, order, status): asks the page's server for something
  /** @type {((place: string, element: HTMLElement) => unknown) | null} */
  linkTo: null, // (place, element): a link that opens at this place of the run, to be passed on
  /** @type {((place: string | null) => void) | null} */
  placePinned: null, // (place): what is pinned now; null for nothing
  /** @type {(() => void) | null} */
  tabsDrawn: null, // (): tools of a panel are there
  /** @type {((file: File) => boolean) | null} */
  takeDataset: null, // (file): whether a dropped file is a dataset to verify
  /** @type {(() => unknown) | null} */
  openHeld: null, // (): the run that came with the link
  /** @type {((place: Place) => HTMLElement | null) | null} */
  placeButton: null, // (place): the way to a line or field of the request, or a line of the template
  /** @type {((findings: FindingCard[]) => void) | null} */
  markFindings: null, // (findings): the places of the request that they blame
  /** @type {(() => void) | null} */
  stagesDrawn: null, // (): the stage cards show another run, or more of it
  /** @type {((isDark: boolean) => void) | null} */
  keepTheme: null, // (isDark): the theme was chosen by hand
  /** @type {(() => void) | null} */
  showPromptOfRun: null, // (): the prompt that is pointed at is the run's, not the live one
  /** @type {((name: string) => unknown) | null} */
  readRoom: null, // (name): how the page was laid out before; null if that is not known
  /** @type {((name: string, value: unknown) => void) | null} */
  keepRoom: null, // (name, value): how the page is laid out, for the next time
  /** @type {(() => void) | null} */
  runChanged: null, // (): something was added to the run that is shown
  /** @type {((id: number, text: string | null, isFree: () => boolean) => unknown) | null} */
  reopenKept: null, // (id, text, isFree): shows a run of the history again; isFree: no one has done anything meanwhile
  /** @type {((ids: number[]) => unknown) | null} */
  compareKept: null, // (ids): puts two runs of the history side by side
  /** @type {((packed: string) => void) | null} */
  openPacked: null, // (packed): opens a run as the page's server reads it
  panelChosen: false, // someone opened a panel by hand: the end of a run opens none
  /** @type {SharePage | null} */
  sharePage: null, // what the page takes from links
};

/** @type {(() => unknown)[]} */
const forgetListeners = [];

/**
 * `listener` takes back what this browser keeps, once nothing is to be kept any more.
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
 * `listener` is called for each state of the verdict strip, in the order of asking.
 * @param {(verdict: VerdictPayload) => void} listener
 */
export function onVerdict(listener) {
  verdictListeners.push(listener);
}

/** @param {VerdictPayload} verdict */
export function tellVerdict(verdict) {
  verdictListeners.forEach((listener) => listener(verdict));
}
