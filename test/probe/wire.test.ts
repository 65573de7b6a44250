// The probe and the status over real sockets on loopback: one whole probe of short windows. It takes long: a probe
// waits for windows to end.
// @module-tag real-time
// @module-tag paced
import { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { probe } from "../../src/probe/probe.ts";
import { readStatus } from "../../src/probe/status.ts";
import { readTrace } from "../../src/trace/read.ts";
import { verify } from "../../src/verify/verify.ts";
import { closeServings, serving, short, token } from "./short-windows.ts";
import { mistakes } from "./truth.ts";

afterEach(closeServings);

describe("a whole probe over HTTP", () => {
  test("of short windows finds what was set, and leaves a trace that holds", async () => {
    const report = await probe({ target: await serving(short), organization: "acme", token, user: "prober" });
    expect(report.ended).toBe("whole");
    expect(mistakes(report, short)).toEqual([]);
    expect(report.rules).toMatchObject({
      organization: { rest: short.organization?.rest, graphql: { limit: 400 } },
      user: { rest: short.user?.rest, graphql: { limit: 100 } },
      semantics: {
        anchor: { rest: "epoch", graphql: "first-request" },
        refused: { rest: "counted" },
        retryAfter: { rest: true, graphql: false },
        graphqlCharge: { graphql: "reserved" },
      },
    });
    const bytes = () => Readable.from([Buffer.from(`${report.trace.join("\n")}\n`)]);
    const read = await readTrace(bytes());
    expect(read.header).toMatchObject({ source: "other", complete: false, rules: null });
    const verdict = await verify(bytes());
    expect(verdict.violations).toEqual([]);
    expect(verdict.verdict).toBe("ok");
  });
});

describe("the status over HTTP", () => {
  test("shows both scopes of the organization, and the user's of the answer; charges nothing", async () => {
    const url = await serving(short);
    const before = Date.now();
    const reading = await readStatus({ target: url, organization: "acme", token });
    expect(
      reading.windows.map(({ scope, owner, limit, used, enforced }) => [scope, owner, limit, used, enforced]),
    ).toEqual([
      ["rest", "organization", 40, 0, true],
      ["rest", "user", 15, 0, null],
      ["graphql", "organization", 400, 0, true],
    ]);
    for (const { endsAtMs } of reading.windows) expect(endsAtMs).toBeGreaterThan(before);
    expect(Math.abs(reading.skewMs ?? Number.NaN)).toBeLessThan(1500);
    expect((await readStatus({ target: url, organization: "acme", token })).windows[0]?.used).toBe(0);
  });

  test("where there is none, says what is there", async () => {
    const url = await serving(short);
    await expect(readStatus({ target: url, organization: "globex", token })).rejects.toMatchObject({
      code: "TARGET_UNREACHABLE",
      problems: [{ got: "404: no such organization there, or the token is not of it" }],
    });
  });
});
