// The docket: laws that were tested, accusations, and reasons why other laws were not judged. It becomes the verdict
// (FORMAT.md, "The verdict").
import { type LawName, lawNames } from "../rules/laws.ts";
import { whoseOf } from "../trace/whose.ts";
import { type Acceptance, accept } from "./acceptance.ts";
import type { Accusation, Accused } from "./accusation.ts";
import type { AmountsTally } from "./amounts.ts";
import { Clues } from "./clues.ts";
import type { Method } from "./counts-input.ts";
import { isTested, lawEvidence } from "./evidence.ts";
import { questionsOf } from "./inference.ts";
import { OtherQuotas } from "./other-quotas.ts";
import type { Inferred, LawVerdict, Methods, Question, Verdict, Violation } from "./verdict.ts";
import type { CountsResult } from "./window-counts.ts";

/** Number of windows with findings that are kept until the end, for each violation that may be kept. */
const windowsEach = 10;
/** Number of windows whose picture may be kept, and of violations that show one. */
const picturesMost = 500;
const picturesShown = 50;

/** Facts of a trace that its verdict tells beside the accusations. */
export interface VerdictFacts {
  readonly records: number;
  readonly windows: number;
  /** Returns why a law says nothing here, whatever the trace; `null` if it may say something. */
  readonly voidReason: (law: LawName) => string | null;
  /** Switches that the trace showed; `null` if rules gave them. */
  readonly inferred: readonly Inferred[] | null;
  readonly notJudged?: Verdict["notJudged"];
}

export interface DocketOptions {
  readonly amounts: AmountsTally;
  /** Number of violations that are kept and told one by one. */
  readonly violationsMost: number;
  readonly accept: Acceptance | null;
}

/** Reasons, in words, why a law was tested on nothing, with the laws that no trace of one run can show. */
const unseen: Readonly<Record<LawName, string>> = {
  bounded: "no window was seen from its start while its limit was known to bind",
  conserved: "no window showed two counts, or all of its calls from its start",
  "remaining-agrees": "no answer showed remaining and limit",
  "reset-agrees": "no answer showed reset",
  "status-free": "no status call fell into a window whose charges were all known",
  "all-or-nothing": "no refusal that is not charged fell into a window whose charges were all known",
  "refusal-justified": "nothing was refused",
  isolated: "no window was seen from its start by all the calls that use it, beside another user's",
  monotone: "no window showed two counts, and none followed another from its start",
  recovers: "no window that followed another was seen from its start by all the calls that use it",
  "unenforced-never-refuses": "no window came to its limit while limits were known not to be enforced",
  "time-translates": "one run cannot show it: run spillway check",
  "never-rolls-back": "one run cannot show it: run spillway check",
  "twice-at-most": "without rules, or while limits are not enforced, there is no bound",
  "snapshot-equals": "one run cannot show it: run spillway check",
  "headers-present": "no answer owed the headers",
  "limit-agrees": "no answer showed its limit",
  "refusal-agrees": "nothing was refused",
};

/** Laws that one refusal's own answer shows. */
const ofRefusals: readonly LawName[] = ["refusal-justified", "refusal-agrees"];

/** Laws whose breach is accused as `conserved` (FORMAT.md, "Naming the law"). */
const namedByConserved: readonly LawName[] = ["status-free", "all-or-nothing", "isolated"];

export class Docket {
  readonly amounts: AmountsTally;
  readonly clues = new Clues();
  /** Evidence that tested each law so far. */
  readonly evidence = lawEvidence();
  readonly otherQuotas = new OtherQuotas();
  readonly #options: DocketOptions;
  readonly #broken = new Set<LawName>();
  readonly #accused = new Map<string, Accused>();
  readonly #questions = new Map<string, Question>();
  readonly #methods = { places: 0, bounds: 0, readings: 0, pinned: 0 };
  /** Violations found but not kept, and those of them that say more than that counts came out too low. */
  #left = 0;
  #leftGrave = false;
  #openedEarly = false;
  #windowsKept = 0;
  #pictures = 0;

  constructor(options: DocketOptions) {
    this.#options = options;
    this.amounts = options.amounts;
  }

  /** Tells whether there is room for one more window with findings. Further windows are only counted. */
  keeps(): boolean {
    this.#windowsKept += 1;
    return this.#windowsKept <= windowsEach * this.#options.violationsMost;
  }

  /** Tells whether one more picture of a window is worth its memory. */
  get takesPicture(): boolean {
    this.#pictures += 1;
    return this.#pictures <= picturesMost;
  }

  /** Notes how a window was judged under each hypothesis. */
  tallyMethods(results: Iterable<Pick<CountsResult, "method" | "pinned">>, readings: number): void {
    let [bounds, pinned] = [false, readings];
    for (const result of results) {
      if (result.method === "bounds") bounds = true;
      pinned = Math.min(pinned, result.pinned);
    }
    this.tallyMethod(bounds ? "bounds" : "places", pinned, readings);
  }

  /** @param pinned readings of the window that could have had one value alone */
  tallyMethod(method: Method, pinned: number, readings: number): void {
    const methods = this.#methods;
    if (method === "bounds") methods.bounds += 1;
    else methods.places += 1;
    methods.readings += readings;
    methods.pinned += pinned;
  }

  /** True if neither amounts nor violations tell of all findings. */
  get #isPartial(): boolean {
    return this.#leftGrave || this.#windowsKept > windowsEach * this.#options.violationsMost;
  }

  /**
   * Asks a question that only the rules can settle, once for each scope or quota and kind of question.
   * @param kind kind of the question. Default: that of its suspects
   */
  ask(question: Question, kind: unknown = question.suspects): void {
    const key = JSON.stringify(["scope" in question ? question.scope : question.quota, kind]);
    if (!this.#questions.has(key)) this.#questions.set(key, question);
  }

  accuse({ breach, count = 1, suspects, tooLow = null, ...violation }: Accusation): void {
    const { law, window } = violation;
    const whose = whoseOf(violation);
    this.#broken.add(law);
    if (breach === "opened early") this.#openedEarly = true;
    if (breach === "needless") this.amounts.needless(whose, count);
    const key = JSON.stringify([law, whose, window?.endsAt ?? null, breach]);
    let accused = this.#accused.get(key);
    if (accused === undefined) {
      if (this.#accused.size >= this.#options.violationsMost) {
        this.#left += 1;
        if (tooLow !== "charges") this.#leftGrave = true;
        return;
      }
      const kind = JSON.stringify([law, breach, "quota" in whose ? whose.quota : whose.user === null]);
      accused = { violation, kind, tooLow, count: 0, scores: new Map() };
      this.#accused.set(key, accused);
    }
    accused.count += count;
    for (const [rank, name] of suspects.entries()) add(accused.scores, name, weight(rank));
  }

  verdict({ records, windows, voidReason, inferred, notJudged }: VerdictFacts): Verdict {
    const amounts = this.amounts.result();
    const all = [...this.#accused.values()];
    const overruled = accept(this.#options.accept, amounts, all, this.#isPartial);
    const accused = overruled === null ? all : overruled.standing;
    const broken = new Set(overruled === null ? this.#broken : accused.map(({ violation }) => violation.law));
    const laws = Object.fromEntries(
      lawNames.map((law) => [law, this.#lawVerdict(law, broken, voidReason(law))]),
    ) as Record<LawName, LawVerdict>;
    for (const law of overruled?.laws ?? [])
      if (laws[law] !== "violated") laws[law] = { skipped: "what broke it was accepted" };
    const states = Object.values(laws);
    const violations = byLikelihood(accused, this.clues).map((violation, index) =>
      index < picturesShown ? violation : withoutPicture(violation),
    );
    const methods: Methods = this.#methods;
    const questions = [...this.#questions.values(), ...questionsOf(inferred ?? [])];
    return {
      verdict: states.includes("violated") ? "violated" : states.includes("held") ? "ok" : "unknown",
      records,
      windows,
      laws,
      evidence: this.evidence,
      violations,
      ...(this.#left > 0 && overruled === null ? { violationsFound: violations.length + this.#left } : {}),
      methods,
      ...(inferred === null ? {} : { inferred }),
      ...(questions.length === 0 ? {} : { questions }),
      amounts,
      ...(this.otherQuotas.isEmpty ? {} : { otherQuotas: this.otherQuotas.all() }),
      ...(notJudged === undefined ? {} : { notJudged }),
      ...(overruled === null ? {} : { accepted: overruled.accepted }),
    };
  }

  #lawVerdict(law: LawName, broken: ReadonlySet<LawName>, isVoid: string | null): LawVerdict {
    if (broken.has(law)) return "violated";
    if (isVoid !== null) return { skipped: isVoid };
    if (broken.has("conserved") && namedByConserved.includes(law))
      return {
        skipped: "a charge that no call explains is accused as conserved; its suspects name the cause",
      };
    if (law === "status-free" && this.#openedEarly)
      return {
        skipped:
          "a window that opened before its first call is accused as reset-agrees; its suspects name the cause",
      };
    if (isTested(this.evidence[law])) return "held";
    const isUnsure =
      ofRefusals.includes(law) && Object.values(this.evidence).some((each) => each.refusals > 0);
    return { skipped: isUnsure ? "no refusal told surely whether there was room" : unseen[law] };
  }
}

/** Returns the weight of an accusation for a fault, by the rank of its name among the suspects. */
const weight = (rank: number): number => 1 / (rank + 1);

function add(scores: Map<string, number>, name: string, score: number): void {
  scores.set(name, (scores.get(name) ?? 0) + score);
}

/**
 * Orders names in violations, and violations, by likelihood: mostly one fault shows in several ways. Each way has one
 * vote, however many windows show it. What one answer shows by itself has two votes, since it says more. Clues of the
 * whole trace weigh the votes. The names with most votes come first in each violation, and so do the violations whose
 * likeliest name has most.
 */
function byLikelihood(accused: readonly Accused[], clues: Clues): readonly Violation[] {
  const sizes = new Map<string, number>();
  for (const { kind } of accused) add(sizes, kind, 1);
  const votes = new Map<string, number>();
  for (const { kind, violation, scores } of accused) {
    const most = Math.max(...scores.values());
    const alone = violation.window === null && violation.lines.length === 1;
    const share = (alone ? 2 : 1) / (sizes.get(kind) as number) / most;
    for (const [name, score] of scores) add(votes, name, score * share);
  }
  for (const [name, score] of votes) votes.set(name, score * clues.weight(name));
  const vote = (name: string | undefined): number => (name === undefined ? 0 : (votes.get(name) as number));
  return accused
    .map(({ violation, count, scores }) => {
      const names = [...scores].sort((a, b) => b[1] * vote(b[0]) - a[1] * vote(a[0])).map(([name]) => name);
      const { law, window, lines, explanation, places } = violation;
      const told = { law, suspects: names, ...whoseOf(violation), window, count, lines, explanation };
      return places === undefined ? told : { ...told, places };
    })
    .sort((a, b) => vote(b.suspects[0]) - vote(a.suspects[0]));
}

function withoutPicture({ places: _, ...violation }: Violation): Violation {
  return violation;
}
