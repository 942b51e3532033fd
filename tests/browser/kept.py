"""One load for many tests: a page goes on to the next test if the one before left it as it was found.

dropped = keep(url, prepare)  # the page of the test before, or one that is loaded and prepared anew

What a hand moves on every page is put back here: panel, menus, focus, pointer, window, theme, scrolling, clipboard and
what the browser keeps. Then the page is looked at, and any difference from what the first test found loads it anew, so
that a test may leave what it likes and only costs a load. One place is not looked at: inside a panel or menu that is
closed. A test that leaves a text, a setting or a result there loads a page of its own (`bare`, `lab_page`).
"""

from __future__ import annotations

from tests.browser.page import DebuggerPage

# Fields and editors are looked at also where they are hidden, but for those in panels, which come as a panel opens.
_LOOK = """async () => {
  const runs = [];
  for (const { name } of await indexedDB.databases()) {
    const opening = indexedDB.open(name);
    await new Promise((done, fail) => { opening.onsuccess = done; opening.onerror = fail; });
    for (const store of opening.result.objectStoreNames) {
      const asking = opening.result.transaction(store).objectStore(store).getAllKeys();
      runs.push([store, await new Promise((done) => { asking.onsuccess = () => done(asking.result); })]);
    }
    opening.result.close();
  }
  const all = [...document.body.querySelectorAll("*")];
  const isVisible = (part) => part.checkVisibility({ visibilityProperty: true });
  const isLookedAt = (part) => isVisible(part) || !part.closest("[id^=pd-panel-]");
  const words = (part) => [...part.childNodes].map((node) => (node.nodeType === Node.TEXT_NODE ? node.data : ""));
  return {
    parts: [document.documentElement, document.body, ...all]
      .filter((part) => isVisible(part) && !part.matches(".cm-cursorLayer, canvas, .hide[data-testid=status-tracker]"))
      .map((part) => [part.cloneNode(false).outerHTML.replace(/ class=""| pd-has-lit/, ""), ...words(part)].join("")),
    fields: all.filter((part) => part.matches("input, textarea, select") && isLookedAt(part))
      .map((part) => [part.value, part.checked]),
    texts: all.filter((part) => part.matches(".cm-content") && isLookedAt(part))
      .map(({ cmTile }) => [cmTile.view.state.doc.toString(), cmTile.view.state.selection.toJSON()]),
    lights: [...CSS.highlights].map(([name, ranges]) => [name, [...ranges].map(String)]),
    scrolled: all.filter((part) => part.scrollTop || part.scrollLeft).map((part) => part.id || part.className),
    place: [location.href, innerWidth, innerHeight, document.activeElement.tagName],
    local: { ...localStorage }, session: { ...sessionStorage }, runs,
  };
}"""
_PUT_BACK = """async (found) => {
  const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  document.activeElement.blur();
  document.body.className = found.body;
  const panel = document.documentElement.dataset.panel;
  if (panel !== found.panel) document.getElementById("pd-tab-" + found.panel).click();
  await twoFrames();
  document.activeElement.blur();
  getSelection().removeAllRanges();
  for (const part of document.querySelectorAll("*")) if (part.scrollTop || part.scrollLeft) part.scrollTo(0, 0);
  const { view } = document.querySelector("#pd-request .cm-content").cmTile;
  const { anchor, head } = found.caret;
  if (Math.max(anchor, head) <= view.state.doc.length) view.dispatch({ selection: { anchor, head } });
  await twoFrames();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })); // lets go of what is lit
  await twoFrames();
  history.replaceState(null, "", found.href);
  for (const [store, kept] of [[localStorage, found.local], [sessionStorage, found.session]]) {
    store.clear();
    Object.assign(store, kept);
  }
  await navigator.clipboard.writeText("");
}"""
_FOUND = """() => ({
  body: document.body.className, panel: document.documentElement.dataset.panel,
  caret: document.querySelector("#pd-request .cm-content").cmTile.view.state.selection.main.toJSON(),
  local: { ...localStorage }, session: { ...sessionStorage }, href: location.href,
})"""


class KeptPage:
    """A page as the first test found it, and as the next one continues with it.

    Attributes:
        name: Which page it is: its address, theme and preparation.
    """

    def __init__(self, name: object, page: DebuggerPage) -> None:
        """Look at a page that is loaded and prepared.

        Args:
            name: Which page it is.
            page: The page.
        """
        self.name = name
        self._page = page.page
        self._found = self._page.evaluate(_FOUND)
        self.put_back()
        self._seen = self._page.evaluate(_LOOK)

    def put_back(self) -> None:
        """Put back what every hand moves."""
        self._page.keyboard.press("Escape")
        self._page.evaluate(_PUT_BACK, self._found)

    def differences(self) -> list[str]:
        """Return what is not as it was found, by the names of what is looked at."""
        seen = self._page.evaluate(_LOOK)
        return [name for name in seen if seen[name] != self._seen[name]]
