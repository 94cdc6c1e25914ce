import type { Expression, TSType } from 'oxc-parser'
import { Visitor } from 'oxc-parser'
import type { Fault } from './fault.ts'
import type { SourceFile } from './source-file.ts'

const reason = /\bsafe because\b/
// The reason stands on the line of the cast or right above its statement, which may span a few lines.
const reasonDistanceLines = 3

/** A cast through unknown silences every check; any other cast says in a comment why it is safe. */
export function castFaults({ path, parsed, lineAt }: SourceFile): Fault[] {
  const faults: Fault[] = []
  const reasonLines = parsed.comments
    .filter((comment) => reason.test(comment.value))
    .map((comment) => lineAt(comment.end))
  const inner = new Set<object>()
  const visit = (node: { start: number; expression: Expression; typeAnnotation: TSType }): void => {
    if (inner.has(node)) return
    const at = { path, line: lineAt(node.start) }
    if (isCast(node.expression) && isOpen(node.expression.typeAnnotation)) {
      inner.add(node.expression)
      faults.push({
        ...at,
        rule: 'double-cast',
        message: 'casts through unknown, which turns the type check off: parse or narrow the value',
      })
      return
    }
    if (isTrivial(node.typeAnnotation) || path.endsWith('.test.ts')) return
    // An inner cast may begin far above: what counts is where its type is written.
    const line = lineAt(node.typeAnnotation.start)
    const explained = reasonLines.some(
      (one) => one <= line && one >= Math.min(at.line, line) - reasonDistanceLines,
    )
    if (!explained) {
      faults.push({
        ...at,
        rule: 'cast-reason',
        message: 'casts without saying why it holds: put "// safe because …" above it, or narrow',
      })
    }
  }
  new Visitor({ TSAsExpression: visit, TSTypeAssertion: visit }).visit(parsed.program)
  return faults
}

function isCast(node: Expression) {
  return node.type === 'TSAsExpression' || node.type === 'TSTypeAssertion'
}

const isOpen = (type: TSType) =>
  type.type === 'TSUnknownKeyword' || type.type === 'TSAnyKeyword' || type.type === 'TSNeverKeyword'

/** `as const` and `as unknown` claim nothing. */
function isTrivial(type: TSType): boolean {
  if (type.type === 'TSUnknownKeyword') return true
  return (
    type.type === 'TSTypeReference' && type.typeName.type === 'Identifier' && type.typeName.name === 'const'
  )
}
