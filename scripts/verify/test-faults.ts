import type {
  Argument,
  CallExpression,
  Expression,
  ExpressionStatement,
  NewExpression,
  ObjectProperty,
  StaticImport,
} from 'oxc-parser'
import { Visitor } from 'oxc-parser'
import { isTestFile } from './architecture-table.ts'
import type { Fault } from './fault.ts'
import { literalText, memberName } from './read-module.ts'
import type { SourceFile } from './source-file.ts'

const databaseSleep = /\bpg_sleep(?:_for|_until)?\s*\(/i

const testFunctions = ['test', 'it', 'describe', 'suite']

const mend = {
  'module-mock': 'replaces a module: pass the dependency as a parameter and the real thing in the test',
  'test-only': 'runs one test and silently drops the others: remove "only"',
  'test-skip': "skips without saying why: give the reason as text, as in { skip: 'no IPv6 here' }",
  'test-todo': 'is a test that tests nothing: write it or remove it',
  'any-error':
    'is content with any error, also one of its own making: say by class, code or message which one is meant',
  sleep:
    'sleeps: wait for what must happen with waitUntil of testkit; where only time can show it, put "// sleeps because …" above',
} as const

type Report = (rule: keyof typeof mend, start: number) => void

/** What makes a test lie: mocked modules (anywhere), tests that do not run, waiting for time instead of for a thing. */
export function testFaults({ path, parsed, lineAt }: SourceFile): Fault[] {
  const faults: Fault[] = []
  const excused = parsed.comments
    .filter((comment) => /\bsleeps because\b/.test(comment.value))
    .map((comment) => lineAt(comment.end) + 1)
  const report: Report = (rule, start) => {
    const line = lineAt(start)
    if (rule !== 'sleep' || !excused.includes(line)) faults.push({ path, line, rule, message: mend[rule] })
  }
  const inTest = isTestFile(path)
  const helpsTests = inTest || /\/fixtures\//.test(path)
  const resolvers: (string | undefined)[] = []
  new Visitor({
    CallExpression: (node) => {
      if (isModuleMock(node)) report('module-mock', node.start)
      if (helpsTests && takesAnyError(node)) report('any-error', node.start)
      if (!inTest) return
      reportUnrun(node, report)
      if (resolvers.some((resolver) => isTimerFor(node, resolver))) report('sleep', node.start)
      if (callName(node) === 'promisify' && isNamed(node.arguments[0], 'setTimeout'))
        report('sleep', node.start)
    },
    ExpressionStatement: (node) => {
      if (helpsTests && isDatabaseSleep(node)) report('sleep', node.start)
    },
    NewExpression: (node) => {
      resolvers.push(resolverOf(node))
    },
    'NewExpression:exit': () => {
      resolvers.pop()
    },
  }).visit(parsed.program)
  if (!inTest) return faults
  for (const statement of parsed.module.staticImports)
    if (importsSleep(statement)) report('sleep', statement.start)
  return faults
}

function reportUnrun(node: CallExpression, report: Report): void {
  const name = callName(node)
  if (node.callee.type === 'MemberExpression') {
    const onTestFunction = isTestFunction(node.callee.object)
    if (name === 'only' && onTestFunction) report('test-only', node.start)
    if (name === 'todo') report('test-todo', node.start)
    // `t.skip('why')` gives its reason; `test.skip(…)` has no room for one.
    if (name === 'skip' && (onTestFunction || node.arguments.length === 0)) report('test-skip', node.start)
  }
  if (name === undefined || !testFunctions.includes(name)) return
  for (const option of node.arguments.flatMap(optionsOf)) reportOption(option, report)
}

function reportOption(option: ObjectProperty, report: Report): void {
  const key = option.key.type === 'Identifier' ? option.key.name : undefined
  if (key === 'only') report('test-only', option.start)
  if (key === 'todo') report('test-todo', option.start)
  if (key === 'skip' && !givesReason(option.value)) report('test-skip', option.start)
}

function optionsOf(argument: Argument): ObjectProperty[] {
  return argument.type === 'ObjectExpression'
    ? argument.properties.filter((property) => property.type === 'Property')
    : []
}

function givesReason(value: Expression): boolean {
  if (value.type === 'ConditionalExpression')
    return givesReason(value.consequent) && givesReason(value.alternate)
  if (value.type === 'LogicalExpression') return givesReason(value.right)
  if (value.type === 'Literal' && value.value === false) return true
  return isNamed(value, 'undefined') || value.type === 'TemplateLiteral' || (literalText(value) ?? '') !== ''
}

function isModuleMock(node: CallExpression): boolean {
  if (node.callee.type !== 'MemberExpression' || memberName(node.callee) !== 'module') return false
  const { object } = node.callee
  return isNamed(object, 'mock') || (object.type === 'MemberExpression' && memberName(object) === 'mock')
}

/** The name by which a promise's executor resolves it. */
function resolverOf(node: NewExpression): string | undefined {
  const executor = node.arguments[0]
  if (!isNamed(node.callee, 'Promise')) return undefined
  if (executor?.type !== 'ArrowFunctionExpression' && executor?.type !== 'FunctionExpression')
    return undefined
  const resolve = executor.params[0]
  return resolve?.type === 'Identifier' ? resolve.name : undefined
}

/** `setTimeout(done, 50)` and `setTimeout(() => done(), 50)`. A timer that rejects is a limit, not a sleep. */
function isTimerFor(node: CallExpression, resolver: string | undefined): boolean {
  if (resolver === undefined || callName(node) !== 'setTimeout') return false
  const callback = node.arguments[0]
  if (callback?.type !== 'ArrowFunctionExpression') return isNamed(callback, resolver)
  return callback.body.type === 'CallExpression' && isNamed(callback.body.callee, resolver)
}

function importsSleep(statement: StaticImport): boolean {
  if (!/^(?:node:)?timers\/promises$/.test(statement.moduleRequest.value)) return false
  return statement.entries.some(
    ({ importName }) =>
      importName.kind !== 'Name' || importName.name === 'setTimeout' || importName.name === 'scheduler',
  )
}

/** `await sql.query('select pg_sleep(1)')` for itself. What is not awaited on the spot is a statement that hangs. */
function isDatabaseSleep({ expression }: ExpressionStatement): boolean {
  if (expression.type !== 'AwaitExpression' || expression.argument.type !== 'CallExpression') return false
  return expression.argument.arguments.some((argument) =>
    [argument, ...optionsOf(argument).map((option) => option.value)].some(saysSleep),
  )
}

const saysSleep = (node: Argument) =>
  node.type === 'TemplateLiteral'
    ? node.quasis.some((quasi) => databaseSleep.test(quasi.value.raw))
    : node.type !== 'SpreadElement' && databaseSleep.test(literalText(node) ?? '')

/** A second argument that is a text is not what the error is compared with, and every error is an Error. */
function takesAnyError(node: CallExpression): boolean {
  if (!['rejects', 'throws'].includes(callName(node) ?? '')) return false
  if (node.callee.type === 'MemberExpression' && !isNamed(node.callee.object, 'assert')) return false
  const [, expected] = node.arguments
  if (expected === undefined) return true
  if (expected.type === 'SpreadElement') return false
  return (
    expected.type === 'TemplateLiteral' || literalText(expected) !== undefined || isNamed(expected, 'Error')
  )
}

const isTestFunction = (node: Expression) => node.type === 'Identifier' && testFunctions.includes(node.name)

function callName(node: CallExpression): string | undefined {
  if (node.callee.type === 'Identifier') return node.callee.name
  return node.callee.type === 'MemberExpression' ? memberName(node.callee) : undefined
}

function isNamed(node: { type: string } | undefined, name: string): boolean {
  return node?.type === 'Identifier' && 'name' in node && node.name === name
}
