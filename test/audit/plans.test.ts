// Plans of audits of many policies: what each would spend, how tasks are packed, and why others are left out. `npm test --
// test/audit/plans.test.ts -u` writes `pinned/plans.txt` anew; read the difference.
import { expect, test } from "vitest";
import { experiments } from "../../src/audit/experiments.ts";
import { type Lane, type Task, tasksOf } from "../../src/audit/plan.ts";
import { type AuditOptions, planned } from "../../src/audit/run.ts";
import { parseTarget } from "../../src/connect/target.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { digestOf } from "../support/digest.ts";
import { policyInput } from "./rooms-and-queries.ts";

function planOf(policyOf: unknown, users: number, more: Partial<AuditOptions> = {}): string {
  const policy = parsePolicy(policyOf);
  const tokens = Array.from({ length: users }, (_, index) => ({
    token: `token-${index}`,
    attributes: Object.fromEntries(
      policy.auth.attributes.map((name, place) => [name, `${name}-${place === 0 ? index % 3 : index}`]),
    ),
  }));
  const { plan } = planned({
    ...{ policy, rules: null, tokens, experiments, alone: true, spend: 1, maxMs: 600_000, timeoutMs: 1_000 },
    target: parseTarget("target", "http://127.0.0.1:4100"),
    ...more,
  });
  const named = ({ experiment, subject }: Task): string =>
    `${experiment.name} ${subject.operation} ${subject.callers.map(({ index }) => index)}`;
  const packed = ({ inTurn, beside }: Lane): string =>
    `${inTurn.length} in turn${beside.length === 0 ? "" : `, ${beside.length} beside`}`;
  const { calls, empties, rests, ms, lone, lanes, left } = plan;
  return [
    `${calls} calls, ${empties} emptied, ${rests} without counts, ${ms} ms; ${lone.length} alone, ${lanes.map(packed).join(" | ")}; ${left.length} left`,
    digestOf([tasksOf(plan).map(named), left.map(({ task, why }) => [named(task), why])], 10),
  ].join("; ");
}

const enforced = (quota: object) => ({ ...quota, enforced: false });
const { own, shared, points } = policyInput.quotas;

test("of presets and of one with rooms and queries", async () => {
  const lines = [
    ...Object.entries(presets).map(([name, { policy }]) => `${name}: ${planOf(policy, 5)}`),
    ...[1, 2, 8, 30].map((users) => `${users} callers: ${planOf(policyInput, users)}`),
    `not alone: ${planOf(policyInput, 5, { alone: false })}`,
    `a part of each window: ${planOf(policyInput, 5, { spend: 0.5 })}`,
    `little time: ${planOf(policyInput, 5, { maxMs: 2_000 })}`,
    `unsettled: ${planOf(policyInput, 5, { unsettled: "nobody said a limit" })}`,
    `own not enforced: ${planOf({ ...policyInput, quotas: { own: enforced(own), shared, points } }, 5)}`,
    `no status: ${planOf({ ...policyInput, routes: policyInput.routes.slice(1) }, 5)}`,
    `nothing shown: ${planOf({ ...policyInput, wire: { revision: "1", readings: [] } }, 5)}`,
  ];
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/plans.txt");
});
