// Resets that a policy's wire format leaves open, and sample answers of it.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets, wireOf } from "../../src/policy/presets.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import type { WireReading } from "../../src/policy/wire-data.ts";
import { isUntold, looseResets, readingsOf, roundingOf, untoldWindows } from "../../src/wire/rounding.ts";
import { sampleAnswers } from "../../src/wire/sample-answers.ts";

const window = { kind: "fixed-window", limit: 5, windowSeconds: 60 };
const bucket = { kind: "token-bucket", capacity: 9, refill: { amount: 2, everyMs: 3000 } };

type Reset = object | null;
/** A row of readings for some quotas, with a reset of its own. */
const row = (lead: string, reset: Reset, quotas: readonly string[], remaining = true) => ({
  quotas,
  headers: {
    [`${lead}-Limit`]: "{limit}",
    ...(remaining ? { [`${lead}-Remaining`]: "{remaining}" } : {}),
    ...(reset === null ? {} : { [`${lead}-Reset`]: "{reset}" }),
  },
  ...(reset === null ? {} : { reset }),
});
const seconds = (round?: string, changes: object = {}) => ({
  form: "delta-s",
  means: "window-end",
  ...(round === undefined ? {} : { round }),
  ...changes,
});

const policyOf = (readings: readonly object[], quotas: object = { minute: { algorithm: window } }) =>
  parsePolicy({
    version: 2,
    name: "rounded",
    quotas,
    operations: { call: { uses: Object.fromEntries(Object.keys(quotas).map((name) => [name, 1])) } },
    routes: [{ path: "/**", operation: "call" }],
    wire: { revision: "1", readings },
  } as unknown as PolicyInput);

describe("the rounding of resets", () => {
  const rounds = (...resets: Reset[]): readonly WireReading[] =>
    wireOf(policyOf(resets.map((reset, at) => row(`X${at}`, reset, ["minute"])))).readings;
  test.each([
    ["one that says it", [seconds("floor")], "floor"],
    ["two that agree", [seconds("ceil"), seconds("ceil")], "ceil"],
    ["two that differ", [seconds("ceil"), seconds("floor")], null],
    ["one that says it, and one that does not", [seconds("ceil"), seconds()], null],
    ["one that says nothing", [seconds()], null],
    ["a row without a reset beside it", [null, seconds("round")], "round"],
    ["no reset", [null], null],
  ] as const)("%s", (_name, resets, expected) => {
    expect(roundingOf(rounds(...resets))).toBe(expected);
  });

  const loose = (readings: readonly object[], quotas?: object) =>
    looseResets(policyOf(readings, quotas)).map((sentence) => sentence.slice(0, sentence.indexOf(": ends")));
  const listed = (readings: readonly object[], quotas?: object) =>
    looseResets(policyOf(readings, quotas)).map((sentence) => /\((.*?)\)/.exec(sentence)?.[1]);
  const two = { minute: { algorithm: window }, hour: { algorithm: { ...window, windowSeconds: 3600 } } };

  test("that nobody knows makes ends looser, and is said with the quotas that it concerns", () => {
    expect(loose([row("X", seconds(), ["minute"])])).toEqual(["wire.readings.0.reset has no round"]);
    const [sentence] = looseResets(policyOf([row("X", seconds(), ["minute"])]));
    expect(sentence).toBe(
      "wire.readings.0.reset has no round: ends of windows are judged a unit more loosely (minute). " +
        'It is "ceil", "floor" or "round".',
    );
    const differing = [row("X", seconds("ceil"), ["minute"]), row("Y", seconds("floor"), ["minute", "hour"])];
    expect(loose(differing, two)).toEqual([
      "wire.readings.0.reset has another round than others",
      "wire.readings.1.reset has another round than others",
    ]);
    expect(listed(differing, two)).toEqual(["minute", "minute"]);
  });

  test.each([
    ["that is known", [row("X", seconds("ceil"), ["minute"])], undefined],
    ["of milliseconds", [row("X", { form: "delta-ms", means: "window-end" }, ["minute"])], undefined],
    ["of what tells no end", [row("X", seconds(undefined, { means: "next" }), ["minute"])], undefined],
    ["of a bucket", [row("X", seconds(), ["minute"])], { minute: { algorithm: bucket } }],
  ])("%s is not said", (_name, readings, quotas) => {
    expect(loose(readings, quotas)).toEqual([]);
  });

  test("of readings for some quotas is theirs alone", () => {
    const wire = wireOf(
      policyOf([row("X", seconds("ceil"), ["minute"]), row("Y", seconds(), ["hour"])], two),
    );
    expect(readingsOf(wire, "minute").map(({ quotas }) => quotas)).toEqual([["minute"]]);
    expect(listed([row("X", seconds("ceil"), ["minute"]), row("Y", seconds(), ["hour"])], two)).toEqual([
      "hour",
    ]);
  });
});

describe("a window whose counts are shown, and no end", () => {
  const untold = (readings: readonly object[], quotas?: object) =>
    isUntold(policyOf(readings, quotas), "minute");
  test.each([
    ["where no reset is shown", [row("X", null, ["minute"])], undefined, true],
    [
      "where the reset is of the next unit",
      [row("X", seconds("ceil", { means: "next" }), ["minute"])],
      undefined,
      true,
    ],
    ["not where it tells the end", [row("X", seconds("ceil"), ["minute"])], undefined, false],
    [
      "not where it tells when all is back",
      [row("X", seconds("ceil", { means: "full" }), ["minute"])],
      undefined,
      false,
    ],
    ["not where only limits are shown", [row("X", null, ["minute"], false)], undefined, false],
    ["not of a bucket", [row("X", null, ["minute"])], { minute: { algorithm: bucket } }, false],
  ])("%s", (_name, readings, quotas, expected) => {
    expect(untold(readings, quotas)).toBe(expected);
  });

  test("is said by its name", () => {
    const policy = policyOf([row("X", null, ["minute"]), row("Y", seconds("ceil"), ["hour"])], {
      minute: { algorithm: window },
      hour: { algorithm: window },
    });
    expect(untoldWindows(policy)).toEqual([
      "quotas.minute: no reset tells which window a count is of: what is let through is judged, and counts are not.",
    ]);
  });

  test.each(["ietf-06", "ietf-07", "ietf-11"])(
    "by %s is told the format that takes resets for ends",
    (wire) => {
      const said = untoldWindows(parsePolicy(presets[wire]?.policy));
      expect(said.length).toBeGreaterThan(0);
      for (const warning of said) {
        const [, other = ""] =
          /If windows end at the reset, "wire": "([^"]+)" says so\.$/.exec(warning) ?? [];
        expect(untoldWindows(parsePolicy({ ...presets[wire]?.policy, wire: other }))).toEqual([]);
      }
    },
  );

  test("by a format of one's own is told the member that says so", () => {
    const estimates = [row("X", seconds("ceil", { means: "estimate" }), ["minute"])];
    expect(untoldWindows(policyOf(estimates))).toEqual([
      expect.stringMatching(
        / If windows end at the reset, "means": "window-end" of the wire's reset says so\.$/,
      ),
    ]);
  });
});

describe("sample answers", () => {
  test("of a window: half of it used, in its middle; and a refusal", () => {
    const policy = policyOf([row("X", seconds("ceil"), ["minute"])]);
    expect(sampleAnswers(policy, wireOf(policy))).toEqual([
      {
        title: "An answer to a call:",
        text: "HTTP/1.1 200\nX-Limit: 5\nX-Remaining: 2\nX-Reset: 30",
      },
      {
        title: "A refusal by minute:",
        text: expect.stringMatching(/^HTTP\/1\.1 429\nX-Limit: 5\nX-Remaining: 0\nX-Reset: 30/),
      },
    ]);
  });

  test("of a bucket: when what is used is back", () => {
    const policy = policyOf([row("X", seconds("ceil", { means: "full" }), ["minute"])], {
      minute: { algorithm: bucket },
    });
    const [answer, refusal] = sampleAnswers(policy, wireOf(policy)).map(({ text }) => text.split("\n"));
    expect(answer).toEqual(["HTTP/1.1 200", "X-Limit: 9", "X-Remaining: 4", "X-Reset: 8"]);
    expect(refusal?.slice(0, 4)).toEqual(["HTTP/1.1 429", "X-Limit: 9", "X-Remaining: 0", "X-Reset: 14"]);
  });

  test("of several quotas: the first refuses, and the others have room", () => {
    const quotas = { minute: { algorithm: window }, hour: { algorithm: { ...window, limit: 8 } } };
    const policy = policyOf(
      [row("X", seconds("ceil"), ["minute"]), row("Y", seconds("ceil"), ["hour"])],
      quotas,
    );
    const [, refusal] = sampleAnswers(policy, wireOf(policy));
    expect(refusal?.title).toBe("A refusal by minute:");
    expect(refusal?.text).toMatch(/X-Remaining: 0\n(.*\n)*Y-Limit: 8\nY-Remaining: 4/);
  });

  test.each([
    ["a window", window, "30"],
    ["a bucket, which has room for one more sooner", bucket, "2"],
    ["calls under way", { kind: "concurrency", limit: 4 }, "0"],
  ])("a refusal says when to come back: %s", (_name, algorithm, seconds) => {
    const policy = policyOf([], { minute: { algorithm } });
    const wire = {
      ...wireOf(policy),
      retryAfter: [{ header: "Retry-After", form: "delta-s", round: "ceil" }],
    } as const;
    const [answer, refusal] = sampleAnswers(policy, wire).map(({ text }) => text);
    expect([answer, refusal]).toEqual(["HTTP/1.1 200", `HTTP/1.1 429\nRetry-After: ${seconds}`]);
  });

  test("a policy without operations has none", () => {
    const policy = { ...policyOf([row("X", seconds("ceil"), ["minute"])]), operations: {} };
    expect(sampleAnswers(policy, wireOf(policy))).toEqual([]);
  });
});
