// One turn of the event loop, without a timer. What a WeakRef has named is let go of only between two turns, and a
// check whose limiter never waits for anything outside takes none.

/** Waits for the next turn of the event loop. */
export async function nextTurn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((resolve) => {
    port2.once("message", resolve);
    port1.postMessage(null);
  });
  port1.close();
}
