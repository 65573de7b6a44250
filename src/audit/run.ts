// Runs an audit: plays experiments, lane by lane, repeats broken ones, and lets the oracle judge the trace. Findings are
// kept however the audit ends.
import type { Policy } from "../policy/policy.ts";
import type { PolicyToken } from "../policy/tokens.ts";
import type { Rules } from "../rules/rules.ts";
import { type AuditResult, interruptedWhy, type Row, settledRows } from "../summary/audit-result.ts";
import type { QuotaCall, QuotaTraceHeader } from "../trace/quota-record.ts";
import { agreement } from "./agreement.ts";
import type { Experiment } from "./experiment.ts";
import { movesIdle } from "./foreign.ts";
import { Lab } from "./lab.ts";
import { type Lane, type Plan, planAudit, type Task, tasksOf } from "./plan.ts";
import { preflight, type Served } from "./preflight.ts";
import { AuditRecord } from "./record.ts";
import { type FoundBroken, rowsOf, withEarlier } from "./rows.ts";
import {
  type AuditCallers,
  type AuditFinding,
  type Broken,
  Unexercised,
  unexercised,
  windowRolled,
} from "./step.ts";
import { type AuditClock, type AuditWires, Ended, StepPlayer, wallClock } from "./step-player.ts";
import { Wires, type WiresOptions } from "./wires.ts";

export interface AuditOptions extends Omit<WiresOptions, "tokens" | "auth"> {
  readonly policy: Policy;
  /** The same limits as rules of version 1; `null` if rules cannot express them. */
  readonly rules: Rules | null;
  readonly tokens: readonly PolicyToken[];
  readonly experiments: readonly Experiment[];
  readonly alone: boolean;
  /** Share of each window that the audit may use, at most 1. */
  readonly spend: number;
  /** Longest time of the audit, ms. */
  readonly maxMs: number;
  readonly assumptions?: readonly string[] | undefined;
  /** Reason why limits and lengths of windows are unknown, and so nothing is judged by them. */
  readonly unsettled?: string | undefined;
  /** The command that repeats the audit, and the file of its trace, for lines that repeat a finding. */
  readonly again?: string | undefined;
  readonly traceFile?: string | undefined;
  /** The interrupted audit to resume. */
  readonly earlier?: Earlier | undefined;
  /** Parts that make calls and tell the time. Default: sockets and the wall clock. */
  readonly wires?: AuditWires | undefined;
  readonly clock?: AuditClock | undefined;
  readonly onPlan?: ((plan: Plan, lab: Lab) => void) | undefined;
  readonly onProgress?: ((doing: string, done: number, tasks: number) => void) | undefined;
  readonly onFinding?: ((task: Task, finding: AuditFinding) => void) | undefined;
}

/** An interrupted audit: its findings stay, and its trace goes on. */
export interface Earlier {
  readonly result: AuditResult;
  readonly header: QuotaTraceHeader;
  readonly calls: readonly QuotaCall[];
}

export interface Audited {
  readonly result: AuditResult;
  /** The trace of version 2. */
  readonly trace: string;
}

const triesMost = 3;
const callersMost = 24;

/** Chooses callers: the first organization's, at least three of others, and more of these while there is room. */
function chosen(tokens: readonly PolicyToken[]): PolicyToken[] {
  const groups = new Map<string, PolicyToken[]>();
  for (const token of tokens) {
    const [first = ""] = Object.values(token.attributes);
    groups.set(first, [...(groups.get(first) ?? []), token]);
  }
  const [main = [], ...others] = [...groups.values()];
  const rest = others.flatMap((group) => group.slice(0, 3));
  const beside = rest.slice(0, Math.max(3, callersMost - main.length));
  const more = others.flatMap((group) => group.slice(3));
  return [...main.slice(0, callersMost - beside.length), ...beside, ...more].slice(0, callersMost);
}

/**
 * Runs an audit, and returns its result.
 * @throws SpillwayError `TARGET_UNREACHABLE` if there is no such API, or it serves none of the callers
 */
export async function audit(options: AuditOptions): Promise<Audited> {
  const running = new Audit(options, chosen(options.tokens), []);
  const { callers, notes } = await running.greet();
  if (notes.length === 0) return running.run();
  const tokens = chosen(options.tokens).filter((_, index) =>
    callers.some((caller) => caller.index === index),
  );
  return new Audit(options, tokens, notes).run();
}

/** Returns what an audit would do, without making a call. */
export function planned(options: AuditOptions): { readonly plan: Plan; readonly lab: Lab } {
  const { lab } = new Audit(options, chosen(options.tokens), []);
  return { plan: planAudit(lab, options.experiments, options.unsettled), lab };
}

class Audit {
  readonly lab: Lab;
  readonly #options: AuditOptions;
  readonly #wires: AuditWires;
  readonly #clock: AuditClock;
  readonly #record: AuditRecord;
  readonly #player: StepPlayer;
  readonly #found: FoundBroken[] = [];
  readonly #beganAt: number;
  #done = 0;
  #tasks = 0;

  constructor(options: AuditOptions, tokens: readonly PolicyToken[], notes: readonly string[]) {
    const { policy, alone, spend, target, maxMs, rules, assumptions = [], earlier } = options;
    this.#options = { ...options, assumptions: [...assumptions, ...notes] };
    this.#clock = options.clock ?? wallClock;
    this.#beganAt = this.#clock.now();
    const callers = tokens.map(({ attributes }, index) => ({
      index,
      name: Object.values(attributes).join("/"),
      attributes,
    }));
    const secrets = tokens.map(({ token }) => token);
    this.lab = new Lab({
      policy,
      callers: callers as unknown as AuditCallers,
      alone,
      spend,
      isTls: target.origin.startsWith("https:"),
      beganMs: this.#beganAt,
      untilMs: this.#beganAt + maxMs,
    });
    this.#wires = options.wires ?? new Wires({ ...options, auth: policy.auth, tokens: secrets });
    this.#record = new AuditRecord(
      {
        format: "spillway-trace",
        version: 2,
        source: "other",
        scenario: "audit",
        seed: null,
        target: target.origin,
        startedAt: earlier?.header.startedAt ?? this.#beganAt,
        clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
        policy,
        complete: alone && earlier?.header.complete !== false,
        lost: earlier?.header.lost ?? 0,
      },
      secrets,
      rules !== null,
      earlier?.calls ?? [],
    );
    this.#player = new StepPlayer({
      lab: this.lab,
      wires: this.#wires,
      clock: this.#clock,
      record: this.#record,
      signal: options.signal,
    });
  }

  /** Finds out which callers are served. */
  async greet(): Promise<Served> {
    try {
      const served = await preflight(this.lab, this.#wires, this.#options.target.base, (shot, raw) =>
        this.#player.hear(shot, raw),
      );
      if (served.notes.length > 0) await this.#wires.close();
      return served;
    } catch (error) {
      await this.#wires.close();
      throw error;
    }
  }

  async run(): Promise<Audited> {
    const { onPlan } = this.#options;
    const plan = planAudit(this.lab, this.#experiments, this.#options.unsettled);
    onPlan?.(plan, this.lab);
    this.#tasks = tasksOf(plan).length;
    for (const { task, why } of plan.left)
      this.#found.push({ task, finding: unexercised(why), isRepeated: false });
    try {
      for (const task of plan.lone) await this.#task(task);
      const lanes = plan.lanes.map((lane) => this.#lane(lane));
      // All lanes end together: none goes on while the trace is judged.
      await Promise.allSettled(lanes);
      await Promise.all(lanes);
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
    } finally {
      await this.#wires.close();
    }
    return this.#conclude(plan);
  }

  async #lane({ inTurn, beside }: Lane): Promise<void> {
    for (const task of inTurn) await this.#task(task);
    const tasks = beside.map((task) => this.#task(task));
    await Promise.allSettled(tasks);
    await Promise.all(tasks);
  }

  get #experiments(): readonly Experiment[] {
    const names = new Set(this.#known.map(({ name }) => name));
    return this.#options.experiments.filter(({ name }) => !names.has(name));
  }

  /** Returns rows that stand, whose experiments are not made again. */
  get #known(): readonly Row[] {
    const { earlier } = this.#options;
    return earlier === undefined ? [] : settledRows(earlier.result);
  }

  /** Runs a task, tries again if its window rolled, and repeats it once if it found something. */
  async #task(task: Task): Promise<void> {
    this.#options.onProgress?.(`${task.experiment.name}, ${task.subject.operation}`, this.#done, this.#tasks);
    this.#done += 1;
    let finding = this.lab.isOver(this.#clock.now()) ? unexercised("no time is left") : await this.#try(task);
    let isRepeated = false;
    if (finding.state === "broken") {
      const first = finding;
      const second = await this.#try(task);
      isRepeated = second.state === "broken";
      finding = second.state === "broken" && second.answers.length < first.answers.length ? second : first;
      if (!this.lab.alone && isRepeated && (await this.#isForeign(task, first)))
        finding = unexercised("somebody else uses these quotas: --alone says that nobody does");
    }
    this.#options.onFinding?.(task, finding);
    this.#found.push({ task, finding, isRepeated });
  }

  async #try(task: Task): Promise<AuditFinding> {
    let why = "";
    for (let attempt = 0; attempt < triesMost; attempt++) {
      try {
        const finding = await this.#player.play(task.experiment.run(this.lab, task.subject));
        if (finding.state !== "not exercised" || finding.why !== windowRolled) return finding;
        why = finding.why;
      } catch (error) {
        if (!(error instanceof Unexercised)) throw error;
        why = error.message;
        if (!error.again) break;
      }
    }
    return unexercised(why);
  }

  /** Tells whether a count moves while this audit makes no call. */
  async #isForeign({ subject }: Task, { answers }: Broken): Promise<boolean> {
    const caller = answers.at(-1)?.shot.caller ?? subject.callers[0];
    try {
      return await this.#player.play(movesIdle(this.lab, subject, caller));
    } catch (error) {
      if (error instanceof Unexercised) return false;
      throw error;
    }
  }

  async #conclude(plan: Plan): Promise<Audited> {
    const { policy, rules, alone, target, assumptions = [], earlier, unsettled } = this.#options;
    const { again = `npx spillway audit --target ${target.base} --tokens FILE -y` } = this.#options;
    const { traceFile: trace = "trace.ndjson" } = this.#options;
    const tasks = tasksOf(plan);
    const made = new Set(this.#found.map(({ task }) => task));
    const { answers, isInterrupted, stopped } = this.#player;
    const why = isInterrupted ? interruptedWhy : `${interruptedWhy}: ${stopped}`;
    for (const task of tasks)
      if (!made.has(task)) this.#found.push({ task, finding: unexercised(why), isRepeated: false });
    // A judgement of all answers, whichever experiment made them.
    for (const experiment of new Set(tasks.map(({ experiment }) => experiment))) {
      const finding = experiment.judge?.(this.lab, answers);
      const task = tasks.find((each) => each.experiment === experiment);
      if (finding?.state !== "broken" || task === undefined) continue;
      const isKnown = this.#found.some(
        ({ task: { experiment: of }, finding: known }) =>
          of === experiment && known.state === "broken" && known.got === finding.got,
      );
      if (!isKnown) this.#found.push({ task, finding, isRepeated: true });
    }
    const judged = await agreement(this.#record, rules, unsettled);
    const ended = isInterrupted ? "interrupted" : stopped === null ? "whole" : { stopped };
    const result: AuditResult = {
      format: "spillway-audit",
      version: 1,
      target: target.base,
      policy: policy.name,
      startedAt: this.#record.header.startedAt,
      endedAt: this.#clock.now(),
      calls: this.#record.calls.length,
      alone,
      assumptions,
      unsettled,
      ended,
      rows: withEarlier(
        [
          ...this.#known,
          ...rowsOf(this.#found, this.#experiments, judged, { target: target.base, policy, again, trace }),
        ],
        earlier?.result.rows ?? [],
      ),
      verdict: judged.shown,
    };
    return { result, trace: this.#record.text() };
  }
}
