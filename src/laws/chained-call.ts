// A call of a store that runs later, as its caller holds it: a promise of the answer, on which further calls can be
// chained before it has run. `redis.multi().incr(key).exec()` is built in one go, and runs as one step.

/** Result of a call. In a box: a query builder has a `then`, and a promise of it would send it off. */
interface Box {
  readonly value: unknown;
}

const promiseNames: ReadonlySet<string | symbol> = new Set(["then", "catch", "finally"]);

/**
 * Makes a promise of a call's answer. Any other method of it is one of what the call gives, called once that is there.
 * @param run calls, when others have let it
 */
export function chainedCall(run: () => Promise<Box>): Promise<unknown> {
  const made = run();
  // Whoever awaits the answer is told of the error; a link that nobody awaits has others that are.
  made.catch(() => {});
  const answer = new LazyPromise(() => made.then(({ value }) => value));
  return new Proxy(answer, {
    get(target, name) {
      if (promiseNames.has(name)) return target[name as "then"].bind(target);
      if (typeof name === "symbol" || name in target) return Reflect.get(target, name, target);
      return (...args: unknown[]) =>
        chainedCall(() => made.then(({ value }) => ({ value: called(value, name, args) })));
    },
  }) as unknown as Promise<unknown>;
}

function called(value: unknown, name: string, args: readonly unknown[]): unknown {
  const member: unknown = (value as Record<string, unknown> | null | undefined)?.[name];
  if (typeof member !== "function") throw new TypeError(`${name} is no method of what the store gave`);
  return member.apply(value, args);
}

/** A promise that is made when somebody asks for it. */
class LazyPromise {
  readonly #make: () => Promise<unknown>;
  #made: Promise<unknown> | null = null;

  constructor(make: () => Promise<unknown>) {
    this.#make = make;
  }

  #promise(): Promise<unknown> {
    this.#made ??= this.#make();
    return this.#made;
  }

  // biome-ignore lint/suspicious/noThenProperty: it stands for a promise
  then(...handlers: Parameters<Promise<unknown>["then"]>): Promise<unknown> {
    return this.#promise().then(...handlers);
  }

  catch(...handlers: Parameters<Promise<unknown>["catch"]>): Promise<unknown> {
    return this.#promise().catch(...handlers);
  }

  finally(...handlers: Parameters<Promise<unknown>["finally"]>): Promise<unknown> {
    return this.#promise().finally(...handlers);
  }
}
