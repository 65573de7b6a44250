// Whole runs by k6: what only k6 does, and every call accounted for, whatever the run's end.
// @module-tag k6
// @module-tag real-time
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { summarize } from "../../src/summary/summarizer.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { testFolder } from "./folder.ts";
import {
  counted,
  countingService,
  readTraceFile,
  run,
  scenarioFile,
  shortRules,
  tokensOf,
  wideRules,
  wrapper,
} from "./support.ts";

const folder = testFolder();

test("k6's own measure of an expectation is the summary's", async () => {
  const path = await scenarioFile(
    folder.path,
    "measured",
    `duration: "2s", populations: {
      eager: { clients: 4, behaviour: worker({ calls: [{ call: user }], think: "20ms" }), onRefused: waitReset({ of: "both" }) },
      watchers: { clients: 1, behaviour: poller({ every: "100ms", call: status() }) },
    }, expect: { refusedShare: "<90%", "eager.refusedShare": ">0%", waitMaxMs: "<3s" }`,
  );
  const result = await run(path, join(folder.path, "measured"), {
    adjustments: { rules: shortRules },
    target: counted(),
  });
  const { header, calls } = await readTraceFile(result.trace);
  const { figures } = summarize(header, calls);
  const metrics = result.outcome.summary?.metrics;
  expect(metrics?.["spillway_refused"]?.values["rate"]).toBeCloseTo(Number(figures.refusedShare), 9);
  expect(metrics?.["spillway_wait"]?.values["max"]).toBe(figures.waitMaxMs);
  expect(metrics?.["spillway_refused{scenario:eager}"]?.thresholds).toEqual({ "rate>0": { ok: true } });
  expect(result.crossed).toEqual([]);
});

/** Clients that never stop asking, one call at a time. */
const busy = (duration: string, clients = 6): string =>
  `duration: "${duration}", populations: { busy: { clients: ${clients}, behaviour: worker({ calls: [{ call: user }], think: "2ms" }) } }`;

describe.concurrent("a run that is cut short keeps what it has, and bounds what it lost", () => {
  test("by kill -9", async () => {
    const path = await scenarioFile(folder.path, "killed", busy("60s"));
    const out = join(folder.path, "killed");
    const k6Path = await wrapper(
      folder.path,
      "k6-with-pid",
      `echo $$ > '${folder.path}/pid'; exec "$REAL" "$@"`,
    );
    const service = counted();
    const running = run(path, out, { k6Path, adjustments: { rules: wideRules }, target: service });
    await untilLines(join(out, "k6", "raw.ndjson"), 200);
    process.kill(Number(await readFile(join(folder.path, "pid"), "utf8")), "SIGKILL");
    const result = await running;
    const { header, calls } = await readTraceFile(result.trace);
    expect(result.failure).toBe("k6 was killed (SIGKILL)");
    expect(result.interrupted).toBe(false);
    expect(header).toMatchObject({ complete: true, lost: 6 });
    expect(calls.length).toBe(result.account.calls);
    expect(service.requests()).toBeGreaterThanOrEqual(calls.length);
    expect(service.requests()).toBeLessThanOrEqual(calls.length + 6);
    expect(result.notes).toContain("up to 6 calls may have been sent that the trace has no line of");
  });

  test("by Ctrl-C, with k6's own summary", async () => {
    const path = await scenarioFile(folder.path, "stopped", busy("60s"));
    const out = join(folder.path, "stopped");
    const control = new AbortController();
    const service = counted();
    const running = run(path, out, {
      adjustments: { rules: wideRules },
      target: service,
      signal: control.signal,
    });
    await untilLines(join(out, "k6", "raw.ndjson"), 200);
    control.abort();
    const result = await running;
    const { header, calls } = await readTraceFile(result.trace);
    expect(result).toMatchObject({ interrupted: true, failure: null });
    expect(result.outcome.exitCode).toBe(105);
    // It counts what it had before the signal.
    expect(result.outcome.summary?.metrics["http_reqs"]?.values["count"]).toBeGreaterThan(100);
    expect(header.lost).toBe(6);
    expect(service.requests()).toBeGreaterThanOrEqual(calls.length);
    expect(service.requests()).toBeLessThanOrEqual(calls.length + 6);
  });

  // k6 ends with 0 where its lines cannot be written, and says so once a line on standard error.
  test("by a disk that was full from the start", async () => {
    const path = await scenarioFile(folder.path, "full", busy("1s", 2));
    const k6Path = await wrapper(
      folder.path,
      "k6-on-full-disk",
      `for word in "$@"; do case "$word" in */raw.ndjson) word=/dev/full;; esac; set -- "$@" "$word"; shift; done; exec "$REAL" "$@"`,
    );
    const service = counted();
    const result = await run(path, join(folder.path, "full"), {
      k6Path,
      adjustments: { rules: wideRules },
      target: service,
    });
    const { header, calls } = await readTraceFile(result.trace);
    expect(result.outcome.exitCode).toBe(0);
    expect(result.failure).toMatch(/^k6 could not write [\d,]+ lines/);
    expect(calls).toEqual([]);
    expect(header.lost).toBeGreaterThanOrEqual(service.requests());
  });

  test("by a disk that becomes full: the trace ends with the last whole line", async () => {
    const path = await scenarioFile(folder.path, "filling", busy("2s"));
    // 64 blocks of 512 bytes: the line that reaches them is cut off, all later ones are refused, k6 goes on.
    const k6Path = await wrapper(folder.path, "k6-on-small-disk", `ulimit -f 64; exec "$REAL" "$@"`);
    const service = counted();
    const result = await run(path, join(folder.path, "filling"), {
      k6Path,
      adjustments: { rules: wideRules },
      target: service,
    });
    const { header, calls, text } = await readTraceFile(result.trace);
    expect(result.failure).toMatch(/^k6 could not write [\d,]+ lines/);
    expect(calls.length).toBeGreaterThan(50);
    expect(text.endsWith("}\n")).toBe(true);
    expect(result.account.torn).toBe(1);
    expect(service.requests()).toBeGreaterThanOrEqual(calls.length);
    expect(service.requests()).toBeLessThanOrEqual(calls.length + Number(header.lost));
  });
});

describe("what stands around a run does not change it", () => {
  // One variable of more than 128 KiB, and no program can be started.
  test.concurrent("a tokens file of half a megabyte", async () => {
    const path = await scenarioFile(folder.path, "rich", busy("500ms", 2));
    const tokens = tokensOf(2_000).map((token) => ({ ...token, token: token.token.padEnd(250, "x") }));
    const service = await countingService(wideRules, tokens);
    const result = await run(path, join(folder.path, "rich"), { target: { url: service.url, tokens } });
    await service.close();
    expect(result.account.failures.size).toBe(0);
    expect(result.account.calls).toBeGreaterThan(2);
  });

  test.concurrent("another k6 at the same time", async () => {
    const path = await scenarioFile(folder.path, "twin", busy("2s", 2));
    const results = await Promise.all(
      ["a", "b"].map((name) =>
        run(path, join(folder.path, `twin-${name}`), {
          adjustments: { rules: wideRules },
          target: counted(),
        }),
      ),
    );
    for (const result of results) {
      expect(result.failure).toBeNull();
      expect(result.account.calls).toBe(result.outcome.summary?.metrics["http_reqs"]?.values["count"]);
    }
  });

  test("K6_* variables of the shell, and a scenario's own words in the log", async () => {
    vi.stubEnv("K6_ITERATIONS", "2");
    vi.stubEnv("K6_DURATION", "1s");
    vi.stubEnv("K6_NO_CONNECTION_REUSE", "true");
    vi.stubEnv("TARGET", "http://192.0.2.1");
    try {
      const path = await scenarioFile(
        folder.path,
        "stubbed",
        `duration: "1500ms", populations: { four: { clients: 4, behaviour: { ...poller({ every: "500ms", call: user }), start() { console.log("hello", 5); return {}; } } } }`,
      );
      const service = counted();
      const result = await run(path, join(folder.path, "stubbed"), {
        adjustments: { rules: wideRules },
        target: service,
      });
      expect(result.account).toMatchObject({ clients: 4, calls: service.requests(), lost: 0 });
      expect(service.requests()).toBeGreaterThan(4);
      expect(result.notes).toEqual(Array.from({ length: 4 }, () => "the scenario printed: hello 5"));
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe("what cannot even begin is a coded error", () => {
  test("a folder that is a file", async () => {
    const path = await scenarioFile(folder.path, "begun", busy("1s"));
    const error = await codedErrorOf(run(path, path, { target: counted() }));
    expect(error).toMatchObject({ code: "FILE_UNWRITABLE", exitCode: 2 });
    expect(error.problems[0]?.path).toContain("begun.ts");
  });

  test("a k6 that is gone", async () => {
    const path = await scenarioFile(folder.path, "begun", busy("1s"));
    const error = await codedErrorOf(
      run(path, join(folder.path, "begun"), { k6Path: join(folder.path, "gone"), target: counted() }),
    );
    expect(error).toMatchObject({ code: "K6_FAILED", exitCode: 3 });
    expect(error.message).toContain("cannot be started");
  });

  test("a k6 that ends at once", async () => {
    const path = await scenarioFile(folder.path, "begun", busy("1s"));
    const k6Path = await wrapper(folder.path, "k6-broken", `echo "no such flag" >&2; exit 104`);
    const error = await codedErrorOf(run(path, join(folder.path, "begun"), { k6Path, target: counted() }));
    expect(error).toMatchObject({ code: "K6_FAILED", hint: "k6's exit status was 104" });
    // In its first line: threads and folders pass no other on.
    expect(error.message.split("\n")[0]).toContain("no such flag");
  });
});

/** Waits until k6's raw file has so many lines. */
async function untilLines(path: string, lines: number): Promise<void> {
  for (;;) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.split("\n").length > lines) return;
    await wait(50);
  }
}
