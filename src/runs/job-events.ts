// Work that tells events by calling a function, as a stream of events and a result.

/** Hands over an event; resolves when it has been taken. */
export type Tell<Event> = (event: Event) => Promise<void>;

/**
 * Runs work, and yields the events that it tells.
 * @returns what the work returns
 * @throws what the work throws, once all earlier events have been taken
 */
export async function* eventsOf<Event, Result>(
  work: (tell: Tell<Event>) => Promise<Result>,
): AsyncGenerator<Event, Result, undefined> {
  const told: { readonly event: Event; readonly taken: () => void }[] = [];
  let isOver = false;
  let wake = (): void => undefined;
  const tell = (event: Event): Promise<void> =>
    new Promise((taken) => {
      told.push({ event, taken });
      wake();
    });
  const result = work(tell).finally(() => {
    isOver = true;
    wake();
  });
  // A listener that stops before the end does not learn how the work ended.
  result.catch(() => undefined);
  for (;;) {
    const next = told.shift();
    if (next !== undefined) {
      yield next.event;
      next.taken();
    } else if (isOver) return await result;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}

/** Shows each event of a stream, and returns its result. */
export async function resultOf<Event, Result>(
  events: AsyncGenerator<Event, Result, undefined>,
  show: (event: Event) => void,
): Promise<Result> {
  for (;;) {
    const next = await events.next();
    if (next.done === true) return next.value;
    show(next.value);
  }
}
