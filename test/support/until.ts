// Waits for what another process does; the test's own time-out bounds the wait.

/** Repeats a question until the answer is neither `false` nor an error. */
export async function until(ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const answer = await ask().catch(() => false);
    if (answer !== false) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
