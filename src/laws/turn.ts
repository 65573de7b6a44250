// One turn of the event loop, without a timer. The runtime frees what a WeakRef has named only between two turns, and
// a check of a limiter that never waits for anything outside takes no turn.

/** Waits for the next turn of the event loop. */
export async function nextTurn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((resolve) => {
    port2.once("message", resolve);
    port1.postMessage(null);
  });
  port1.close();
}
