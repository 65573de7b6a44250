// `npm run clean-runs`: real runs of the reference deployment by Node, three at a time, over the ends of several short
// windows. Each must be judged right.
//   npm run clean-runs                 a hundred of them
//   npm run clean-runs -- --runs 6 --seed 40
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runForReal } from "../truth/runs.ts";

const names = ["steady", "ci-fleet", "herd", "lone-client"];
const lanes = 3;
const windows = {
  organization: { rest: { limit: 40, windowSeconds: 3 }, graphql: { limit: 1_600, windowSeconds: 4 } },
  user: { rest: { limit: 10, windowSeconds: 3 }, graphql: { limit: 800, windowSeconds: 4 } },
};

/** @returns the exit status: 1 where a run failed or was accused */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { runs: { type: "string", default: "100" }, seed: { type: "string", default: "1" } },
  });
  const workshop = await mkdtemp(join(tmpdir(), "spillway-clean-runs-"));
  const rules = join(workshop, "rules.json");
  await writeFile(rules, JSON.stringify(windows));
  const { signal } = new AbortController();
  const failed: string[] = [];
  let [next, done] = [0, 0];
  const lane = async (): Promise<void> => {
    while (next < Number(values.runs)) {
      const seed = Number(values.seed) + next;
      const name = names[next % names.length] ?? "steady";
      next += 1;
      const folder = join(workshop, String(seed));
      await runForReal({ name, seed, duration: "10s", rules, folder, signal, driver: "node" }).catch(
        (error: Error) => failed.push(error.message),
      );
      await rm(folder, { recursive: true, force: true });
      done += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  for (const message of failed) console.log(message);
  console.log(`${done - failed.length} of ${done} runs by Node judged right`);
  return failed.length === 0 ? 0 : 1;
}
