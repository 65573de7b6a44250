// Without rules: what answers show of each switch, by the smallest trace that shows it, and what is judged by it.
import { describe, expect, test } from "vitest";
import type { SwitchName } from "../../src/rules/switches.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { Inferred } from "../../src/verify/verdict.ts";
import { broken, graphql, judged, refused, rest, start, status, type TraceOptions } from "./traces.ts";

const open: TraceOptions = { rules: null };

async function told(
  calls: readonly TraceCall[],
  name: SwitchName,
  { scope = "rest", complete = false }: { scope?: "rest" | "graphql"; complete?: boolean } = {},
): Promise<Inferred | undefined> {
  const { inferred = [], violations } = await judged(calls, { ...open, complete });
  expect(violations).toEqual([]);
  return inferred.find((one) => one.switch === name && one.scope === scope);
}

/** Windows of a minute, one after the other: the second one is seen from its start. */
const before = rest({ at: 1000, count: 1 });
const minute = (at: number, count: number, changes: Partial<TraceCall> = {}): TraceCall =>
  rest({ at: 60_000 + at, count, ends: 120_000 }, changes);
const denied = (at: number, count: number, current: number, scope: "rest" | "rest_user" = "rest_user") =>
  refused({ at: 60_000 + at, count, userCount: current, ends: 120_000 }, scope);

describe("remaining", () => {
  test("is signed where it shows less than 0, even once", async () => {
    const calls = [before, minute(1000, 1, { userRemaining: -3 })];
    expect(await told(calls, "remaining")).toMatchObject({
      value: "signed",
      lines: [3],
      explanation: "not clamped: line 3 shows remaining -3 of 50, below 0",
    });
  });

  test("is clamped where a refusal's body shows what its headers hide", async () => {
    expect(await told([before, denied(1000, 1, 55)], "remaining")).toMatchObject({
      value: "clamped",
      lines: [3],
    });
  });

  test("is one of the two: both are accused, with the lines of both", async () => {
    const calls = [before, denied(1000, 1, 55), minute(2000, 2, { userRemaining: -3 })];
    const { violations } = await judged(calls, open);
    expect(violations).toContainEqual(
      expect.objectContaining({ law: "remaining-agrees", lines: expect.arrayContaining([3, 4]) }),
    );
  });

  test("is not told where no count passed its limit", async () => {
    expect(await told([before], "remaining")).toMatchObject({
      value: null,
      candidates: ["clamped", "signed"],
      lines: [],
    });
  });
});

describe("refused", () => {
  // 50 calls fill the user's window; what it refuses then either moves its count on or not.
  const full = Array.from({ length: 50 }, (_, index) => minute(100 * (index + 1), index + 1));
  const refusals = (currents: readonly number[]) =>
    currents.map((current, index) =>
      refused({ at: 70_000 + 100 * index, count: 50, userCount: current, ends: 120_000 }, "rest_user"),
    );

  test("is counted where each refusal stands on a place of its own", async () => {
    expect(
      await told([before, ...full, ...refusals([51, 52, 53])], "refused", { complete: true }),
    ).toMatchObject({
      value: "counted",
    });
  });

  test("is uncounted where refusals stand on one", async () => {
    expect(await told([before, ...full, ...refusals([50, 50])], "refused", { complete: true })).toMatchObject(
      {
        value: "uncounted",
      },
    );
  });

  test("is one of the two: a deployment that counts some is accused", async () => {
    expect(await broken([before, ...full, ...refusals([50, 51, 51, 53])], open)).not.toEqual([]);
  });
});

describe("refusedByUser", () => {
  const admitted = Array.from({ length: 50 }, (_, index) => minute(10 * (index + 1), index + 1));
  const refusals = (counts: readonly number[]) =>
    counts.map((count, index) =>
      refused({ at: 70_000 + 100 * index, count, userCount: 50, ends: 120_000 }, "rest_user"),
    );

  test.each<[string, number[]]>([
    ["charges-organization", [51, 52]],
    ["charges-nothing", [50, 50]],
  ])("%s, where the organization's count says so", async (value, counts) => {
    const calls = [before, ...admitted, ...refusals(counts)];
    expect(await told(calls, "refusedByUser", { complete: true })).toMatchObject({ value });
  });

  test("is asked about where it is not the default, in words", async () => {
    const { verdict, questions = [] } = await judged([before, ...admitted, ...refusals([51, 52])], {
      ...open,
      complete: true,
    });
    expect(verdict).toBe("ok");
    expect(questions).toContainEqual({
      scope: "rest",
      question:
        "Refusals by a user's window are charged to the organization. Is that meant? `--rules` settles it.",
      suspects: ["narrow-drains-broad"],
      lines: expect.arrayContaining([expect.any(Number)]),
    });
    const usual = await judged([before, ...admitted, ...refusals([50, 50])], { ...open, complete: true });
    expect(usual.inferred?.find((one) => one.switch === "refusedByUser")?.words).toBe(
      "Refusals by a user's window are not charged to the organization.",
    );
    expect(usual.questions?.map(({ question }) => question).join() ?? "").not.toContain("charged");
  });

  test("is not told by a refusal of the organization's own", async () => {
    const calls = [before, refused({ at: 2000, count: 200 }, "rest")];
    expect(await told(calls, "refusedByUser")).toMatchObject({ value: null });
  });
});

describe("graphqlCharge", () => {
  const query = (at: number, count: number, cost: number, actual: number): TraceCall =>
    graphql({ at: 300_000 + at, count, ends: 600_000 }, cost, actual);
  const first = graphql({ at: 1000, count: 10 }, 10, 10);

  test("is prepaid where points are never given back", async () => {
    const calls = [first, query(1000, 100, 100, 40), query(2000, 200, 100, 40)];
    const inferred = await told(calls, "graphqlCharge", { scope: "graphql", complete: true });
    expect(inferred).toMatchObject({ value: "prepaid" });
  });

  test("is reserved where they are held, and given back", async () => {
    const slow = { ...query(2000, 80, 100, 40), received: start + 304_000 };
    const calls = [
      first,
      query(1000, 40, 100, 40),
      query(2500, 180, 100, 40),
      slow,
      query(5000, 160, 100, 40),
    ];
    const inferred = await told(calls, "graphqlCharge", { scope: "graphql", complete: true });
    expect(inferred).toMatchObject({ value: "reserved" });
  });

  test("a refusal with something left is none of postpaid's", async () => {
    const calls = [first, graphql({ at: 2000, count: 4980 }, 30, 0, { status: 429 })];
    const inferred = await told(calls, "graphqlCharge", { scope: "graphql" });
    expect(inferred?.candidates).toEqual(["reserved", "prepaid"]);
    expect(inferred?.lines).toEqual([3]);
  });
});

describe("reset", () => {
  test("is not ceil where it shows 0", async () => {
    expect(await told([before, rest({ at: 59_500, count: 2 }, { reset: 0 })], "reset")).toMatchObject({
      value: null,
      candidates: ["floor", "round"],
      lines: [3],
    });
  });

  test("is ceil where the next window came sooner than any other rounding allows", async () => {
    const calls = [before, rest({ at: 59_900, count: 2 }), minute(5, 1)];
    expect(await told(calls, "reset")).toMatchObject({ value: "ceil", lines: [3, 4] });
  });

  test("is floor where a window was still shown later than any other rounding allows", async () => {
    const floor = (at: number, reset: number, count: number) =>
      rest({ at, count }, { reset, userReset: reset });
    const calls = [floor(30_010, 29, 1), floor(59_950, 0, 2)];
    expect(await told(calls, "reset")).toMatchObject({ value: "floor" });
  });
});

describe("anchor", () => {
  const dated = (at: number, ends: number): TraceCall => status({ at, count: 0, ends });

  test("is first-request where ends lie on no grid", async () => {
    const calls = [dated(1000, 31_000), dated(50_000, 91_000 + 7000)];
    expect(await told(calls, "anchor")).toMatchObject({ value: "first-request" });
  });

  test("is first-request where no length of the longest reset or more divides all ends", async () => {
    const used = (at: number, ends: number): TraceCall => status({ at, count: 3, ends });
    // A reset of 60 s was shown, and ends lie on its grid.
    const minutes = [used(500, 60_000), used(70_000, 120_000), used(130_000, 180_000)];
    expect((await told(minutes, "anchor"))?.value).toBeNull();
    expect(await told([used(500, 60_000), used(91_000, 150_000)], "anchor")).toMatchObject({
      value: "first-request",
      lines: [2, 3],
      explanation:
        "not epoch: windows end at 03:01:00, 03:02:30, and no length of 60 s or more, the longest reset that was shown " +
        "(line 2), divides the seconds of all of them",
    });
  });

  test("is epoch where a window was open before its first call", async () => {
    const calls = [rest({ at: 1000, count: 1 }), minute(20_000, 1)];
    expect(await told(calls, "anchor")).toMatchObject({ value: "epoch", lines: [2, 3] });
  });

  /** Windows of a minute that end so many seconds after the start, each shown by one call. */
  const ending = (...seconds: number[]): TraceCall[] =>
    seconds.map((ends) => rest({ at: 1000 * (ends - 59), count: 5, ends: 1000 * ends }));
  const noGrid = (lines: number[], last: string) => ({
    value: "first-request",
    lines,
    explanation: `not epoch: no window length of 59 s or more fits how far apart windows end: the last two, by lines ${last}`,
  });

  test("is first-request where no length fits how far apart windows end", async () => {
    expect(await told(ending(60, 120, 210), "anchor")).toMatchObject(
      noGrid([2, 3, 4], "3 and 4, 88.0 to 92.0 s"),
    );
  });

  test("is shown by the windows that left fewer lengths, and by the last two", async () => {
    expect(await told(ending(60, 120, 180, 240, 330), "anchor")).toMatchObject(
      noGrid([2, 3, 5, 6], "5 and 6, 88.0 to 92.0 s"),
    );
  });

  test.each([
    ["windows that were left out", ending(60, 120, 240)],
    ["windows twenty lengths apart, which many lengths fit", ending(60, 60 + 20 * 60 + 90)],
    ["two windows, however far apart", ending(60, 150)],
  ])("is not told by %s", async (_name, calls) => {
    expect(await told(calls, "anchor")).toMatchObject({
      value: null,
      candidates: ["epoch", "first-request"],
    });
  });

  const idle = (at: number, ends: number): TraceCall => {
    const { rest: shown } = dated(at, ends).body as Record<string, object>;
    return { ...dated(at, ends), body: { rest: { ...shown, reset_at: undefined } } };
  };

  test("is first-request where an idle window's end moves by less than a window", async () => {
    expect(await told([idle(1000, 60_000), idle(20_000, 80_000)], "anchor")).toMatchObject({
      value: "first-request",
      lines: [2, 3],
      explanation:
        "not epoch: between lines 2 and 3 the end of an idle window moved by 18.0 to 22.0 s, and windows last 60 s or more (line 3)",
    });
  });

  test("is first-request as soon as an idle window's end cannot have stood still", async () => {
    const moved = (ms: number) => [idle(1000, 11_000), idle(1000 + ms, 11_000 + ms)];
    // A reset of unknown rounding leaves 2 s open; clocks leave the rest.
    expect(await told(moved(2_014), "anchor")).toMatchObject({ value: null });
    expect(await told(moved(2_015), "anchor")).toMatchObject({ value: "first-request", lines: [2, 3] });
  });

  test.each([
    ["an idle window whose end stands still", [idle(1000, 60_000), idle(20_000, 60_000)]],
    [
      "one whose end moved by a whole window",
      [idle(1000, 60_000), idle(61_000, 120_000), idle(62_000, 120_000)],
    ],
  ])("is not told by %s", async (_name, calls) => {
    expect(await told(calls, "anchor")).toMatchObject({ value: null });
  });
});

describe("userEnforced", () => {
  const off = (at: number, userCount: number): TraceCall => {
    const call = status({ at, count: 0, userCount });
    const body = call.body as Record<string, object>;
    return { ...call, body: { ...body, rest: { ...body["rest"], enforced: false } } };
  };

  test("is always where a user's window refuses while limits are off", async () => {
    const calls = [off(1000, 50), refused({ at: 2000, count: 0, userCount: 50 }, "rest_user"), off(3000, 50)];
    expect(await told(calls, "userEnforced")).toMatchObject({ value: "always", lines: [3] });
  });
});

describe("retryAfter", () => {
  test("is what refusals have", async () => {
    const refusal = refused({ at: 2000, count: 200 }, "rest");
    expect(await told([before, refusal], "retryAfter")).toMatchObject({ value: "false", lines: [3] });
    expect(await told([before, { ...refusal, retryAfter: 58 }], "retryAfter")).toMatchObject({
      value: "true",
    });
    expect(await told([before], "retryAfter")).toMatchObject({ value: null });
  });
});

test("with rules nothing is inferred", async () => {
  expect((await judged([before])).inferred).toBeUndefined();
});
