// One client on a table: its events are dealt by hand, its plans are laid open.
import {
  ABSENT,
  ANSWERED,
  type Behaviour,
  type ClientEvent,
  ClientOut,
  type ClientRecord,
  createEvent,
  type PlannedCall,
  type RefusalPolicy,
  STARTED,
  startRecord,
  step,
} from "../../src/scenario/client.ts";
import { none } from "../../src/scenario/retries/none.ts";

/** An answer's numbers beside the call that it answers. */
export type AnswerShown = Partial<
  Pick<
    ClientEvent,
    | "status"
    | "hasNextPage"
    | "cost"
    | "userCost"
    | "limit"
    | "remaining"
    | "reset"
    | "userLimit"
    | "userRemaining"
    | "userReset"
    | "retryAfter"
  >
>;

const nothingShown = {
  status: 200,
  hasNextPage: false,
  limit: ABSENT,
  remaining: ABSENT,
  reset: ABSENT,
  userLimit: ABSENT,
  userRemaining: ABSENT,
  userReset: ABSENT,
  retryAfter: ABSENT,
};

export class Rig {
  readonly record: ClientRecord;
  readonly #behaviour: Behaviour;
  readonly #policy: RefusalPolicy;
  readonly #event = createEvent();
  readonly #out = new ClientOut();

  constructor(behaviour: Behaviour, policy: RefusalPolicy = none(), seed = 1, index = 0, user = index) {
    this.#behaviour = behaviour;
    this.#policy = policy;
    this.record = startRecord(behaviour, seed, 0, index, user);
  }

  get stopped(): boolean {
    return this.#out.stopped;
  }

  /** @param endMs end of the client's time */
  start(nowMs: number, endMs = Number.MAX_SAFE_INTEGER): PlannedCall[] {
    Object.assign(this.#event, createEvent(), { kind: STARTED, nowMs, endMs });
    return this.#step();
  }

  answer(call: PlannedCall, nowMs: number, shown: AnswerShown = {}): PlannedCall[] {
    const { template, page, attempt, wantedMs, delayMs } = call;
    const cost = this.#behaviour.calls[template]?.cost ?? 0;
    const about = { kind: ANSWERED, nowMs, template, page, attempt, wantedMs, delayMs, cost, userCost: cost };
    Object.assign(this.#event, nothingShown, about, shown);
    return this.#step();
  }

  /** Answers what is the only call planned. */
  only(calls: readonly PlannedCall[]): PlannedCall {
    const [call, ...rest] = calls;
    if (call === undefined || rest.length > 0) throw new Error(`one call was expected, not ${calls.length}`);
    return call;
  }

  #step(): PlannedCall[] {
    step(this.#behaviour, this.#policy, this.record, this.#event, this.#out);
    return this.#out.calls.slice(0, this.#out.count).map((call) => ({ ...call }));
  }
}

/** When the calls are to be sent, in ms. */
export const times = (calls: readonly PlannedCall[]): number[] => calls.map(({ atMs }) => atMs);
