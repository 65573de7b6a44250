// Real runs: the deployment on loopback with a fault, k6 or Node over the matrix's scenario; judged by the oracle over
// the trace, and by the checks inside the driver alone.
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ChosenFault } from "../../src/faults/choice.ts";
import type { DriverChoice, DriverName } from "../../src/load/driver.ts";
import type { LoadedScenario } from "../../src/load/scenario-file.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { seatingOf, seatsOf } from "../../src/scenario/seats.ts";
import { verify } from "../../src/verify/verify.ts";
import { crowd, suited } from "./crowd.ts";
import { type VerdictCell, verdictCell } from "./matrix-nets.ts";

/** Findings of the driver's checks alone in a run. */
export interface ChecksCell {
  readonly caught: boolean;
  readonly answers: number;
  /** Answers that failed a check, by the check's name, the most first. */
  readonly failed: Readonly<Record<string, number>>;
}

/** One real run: both nets see the same one. */
export interface K6Cell {
  readonly verdict: VerdictCell;
  readonly checks: ChecksCell;
  /** Reason that the run is not the one that was asked for; `null` if it is. */
  readonly failure: string | null;
}

export interface K6Rig {
  /** Who drives. */
  readonly by: DriverChoice;
  readonly scenario: LoadedScenario;
  /** @param chosen `null` for the right deployment */
  run(chosen: ChosenFault | null, options: K6RunOptions): Promise<K6Cell>;
}

export interface K6RunOptions {
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Processes of a right deployment. */
  readonly workers?: number | undefined;
  readonly durationMs?: number;
  readonly fork?: (() => ChildProcess) | undefined;
}

/**
 * `src` where the tests run on the sources. As `npm run faults` this file is one of a bundle, without the files
 * that bundles of k6 are made of and without the program of a worker: then they are those of the built package.
 */
const fromSource = import.meta.url.endsWith("/matrix-k6.ts");

function part<T>(path: string): Promise<T> {
  const file = fromSource ? `src/${path}.ts` : `dist/src/${path}.js`;
  return import(/* @vite-ignore */ pathToFileURL(join(process.cwd(), file)).href) as Promise<T>;
}

/**
 * Finds who drives, and the parts of a run.
 * @param wanted who must drive, if anybody
 */
export async function openRig(signal: AbortSignal, wanted?: DriverName): Promise<K6Rig> {
  const { chooseDriver } = await part<typeof import("../../src/load/driver.ts")>("load/driver");
  const { load } = await part<typeof import("../../src/load/load.ts")>("load/load");
  const { loadScenarioFile } =
    await part<typeof import("../../src/load/scenario-file.ts")>("load/scenario-file");
  const { deploy } = await part<typeof import("../../src/service/deploy.ts")>("service/deploy");
  const by = await chooseDriver(wanted, { signal });
  const scenario = await loadScenarioFile(join(process.cwd(), "test/faults/matrix-scenario.ts"));
  const tokens = tokensFor(scenario);
  const rules = scenario.scenario.rules ?? parseRules({});
  return {
    by,
    scenario,
    async run(chosen, { seed, signal: stop, workers, durationMs, fork }) {
      const fault = chosen ?? undefined;
      const claimed = suited({ scenario: crowd, rules }, chosen).rules;
      const service = await deploy({
        rules: claimed,
        tokens,
        port: 0,
        executionDelayMs: 15,
        fault,
        seed,
        workers,
        fork,
      });
      const folder = await mkdtemp(join(tmpdir(), "spillway-matrix-"));
      try {
        const result = await load({
          scenario,
          folder,
          by,
          signal: stop,
          target: { url: service.url, tokens },
          adjustments: { seed, durationMs, rules: claimed },
        });
        stop.throwIfAborted();
        const verdict = await verify(createReadStream(result.trace));
        return {
          verdict: verdictCell(verdict, chosen?.fault.name ?? ""),
          checks: checksCell(result.checks, result.account.calls),
          failure: result.failure,
        };
      } finally {
        await service.close();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

function checksCell(
  checks: readonly { readonly name: string; readonly fails: number }[],
  answers: number,
): ChecksCell {
  const failed = checks.filter(({ fails }) => fails > 0).sort((a, b) => b.fails - a.fails);
  return {
    caught: failed.length > 0,
    answers,
    failed: Object.fromEntries(failed.map(({ name, fails }) => [name, fails])),
  };
}

/** A token for each seat; the organization of populations that name none comes first. */
function tokensFor({ scenario }: LoadedScenario): Token[] {
  return seatsOf(scenario, seatingOf(scenario, null))
    .flat()
    .map(({ organization, user }) => ({
      token: randomUUID(),
      user,
      organization,
      scopes: tokenScopes,
    }));
}
