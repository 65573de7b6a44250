// The fault matrix's real runs: a fault of several processes is seen, and a right deployment is not accused.
// @module-tag long
// @module-tag real-time
// @module-tag paced
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseFault } from "../../src/faults/choice.ts";
import type { DriverName } from "../../src/load/driver.ts";
import { workerFile } from "../service/worker-file.ts";
import { type K6Rig, openRig } from "./matrix-k6.ts";

const { signal } = new AbortController();

const drivers: readonly { driver: DriverName; tags: string[] }[] = [
  { driver: "k6", tags: ["k6"] },
  { driver: "node", tags: [] },
];
for (const { driver, tags } of drivers)
  describe(`a real run by ${driver}`, { tags }, () => {
    let rig: K6Rig;
    let worker: Awaited<ReturnType<typeof workerFile>>;
    beforeAll(async () => {
      [rig, worker] = await Promise.all([openRig(signal, driver), workerFile()]);
    });
    afterAll(() => worker.remove());

    test("shows a fault of several processes to the oracle and to the driver's checks, and nothing of a right one", async () => {
      const options = { seed: 1, signal, durationMs: 2_500, fork: worker.fork };
      const [wrong, right] = await Promise.all([
        rig.run(parseFault("per-instance-counters=3"), options),
        rig.run(null, { ...options, workers: 2 }),
      ]);
      expect([wrong.failure, wrong.verdict.caught, wrong.checks.caught]).toEqual([null, true, true]);
      expect(right.failure).toBeNull();
      expect(right.verdict).toMatchObject({ caught: false, law: null });
      expect(right.checks).toMatchObject({ caught: false, failed: {} });
    });
  });
