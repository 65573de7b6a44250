// Judges with all rows held, and with few: the verdicts are the same to the last word.
import { expect, vi } from "vitest";
import { judge } from "../../src/verify/judge.ts";
import { OpenWindows } from "../../src/verify/open-windows.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import type { History } from "./history.ts";

export const runs = Number(process.env["HISTORIES"] ?? 60);

export const holdsAll = Number.POSITIVE_INFINITY;

/** Judgements in which rows went, and those of them that another reading was needed for. */
export const seen = { letGo: 0, again: 0 };

/** Judges with all rows held, and with few. */
export async function judgeBoth({ header, lines }: History, rowsMost: number, each = 1): Promise<void> {
  const goes = vi.spyOn(OpenWindows.prototype, "letGo");
  const options = { callsBetweenClosings: each };
  let readings = 0;
  const again =
    <T>(calls: T) =>
    () => {
      readings += 1;
      return calls;
    };
  const few = { ...options, rowsMost };
  const all = { ...options, rowsMost: holdsAll };
  const count = (): void => {
    if (goes.mock.calls.length > 0) seen.letGo += 1;
    if (readings > 0) seen.again += 1;
    goes.mockClear();
    readings = 0;
  };
  const byRules = await judge(header, lines, few, again(lines));
  count();
  expect(byRules).toEqual(await judge(header, lines, all));
  const { rules } = header;
  if (rules !== null) {
    const quotas = headerByQuotas(header, rules);
    const calls = lines.map(({ line, call }) => ({ line, call: callByQuotas(call) }));
    const byQuotas = await judgeQuotas(quotas, calls, few, again(calls));
    count();
    expect(byQuotas).toEqual(await judgeQuotas(quotas, calls, all));
  }
  goes.mockRestore();
}
