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
  detail: string;
  tone: string;
  log: string;
  place: Place | null;
  evidence: Evidence | null;
  open: string | null;
  fraction: number | null;
  quotable: boolean;
  asks_margin: boolean;
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
  hint: string;
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

/** A change of the request that would mend a finding; the server's flags where only they would. */
interface Cure {
  name: string;
  kind: string;
  command: string;
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
  links: string[];
  cure: Cure | null;
  cure_at: string | null;
}

interface FindingsPayload {
  key: string;
  summary: string;
  findings: FindingCard[];
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
  note: string;
  missing: string;
  differences: string[][];
}

interface LedgerPayload {
  accounts: LedgerAccount[];
  calls: { caption: string; rows: any[] } | null;
  parsers: any[];
}

/** Where the server's prompt and the one rendered here part. */
interface DifferencePayload {
  state: string;
  sentence: string;
  first_token: number | null;
  cause: string;
  texts: [string, [string, string, string]][]; // whose, and what stands before, at and behind the place
  notes: string[];
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
}

/** A decoded payload: its JSON header, and the binary columns behind it. */
interface Decoded<Header = any> {
  header: Header;
  columns: ArrayBuffer;
}

/** What a kind of view returns: `show(null)` is the view before there is anything. */
interface View {
  show(decoded: Decoded | null): unknown;
  jump?(evidence: any): unknown;
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
