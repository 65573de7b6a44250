// Restores the real clock after each file: a worker's files share it, and a file that fakes it may not restore it.
import { afterAll, vi } from "vitest";

afterAll(() => void vi.useRealTimers());
