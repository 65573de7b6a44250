// The real clock comes back after each file: files of one worker share it, and one that fakes it may not give it back.
import { afterAll, vi } from "vitest";

afterAll(() => void vi.useRealTimers());
