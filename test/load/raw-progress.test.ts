// k6's progress is read from the file that it writes, as it grows.
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { RawProgress, type RunProgress } from "../../src/load/raw-progress.ts";

afterEach(() => vi.useRealTimers());

const line = (status: number, remaining: number, ofAll = 199): string =>
  `{"sent":1000,"received":1005,"org":"acme","user":"ann","scope":"rest","status":${status},"scopeName":"rest","limit":200,"remaining":${ofAll},"reset":60,"userLimit":50,"userRemaining":${remaining},"userReset":60}\n`;

test("counts calls and refusals, and names the tightest window; ends with its timer", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-raw-progress-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "raw.txt");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"], now: 2000 });
  const told: RunProgress[] = [];
  let tell = (): void => {};
  const progress = new RawProgress(path, (one) => {
    told.push(one);
    tell();
  });
  expect(vi.getTimerCount()).toBe(1);
  const look = async (): Promise<void> => {
    const news = new Promise<void>((resolve) => {
      tell = resolve;
    });
    vi.advanceTimersByTime(500);
    await news;
  };
  await appendFile(path, `starting\n${line(200, 30)}${line(200, 29)}${line(429, 0)}`);
  await look();
  const ann = { org: "acme", user: "ann", scope: "rest", limit: 50 };
  expect(told[0]).toEqual({
    elapsedMs: 500,
    calls: 3,
    refused: 1,
    tightest: { ...ann, remaining: 0 },
    lateMs: null,
  });
  await appendFile(path, `a line of k6's own\n${line(200, 44)}`);
  await look();
  expect(told[1]).toEqual({
    elapsedMs: 1000,
    calls: 4,
    refused: 1,
    tightest: { ...ann, remaining: 44 },
    lateMs: null,
  });
  await appendFile(path, `another one\n${line(200, 43, 171)}`);
  await look();
  expect(told[2]?.tightest).toEqual({ ...ann, user: null, limit: 200, remaining: 171 });
  await progress.end();
  expect(vi.getTimerCount()).toBe(0);
});

test("has no timer where nobody wants to know, and tells nothing of a file that is not there", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const quiet = new RawProgress("nowhere", undefined);
  expect(vi.getTimerCount()).toBe(0);
  await quiet.end();
  const told: RunProgress[] = [];
  const missing = new RawProgress(join(tmpdir(), "spillway-no-such-file"), (one) => told.push(one));
  vi.advanceTimersByTime(1500);
  await missing.end();
  expect(told).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
