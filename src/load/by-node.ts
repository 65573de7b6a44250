// A run by Node itself: no other program, the same clients, checks and trace.
import { dirname } from "node:path";
import { makeFolder } from "../files/whole-file.ts";
import { seatCallers } from "./callers.ts";
import type { Driven, DriverRun } from "./driver.ts";
import type { Lateness } from "./node/lateness.ts";
import { runByNode } from "./node/run.ts";
import { accountNotes, silenceOf } from "./outcome.ts";
import { unwritable } from "./trace-file.ts";

/** A run by Node. */
export interface DrivenByNode extends Driven {
  readonly driver: "node";
  readonly lateness: Lateness;
}

/** @throws SpillwayError `FILE_UNWRITABLE` */
export async function runInNode(run: DriverRun): Promise<DrivenByNode> {
  const { plan, base, isShared, timeoutMs, trace, head, signal, onProgress } = run;
  const { scenario, tokens, graphql } = plan;
  const settings = {
    scenario,
    shared: isShared,
    callers: seatCallers(scenario, tokens),
    base,
    graphqlUrl: graphql?.base ?? `${base}/v1/graphql`,
  };
  const connection = { tls: run.tls, proxy: run.proxy };
  try {
    await makeFolder(dirname(trace));
    const outcome = await runByNode({ ...connection, settings, timeoutMs, trace, head, signal, onProgress });
    const { account, checks, lateness, traceFailure } = outcome;
    const interrupted = signal?.aborted === true;
    return {
      driver: "node",
      lateness,
      account,
      endedAt: Date.now(),
      checks,
      crossed: [],
      interrupted,
      failure: traceFailure ?? (interrupted ? null : silenceOf(account)),
      notes: accountNotes(account, checks),
    };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall === undefined) throw cause;
    throw unwritable(trace, cause);
  }
}
