// A query that asks for more than there is: what its answer, and the counts around it, tell of refusals.
import { describe, expect, test } from "vitest";
import type { ProbeTrial } from "../../src/probe/counting.ts";
import { refusalFindings } from "../../src/probe/overasking.ts";
import type { SeenCall } from "../../src/probe/seen.ts";
import { refusalBody } from "../../src/wire/bodies.ts";

const window = { limit: 900, current: 900, reset: 30 };
const bodyBy = (owner: "organization" | "user") =>
  refusalBody("graphql", owner, { organization: window, user: window });
function trialOf(changes: Partial<ProbeTrial>, action: Partial<SeenCall> = {}): ProbeTrial {
  const call = (number: number, more: Partial<SeenCall> = {}): SeenCall =>
    ({ number, sentMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678), ...more }) as SeenCall;
  return {
    before: call(4),
    action: call(5, { status: 429, requested: 400, retryAfter: 30, body: bodyBy("user"), ...action }),
    after: call(6),
    organization: 0,
    user: 0,
    isUserClamped: false,
    hadRoom: true,
    ...changes,
  };
}
const shown = "call 5 at 03:04:05.678 asked for 400 points and was answered 429";
const others = "a quieter time, or a token that nobody else uses";

test("an answer that refuses nothing tells nothing of refusals", () => {
  const needs = "a window that is full, or enforced";
  const evidence = `nothing was refused: ${shown.replace("429", "200")}`;
  expect(refusalFindings(trialOf({}, { status: 200 }), true)).toEqual(
    ["refused", "refusedByUser", "retryAfter"].map((name) => ({
      ...{ name, scope: "graphql", value: null, confidence: "not seen", evidence, calls: [], needs },
    })),
  );
});

test("a refusal that charges nothing", () => {
  expect(refusalFindings(trialOf({}), true)).toEqual([
    {
      ...{ name: "refused", scope: "graphql", value: "uncounted", confidence: "certain" },
      ...{ evidence: `${shown} by the user's window, whose count moved by 0`, calls: [4, 5, 6], needs: null },
    },
    {
      ...{ name: "refusedByUser", scope: "graphql", value: "charges-nothing", confidence: "certain" },
      evidence: `${shown} by the user's window; the organization's count moved by 0`,
      ...{ calls: [4, 5, 6], needs: null },
    },
    {
      ...{ name: "retryAfter", scope: "graphql", value: true, confidence: "certain" },
      ...{ evidence: `${shown}, Retry-After 30`, calls: [5], needs: null },
    },
  ]);
});

test("a wait that is no whole number is none", () => {
  const retryAfter = (value: string | number | null) => {
    const { value: has, evidence } = refusalFindings(trialOf({}, { retryAfter: value }), true)[2] as {
      value: unknown;
      evidence: string;
    };
    return [has, evidence];
  };
  expect(retryAfter(null)).toEqual([false, `${shown}, without Retry-After`]);
  expect(retryAfter("soon")).toEqual([false, `${shown}, Retry-After soon`]);
});

describe("the charge of a refusal", () => {
  /** Value and confidence of `refused` and of `refusedByUser`. */
  const told = (trial: ProbeTrial, isAlone: boolean) =>
    refusalFindings(trial, isAlone)
      .slice(0, 2)
      .map(({ value, confidence }) => `${value} ${confidence}`);
  const unseen = "null not seen";
  test.each<[Partial<ProbeTrial>, boolean, string, string]>([
    [{ user: 400, organization: 400 }, true, "counted certain", "charges-organization certain"],
    [{ user: 400, organization: 400 }, false, "counted likely", "charges-organization likely"],
    [{ user: 401, organization: 401 }, true, "counted certain", "charges-organization certain"],
    [{ user: 401, organization: 401 }, false, unseen, unseen],
    [{ user: 399, organization: 399 }, true, "uncounted certain", "charges-nothing certain"],
    [{ user: 399, organization: 399 }, false, "uncounted likely", "charges-nothing likely"],
    [{ user: -3, organization: -3 }, false, "uncounted likely", "charges-nothing likely"],
    [{ user: 0, organization: 0 }, false, "uncounted certain", "charges-nothing certain"],
    [{ user: 50, organization: 50, isUserClamped: true }, true, "counted certain", "charges-nothing certain"],
    [{ user: 50, organization: 50, isUserClamped: true }, false, unseen, "charges-nothing likely"],
    [{ user: 400, isUserClamped: true }, false, "counted likely", "charges-nothing certain"],
    [{ user: 0, isUserClamped: true }, false, "uncounted certain", "charges-nothing certain"],
    [{ user: null }, true, unseen, "charges-nothing certain"],
    [{ organization: null }, true, "uncounted certain", unseen],
  ])("%j, alone %j: %s, %s", (changes, isAlone, refused, byUser) => {
    expect(told(trialOf(changes), isAlone)).toEqual([refused, byUser]);
  });

  test("of few points may be others'", () => {
    const of = (requested: number) => told(trialOf({ user: requested }, { requested }), false)[0];
    expect([99, 100].map(of)).toEqual([unseen, "counted likely"]);
    expect(told(trialOf({ user: 1 }, { requested: 1 }), true)[0]).toBe("counted certain");
  });

  test("is the organization's, where its window refused", () => {
    const trial = trialOf(
      { organization: 400, user: 7, isUserClamped: true },
      { body: bodyBy("organization") },
    );
    const [refused, byUser] = refusalFindings(trial, true);
    expect([refused?.value, refused?.evidence]).toEqual([
      "counted",
      `${shown} by the organization's window, whose count moved by 400`,
    ]);
    expect([byUser?.value, byUser?.evidence, byUser?.needs]).toEqual([
      null,
      `${shown}; it was not the user's window that refused`,
      "a user's limit below the organization's",
    ]);
  });

  test("is not told where the refusal names no window, or others call", () => {
    const [unnamed] = refusalFindings(trialOf({}, { body: {} }), true);
    expect([unnamed?.evidence, unnamed?.needs]).toEqual([
      `${shown}; what it charged cannot be told`,
      "a refusal that names its window",
    ]);
    const clamped = refusalFindings(trialOf({ user: 50, organization: 401, isUserClamped: true }), false);
    expect(clamped.slice(0, 2).map(({ evidence, needs }) => [evidence, needs])).toEqual([
      [`${shown} by the user's window, whose count moved by 50 or more, and others call`, others],
      [`${shown} by the user's window; the organization's count moved by 401, and others call`, others],
    ]);
  });
});
