// Vitest in a process of its own that stays: tests are transformed once, and a mutant costs a worker. The bench tells
// it what to run, and ends it where a mutant loops for ever.
import { relative } from "node:path";
import { createVitest, type TestModule, type TestSequencer, type TestSpecification } from "vitest/node";

/** Test files to run until one fails, in a worker that has loaded nothing. Paths are relative to the workshop. */
export interface Order {
  readonly tests: readonly string[];
}

export type Event =
  | { readonly kind: "ready" | "done" }
  | { readonly kind: "started"; readonly file: string }
  | {
      readonly kind: "ended";
      readonly file: string;
      readonly ms: number;
      /** Title of the first test that failed, or what is wrong with the file; `null` where all passed. */
      readonly failed: string | null;
    };

/** Keeps the order that the bench says. */
class AsOrdered implements TestSequencer {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }

  sort(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
}

/** Runs orders until the bench ends this process. @param args the workshop, an absolute path */
export async function run([root = ""]: string[]): Promise<void> {
  const say = (event: Event): void => void process.send?.(event);
  const pathOf = ({ moduleId }: TestModule): string => relative(root, moduleId).replaceAll("\\", "/");
  const vitest = await createVitest(
    "test",
    {
      root,
      config: `${root}/test/vitest.config.ts`,
      project: ["pure"],
      watch: false,
      bail: 1,
      globalSetup: [],
      sequence: { sequencer: AsOrdered },
      fileParallelism: false,
      reporters: [
        {
          onTestModuleStart: (module) => say({ kind: "started", file: pathOf(module) }),
          onTestModuleEnd(module) {
            if (module.state() === "skipped" || module.state() === "queued") return;
            const { duration, collectDuration } = module.diagnostic();
            say({
              kind: "ended",
              file: pathOf(module),
              ms: duration + collectDuration,
              failed: failureOf(module),
            });
          },
        },
      ],
    },
    { cacheDir: `${root}/.vite` },
  );
  // Without a bench nobody would end this group.
  process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
  process.on("message", ({ tests }: Order) => {
    const [project] = vitest.projects;
    if (project === undefined) throw new RangeError("there is no project");
    const specifications = tests.map((path) => project.createSpecification(`${root}/${path}`));
    vitest.runTestSpecifications(specifications).then(
      () => say({ kind: "done" }),
      (error: unknown) => {
        throw error;
      },
    );
  });
  say({ kind: "ready" });
  await new Promise<never>(() => {});
}

function failureOf(module: TestModule): string | null {
  for (const test of module.children.allTests("failed")) return test.fullName;
  const [error] = module.errors();
  if (error !== undefined) return error.message;
  return module.state() === "failed" ? "a hook failed" : null;
}
