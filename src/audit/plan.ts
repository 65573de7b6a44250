// The plan of an audit: which experiment is possible with which operation, what it spends, and how long it takes.
import type { LimiterLawName } from "../rules/laws.ts";
import { emptiedOf, emptyingCalls, restMs } from "./emptied.ts";
import type { Experiment } from "./experiment.ts";
import type { Lab } from "./lab.ts";
import { slice } from "./requests.ts";
import type { Subject } from "./step.ts";

/** An experiment with one operation. */
export interface Task {
  readonly experiment: Experiment;
  readonly subject: Subject;
}

/** Tasks that run in turn, then tasks that run side by side. */
export interface Lane {
  readonly inTurn: readonly Task[];
  readonly beside: readonly Task[];
}

export const tasksOf = ({ lone, lanes }: Pick<Plan, "lone" | "lanes">): Task[] => [
  ...lone,
  ...lanes.flatMap(({ inTurn, beside }) => [...inTurn, ...beside]),
];

export interface Plan {
  /** Tasks that run alone, in turn. */
  readonly lone: readonly Task[];
  /** Lanes that run side by side: no two lanes use the same quota as the same caller. */
  readonly lanes: readonly Lane[];
  /** Tasks that the audit leaves out, with the reasons. */
  readonly left: readonly { readonly task: Task; readonly why: string }[];
  /** Rough upper bounds: calls, emptied windows, times that quotas without counts are emptied, and ms. */
  readonly calls: number;
  readonly empties: number;
  readonly rests: number;
  readonly ms: number;
}

/** Time of a call for the plan's estimate, ms. */
const callMs = 6;

/** Laws whose experiments judge answers by limits, or by lengths of windows. */
const bound = new Set<LimiterLawName>([
  "bounded",
  "honest-wait",
  "limit-agrees",
  "rate-bound",
  "recovers",
  "refusal-justified",
  "reset-agrees",
]);

const restsOnLimits = ({ law, waits = 0, empties = 0 }: Experiment): boolean =>
  waits > 0 || empties > 0 || bound.has(law);

/**
 * Packs experiments side by side.
 * @param experiments the chosen experiments, in their order
 * @param unsettled reason why limits and lengths of windows are unknown
 */
export function planAudit(
  lab: Lab,
  experiments: readonly Experiment[],
  unsettled?: string | undefined,
): Plan {
  const left: { task: Task; why: string }[] = [];
  const tasks = experiments.flatMap((experiment) =>
    lab.subjects.flatMap((subject) => {
      const task = { experiment, subject };
      const why = (restsOnLimits(experiment) ? unsettled : undefined) ?? experiment.lacks(lab, subject);
      if (why === null) return [task];
      left.push({ task, why });
      return [];
    }),
  );
  const lone = tasks.filter(({ experiment }) => experiment.isLone === true);
  // Without counts, what bounds all calls comes first: each trial of charges takes as long as a window.
  const inOrder = [true, false].flatMap((is) => tasks.filter((task) => emptiesUncounted(lab, task) === is));
  const lanes = lanesOf(lab).map((subjects) =>
    laneOf(
      inOrder.filter(({ experiment, subject }) => experiment.isLone !== true && subjects.includes(subject)),
    ),
  );
  const ms = lone.length * 12 * callMs + Math.max(0, ...lanes.map((lane) => laneMs(lab, lane)));
  const calls = tasks.reduce((sum, task) => sum + callsOf(lab, task), 0);
  const empties = lanes.reduce((sum, { inTurn }) => sum + windowsEmptied(inTurn), 0);
  const rests = tasks.reduce((sum, task) => sum + restsOf(lab, task), 0);
  return { lone, lanes, left, calls, empties, rests, ms };
}

/** Runs gentle tasks beside each other if each has callers of its own; otherwise in turn, last. */
function laneOf(tasks: readonly Task[]): Lane {
  const gentle = tasks.filter(({ experiment }) => experiment.isGentle === true);
  const rest = tasks.filter((task) => !gentle.includes(task));
  const share = Math.min(...gentle.map(({ subject }) => Math.floor(subject.callers.length / gentle.length)));
  if (gentle.length < 2 || share < 1) return { inTurn: [...rest, ...gentle], beside: [] };
  const beside = gentle.map((task, at) => {
    const callers = slice(task.subject.callers, at * share, (at + 1) * share);
    return { ...task, subject: { ...task.subject, callers } };
  });
  return { inTurn: rest, beside };
}

/** Groups the operations that share a quota and a caller. */
function lanesOf({ subjects }: Lab): Subject[][] {
  const lanes: Subject[][] = [];
  for (const subject of subjects) {
    const touched = lanes.filter((lane) =>
      lane.some(
        ({ quotas, callers }) =>
          quotas.some((name) => subject.quotas.includes(name)) &&
          callers.some(({ index }) => subject.callers.some((caller) => caller.index === index)),
      ),
    );
    const rest = lanes.filter((lane) => !touched.includes(lane));
    lanes.splice(0, lanes.length, ...rest, [...touched.flat(), subject]);
  }
  return lanes;
}

function callsOf(lab: Lab, { experiment, subject }: Task): number {
  const { calls, empties = 0 } = experiment;
  const [caller] = subject.callers;
  if (empties > 0) return calls + (lab.callsToEmpty(subject, caller) ?? 0);
  return calls + (lab.windows(subject, caller).length === 0 ? emptyingCalls(lab, subject) : 0);
}

/** Returns the number of emptied windows. Most experiments that need an empty window share one. */
const windowsEmptied = (lane: readonly Task[]): number =>
  lane.filter(({ experiment: { empties = 0, name } }) => empties > 0 && /^last-place|^broad/.test(name))
    .length;

/**
 * Returns the number of times that a quota without counts rests, and is emptied: for each trial of charges, and twice in
 * an experiment on it.
 */
function restsOf(lab: Lab, task: Task): number {
  if (emptiesUncounted(lab, task)) return 2;
  const { subject } = task;
  const isTrial = lab.windows(subject, subject.callers[0]).length === 0;
  return isTrial && emptiedOf(lab, subject) !== null ? 1 : 0;
}

/** Tells whether an experiment empties a quota without counts. */
const emptiesUncounted = (lab: Lab, { experiment, subject }: Task): boolean =>
  (experiment.empties ?? 0) > 0 && emptiedOf(lab, subject) !== null;

function laneMs(lab: Lab, { inTurn, beside }: Lane): number {
  const msOf = (task: Task): number => {
    const { experiment, subject } = task;
    const [caller] = subject.callers;
    const lengths = lab.windows(subject, caller).map((name) => lab.windowMs(name, caller));
    const windowsMs = (experiment.waits ?? 0) * Math.max(0, ...lengths);
    return callsOf(lab, task) * callMs + windowsMs + restsOf(lab, task) * restMs(emptiedOf(lab, subject));
  };
  const ms = inTurn.reduce((sum, task) => sum + msOf(task), 0) + Math.max(0, ...beside.map(msOf));
  const calls = new Map<Subject, number>();
  for (const task of [...inTurn, ...beside])
    calls.set(task.subject, (calls.get(task.subject) ?? 0) + callsOf(lab, task));
  return Math.max(ms, ...[...calls].flatMap(([subject, sum]) => roomsMs(lab, subject, sum)));
}

/** Returns the time in which each window of a subject's callers has room for `calls` plain calls. */
function roomsMs(lab: Lab, subject: Subject, calls: number): number[] {
  const [caller] = subject.callers;
  return lab.windows(subject, caller).map((name) => {
    const keys = new Set(subject.callers.map(({ attributes }) => lab.book.keyOf(name, attributes)));
    const room = Math.max(1, keys.size * lab.roomIn(subject, caller, name));
    return Math.floor(calls / room) * lab.windowMs(name, caller);
  });
}
