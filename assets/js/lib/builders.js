// @ts-check
// The kinds of views, by the name that Python calls them: `builders.kind = (root, name) => ({ show(decoded), jump?(evidence) })`.
// A view's own file adds its kind; `views.js`, `page_entry.js` or `report.js` import that file.

/** @type {Record<string, (root: ViewRoot, name: string) => View>} */
export const builders = {};
