// The policy by which logs are read: the user's, or the one that traces among them claim.
import { expect, test } from "vitest";
import { policyOfLogs } from "../../src/cli/log-policy.ts";
import type { LogFile } from "../../src/logs/read-file.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { encodeHeader } from "../../src/trace/write.ts";
import { fixture } from "../report/fixtures.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { headerByQuotas } from "../verify/as-quotas.ts";

const rules = parseRules({});
const { header, lines } = fixture();
const claims = (name: string) => ({ ...policyOf(rules), name });
const second = (policy = claims("own")): string => encodeHeader({ ...headerByQuotas(header, rules), policy });

const opened: string[] = [];
const closed: string[] = [];
const file = (name: string, text: readonly string[] | null): LogFile =>
  ({
    name,
    sample: { format: text === null ? "csv" : "trace" },
    async *open() {
      opened.push(name);
      try {
        yield Buffer.from(`${(text ?? []).join("\n")}\n`);
      } finally {
        closed.push(name);
      }
    },
  }) as unknown as LogFile;
const usual = { asWindow: undefined, verb: "replay" };
const first = file("first", lines);
const own = file("own", [second()]);

test("is the one that is named: no trace is read", async () => {
  const policy = claims("named");
  expect(await policyOfLogs([own], { policy }, usual)).toBe(policy);
  expect(opened).toEqual([]);
});

test("is none of logs, or of a trace by rules", async () => {
  expect(await policyOfLogs([], {}, usual)).toBeUndefined();
  expect(await policyOfLogs([file("log", null), first], { rules }, usual)).toBeUndefined();
  expect([opened, closed]).toEqual([["first"], ["first"]]);
});

test("is a trace's own, and else that of the rules", async () => {
  expect(await policyOfLogs([first, own, file("same", [second()])], {}, usual)).toEqual(claims("own"));
  expect(await policyOfLogs([own], { rules }, usual)).toEqual(policyOf(rules));
});

test("is asked for where traces claim two", async () => {
  const other = file("other", [second(claims("another"))]);
  expect(await codedErrorOf(policyOfLogs([own, other], {}, usual))).toMatchObject({
    ...{ code: "USAGE", message: expect.stringContaining("these traces claim different policies") },
    problems: [{ path: "other", got: "another", allowed: "own, as own does" }],
    hint: "--policy names the one to use",
  });
  expect(await policyOfLogs([own, other], { rules }, usual)).toEqual(policyOf(rules));
});

test("may have to be enforced by windows", async () => {
  const sliding = parsePolicy({
    version: 2,
    name: "sliding",
    quotas: { calls: { algorithm: { kind: "sliding-log", limit: 5, windowSeconds: 10 }, key: [] } },
    operations: { call: { uses: { calls: 1 } } },
  } as never);
  const trace = file("sliding", [second(sliding)]);
  expect(await codedErrorOf(policyOfLogs([trace], {}, usual))).toMatchObject({
    code: "POLICY_UNSERVABLE",
    hint: expect.stringContaining("replay LOG --policy"),
  });
});
