// The world of world.ts in simjs, by its own means: each client is an entity that sets timers. Draws are ours, so that
// it counts the same but for the order of ties.
import { below, type RandomState, seedRandom } from "../../../src/scenario/random.ts";
import type { WorldCount } from "./count.ts";

const organizations = 20;
const windowMs = 60_000;
const userLimit = 50;

/** The part that is used of simjs, which has no types. */
interface SimJs {
  readonly Sim: new () => { addEntity<E>(kind: new () => E): E; simulate(endTime: number): void };
  readonly Entity: new () => {
    time(): number;
    setTimer(afterMs: number): { done(callback: () => void, context: unknown): void };
  };
}

/** It exports nothing, and hangs its names on a browser's window. */
async function loadSimJs(): Promise<SimJs> {
  const place = globalThis as { window?: { Sim?: SimJs } };
  place.window = {};
  await import("simjs");
  const { Sim } = place.window;
  delete place.window;
  if (Sim === undefined) throw new Error("simjs hangs nothing on a window");
  return Sim;
}

const { Sim, Entity } = await loadSimJs();

class Window {
  current = 0;
  resetAtMs = 0;
  readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  advance(nowMs: number): void {
    if (nowMs < this.resetAtMs) return;
    this.current = 0;
    this.resetAtMs = nowMs - (nowMs % windowMs) + windowMs;
  }

  get hasRoom(): boolean {
    return this.current < this.limit;
  }

  reset(nowMs: number): number {
    return Math.ceil((this.resetAtMs - nowMs) / 1000);
  }
}

/** Seconds to wait, as `waitReset({ of: "both" })` does. */
function waitOf(owner: Window, user: Window, nowMs: number): number {
  if (!owner.hasRoom && user.hasRoom) return owner.reset(nowMs);
  if (!user.hasRoom && owner.hasRoom) return user.reset(nowMs);
  return Math.max(owner.reset(nowMs), user.reset(nowMs));
}

const seeded = (stream: number, index: number): RandomState => {
  const random = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(random, 1, stream, index);
  return random;
};

/** @param nowMs a clock that never steps back */
export function simulatedBySimJs(clients: number, seconds: number, nowMs: () => number): WorldCount {
  const endMs = seconds * 1000;
  let [events, calls, refused] = [0, 0, 0];
  /** Data of the next entity: simjs makes entities itself. */
  let next = { owner: new Window(0), stream: 0, index: 0 };

  class Client extends Entity {
    readonly #owner = next.owner;
    readonly #user = new Window(userLimit);
    readonly #isPoller = next.stream % 2 === 0;
    readonly #own = seeded(next.stream, next.index);
    readonly #network = seeded(2 * organizations + next.stream, next.index);
    #wantedMs = 0;
    #isRefused = false;
    #waitSeconds = 0;

    /** Called by simjs when the run begins. */
    start(): void {
      this.#after(below(this.#own, this.#isPoller ? 30_000 : 10_000), this.#begin);
    }

    #after(ms: number, then: () => void): void {
      this.setTimer(ms).done(then, this);
    }

    #trip(): number {
      return 2 + below(this.#network, 7);
    }

    #begin(): void {
      events += 1;
      this.#wantedMs = this.time();
      this.#plan(this.#wantedMs);
    }

    #plan(atMs: number): void {
      if (atMs < endMs) this.#after(Math.max(0, atMs - this.time()), this.#send);
    }

    #send(): void {
      events += 1;
      this.#after(this.#trip(), this.#arrive);
    }

    #arrive(): void {
      events += 1;
      const [owner, user, now] = [this.#owner, this.#user, this.time()];
      owner.advance(now);
      user.advance(now);
      this.#isRefused = !owner.hasRoom || !user.hasRoom;
      if (this.#isRefused) this.#waitSeconds = waitOf(owner, user, now);
      else {
        owner.current += 1;
        user.current += 1;
      }
      this.#after(this.#trip(), this.#receive);
    }

    #receive(): void {
      events += 1;
      calls += 1;
      if (this.#isRefused) refused += 1;
      this.#plan(this.#nextMs());
    }

    #nextMs(): number {
      const now = this.time();
      if (this.#isRefused) return now + this.#waitSeconds * 1000 + below(this.#own, 5_001);
      if (this.#isPoller) this.#wantedMs += 30_000 * Math.max(1, Math.ceil((now - this.#wantedMs) / 30_000));
      else this.#wantedMs = now + 5_000 + below(this.#own, 10_001);
      return this.#wantedMs;
    }
  }

  const simulation = new Sim();
  const each = clients / organizations / 2;
  for (let place = 0; place < organizations; place++) {
    const owner = new Window(Math.floor(each * 7.8));
    for (const stream of [2 * place, 2 * place + 1])
      for (let index = 0; index < each; index++) {
        next = { owner, stream, index };
        simulation.addEntity(Client);
      }
  }
  const beginMs = nowMs();
  simulation.simulate(endMs + windowMs);
  return { events, calls, refused, ms: nowMs() - beginMs };
}
