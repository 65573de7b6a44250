// Lines of words between blanks, as proxies and web servers write them. A word's meaning comes from a line `#Fields:`
// (IIS, CloudFront), its place (AWS's load balancers, Envoy, Istio), or the word itself (logfmt, Heroku).
import { roles } from "./cells.ts";
import { type LineFormat, type NamedColumn, NOT_SCANNED, type ParsedLine } from "./line-format.ts";
import { isTime } from "./time-text.ts";

/** Way in which the words of a line get their names. */
export interface WordLayout {
  /** Names of words by place; empty if words name themselves. */
  readonly names: readonly string[];
  /** True if a line `#Fields:` named the words; then none is in quotes. */
  readonly isW3c: boolean;
  /** Pattern that finds the named parts of a line, if they are no words. */
  readonly pattern?: RegExp;
}

/** `time elb client:port ...`: https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html */
const classic = names(`time elb client:port backend:port request_processing_time target_processing_time
  response_processing_time elb_status_code target_status_code received_bytes sent_bytes request user_agent`);
/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html */
const application = ["type", ...classic.map((name) => name.replace("backend:", "target:"))];
/** https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage */
const [beginning, middle] = [
  names("start_time request response_code response_flags"),
  names(`bytes_received bytes_sent duration upstream_service_time x_forwarded_for user_agent request_id authority
    upstream_host`),
];
const envoy = [...beginning, ...middle];
/** https://istio.io/latest/docs/tasks/observability/logs/access-log/ */
const istio = [
  ...beginning,
  ...names("response_code_details connection_termination_details upstream_transport_failure_reason"),
  ...middle,
  ...names(`upstream_cluster upstream_local_address downstream_local_address downstream_remote_address
    requested_server_name route_name`),
];

/** HTTP format of HAProxy, behind syslog's prefix: https://docs.haproxy.org/3.2/configuration.html#8.2.3 */
const haproxy: WordLayout = {
  names: names("client_addr accept_date frontend server duration status request"),
  isW3c: false,
  pattern:
    /^(?:(?!haproxy\[).)*haproxy\[\d+\]: (\S+) \[([^\]]+)\] (\S+) (\S+) [-\d/]+\/\+?(\d+) (\d{3}) \+?\d+ .*"([A-Z]+ [^"]*)"$/,
};

function names(text: string): string[] {
  return text.split(/\s+/);
}

const isCount = (word = ""): boolean => /^\d+$/.test(word);
const isRequest = (word = ""): boolean => /^[A-Z-]+ \S/.test(word);
const hasPort = (word = ""): boolean => /[\d\]]:\d+$/.test(word);

type Fits = (words: readonly string[]) => boolean;
const isClassic: Fits = ([time = "", , client, ...rest]) =>
  isTime(time) && hasPort(client) && isRequest(rest[8]);
/** @param at place of the bytes received, behind which stand those sent */
const isProxys =
  (at: number): Fits =>
  (words) =>
    isTime(words[0] ?? "") && isRequest(words[1]) && [2, at, at + 1].every((place) => isCount(words[place]));

/** Layouts, each with a test of whether the words of a line stand where it has them. */
const placed: readonly (readonly [layout: readonly string[], fits: Fits])[] = [
  [application, (words) => isClassic(words.slice(1))],
  [classic, isClassic],
  [envoy, isProxys(4)],
  [istio, isProxys(7)],
];

/** Least number of words of a line that name themselves; they must also be more than half of its words. */
const namedLeast = 3;

/** Returns the layout that a line `#Fields:` tells; `null` for any other line. */
const toldLayout = (line: string): WordLayout | null =>
  /^#Fields:/i.test(line) ? { names: line.trim().split(/\s+/).slice(1), isW3c: true } : null;

/** Returns the layout that most of a log's first lines have; `null` if there is none. */
export function layoutOf(lines: readonly string[]): WordLayout | null {
  const told = lines.map(toldLayout).find((layout) => layout !== null);
  if (told !== undefined) return told;
  const isMost = (fits: (line: string) => boolean): boolean => lines.filter(fits).length > lines.length / 2;
  for (const [layout, fits] of placed)
    if (isMost((line) => fits([...wordsOf(line)].map(({ text }) => text))))
      return { names: layout, isW3c: false };
  if (isMost((line) => fieldsOf(line, haproxy) !== null)) return haproxy;
  const isNamed = (line: string): boolean => {
    const words = [...wordsOf(line)];
    const named = words.filter(({ name }) => name !== undefined).length;
    return named >= namedLeast && named > words.length / 2;
  };
  return isMost(isNamed) ? { names: [], isW3c: false } : null;
}

/** A word, with its name if it was written `name=value`. */
interface Word {
  readonly name: string | undefined;
  readonly text: string;
}

const word = /(?:([A-Za-z_][\w.-]*)=)?(?:"((?:[^"\\]|\\.)*)"|\[([^\][]*)\]|(\S*))(?:\s+|$)/gy;

function* wordsOf(line: string): Generator<Word> {
  word.lastIndex = 0;
  while (word.lastIndex < line.length) {
    const [, name, quoted, bracketed, plain = ""] = word.exec(line) ?? [];
    yield { name, text: quoted ?? bracketed ?? plain };
  }
}

/** Reads lines in turn. A server whose settings change names the words of further lines anew. */
export class WordLines {
  #layout: WordLayout;

  constructor(layout: WordLayout) {
    this.#layout = layout;
  }

  /** Returns the fields of the next line by their names; `null` if it has none. */
  fieldsOf(line: string): ReadonlyMap<string, string> | null {
    if (this.#layout.isW3c) this.#layout = toldLayout(line) ?? this.#layout;
    return fieldsOf(line, this.#layout);
  }
}

function fieldsOf(line: string, { names, isW3c, pattern }: WordLayout): ReadonlyMap<string, string> | null {
  const text = line.trim();
  if (text === "" || (isW3c && text.startsWith("#"))) return null;
  if (isW3c) return w3cFields(text, names);
  if (pattern !== undefined) {
    const parts = pattern.exec(text);
    return parts && new Map(names.map((name, place) => [name, parts[place + 1] ?? ""]));
  }
  const fields = new Map<string, string>();
  let place = 0;
  for (const { name, text: value } of wordsOf(text)) {
    const isPlaced = names.length > 0;
    const called = isPlaced || name === undefined ? (names[place] ?? `word${place + 1}`) : name;
    if (isPlaced || name === undefined) place += 1;
    const whole = isPlaced && name !== undefined ? `${name}=${value}` : value;
    if (!fields.has(called)) fields.set(called, called.endsWith(":port") ? withoutPort(whole) : whole);
  }
  return fields;
}

/** Returns the fields of a W3C line, with date and time joined into one. */
function w3cFields(text: string, names: readonly string[]): ReadonlyMap<string, string> {
  const values = text.split(text.includes("\t") ? "\t" : " ");
  const fields = new Map(names.map((name, place) => [name, values[place] ?? ""]));
  const [day, time] = [fields.get("date"), fields.get("time")];
  if (day === undefined || time === undefined) return fields;
  fields.delete("date");
  return fields.set("time", `${day}T${time}Z`);
}

/** Removes the port of an address, which AWS also writes behind IPv6 without brackets. */
const withoutPort = (text: string): string => text.replace(/:\d+$/, "");

export class WordsFormat implements LineFormat {
  readonly isRow = true;
  readonly #lines: WordLines;
  readonly #columns: readonly NamedColumn[];
  /** Result for a line without fields. */
  readonly #otherwise: ParsedLine;

  constructor(layout: WordLayout, columns: readonly NamedColumn[]) {
    this.#lines = new WordLines(layout);
    this.#columns = columns;
    this.#otherwise = layout.pattern === undefined ? "no row" : { why: "its words stand in no known place" };
  }

  scan(): number {
    return NOT_SCANNED;
  }

  parse(line: string): ParsedLine {
    const fields = this.#lines.fieldsOf(line);
    if (fields === null) return this.#otherwise;
    const texts = new Array<string | undefined>(roles.length).fill(undefined);
    for (const { path, role } of this.#columns) texts[role] = fields.get(path[0] ?? "");
    return texts;
  }
}
