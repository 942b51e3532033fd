// What Python sends to the views, and what the page hangs on elements. For the type checker and for readers; never loaded.
// `tests/ui/present/test_payload_types.py` holds the payloads against what Python makes.

/** A place that something rests on; which fields are set depends on `in`. */
interface Evidence {
  in: "prompt" | "raw" | "message" | "request" | "server";
  label?: string;
  char_span?: [number, number] | null;
  token_span?: [number, number] | null;
  field?: string | null;
  quote?: string | null;
}

/** A place in the request or in the template. */
interface Place {
  line?: number;
  column?: number | null;
  field?: string | null;
  template_line?: number | null;
  template_column?: number | null;
}

/** The verdict strip, in each of its states. */
interface VerdictPayload {
  state: "idle" | "running" | "done" | "recorded" | "error" | "stopped";
  badge: string;
  sentence: string;
  cause: { text: string; code: string | null }[];
  detail: string;
  tag: [word: string, hint: string] | null;
  tone: string;
  log: string;
  place: Place | null;
  evidence: Evidence | null;
  open: string | null;
  fraction: number | null;
  quote: string;
  step: { kind: string; label: string; code: string | null } | null;
  proof?: { short: string; sentence: string; worked: boolean } | null; // a fix that was tried, in a run with a proof
  asks_margin: boolean;
  bare?: string[]; // panels that have nothing to show
  run: number;
}

/** The line of what is under test: label, value, hint. */
interface HeaderPayload {
  facts: [string, string, string][];
}

interface StageCard {
  opens: string;
  title: string;
  state: "ok" | "guilty" | "follows" | "idle" | "running" | "unknown" | "note";
  word: string;
  figures: string[];
  hint: string; // in place of figures
  promise: string; // what it will show, beside a text that has not run
}

/** A request at fault, and the place to go to. */
interface RequestCard {
  title: string;
  state: "guilty" | "note";
  word: string;
  figures: string[];
  evidence: Evidence | null;
}

interface StagesPayload {
  cards: StageCard[];
  request: RequestCard | null;
}

/** A change of the request that would remove a finding; the server's flags where only they would. */
interface OfferedFix {
  name: string;
  kind: string;
  command: string;
  source: string; // a function for the client, or the change of the template
  changes: { field: string; before: string | null; after: string | null }[];
  more: number;
  can_try: boolean;
}

interface FindingCard {
  code: string;
  name: string;
  severity: string;
  mark: string;
  title: string;
  detail: string;
  meta: string[];
  evidence: Evidence[];
  fix: string;
  proof: { worked: boolean; text: string } | null;
  links: string[];
  offered: OfferedFix | null;
  offered_at: string | null;
}

interface FindingsPayload {
  key: string;
  summary: string;
  findings: FindingCard[];
  groups: number[][]; // numbers of the findings that one root explains, the root first
  unchecked: string[];
}

/** A stretch of the raw output that went one way. */
interface LedgerSegment {
  text: string;
  fate: string;
  word: string;
  target: string | null;
  start: number;
  stop: number;
}

interface LedgerAccount {
  title: string;
  segments: LedgerSegment[];
  legend: [string, string, number][];
  figures: string;
  message: [string, string, string][];
  nulls: string[]; // fields of the message that a server fills in with `null`
  note: string;
  missing: string;
  differences: FieldDifference[];
}

interface LedgerPayload {
  accounts: LedgerAccount[];
  calls: { caption: string; rows: any[] } | null;
  parsers: any[];
}

/** Where the server's prompt and the one rendered here part. */
interface TokenCosts {
  total: number;
  parts: { label: string; field: string | null; kind: string; first: number; tokens: number }[];
  rest: number;
  sentence: string;
}

interface DifferencePayload {
  state: string;
  sentence: string;
  first_token: number | null;
  cause: string;
  texts: [string, [string, string, string]][]; // whose, and what stands before, at and behind the place
  notes: string[];
  costs: TokenCosts | null;
}

interface TemplatePayload {
  lines: string[];
  ran: number[];
  caption: string;
  branches: any[];
  kwargs: any[];
}

/** In place of a view's own payload: a finished run has nothing to show there, and this is why. */
interface EmptyPayload {
  empty?: string;
  message?: LedgerAccount["message"];
}

/** A decoded payload: its JSON header, and the binary columns behind it. */
interface Decoded<Header = any> {
  header: Header;
  columns: ArrayBuffer;
}

/** Where a jump leads: evidence, a finding, or a place in the request or template. `quiet` leaves the focus alone. */
interface Goal extends Place {
  in?: Evidence["in"] | "finding" | string;
  char_span?: [number, number] | null;
  token_span?: [number, number] | null;
  quote?: string | null;
  finding?: string;
  quiet?: boolean;
}

/** Something known of a thing: a label, what it is, how to mark it. */
type Fact = [label: string, value: unknown, mark?: string];

/** What is known of the thing under the cursor, and what it is tied to elsewhere. */
interface Facts {
  parts: Fact[];
  at?: number;
  field?: string | null; // path in the request
  template_line?: number | null;
  raw?: [number, number][]; // characters of the raw output
  target?: string | null; // path in the message
  place?: string; // its name in a link
}

/** The same for the other views: also the fields and lines that follow from the rest. */
interface LitFacts extends Partial<Facts> {
  fields: string[];
  template_lines: number[];
}

type Light = (source: string | null, facts: LitFacts, isKept: boolean) => void;

/** Path of a field of the message, where there is one. */
type MaybePath = string | null | undefined;

/** A stretch of JSON as it is drawn: text, role, path of the value. */
type JsonSegment = [text: string, role: string, path?: string | null];

/** A field in the text of a request. */
type Field = import("./lib/field_paths.js").RequestField;

/** A distinct chip of the token view: one token, or several whose bytes make one character. */
interface Chip {
  ids: number[];
  text: string;
  kind: number;
  hex?: string;
  role?: string;
  injected?: boolean;
}

interface TokensHeader {
  empty?: string;
  text?: string;
  count: number;
  wide: boolean;
  table: Chip[];
  merged: number[];
  fields: string[];
  field_runs: number[];
  line_runs: number[];
  counts: string;
  heat: { offset: number; alternatives: [number, [string, number | null, number][]][]; limit: number } | null;
}

type TokenIndex = Uint16Array | Uint32Array;

interface Heat {
  values: Float32Array;
  alternatives: Map<number, [string, number | null, number][]>;
  limit: number;
}

interface Alternative {
  text: string;
  id: number | null;
  logprob: number;
  isOwn: boolean;
}

interface TokenData extends Omit<TokensHeader, "heat"> {
  index: TokenIndex;
  heat: Heat | null;
}

interface TokenOptions {
  show: string; // text, ids or bytes
  whitespace: boolean;
  turns: boolean;
  wrap: boolean;
  heat: boolean;
}

interface Display {
  shown: string[];
  cells: Int32Array;
  breaks: Uint8Array;
}

interface Rows {
  chip: Int32Array;
  offset: Int32Array;
  count: number;
  widest: number;
}

interface Joined {
  text: string;
  starts: Uint32Array;
  points: Uint32Array;
}

/** What can be jumped to: a view, or a place of the page. */
interface Controller {
  jump: (goal: Goal) => unknown;
  set?: (payload: string | null) => Promise<void>;
}

/** What is used of CodeMirror's editor. */
interface EditorView {
  dom: HTMLElement;
  contentDOM: HTMLElement;
  scrollDOM: HTMLElement;
  hasFocus: boolean;
  state: { doc: EditorText; selection: { main: { from: number; to: number; head: number; empty: boolean } } };
  visibleRanges: { from: number; to: number }[];
  constructor: Function & { scrollIntoView(at: number | { from: number; to: number }, options?: object): unknown };
  dispatch(change: object): void;
  focus(): void;
  posAtCoords(point: { x: number; y: number }): number | null;
  coordsAtPos(at: number): { top: number; bottom: number; left: number; right: number } | null;
  domAtPos(at: number): { node: Node; offset: number };
  lineBlockAt(at: number): { top: number; height: number };
  documentPadding: { top: number };
}

interface EditorText {
  length: number;
  lines: number;
  toString(): string;
  line(number: number): EditorLine;
  lineAt(at: number): EditorLine;
}

interface EditorLine {
  number: number;
  from: number;
  to: number;
  text: string;
}

/** A field in which message and raw output differ. */
interface FieldDifference {
  target: string;
  state: string;
  word: string;
  written: [text: string, mark: string][];
  returned: [text: string, mark: string][];
  char_span: [number, number] | null;
}

/** A chip of a difference of prompts: text, kind, ids, bytes. */
type DifferenceChip = [text: string, kind: string, ids: string, bytes: string];

interface DifferenceHunk {
  at: number | string;
  removed: DifferenceChip[];
  added: DifferenceChip[];
  lead: DifferenceChip[];
  tail: DifferenceChip[];
}

/** Where two prompts differ. */
interface Difference {
  unit: string;
  hunks: DifferenceHunk[];
  notes: string[];
  removed: number;
  added: number;
  before: Place | null;
  after: Place | null;
}

/** The root of a view: events of Gradio's go out by it, by `ui/web/share_view.py`. */
interface ViewRoot extends HTMLElement {
  pdAsk: (event: string, data?: unknown) => void;
}

/** What a kind of view returns: `show(null)` is the view before there is anything. */
interface View {
  show(decoded: Decoded | null): unknown;
  jump?(evidence: Goal): unknown;
}

/** What the page takes from links. */
interface SharePage {
  tool_parsers: string[];
  reasoning_parsers: string[];
  takes_model: boolean;
  most_packed: number;
  empty: unknown[];
}

interface Element {
  cmView?: any; // of the editor, CodeMirror
  cmTile?: any;
}

interface HTMLElement {
  pdAsk?: (event: string, data?: unknown) => void; // an event of Gradio's, by `ui/web/share_view.py`
  shownFor?: string; // the request that a result belongs to
  isStopped?: boolean;
}

declare var PromptDebugger: Record<string, Function>;
