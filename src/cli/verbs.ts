// The verbs, in help's order. A command loads its own verb alone, and a verb loads what it needs when it runs: loading
// all verbs takes a fifth of a start's time.
import type { Verb } from "./verb.ts";

const modules: Readonly<Record<string, () => Promise<{ readonly verb: Verb }>>> = {
  demo: () => import("./demo.ts"),
  check: () => import("./check.ts"),
  simulate: () => import("./simulate.ts"),
  swarm: () => import("./swarm.ts"),
  plan: () => import("./plan.ts"),
  replay: () => import("./replay.ts"),
  fit: () => import("./fit.ts"),
  serve: () => import("./serve.ts"),
  load: () => import("./load.ts"),
  bundle: () => import("./bundle.ts"),
  verify: () => import("./verify.ts"),
  audit: () => import("./audit.ts"),
  probe: () => import("./probe.ts"),
  status: () => import("./status.ts"),
  report: () => import("./report.ts"),
  scenarios: () => import("./scenarios.ts"),
  policy: () => import("./policy.ts"),
  map: () => import("./map.ts"),
  figures: () => import("./figures.ts"),
  init: () => import("./init.ts"),
  doctor: () => import("./doctor.ts"),
  completion: () => import("./completion.ts"),
};

/** Loads a verb by its name. @returns `null` if no verb has this name */
export async function verbNamed(name: string): Promise<Verb | null> {
  return Object.hasOwn(modules, name) ? ((await modules[name]?.())?.verb ?? null) : null;
}

export async function allVerbs(): Promise<Verb[]> {
  const loaded = await Promise.all(Object.values(modules).map((load) => load()));
  return loaded.map(({ verb }) => verb);
}
