// The status beside the headers of calls, in virtual time: each count that it shows of a call's quotas is held to theirs.
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { findingOf, Played, type Sent } from "./played.ts";

const quota = { algorithm: { kind: "fixed-window", limit: 50, windowSeconds: 60 }, key: ["user"] };
const policy = parsePolicy({
  ...{ version: 2, name: "two", quotas: { reads: quota, writes: quota } },
  operations: {
    read: { uses: { reads: 1 }, samples: [{ path: "/read" }] },
    write: { uses: { writes: 1 }, samples: [{ path: "/write" }] },
  },
  routes: ["read", "write", "status"].map((operation) => ({ path: `/${operation}`, operation })),
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire: {
    revision: "1",
    readings: ["reads", "writes"].map((name) => ({
      quotas: [name],
      headers: {
        [`X-${name}-Used`]: "{used}",
        [`X-${name}-Limit`]: "{limit}",
        [`X-${name}-Reset`]: "{reset}",
      },
      reset: { form: "delta-s", means: "window-end", round: "ceil" },
      on: ["admitted", "refused", "status"],
    })),
  },
});

interface Shown {
  readonly status?: number;
  /** Counts of both quotas, by the reads that were made. */
  readonly counts?: (reads: number) => Readonly<Record<string, number>>;
}

/** Judges a status of a server that counts reads, and nothing else. */
function judged({ status = 200, counts = (reads) => ({ reads, writes: 0 }) }: Shown): object {
  let reads = 0;
  const server = ({ path }: { readonly path: string }, nowMs: number): Sent => {
    const isStatus = path === "/status";
    if (!isStatus) reads += 1;
    const shown = Object.entries(isStatus ? counts(reads) : { reads }).flatMap(([name, used]) => [
      [`x-${name}-used`, String(used)],
      [`x-${name}-limit`, "50"],
      [`x-${name}-reset`, String(Math.ceil((60_000 - nowMs) / 1000))],
    ]);
    return { status: isStatus ? status : 200, headers: Object.fromEntries(shown) };
  };
  const played = new Played(server, 1, "epoch", { policy });
  return findingOf("status-is-true", played, "read");
}

test("a status shows as much used as the calls before it, or after it", () => {
  expect(judged({})).toEqual({ state: "kept" });
  expect(judged({ counts: (reads) => ({ reads: reads + 1 }) })).toEqual({ state: "kept" });
  for (const more of [-1, 2])
    expect(judged({ counts: (reads) => ({ reads: reads + more }) })).toMatchObject({
      state: "broken",
      expected: "reads between 1 and 2 used",
      got: `the status shows ${1 + more}`,
    });
});

test("a status is held to the call's quotas alone", () => {
  expect(judged({ counts: (reads) => ({ writes: 40, reads }) })).toEqual({ state: "kept" });
  const why = "the status shows none of this operation's quotas";
  expect(judged({ counts: () => ({ writes: 1 }) })).toEqual({ state: "not exercised", why });
  expect(judged({ status: 500 })).toEqual({ state: "not exercised", why });
});
