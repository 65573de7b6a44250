// Reads one log line by line, into rows in the order of their time. Nothing is lost: a line is a row, or has none
// (blank, a header), or is counted as unread with its reason.
import { type Block, lineLengthMost, newline } from "../trace/blocks.ts";
import { AccessLogFormat } from "./access-log.ts";
import type { CallerMapping } from "./caller-sources.ts";
import { viewOf } from "./callers.ts";
import { Cells, roles, SELECT, SELECT_TOO, TIME, USER } from "./cells.ts";
import { ClockSteps } from "./clock-steps.ts";
import type { NamedRole } from "./column-guesses.ts";
import { CsvFormat, isOpen, linesOfRowMost, toldSeparator, unclosedQuote } from "./csv.ts";
import { hashOf } from "./field-values.ts";
import { JsonLinesFormat } from "./json-lines.ts";
import { type LineFormat, NOT_SCANNED, type ParsedLine } from "./line-format.ts";
import { readLogBlocks, tooLong } from "./log-blocks.ts";
import type { LogMapping } from "./mapping.ts";
import type { OrderedRows } from "./ordered-rows.ts";
import type { LogTally } from "./rejections.ts";
import type { RowReader } from "./row-reader.ts";
import type { LogBatch } from "./rows.ts";
import { withoutSecrets } from "./secrets.ts";
import { formatOfLine, type LogSample } from "./sniff.ts";
import { isClock, isTime } from "./time-text.ts";
import { WordsFormat } from "./words.ts";

/** A log with its sample and mapping. */
export interface LogFile {
  /** Name that people see. */
  readonly name: string;
  /** Opens its bytes, packed or not. */
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly sample: LogSample;
  readonly mapping: LogMapping;
  /** Sources of callers' attributes, under a policy. */
  readonly callers?: CallerMapping | undefined;
}

type Place = Pick<Block, "line" | "ended">;

/** A row of CSV whose last field so far is in quotes that are open. */
interface OpenRow {
  readonly place: Place;
  readonly lines: string[];
}

/** Returns the hash of a line that was read as a text: the same as of its bytes. */
function hashOfText(line: string): number {
  const view = viewOf(line);
  return hashOf(view, 0, view.byteLength);
}

/** Returns the place as it is now: a block is filled again. */
const placeOf = ({ line, ended }: Place): Place => ({ line, ended });

/** Returns why a line is no row; `null` if it is one, or none is expected. */
const whyNot = (parsed: ParsedLine): string | null =>
  typeof parsed !== "string" && "why" in parsed ? parsed.why : null;

/** Makes rows of a line's fields. */
export type AddsRows = Pick<RowReader, "add" | "shownMs">;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const roleNumber = (role: NamedRole): number => roles.indexOf(role);

export class FileReader {
  readonly rows: OrderedRows;
  readonly #file: LogFile;
  readonly #format: LineFormat;
  readonly #reader: AddsRows;
  readonly #tally: LogTally;
  readonly #cells: Cells;
  readonly #clock = new ClockSteps();
  /** Line of a CSV that names its columns. */
  #header: string | null = null;
  #open: OpenRow | null = null;
  /** Lines of rows that turned out to be none. */
  readonly #again: { readonly line: string; readonly place: Place }[] = [];

  /** @param rows rows that wait until they are in order */
  constructor(file: LogFile, reader: AddsRows, tally: LogTally, rows: OrderedRows) {
    this.rows = rows;
    this.#file = file;
    this.#cells = new Cells(file.callers?.further.length);
    this.#format = lineFormat(file);
    this.#reader = reader;
    this.#tally = tally;
  }

  /** @throws SpillwayError `LOG_INVALID` */
  async *read(): AsyncGenerator<LogBatch, void> {
    const { rows } = this;
    let isEnded = true;
    for await (const block of readLogBlocks(this.#file.open(), this.#file.name)) {
      let at = block.line === 1 ? textStart(block) : 0;
      while (at < block.end) {
        at = this.#readLine(block, at);
        block.line += 1;
        if (rows.isFull) yield* rows.drain();
        if (this.#again.length > 0) yield* this.#readAgain();
      }
      isEnded = block.ended;
    }
    while (this.#open !== null) {
      const { place, lines } = this.#open;
      this.#giveUp({ place: { ...place, ended: isEnded }, lines });
      yield* this.#readAgain();
    }
    this.#tally.notes.push(...this.#clock.notes(this.#file.name));
    yield* rows.rest();
  }

  /** @returns where the next line begins */
  #readLine(block: Block, from: number): number {
    const isText = block.line === 1 || this.#open !== null || this.#awaitsHeader;
    const next = isText ? NOT_SCANNED : this.#format.scan(block.view, from, this.#cells);
    if (next !== NOT_SCANNED) {
      if (next - from > lineLengthMost) throw tooLong(this.#file.name, block.line);
      if (this.rows.tellsLines) this.rows.line = hashOf(block.view, from, next - 1);
      if (this.#format.isRow) this.#add(block, () => decoder.decode(block.bytes.subarray(from, next - 1)));
      return next;
    }
    const end = block.bytes.indexOf(newline, from);
    if (end - from > lineLengthMost) throw tooLong(this.#file.name, block.line);
    this.#readText(decoder.decode(block.bytes.subarray(from, end)), block);
    return end + 1;
  }

  get #awaitsHeader(): boolean {
    return this.#header === null && this.#file.sample.hasHeader;
  }

  #readText(line: string, place: Place): void {
    if (this.#open !== null) this.#continue(this.#open, line, place);
    else if (line.trim() !== "" && line !== this.#header && !this.#namesSeparator(line, place)) {
      const parsed = this.#format.parse(line);
      if (whyNot(parsed) === unclosedQuote && isOpen(line))
        this.#open = { place: placeOf(place), lines: [line] };
      else this.#take(line, parsed, place);
    }
  }

  #namesSeparator(line: string, place: Place): boolean {
    return place.line === 1 && this.#file.sample.format === "csv" && toldSeparator(line) !== null;
  }

  #take(line: string, parsed: ParsedLine, place: Place): void {
    if (this.#awaitsHeader) this.#header = line;
    if (line === this.#header || parsed === "no row") return;
    if ("why" in parsed) this.#reject(place, this.#whyNot(line, parsed.why), line, true);
    else {
      this.#cells.write(parsed);
      if (this.rows.tellsLines) this.rows.line = hashOfText(line);
      this.#add(place, () => line);
    }
  }

  /** Goes on with a row that has a line's end in a field. A line that is a row by itself shows that it has none. */
  #continue(open: OpenRow, line: string, place: Place): void {
    const text = [...open.lines, line].join("\n");
    const parsed = this.#format.parse(text);
    const why = whyNot(parsed);
    if (why === null && !this.#isRow(line)) {
      this.#open = null;
      this.#take(text, parsed, open.place);
    } else if (isOpen(text) && !this.#isRow(line) && open.lines.length < linesOfRowMost)
      open.lines.push(line);
    else {
      this.#giveUp(open);
      this.#again.push({ line, place: placeOf(place) });
    }
  }

  #isRow(line: string): boolean {
    const parsed = this.#format.parse(line);
    const time = typeof parsed === "string" || "why" in parsed ? "" : (parsed[TIME] ?? "");
    return isTime(time) || isClock(time);
  }

  /** Takes the first line of an open row for unreadable; the others are read by themselves. */
  #giveUp({ place, lines: [first = "", ...others] }: OpenRow): void {
    this.#open = null;
    this.#take(first, { why: unclosedQuote }, place);
    const last = others.length - 1;
    this.#again.unshift(
      ...others.map((line, index) => ({
        line,
        place: { line: place.line + 1 + index, ended: place.ended || index < last },
      })),
    );
  }

  *#readAgain(): Generator<LogBatch, void> {
    for (let next = this.#again.shift(); next !== undefined; next = this.#again.shift()) {
      this.#readText(next.line, next.place);
      if (this.rows.isFull) yield* this.rows.drain();
    }
  }

  #add(place: Place, textOf: () => string): void {
    const why = this.#reader.add(this.#cells, this.rows);
    if (this.#reader.shownMs >= 0) this.#clock.add(this.#reader.shownMs, place.line);
    if (why === null) this.#tally.read += 1;
    else {
      const token = this.#file.mapping.userIsToken ? this.#cells.text(USER) : "";
      const line = textOf();
      // Concatenated files have their column names in the middle.
      if (line === this.#header) return;
      const isStruck = token !== "" && line.includes(token);
      this.#reject(place, this.#withValue(why), isStruck ? line.replaceAll(token, "***") : line, !isStruck);
    }
  }

  /** Adds a time that cannot be read to its reason: it is no secret, and shows at once what is wrong. */
  #withValue(why: string): string {
    if (why !== "its time cannot be read") return why;
    const text = this.#cells.text(TIME).slice(0, 40);
    return text.length === 0 || withoutSecrets(text, true) !== text ? why : `${why}: ${text}`;
  }

  #whyNot(line: string, why: string): string {
    const { format } = this.#file.sample;
    const other = formatOfLine(line);
    const isOther = other !== null && other !== format && !(format === "k6" && other === "ndjson");
    return isOther ? `a line of the format ${other}, in a log of the format ${format}` : why;
  }

  /** @param isWhole true if the line may hold a token at an unknown place */
  #reject({ line, ended }: Place, why: string, text: string, isWhole: boolean): void {
    const strict = isWhole && this.#file.mapping.hasTokens;
    if (!ended) this.#tally.cut += 1;
    const reason = ended ? why : `the log ends within this line; ${why}`;
    this.#tally.reject(this.#file.name, line, reason, () => withoutSecrets(text, strict));
  }
}

/** Returns the place behind a byte order mark. */
function textStart({ bytes }: Block): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function lineFormat({ sample, mapping, callers }: LogFile): LineFormat {
  const columns: (number | null)[] = sample.columns.map(() => null);
  for (const { role, index } of mapping.uses) if (index !== -1) columns[index] = roleNumber(role);
  for (const { index, role } of callers?.further ?? []) columns[index] = role;
  if (sample.format === "csv") return new CsvFormat(sample.separator, columns);
  if (sample.format === "access-log") return new AccessLogFormat(columns);
  const uses = mapping.uses.map(({ path, role }) => ({ path, role: roleNumber(role) }));
  const members = [...uses, ...(callers?.further ?? [])];
  if (sample.format === "words" && sample.layout !== undefined)
    return new WordsFormat(sample.layout, members);
  if (sample.format === "ndjson") return new JsonLinesFormat(members);
  if (sample.format !== "k6") throw new RangeError(`${sample.format} is not read line by line`);
  return new JsonLinesFormat(
    [...members, { path: ["metric"], role: SELECT }, { path: ["type"], role: SELECT_TOO }],
    ["http_req_duration", "Point"],
  );
}
