// What the place that holds the views can do for them. The page fills it in; in a report all of it stays empty.

export const host = {
  rulesAt: null, // address of the pages about the rules
  order: null, // (buttonId, order, status): asks the page's server for something
  linkTo: null, // (place, element): a link that opens at this place of the run, to be passed on
  openHeld: null, // (): the run that came with the link
  placeButton: null, // (place): the way to a line or field of the request, or a line of the template
  keepTheme: null, // (isDark): the theme was chosen by hand
  showPromptOfRun: null, // (): the prompt that is pointed at is the run's, not the live one
  panelChosen: false, // somebody opened a panel by hand: the end of a run opens none
  sharePage: null, // what the page takes from links: {tool_parsers, reasoning_parsers, takes_model, most_packed, empty}
};

const verdictListeners = [];

// `listener(verdict)` is called for each state of the verdict strip, in the order of asking.
export function onVerdict(listener) {
  verdictListeners.push(listener);
}

export function tellVerdict(verdict) {
  verdictListeners.forEach((listener) => listener(verdict));
}
