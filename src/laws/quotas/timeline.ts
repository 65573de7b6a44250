// Writes a counterexample under a policy as text for people.
import type { FixedWindow } from "../../policy/policy.ts";
import { rendered } from "../drawing.ts";
import { type OverlapDrawing, renderedInterleaving } from "../interleavings-text.ts";
import { type LineTexts, linesOf } from "../lines.ts";
import { looksOf } from "../looks.ts";
import type { InterleavingReport } from "../overlaps.ts";
import type { LawReport } from "../report.ts";
import type { Look, QuotaKey, QuotasKind, Sight } from "../sight.ts";
import type { CallerAttributes, QuotaEvent } from "./script.ts";

const lineTexts: LineTexts = {
  call: (look, times) => [opText(look.event) + (times > 1 ? ` x${times}` : ""), answerText(look)],
  windowOf: (sight) => `the window of ${countText(sight)}`,
  isTaken: true,
};

const drawing: OverlapDrawing<QuotasKind> = {
  rules({ script, history }) {
    const lines = new Map<string, string>();
    for (const { sights } of looksOf(script, history))
      for (const sight of sights) lines.set(sight.name, `rule: ${countText(sight)}: ${limitText(sight)}`);
    return [...lines.values()];
  },
  timeline(script, history, startMs, violation) {
    const breach = violation && { ...violation, whose: drawing.whose(violation, script) };
    return linesOf(script, history, startMs, breach, lineTexts);
  },
  texts(script, history) {
    const looks = new Map(looksOf(script, history).map((look) => [look.event, look]));
    // The timeline already numbers the calls of an overlap.
    return (event) => [opText(event).replace(/ \(call \d+\)$/, ""), answerText(looks.get(event) as Look)];
  },
  whose: ({ window }) => (window === null ? null : countText(window)),
};

/** Returns a violated law with its counterexample, or a limiter's failure, as lines of text; else no lines. */
export const renderQuotaCounterexample = (report: LawReport<QuotasKind>): string[] =>
  rendered(report, drawing);

/** Returns overlapping calls that no order explains, or a limiter's failure, as lines of text; else no lines. */
export const renderQuotaInterleaving = (report: InterleavingReport<QuotasKind>): string[] =>
  renderedInterleaving(report, drawing);

const whoText = (caller: CallerAttributes): string => Object.values(caller).join("/");

/** Returns text like `core of user-1`, or `global` for a quota that all callers share. */
function countText({ quota, key }: QuotaKey): string {
  const who = whoText(key);
  return who === "" ? quota : `${quota} of ${who}`;
}

function limitText({ rule: { algorithm }, limit, lengthMs }: Sight): string {
  if (algorithm.kind === "fixed-window") return windowText(algorithm, limit);
  if (algorithm.kind !== "token-bucket") return `${limit} per ${lengthMs / 1000} s`;
  const { amount, everyMs } = algorithm.refill;
  return `a bucket of ${limit}, ${amount} back in each ${everyMs / 1000} s`;
}

/** Writes a limit with the place of its windows in time. */
function windowText({ anchor, windowSeconds }: FixedWindow, limit: number): string {
  const text = `${limit} per ${windowSeconds} s`;
  if (anchor === "first-request") return `${text} from the first call on`;
  if (anchor === "epoch") return `${text} of Unix time`;
  return "calendar" in anchor
    ? `${limit} per ${anchor.calendar} from 00:00 in ${anchor.zone}`
    : `${text} of Unix time, moved by ${anchor.offsetMs / 1000} s`;
}

function opText({ op }: QuotaEvent): string {
  switch (op.do) {
    case "call": {
      const who = whoText(op.caller);
      return `${op.operation}${op.cost === 1 ? "" : ` ${op.cost}`}${who === "" ? "" : ` by ${who}`} (call ${op.id})`;
    }
    case "settle":
      return `call ${op.id} completes, actual ${op.actual}`;
    case "status":
      return `status of ${whoText(op.caller)}`;
    case "enforce":
      return `${op.quota} of ${whoText(op.caller)}: enforced = ${op.enforced}`;
    case "sweep":
      return "sweep";
    case "snapshot":
      return "stored and restored";
  }
}

function answerText({ event, sights }: Look): string {
  const said = "admitted" in event ? (event.admitted ? "admitted " : refusedText(event.refusedBy)) : "";
  const shown = sights.flatMap(({ quota, shown: [one] }) => {
    if (one === undefined) return [];
    const left = one.remaining ?? "?";
    return [`${quota} ${left} of ${one.limit ?? "?"} left${resetText(one.by, one.reset, event.op.atMs)}`];
  });
  return [said, shown.join(", ")].filter((text) => text !== "").join(" ");
}

const refusedText = (by: string | null | undefined): string => `REFUSED${by ? ` by ${by}` : ""}`;

/** Bound that tells two forms of a reset apart, ms: from here on an instant since the epoch, below it a wait. */
const epochMs = 1_000_000_000_000;

function resetText(by: "said" | "answer", reset: number | null, nowMs: number): string {
  if (reset === null) return "";
  const after = by === "said" || reset >= epochMs ? reset - nowMs : reset;
  return `, reset ${after / 1000} s`;
}
