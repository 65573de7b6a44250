// The short way through the judge is taken: calls that are as they should be become no objects, and neither do the
// answers of windows in which nothing is found. `ways.test.ts` holds it to the long way.
import { createReadStream } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { CallBatch } from "../../src/trace/batch.ts";
import { verify } from "../../src/verify/verify.ts";
import { Window } from "../../src/verify/window.ts";

const golden = (name: string) =>
  createReadStream(fileURLToPath(new URL(`../golden/${name}.trace.ndjson`, import.meta.url)));

test("by most calls and windows of a right deployment", async () => {
  const objects = vi.spyOn(CallBatch.prototype, "callAt");
  const explained = vi.spyOn(Window.prototype, "views", "get");
  const { verdict, records } = await verify(golden("first-request-polled-ok"));
  const long = objects.mock.calls.length;
  objects.mockClear();
  explained.mockClear();
  const epoch = await verify(golden("graphql-prepaid-ok"));
  expect([verdict, epoch.verdict]).toEqual(["ok", "ok"]);
  // Status calls go the long way, and no others, whichever client makes them.
  expect([long, records]).toEqual([47, 93]);
  expect([objects.mock.calls.length, epoch.records]).toEqual([2, 24]);
  expect(explained).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

test("not by a window in which something is found", async () => {
  const explained = vi.spyOn(Window.prototype, "views", "get");
  await verify(golden("double-count-bad"));
  expect(explained).toHaveBeenCalled();
  vi.restoreAllMocks();
});
