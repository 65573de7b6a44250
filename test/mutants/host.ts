// Runs test files in a process that stays, by vitest's own runner: only what depends on a mutant is evaluated anew. The
// bench tells it what to run, and ends it where a mutant loops for ever.
import { takeCoverage } from "node:v8";
import { type SerializedConfig, TestRunner } from "vitest";
import { startTests } from "vitest/internal/browser";
import { createVitest } from "vitest/node";
import { VitestSnapshotEnvironment } from "vitest/runtime";
import { Modules } from "./modules.ts";

/** A test file to run until a test fails. Paths are relative to the workshop. */
export interface Order {
  readonly test: string;
  /** The mutant's file and those that import it, directly or not. */
  readonly changed: readonly string[];
}

export interface Outcome {
  readonly ms: number;
  /** Title of the first test that failed, or what is wrong with the file; `null` where all passed. */
  readonly failed: string | null;
}

type Test = Parameters<TestRunner["onAfterRunTask"]>[0];

/** Vitest's runner; a file's other tests are left out as soon as one failed. */
class Runner extends TestRunner {
  readonly #modules: Modules;
  failed: string | null = null;

  constructor(config: SerializedConfig, modules: Modules) {
    super(config);
    this.#modules = modules;
    this.__setTraces({
      $: (_name: string, attributes: unknown, work = attributes) => (work as () => unknown)(),
    } as never);
  }

  override async importFile(file: string): Promise<void> {
    this.#modules.forget([file]);
    await this.#modules.import(file);
  }

  override onAfterRunTask(test: Test): void {
    super.onAfterRunTask(test);
    if (test.result?.state === "fail") this.fail(test.fullName);
  }

  fail(what: string): void {
    this.failed ??= what;
    this.cancel("test-failure");
  }
}

/** Runs orders until the bench ends this process. @param args the workshop, an absolute path */
export async function run([root = ""]: string[]): Promise<void> {
  const config = await configOf(root);
  const isCovered = process.env["NODE_V8_COVERAGE"] !== undefined;
  const modules = new Modules(root);
  let runner: Runner | null = null;
  const end = (error: unknown): void => {
    console.error(error);
    process.kill(-process.pid, "SIGKILL");
  };
  for (const event of ["uncaughtException", "unhandledRejection"] as const)
    process.on(event, (error: unknown) => {
      if (runner === null) end(error);
      runner?.fail(String(error));
    });
  process.exit = (code) => {
    throw new Error(`process.exit was called with ${code}`);
  };
  const play = async (file: string, kept: Modules): Promise<Outcome> => {
    const startedMs = performance.now();
    provideState(config, file);
    runner = new Runner(config, kept);
    const [module] = await startTests([file], runner);
    if (module?.result?.state !== "pass")
      runner.fail(module?.result?.errors?.[0]?.message ?? "a hook failed");
    const { failed } = runner;
    runner = null;
    return { ms: performance.now() - startedMs, failed };
  };
  const follow = async ({ test, changed }: Order): Promise<void> => {
    const files = changed.map((path) => modules.fileOf(path));
    modules.forget(files);
    // A test file that runs code for the first time counts it: nothing is kept for it.
    const outcome = await play(`${root}/${test}`, isCovered ? new Modules(root) : modules);
    if (isCovered) takeCoverage();
    modules.forget(files);
    modules.forgetUnfinished();
    process.send?.(outcome);
  };
  // Without a bench nobody would end this group.
  process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
  process.on("message", (order: Order) => follow(order).catch(end));
  process.send?.("ready");
  await new Promise<never>(() => {});
}

/** The configuration of the workshop's tests. */
async function configOf(root: string): Promise<SerializedConfig> {
  const vitest = await createVitest(
    "test",
    { root, config: `${root}/test/vitest.config.ts`, project: ["pure"], watch: false, globalSetup: [] },
    { cacheDir: `${root}/.vite` },
  );
  const [project] = vitest.projects;
  if (project === undefined) throw new RangeError("there is no project");
  const config = project.serializedConfig;
  await vitest.close();
  Object.assign(process.env, config.env);
  config.snapshotOptions.updateSnapshot = "none";
  config.snapshotOptions.snapshotEnvironment = new VitestSnapshotEnvironment();
  return config;
}

/** Sets what vitest's own workers would know. */
function provideState(config: SerializedConfig, filepath: string): void {
  Object.assign(globalThis, {
    __vitest_worker__: {
      config,
      filepath,
      onCleanup: () => {},
      ctx: { pool: "forks" },
      environment: { name: "node" },
      providedContext: {},
      metaEnv: process.env,
      evaluatedModules: { idToModuleMap: new Map() },
      resolvingModules: new Set(),
      rpc: { snapshotSaved: () => {}, resolveSnapshotPath: (path: string) => `${path}.snap` },
    },
  });
}
