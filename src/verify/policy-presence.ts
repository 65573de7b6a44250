// `headers-present` by a policy's wire format: values in none of its forms are accused. Kinds of answer that never show
// a quota are asked about, since formats are mostly written from documentation.
import type { AnswerKind, WireData, WireReading } from "../policy/wire-data.ts";
import { counted } from "../rules/words.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import type { Docket } from "./docket.ts";
import type { Used } from "./policy-answers.ts";
import type { Suspect } from "./suspects.ts";

/** Counts of answers of one kind. */
interface Tally {
  answers: number;
  showing: number;
  /** Number of answers whose bodies cannot be read. */
  unreadBodies: number;
  /** First answer that shows nothing, and first with an unread body, each with a quota that it could show. */
  silent: First | null;
  unread: First | null;
}

interface First {
  readonly line: number;
  readonly quota: string;
}

const silent: Readonly<Record<AnswerKind, readonly Suspect[]>> = {
  admitted: [],
  refused: ["headers-missing-on-429"],
  status: ["headers-missing-on-status"],
};
/** Statuses of 4xx that mean something other than "refused for now". */
const otherwise = new Set([401, 404, 405, 409, 410, 422]);
const nounOf = { admitted: "admitted call", refused: "refusal", status: "status" } as const;

export class PolicyPresence {
  readonly #docket: Docket;
  readonly #kinds: readonly AnswerKind[];
  readonly #tallies = new Map<AnswerKind, Tally>();
  /** Answers of 4xx, by status, that the wire does not call refusals. */
  readonly #failed = new Map<number, { answers: number; showing: number; readonly first: First }>();
  /** Forms of each header on the wire, in words. */
  readonly #forms: ReadonlyMap<string, string>;

  constructor({ readings, retryAfter, outcomes }: WireData, docket: Docket) {
    this.#docket = docket;
    this.#forms = new Map([
      ...readings.flatMap(formsOf),
      ...retryAfter.flatMap((retry) => ("header" in retry ? [[retry.header, retry.form] as const] : [])),
    ]);
    const promised = new Set(readings.flatMap(({ on }) => on));
    // Refusals of some kinds show nothing, and no answer tells its kind.
    if (outcomes.some(({ outcome, readings: shows }) => outcome === "refused" && !shows))
      promised.delete("refused");
    this.#kinds = [...promised];
  }

  /** Judges an answer that the target gave. */
  add(line: number, call: QuotaCall, used: readonly Used[]): void {
    if (call.via !== undefined || call.outcome === "exempt") return;
    const kind: AnswerKind =
      call.operation === "status" ? "status" : call.outcome === "refused" ? "refused" : "admitted";
    const evidence = this.#docket.evidence["headers-present"];
    evidence.readings += call.readings.length;
    if (kind === "refused" && call.readings.length > 0) evidence.refusals += 1;
    this.#checkForms(line, call, used);
    if (kind === "status" || used.length > 0) this.#tally(line, kind, call, used);
  }

  /** Accuses header values in none of the wire's forms. Bodies are left out, since they may be cut on their way. */
  #checkForms(line: number, call: QuotaCall, used: readonly Used[]): void {
    if (call.unread === undefined) return;
    const at = call.unread.filter((place) => place !== "body" && !place.startsWith("/"));
    const [count] = used.flatMap((each) => each.count ?? []);
    const [place] = at;
    if (place === undefined || count === undefined) return;
    const isTimes = at.every((each) => this.#isTime(each));
    this.#docket.accuse({
      law: "headers-present",
      breach: `no form of ${place}`,
      // Doubled headers spoil counts as well as times.
      suspects: isTimes
        ? [...timeSuspects, "headers-doubled"]
        : ["headers-doubled", ...(at.some((each) => this.#isTime(each)) ? timeSuspects : [])],
      ...count.name.told,
      window: null,
      lines: [line],
      explanation:
        `line ${line} has values in none of the forms of the policy's wire; no trace keeps them: ` +
        at.map((each) => `${each}, which is ${this.#forms.get(each) ?? "of another form"}`).join("; "),
    });
  }

  #isTime(header: string): boolean {
    return this.#forms.get(header)?.includes("{reset}") === true;
  }

  #tally(line: number, kind: AnswerKind, call: QuotaCall, used: readonly Used[]): void {
    const { readings, unread, status } = call;
    const tally = this.#tallies.get(kind) ?? {
      answers: 0,
      showing: 0,
      unreadBodies: 0,
      silent: null,
      unread: null,
    };
    this.#tallies.set(kind, tally);
    tally.answers += 1;
    const isBodyUnread = unread?.includes("body") === true;
    const here = { line, quota: used[0]?.judge.name ?? "status" };
    if (isBodyUnread) {
      tally.unreadBodies += 1;
      tally.unread ??= here;
    }
    const isShowing = readings.length > 0 || (unread !== undefined && !isBodyUnread);
    if (isShowing) tally.showing += 1;
    else tally.silent ??= here;
    if (kind !== "admitted" || status < 400 || status >= 500 || otherwise.has(status)) return;
    const failed = this.#failed.get(status) ?? { answers: 0, showing: 0, first: here };
    this.#failed.set(status, failed);
    failed.answers += 1;
    if (isShowing) failed.showing += 1;
  }

  /** Asks about bodies that cannot be read, and about kinds of answer that show nothing at all. */
  finish(): void {
    const isShown = [...this.#tallies.values()].some(({ showing }) => showing > 0);
    for (const kind of this.#kinds) {
      const tally = this.#tallies.get(kind);
      if (tally === undefined) continue;
      const { answers, showing, unreadBodies, unread } = tally;
      const first = unread ?? (showing > 0 ? null : tally.silent);
      if (first === null) continue;
      const counts = counted(answers, nounOf[kind]);
      const settles = isShown ? "`on` of its readings settles" : "The names in its readings settle";
      this.#docket.ask(
        {
          quota: first.quota,
          question:
            unreadBodies > 0
              ? `Of ${counts}, ${counted(unreadBodies, "body")} cannot be read (line ${first.line}): cut, too long, or no JSON. What sends them?`
              : `None of ${counts} shows a quota (line ${first.line}), as the policy's wire says. Is that meant? ${settles} it.`,
          suspects: unreadBodies > 0 ? [] : silent[kind],
          lines: [first.line],
        },
        kind,
      );
    }
    for (const [status, { answers, showing, first }] of this.#failed)
      if (isShown && showing === 0 && this.#kinds.includes("admitted"))
        this.#docket.ask(
          {
            quota: first.quota,
            question: `None of ${counted(answers, `answer of ${status}`, `answers of ${status}`)} shows a quota (line ${first.line}), and the policy's wire calls none a refusal. Do they refuse? \`outcomes\` settles it.`,
            suspects: silent.refused,
            lines: [first.line],
          },
          status,
        );
  }
}

const timeSuspects = ["reset-epoch", "reset-in-ms", "reset-negative"] as const;

/** Returns the forms of a row's headers in words, by header name. */
const formsOf = ({ headers, reset }: WireReading): (readonly [string, string])[] =>
  Object.entries(headers).map(([name, template]) => {
    const texts = typeof template === "string" ? [template] : Array.isArray(template) ? template : [];
    const form = texts.length === 0 ? "a structured field" : texts.join(" or ");
    return [name, form.includes("{reset}") && reset !== undefined ? `${form} as ${reset.form}` : form];
  });
