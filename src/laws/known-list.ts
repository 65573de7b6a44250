// The known counterexamples of a check, and what became of them.
import type { LimiterLawName } from "../rules/laws.ts";
import { formOf, type KnownCounterexample, type KnownState } from "./known.ts";
import type { LawReport } from "./report.ts";
import type { Script } from "./script.ts";
import type { Search } from "./search.ts";

/** Those that were listed. */
export class KnownList {
  readonly #entries: readonly KnownCounterexample[];
  readonly #forms = new Set<string>();
  readonly #states: KnownState["state"][];

  constructor(entries: readonly KnownCounterexample[]) {
    this.#entries = entries;
    this.#states = entries.map(() => "unseen");
  }

  get states(): readonly KnownState[] {
    return this.#entries.map(({ law, note }, at) => ({
      law,
      ...(note !== undefined && { note }),
      state: this.#states[at] ?? "unseen",
    }));
  }

  /** True if the law as a whole is known to be broken. */
  isWhole(law: LimiterLawName): boolean {
    return this.#entries.some((entry) => entry.law === law && isWhole(entry));
  }

  /** Plays each known counterexample to a law: one that breaks it no longer is mended. */
  async lookUp(law: LimiterLawName, search: Search): Promise<void> {
    for (const [at, entry] of this.#entries.entries()) {
      if (entry.law !== law || isWhole(entry)) continue;
      const script =
        entry.script ?? (await search.run(entry.seed ?? 0, 1, entry.path)).counterexample?.script;
      const isBroken = script !== undefined && (await search.breaks(script));
      this.#states[at] = isBroken ? "broken" : "mended";
      if (script !== undefined && isBroken) this.#forms.add(nameOf(law, script));
    }
  }

  /** Tells whether a counterexample is known, and notes that its law is broken. */
  has({ law, counterexample }: LawReport): boolean {
    for (const [at, entry] of this.#entries.entries())
      if (entry.law === law && isWhole(entry)) this.#states[at] = "broken";
    if (this.isWhole(law) || counterexample === undefined) return this.isWhole(law);
    return this.#forms.has(nameOf(law, counterexample.script));
  }
}

const nameOf = (law: LimiterLawName, script: Script): string => `${law} ${formOf(script)}`;

/** True if it stands for every counterexample to its law. */
const isWhole = ({ script, path }: KnownCounterexample): boolean =>
  script === undefined && path === undefined;
