// The docket: which laws were judged, which were broken and by what, and why the others were not judged. It
// becomes the verdict (FORMAT.md, "The verdict").
import { type LawName, lawNames, voidEverywhere } from "../rules/laws.ts";
import type { Rules } from "../rules/rules.ts";
import type { LawVerdict, Verdict, Violation } from "./verdict.ts";

/** An accusation; `count` is how many times this was seen at once, 1 where it is left out. */
export interface Accusation extends Omit<Violation, "count"> {
  readonly count?: number;
  /** What sets it apart from other breaches of this law by the same quota and window: those are counted together. */
  readonly breach: string;
}

/** Why a law that nothing was judged by was not, in words; the laws that no trace of one run can show. */
const unseen: Readonly<Record<LawName, string>> = {
  bounded: "no window showed its count while limits were known to be enforced",
  conserved: "no answer showed which window it belongs to",
  "remaining-agrees": "no answer showed remaining and limit",
  "reset-agrees": "no answer showed reset",
  "status-free": "no status call fell into a window whose counts were judged",
  "all-or-nothing": "no refusal fell into a window whose counts were judged",
  "refusal-justified": "nothing was refused",
  isolated: "no window was seen from its start by all the calls that use it",
  monotone: "no answer showed which window it belongs to",
  recovers: "no window was seen from its start by all the calls that use it",
  "unenforced-never-refuses": "limits were enforced, or it is not known whether they were",
  "time-translates": "one run cannot show it: run spillway check",
  "never-rolls-back": "one run cannot show it: run spillway check",
  "twice-at-most": "without rules, or while limits are not enforced, there is no bound",
  "snapshot-equals": "one run cannot show it: run spillway check",
  "headers-present": "no answer owed the headers",
  "limit-agrees": "no answer showed its limit",
  "refusal-agrees": "nothing was refused",
};

/** Laws whose breach is accused as `conserved` (FORMAT.md, "Naming the law"). */
const namedByConserved: readonly LawName[] = ["status-free", "all-or-nothing", "isolated"];

export class Docket {
  readonly #judged = new Set<LawName>();
  readonly #violations = new Map<string, { -readonly [M in keyof Violation]: Violation[M] }>();

  /** Notes that a law was judged at least once. */
  judged(law: LawName): void {
    this.#judged.add(law);
  }

  accuse({ breach, count = 1, ...violation }: Accusation): void {
    const { law, org, user, scope, window } = violation;
    const key = JSON.stringify([law, org, user, scope, window?.endsAt ?? null, breach]);
    const known = this.#violations.get(key);
    if (known === undefined) this.#violations.set(key, { ...violation, count });
    else known.count += count;
  }

  verdict(rules: Rules | null, records: number, windows: number): Verdict {
    const violations = [...this.#violations.values()].map(inOrder);
    const broken = new Set(violations.map(({ law }) => law));
    const laws = Object.fromEntries(
      lawNames.map((law) => [law, this.#lawVerdict(law, broken, rules)]),
    ) as Record<LawName, LawVerdict>;
    const held = Object.values(laws).includes("held");
    const verdict = violations.length > 0 ? "violated" : held ? "ok" : "unknown";
    return { verdict, records, windows, laws, violations };
  }

  #lawVerdict(law: LawName, broken: ReadonlySet<LawName>, rules: Rules | null): LawVerdict {
    if (broken.has(law)) return "violated";
    const isVoid = rules === null ? null : voidEverywhere(law, rules);
    if (isVoid !== null) return { skipped: isVoid };
    if (broken.has("conserved") && namedByConserved.includes(law))
      return {
        skipped: "a charge that no call explains is accused as conserved; its suspects name the cause",
      };
    return this.#judged.has(law) ? "held" : { skipped: unseen[law] };
  }
}

/** A violation's members in the order of the format. */
function inOrder(violation: Violation): Violation {
  const { law, suspects, org, user, scope, window, count, lines, explanation } = violation;
  return { law, suspects, org, user, scope, window, count, lines, explanation };
}
