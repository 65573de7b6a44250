// Keys that name members of every JavaScript object, such as `constructor`. A store that is a plain object finds the
// member where it looks for a count. Such a limiter may throw, answer NaN, or write into objects that all code shares.
import type { LimiterFactory } from "../engine/adapter.ts";
import { failureIn, LimiterFailure } from "../engine/limiter-failure.ts";
import { claimsOf } from "../rules/algorithms.ts";
import { quote } from "../rules/errors.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { History, HistoryEvent } from "./history.ts";
import type { Judgement } from "./law.ts";
import { PlayFailure } from "./player.ts";
import { keyOf, type Op, type Script } from "./script.ts";

/** Returns an operation's key if it names such a member; else `null`. */
function memberNameOf(op: Op): string | null {
  const key = "user" in op ? keyOf(op) : "";
  return key in {} ? key : null;
}

/** Returns the first key of a script, for a limiter by key, that names such a member; `null` if none does. */
export const memberNameIn = ({ keyed, ops }: Pick<Script, "keyed" | "ops">): string | null =>
  keyed === true ? (ops.map(memberNameOf).find((key) => key !== null) ?? null) : null;

/** Says what is wrong with a store that such a key harms. */
export const memberNote = (key: string): string =>
  `${quote(key)} is a member of every JavaScript object: a store that is a plain object takes it for a count; keep counts in a Map, or in Object.create(null)`;

const plainlyNamed = (script: Script): Script => ({
  ...script,
  ops: script.ops.map((op) =>
    memberNameOf(op) !== null && "user" in op ? { ...op, user: `${op.user}-1` } : op,
  ),
});

/** `Object.prototype` and its members that are objects, each with its own members. */
const shared = [Object.prototype, ...Object.getOwnPropertyNames(Object.prototype)]
  .map((one) =>
    typeof one === "string" ? Object.getOwnPropertyDescriptor(Object.prototype, one)?.value : one,
  )
  .filter((one) => one !== undefined)
  .map((object: object) => ({ object, own: new Set(Reflect.ownKeys(object)) }));

/** Removes members that a limiter left in shared objects. Returns their names. */
function swept(): string[] {
  const names: string[] = [];
  for (const { object, own } of shared)
    for (const name of Reflect.ownKeys(object))
      if (!own.has(name) && Reflect.deleteProperty(object, name)) names.push(String(name));
  return names;
}

type Play = () => Promise<History>;

/**
 * Judges a script by a law. Where a limiter by key fails by such a key alone, `isolated` is broken, and every other law
 * judges the script under another name.
 * @param judge judges a script, and lets each play be made by `playing`
 */
export async function judgeDespiteNames(
  factory: LimiterFactory,
  law: LimiterLawName,
  script: Script,
  judge: (script: Script, playing: (play: Play) => Promise<History>) => Promise<Judgement>,
): Promise<Judgement> {
  if (memberNameIn(script) === null) return judge(script, (play) => play());
  try {
    return await judge(script, unpolluted);
  } catch (error) {
    const failure = failureIn(error);
    if (failure.hung || failure.ended || !claimsOf(factory).includes("isolated")) throw error;
    const plain = await judge(plainlyNamed(script), unpolluted);
    return law === "isolated" && failure instanceof PlayFailure ? broken(failure) : plain;
  }
}

/**
 * Returns a play's history, and takes back what the limiter left in shared objects.
 * @throws PlayFailure if it failed, or left anything
 */
async function unpolluted(play: Play): Promise<History> {
  let history: History = [];
  let names: readonly string[] = [];
  try {
    history = await play();
  } finally {
    names = swept();
  }
  const at = history.findIndex(({ op }) => memberNameOf(op) !== null);
  const op = history[at]?.op;
  if (names.length === 0 || op === undefined) return history;
  const got = `a member ${quote(names[0])} of an object that all code shares`;
  throw new PlayFailure(new LimiterFailure("consume", got, "none"), history.slice(0, at), op);
}

/** Returns the judgement that a limiter fails by a key's name. */
function broken({ history, op, got }: PlayFailure): Judgement {
  const events = history as History;
  const key = memberNameIn({ keyed: true, ops: [...events.map((event) => event.op), op as Op] });
  return {
    // The call that failed has no answer.
    history: [...events, { op } as HistoryEvent],
    judged: 1,
    violation: {
      at: history.length,
      window: null,
      expected: "an answer, as for any other key",
      got,
      arithmetic: memberNote(key ?? ""),
    },
  };
}
