/** One breach of a rule: where it is, which rule, and what to do about it. */
export type Fault = { path: string; line: number; rule: string; message: string }

export const formatFault = (fault: Fault) => `${fault.path}:${fault.line} ${fault.rule} — ${fault.message}`

export const byPlace = (a: Fault, b: Fault) =>
  a.path === b.path ? a.line - b.line || a.rule.localeCompare(b.rule) : a.path.localeCompare(b.path)
