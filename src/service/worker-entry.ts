// The process of a worker (`worker.ts`): the entry that the team starts.
import { beWorker } from "./worker.ts";

beWorker(process);
