// Quotas of other names than the four of SPEC.md §1. Their windows are unknown, so that they are reported and not
// judged (SPEC.md §5).
import type { Owner, Scope } from "../rules/rules.ts";
import type { OtherQuota } from "./verdict.ts";

/** Number of names that are told one by one; answers with further names are counted together. */
const namesMost = 20;

export class OtherQuotas {
  readonly #quotas = new Map<string, OtherQuota>();

  add(scope: Scope, owner: Owner, name: string, line: number): void {
    const of = (kept: string | null): string => JSON.stringify([scope, owner, kept]);
    const isKept = this.#quotas.has(of(name)) || this.#quotas.size < namesMost;
    const shown = isKept ? name : null;
    const known = this.#quotas.get(of(shown));
    this.#quotas.set(of(shown), {
      scope,
      owner,
      name: shown,
      answers: (known?.answers ?? 0) + 1,
      line: known?.line ?? line,
    });
  }

  get isEmpty(): boolean {
    return this.#quotas.size === 0;
  }

  all(): readonly OtherQuota[] {
    return [...this.#quotas.values()];
  }
}
