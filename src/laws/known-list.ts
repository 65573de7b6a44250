// Keeps the known counterexamples of a check, and whether each still breaks its law.
import type { LimiterLawName } from "../rules/laws.ts";
import type { KnownCounterexample, KnownState } from "./known.ts";
import type { Breach, LawViolation } from "./law.ts";
import type { LawReport } from "./report.ts";
import type { LawKind } from "./script.ts";
import type { LawKit, Search } from "./search.ts";

/** The listed counterexamples, with their states. */
export class KnownList<K extends LawKind> {
  readonly #entries: readonly KnownCounterexample<K>[];
  readonly #kit: Pick<LawKit<K>, "formOf" | "name">;
  readonly #forms = new Set<string>();
  readonly #breaches = new Set<string>();
  readonly #states: KnownState["state"][];

  constructor(entries: readonly KnownCounterexample<K>[], kit: Pick<LawKit<K>, "formOf" | "name">) {
    this.#entries = entries;
    this.#kit = kit;
    this.#states = entries.map(() => "unseen");
  }

  get states(): readonly KnownState[] {
    return this.#entries.map(({ law, note, limiter }, at) => ({
      law,
      ...(note !== undefined && { note }),
      ...(limiter !== undefined && limiter !== this.#kit.name && { limiter }),
      state: this.#states[at] ?? "unseen",
    }));
  }

  /** Tells whether an entry stands for every counterexample to a law. */
  isWhole(law: LimiterLawName): boolean {
    return this.#entries.some((entry) => entry.law === law && isWhole(entry));
  }

  /** Plays each known counterexample to a law. One that no longer breaks the law is mended. */
  async lookUp(law: LimiterLawName, search: Search<K>): Promise<void> {
    for (const [at, entry] of this.#entries.entries()) {
      if (entry.law !== law || isWhole(entry)) continue;
      const script =
        entry.script ?? (await search.run(entry.seed ?? 0, 1, entry.path)).counterexample?.script;
      const violation = script === undefined ? null : await search.violationOf(script);
      this.#states[at] = violation === null ? "mended" : "broken";
      if (script === undefined || violation === null) continue;
      this.#forms.add(this.#nameOf(law, script, violation));
      this.#breaches.add(breachOf(law, violation));
    }
  }

  /** Tells whether a counterexample is known, and notes that its law is broken. */
  has({ law, counterexample }: LawReport<K>): boolean {
    for (const [at, entry] of this.#entries.entries())
      if (entry.law === law && isWhole(entry)) this.#states[at] = "broken";
    if (this.isWhole(law) || counterexample === undefined) return this.isWhole(law);
    return this.#forms.has(this.#nameOf(law, counterexample.script, counterexample.violation));
  }

  /** Tells whether a known counterexample breaks a law in the same words, up to their first number. */
  isAlike(law: LimiterLawName, violation: LawViolation<K>): boolean {
    return this.#breaches.has(breachOf(law, violation));
  }

  #nameOf(law: LimiterLawName, script: K["script"], { window }: LawViolation<K>): string {
    return `${law} ${this.#kit.formOf(script, window)}`;
  }
}

const breachOf = (law: LimiterLawName, { expected }: Breach): string =>
  `${law} ${/^[^\d,]*/.exec(expected)?.[0]}`;

/** Tells whether an entry stands for every counterexample to its law: it has neither script nor path. */
const isWhole = ({ script, path }: { readonly script?: unknown; readonly path?: unknown }): boolean =>
  script === undefined && path === undefined;
