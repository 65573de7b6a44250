// The audit against one fault, or against a right deployment in its place: in windows of five and eight seconds.
import { type ChosenFault, faultText } from "../../src/faults/choice.ts";
import { audited, deployed } from "../audit/deployment.ts";

/** Findings of an audit. */
export interface AuditCell {
  readonly caught: boolean;
  /** The experiment that found something first, and the law that it names. */
  readonly experiment: string | null;
  readonly law: string | null;
  readonly calls: number;
  readonly experiments: number;
}

/** Audits a deployment that has this fault; a right one for `null`. */
export async function auditCell(chosen: ChosenFault | null, signal: AbortSignal): Promise<AuditCell> {
  const { serving, rules } = await deployed(chosen === null ? null : faultText(chosen));
  try {
    const { result } = await audited(serving.url, rules, { maxMs: 120_000, signal });
    const [first] = result.rows.flatMap(({ name, broken }) => broken.map(({ law }) => ({ name, law })));
    return {
      caught: first !== undefined,
      experiment: first?.name ?? null,
      law: first?.law ?? null,
      calls: result.calls,
      experiments: result.rows.length,
    };
  } finally {
    await serving.close();
  }
}
